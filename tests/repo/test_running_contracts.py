"""A contract is done: signed, judged, walked, kept; or refused, and that is kept too."""

from __future__ import annotations

import json
import os
import random
import shutil
from hashlib import sha256
from pathlib import Path

import pytest
from contracts import mutated
from shops import asked, git

from executor.gate.grants import Grants
from executor.store.home import Home
from executor.store.journal.record import Record
from executor.walker.questions import AlwaysApprove, GateAnswer, GateQuestion
from mcl.core.errors import RepoError
from mcl.core.repositories import Repositories
from mcl.plugins.repo.contract import RepoIntent, read_contract
from mcl.plugins.repo.usecases import ContractRun, draft_contract, run_contract

REFUSED = [
    (asked("refuse"), "REFUSED"),
    (asked("run_mqlaunch", command="rm -rf /"), "UNKNOWN_COMMAND"),
    (asked("open_editor", "../../etc/passwd"), "PATH_OUTSIDE"),
    (asked("open_editor", "/etc/passwd"), "PATH_OUTSIDE"),
    (asked("create_branch", "-f"), "BAD_BRANCH_NAME"),
    (asked("grep_repo", " "), "EMPTY_QUERY"),
    (asked("git_status", "--porcelain"), "WRONG_ARGUMENTS"),
    (asked("create_branch", "fix/x", repo="shoop"), "UNKNOWN_REPOSITORY"),
    (asked("run_test", repo="shoop"), "UNKNOWN_REPOSITORY"),
    (asked("grep_repo", "ghp_" + "a1B2" * 9), "SECRET_INLINE"),
    (asked("run_test"), "CAPABILITY_DENIED"),
    (asked("run_mqlaunch"), "CAPABILITY_DENIED"),
    (asked("open_editor", "app.py"), "CAPABILITY_DENIED"),
]


def do(home: Home, contract: RepoIntent, **more: object) -> ContractRun:
    return run_contract(contract, prose="as said", home=home, here=Path.cwd(), **more)


def may_run(home: Home) -> None:
    Grants(home).grant(home.keyring.agent.did, ["shell"])


def program(folder: Path, name: str, script: str, patch: pytest.MonkeyPatch) -> None:
    """Put a program on PATH."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    patch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


def records(home: Home, kind: str) -> list[dict[str, object]]:
    found = [home.journal.open(row.wire) for row in home.journal.rows(kind=kind)]
    return [dict(one.body) for one in found if isinstance(one, Record)]


def test_what_is_done_is_signed_by_the_person_and_holds_in_the_journal(home: Home) -> None:
    done = do(home, asked("git_status"))
    assert (done.exit, done.outcome.state) == (0, "completed")
    assert done.output["branch"] == "main"
    view = home.journal.view(done.drafted.intent.id)
    assert (view.state, view.accepted_by) == ("completed", home.keyring.user.did)
    assert view.accepted_plan_hash == done.drafted.plan.hash
    assert home.journal.verify().ok


@pytest.mark.parametrize(("contract", "code"), REFUSED, ids=[f"{one.intent}-{code}" for one, code in REFUSED])
def test_what_is_refused_runs_nothing_and_leaves_a_record_without_its_words(
    home: Home, contract: RepoIntent, code: str
) -> None:
    before = git(Repositories(home.path).active().path, "status", "--porcelain", "--branch")
    with pytest.raises(RepoError) as refused:
        do(home, contract, people=AlwaysApprove())
    assert (refused.value.code, refused.value.exit) == (code, 2)
    expected = {"code": code, "intent": contract.intent, "said_sha256": sha256(b"as said").hexdigest()}
    assert records(home, "record.repo.refused") == [expected]
    assert home.journal.intents() == ()
    assert git(Repositories(home.path).active().path, "status", "--porcelain", "--branch") == before


def test_a_draft_writes_nothing_into_the_journal(home: Home) -> None:
    before = len(home.journal.rows())
    made = draft_contract(asked("create_branch", "fix/x"), prose="", home=home, here=Path.cwd())
    assert [verdict.decision for verdict in made.verdicts] == ["ask", "allow"]
    assert (
        draft_contract(asked("run_test"), prose="", home=home, here=Path.cwd()).denied.code
        == "CAPABILITY_DENIED"
    )
    assert len(home.journal.rows()) == before


def test_a_branch_is_made_when_a_person_agrees(home: Home) -> None:
    done = do(home, asked("create_branch", "fix/login"), people=AlwaysApprove())
    assert done.exit == 0
    assert git(done.drafted.repository.path, "branch", "--show-current") == "fix/login"
    assert "policy.gate.resolve" in [row.kind for row in home.journal.rows(done.drafted.intent.id)]


@pytest.mark.parametrize("every", [False, True])
def test_what_nobody_agrees_to_is_declined_and_nothing_runs(home: Home, every: bool) -> None:
    done = do(home, asked("git_log") if every else asked("create_branch", "fix/login"), every=every)
    assert (done.exit, done.declined, done.output) == (130, True, {})
    assert git(done.drafted.repository.path, "branch", "--show-current") == "main"


def test_a_contract_may_ask_to_be_asked_about(home: Home) -> None:
    assert do(home, asked("git_log", requires_confirmation=True)).exit == 130
    assert do(home, asked("git_log", requires_confirmation=True), people=AlwaysApprove()).exit == 0


def test_a_person_who_leaves_at_the_question_leaves_no_run_behind(home: Home) -> None:
    class Leaves:
        async def ask(self, gate: GateQuestion) -> GateAnswer | None:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        do(home, asked("create_branch", "fix/login"), people=Leaves())
    (id,) = home.journal.intents()
    assert home.journal.view(id).state == "cancelled"


def test_an_unknown_repository_is_the_active_one_for_who_only_looks(home: Home) -> None:
    done = do(home, asked("git_log", repo="shoop"))
    assert done.exit == 0
    assert done.drafted.repository.key == "shop"
    assert "shoop" in done.drafted.repository.note
    with pytest.raises(RepoError, match="shoop"):
        do(home, asked("git_log", repo="shoop"), strict=True)


def test_a_repository_that_is_gone_is_bad_configuration_and_no_refusal(home: Home) -> None:
    folder = Repositories(home.path).active().path
    folder.rename(folder.with_name("moved"))
    with pytest.raises(RepoError) as gone:
        do(home, asked("git_log"))
    assert (gone.value.code, gone.value.exit) == ("REPOSITORY_GONE", 1)
    assert records(home, "record.repo.refused") == []


def test_a_home_inside_a_repository_is_none_of_its_files(built: Path, tmp_path: Path) -> None:
    shutil.copytree(built / "shop", tmp_path / "shop")
    shutil.copytree(built / "home", tmp_path / "shop" / "home")
    Repositories(tmp_path / "shop" / "home").add("shop", tmp_path / "shop")
    with Home.open(tmp_path / "shop" / "home") as home:
        assert do(home, asked("repo_tree")).output["files"] == ["README.md", "app.py"]
        assert do(home, asked("grep_repo", "did:key")).exit == 1


def test_a_switch_is_for_the_next_command(home: Home, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    Repositories(home.path).add("other", tmp_path / "other")
    assert do(home, asked("switch_repo", repo="other")).exit == 0
    assert do(home, asked("pwd")).output["path"] == str(tmp_path / "other")
    assert do(home, asked("print_cd", repo="shop")).output["path"] == str(tmp_path / "shop")


@pytest.mark.parametrize(("query", "code"), [("TODO", 0), ("TO.O", 0), ("def sell(", 0), ("nowhere", 1)])
def test_a_search_that_finds_nothing_ends_with_one(home: Home, query: str, code: int) -> None:
    assert do(home, asked("grep_repo", query)).exit == code


@pytest.mark.usefixtures("unsandboxed")
def test_a_command_ends_the_line_with_its_own_status(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_run(home)
    program(tmp_path / "bin", "mqlaunch", 'test "$1" = doctor && exit 7\nkill -9 $$', monkeypatch)
    assert do(home, asked("run_mqlaunch")).exit == 7
    assert do(home, asked("run_mqlaunch", command="demo")).exit == 128 + 9
    program(tmp_path / "bin", "ed", "exit 3", monkeypatch)
    monkeypatch.setenv("VISUAL", "ed")
    assert do(home, asked("open_editor", "app.py")).exit == 3
    (tmp_path / "shop" / "Makefile").write_text(".PHONY: test\ntest:\n\t@exit 4\n")
    done = do(home, asked("run_test"))
    assert (done.output["passed"], done.exit) == (False, done.output["status"])
    assert done.exit != 0


def test_a_command_that_is_not_there_ends_with_127(
    home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_run(home)
    monkeypatch.setenv("PATH", str(tmp_path))
    done = do(home, asked("run_mqlaunch"))
    assert (done.outcome.failure.code, done.exit) == ("COMMAND_NOT_FOUND", 127)


def test_what_fails_without_a_status_ends_with_five(home: Home, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    Repositories(home.path).add("plain", tmp_path / "plain")
    assert do(home, asked("git_status", repo="plain")).exit == 5


def test_a_key_in_a_wish_reaches_no_file_of_the_home(home: Home) -> None:
    key = "ghp_" + "a1B2" * 9
    with pytest.raises(RepoError):
        run_contract(asked("grep_repo", key), prose=f"search {key}", home=home, here=Path.cwd())
    home.close()
    for place in home.path.rglob("*"):
        assert not (place.is_file() and key.encode() in place.read_bytes()), place


@pytest.mark.parametrize("count", [40, pytest.param(2000, marks=pytest.mark.slow)], ids=["some", "many"])
def test_a_mutated_contract_is_planned_or_refused_and_never_more(home: Home, count: int) -> None:
    rng, before = random.Random(count), len(home.journal.rows())
    planned, refused = 0, set[int]()
    for _ in range(count):
        try:
            made = draft_contract(read_contract(mutated(rng)), prose="", home=home, here=Path.cwd())
        except RepoError as problem:
            refused.add(problem.exit)
            continue
        planned += 1
        assert len([node for node, _ in made.plan.root.walk() if node.tool_call is not None]) == 1
    assert 0 < planned < count
    assert refused == {2}
    assert len(home.journal.rows()) == before


@pytest.mark.parametrize(
    ("state", "code"), [('{"active": 1}', "BAD_CONFIGURATION"), ('{"active": null}', "NO_REPOSITORY")]
)
def test_what_a_tool_cannot_read_of_the_configuration_ends_with_one(
    home: Home, state: str, code: str
) -> None:
    (home.path / "state.json").write_text(state)
    done = do(home, asked("pwd"))
    assert done.outcome.failure is not None
    assert (done.outcome.failure.code, done.exit) == (code, 1)
    assert done.problem() is not None


def test_where_a_folder_is_that_is_gone_ends_with_one(home: Home) -> None:
    shop = Repositories(home.path).active()
    assert shop is not None
    shop.path.rename(shop.path.with_name("moved"))
    done = do(home, asked("pwd"))
    assert done.outcome.failure is not None
    assert (done.outcome.failure.code, done.exit) == ("REPOSITORY_GONE", 1)


def test_where_a_folder_is_that_is_closed_ends_with_one(home: Home) -> None:
    (home.path / "repos.json").write_text(json.dumps({"shop": str(home.path)}))
    done = do(home, asked("pwd"))
    assert done.outcome.failure is not None
    assert (done.outcome.failure.code, done.exit) == ("REPOSITORY_CLOSED", 1)
    with pytest.raises(RepoError) as closed:
        do(home, asked("git_log"))
    assert (closed.value.code, closed.value.exit) == ("REPOSITORY_CLOSED", 1)
