"""Approvals that are borrowed, forged, replayed, late or claimed twice: none of them opens anything."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from nacl.signing import SigningKey
from walks import NODE, Says, Walks, context_of, sequence, tool

import ir
from executor import (
    Ask,
    Call,
    Deny,
    GateAnswer,
    GateQuestion,
    LifecycleError,
    Manifest,
    Outcome,
    Pins,
    decide,
)
from executor.core.clock import instant
from executor.walker.ledger import moment
from ir import MclError, PolicyGateBody, PolicyGateResolveBody


def overwrite(id: str, path: str = "a.txt") -> NODE:
    return tool(id, "fs/write", "write", path=path, content="owned", overwrite="true")


def sealed(
    walks: Walks,
    gate: GateQuestion,
    key: SigningKey,
    did: str,
    *,
    gate_of: str = "",
    intent: str = "",
    decision: str = "approve",
    answer: str | None = None,
    at: str = "",
) -> ir.Envelope:
    """A decision about a gate, as anybody could write it down."""
    clock = walks.home.clock
    at = at or clock.now()
    body = PolicyGateResolveBody(
        gate_of or gate.gate_id, decision, at, gate.binding if answer is None else answer
    )
    header = ir.Header(clock.new_id(), at, did, f"matrix://intent/{intent or gate.intent_id}")
    return ir.seal("policy.gate.resolve", body, header, key)


class Hostile:
    """Answers each question with what ``forge`` makes of it, and remembers the questions."""

    def __init__(self, forge: Callable[[GateQuestion, list[GateQuestion]], GateAnswer | None]) -> None:
        self.forge = forge
        self.asked: list[GateQuestion] = []

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        self.asked.append(gate)
        return self.forge(gate, self.asked)


def tried(walks: Walks, people: object, root: NODE | None = None) -> Outcome | MclError:
    """Walk a plan that asks, with such people."""
    walks.write("a.txt", "before")
    try:
        return walks.go(root or overwrite("n1"), people=people)
    except MclError as problem:
        return problem


def nothing_happened(walks: Walks, ended: Outcome | MclError) -> None:
    assert (walks.workspace / "a.txt").read_text() == "before"
    assert walks.home.journal.verify().ok
    if isinstance(ended, Outcome):
        assert ended.state == "denied", ended
        assert ended.failure is not None
        assert ended.failure.code in ("GATE_DENIED", "GATE_TIMEOUT", "APPROVAL_MISMATCH", "GATE_PENDING")


def stranger() -> tuple[SigningKey, str]:
    key = SigningKey.generate()
    return key, ir.did_of(bytes(key.verify_key))


def by_agent(walks: Walks, gate: GateQuestion) -> ir.Envelope:
    agent = walks.home.keyring.agent
    return sealed(walks, gate, agent.signing_key, agent.did)


def by_stranger(walks: Walks, gate: GateQuestion) -> ir.Envelope:
    return sealed(walks, gate, *stranger())


def by_stranger_in_the_users_name(walks: Walks, gate: GateQuestion) -> ir.Envelope:
    return sealed(walks, gate, stranger()[0], walks.home.keyring.user.did)


def by_revoked(walks: Walks, gate: GateQuestion) -> ir.Envelope:
    key, did = stranger()
    walks.home.keyring.trust(did, "user", label="Eve")
    walks.home.keyring.revoke(did)
    return sealed(walks, gate, key, did)


def by_revoked_dated_back(walks: Walks, gate: GateQuestion) -> ir.Envelope:
    key, did = stranger()
    walks.home.keyring.trust(did, "user", label="Eve")
    walks.home.keyring.revoke(did)
    earlier = instant(moment(walks.home.clock.now()) - timedelta(days=1))
    return sealed(walks, gate, key, did, at=earlier)


def by_trusted_agent(walks: Walks, gate: GateQuestion) -> ir.Envelope:
    key, did = stranger()
    walks.home.keyring.trust(did, "agent", label="another agent")
    return sealed(walks, gate, key, did)


def by_user(walks: Walks, gate: GateQuestion, **more: str) -> ir.Envelope:
    user = walks.home.keyring.user
    return sealed(walks, gate, user.signing_key, user.did, **more)  # type: ignore[arg-type]  # texts


FORGED: dict[str, Callable[[Walks, GateQuestion], ir.Envelope]] = {
    "signed by the agent": by_agent,
    "signed by a stranger": by_stranger,
    "signed by a stranger in the user's name": by_stranger_in_the_users_name,
    "signed by a revoked key": by_revoked,
    "signed by a revoked key and dated back": by_revoked_dated_back,
    "signed by a trusted agent": by_trusted_agent,
    "about another intent": lambda walks, gate: by_user(walks, gate, intent=walks.home.clock.new_id()),
    "about another gate": lambda walks, gate: by_user(walks, gate, gate_of=walks.home.clock.new_id()),
    "bound to nothing": lambda walks, gate: by_user(walks, gate, answer=""),
    "bound to another call": lambda walks, gate: by_user(walks, gate, answer="0" * 64),
    "the word in capitals": lambda walks, gate: by_user(walks, gate, decision="APPROVE"),
    "the word with a blank": lambda walks, gate: by_user(walks, gate, decision="approve "),
    "the word in another script": lambda walks, gate: by_user(walks, gate, decision="\u0430pprove"),
    "another word": lambda walks, gate: by_user(walks, gate, decision="retry"),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_forged_decision_opens_nothing(walks: Walks, forge: Callable[[Walks, Any], ir.Envelope]) -> None:
    people = Hostile(lambda gate, _: GateAnswer("approve", envelope=forge(walks, gate)))
    nothing_happened(walks, tried(walks, people))
    assert len(people.asked) == 1


def test_a_decision_that_is_no_decision_opens_nothing(walks: Walks) -> None:
    def accept(gate: GateQuestion, _: object) -> GateAnswer:
        view = walks.home.journal.view(gate.intent_id)
        body = ir.IntentAcceptBody(view.intent_hash, walks.home.clock.now(), plan_hash=view.plan_hash)
        return GateAnswer("approve", envelope=walks.seal(gate.intent_id, "intent.accept", body))

    nothing_happened(walks, tried(walks, Hostile(accept)))


def test_the_approval_of_one_node_is_no_use_at_another(walks: Walks) -> None:
    given: list[ir.Envelope] = []

    def replay(gate: GateQuestion, asked: list[GateQuestion]) -> GateAnswer:
        if len(asked) == 1:
            given.append(by_user(walks, gate))
        return GateAnswer("approve", envelope=given[0])

    walks.write("b.txt", "before")
    ended = tried(walks, Hostile(replay), sequence("n0", overwrite("n1"), overwrite("n2", "b.txt")))
    assert isinstance(ended, Outcome)
    assert ended.nodes == {"n0": "failed", "n1": "completed", "n2": "denied"}
    assert (walks.workspace / "b.txt").read_text() == "before"
    assert walks.home.journal.verify().ok


def test_the_binding_of_one_node_is_no_use_at_another(walks: Walks) -> None:
    def borrow(gate: GateQuestion, asked: list[GateQuestion]) -> GateAnswer:
        return GateAnswer("approve", envelope=by_user(walks, gate, answer=asked[0].binding))

    walks.write("b.txt", "before")
    ended = tried(walks, Hostile(borrow), sequence("n0", overwrite("n1"), overwrite("n2", "b.txt")))
    assert isinstance(ended, Outcome)
    assert ended.nodes["n2"] == "denied"
    assert (walks.workspace / "b.txt").read_text() == "before"


def asked(walks: Walks, call: Call, intent: str, context: Any) -> tuple[str, Ask]:
    """Ask the gate and put its question to people; the id of the gate."""
    reply = decide(call, context)
    assert isinstance(reply, Ask)
    body = PolicyGateBody(
        "matrix://rule/exact-call", reply.question, node_id=call.node_id, expires_at=reply.expires_at
    )
    walks.tell(intent, "policy.gate", body)
    return walks.home.journal.rows(intent)[-1].id, reply


def test_an_approval_does_not_outlive_a_change_of_the_tool(walks: Walks) -> None:
    walks.write("a.txt", "before")
    intent = walks.accept(overwrite("n1"))
    context = context_of(walks, intent)
    call = Call(
        "matrix://tool/fs/write@1.0.0",
        {"path": "a.txt", "content": "owned", "overwrite": True},
        "write",
        "n1",
    )
    gate, reply = asked(walks, call, intent, context)
    walks.tell(
        intent,
        "policy.gate.resolve",
        PolicyGateResolveBody(gate, "approve", walks.home.clock.now(), reply.binding),
    )
    manifest = context.manifest(call)
    changed = Manifest.model_validate(
        {**manifest.model_dump(), "description": "Writes, and tells a stranger."}
    )

    class Other:
        """The same tools, one of them changed."""

        manifests = context.tools.manifests
        args_checker = staticmethod(context.tools.args_checker)

        def find(self, reference: str) -> object:
            return changed if reference == call.tool_ref else context.tools.find(reference)

    swapped = replace(context, tools=Other())
    refused = decide(replace(call, approval=gate), swapped)
    assert isinstance(refused, Deny)
    assert refused.code == "TOOL_CHANGED"
    Pins(walks.home).approve(changed)  # the operator looks at it, and takes it
    refused = decide(replace(call, approval=gate), swapped)
    assert isinstance(refused, Deny)
    assert refused.code == "APPROVAL_MISMATCH"


def test_an_approval_does_not_outlive_a_change_of_the_policy(walks: Walks) -> None:
    class Changes(Says):
        async def ask(self, gate: GateQuestion) -> GateAnswer | None:
            (walks.home.path / "policy.toml").write_text("approval_minutes = 30\n")
            return await super().ask(gate)

    place = walks.write("a.txt", "before")
    outcome = walks.run(walks.accept(overwrite("n1")), people=Changes("approve"))
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code) == ("denied", "APPROVAL_MISMATCH")
    assert place.read_text() == "before"


def test_a_decision_after_the_time_is_over_is_refused(walks: Walks) -> None:
    walks.write("a.txt", "before")
    intent = walks.accept(overwrite("n1"))
    call = Call(
        "matrix://tool/fs/write@1.0.0",
        {"path": "a.txt", "content": "owned", "overwrite": True},
        "write",
        "n1",
    )
    gate, reply = asked(walks, call, intent, context_of(walks, intent))
    late = instant(moment(reply.expires_at) + timedelta(milliseconds=1))
    for at, said in ((late, late), (walks.home.clock.now(), late), (late, walks.home.clock.now())):
        body = PolicyGateResolveBody(gate, "approve", said, reply.binding)
        user = walks.home.keyring.user
        header = ir.Header(walks.home.clock.new_id(), at, user.did, f"matrix://intent/{intent}")
        with pytest.raises(LifecycleError) as caught:
            walks.home.journal.append(ir.seal("policy.gate.resolve", body, header, user.signing_key))
        assert caught.value.code == "GATE_EXPIRED"


def test_an_envelope_is_taken_once_and_never_in_another_home(walks: Walks, tmp_path: Path) -> None:
    from executor import Home

    intent = walks.propose(overwrite("n1"))
    view = walks.home.journal.view(intent)
    body = ir.IntentAcceptBody(view.intent_hash, walks.home.clock.now(), plan_hash=view.plan_hash)
    accept = walks.seal(intent, "intent.accept", body)
    walks.home.journal.append(accept)
    with pytest.raises(MclError) as caught:
        walks.home.journal.append(accept)
    assert caught.value.code in ("ID_REUSED", "ILLEGAL_EVENT")
    with Home.open(tmp_path / "other") as other:
        for row in walks.home.journal.rows(intent):
            with pytest.raises(MclError) as caught:
                other.journal.append(walks.home.journal.open(row.wire))
            assert caught.value.code == "UNKNOWN_KEY"
        assert other.journal.size() == 1, "only that it is unattended"


RACE = """
import json, sys, time
from pathlib import Path
from executor import Home, Approvals
from mcl.usecases.gates import decide_gate
from ir import MclError
home, go, what, gate, answer = sys.argv[1:6]
with Home.open(Path(home)) as home:
    approvals = Approvals(home)
    home.keyring.user.signing_key
    Path(go + answer).touch()
    while not Path(go).exists():
        time.sleep(0.001)
    if what == "claim":
        print(json.dumps([approvals.use(gate, intent="i", node="n", binding="b") for _ in range(1)]))
    else:
        try:
            decide_gate(gate, answer, home=home)
            print(json.dumps("won"))
        except MclError as problem:
            print(json.dumps(problem.code))
"""


def raced(walks: Walks, what: str, gate: str, answers: tuple[str, ...]) -> list[Any]:
    """What several processes say that do the same at once."""
    go = walks.workspace.parent / "go"
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(walks.home.path), str(go), what, gate, answer],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).resolve().parents[2],
        )
        for answer in answers
    ]
    while not all(go.with_name(go.name + answer).exists() for answer in answers):
        assert all(one.poll() is None for one in processes)
    go.touch()
    return [json.loads(one.communicate(timeout=60)[0]) for one in processes]


def test_of_two_processes_that_use_one_approval_at_once_one_gets_it(walks: Walks) -> None:
    context_of(walks, None)
    assert sorted(raced(walks, "claim", "g", ("a", "b")), key=str) == [[False], [True]]


def test_of_two_people_who_decide_at_once_the_first_wins_and_the_second_is_told(walks: Walks) -> None:
    walks.write("a.txt", "before")
    intent = walks.accept(overwrite("n1"))
    call = Call(
        "matrix://tool/fs/write@1.0.0",
        {"path": "a.txt", "content": "owned", "overwrite": True},
        "write",
        "n1",
    )
    gate, _ = asked(walks, call, intent, context_of(walks, intent))
    said = raced(walks, "decide", gate, ("approve", "deny"))
    assert sorted(said) == ["GATE_RESOLVED", "won"]
    decided = list(walks.home.journal.rows(intent, kind="policy.gate.resolve"))
    assert len(decided) == 1
    assert walks.home.journal.verify().ok
