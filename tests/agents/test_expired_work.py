"""Work whose Intent counts until a moment: after it nobody is offered it, and who has it changes nothing."""

from __future__ import annotations

import json

import pytest

from executor.store.journal.record import seal_record
from ir import with_hash
from mcl.cli.main import main
from mcl.plugins.agents.file.document import read_file
from mcl.plugins.agents.usecases import list_work
from mcl.plugins.agents.work.leases import BoundCheckouts
from mcl.plugins.agents.work.signature import accepted, intent_of
from mcl.plugins.agents.work.store import COMPONENT, SIGNED
from tests.agents.conftest import Project, Written

UNTIL = "2026-11-21T10:05:00.000Z"  # five minutes after the clock of a project begins
WORK = Written(scope=("src/auth/**",))


def sign_until(project: Project) -> None:
    """A person signs the work of the file, to count until UNTIL."""
    home = project.home
    entry = read_file(project.write(WORK).encode()).entries[0]
    intent = intent_of(entry, str(project.root), {entry.label: home.clock.new_id()}, home)
    intent = with_hash(intent.model_copy(update={"expires_at": UNTIL}))
    body = {"root": str(project.root), "intents": [[entry.label, intent.id]], "file": "0" * 64}
    at = home.clock.now()
    record = seal_record(SIGNED, body, id=home.clock.new_id(), at=at, signer=home.keyring.agent)
    with home.db.write():
        home.journal.append_many([*accepted(home, intent, at), record])
        with home.db.write(COMPONENT) as connection:
            row = (str(project.root), record.id)
            connection.execute("INSERT OR REPLACE INTO work_roots VALUES (?, ?)", row)


def test_expired_work_is_not_offered_and_says_until_when_it_counted(project: Project) -> None:
    sign_until(project)
    project.clock.later(minutes=6)
    refused = project.select("INT-001")
    assert (refused.success, refused.code) == (False, "INTENT_EXPIRED")
    assert UNTIL in refused.error
    assert project.item().status == "DRAFT", "nothing was begun"
    assert project.leases.all(project.root) == ()
    checkouts = BoundCheckouts(project.work, project.leases, project.root, "one")
    assert (checkouts.labels(), checkouts.owners("src/auth/a.py")) == ((), ())
    listed = list_work(root=project.root, home=project.home)
    assert [(one.item.expires_at, one.expired) for one in listed.items] == [(UNTIL, True)]


def test_until_then_it_is_work_like_any_other(project: Project) -> None:
    sign_until(project)
    checkouts = BoundCheckouts(project.work, project.leases, project.root, "one")
    assert (checkouts.labels(), checkouts.owners("src/auth/a.py")) == (("INT-001",), ("INT-001",))
    assert project.select("INT-001").success
    held = checkouts.held()
    assert held is not None
    assert held.scope.matches("src/auth/a.py")


def test_who_holds_it_when_it_expires_may_change_nothing_more(project: Project) -> None:
    sign_until(project)
    assert project.select("INT-001").success
    project.clock.later(minutes=6)  # the lease, of a quarter of an hour, still holds
    assert project.leases.held(project.root, "one") is not None
    assert BoundCheckouts(project.work, project.leases, project.root, "one").held() is None


def test_the_command_line_refuses_it_and_shows_it_as_expired(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its clock is that of the machine, by which the moment has long been."""
    sign_until(project)
    monkeypatch.setenv("MCL_HOME", str(project.home.path))
    monkeypatch.chdir(project.root)
    assert main(["work", "select", "INT-001", "--json"]) == 4
    said = json.loads(capsys.readouterr().out)
    assert (said["success"], said["code"]) == (False, "INTENT_EXPIRED")
    assert main(["work", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["intents"]
    assert (listed["expires_at"], listed["expired"]) == (UNTIL, True)


def test_what_counts_for_ever_says_nothing_of_an_end(project: Project) -> None:
    project.sign(WORK)
    (listed,) = list_work(root=project.root, home=project.home).items
    assert not {"expires_at", "expired"} & listed.to_json().keys()
