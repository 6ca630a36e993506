"""Firing a schedule: the child that follows from what was signed, and the run of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from executor.store.home import Home
from executor.walker.contention import Contended
from executor.walker.engine import Failure
from ir import IntentDispatchBody, canonical_bytes
from ir.errors import MclError
from ir.schedule import child_intent, child_plan
from mcl.core.errors import InputError
from mcl.core.home import sealed
from mcl.plugins.schedules.scope import compiled_at, texts_of

if TYPE_CHECKING:
    from executor import Outcome
    from executor.walker.questions import GateAnswer, GateQuestion
    from mcl.usecases.intents import Shown

REFUSED: Final = "record.schedule.refused"
WAITS: Final = "WAITS_FOR_PERSON"


def fire(home: Home, found: Shown, due: str, *, at: str, cause: str = "") -> str:
    """Fire a schedule for one of its moments; the ULID of the child, which is accepted by then and not run.

    due: the local moment; at: now, as of which what moves is read. cause: of a changed file its sha256. What
    is refused stands in the journal as a record, too. Raises LifecycleError with the codes of `firings`;
    InputError SCHEDULE_MOVES.
    """
    schedule, parent, template = found.view.schedule, found.intent, found.plan
    try:
        if schedule is None or parent is None or template is None:
            raise InputError(
                "NOT_SCHEDULED",
                "no standing accept was signed for it",
                place=found.id,
                fix="mcl schedule sign",
            )
        values: dict[str, str] = {}
        if schedule.moving:
            texts = texts_of(*compiled_at(home, found, at))
            values = {place: texts.get(place, "") for place in schedule.moving}
        accept, child = found.view.accept_id, home.clock.new_id()
        intent = child_intent(parent, child, at, accept, values)
        plan = child_plan(template, intent, values)
        said = canonical_bytes(intent)
        told = json.dumps(values, ensure_ascii=False, sort_keys=True).encode() if values else b""
        above = IntentDispatchBody(said, accept_of=accept, due=due, cause=cause, values=told)
        below = IntentDispatchBody(
            said,
            intent.parent,
            plan_json=canonical_bytes(plan),
            accept_of=accept,
            schedule=canonical_bytes(schedule),
        )
        first = sealed(home, "intent.dispatch", above, intent=found.id, at=at)
        second = sealed(home, "intent.dispatch", below, intent=child, at=at, causation=first.id)
        home.journal.append_many((first, second))
    except MclError as problem:
        home.journal.record(
            REFUSED, {"due": due, "code": problem.code, "why": problem.message[:500]}, intent=found.id
        )
        raise
    return child


class Nobody:
    """No person is at a firing: a question stays open, and the run rests until somebody decided it."""

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        """Leave it open."""
        fix = f"mcl gate show {gate.gate_id}, then approve or deny it"
        raise Contended(Failure(WAITS, "a person is asked", fix, gate.node_id, denied=True))


def run_child(home: Home, child: str, workspace: str, *, resume: bool) -> Outcome:
    """Run a firing, or go on with it. Raises as `mcl.usecases.run.run`."""
    from mcl.usecases.run import run

    return run(child, home=home, workspace=Path(workspace), people=Nobody(), resume=resume)
