"""Signing what a file says: what becomes of each entry, all of it or nothing, and again after a change."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from nacl.pwhash import argon2id

from executor.core.errors import KeyringError, ScopeError
from executor.store.home import Home
from ir import IntentAcceptBody
from mcl.cli.main import main
from mcl.core.errors import WorkError
from mcl.core.home import open_home
from mcl.plugins.agents.file.document import read_file
from mcl.plugins.agents.file.validation import validate
from mcl.plugins.agents.usecases import export_work, import_work
from mcl.plugins.agents.work.item import TRANSITIONS
from mcl.plugins.agents.work.leases import Leases
from mcl.plugins.agents.work.signature import ImportPlan
from mcl.plugins.agents.work.store import SignedWork
from tests.agents.conftest import Project, SetClock, Written, yaml_of

OTHER = Written("INT-002", "Write it down", scope=("docs/**",))


def kinds(plan: ImportPlan) -> dict[str, str]:
    return {change.label: change.kind for change in plan.changes}


def refused(project: Project, *entries: Written) -> WorkError:
    size = project.home.journal.size()
    with pytest.raises(WorkError) as caught:
        project.sign(*entries)
    assert project.home.journal.size() == size
    assert caught.value.exit == 4
    assert caught.value.fix
    return caught.value


def test_the_signed_intent_says_what_the_entry_says(project: Project) -> None:
    project.sign(
        Written(
            criteria=("A wrong password is answered with 401", "{type: delivered, artifact: docs/auth.md}"),
            dependencies=("INT-002",),
            references=("docs/auth.md",),
            more=('description: "Instead of sessions"', 'owner: "auth-team"'),
        ),
        OTHER,
    )
    item, other = project.item("INT-001"), project.item("INT-002")
    view = project.home.journal.view(item.intent_id)
    intent = view.intent
    assert intent is not None
    assert (view.state, view.accepted_plan_hash, view.accepted_by) == (
        "accepted",
        "",
        project.home.keyring.user.did,
    )
    assert view.accepted_hash == intent.hash
    assert (intent.goal_id, intent.prose) == ("INT-001", "Log people in with tokens\n\nInstead of sessions")
    assert (intent.frame.verb, intent.created_at) == ("modify", "2026-11-01T08:00:00Z")
    assert {one.name: one.value for one in intent.frame.objects} == {
        "name": "Log people in with tokens",
        "description": "Instead of sessions",
        "root": str(project.root),
        "owner": "auth-team",
    }
    assert [one.model_dump() for one in intent.frame.constraints] == [
        {"type": "policy", "hard": True, "policy": "owned_scope:src/auth/**"},
        {"type": "rule", "hard": False, "rule": "Hash passwords with bcrypt", "keeps": ""},
    ]
    assert [one.model_dump() for one in intent.frame.success_criteria] == [
        {
            "type": "x:criterion",
            "schema": "matrix://schema/criterion@1.0.0",
            "data": '{"text":"A wrong password is answered with 401"}',
        },
        {"type": "delivered", "artifact": "docs/auth.md"},
    ]
    assert [(one.uri, one.role) for one in intent.references] == [
        (f"matrix://intent/{other.intent_id}", "depends_on"),
        ("docs/auth.md", "documentation"),
    ]
    assert intent.parent == f"matrix://intent/{other.intent_id}"
    assert item.dependencies == ("INT-002",)
    assert (item.status, item.updated_at, item.owner) == ("DRAFT", "2026-11-02T08:00:00Z", "auth-team")
    assert project.home.journal.verify().ok


def test_the_folder_is_governed_from_then_on_and_so_is_what_lies_below_it(project: Project) -> None:
    below = project.root / "src" / "auth"
    below.mkdir(parents=True)
    project.write(Written())
    assert project.work.root_of(below) is None
    project.sign()
    assert project.work.root_of(below) == project.root
    assert project.work.governed(project.root)
    assert not project.work.governed(project.root.parent)
    assert project.work.root_of(project.root.parent) is None


def test_who_does_not_agree_signs_nothing(project: Project) -> None:
    project.write(Written())
    size = project.home.journal.size()
    done = import_work(agree=lambda plan: False, root=project.root, home=project.home)
    assert (done.agreed, done.signed, kinds(done.plan)) == (False, (), {"INT-001": "new"})
    assert project.home.journal.size() == size
    assert not project.work.governed(project.root)


def test_the_whole_file_is_signed_in_one_commit(project: Project) -> None:
    project.sign(*(Written(f"INT-{n:03}", scope=(f"src/{n}/**",)) for n in range(1, 6)))
    heads = project.home.db.read("SELECT count(*) FROM journal WHERE kind = 'intent.accept'")
    assert heads == [(5,)]
    assert [item.label for item in project.work.items(project.root)] == [f"INT-00{n}" for n in range(1, 6)]


def test_a_sealed_key_signs_nothing_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(argon2id, "OPSLIMIT_MODERATE", argon2id.OPSLIMIT_MIN)  # seconds, for a test
    monkeypatch.setattr(argon2id, "MEMLIMIT_MODERATE", argon2id.MEMLIMIT_MIN)
    root = tmp_path / "project"
    (root / ".orchestration").mkdir(parents=True)
    (root / ".orchestration" / "active_intents.yaml").write_text(yaml_of(Written(), OTHER))
    open_home(tmp_path / "home", passphrase=b"a long phrase").close()
    with Home.open(tmp_path / "home") as home:
        size = home.journal.size()
        with pytest.raises(KeyringError, match="sealed"):
            import_work(agree=lambda plan: True, root=root, home=home)
        assert home.journal.size() == size
        assert not SignedWork(home).governed(root)


def test_the_same_again_is_nothing_and_nobody_is_asked(project: Project) -> None:
    project.sign(Written(), OTHER)
    size = project.home.journal.size()

    def never(plan: ImportPlan) -> bool:
        raise AssertionError("asked")

    done = import_work(agree=never, root=project.root, home=project.home)
    assert (done.agreed, done.signed) == (True, ())
    assert project.home.journal.size() == size


def test_changed_work_is_cancelled_and_signed_anew_under_its_label(project: Project) -> None:
    project.sign(Written(), OTHER)
    before = project.item("INT-001")
    done = project.sign(Written(scope=("src/auth/**", "src/login.py")), OTHER)
    assert kinds(done.plan) == {"INT-001": "changed", "INT-002": "same"}
    assert done.plan.changes[0].fields == ("owned_scope",)
    after = project.item("INT-001")
    assert after.owned_scope == ("src/auth/**", "src/login.py")
    assert after.intent_id != before.intent_id
    old, new = project.home.journal.view(before.intent_id), project.home.journal.view(after.intent_id)
    assert (old.state, old.reason) == ("cancelled", "superseded")
    assert new.intent is not None
    assert ("supersedes", f"matrix://intent/{before.intent_id}") in [
        (one.role, one.uri) for one in new.intent.references
    ]
    assert project.work.by_id(before.intent_id) is None


def test_work_that_is_gone_from_the_file_is_cancelled_and_done_work_stays_done(project: Project) -> None:
    project.sign(Written(status="DONE"), OTHER, Written("INT-003", scope=("web/**",)))
    gone, done = project.item("INT-002").intent_id, project.item("INT-001").intent_id
    assert kinds(project.sign(Written("INT-003", scope=("web/**",))).plan) == {
        "INT-003": "same",
        "INT-001": "gone",
        "INT-002": "gone",
    }
    assert [item.label for item in project.work.items(project.root)] == ["INT-003"]
    assert project.home.journal.view(gone).state == "cancelled"
    assert project.home.journal.view(done).state == "completed"


def test_a_folder_whose_file_has_no_intents_any_more_is_governed_no_more(project: Project) -> None:
    project.sign(Written())
    project.file.write_text("active_intents: []\n")
    project.sign()
    assert not project.work.governed(project.root)


def test_work_that_an_agent_has_does_not_change_until_it_is_given_up(project: Project) -> None:
    project.sign(Written(), OTHER)
    project.select("INT-001", "one")
    started = Written(status="IN_PROGRESS", updated_at=project.clock.at)
    for entries in ([Written(status="IN_PROGRESS", name="Other"), OTHER], [OTHER]):
        assert refused(project, *entries).code == "LEASED"
    blocked = Written(status="BLOCKED", more=('blocked_reason: "no keys"',))
    assert refused(project, blocked, OTHER).data["agent"] == "one"
    # What it does not have may change.
    assert project.sign(started, Written("INT-002", "Write more", scope=("docs/**",))).signed
    project.clock.later(minutes=16)
    assert project.sign(blocked, Written("INT-002", "Write more", scope=("docs/**",))).agreed
    assert project.item("INT-001").blocked_reason == "no keys"


@pytest.mark.parametrize("before", sorted(TRANSITIONS))
def test_a_file_moves_work_only_where_it_may_go(project: Project, before: str) -> None:
    for after in sorted(TRANSITIONS):
        project.file.unlink(missing_ok=True)
        label = f"INT-{len(project.home.journal.intents()):03}"
        project.sign(Written(label, status=before))
        legal = after == before or (after in TRANSITIONS[before] and after != "DONE")
        if legal:
            assert project.sign(Written(label, status=after)).agreed
            assert project.item(label).status == after
        else:
            error = refused(project, Written(label, status=after))
            assert error.code == "INVALID_TRANSITION"
            assert project.item(label).status == before
        project.sign(Written("INT-999"))


def test_done_comes_from_the_criteria_and_not_from_the_file(project: Project) -> None:
    project.sign(Written(status="IN_PROGRESS"))
    error = refused(project, Written(status="DONE"))
    assert error.code == "INVALID_TRANSITION"
    assert "mcl work complete INT-001" in error.fix


def test_what_is_done_is_not_signed_anew(project: Project) -> None:
    project.sign(Written(status="DONE"))
    error = refused(project, Written(status="DONE", name="More of it"))
    assert (error.code, error.data["fields"]) == ("INVALID_TRANSITION", ["name"])


def test_a_file_with_errors_is_not_signed_and_says_which(project: Project) -> None:
    error = refused(project, Written(scope=("../etc/**",)), Written("INT-001", scope=("docs/**",)))
    assert error.code == "INVALID_FILE"
    assert {one["type"] for one in error.data["errors"]} >= {"DUPLICATE_ID"}  # type: ignore[attr-defined]


@pytest.mark.parametrize("where", ["constraints", "criteria", "name"])
def test_a_key_in_the_file_is_not_signed_for_good(project: Project, where: str) -> None:
    text = "Push with ghp_" + "a" * 36
    entry = Written(name=text) if where == "name" else Written(**{where: (text,)})  # type: ignore[arg-type]
    error = refused(project, entry)
    assert error.code == "SECRET_INLINE"
    assert "ghp_" not in error.message


def test_what_another_signed_while_a_person_read_is_not_signed_over(project: Project) -> None:
    project.write(Written())

    def meanwhile(plan: ImportPlan) -> bool:
        project.sign(Written(name="Other words"))
        return True

    with pytest.raises(WorkError) as caught:
        import_work(agree=meanwhile, root=project.root, home=project.home)
    assert caught.value.code == "IMPORT_CHANGED"
    assert project.item().name == "Other words"


def test_what_a_file_becomes_while_a_person_reads_is_not_what_they_sign(project: Project) -> None:
    project.write(Written())

    def swapped(plan: ImportPlan) -> bool:
        project.write(Written(scope=("**",)))
        return True

    import_work(agree=swapped, root=project.root, home=project.home)
    assert project.item().owned_scope == ("src/auth/**",)


def test_an_export_says_what_was_signed_and_is_the_same_again(project: Project) -> None:
    project.sign(
        Written(
            criteria=(
                "Words: with a colon",
                "{type: external, url: 'https://example.org/', check: status=200}",
            ),
            dependencies=("INT-002",),
            references=("https://example.org/a#b",),
            more=('description: "Two\\nlines"',),
        ),
        OTHER,
    )
    project.file.unlink()
    done = export_work(write=True, root=project.root, home=project.home)
    assert done.path == project.file
    assert project.file.read_text() == done.text
    document = read_file(done.text.encode())
    assert validate(document).valid
    assert [entry.label for entry in document.entries] == ["INT-001", "INT-002"]
    assert project.sign().plan.nothing
    with pytest.raises(WorkError, match="there is a file already"):
        export_work(write=True, root=project.root, home=project.home)


def test_a_part_of_a_folder_may_have_work_of_its_own_under_the_same_labels(project: Project) -> None:
    inner = Project(project.root / "parts" / "web", project.home, project.clock)
    inner.root.mkdir(parents=True)
    project.sign(Written())
    inner.sign(Written(name="Another"))
    assert (project.item().name, inner.item().name) == ("Log people in with tokens", "Another")
    assert project.work.root_of(inner.root) == inner.root
    assert project.work.root_of(inner.root.parent) == project.root
    assert project.select("INT-001", "one").success
    assert inner.select("INT-001", "one").success


def test_a_home_that_is_opened_anew_knows_the_same_work(project: Project) -> None:
    project.sign(Written(), OTHER)
    with Home.open(project.home.path, clock=SetClock()) as again:
        assert SignedWork(again).items(project.root) == project.work.items(project.root)
        assert Leases(again).all(project.root) == ()


def test_each_accept_is_the_users_and_none_was_given_with_a_plan(project: Project) -> None:
    project.sign(Written(), OTHER)
    for item in project.work.items(project.root):
        bodies = [one.body for one in project.home.journal.envelopes(item.intent_id)]
        accepts = [body for body in bodies if isinstance(body, IntentAcceptBody)]
        assert [body.plan_hash for body in accepts] == [""]


def test_the_command_shows_all_that_is_signed_and_asks(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MCL_HOME", str(project.home.path))
    monkeypatch.chdir(project.root)
    project.write(Written(constraints=("Never log \\x1b[31m tokens",)))
    monkeypatch.setattr("sys.stdin", (project.root / "no").open("w+"))
    assert main(["work", "import"]) == 4
    said = capsys.readouterr()
    for text in ("INT-001", "src/auth/**", "Never log \\x1b[31m tokens", "401", "DRAFT"):
        assert text in said.out
    assert "nothing was signed" in said.err
    assert not project.work.governed(project.root)
    assert main(["work", "import", "--yes", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["signed"][0]["id"] == "INT-001"
    assert main(["work", "show", "INT-001"]) == 0
    assert "src/auth/**" in capsys.readouterr().out
    assert main(["work", "show", "INT-777", "--json"]) == 4
    assert main(["work", "export"]) == 0
    assert "INT-001" in capsys.readouterr().out


def test_where_tools_may_not_work_nothing_is_signed(project: Project) -> None:
    inside = Project(project.home.path / "keys", project.home, project.clock)
    inside.write(Written())
    with pytest.raises(ScopeError, match="closed to tools"):
        inside.sign()
    assert not project.work.governed(inside.root)
