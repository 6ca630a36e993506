"""A standing accept: what fires within its scope, and what is refused where rows are stored and verified."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

import ir
from executor import LifecycleError
from ir.schedule import Schedule, child_intent, child_plan, effects_of, template_hash

if TYPE_CHECKING:
    from pathlib import Path

    from tests.executor.conftest import Story

START = "2026-11-20T09:00:00"
AT = "2026-12-05T10:00:00.000Z"


class Fired:
    """A story that was accepted as a schedule, and what fires it."""

    def __init__(self, story: Story, **scope: Any) -> None:
        self.story, self.home = story, story.home
        call = ir.ToolCall(
            tool_ref="matrix://tool/fs/read@1.0.0", args={"path": "a"}, side_effect_class="read"
        )
        node = ir.PlanNode(id="n0", kind="tool_call", tool_call=call)
        story.plan = ir.with_hash(story.plan.model_copy(update={"root": node}))
        budget = ir.Budget(max_calls=2)
        story.intent = ir.with_hash(story.intent.model_copy(update={"budget": budget}))
        story.tell("intent.draft", "intent.compiled", "plan.proposed")
        given = {"rule": "FREQ=DAILY", "start": START, "count": 10, "effects": ("read",)}
        given |= {"plan": template_hash(story.plan), "workspace": "/tmp", **scope}
        self.scope = Schedule.model_validate(
            {key: value for key, value in given.items() if value is not None}
        )

    def accept(self) -> Fired:
        body = ir.IntentAcceptBody(
            intent_hash=self.story.intent.hash,
            accepted_at=self.home.clock.now(),
            plan_hash=self.story.plan.hash,
            schedule=ir.canonical_bytes(self.scope),
        )
        self.home.journal.append(self.story.seal("intent.accept", body))
        return self

    def messages(
        self,
        due: str,
        *,
        at: str = AT,
        cause: str = "",
        id: str = "",
        change: Callable[[ir.Intent], ir.Intent] = lambda intent: intent,
        plan: Callable[[ir.PlanTree], ir.PlanTree] = lambda plan: plan,
        accept: str = "",
        scope: Schedule | None = None,
        values: dict[str, str] | None = None,
    ) -> list[ir.Envelope]:
        view, clock, agent = self.home.journal.view(self.story.id), self.home.clock, self.home.keyring.agent
        child, moved = id or clock.new_id(), values or {}
        accept = accept or view.accept_id
        made = change(child_intent(self.story.intent, child, at, accept, moved))
        planned = plan(child_plan(self.story.plan, made, moved))
        told = json.dumps(moved).encode() if moved else b""
        above = ir.IntentDispatchBody(
            ir.canonical_bytes(made), accept_of=accept, due=due, cause=cause, values=told
        )
        below = ir.IntentDispatchBody(
            ir.canonical_bytes(made),
            made.parent,
            plan_json=ir.canonical_bytes(planned),
            accept_of=accept,
            schedule=ir.canonical_bytes(scope or self.scope),
        )
        heads = [
            ir.Header(clock.new_id(), at, agent.did, uri)
            for uri in (self.story.uri, f"matrix://intent/{child}")
        ]
        pairs = zip(heads, (above, below), strict=True)
        return [ir.seal("intent.dispatch", body, head, agent.signing_key) for head, body in pairs]

    def fire(self, due: str, **more: Any) -> str:
        messages = self.messages(due, **more)
        self.home.journal.append_many(messages)
        return messages[1].intent.rpartition("/")[2]


@pytest.fixture
def fired(story: Story) -> Fired:
    return Fired(story).accept()


def test_a_child_is_accepted_by_the_accept_of_its_schedule(fired: Fired) -> None:
    child = fired.fire("2026-11-20T09:00:00")
    view, above = (
        fired.home.journal.view(child, fresh=True),
        fired.home.journal.view(fired.story.id, fresh=True),
    )
    assert (view.state, view.fired_by, view.accepted_by) == (
        "accepted",
        fired.story.id,
        fired.home.keyring.user.did,
    )
    assert view.under == above.schedule == fired.scope
    cited = view.intent.references[-1]
    assert (cited.uri, cited.role, cited.summary) == (fired.story.uri, "standing", above.accept_id)
    assert view.plan.root == fired.story.plan.root
    assert template_hash(view.plan) == fired.scope.plan
    assert [one.child for one in above.firings.values()] == [child]
    assert fired.home.journal.verify().ok
    assert fired.home.journal.verify(intent=child).ok
    assert not [row for row in fired.home.journal.rows(child) if row.kind == "intent.accept"]


@pytest.mark.parametrize(
    ("code", "scope"),
    [
        ("SCHEDULE_MISMATCH", {"effects": ("read", "write")}),
        ("SCHEDULE_MISMATCH", {"effects": ()}),
        ("SCHEDULE_MISMATCH", {"plan": "0" * 64}),
        ("SCHEDULE_MISMATCH", {"count": 0}),
        ("SCHEDULE_MISMATCH", {"rule": "FREQ=SECONDLY"}),
        ("SCHEDULE_MISMATCH", {"rule": "FREQ=MINUTELY"}),
        ("SCHEDULE_MISMATCH", {"rule": "FREQ=DAILY;COUNT=3"}),
        ("SCHEDULE_MISMATCH", {"rule": "every day"}),
        ("SCHEDULE_MISMATCH", {"start": "yesterday"}),
        ("SCHEDULE_MISMATCH", {"rule": "", "start": ""}),
        ("SCHEDULE_MISMATCH", {"file": "a.md"}),
    ],
)
def test_an_accept_signs_a_scope_that_fits_its_plan_and_ends(
    story: Story, code: str, scope: dict[str, Any]
) -> None:
    with pytest.raises(LifecycleError) as refused:
        Fired(story, **scope).accept()
    assert refused.value.code == code
    assert story.home.journal.view(story.id).state == "proposed"


def _more(plan: ir.PlanTree) -> ir.PlanTree:
    call = plan.root.tool_call.model_copy(update={"side_effect_class": "write"})
    return ir.with_hash(plan.model_copy(update={"root": plan.root.model_copy(update={"tool_call": call})}))


def _other(plan: ir.PlanTree) -> ir.PlanTree:
    call = plan.root.tool_call.model_copy(update={"args": {"path": "b"}})
    return ir.with_hash(plan.model_copy(update={"root": plan.root.model_copy(update={"tool_call": call})}))


def _richer(intent: ir.Intent) -> ir.Intent:
    return ir.with_hash(intent.model_copy(update={"budget": ir.Budget(max_calls=99)}))


def _another(intent: ir.Intent) -> ir.Intent:
    return ir.with_hash(intent.model_copy(update={"frame": ir.Frame(verb="modify")}))


@pytest.mark.parametrize(
    ("code", "attack"),
    [
        ("FIRING_UNKNOWN", {"plan": _other}),
        ("FIRING_UNKNOWN", {"plan": _more}),
        ("FIRING_OTHERWISE", {"change": _richer}),
        ("FIRING_OTHERWISE", {"change": _another}),
        ("FIRING_OTHERWISE", {"values": {"/plan/root/tool_call/args/path": "a"}}),
        ("FIRING_OF_ANOTHER", {"accept": "01M7Y6X0000000000000000001"}),
        ("FIRING_NOT_DUE", {"due": "2026-11-22T09:30:00"}),
        ("FIRING_NOT_DUE", {"due": "2026-12-24T09:00:00"}),
        ("FIRING_NOT_DUE", {"due": "tomorrow"}),
        ("FIRING_NOT_DUE", {"due": "2026-11-22T09:00:00", "cause": "0" * 64}),
        ("FIRING_REPEATED", {"due": "2026-11-20T09:00:00"}),
        ("CLOCK_BACK", {"due": "2026-11-19T09:00:00"}),
        ("CLOCK_BACK", {"at": "2026-12-01T10:00:00.000Z"}),
    ],
)
def test_what_is_past_the_scope_is_refused_and_nothing_of_it_is_kept(
    fired: Fired, code: str, attack: dict[str, Any]
) -> None:
    fired.fire("2026-11-20T09:00:00")
    size = fired.home.journal.size()
    with pytest.raises(LifecycleError) as refused:
        fired.fire(**{"due": "2026-11-21T09:00:00", **attack})
    assert refused.value.code == code
    assert fired.home.journal.size() == size
    assert fired.fire("2026-11-21T09:00:00")  # what is due goes on


def test_no_child_without_a_firing_and_no_firing_of_another(fired: Fired) -> None:
    above, below = fired.messages("2026-11-20T09:00:00")
    with pytest.raises(LifecycleError) as refused:
        fired.home.journal.append(below)
    assert refused.value.code == "FIRING_UNKNOWN"
    wider = fired.scope.model_copy(update={"count": 9999})
    with pytest.raises(LifecycleError) as refused:
        fired.fire("2026-11-20T09:00:00", scope=wider)
    assert refused.value.code == "FIRING_UNKNOWN"
    fired.home.journal.append_many([above, below])
    with pytest.raises(LifecycleError):
        fired.fire("2026-11-21T09:00:00", id=below.intent.rpartition("/")[2])


def test_it_ends_by_count_by_time_by_calls_and_by_revocation(story: Story) -> None:
    fired = Fired(story, count=3, calls=4, until="2026-12-05T10:30:00.000Z").accept()
    fired.fire("2026-11-20T09:00:00")
    with pytest.raises(LifecycleError) as late:
        fired.fire("2026-11-21T09:00:00", at="2026-12-05T10:30:01.000Z")
    fired.fire("2026-11-21T09:00:00")
    with pytest.raises(LifecycleError) as spent:
        fired.fire("2026-11-22T09:00:00")
    fired.home.journal.append(story.make("intent.cancel"))
    with pytest.raises(LifecycleError) as revoked:
        fired.fire("2026-11-23T09:00:00")
    assert [one.value.code for one in (late, spent, revoked)] == [
        "SCHEDULE_ENDED",
        "SCHEDULE_SPENT",
        "ILLEGAL_EVENT",
    ]


def test_it_is_fired_as_often_as_was_signed(story: Story) -> None:
    fired = Fired(story, count=2).accept()
    fired.fire("2026-11-20T09:00:00")
    fired.fire("2026-11-28T09:00:00")  # those between were missed
    with pytest.raises(LifecycleError) as refused:
        fired.fire("2026-11-29T09:00:00")
    assert refused.value.code == "SCHEDULE_ENDED"


def test_every_second_week_stays_that(story: Story) -> None:
    fired = Fired(story, rule="FREQ=WEEKLY;INTERVAL=2;BYDAY=FR").accept()
    fired.fire("2026-11-20T09:00:00")
    with pytest.raises(LifecycleError):
        fired.fire("2026-11-27T09:00:00")
    assert fired.fire("2026-12-04T09:00:00")


def test_a_change_of_a_file_fires_once(story: Story) -> None:
    fired = Fired(story, rule=None, start=None, file="notes.md").accept()
    fired.fire("2026-12-05T09:00:00", cause="a" * 64)
    for due, cause in (
        ("2026-12-05T09:10:00", "a" * 64),
        ("2026-12-05T09:00:30", "b" * 64),
        ("2026-12-05T09:10:00", ""),
    ):
        with pytest.raises(LifecycleError) as refused:
            fired.fire(due, cause=cause)
        assert refused.value.code == "FIRING_NOT_DUE"
    assert fired.fire("2026-12-05T09:10:00", cause="b" * 64)


def test_what_moves_moves_to_a_text_of_the_same_form(story: Story) -> None:
    place = "/intent/frame/objects/0/value"
    story.intent = ir.with_hash(
        story.intent.model_copy(
            update={"frame": ir.Frame(verb="find", objects=(ir.SlotEntry(name="since", value="2026-11-20"),))}
        )
    )
    fired = Fired(story, moving=(place,)).accept()
    for values in (
        {},
        {place: "yesterday"},
        {place: "2026-11-201"},
        {place: "2026-11-27", "/plan/root/id": "n1"},
    ):
        with pytest.raises((LifecycleError, ir.MclError)):
            fired.fire("2026-11-20T09:00:00", values=values)
    child = fired.fire("2026-11-20T09:00:00", values={place: "2026-11-27"})
    assert fired.home.journal.view(child).intent.frame.objects[0].value == "2026-11-27"


def test_the_plan_of_a_schedule_itself_never_runs_and_is_not_corrected(fired: Fired) -> None:
    for kind in ("plan.step", "intent.correct", "intent.attest"):
        with pytest.raises(LifecycleError) as refused:
            fired.home.journal.append(fired.story.make(kind))
        assert refused.value.code in ("SCHEDULED", "NOT_RUN")


def test_a_row_that_is_put_in_behind_the_back_is_found(fired: Fired, tmp_path: Path) -> None:
    """The rows of a child whose schedule was never fired for it do not verify, nor does its run begin."""
    _, below = fired.messages("2026-11-20T09:00:00")
    from executor.store.journal import journal as module

    kept = module.require_fired
    module.require_fired = lambda *_: None  # a program that leaves out the check
    try:
        fired.home.journal.append(below)
    finally:
        module.require_fired = kept
    child = below.intent.rpartition("/")[2]
    assert [one.code for one in fired.home.journal.verify(intent=child).findings] == ["FIRING_UNKNOWN"]
    assert "FIRING_UNKNOWN" in [one.code for one in fired.home.journal.verify().findings]


def test_effects_are_those_of_the_nodes(story: Story) -> None:
    assert effects_of(story.plan) == ()
    assert effects_of(Fired(story).story.plan) == ("read",)
