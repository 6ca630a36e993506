"""Intents: naming one, what the journal says of it, and ending it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Final

from executor import JournalError, LifecycleError, View
from executor.store.home import Home
from executor.store.lifecycle.view import way_on
from ir import ClarifyQuestion, Envelope, Intent, IntentCancelBody, PlanTree
from ir.errors import MclError
from mcl.compiler.stages.request import GOAL
from mcl.core.errors import InputError
from mcl.core.home import open_home, sealed
from mcl.core.text import counted, some

_PLACED: Final = re.compile(r"@(?:last(?:-(?P<before>\d{1,6}))?|(?P<number>[1-9]\d{0,5}))", re.ASCII)
_ENDING: Final = 4  # characters of the end of an id by which it may be named
_NEAREST = 5
_SCHEME = "matrix://intent/"


def find_intent(home: Home, text: str) -> str:
    """The ULID of the intent that `text` names: a ULID or matrix:// address, a unique beginning or end of
    one, or its place among all.

    @last and @1 are the intent that something was last written about, @last-1 and @2 the one before. Raises
    InputError: INTENT_UNKNOWN, INTENT_AMBIGUOUS, each with the nearest ids in `data["nearest"]`.
    """
    if place := _PLACED.fullmatch(text):
        before = int(place["number"]) - 1 if place["number"] else int(place["before"] or 0)
        newest = home.journal.intents()
        if before >= len(newest):
            raise _too_far(text, newest)
        return newest[before]
    wanted = text.strip().removeprefix(_SCHEME).upper()
    found = home.journal.intents(wanted) if re.fullmatch(r"[0-9A-Z]{1,26}", wanted) else ()
    if not found and re.fullmatch(rf"[0-9A-Z]{{{_ENDING},25}}", wanted):
        found = tuple(id for id in home.journal.intents() if id.endswith(wanted))
    if len(found) == 1:
        return found[0]
    if found:
        raise InputError(
            "INTENT_AMBIGUOUS",
            f"{len(found)} intents begin or end with {text}: {some(found, _NEAREST)}",
            place="intent",
            fix="give more characters of the id",
            data={"nearest": list(found[:_NEAREST])},
        )
    raise _unknown(text, _nearest(home, wanted))


def _nearest(home: Home, wanted: str) -> tuple[str, ...]:
    """The ids that share the longest beginning with what was given; newest first where equal."""

    def shared(id: str) -> int:
        return next(
            (place for place, (a, b) in enumerate(zip(id, wanted, strict=False)) if a != b), len(wanted)
        )

    return tuple(sorted(home.journal.intents(), key=shared, reverse=True)[:_NEAREST])


def _too_far(text: str, newest: tuple[str, ...]) -> InputError:
    """There are not so many."""
    if not newest:
        return _unknown(text, ())
    message = f"there is no {text}: there are {counted(len(newest), 'intent')}"
    fix, data = "mcl list numbers them", {"nearest": [newest[-1]]}
    return InputError("INTENT_UNKNOWN", message, place="intent", fix=fix, data=data)


def _unknown(text: str, nearest: tuple[str, ...]) -> InputError:
    return InputError(
        "INTENT_UNKNOWN",
        f"no intent begins with {text}; nearest: {some(nearest, _NEAREST)}"
        if nearest
        else "there is no intent yet",
        place="intent",
        fix="mcl list shows them all" if nearest else 'mcl compile "GOAL" makes one',
        data={"nearest": list(nearest)},
    )


# ---- What the journal says about one intent, and about all.


@dataclass(frozen=True)
class Shown:
    """One intent as it is now.

    `intent` and `plan` are None until they are compiled; `reason`: why it ended; `outputs`: what the nodes of
    its runs gave, by their ids; `said`: what they said while they ran.
    """

    id: str
    state: str
    prose: str
    intent: Intent | None
    plan: PlanTree | None
    questions: tuple[ClarifyQuestion, ...]
    accepted_by: str
    reason: str
    view: View
    outputs: Mapping[str, object] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Summary:
    """One line of a list.

    `flaw` is the code of what is wrong where the rows of the intent cannot be believed. `goal`: the name of
    what it is to reach, "" where it has none. `number`: its place among all, 1 for the newest. waits: how
    many of its questions nobody decided yet.
    """

    id: str
    state: str
    at: str
    verb: str
    prose: str
    flaw: str = ""
    goal: str = ""
    number: int = 0
    waits: int = 0


def show(intent: str, *, home: Home | None = None) -> Shown:
    """One intent, read from its signed rows.

    intent: an id, a unique beginning of one, or @last. Raises InputError, EnvelopeError, LifecycleError.
    """
    home = home or open_home()
    return shown(home, find_intent(home, intent))


def shown(home: Home, id: str) -> Shown:
    """The same for an id that is known to be one."""
    # Here, because a compile names intents too, and the walker loads asyncio.
    from executor.walker.history import read_run_history
    from executor.walker.streams import said

    view = read_view(home, id)
    envelopes = home.journal.envelopes(id) if view.nodes else ()
    return Shown(
        id=id,
        state=view.state,
        prose=view.draft.prose if view.draft else "",
        intent=view.intent,
        plan=view.plan,
        questions=view.questions,
        accepted_by=view.accepted_by,
        reason=view.reason,
        view=view,
        outputs=read_run_history(envelopes, view).outputs,
        said=said(envelopes),
    )


def read_view(home: Home, id: str, *, fresh: bool = False) -> View:
    """What the rows of an intent add up to.

    Raises JournalError, EnvelopeError where they cannot be believed (exit 6).
    """
    try:
        return home.journal.view(id, fresh=fresh)
    except LifecycleError as error:  # what is stored cannot have happened: not a refusal of what is asked now
        raise JournalError(
            error.code,
            f"the journal does not hold: {error.message}",
            place=id,
            fix="mcl log verify tells all",
            data=error.data,
        ) from error


def list_intents(
    *, home: Home | None = None, limit: int = 50, state: str = "", goal: str = "", text: str = ""
) -> tuple[Summary, ...]:
    """The intents of a home, the one last written about first; `limit` 0: all. state: only those in it.
    goal: only those for the goal of this name, or for that of this intent. text: only those whose words have
    each of these words in them, in letters of any size."""
    home = home or open_home()
    every = (_summary(home, id, number) for number, id in enumerate(home.journal.intents(), 1))
    wanted = (one for one in every if not state or one.state == state)
    found = (one for one in wanted if not goal or goal == (one.goal or one.id))
    words = text.casefold().split()
    said = (one for one in found if all(word in one.prose.casefold() for word in words))
    return tuple(islice(said, limit or None))


def _summary(home: Home, id: str, number: int) -> Summary:
    first = home.journal.rows(id, limit=1)[0]
    try:
        found = read_view(home, id)
    except MclError as error:  # one broken story must not hide the others
        return Summary(id, "", first.at, "", "", flaw=error.code, number=number)
    prose = found.draft.prose if found.draft else ""
    verb, goal = (found.intent.frame.verb, found.intent.goal_id) if found.intent else ("", "")
    goal = goal or (found.draft.slot_values.get(GOAL, "") if found.draft else "")
    waits = 0 if found.terminal else sum(not gate.decision for gate in found.gates.values())
    return Summary(id, found.state, first.at, verb, prose, goal=goal, number=number, waits=waits)


# ---- `mcl cancel`: a person stops it.


def cancel(intent: str, *, reason: str = "", home: Home | None = None) -> Envelope:
    """Cancel an intent that has not ended; a walk in another process stops before its next node.

    Raises InputError; LifecycleError ILLEGAL_EVENT where it has ended; KeyringError.
    """
    home = home or open_home()
    id, at = find_intent(home, intent), home.clock.now()
    view = read_view(home, id)
    if "intent.cancel" not in view.legal():
        raise LifecycleError(
            "ILLEGAL_EVENT",
            f"this intent is {view.state}: there is nothing to cancel",
            place=id,
            fix=way_on(view.state, id),
            state=view.state,
            legal=view.legal(),
        )
    body = IntentCancelBody(at, reason, unseen=home.unseen())
    envelope = sealed(home, "intent.cancel", body, intent=id, at=at)
    home.journal.append(envelope)
    return envelope
