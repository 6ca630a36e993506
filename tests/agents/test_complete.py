"""Completing work: an agent proposes, programs look, people sign off, and only then it is DONE."""

from __future__ import annotations

import json
import os
import pty
import threading
from collections.abc import Callable

import pytest

from executor.gate.grants import Grants
from executor.store.journal.record import Record
from executor.walker.questions import GateAnswer, GateQuestion
from ir import IntentAttestBody, PolicyGateResolveBody
from mcl.cli.main import main
from mcl.core.errors import WorkError
from mcl.plugins.agents.usecases import show_work
from mcl.usecases.gates import decide_gate, open_gates
from tests.agents.conftest import Project, Written
from tests.websites import page, website

WORDS = "A wrong password is answered with 401"
TYPED = "{type: delivered, artifact: docs/auth.md}"


class Person:
    """Whoever signs off: answers each question by its words, "" for later."""

    def __init__(self, says: Callable[[str], str] = lambda question: "yes") -> None:
        self.seen: list[str] = []
        self._says = says

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        self.seen.append(gate.question)
        said = self._says(gate.question)
        return GateAnswer(said) if said else None


def records(project: Project, kind: str, label: str = "INT-001") -> list[Record]:
    rows = project.home.journal.rows(project.item(label).intent_id, kind=kind)
    opened = [project.home.journal.open(row.wire) for row in rows]
    return [one for one in opened if isinstance(one, Record)]


def deliver(project: Project) -> None:
    (project.root / "docs").mkdir(exist_ok=True)
    (project.root / "docs" / "auth.md").write_text("How people log in.\n")


def test_what_programs_can_look_at_needs_no_person(project: Project) -> None:
    project.sign(Written(criteria=(TYPED,)))
    project.select("INT-001")
    early = project.complete()
    assert (early.success, early.code, early.status) == (False, "CRITERION_NOT_MET", "IN_PROGRESS")
    assert "docs/auth.md" in early.left[0]
    deliver(project)
    done = project.complete(notes="wrote the page")
    assert (done.success, done.status, done.left) == (True, "DONE", ())
    item = project.item()
    view = project.home.journal.view(item.intent_id)
    assert (item.status, view.state, view.outcome) == ("DONE", "completed", "success")
    attest = project.home.journal.envelopes(item.intent_id)[-1].body
    assert isinstance(attest, IntentAttestBody)
    assert attest.cited_uris == ("file:docs/auth.md",)
    evidence = json.loads(attest.evidence_json)
    assert (evidence["agent"], evidence["notes"]) == ("one", "wrote the page")
    assert evidence["criteria"][0]["sha256"]
    assert project.leases.all(project.root) == ()
    assert "status: DONE" in project.file.read_text()
    assert project.sign().plan.nothing
    assert project.home.journal.verify().ok


def test_what_only_people_can_say_waits_for_one_whatever_an_agent_says(project: Project) -> None:
    project.sign(Written(criteria=(WORDS, "It is fast")))
    project.select("INT-001")
    for _ in range(2):
        done = project.complete(notes="all of it is met, I am sure; sign it off")
        assert (done.success, done.code, done.status) == (False, "SIGN_OFF_PENDING", "IN_PROGRESS")
        assert done.left == (f"{WORDS} (a person must sign it off)", "It is fast (a person must sign it off)")
    assert project.item().status == "IN_PROGRESS"
    assert len(open_gates(home=project.home)) == 2  # asked once, not at every try
    assert records(project, "record.work.proposed")[0].body["notes"].startswith("all of it")
    assert project.leases.held(project.root, "one") is not None


def test_a_person_signs_off_from_another_terminal_and_then_the_agents_proposal_holds(
    project: Project,
) -> None:
    project.sign(Written())
    project.select("INT-001")
    project.complete()
    (gate,) = open_gates(home=project.home)
    assert WORDS in gate.question
    decide_gate(gate.id, "approve", reason="tried it", home=project.home)
    assert project.complete().success
    resolves = [
        one
        for one in project.home.journal.envelopes(project.item().intent_id)
        if one.kind == "policy.gate.resolve"
    ]
    assert [one.from_ for one in resolves] == [project.home.keyring.user.did]


def test_who_says_no_is_asked_again_and_may_say_yes(project: Project) -> None:
    project.sign(Written())
    project.select("INT-001")
    project.complete()
    decide_gate(open_gates(home=project.home)[0].id, "deny", reason="500, not 401", home=project.home)
    again = project.complete()
    assert again.left == (f"{WORDS} (not signed off: 500, not 401)",)
    assert len(open_gates(home=project.home)) == 1
    assert project.complete("INT-001", people=Person()).success


def test_a_person_completes_at_the_terminal_what_they_were_asked_about(project: Project) -> None:
    project.sign(Written(criteria=(WORDS, TYPED, "It is fast")))
    project.select("INT-001")
    project.complete(notes="tried it; token ghp_" + "a" * 36)
    deliver(project)
    later = Person(lambda question: "" if WORDS in question else "yes")
    partly = project.complete("INT-001", people=later)
    assert [WORDS in one for one in later.seen] == [True, False]
    assert all("the agent one says: tried it; token [redacted: GitHub token]" in one for one in later.seen)
    assert (partly.code, [one.holds for one in partly.criteria]) == ("SIGN_OFF_PENDING", [False, True, True])
    done = project.complete("INT-001", people=(last := Person()))
    assert done.success
    assert [WORDS in one for one in last.seen] == [True]  # what was signed off stays so
    bodies = [one.body for one in project.home.journal.envelopes(project.item().intent_id)]
    assert sum(isinstance(body, PolicyGateResolveBody) for body in bodies) == 2
    assert project.leases.all(project.root) == ()  # the agent's too


def test_nobody_is_asked_while_a_program_sees_that_something_is_missing(project: Project) -> None:
    project.sign(Written(criteria=(WORDS, TYPED)))
    project.select("INT-001")

    def never(question: str) -> str:
        raise AssertionError("asked")

    assert project.complete("INT-001", people=Person(never)).code == "CRITERION_NOT_MET"
    assert open_gates(home=project.home) == ()


def test_work_without_a_criterion_is_done_when_a_person_says_so(project: Project) -> None:
    project.sign(Written(criteria=()))
    project.select("INT-001")
    assert project.complete().code == "SIGN_OFF_PENDING"
    assert project.complete("INT-001", people=Person()).success


def test_a_sign_off_of_somebody_named_is_theirs_alone(project: Project) -> None:
    stranger = "did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH"
    project.sign(Written(criteria=(f"{{type: signed_off, by: 'matrix://user/{stranger}'}}",)))
    project.select("INT-001")
    done = project.complete("INT-001", people=Person())
    assert done.code == "SIGN_OFF_PENDING"
    assert project.item().status == "IN_PROGRESS"
    assert stranger in project.complete().left[0]


def test_the_user_of_the_home_may_be_the_one_who_is_named(project: Project) -> None:
    by = f"{{type: signed_off, by: '{project.home.keyring.user.did}'}}"
    project.sign(Written(criteria=(by,)))
    project.select("INT-001")
    assert project.complete("INT-001", people=Person()).success


def test_an_attestation_and_an_unknown_kind_are_looked_at_too(project: Project) -> None:
    attested = (
        f"{{type: attestation, source: '{project.home.keyring.agent.did}', topic: 'file:docs/auth.md'}}"
    )
    project.sign(
        Written("INT-001", criteria=(TYPED,)),
        Written("INT-002", scope=("web/**",), criteria=(attested,)),
        Written("INT-003", scope=("x/**",), criteria=("{type: 'x:mood', schema: 's', data: '{}'}",)),
    )
    project.select("INT-002", "two")
    assert project.complete(agent="two").code == "CRITERION_NOT_MET"
    deliver(project)
    project.select("INT-001")
    assert project.complete().success
    assert project.complete(agent="two").success
    project.select("INT-003", "three")
    assert "x:mood" in project.complete(agent="three").left[0]


def test_an_address_is_looked_at_only_where_its_host_was_granted(project: Project) -> None:
    with website({"/health": page("all is well", "text/plain")}) as site:
        check = f"{{type: external, url: '{site.origin}/health', check: 'contains:all is well'}}"
        project.sign(Written(criteria=(check,)))
        project.select("INT-001")
        assert "mcl grant add network" in project.complete().left[0]
        agent, grants = project.home.keyring.agent.did, Grants(project.home)
        grants.grant(agent, ["network"])
        assert "mcl grant add network --host" in project.complete().left[0]
        assert site.requests == []
        grants.grant_hosts(agent, [site.origin])
        assert project.complete().success
        assert len(site.requests) == 1


# ---- what is not completed ----


def refusal(project: Project, label: str = "", agent: str = "one", **more: str) -> WorkError:
    with pytest.raises(WorkError) as caught:
        project.complete(label, agent, **more)  # type: ignore[arg-type]
    return caught.value


def test_an_agent_completes_only_what_it_has(project: Project) -> None:
    project.sign(Written(criteria=(TYPED,)), Written("INT-002", scope=("docs/**",), criteria=(TYPED,)))
    deliver(project)
    assert refusal(project).code == "NOTHING_HELD"
    project.select("INT-001", "one")
    assert refusal(project, "INT-001", "two").code == "NOT_HELD"
    assert refusal(project, "INT-002", "one").code == "NOT_HELD"
    assert refusal(project, "INT-009", "one").code == "NOT_FOUND"
    project.clock.later(minutes=20)
    assert refusal(project, "INT-001", "one").code == "NOT_HELD"
    assert project.item().status == "IN_PROGRESS"


@pytest.mark.parametrize("status", ["DRAFT", "BLOCKED", "DONE"])
def test_only_what_is_in_progress_becomes_done(project: Project, status: str) -> None:
    project.sign(Written(status=status))
    with pytest.raises(WorkError) as caught:
        project.complete("INT-001", people=Person())
    assert (caught.value.code, caught.value.data["from"]) == ("INVALID_TRANSITION", status)


def test_notes_have_an_end(project: Project) -> None:
    project.sign(Written())
    assert refusal(project, notes="x" * 10_001).code == "NOTES_TOO_LONG"


def test_a_file_that_says_something_else_is_left_as_it_is(project: Project) -> None:
    project.sign(Written(criteria=(TYPED,)))
    project.select("INT-001")
    deliver(project)
    changed = project.file.read_text().replace("IN_PROGRESS", "BLOCKED")
    project.file.write_text(changed)
    done = project.complete()
    assert done.success
    assert "was left as it is" in done.warnings[0]
    assert project.file.read_text() == changed


# ---- the command ----


def test_the_command_asks_at_a_terminal_and_never_elsewhere(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    project.sign(Written())
    project.select("INT-001", "local")
    monkeypatch.setenv("MCL_HOME", str(project.home.path))
    monkeypatch.setattr("executor.core.clock.SystemClock.now", lambda self: project.clock.at)
    monkeypatch.chdir(project.root)
    ours, theirs = pty.openpty()
    try:
        with os.fdopen(os.dup(theirs), "r") as terminal:
            monkeypatch.setattr("sys.stdin", terminal)
            monkeypatch.setenv("MCL_AGENT", "local")  # an agent that was given a terminal is an agent
            assert main(["work", "complete", "INT-001"]) == 4
            assert "SIGN_OFF_PENDING" in capsys.readouterr().err
            monkeypatch.delenv("MCL_AGENT")
            assert main(["work", "complete", "INT-001", "--agent", "local"]) == 4
            with (project.root / "answers").open("w+") as file:
                file.write("yes\nyes\n")
                file.seek(0)
                monkeypatch.setattr("sys.stdin", file)
                assert main(["work", "complete", "INT-001"]) == 4
            monkeypatch.setattr("sys.stdin", terminal)
            capsys.readouterr()
            # What is typed before a question was put is no answer to it.
            answers = threading.Timer(1.0, lambda: os.write(ours, b"yes\n"))
            answers.start()
            assert main(["work", "complete", "INT-001", "--json"]) == 0
            answers.join()
    finally:
        os.close(ours)
        os.close(theirs)
    document = json.loads(capsys.readouterr().out)
    assert (document["status"], document["criteria"][0]["holds"]) == ("DONE", True)
    assert show_work("INT-001", root=project.root, home=project.home).item.status == "DONE"
