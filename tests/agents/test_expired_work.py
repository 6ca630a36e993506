"""Work whose Intent counts until a moment: after it nobody is offered it, and who has it changes nothing."""

from __future__ import annotations

import json

import pytest

from executor import AlwaysApprove, GateError
from executor.store.journal.record import seal_record
from executor.walker.questions import GateAnswer, GateQuestion
from ir import with_hash
from mcl.cli.main import main
from mcl.core.errors import WorkError
from mcl.plugins.agents.file.document import read_file
from mcl.plugins.agents.usecases import list_work, release_work
from mcl.plugins.agents.work.leases import BoundCheckouts
from mcl.plugins.agents.work.signature import accepted, intent_of
from mcl.plugins.agents.work.store import COMPONENT, SIGNED
from mcl.usecases.gates import decide_gate, open_gates
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


def refused(project: Project) -> list[tuple[object, ...]]:
    rows = project.home.journal.rows(project.item().intent_id, kind="record.work.refused")
    bodies = [project.home.journal.open(row.wire).body for row in rows]
    return [tuple(body[name] for name in ("act", "label", "agent", "code")) for body in bodies]  # type: ignore[index]


def test_whoever_completes_it_then_is_refused_and_that_is_kept(project: Project) -> None:
    sign_until(project)
    assert project.select("INT-001").success
    assert project.complete().code == "SIGN_OFF_PENDING"
    project.clock.later(minutes=6)
    for agent, people in (("one", None), ("", AlwaysApprove())):
        with pytest.raises(WorkError) as found:
            project.complete("INT-001", agent or "one", people=people)
        assert (found.value.code, found.value.exit_code) == ("INTENT_EXPIRED", 4)
        assert UNTIL in found.value.message
        assert "mcl work import" in found.value.fix
        assert refused(project)[-1] == ("complete", "INT-001", agent, "INTENT_EXPIRED")
    assert project.item().status == "IN_PROGRESS"
    assert project.home.journal.view(project.item().intent_id).state == "accepted"
    assert project.select("INT-001", "two").code == "INTENT_EXPIRED"
    assert refused(project)[-1] == ("select", "INT-001", "two", "INTENT_EXPIRED")
    assert project.home.journal.verify().ok


def test_who_signs_off_while_it_expires_has_completed_nothing(project: Project) -> None:
    sign_until(project)
    assert project.select("INT-001").success

    class Slow(AlwaysApprove):
        async def ask(self, gate: GateQuestion) -> GateAnswer | None:
            project.clock.later(minutes=6)
            return await super().ask(gate)

    with pytest.raises(WorkError) as found:
        project.complete("INT-001", people=Slow())
    assert found.value.code == "INTENT_EXPIRED"
    assert (project.item().status, project.file.read_text().count("DONE")) == ("IN_PROGRESS", 0)
    assert [lease.agent for lease in project.leases.all(project.root)] == ["one"]


def test_its_sign_off_is_asked_of_nobody_any_more(project: Project) -> None:
    sign_until(project)
    assert project.select("INT-001").success
    project.complete()
    (gate,) = open_gates(home=project.home)
    project.clock.later(minutes=6)
    assert open_gates(home=project.home) == ()
    with pytest.raises(GateError) as found:
        decide_gate(gate.id, "approve", home=project.home)
    assert found.value.code == "INTENT_EXPIRED"
    assert not project.home.journal.view(project.item().intent_id).gates[gate.id].decision


def test_its_lease_is_not_renewed_and_a_person_signs_it_anew(project: Project) -> None:
    sign_until(project)
    assert project.select("INT-001").success
    checkouts = BoundCheckouts(project.work, project.leases, project.root, "one")
    project.clock.later(minutes=6)
    assert checkouts.held() is None
    (lease,) = project.leases.all(project.root)
    assert lease.expires_at == "2026-11-21T10:15:00.000Z"
    with pytest.raises(WorkError, match="works on INT-001"):
        project.sign()
    release_work(agent="one", root=project.root, home=project.home)
    old = project.item().intent_id
    (change,) = project.sign().plan.changes
    assert (change.kind, change.fields) == ("changed", ("expires_at",))
    assert (project.item().intent_id != old, project.item().expires_at) == (True, "")
    assert project.sign().plan.nothing
    assert project.select("INT-001").success
    assert project.complete("INT-001", people=AlwaysApprove()).success


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
