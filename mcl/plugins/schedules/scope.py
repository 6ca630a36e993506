"""The scope of a standing accept: what is proposed for an intent, and what moves with the moment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from executor.core.clock import instant
from executor.store.home import Home
from ir import Intent, PlanTree, as_document
from ir.schedule import DISPATCH, RECURRENCE, Schedule, effects_of, template_hash
from mcl.core.errors import InputError
from mcl.values.recurrence import Recurrence, moments, read_when

if TYPE_CHECKING:
    from mcl.usecases.intents import Shown

_YEAR: Final = timedelta(days=365)
_LATER: Final = timedelta(days=400, hours=5, minutes=7)
_MOVE: Final = {"/intent": ("frame", "deadline"), "/plan": ("root", "promises")}


@dataclass(frozen=True)
class Terms:
    """What a person says of a schedule beside its goal. until: in words or ISO 8601; count, calls: 0 for
    none. missed: once or skip; workspace: the folder, "" for this one."""

    until: str = ""
    count: int = 0
    calls: int = 0
    missed: str = "once"
    workspace: str = ""


def recurrence_said(found: Shown, zone: str) -> Recurrence:
    """When an intent is to run, as its draft says it. Raises InputError NOT_SCHEDULED."""
    intent = found.intent
    said = next((one for one in intent.references if one.role == RECURRENCE), None) if intent else None
    read = read_when(said.summary, intent.created_at, zone) if said and intent else None
    if said is None or read is None or read.uri != said.uri:
        raise InputError(
            "NOT_SCHEDULED",
            "this intent says nothing of when it is to run",
            place=found.id,
            fix='state it with that: mcl schedule add "GOAL every friday at 9"',
        )
    return read


def proposed(
    found: Shown, terms: Terms, *, zone: str, moving: Sequence[str], below: Sequence[str] = ()
) -> Schedule:
    """The scope that a person is asked to sign for an intent. below: effects of what its plan dispatches.
    Raises InputError NOT_SCHEDULED, UNTIL_INVALID, WORKSPACE_MISSING, NO_PLAN."""
    said = recurrence_said(found, zone)
    if found.plan is None or found.intent is None:
        fix = "state the goal again"
        raise InputError("NO_PLAN", "it has no plan to run", place=found.id, fix=fix)
    made = datetime.fromisoformat(found.intent.created_at)
    count = terms.count or said.count
    until = _until(terms.until, found.intent.created_at, zone) or said.until
    if not until and not (said.file == "" and count == 1):
        until = instant(made + _YEAR)
    effects = effects_of(found.plan)
    return Schedule(
        words=said.words,
        rule=said.rule,
        start=said.start,
        zone=said.zone if not said.file else zone,
        file=said.file,
        mentions=said.mentions,
        until=until,
        count=count,
        calls=terms.calls,
        effects=tuple(sorted({*effects, *below})) if DISPATCH in effects else effects,
        plan=template_hash(found.plan),
        moving=tuple(sorted(moving)),
        workspace=_folder(terms.workspace),
        missed="skip" if terms.missed == "skip" else "once",
    )


def _until(text: str, at: str, zone: str) -> str:
    if not text:
        return ""
    from mcl.compiler.stages.expiry import expiry_of

    try:
        return expiry_of(text, at, zone)
    except InputError as problem:
        raise InputError("UNTIL_INVALID", problem.message, place="until", fix=problem.fix) from problem


def _folder(text: str) -> str:
    path = Path(text or ".").resolve()
    if not path.is_dir():
        raise InputError(
            "WORKSPACE_MISSING", f"there is no folder {text!r}", place="workspace", fix="name one"
        )
    return str(path)


def recurrence_of(schedule: Schedule) -> Recurrence:
    """The moments that a scope says."""
    return Recurrence(
        schedule.rule, schedule.start, schedule.zone, schedule.until, schedule.count, schedule.words
    )


def moments_of(schedule: Schedule, after: datetime, most: int) -> list[tuple[str, datetime]]:
    """The first moments after one, local and in UTC; none of what waits for a file."""
    return [] if schedule.file else moments(recurrence_of(schedule), after, most)


# ---- What moves: the goal compiled as of another moment, and compared.


def differing(one: tuple[Intent, PlanTree], other: tuple[Intent, PlanTree]) -> tuple[str, ...]:
    """The places whose text is another one where the goal is compiled as of another moment. Raises InputError
    SCHEDULE_MOVES where more than texts differ."""
    before, after = texts_of(*one), texts_of(*other)
    if before.keys() != after.keys():
        place = min(before.keys() ^ after.keys())
        raise InputError(
            "SCHEDULE_MOVES",
            f"what it does depends on the moment in more than dates: {place}",
            place=place,
            fix="say the goal without words that mean another thing each time, such as last week",
        )
    return tuple(place for place, text in before.items() if after[place] != text)


def texts_of(intent: Intent, plan: PlanTree) -> dict[str, str]:
    """Every text of an Intent and its plan that a firing may have otherwise, by its place."""
    found: dict[str, str] = {}
    for root, document in (("/intent", as_document(intent)), ("/plan", as_document(plan))):
        for name in _MOVE[root]:
            found |= dict(_texts(document.get(name), f"{root}/{name}"))
    return found


def _texts(value: Any, place: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _texts(item, f"{place}/{key}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _texts(item, f"{place}/{number}")


def compiled_at(home: Home, found: Shown, at: str) -> tuple[Intent, PlanTree]:
    """The Intent and plan that the goal of an intent comes to as of another moment. Raises InputError
    SCHEDULE_MOVES where it comes to none; what a compile raises."""
    from mcl.compiler.compiler import Compiled
    from mcl.compiler.recompilation import compile_corrected
    from mcl.usecases.installed import installed
    from mcl.usecases.models import Models

    intent, draft = found.intent, found.view.draft
    assert intent is not None, "it was compiled"
    assert draft is not None, "it was drafted"
    made = intent.compile_metadata
    model = Models(home).with_digest(made.model_digest) if made is not None else None
    if model is None:
        raise InputError(
            "SCHEDULE_MODEL",
            "the model that it was compiled with is not here",
            place=found.id,
            fix="mcl model add it",
        )
    as_of = intent.model_copy(update={"created_at": at})
    outcome = compile_corrected(
        as_of,
        draft,
        (),
        answers=found.view.answers,
        home=home,
        skills=installed(home.path, ()),
        model=model,
        again=True,
    )
    if not isinstance(outcome, Compiled) or outcome.plan is None:
        raise InputError(
            "SCHEDULE_MOVES",
            "as of another moment the goal comes to no plan",
            place=found.id,
            fix="say the goal without words that mean another thing each time",
        )
    return outcome.intent, outcome.plan


def moving_in(home: Home, found: Shown) -> tuple[str, ...]:
    """The places of a proposed intent that move with its moment."""
    if found.intent is None or found.plan is None or found.view.draft is None:
        return ()
    intent = found.intent
    later = instant(datetime.fromisoformat(intent.created_at) + _LATER)
    now = compiled_at(home, found, intent.created_at)
    return differing(now, compiled_at(home, found, later))
