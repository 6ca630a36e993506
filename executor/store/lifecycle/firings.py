"""What a standing accept lets happen: which firing of a schedule is one, and what its child is.

The story of the schedule says that it was fired, and is where each firing is held against the scope. That of
the child begins with what was fired; that both say the same is looked at where rows are stored and verified.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any, Final

from executor.store.lifecycle.legality import Changes, illegal, is_past, moment_of, read_document
from executor.store.lifecycle.view import NEW, Firing, View, having, intent_id
from ir import (
    Envelope,
    Intent,
    IntentDispatchBody,
    IntentDraftBody,
    MclError,
    PlanTree,
    canonical_bytes,
    parse_json,
)
from ir.errors import DocumentError
from ir.schedule import DISPATCH, RECURRENCE, Schedule, child_intent, child_plan, effects_of, template_hash

# The zones lie so far apart from UTC at most; which moment a local one is, rows do not depend on: tables of
# zones change.
_ZONES: Final = timedelta(hours=15)
_LEAST: Final = timedelta(minutes=1)  # between two firings by a file
_MOST: Final = 10_000  # firings of one accept


def accepted_schedule(view: View, envelope: Envelope) -> Changes:
    """The scope that an accept signs: it must be one, fit the plan, and end."""
    body: Any = envelope.body
    try:
        schedule = Schedule.from_json(body.schedule, canonical=True)
    except MclError as error:
        raise illegal(view, envelope, "SCHEDULE_SHAPE", f"the schedule: {error}") from error
    plan, intent = view.plan, view.intent
    flaw = ""
    if plan is None or intent is None:
        flaw = "there is no plan to run"
    elif envelope.from_ != intent.actor:
        flaw = "who signs it is not whose goal it is"
    elif schedule.plan != template_hash(plan):
        flaw = "its plan is another one"
    elif not _covers(schedule.effects, effects_of(plan)):
        flaw = f"its plan does {', '.join(effects_of(plan)) or 'nothing'}"
    elif not schedule.until and not schedule.count:
        flaw = "it has no end: name until when, or how often"
    elif schedule.calls and _calls(intent) == 0:
        flaw = "calls of all firings are counted by the budget of each, and it has none"
    elif (said := _said(intent)) is not None and said != _uri(schedule):
        flaw = f"the goal says {said}"
    elif bool(schedule.file) == bool(schedule.rule or schedule.start):
        flaw = "it is fired by its moments, or by a file"
    elif schedule.start and not _is_local(schedule.start):
        flaw = f"{schedule.start!r} is no local moment"
    elif schedule.rule and not _is_rule(schedule):
        flaw = f"{schedule.rule!r} is no rule of RFC 5545 that is fired at most every five minutes"
    if flaw:
        raise illegal(view, envelope, "SCHEDULE_MISMATCH", flaw)
    return {"schedule": schedule, "accept_id": envelope.id}


def fired(view: View, envelope: Envelope) -> Changes:
    """One firing in the story of its schedule: within the scope, and its child what was signed."""
    body: Any = envelope.body
    schedule, parent, template = view.schedule, view.intent, view.plan
    if schedule is None or parent is None or template is None:
        raise illegal(view, envelope, "NOT_SCHEDULED", "no standing accept was signed for this intent")
    if body.accept_of != view.accept_id:
        raise illegal(
            view, envelope, "FIRING_OF_ANOTHER", f"{body.accept_of or 'no accept'} is not its accept"
        )
    _in_time(view, schedule, envelope)
    child = _child_id(view, envelope)
    if child in view.firings or child == parent.id:
        raise illegal(view, envelope, "FIRING_REPEATED", f"the child {child} was fired before")
    try:
        values = _values(body, schedule)
        intent = child_intent(parent, child, envelope.at, view.accept_id, values)
        plan = child_plan(template, intent, values)
    except MclError as error:
        raise illegal(view, envelope, "FIRING_OTHERWISE", f"what moves: {error}") from error
    if canonical_bytes(intent) != body.sub_intent_json:
        raise illegal(view, envelope, "FIRING_OTHERWISE", "the child is not the intent that was signed")
    given = view.calls_given + _calls(parent)
    if schedule.calls and given > schedule.calls:
        message = f"with it all firings may use {given} calls, and {schedule.calls} were signed"
        raise illegal(view, envelope, "SCHEDULE_SPENT", message)
    firing = Firing(child, body.due, envelope.at, body.cause, intent.hash, plan.hash)
    return {"firings": having(view.firings, child, firing), "last_firing": firing, "calls_given": given}


def _in_time(view: View, schedule: Schedule, envelope: Envelope) -> None:
    body: Any = envelope.body
    last, number = view.last_firing, len(view.firings)
    if is_past(schedule.until, envelope.at):
        raise illegal(view, envelope, "SCHEDULE_ENDED", f"it was signed until {schedule.until}")
    if number >= (schedule.count or _MOST):
        raise illegal(
            view, envelope, "SCHEDULE_ENDED", f"it was fired {number} times, as often as was signed"
        )
    if not _is_local(body.due):
        raise illegal(view, envelope, "FIRING_NOT_DUE", f"{body.due!r} is no local moment")
    if last is not None and body.due <= last.due:
        code = "FIRING_REPEATED" if body.due == last.due else "CLOCK_BACK"
        raise illegal(view, envelope, code, f"{body.due} does not come after {last.due}, which was fired")
    if last is not None and moment_of(envelope.at) < moment_of(last.at):
        raise illegal(view, envelope, "CLOCK_BACK", f"{envelope.at} lies before the last firing, {last.at}")
    due = datetime.fromisoformat(f"{body.due}+00:00")
    if due - _ZONES > moment_of(envelope.at):
        raise illegal(view, envelope, "FIRING_NOT_DUE", f"{body.due} is still to come")
    if schedule.file:
        soon = last is not None and due < datetime.fromisoformat(f"{last.due}+00:00") + _LEAST
        if soon or not body.cause or (last is not None and body.cause == last.cause):
            message = "the file is as it was, or was looked at just now"
            raise illegal(view, envelope, "FIRING_NOT_DUE", message)
    elif body.cause or not is_due(schedule, body.due, last.due if last else ""):
        raise illegal(view, envelope, "FIRING_NOT_DUE", f"{body.due} is none of its moments")


def is_due(schedule: Schedule, due: str, last: str = "") -> bool:
    """Whether a local moment is one of a schedule's; last: one that is, from which on it is looked for."""
    if not schedule.rule:
        return due == schedule.start
    from dateutil.rrule import rrulestr

    wanted = datetime.fromisoformat(due)
    rule = rrulestr(f"RRULE:{schedule.rule}", dtstart=datetime.fromisoformat(last or schedule.start))
    return bool(rule.between(wanted, wanted, inc=True))


def begun(view: View, envelope: Envelope) -> Changes:
    """The first row of a child: what it is, under whose accept. That it was fired, `require_fired` says."""
    body: Any = envelope.body
    if not body.plan_json or not body.accept_of:
        raise illegal(view, envelope, "ILLEGAL_EVENT", "an intent begins with a draft, or as a firing")
    intent: Intent = read_document(view, envelope, Intent, body.sub_intent_json)
    plan: PlanTree = read_document(view, envelope, PlanTree, body.plan_json)
    try:
        under = Schedule.from_json(body.schedule, canonical=True)
    except MclError as error:
        raise illegal(view, envelope, "SCHEDULE_SHAPE", f"the schedule: {error}") from error
    if intent.id != intent_id(envelope.intent) or intent_id(plan.intent_id) != intent.id:
        raise illegal(view, envelope, "INTENT_ID_MISMATCH", f"the document is the Intent {intent.id}")
    if body.scope_uri != intent.parent:
        raise illegal(view, envelope, "FIRING_OF_ANOTHER", f"it is a child of {intent.parent or 'none'}")
    return {
        "draft": IntentDraftBody(prose=intent.prose),
        "intent": intent,
        "intent_hash": intent.hash,
        "plan": plan,
        "plan_hash": plan.hash,
        "accepted_hash": intent.hash,
        "accepted_plan_hash": plan.hash,
        "accepted_by": intent.actor,
        "base_intent": intent,
        "base_plan": plan,
        "under": under,
        "fired_by": intent_id(intent.parent),
    }


def is_child(view: View, envelope: Envelope) -> bool:
    """Whether this row begins a child, which must then have been fired (`require_fired`)."""
    return envelope.kind == "intent.dispatch" and view.state == NEW


def require_fired(view: View, envelope: Envelope, above: View | None) -> None:
    """Raise LifecycleError FIRING_UNKNOWN unless the schedule that a child names was fired for it, as it is.

    view: of the child, with this first row. above: of the intent that it names (`fired_by`); None: none.
    """
    body: Any = envelope.body
    firing = above.firings.get(intent_id(envelope.intent)) if above is not None else None
    same = (
        above is not None
        and firing is not None
        and (firing.intent_hash, firing.plan_hash) == (view.accepted_hash, view.accepted_plan_hash)
        and body.accept_of == above.accept_id
        and above.accepted_by == view.accepted_by
        and above.schedule == view.under
    )
    if not same:
        message = f"{view.fired_by or 'no schedule'} was not fired for it"
        raise illegal(View(), envelope, "FIRING_UNKNOWN", message)


def _said(intent: Intent) -> str | None:
    """When an Intent says that it is to run; None: it does not."""
    return next((one.uri for one in intent.references if one.role == RECURRENCE), None)


def _uri(schedule: Schedule) -> str:
    if schedule.file:
        return f"file:{schedule.file}"
    return f"rrule:{schedule.rule}" if schedule.rule else f"once:{schedule.start}"


def _covers(signed: tuple[str, ...], planned: tuple[str, ...]) -> bool:
    """Exactly what is planned; more only where a part of the plan is made when it runs."""
    return set(planned) <= set(signed) if DISPATCH in planned else signed == planned


def _child_id(view: View, envelope: Envelope) -> str:
    body: Any = envelope.body
    try:
        document = parse_json(body.sub_intent_json)
    except DocumentError as error:
        raise illegal(view, envelope, error.code, f"the child: {error}") from error
    return str(document.get("id", "")) if isinstance(document, dict) else ""


def _values(body: IntentDispatchBody, schedule: Schedule) -> dict[str, str]:
    """What moves, all of it and nothing else. Raises MclError."""
    values = parse_json(body.values) if body.values else {}
    if not isinstance(values, dict) or tuple(sorted(values)) != tuple(sorted(schedule.moving)):
        raise MclError("MOVED_OTHERWISE", "not what was signed as moving")
    return {str(place): str(text) for place, text in values.items()}


def _calls(intent: Intent) -> int:
    """What one firing may use; 0 where nothing limits it."""
    return (intent.budget.max_calls or 0) if intent.budget is not None else 0


def _is_local(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).isoformat(timespec="seconds") == text and len(text) == 19
    except ValueError:
        return False


def _is_rule(schedule: Schedule) -> bool:
    from dateutil.rrule import rrulestr

    try:
        rule = rrulestr(f"RRULE:{schedule.rule}", dtstart=datetime.fromisoformat(schedule.start))
    except (ValueError, TypeError, AttributeError):
        return False
    if not schedule.rule.startswith("FREQ=") or any(
        word in schedule.rule for word in ("COUNT", "UNTIL", "SECOND")
    ):
        return False
    first = rule.xafter(datetime.fromisoformat(schedule.start) - timedelta(days=1), count=50)
    moments = [one for one, _ in zip(first, range(50), strict=False)]
    gaps = [later - sooner for sooner, later in pairwise(moments)]
    return bool(moments) and all(gap >= timedelta(minutes=5) for gap in gaps)
