"""`mcl repo` on the command line: documents, exit codes, and the person at the terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from shops import Shop, contract, git

from executor.gate.grants import Grants
from executor.store.home import Home

ROOT = Path(__file__).resolve().parents[2]
FIELDS = ["schema", "intent", "repo", "command", "args", "message"]
VALID = [
    ("git_status", contract("git_status", repo="shop", message="Visar git status.")),
    ("grep_repo", contract("grep_repo", "TODO", repo="shop", message="Söker.")),
    ("help", contract("help")),
    ("repo_tree", contract("repo_tree", risk_level="low", rollback_plan="none", requires_confirmation=False)),
]
REJECTED = [
    ("unknown-intent", contract("rm_rf")),
    ("unknown-command", contract("run_mqlaunch", command="rm -rf /")),
    ("path-escape", contract("open_editor", "../../etc/passwd", repo="mq-hal")),
    ("bad-branch", contract("create_branch", "a..b")),
    ("not-json", b"git status"),
    ("fence", b"```json\n" + contract("help") + b"\n```"),
    ("missing-field", b'{"schema":"mq-hal.intent.v1","intent":"help"}'),
    ("extra-field", contract("help", shell="ls")),
    ("twice", contract("help")[:-1] + b',"intent":"pwd"}'),
    ("other-schema", contract("help", schema="mq-hal.intent.v2")),
    ("nan", contract("help")[:-1] + b',"risk_level":NaN}'),
    ("empty", b""),
]


def test_route_prints_exactly_the_contract_and_makes_no_home(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "nowhere"))
    told = shop("route", "git", "status", "--no-ai")
    assert told.out.count("\n") == 1
    assert list(told.document) == FIELDS
    assert told.document["intent"] == "git_status"
    assert (told.code, told.err) == (0, "")
    assert shop("route", "git status", "--no-ai", "--json").out == told.out
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("prompt", "code", "error"),
    [
        ("make me a sandwich", 1, "NO_ROUTE"),
        ("skapa branch -f", 2, "BAD_BRANCH_NAME"),
        ("öppna ../../etc/passwd", 2, "PATH_OUTSIDE"),
        ("sök \udcff", 2, "NOT_TEXT"),
        ("git status", 0, ""),
    ],
)
def test_route_explain_and_run_end_alike(shop: Shop, prompt: str, code: int, error: str) -> None:
    for verb in ("route", "explain", "run"):
        told = shop(verb, prompt, "--no-ai")
        assert told.code == code
        assert error in told.err
        assert "Traceback" not in told.err


@pytest.mark.parametrize(("intent", "document"), VALID, ids=[name for name, _ in VALID])
def test_a_valid_contract_on_standard_input_is_done(shop: Shop, intent: str, document: bytes) -> None:
    told = shop.fed(document, "exec", "-", "--json")
    assert told.code == 0
    assert told.document["contract"]["intent"] == intent
    assert (told.document["state"], told.document["exit"]) == ("completed", 0)
    assert told.document["output"]["text"]


@pytest.mark.parametrize("document", [one for _, one in REJECTED], ids=[name for name, _ in REJECTED])
def test_a_rejected_contract_ends_with_two_and_runs_nothing(shop: Shop, document: bytes) -> None:
    for options in ((), ("--dry-run",), ("--json",)):
        told = shop.fed(document, "exec", "-", *options)
        assert told.code == 2
        assert "Traceback" not in told.err
        assert "code  " in told.err
    assert told.document["error"]["code"]
    assert set(shop.kinds()) <= {"record.repo.refused"}  # of the two that were no dry run
    assert len(shop.kinds()) == 2


def test_a_contract_may_lie_in_a_file(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "contract.json").write_bytes(contract("pwd"))
    assert shop("exec", str(tmp_path / "contract.json")).out == f"{shop.folder}\n"
    missing = shop("exec", str(tmp_path / "none.json"))
    assert (missing.code, "FILE_UNREADABLE" in missing.err) == (1, True)


def test_a_closed_standard_input_holds_no_contract(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)  # what Python has in its place
    told = shop("exec", "-")
    assert (told.code, "FILE_UNREADABLE" in told.err) == (1, True)
    assert shop("run", "git log", "--no-ai").code == 0


def test_who_finds_no_route_is_led_to_what_can_be_asked_for(shop: Shop) -> None:
    told = shop("run", "make me a sandwich", "--no-ai")
    command = re.search(r"\(mcl repo (.*?)\)", told.err)
    assert command is not None
    assert "grep_repo" in shop(*command[1].split(), "--no-ai").out


@pytest.mark.parametrize("kind", ["folder", "bare"])
def test_where_git_keeps_no_history_of_its_own_nobody_is_led_to_make_one_inside(
    shop: Shop, tmp_path: Path, kind: str
) -> None:
    place = shop.folder / "src" if kind == "folder" else tmp_path / "place"
    if kind == "folder":
        place.mkdir()
    else:
        git(tmp_path, "init", "-q", "--bare", "--template=", "place")
    added = shop("add", "place", str(place))
    told = shop("run", "git status", "--no-ai", "--repo", "place")
    assert (added.code, told.code, "NOT_A_REPOSITORY" in told.err) == (0, 5, True)
    for err in (added.err, told.err):
        assert "bare" in err
        assert "holds .git" in err


def test_a_linked_work_tree_is_asked_about_its_own_branch(shop: Shop, tmp_path: Path) -> None:
    place = tmp_path / "place"
    git(shop.folder, "worktree", "add", "-q", "-b", "topic", str(place))
    added = shop("add", "place", str(place))
    assert f"its history lies in {shop.folder}" in added.err
    told = shop("run", "repo-status-json", "--no-ai", "--repo", "place")
    assert (told.code, told.document["branch"]) == (0, "topic")


def test_a_folder_that_points_at_another_repository_is_named_and_not_asked(
    shop: Shop, tmp_path: Path
) -> None:
    """As it may come with what was downloaded: the name counts for no history but the folder's own."""
    place = tmp_path / "place"
    place.mkdir()
    (place / ".git").write_text(f"gitdir: {shop.folder}/.git\n")
    added = shop("add", "place", str(place))
    told = shop("run", "git status", "--no-ai", "--repo", "place")
    assert (added.code, "git is not asked there" in added.err) == (0, True)
    assert (told.code, "REPOSITORY_ELSEWHERE" in told.err) == (5, True)


def test_a_dry_run_shows_what_explain_does_and_leaves_nothing(shop: Shop) -> None:
    before = shop.kinds()
    explained = shop("explain", "create branch fix/x", "--no-ai", "--json")
    assert (explained.code, explained.document["decision"]) == (0, "ask")
    assert explained.document["by"] == "matcher"
    assert explained.document["repository"] == {"key": "shop", "path": str(shop.folder)}
    assert [one["decision"] for one in explained.document["verdicts"]] == ["ask", "allow"]
    dry = shop("run", "create branch fix/x", "--no-ai", "--dry-run", "--json").document
    assert dry["contract"] == explained.document["contract"]
    assert shop.kinds() == before
    assert shop.branch == "main"


def test_what_the_gate_would_refuse_is_told_by_explain_and_refused_by_run(shop: Shop) -> None:
    explained = shop("explain", "kör tester", "--no-ai")
    assert explained.code == 2
    assert "mcl grant add shell" in explained.out
    run = shop("run", "kör tester", "--no-ai")
    assert (run.code, run.out) == (2, "")
    assert "CAPABILITY_DENIED" in run.err
    assert "mcl grant add shell" in run.err


def test_the_path_alone_is_printed_to_go_there(shop: Shop, tmp_path: Path) -> None:
    told = shop("run", "cd", "shop", "--no-ai")
    assert (told.code, told.out, told.err) == (0, f"{tmp_path / 'shop'}\n", "")


def test_the_state_of_a_repository_is_printed_as_json(shop: Shop) -> None:
    told = shop("run", "repo-status-json", "--no-ai").document
    assert told["branch"] == "main"
    assert told["counts"]["changed"] == 1


def test_nothing_found_is_told_with_exit_one(shop: Shop) -> None:
    told = shop("run", "sök finnsinte", "--no-ai", "--json")
    assert (told.code, told.document["state"], told.document["exit"]) == (1, "completed", 1)


def test_where_it_is_done_is_said_to_whoever_stands_elsewhere(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert shop("run", "git log", "--no-ai").err == ""
    monkeypatch.chdir(tmp_path)
    told = shop("run", "git log", "--no-ai")
    assert "Open the shop" in told.out
    assert f"shop ({shop.folder})" in told.err


@pytest.mark.parametrize(
    ("answer", "code", "branch"),
    [
        ([b"Ja\n"], 0, "fix/x"),
        ([b"\n"] * 3, 130, "main"),
        ([b"yes please\n"] * 3, 130, "main"),
        ([b"nja\n", b"n\n"], 130, "main"),
        ([b"perhaps\n", b"y\n"], 0, "fix/x"),
        ([b"\x04"], 130, "main"),
    ],
    ids=["ja", "nothing", "other", "other and no", "other and yes", "end"],
)
def test_a_branch_is_made_only_by_a_yes_at_the_terminal(
    shop: Shop, answer: list[bytes], code: int, branch: str
) -> None:
    with shop.terminal(*answer) as shown:
        told = shop.fed(b"y\n", "run", "skapa branch fix/x", "--no-ai")  # standard input answers nothing
    assert (told.code, shop.branch) == (code, branch)
    assert f"Skapa grenen fix/x i shop ({shop.folder}) och byta till den? [y/n]" in "".join(shown).replace(
        "\r\n↪", ""
    )


def test_without_a_terminal_nobody_agrees(shop: Shop) -> None:
    told = shop.fed(b"y\ny\n", "run", "create branch fix/x", "--no-ai")
    assert (told.code, shop.branch) == (130, "main")
    assert "no terminal" in told.err
    told = shop.fed(contract("create_branch", "fix/x"), "exec", "-", "--json")
    assert (told.code, told.document["state"]) == (130, "declined")
    assert shop("run", "create branch fix/x", "--no-ai", "--yes-gates").code == 0
    assert shop.branch == "fix/x"


def test_with_confirm_every_step_is_asked_about(shop: Shop) -> None:
    with shop.terminal(b"y\n") as shown:
        told = shop("run", "git log", "--no-ai", "--confirm")
    assert (told.code, "".join(shown).count("[y/n]")) == (0, 1)
    assert "Open the shop" in told.out
    with shop.terminal(b"n\n"):
        assert shop("run", "git log", "--no-ai", "--confirm").code == 130


def test_words_of_a_contract_drive_no_terminal(shop: Shop) -> None:
    wanted = contract(
        "git_log", message="\x1b[2J\u202egnp", requires_confirmation=True, rollback_plan="\x1b]0;x\x07"
    )
    with shop.terminal(b"y\n") as shown:
        told = shop.fed(wanted, "exec", "-")
    assert told.code == 0
    for text in (told.out, told.err, "".join(shown)):
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "way back, as it says: \\x1b]0;x" in "".join(shown)


def test_the_words_of_a_refusal_are_told_in_short(shop: Shop) -> None:
    told = shop.fed(contract("refuse", message="not\nthis, " + "for long " * 5000), "exec", "-", "--json")
    assert told.code == 2
    assert told.document["error"]["message"].startswith("refused: not this, for long")
    assert len(told.out) < 1000


def test_the_option_names_the_repository_where_the_prompt_does_not(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "depot").mkdir()
    assert shop("add", "depot", str(tmp_path / "depot")).code == 0
    assert shop("route", "git log", "--no-ai", "--repo", "depot").document["repo"] == "depot"
    assert shop("route", "help", "--no-ai", "--repo", "depot").document["repo"] is None
    for prompt, key, code in (
        ("git log in shop", "depot", "REPOSITORY_AMBIGUOUS"),
        ("git log", "none", "UNKNOWN_REPOSITORY"),
    ):
        told = shop("run", prompt, "--no-ai", "--repo", key)
        assert (told.code, code in told.err) == (2, True)
    assert shop.kinds().count("record.repo.refused") == 2


def test_strict_lets_no_repository_stand_in(shop: Shop) -> None:
    document = contract("git_log", repo="shoop")
    lenient = shop.fed(document, "exec", "-")
    assert lenient.code == 0
    assert "shoop" in lenient.err
    strict = shop.fed(document, "exec", "-", "--strict")
    assert (strict.code, "UNKNOWN_REPOSITORY" in strict.err) == (2, True)


def test_compat_takes_pieces_of_words_and_the_usual_way_does_not(shop: Shop) -> None:
    assert shop("route", "a perfect day", "--no-ai").code == 1
    assert shop("route", "a perfect day", "--no-ai", "--compat").document["command"] == "perf"


def test_repositories_are_added_listed_switched_and_removed(shop: Shop, tmp_path: Path) -> None:
    (tmp_path / "depot").mkdir()
    added = shop("add", "depot", str(tmp_path / "depot"), "--json").document
    assert added == {"key": "depot", "path": str(tmp_path / "depot"), "active": "shop"}
    assert shop("switch", "depot").code == 0
    listed = shop("list", "--json").document
    assert [(one["key"], one["active"]) for one in listed["repositories"]] == [
        ("depot", True),
        ("shop", False),
    ]
    assert shop("remove", "depot", "--json").document["active"] == ""
    shop.patch.chdir(tmp_path)
    told = shop("run", "git log", "--no-ai")
    assert (told.code, "NO_REPOSITORY" in told.err, "mcl repo switch" in told.err) == (1, True, True)
    assert [kind for kind in shop.kinds() if kind.startswith("record.repo.")] == [
        "record.repo.added", "record.repo.switched", "record.repo.removed",
    ]  # fmt: skip
    assert (tmp_path / "depot").is_dir()


def test_a_configuration_that_cannot_be_read_is_told_with_exit_one(shop: Shop) -> None:
    (shop.place / "repos.json").write_text('{"shop": 1}')
    for arguments in (("list",), ("run", "git log", "--no-ai"), ("route", "git log", "--no-ai")):
        told = shop(*arguments)
        assert (told.code, "BAD_CONFIGURATION" in told.err) == (1, True)


@pytest.mark.slow
def test_a_wish_that_the_bundled_model_routes_is_done(shop: Shop) -> None:
    told = shop("run", "git status", "--json")
    assert (told.code, told.document["contract"]["intent"]) == (0, "git_status")
    assert told.document["by"] in ("model", "matcher")


def test_a_contract_in_a_pipe_is_asked_about_at_the_terminal_of_the_process(shop: Shop) -> None:
    """A process with a controlling terminal of its own, and the contract on standard input."""
    program = (
        "import os, pty, sys\n"
        "pid, master = pty.fork()\n"
        "if pid == 0:\n"
        "    read, write = os.pipe()\n"
        "    os.write(write, sys.argv[1].encode()); os.close(write); os.dup2(read, 0)\n"
        "    os.execv(sys.executable, [sys.executable, '-m', 'mcl', 'repo', 'exec', '-'])\n"
        "seen = b''\n"
        "while b'[y/n]' not in seen: seen += os.read(master, 4096)\n"
        "os.write(master, b'j\\n')\n"
        "try:\n"
        "    while os.read(master, 4096): pass\n"
        "except OSError: pass\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, contract("create_branch", "fix/pipe").decode()],
        env={**os.environ, "PYTHONPATH": str(ROOT), "MCL_HOME": str(shop.place)},
        cwd=shop.folder, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0
    assert shop.branch == "fix/pipe"


def plain(text: str, folder: Path) -> str:
    """A transcript without what another folder, hash or width changes."""
    # Folded first: a long path is broken over lines.
    text = re.sub(r"[\s│↪]+", "", re.sub(r"\b[0-9a-f]{64}\b", "<hash>", text))
    return text.replace(str(folder), "FOLDER").replace("/home/ada/shop", "FOLDER")


def test_the_transcript_on_the_page_is_what_the_commands_print(shop: Shop) -> None:
    page = (ROOT / "docs" / "repo.md").read_text()
    shown = re.search(r"```console\n(.*?)```", page, re.DOTALL)
    assert shown is not None
    shop("remove", "shop")
    for step in re.split(r"^\$ mcl repo ", shown[1], flags=re.MULTILINE)[1:]:
        line, _, expected = step.partition("\n")
        with shop.terminal(b"y\n") as asked:
            told = shop(*line.split())
        question = "".join(asked).replace("\r", "")
        said = told.err + question + told.out if question else told.out + told.err
        assert plain(said, shop.folder) == plain(expected, shop.folder), line


def test_every_contract_on_the_page_is_one() -> None:
    from mcl.plugins.repo.contract import read_contract

    page = (ROOT / "docs" / "repo.md").read_text()
    for document in re.findall(r'^\{"schema".*\}$', page, re.MULTILINE):
        assert read_contract(document).to_json() == json.loads(document)


def test_the_agents_grants_are_as_they_were(shop: Shop) -> None:
    shop("run", "git log", "--no-ai")
    with shop.home() as home:
        assert "shell" not in Grants(home).held(home.keyring.agent.did)
    assert git(shop.folder, "status", "--porcelain") == "M README.md"


def test_who_cannot_sign_changes_nothing_and_is_refused_as_ever(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Home.open(tmp_path / "sealed", passphrase=b"open sesame").close()
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "sealed"))
    told = shop("add", "shop", str(shop.folder))
    assert (told.code, "KEY_SEALED" in told.err) == (4, True)
    assert shop("list", "--json").document["repositories"] == []
    told = shop.fed(contract("rm_rf"), "exec", "-")
    assert (told.code, "REFUSED" in told.err) == (2, True)
