"""The life of an intent, against a table typed from the specification and rules kept apart from the code."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import ir
from executor import LifecycleError, View, check, fold
from executor.store.lifecycle.events import TABLE, TERMINAL, advance

if TYPE_CHECKING:
    from tests.executor.conftest import Story

# From the specification, by hand: state, event, next state.
SPECIFIED = """
new        intent.draft         draft
new        intent.dispatch      accepted
draft      intent.compiled      proposed
draft      intent.clarify       clarifying
draft      intent.fail          failed
draft      intent.cancel        cancelled
clarifying intent.answer        clarifying
clarifying intent.compiled      proposed
clarifying intent.clarify       clarifying
clarifying intent.fail          failed
clarifying intent.cancel        cancelled
proposed   plan.proposed        proposed
proposed   plan.step            proposed
proposed   intent.compiled      proposed
proposed   intent.accept        accepted
proposed   intent.correct       proposed
proposed   intent.fail          failed
proposed   intent.cancel        cancelled
accepted   plan.step            executing
accepted   intent.correct       proposed
accepted   policy.gate          accepted
accepted   policy.gate.resolve  accepted
accepted   intent.dispatch      accepted
accepted   intent.attest        completed
accepted   intent.fail          failed
accepted   intent.cancel        cancelled
executing  plan.step            executing
executing  plan.output          executing
executing  policy.gate          executing
executing  policy.gate.resolve  executing
executing  intent.dispatch      executing
executing  intent.correct       proposed
executing  intent.attest        completed
executing  intent.fail          failed
executing  intent.cancel        cancelled
failed     intent.correct       proposed
cancelled  plan.step            cancelled
"""
LEGAL = {tuple(line.split()[:2]): line.split()[2] for line in SPECIFIED.strip().splitlines()}
HAPPY = ("intent.draft", "intent.compiled", "plan.proposed", "intent.accept", "plan.step")


@dataclass(frozen=True)
class Told:
    """What the rules need to know, counted apart from the code."""

    state: str = "new"
    rounds: int = 0
    asked: bool = False
    compiled: bool = False
    planned: bool = False
    gate_open: bool = False
    begun: bool = False

    def after(self, kind: str) -> Told | None:
        state = LEGAL.get((self.state, kind))
        if state is None:
            return None
        refused = {
            "intent.compiled": self.asked or (self.state == "proposed" and self.compiled),
            "intent.clarify": self.asked or self.rounds == 3,
            "intent.answer": not self.asked,
            "intent.accept": not self.compiled,
            "plan.proposed": not self.compiled,
            "plan.step": not self.planned or self.state in ("cancelled", "proposed"),  # it only starts nodes
            "policy.gate.resolve": not self.gate_open,
            "intent.dispatch": self.state in ("new", "accepted"),  # nothing here is a schedule
            "intent.attest": self.state == "accepted" and self.planned,
            "intent.correct": not (self.compiled and self.planned)
            or (self.state == "failed" and not self.begun),
        }
        if refused.get(kind):
            return None
        after = replace(self, state=state)
        match kind:
            case "intent.compiled":
                return replace(after, compiled=True, planned=False)
            case "intent.clarify":
                return replace(after, asked=True, rounds=self.rounds + 1)
            case "intent.answer":
                return replace(after, asked=False)
            case "plan.proposed":
                return replace(after, planned=True)
            case "intent.accept":
                return replace(after, gate_open=False)
            case "plan.step":
                return replace(after, begun=True)
            case "policy.gate":
                return replace(after, gate_open=True)
            case "policy.gate.resolve":
                return replace(after, gate_open=False)
            case "intent.correct":
                return replace(after, compiled=False, planned=False, gate_open=False)
        return after


def replay(story: Story, *kinds: str) -> View:
    view = View()
    for kind in kinds:
        view = advance(view, story.make(kind, view))
    return view


def refusal(view: View, envelope: ir.Envelope) -> LifecycleError:
    with pytest.raises(LifecycleError) as caught:
        check(view, envelope)
    assert caught.value.exit == 4
    assert caught.value.fix
    return caught.value


def test_the_table_is_the_specified_one_and_names_only_known_states_and_kinds() -> None:
    table = {(state, kind): ends for state, events in TABLE.items() for kind, ends in events.items()}
    assert table.keys() == LEGAL.keys()
    assert all(LEGAL[key] in ends for key, ends in table.items())
    assert set(TABLE) == {"new", *ir.STATES}
    assert {kind for _, kind in table} == set(ir.BODY_OF_KIND)


kinds = st.sampled_from(sorted(ir.BODY_OF_KIND))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(start=st.integers(0, len(HAPPY)), rest=st.lists(kinds, max_size=14))
def test_any_sequence_of_events_is_taken_or_refused_as_the_rules_say(
    story: Story, start: int, rest: list[str]
) -> None:
    view, told, taken = View(), Told(), []
    for kind in (*HAPPY[:start], *rest):
        envelope, expected = story.make(kind, view), told.after(kind)
        if expected is None:
            error = refusal(view, envelope)
            assert error.state == told.state
            assert set(error.legal) == {event for state, event in LEGAL if state == told.state}
        else:
            view, told = advance(view, envelope), expected
            taken.append(envelope)
        assert view.state == told.state
    assert fold(taken) == view


def test_every_event_but_the_legal_ones_is_refused_in_every_state(story: Story) -> None:
    stories = {
        "new": (),
        "draft": HAPPY[:1],
        "clarifying": ("intent.draft", "intent.clarify"),
        "proposed": HAPPY[:3],
        "accepted": HAPPY[:4],
        "executing": HAPPY,
        "completed": (*HAPPY, "intent.attest"),
        "failed": (*HAPPY, "intent.fail"),
        "cancelled": (*HAPPY, "intent.cancel"),
    }
    for state, told in stories.items():
        view = replay(story, *told)
        assert view.state == state
        assert view.terminal == (state in TERMINAL)
        for kind in set(ir.BODY_OF_KIND) - {event for where, event in LEGAL if where == state}:
            assert refusal(view, story.make(kind, view)).code == "ILLEGAL_EVENT"


@pytest.mark.parametrize(
    ("outcome", "state"), [("success", "completed"), ("failure", "failed"), ("partial", "failed")]
)
def test_an_attest_completes_only_with_success(story: Story, outcome: str, state: str) -> None:
    body = ir.IntentAttestBody(outcome=outcome, completed_at="2026-11-21T10:00:00.000Z")
    assert advance(replay(story, *HAPPY), story.seal("intent.attest", body)).state == state


@pytest.mark.parametrize(
    ("outcome", "state"), [("success", "completed"), ("failure", "failed"), ("partial", "failed")]
)
def test_an_intent_that_was_accepted_without_a_plan_is_attested_after_what_a_person_was_asked(
    story: Story, outcome: str, state: str
) -> None:
    view = replay(story, *HAPPY[:2], "intent.accept", "policy.gate", "policy.gate.resolve")
    assert view.state == "accepted"
    body = ir.IntentAttestBody(outcome=outcome, completed_at="2026-11-21T10:00:00.000Z")
    assert advance(view, story.seal("intent.attest", body)).state == state


def test_an_accepted_plan_is_not_attested_before_it_has_run(story: Story) -> None:
    view = replay(story, *HAPPY[:4])
    assert refusal(view, story.make("intent.attest", view)).code == "NOT_RUN"
    assert view.state == "accepted"


def test_after_three_rounds_of_questions_only_an_end_or_a_compile_is_left(story: Story) -> None:
    view = replay(story, "intent.draft", *("intent.clarify", "intent.answer") * 3)
    error = refusal(view, story.make("intent.clarify", view))
    assert error.code == "TOO_MANY_ROUNDS"
    assert "ambiguous_request" in error.fix
    assert advance(view, story.make("intent.compiled", view)).state == "proposed"
    assert advance(view, story.make("intent.fail", view)).state == "failed"


def test_an_answer_to_another_question_is_refused(story: Story) -> None:
    view = replay(story, "intent.draft", "intent.clarify")
    body = ir.IntentAnswerBody(patches=b"[]", answer_of=story.home.clock.new_id())
    assert refusal(view, story.seal("intent.answer", body)).code == "ANSWER_OF_NOTHING"


def accept(story: Story, **changes: str) -> ir.Envelope:
    given = {
        "intent_hash": story.intent.hash,
        "accepted_at": "2026-11-21T10:00:00.000Z",
        "plan_hash": story.plan.hash,
    }
    return story.seal(
        "intent.accept", ir.IntentAcceptBody(**(given | changes)), at="2026-11-21T10:00:00.000Z"
    )


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"intent_hash": "0" * 64}, "INTENT_HASH_MISMATCH"),
        ({"plan_hash": "0" * 64}, "PLAN_HASH_MISMATCH"),
        ({"plan_hash": ""}, "PLAN_HASH_MISMATCH"),
    ],
)
def test_an_accept_of_other_hashes_is_refused(story: Story, changes: dict[str, str], code: str) -> None:
    assert refusal(replay(story, *HAPPY[:3]), accept(story, **changes)).code == code


def test_an_accept_that_names_a_plan_where_none_was_proposed_is_refused(story: Story) -> None:
    assert refusal(replay(story, *HAPPY[:2]), accept(story)).code == "PLAN_HASH_MISMATCH"


def test_without_an_accepted_plan_nothing_runs(story: Story) -> None:
    view = replay(story, "intent.draft", "intent.compiled", "intent.accept")
    assert view.state == "accepted"
    assert refusal(view, story.make("plan.step", view)).code == "NO_PLAN_ACCEPTED"


def test_an_accept_with_a_blocking_unknown_is_refused(story: Story) -> None:
    unknown = ir.Unknown(id="u1", severity="blocking")
    story.intent = ir.with_hash(story.intent.model_copy(update={"unknowns": (unknown,)}))
    error = refusal(replay(story, *HAPPY[:3]), accept(story))
    assert error.code == "BLOCKING_UNKNOWN"
    assert "u1" in error.message


@pytest.mark.parametrize(
    ("accepted_at", "legal"), [("2026-11-21T10:00:00.5Z", True), ("2026-11-21T10:00:00.501Z", False)]
)
def test_an_accept_after_the_expiry_is_refused(story: Story, accepted_at: str, legal: bool) -> None:
    story.intent = ir.with_hash(story.intent.model_copy(update={"expires_at": "2026-11-21T10:00:00.500000Z"}))
    view = replay(story, *HAPPY[:3])
    if legal:
        check(view, accept(story, accepted_at=accepted_at))
    else:
        assert refusal(view, accept(story, accepted_at=accepted_at)).code == "INTENT_EXPIRED"


def test_a_document_that_lies_about_its_hash_or_is_not_canonical_is_refused(story: Story) -> None:
    view = replay(story, "intent.draft")
    true = ir.canonical_bytes(story.intent)

    def compiled(data: bytes) -> ir.Envelope:
        return story.seal("intent.compiled", ir.IntentCompiledBody(intent_json=data))

    assert refusal(view, compiled(true.replace(b"fox", b"cat"))).code == "INTENT_HASH_MISMATCH"
    assert refusal(view, compiled(true.replace(b",", b", ", 1))).code == "NOT_CANONICAL"
    assert refusal(view, compiled(true[:-1])).code == "JSON_SYNTAX"
    other = ir.with_hash(story.intent.model_copy(update={"id": story.home.clock.new_id()}))
    assert refusal(view, compiled(ir.canonical_bytes(other))).code == "INTENT_ID_MISMATCH"


def test_a_plan_of_another_intent_or_with_a_false_hash_is_refused(story: Story) -> None:
    view = replay(story, *HAPPY[:2])

    def proposed(plan: ir.PlanTree) -> ir.Envelope:
        return story.seal("plan.proposed", ir.PlanProposedBody(plan_json=ir.canonical_bytes(plan)))

    other = ir.with_hash(story.plan.model_copy(update={"intent_id": story.home.clock.new_id()}))
    assert refusal(view, proposed(other)).code == "PLAN_OF_ANOTHER"
    lying = story.plan.model_copy(update={"hash": "0" * 64})
    assert refusal(view, proposed(lying)).code == "PLAN_HASH_MISMATCH"


def step(story: Story, status: str, node_id: str = "n0", plan_id: str = "") -> ir.Envelope:
    return story.seal("plan.step", ir.PlanStepBody(plan_id or story.plan.id, node_id, status))


def test_a_step_of_another_plan_is_refused(story: Story) -> None:
    assert (
        refusal(replay(story, *HAPPY[:4]), step(story, "running", plan_id="p2")).code == "PLAN_HASH_MISMATCH"
    )


def test_a_completed_node_never_runs_again_and_a_failed_one_may(story: Story) -> None:
    view = replay(story, *HAPPY)
    assert refusal(advance(view, step(story, "completed")), step(story, "running")).code == "NODE_COMPLETED"
    assert fold([step(story, "failed"), step(story, "running")], view).nodes == {"n0": "running"}


def test_after_a_cancel_only_the_end_of_what_was_running_is_recorded(story: Story) -> None:
    view = fold([step(story, "running", "n1")], replay(story, *HAPPY))
    view = fold(
        [story.make("intent.cancel", view), step(story, "cancelled"), step(story, "completed", "n1")], view
    )
    assert view.state == "cancelled"
    assert view.nodes == {"n0": "cancelled", "n1": "completed"}
    assert refusal(view, step(story, "running", "n2")).code == "CANCELLED"
    assert refusal(view, step(story, "completed", "n0")).code == "CANCELLED"


def test_a_gate_is_decided_once_in_time_and_only_if_it_was_opened(story: Story) -> None:
    view = replay(story, *HAPPY)
    gate = story.seal("policy.gate", ir.PolicyGateBody("", "Go on?", expires_at="2026-11-21T10:05:00.000Z"))
    view = advance(view, gate)

    def resolve(gate_of: str, minute: int) -> ir.Envelope:
        at = f"2026-11-21T10:{minute:02}:00.000Z"
        body = ir.PolicyGateResolveBody(gate_of=gate_of, decision="approve", resolved_at=at)
        return story.seal("policy.gate.resolve", body, at=at)

    assert refusal(view, resolve(story.id, 1)).code == "GATE_UNKNOWN"
    assert refusal(view, resolve(gate.id, 6)).code == "GATE_EXPIRED"
    view = advance(view, resolve(gate.id, 5))
    assert view.gates[gate.id].decision == "approve"
    assert refusal(view, resolve(gate.id, 5)).code == "GATE_RESOLVED"


def test_a_correction_that_is_not_material_lets_the_walk_go_on(story: Story) -> None:
    view = replay(story, *HAPPY)
    patch = b'[{"op":"add","path":"/budget","value":{"max_calls":3}}]'
    body = ir.IntentCorrectBody(target=view.intent_hash, patches=patch)
    corrected = advance(view, story.seal("intent.correct", body))
    assert corrected.state == "executing"
    assert corrected.intent is not None
    assert corrected.intent.budget == ir.Budget(max_calls=3)
    assert corrected.accepted_hash == corrected.intent_hash == ir.content_hash(corrected.intent)
    assert corrected.accepted_hash != story.intent.hash
    assert (corrected.accepted_plan_hash, corrected.nodes) == (story.plan.hash, {"n0": "running"})
    assert len(corrected.corrections) == 1


def test_a_material_correction_needs_a_new_compile_and_a_new_accept(story: Story) -> None:
    view = replay(story, *HAPPY, "intent.correct")
    assert (view.state, view.accepted_hash, view.accepted_plan_hash) == ("proposed", "", "")
    assert refusal(view, accept(story)).code == "NOT_COMPILED"
    for kind in HAPPY[1:]:
        view = advance(view, story.make(kind, view))
    assert view.state == "executing"
