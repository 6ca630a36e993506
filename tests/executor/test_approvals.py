"""Gates and approvals: who decides, what an approval is bound to, and that it is good once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import anyio
import pytest
from walks import NODE, Says, Walks, context_of, gate, probe, sequence, tool

from executor import Allow, Ask, Bench, Call, Deny, GateAnswer, GateQuestion, Home, Policy, decide
from ir import Header, PolicyGateBody, PolicyGateResolveBody, seal


@pytest.fixture
def walks(home: Home, tmp_path: Path) -> Walks:
    (tmp_path / "work").mkdir()
    found = Walks(home, tmp_path / "work")
    found.write("a.txt", "hello")
    return found


OVERWRITE = tool("n1", "fs/write", "write", path="a.txt", content="new", overwrite="true")
CALL = Call(
    "matrix://tool/fs/write@1.0.0", {"path": "a.txt", "content": "new", "overwrite": True}, "write", "n1"
)


def ask(walks: Walks, intent_id: str, reply: Ask) -> str:
    body = PolicyGateBody(
        "matrix://rule/exact-call",
        reply.question,
        node_id="n1",
        options=("approve", "deny"),
        expires_at=reply.expires_at,
    )
    walks.tell(intent_id, "policy.gate", body)
    return walks.home.journal.rows(intent_id)[-1].id


def resolve(walks: Walks, intent_id: str, gate_id: str, decision: str, answer: str) -> None:
    body = PolicyGateResolveBody(gate_id, decision, walks.home.clock.now(), answer)
    walks.tell(intent_id, "policy.gate.resolve", body)


def asked(walks: Walks, node: NODE = OVERWRITE, call: Call = CALL) -> tuple[str, object, Ask]:
    intent_id = walks.accept(node)
    context = context_of(walks, intent_id)
    reply = decide(call, context)
    assert isinstance(reply, Ask)
    return intent_id, context, reply


def test_the_question_says_what_would_be_done_to_what(walks: Walks) -> None:
    _, _, reply = asked(walks)
    assert "fs/write" in reply.question
    assert "a.txt" in reply.question
    assert "destructive" in reply.question
    assert "overwrite = true," in reply.question  # as JSON has it, and as gate show has it


def test_an_approval_of_the_exact_call_allows_it_once(walks: Walks) -> None:
    intent_id, context, reply = asked(walks)
    gate_id = ask(walks, intent_id, reply)
    call = replace(CALL, approval=gate_id)
    first = decide(call, context)
    assert isinstance(first, Deny)
    assert first.code == "GATE_PENDING"
    resolve(walks, intent_id, gate_id, "approve", reply.binding)
    assert isinstance(decide(call, context), Allow)
    again = decide(call, context)
    assert isinstance(again, Deny)
    assert again.code == "APPROVAL_CONSUMED"
    assert isinstance(decide(CALL, context), Ask)


def test_an_approval_given_before_a_crash_is_found_again_and_used_up(walks: Walks) -> None:
    intent_id, context, reply = asked(walks)
    resolve(walks, intent_id, ask(walks, intent_id, reply), "approve", reply.binding)
    assert isinstance(decide(CALL, context), Allow)
    assert isinstance(decide(CALL, context), Ask)


@pytest.mark.parametrize(
    "args",
    [
        {"path": "a.txt", "content": "worse", "overwrite": True},
        {"path": "b.txt", "content": "new", "overwrite": True},
    ],
)
def test_an_approval_of_other_arguments_does_not_count(walks: Walks, args: dict[str, object]) -> None:
    walks.write("b.txt", "there")
    given = {"path": "${n0.output.path}", "content": "${n0.output.text}", "overwrite": "true"}
    plan = sequence("root", tool("n0", "fs/read", path="a.txt"), tool("n1", "fs/write", "write", **given))
    intent_id, context, reply = asked(walks, plan)
    gate_id = ask(walks, intent_id, reply)
    resolve(walks, intent_id, gate_id, "approve", reply.binding)
    other = Call(CALL.tool_ref, args, "write", "n1", approval=gate_id)
    refused = decide(other, context)
    assert isinstance(refused, Deny)
    assert refused.code == "APPROVAL_MISMATCH"
    assert isinstance(decide(replace(other, approval=""), context), Ask)
    assert isinstance(decide(replace(CALL, approval=gate_id), context), Allow)


def test_an_approval_under_another_policy_or_from_another_intent_does_not_count(walks: Walks) -> None:
    intent_id, context, reply = asked(walks)
    gate_id = ask(walks, intent_id, reply)
    resolve(walks, intent_id, gate_id, "approve", reply.binding)
    call = replace(CALL, approval=gate_id)
    refused = decide(call, replace(context, policy=Policy(version="0" * 64)))
    assert isinstance(refused, Deny)
    assert refused.code == "APPROVAL_MISMATCH"
    borrowed = decide(call, context_of(walks, walks.accept(OVERWRITE)))
    assert isinstance(borrowed, Deny)
    assert borrowed.code == "GATE_PENDING"


def test_an_approval_whose_answer_is_not_the_binding_does_not_count(walks: Walks) -> None:
    intent_id, context, reply = asked(walks)
    gate_id = ask(walks, intent_id, reply)
    resolve(walks, intent_id, gate_id, "approve", "yes")
    refused = decide(replace(CALL, approval=gate_id), context)
    assert isinstance(refused, Deny)
    assert refused.code == "APPROVAL_MISMATCH"


def test_an_approval_is_good_until_it_expires(walks: Walks) -> None:
    intent_id, context, reply = asked(walks)
    gate_id = ask(walks, intent_id, reply)
    resolve(walks, intent_id, gate_id, "approve", reply.binding)

    class Later:
        def now(self) -> str:
            return "2199-01-01T00:00:00.000Z"

        def new_id(self) -> str:
            return walks.home.clock.new_id()

    late = replace(context, clock=Later())
    refused = decide(replace(CALL, approval=gate_id), late)
    assert isinstance(refused, Deny)
    assert refused.code == "GATE_TIMEOUT"
    assert isinstance(decide(CALL, late), Ask)


def test_of_two_walkers_with_one_approval_one_gets_it(walks: Walks) -> None:
    intent_id, context, reply = asked(walks)
    gate_id = ask(walks, intent_id, reply)
    resolve(walks, intent_id, gate_id, "approve", reply.binding)
    with Home.open(walks.home.path) as other:
        rival = context_of(Walks(other, walks.workspace), intent_id)
        replies = [decide(replace(CALL, approval=gate_id), one) for one in (context, rival)]
    assert [type(one) for one in replies] == [Allow, Deny]


@pytest.mark.parametrize(
    ("answer", "text"),
    [("approve", "new"), ("deny", "hello"), (None, "hello"), ("yes", "new"), ("Yes", "hello")],
)
def test_a_walk_asks_before_it_overwrites_and_obeys(walks: Walks, answer: str | None, text: str) -> None:
    people = Says(answer)
    outcome = walks.go(OVERWRITE, people=people)
    assert (walks.workspace / "a.txt").read_text() == text
    assert outcome.state == ("completed" if text == "new" else "denied")
    assert people.asked[0].kind == "approval"
    assert people.asked[0].args["path"] == "a.txt"
    assert len(walks.records("record.gate.asked")) == 1


def test_the_decision_is_signed_by_the_user_and_names_the_exact_call(walks: Walks) -> None:
    people = Says("approve")
    outcome = walks.go(OVERWRITE, people=people)
    envelopes = walks.home.journal.envelopes(outcome.intent_id)
    signed = next(one for one in envelopes if isinstance(one.body, PolicyGateResolveBody))
    assert signed.from_ == walks.home.keyring.user.did
    assert isinstance(signed.body, PolicyGateResolveBody)
    assert (signed.body.decision, signed.body.answer) == ("approve", people.asked[0].binding)


@pytest.mark.parametrize(
    ("options", "answer", "state"),
    [
        ((), "approve", "completed"),
        ((), "APPROVE", "denied"),
        ((), " approve", "denied"),
        ((), "", "denied"),
        ((), "yes", "completed"),
        ((), "n", "denied"),
        ((), None, "denied"),
        (("red", "blue"), "red", "completed"),
        (("red", "blue"), "approve", "denied"),
        (("red", "blue"), "y", "denied"),
        (("red", "blue"), "deny", "denied"),
        (("yes", "no"), "y", "completed"),
        (("red", "blue"), "green", "denied"),
        (("yes", "no"), "no", "denied"),
        (("go", "Stop"), "Stop", "completed"),  # no word of an option is interpreted
    ],
)
def test_a_gate_opens_for_the_exact_word_or_a_listed_option_only(
    walks: Walks, options: tuple[str, ...], answer: str | None, state: str
) -> None:
    outcome = walks.go(
        sequence("n0", gate("n1", options=options), tool("n2", "time/now")), people=Says(answer)
    )
    assert outcome.state == state
    assert outcome.nodes["n2"] == ("completed" if state == "completed" else "skipped")


def test_the_option_chosen_at_a_gate_is_an_output(walks: Walks) -> None:
    plan = sequence(
        "n0",
        gate("n1", options=["red", "blue"]),
        tool("n2", "fs/write", "write", path="c.txt", content="${n1.output.answer}"),
    )
    assert walks.go(plan, people=Says("blue")).state == "completed"
    assert (walks.workspace / "c.txt").read_text() == "blue"


class Sleepy:
    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        await anyio.sleep(60)
        return GateAnswer("approve")


class Ended:
    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        raise EOFError


def test_a_gate_that_is_not_answered_in_time_is_denied(walks: Walks) -> None:
    outcome = walks.go(gate("n1", timeout_ms=80), people=Sleepy())
    assert outcome.failure is not None
    assert outcome.failure.code == "GATE_TIMEOUT"
    assert outcome.state == "denied"
    assert len(walks.records("record.gate.timeout")) == 1


def test_the_end_of_input_is_a_no(walks: Walks) -> None:
    outcome = walks.go(gate("n1"), people=Ended())
    assert outcome.failure is not None
    assert outcome.failure.code == "GATE_DENIED"


def test_a_decision_made_by_another_process_opens_the_gate(walks: Walks) -> None:
    class Elsewhere:
        async def ask(self, gate: GateQuestion) -> GateAnswer | None:
            with Home.open(walks.home.path) as other:
                resolve(Walks(other, walks.workspace), gate.intent_id, gate.gate_id, "approve", "")
            await anyio.sleep(60)
            return None

    assert walks.go(gate("n1"), people=Elsewhere()).state == "completed"


def test_a_decision_made_while_no_run_was_waiting_counts_when_the_run_goes_on(walks: Walks) -> None:
    class Dies:
        async def ask(self, gate: GateQuestion) -> GateAnswer | None:
            raise KeyboardInterrupt

    intent_id = walks.accept(gate("n1", options=["red", "blue"]))
    with pytest.raises(KeyboardInterrupt):
        walks.run(intent_id, people=Dies())
    gate_id = next(iter(walks.home.journal.view(intent_id).gates))
    resolve(walks, intent_id, gate_id, "blue", "blue")
    outcome = walks.run(intent_id, resume=True, people=Says())
    assert outcome.outputs["n1"] == {"decision": "blue", "answer": "blue", "reason": ""}


def test_a_decision_signed_elsewhere_is_taken_and_one_signed_by_the_agent_is_not(walks: Walks) -> None:
    class Signed:
        async def ask(self, gate: GateQuestion) -> GateAnswer | None:
            body = PolicyGateResolveBody(gate.gate_id, "approve", walks.home.clock.now())
            return GateAnswer("", envelope=walks.seal(gate.intent_id, "policy.gate.resolve", body))

    assert walks.go(gate("n1"), people=Signed()).state == "completed"


@pytest.mark.parametrize(("minutes", "code"), [(-16, "STALE"), (3, "FROM_FUTURE")])
def test_a_decision_signed_long_ago_or_ahead_of_time_is_no_answer(
    walks: Walks, minutes: int, code: str
) -> None:
    class Old:
        async def ask(self, gate: GateQuestion) -> GateAnswer | None:
            clock, user = walks.home.clock, walks.home.keyring.user
            moment = datetime.fromisoformat(clock.now()) + timedelta(minutes=minutes)
            at = moment.isoformat()[:23] + "Z"
            header = Header(clock.new_id(), at, user.did, f"matrix://intent/{gate.intent_id}")
            body = PolicyGateResolveBody(gate.gate_id, "approve", at)
            return GateAnswer("", envelope=seal("policy.gate.resolve", body, header, user.signing_key))

    outcome = walks.go(gate("n1"), people=Old())
    assert outcome.state == "denied"
    assert [refused["code"] for refused in walks.records("record.gate.refused")] == [code]


def test_a_question_shows_no_secrets_and_moves_no_cursor(walks: Walks) -> None:
    people = Says("deny")
    secret = "ghp_" + "a1B2" * 10
    walks.write("s.txt", f"{secret}\x1b[2J")
    plan = sequence("n0", tool("n1", "fs/read", path="s.txt"), gate("n2", question="Use ${n1.output.text}?"))
    walks.go(plan, people=people)
    assert people.asked[0].question == "Use [redacted: GitHub token]\\x1b[2J?"


@pytest.mark.parametrize("kind", ["gate", "in_doubt"])
def test_a_question_that_a_dead_run_left_open_is_put_again_and_not_doubled(walks: Walks, kind: str) -> None:
    async def dies(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        raise KeyboardInterrupt

    class Dies:
        async def ask(self, gate: GateQuestion) -> GateAnswer | None:
            raise KeyboardInterrupt

    walks.tools.append(probe("dies", dies, idempotent=False, effects=("write",)))
    intent_id = walks.accept(gate("n1") if kind == "gate" else tool("n1", "test/dies", "write"))
    for resume in (False, True, True)[: 2 if kind == "gate" else 3]:
        with pytest.raises(KeyboardInterrupt):
            walks.run(intent_id, people=Dies(), resume=resume)
    people = Says("approve" if kind == "gate" else "done")
    assert walks.run(intent_id, people=people, resume=True).state == "completed"
    gates = [row.id for row in walks.home.journal.rows(kind="policy.gate")]
    assert [asked.gate_id for asked in people.asked] == gates
