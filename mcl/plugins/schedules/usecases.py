"""What a person does with schedules: propose one, sign it, look at them, end them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from executor.core.clock import instant
from executor.store.home import Home
from executor.store.journal.record import Record
from ir import canonical_bytes
from ir.schedule import DISPATCH, Schedule
from mcl.core.errors import InputError
from mcl.core.settings import zone_here
from mcl.plugins.schedules.rounds import (
    LOOKED,
    MISSED,
    TERMS,
    content_hash_of,
    next_moment,
    over,
    proposed_in,
    require_readable,
    waiting,
)
from mcl.plugins.schedules.scope import Terms, moving_in, proposed
from mcl.usecases.accept import Acceptable, Acceptance, accept, acceptable
from mcl.usecases.compile import compile_goal
from mcl.usecases.intents import Shown, cancel, find_intent, read_view, shown
from mcl.values.recurrence import UnclearTimeError, split_goal

if TYPE_CHECKING:
    from mcl.compiler.compiler import Clarify, Compiled, Refused
    from mcl.model import Model

_SPARE: Final = "such as: every friday at 9 list the files in notes"


def add(
    goal: str,
    terms: Terms,
    *,
    when: str = "",
    zone: str = "",
    skill: str = "",
    slots: Mapping[str, str] | None = None,
    model: Path | Model | None = None,
    ai: bool = True,
    skills: Sequence[Path] = (),
    home: Home,
) -> Compiled | Clarify | Refused:
    """Compile a goal that says when it is to run; what comes of it is signed with `sign`.

    when: in words, "" where the goal says it itself. zone: IANA name (default: the home's). The others as of
    `compile_goal`. Raises InputError WHEN_UNCLEAR, WHEN_MISSING and what a compile raises.
    """
    zone = zone or zone_here(home)
    at = home.clock.now()
    rest, said = (goal, when) if when else _split(goal, at, zone)
    result = compile_goal(
        rest,
        home=home,
        skill=skill or None,
        slots=slots,
        model=model,
        ai=ai,
        skills=skills,
        at=at,
        zone=zone,
        when=said,
    )
    id = result.id if not hasattr(result, "intent") else result.intent.id
    terms = Terms(**{**asdict(terms), "workspace": str(Path(terms.workspace or ".").resolve())})
    home.journal.record(TERMS, asdict(terms), intent=id)
    return result


def _split(goal: str, at: str, zone: str) -> tuple[str, str]:
    try:
        found = split_goal(goal, at, zone, once=True)
    except UnclearTimeError as problem:
        fix = "say it as 5am, 17:00 or kl 5"
        raise InputError("WHEN_UNCLEAR", str(problem), place="goal", fix=fix) from problem
    if found is None:
        message = "it says nothing of when that is read here, at its beginning or its end"
        raise InputError("WHEN_MISSING", message, place="goal", fix=f"{_SPARE}; or give it with --when")
    return found[0], found[1].words


@dataclass(frozen=True)
class ScheduleProposal:
    """What a person is asked to sign: an intent, and the scope within which it runs again and again."""

    found: Acceptable
    scope: Schedule


def proposal(intent: str, *, home: Home, terms: Mapping[str, Any] | None = None) -> ScheduleProposal:
    """The scope of a proposed intent. terms: what is otherwise than when it was added. Raises InputError
    NOT_SCHEDULED, SCHEDULE_MOVES, UNTIL_INVALID, WORKSPACE_MISSING; LifecycleError as `acceptable`."""
    found = acceptable(intent, home=home, scheduled=True)
    said = {**_terms(home, found.id), **(terms or {})}
    zone = found.view.draft.slot_values.get("@zone", "UTC") if found.view.draft else "UTC"
    below = _effects_below(home, found, Path(said.get("workspace") or "."))
    scope = proposed(found, Terms(**said), zone=zone, moving=moving_in(home, found), below=below)
    if scope.file:
        require_readable(home, scope)
    return ScheduleProposal(found, scope)


def _terms(home: Home, id: str) -> dict[str, Any]:
    rows = home.journal.rows(id, kind=TERMS)
    record = home.journal.open(rows[-1].wire, rows[-1].seq) if rows else None
    return dict(record.body) if isinstance(record, Record) else {}


def _effects_below(home: Home, found: Shown, workspace: Path) -> tuple[str, ...]:
    """The classes of effects of what a plan dispatches, as far as that is known now."""
    if found.plan is None or not any(node.sub_dispatch for node, _ in found.plan.root.walk()):
        return ()
    from ir.schedule import effects_of
    from mcl.usecases.plans import show

    return tuple(
        one for one in effects_of(show(found.id, workspace=workspace, home=home).unfolded) if one != DISPATCH
    )


def sign(made: ScheduleProposal, *, home: Home, unseen: bool = False) -> Acceptance:
    """Sign it with the user's key: from now on it is fired at its moments. Raises as `accept`."""
    found, scope = made.found, made.scope
    if not home.journal.rows(found.id, kind=TERMS, limit=1):  # by which it is found
        home.journal.record(TERMS, asdict(Terms(workspace=scope.workspace)), intent=found.id)
    signed = accept(
        found.id,
        home=home,
        intent_hash=found.intent.hash,
        plan_hash=None if unseen else found.view.plan_hash,
        unseen=unseen,
        schedule=canonical_bytes(scope),
    )
    if scope.file:  # what is there now is no change
        home.journal.record(LOOKED, {"sha256": content_hash_of(home, scope)[0]}, intent=found.id)
    return signed


@dataclass(frozen=True)
class ScheduleNow:
    """One schedule as it is now."""

    id: str
    state: str
    words: str
    goal: str
    next: str
    last: str
    fired: int
    waits: tuple[str, ...]
    missed: int
    scope: Schedule = field(repr=False)
    firings: tuple[Mapping[str, str], ...] = ()


def list_schedules(*, home: Home, every: bool = False) -> tuple[ScheduleNow, ...]:
    """All that are in force, the oldest first; with `every` also those that ended or were revoked."""
    views = [(id, read_view(home, id)) for id in proposed_in(home)]
    found = [as_now(home, shown(home, id)) for id, view in views if view.schedule is not None]
    return tuple(one for one in found if every or one.state == "in force")


def show_schedule(intent: str, *, home: Home) -> ScheduleNow:
    """One of them. Raises InputError INTENT_UNKNOWN, NOT_SCHEDULED."""
    return as_now(home, _found(intent, home), firings=True)


def _found(intent: str, home: Home) -> Shown:
    id = find_intent(home, intent)
    found = shown(home, id)
    if found.view.fired_by:
        found = shown(home, found.view.fired_by)
    if found.view.schedule is None:
        raise InputError(
            "NOT_SCHEDULED",
            "no standing accept was signed for this intent",
            place=id,
            fix=f"mcl schedule sign {id}, where it says when; mcl schedule list shows those that were",
        )
    return found


def as_now(home: Home, found: Shown, *, firings: bool = False) -> ScheduleNow:
    """A schedule as it is now; with what became of each of its firings, where that is asked for."""
    view, scope = found.view, found.view.schedule
    assert scope is not None, "it was signed"
    coming = next_moment(home, found)
    state = (
        "revoked" if view.state == "cancelled" else "ended" if over(view, home.clock.now()) else "in force"
    )
    children = [(one, read_view(home, one.child)) for one in view.firings.values()] if firings else []
    last = view.last_firing
    asked = waiting(read_view(home, last.child)) if last is not None else ()
    missed = [home.journal.open(row.wire, row.seq) for row in home.journal.rows(found.id, kind=MISSED)]
    return ScheduleNow(
        found.id,
        state,
        scope.words,
        found.prose,
        instant(coming) if coming is not None and state == "in force" else "",
        last.at if last is not None else "",
        len(view.firings),
        asked,
        sum(int(one.body.get("many", 0)) for one in missed if isinstance(one, Record)),
        scope,
        tuple(
            {"intent": one.child, "due": one.due, "at": one.at, "state": child.state}
            for one, child in children
        ),
    )


def revoke(intent: str, *, reason: str = "", home: Home) -> tuple[str, tuple[str, ...]]:
    """End a schedule, signed by the person: nothing of it is fired any more. Gives its ULID, and firings
    of it that have not ended, which go on unless they are cancelled. Raises InputError, also REVOKED."""
    found = _found(intent, home)
    if found.view.state == "cancelled":
        raise InputError("REVOKED", "it was revoked already", place=found.id, fix="nothing to do")
    cancel(found.id, reason=reason, home=home)
    return found.id, tuple(one for one in found.view.firings if not read_view(home, one).terminal)
