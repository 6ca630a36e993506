"""`mcl run --json`: one line an event, each written at once."""

from collections.abc import Mapping

from executor.core.clock import SystemClock
from executor.walker.interfaces import WalkEvent
from executor.walker.questions import GateAnswer, GateQuestion, People
from ir import PlanTree
from mcl.cli.output import write_event
from mcl.usecases.documents import of_event, of_question_asked


class Events:
    """Writes what happens in a run."""

    def __init__(self, intent: str = "", plan: PlanTree | None = None) -> None:
        self._clock = SystemClock()
        count = sum(1 for _ in plan.root.walk()) if plan else 0
        plan_hash = plan.hash if plan else ""
        # Written with the first event: a run that is refused before it begins is one error and nothing else.
        self._first: dict[str, object] = {"event": "run", "intent": intent}
        self._first |= {"plan_hash": plan_hash, "nodes": count}

    def on(self, event: WalkEvent) -> None:
        """A node's state changed."""
        self._write(of_event(event))

    def end(self, outcome: Mapping[str, object]) -> None:
        """The last line: how it ended."""
        self._write({"event": "outcome", **outcome})

    def asked(self, gate: GateQuestion) -> None:
        """A person is asked."""
        self._write(of_question_asked(gate))

    def _write(self, event: Mapping[str, object]) -> None:
        first, self._first = self._first, {}
        for one in (first, event) if first else (event,):
            write_event({**one, "at": self._clock.now()})


class ToldPeople:
    """People whose questions are events too, so that a program knows what the run waits for."""

    def __init__(self, people: People, events: Events) -> None:
        self._people = people
        self._events = events

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        """Tell of the question, then put it."""
        self._events.asked(gate)
        return await self._people.ask(gate)
