"""Work handed to another agent: a real second process with a key of its own, honest or not."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nacl.signing import SigningKey
from walks import NODE, Says, Walks, granted, sequence, tool

from executor import Agents, Home, KeyringError, Outcome, PolicyError, ScopeError
from executor.walker.handover import HandedWork, read_answer
from executor.walker.undo.undo import undo
from ir import (
    Header,
    IntentAttestBody,
    IntentDispatchBody,
    MclError,
    PlanStepBody,
    did_of,
    read_unverified,
    seal,
)

SKILL = f"matrix://skill/print@sha256:{'a' * 64}"


@dataclass(frozen=True)
class Other:
    """The other agent: its did, and where it listens."""

    did: str
    origin: str


@pytest.fixture(scope="module")
def process() -> Iterator[subprocess.Popen[str]]:
    """The other agent, once for all tests here."""
    command = [sys.executable, str(Path(__file__).parents[1] / "peer.py")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        try:
            yield started
        finally:
            started.kill()


@pytest.fixture(scope="module")
def listening(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Its port and its did."""
    assert process.stdout is not None
    port, did = process.stdout.readline().split()
    return port, did


@pytest.fixture
def other(walks: Walks, process: subprocess.Popen[str], listening: tuple[str, str]) -> Other:
    """The other agent, who believes this home's and nobody else."""
    assert process.stdin is not None
    assert process.stdout is not None
    believed = walks.home.keyring.agent.did
    process.stdin.write(f"{believed}\n")
    process.stdin.flush()
    assert process.stdout.readline().strip() == believed
    return Other(listening[1], f"http://127.0.0.1:{listening[0]}")


def hand(id: str, agent: str = "matrix://agent/printer", **more: Any) -> NODE:
    frame = {"verb": "build", "objects": [{"name": "what", "value": "a poster"}]}
    sub = {"skill_ref": SKILL, "agent_ref": agent, "sub_intent": frame, **more}
    return {"id": id, "kind": "sub_dispatch", "description": "print it", "sub_dispatch": sub}


def go(
    walks: Walks, other: Other, how: str, *, node: NODE | None = None, people: Any = None, **more: Any
) -> Outcome:
    """Hand work to an agent that answers like this; people approve unless told otherwise."""
    granted(walks, other.origin)
    agents = Agents(walks.home)
    if agents.find("printer"):
        agents.remove("printer")
    agents.add("printer", other.did, f"{other.origin}/{how}")
    return walks.go(node or hand("n1"), verb="delegate", people=people or Says("approve"), **more)


def code(outcome: Outcome) -> str:
    return outcome.failure.code if outcome.failure else outcome.state


def dispatched(walks: Walks, outcome: Outcome) -> list[Any]:
    found = walks.home.journal.envelopes(outcome.intent_id)
    return [envelope for envelope in found if envelope.kind == "intent.dispatch"]


def test_another_agent_does_the_work_and_signs_for_it(walks: Walks, other: Other) -> None:
    people = Says("approve")
    node = hand("n1", scope_uri="matrix://scope/read+write")
    use = tool("n2", "fs/write", "write", path="a.txt", content="${n1.output.evidence.objects[0]}")
    outcome = go(walks, other, "ok", node=sequence("n0", node, use), people=people)
    assert outcome.state == "completed", outcome.failure
    found: Any = outcome.outputs["n1"]
    assert (found["outcome"], found["agent"]) == ("success", other.did)
    assert found["cited_uris"] == ["matrix://artifact/a"]
    assert found["evidence"] == {
        "verb": "build",
        "objects": ["a poster"],
        "scope": "matrix://scope/read+write",
        "sent": 1,
    }
    assert (walks.workspace / "a.txt").read_text() == "a poster"
    (question,) = people.asked
    assert (question.kind, question.tool_ref) == ("approval", "matrix://tool/agent/dispatch@1.0.0")
    assert question.args["endpoint"] == f"{other.origin}/ok"
    assert question.args["did"] == other.did
    assert 'frame = "{' in question.question
    assert "a poster" in question.question


@pytest.mark.parametrize(
    ("keeps", "expected"),
    [
        ("change nothing", "PROMISE_BROKEN"),
        ("delete nothing", "PROMISE_BROKEN"),
        ("only in docs", "PROMISE_BROKEN"),
        ("only host example.org", "PROMISE_BROKEN"),
        ("send nothing", "PROMISE_BROKEN"),
        ("no tool agent/dispatch", "PROMISE_BROKEN"),
        ("only tool agent/*", "completed"),
        ("at most 5 calls", "completed"),
    ],
)
def test_no_work_is_handed_to_where_nobody_sees_that_a_rule_is_kept(
    walks: Walks, other: Other, keeps: str, expected: str
) -> None:
    rule = {"type": "rule", "hard": True, "rule": "as the goal says", "keeps": keeps}
    outcome = go(walks, other, "ok", constraints=[rule])
    assert code(outcome) == expected
    assert len(dispatched(walks, outcome)) == (expected == "completed")


def test_an_undo_says_that_what_another_agent_did_stays(walks: Walks, other: Other) -> None:
    use = tool("n2", "fs/write", "write", path="a.txt", content="x")
    outcome = go(walks, other, "ok", node=sequence("n0", hand("n1"), use))
    report = undo(walks.home, outcome.intent_id)
    assert (report.state, report.removed) == ("undone", ("a.txt",))
    assert [(one.node, one.why) for one in report.not_undone] == [
        ("n1", "what another agent did is not undone")
    ]


def test_what_was_sent_and_what_came_back_can_be_checked_from_the_journal(walks: Walks, other: Other) -> None:
    outcome = go(walks, other, "ok", budget={"max_calls": 5, "max_agents": 2})
    (sent,) = dispatched(walks, outcome)
    assert (sent.to, sent.intent) == (other.did, f"matrix://intent/{outcome.intent_id}")
    assert isinstance(sent.body, IntentDispatchBody)
    child = json.loads(sent.body.sub_intent_json)
    assert child["parent"] == f"matrix://intent/{outcome.intent_id}"
    assert child["agent"] == f"matrix://agent/{other.did}"
    assert child["references"] == [{"uri": SKILL, "role": "skill"}]
    assert child["budget"] == {"max_calls": 4, "max_agents": 1}
    (record,) = walks.records("record.dispatch.answer")
    answer = read_unverified(record["answer"])
    assert (answer.from_, answer.causation_id, record["node"]) == (other.did, sent.id, "n1")
    assert walks.home.journal.verify().ok


def test_secrets_in_an_answer_are_not_kept(walks: Walks, other: Other) -> None:
    secret = "ghp_" + "a1" * 18
    outcome = go(walks, other, "secret")
    assert outcome.state == "completed"
    assert outcome.outputs["n1"]["evidence"]["objects"] == ["[redacted: GitHub token]"]  # type: ignore[index]
    (record,) = walks.records("record.dispatch.answer")
    assert record["answer"] == b""
    assert len(record["sha256"]) == 64
    walks.home.close()
    for path in walks.home.path.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes()


def test_what_another_agent_writes_does_no_harm(walks: Walks, other: Other) -> None:
    shown = str(go(walks, other, "escapes").outputs["n1"])
    assert not set(shown) & {"\x1b", "\u202e"}
    assert go(walks, other, "deep").outputs["n1"]["evidence"] == {}  # type: ignore[index]


@pytest.mark.parametrize(
    ("how", "wanted"),
    [
        *(("fail", "DISPATCH_FAILED"), ("partial", "DISPATCH_FAILED")),
        *(("other-key", "UNKNOWN_KEY"), ("forged", "BAD_SIGNATURE"), ("changed", "BAD_SIGNATURE")),
        *(("unsigned", "UNSIGNED"), ("role", "WRONG_ROLE"), ("kind", "ANSWER_MISMATCH")),
        *(("other-intent", "ANSWER_MISMATCH"), ("above", "ANSWER_MISMATCH")),
        *(("other-dispatch", "ANSWER_MISMATCH"), ("elsewhere", "ANSWER_MISMATCH")),
        *(("old", "STALE"), ("earlier", "ANSWER_MISMATCH"), ("future", "FROM_FUTURE")),
        *(("garbage", "CBOR_"), ("trailing", "CBOR_"), ("empty", "CBOR_")),
        *(("html", "BAD_RESPONSE"), ("huge", "BAD_RESPONSE"), ("dead", "BAD_RESPONSE")),
        *(("error", "HTTP_STATUS"), ("gone", "HTTP_STATUS"), ("moved", "REDIRECT_REFUSED")),
    ],
)
def test_an_answer_that_does_not_hold_fails_its_node_alone(
    walks: Walks, other: Other, how: str, wanted: str
) -> None:
    outcome = go(walks, other, how, node=sequence("n0", tool("n2", "time/now"), hand("n1")))
    assert (outcome.state, code(outcome).startswith(wanted)) == ("failed", True), outcome.failure
    assert outcome.nodes == {"n0": "failed", "n1": "failed", "n2": "completed"}
    assert outcome.failure is not None
    assert "\x1b" not in outcome.failure.message
    assert walks.home.journal.view(outcome.intent_id).state == "failed"
    assert walks.home.journal.verify().ok


def test_an_answer_that_was_given_before_counts_for_nothing(walks: Walks, other: Other) -> None:
    assert go(walks, other, "ok").state == "completed"
    assert code(go(walks, other, "replay")) == "ANSWER_MISMATCH"
    (refused,) = walks.records("record.gate.answer_refused")
    assert (refused["node"], refused["code"]) == ("n1", "ANSWER_MISMATCH")


def test_an_agent_that_takes_its_time_is_sent_the_same_envelope_again(walks: Walks, other: Other) -> None:
    outcome = go(walks, other, "busy")
    assert outcome.outputs["n1"]["evidence"]["sent"] == 3  # type: ignore[index]
    assert len(dispatched(walks, outcome)) == 1


def test_an_agent_that_never_answers_is_left_when_the_time_is_over(walks: Walks, other: Other) -> None:
    outcome = go(walks, other, "slow", budget={"max_time": "PT2S"})
    assert (outcome.state, code(outcome)) == ("failed", "TIMEOUT")


def test_an_agent_that_is_not_there_fails_its_node(walks: Walks, other: Other) -> None:
    granted(walks, "http://127.0.0.1:9")
    Agents(walks.home).add("printer", other.did, "http://127.0.0.1:9/")
    assert code(walks.go(hand("n1"), verb="delegate", people=Says("approve"))) == "CONNECT_FAILED"


def test_nothing_is_sent_before_a_person_approves_this_very_work(walks: Walks, other: Other) -> None:
    people = Says("deny")
    refused = go(walks, other, "ok", people=people)
    assert (refused.state, code(refused), dispatched(walks, refused)) == ("denied", "GATE_DENIED", [])
    assert "a poster" in str(people.asked[0].args["sub_intent"])


def test_what_is_handed_over_is_judged_beforehand(walks: Walks, other: Other) -> None:
    granted(walks)
    agents = Agents(walks.home)

    def foreseen(verb: str = "delegate", **more: Any) -> Any:
        walker = walks.walker()
        verdict = walker.preflight(walks.propose(hand("n1", **more), verb=verb))[0]
        walker.close()
        return verdict

    assert foreseen().reply.code == "AGENT_UNKNOWN"
    agents.add("printer", other.did, f"{other.origin}/ok")
    assert foreseen().decision == "ask"
    assert f"{other.origin} was not granted" in foreseen().reply.question
    assert foreseen(verb="build").reply.code == "INTENT_MISMATCH"
    assert foreseen(scope_uri="matrix://scope/everything").reply.code == "SUB_DISPATCH_SCOPE"
    waiting = {"verb": "build", "objects": [{"name": "what", "value": "${n9.output.text}"}]}
    assert foreseen(sub_intent=waiting).reply.code == "REFERENCE_UNKNOWN"
    walks.home.keyring.revoke(other.did)
    assert foreseen().reply.code == "AGENT_NOT_TRUSTED"


def test_an_agent_may_be_named_by_its_key(walks: Walks, other: Other) -> None:
    node = hand("n1", agent=f"matrix://agent/{other.did}")
    assert go(walks, other, "ok", node=node).state == "completed"


def test_what_earlier_nodes_gave_goes_along(walks: Walks, other: Other) -> None:
    walks.write("what.txt", "a banner")
    frame = {"verb": "build", "objects": [{"name": "what", "value": "${n2.output.text}"}]}
    node = sequence("n0", tool("n2", "fs/read", path="what.txt"), hand("n1", sub_intent=frame))
    outcome = go(walks, other, "ok", node=node)
    assert outcome.outputs["n1"]["evidence"]["objects"] == ["a banner"]  # type: ignore[index]


def test_another_agent_gets_no_more_than_is_left(walks: Walks, other: Other) -> None:
    price = {"asset": "EUR", "amount": "2.50"}
    node = sequence("n0", tool("n2", "time/now"), tool("n3", "time/now"), hand("n1"))
    budget = {"max_calls": 4, "max_agents": 1, "max_cost": price, "max_time": "PT1H"}
    outcome = go(walks, other, "ok", node=node, budget=budget)
    (sent,) = dispatched(walks, outcome)
    child = json.loads(sent.body.sub_intent_json)
    assert child["budget"] == {"max_calls": 1, "max_agents": 0, "max_cost": price, "max_time": "PT1H"}


def test_sub_agents_are_counted(walks: Walks, other: Other) -> None:
    node = sequence("n0", hand("n1"), hand("n2"))
    outcome = go(walks, other, "ok", node=node, budget={"max_agents": 1}, people=Says("approve", "approve"))
    assert (code(outcome), outcome.nodes) == ("BUDGET_EXCEEDED", {})
    assert dispatched(walks, outcome) == []
    outcome = go(walks, other, "ok", node=node, budget={"max_agents": 2}, people=Says("approve", "approve"))
    assert (outcome.state, len(dispatched(walks, outcome))) == ("completed", 2)


def test_an_endpoint_that_was_changed_after_the_approval_needs_another_one(
    walks: Walks, other: Other
) -> None:
    class Swaps(Says):
        async def ask(self, gate: Any) -> Any:
            answer = await super().ask(gate)
            agents = Agents(walks.home)
            agents.remove("printer")
            agents.add("printer", other.did, f"{other.origin}/fail")
            return answer

    # What was approved is what is sent: the entry that a person saw, not the one made since.
    outcome = go(walks, other, "ok", people=Swaps("approve"))
    assert outcome.state == "completed"


def test_nobody_else_sends_envelopes(walks: Walks, other: Other) -> None:
    granted(walks, other.origin)
    args = {
        "agent_ref": "matrix://agent/printer", "did": other.did, "endpoint": f"{other.origin}/ok",
        "skill_ref": SKILL, "scope_uri": "", "prose": "", "frame": "{}", "sub_intent": "{}",
    }  # fmt: skip
    node = tool("n1", "agent/dispatch", "network", **args)
    assert code(walks.go(node, verb="delegate", people=Says("approve"))) == "NO_ENVELOPE"


def test_a_run_that_died_while_the_agent_worked_asks_before_it_sends_again(
    walks: Walks, other: Other
) -> None:
    granted(walks, other.origin)
    Agents(walks.home).add("printer", other.did, f"{other.origin}/ok")
    intent = walks.accept(hand("n1"), verb="delegate")
    plan = walks.home.journal.view(intent).plan
    assert plan is not None
    walks.tell(
        intent,
        "plan.step",
        PlanStepBody(plan.id, "n1", "running", json.dumps({"attempt": 1, "calls": 1, "agents": 1}).encode()),
    )
    people = Says("retry", "approve")
    outcome = walks.run(intent, resume=True, people=people)
    assert outcome.state == "completed", outcome.failure
    assert [asked.kind for asked in people.asked] == ["in_doubt", "approval"]


def test_an_attestation_of_the_agent_counts_as_one(walks: Walks, other: Other) -> None:
    source = f"matrix://agent/{other.did}"
    criteria = [{"type": "attestation", "source": source, "topic": "matrix://artifact/a"}]
    assert go(walks, other, "ok", criteria=criteria).state == "completed"
    unmet = [{"type": "attestation", "source": source, "topic": "matrix://artifact/b"}]
    assert code(go(walks, other, "ok", criteria=unmet)) == "CRITERION_NOT_MET"


@pytest.mark.parametrize(
    ("name", "endpoint", "wanted"),
    [
        ("Printer", "https://e.org", "BAD_AGENT_NAME"),
        ("", "https://e.org", "BAD_AGENT_NAME"),
        ("a" * 64, "https://e.org", "BAD_AGENT_NAME"),
        ("did:key:x", "https://e.org", "BAD_AGENT_NAME"),
        ("printer", "e.org", "HOST_DENIED"),
        ("printer", "file:///etc/passwd", "HOST_DENIED"),
        ("printer", "https://me:pw@e.org/", "HOST_DENIED"),
    ],
)
def test_an_agent_is_entered_with_a_name_a_key_and_an_address(
    home: Home, name: str, endpoint: str, wanted: str
) -> None:
    did = did_of(bytes(SigningKey.generate().verify_key))
    with pytest.raises((PolicyError, ScopeError)) as caught:
        Agents(home).add(name, did, endpoint)
    assert caught.value.code == wanted
    assert Agents(home).list() == ()


def test_an_own_key_a_users_key_and_a_taken_name_are_no_agent(home: Home) -> None:
    agents = Agents(home)
    did, user = (did_of(bytes(SigningKey.generate().verify_key)) for _ in range(2))
    home.keyring.trust(user, "user")
    agents.add("one", did, "https://e.org")
    for name, key, wanted in (
        ("two", home.keyring.agent.did, "OWN_AGENT"),
        ("two", home.keyring.user.did, "OWN_AGENT"),
        ("two", user, "KEY_ROLE_TAKEN"),
        ("one", did, "AGENT_TAKEN"),
    ):
        with pytest.raises((PolicyError, KeyringError)) as caught:
            agents.add(name, key, "https://e.org")
        assert caught.value.code == wanted
    assert [one.name for one in agents.list()] == ["one"]
    assert agents.remove("one").did == did
    assert agents.list() == ()
    assert home.keyring.resolver(did) is not None  # what it signed can still be checked
    with pytest.raises(PolicyError, match="no agent that is known"):
        agents.remove("one")


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_no_bytes_but_the_answer_itself_are_believed(home: Home, data: st.DataObject) -> None:
    """Any bytes, and any change of a true answer, are refused by one of our own errors."""
    key, clock = SigningKey(b"o" * 32), home.clock
    did = did_of(bytes(key.verify_key))
    if home.keyring.resolver(did) is None:
        home.keyring.trust(did, "agent")
    agent, intent = home.keyring.agent, f"matrix://intent/{clock.new_id()}"
    asked = Header(clock.new_id(), clock.now(), agent.did, intent, did)
    dispatch = seal("intent.dispatch", IntentDispatchBody(b"{}"), asked, agent.signing_key)
    header = Header(clock.new_id(), clock.now(), did, intent, agent.did, causation_id=dispatch.id)
    true = seal("intent.attest", IntentAttestBody("success", clock.now()), header, key).wire
    handed = HandedWork(dispatch, intent, did)
    assert read_answer(true, handed, home.keyring, clock.now()).wire == true
    place = data.draw(st.integers(0, len(true) - 1))
    changed = true[:place] + data.draw(st.binary(max_size=4)) + true[place + data.draw(st.integers(0, 4)) :]
    for wire in (changed, data.draw(st.binary(max_size=200))):
        if wire != true:
            with pytest.raises(MclError):
                read_answer(wire, handed, home.keyring, clock.now())
