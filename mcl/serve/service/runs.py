"""Runs of accepted plans that clients started. A run lasts as long as its plan does, and not as long as a
request: in the modern era the client leaves with each question, and comes back with the answer."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from anyio import CancelScope, Event, Lock, get_cancelled_exc_class
from anyio.abc import TaskGroup

from mcl.serve.exchange import Filled, Form

if TYPE_CHECKING:
    from executor.walker import Outcome
    from executor.walker.listener import WalkEvent

_ENDED: Final = ("completed", "failed", "cancelled", "denied", "skipped")
_PREVIEW: Final = 200  # characters of what a node gave
_KEPT: Final = 256  # events that nobody was told of yet; the oldest is dropped


@dataclass
class Run:
    """One run. The side of its plan asks (`elicit`) and tells (`on`); whoever waits for it hears by `news`.

    nodes: how many the plan has. form: what is asked now; asked: the number of that question. said: for each
    event how many nodes had ended by then, and words.
    """

    intent: str
    nodes: int
    scope: CancelScope = field(default_factory=CancelScope)
    form: Form | None = None
    asked: int = 0
    outcome: Outcome | None = None
    problem: Exception | None = None
    done: bool = False
    said: deque[tuple[int, str]] = field(default_factory=lambda: deque(maxlen=_KEPT))
    _ended: set[str] = field(default_factory=set)
    _news: Event = field(default_factory=Event)
    _filled: Filled | None = None
    _answered: Event = field(default_factory=Event)
    _one: Lock = field(default_factory=Lock)

    async def elicit(self, form: Form) -> Filled:
        """Have whoever waits for this run show a form, now or when they come back."""
        async with self._one:
            self.form, self._filled, self._answered = form, None, Event()
            self.asked += 1
            self._news.set()
            try:
                await self._answered.wait()
            finally:
                self.form = None
                self._news.set()
        assert self._filled is not None, "set before the event"
        return self._filled

    def answer(self, filled: Filled, asked: int) -> None:
        """What a person filled in; the first answer to a question counts, and none for another."""
        if self.form is not None and asked == self.asked and not self._answered.is_set():
            self._filled = filled
            self._answered.set()
            self.form = None

    def on(self, event: WalkEvent) -> None:
        """A node's state changed."""
        if event.state in _ENDED:
            self._ended.add(event.node_id)
        words = (event.error or event.preview)[:_PREVIEW]
        self.said.append((len(self._ended), f"{event.node_id} {event.state}{f': {words}' if words else ''}"))
        self._news.set()

    async def news(self) -> None:
        """Wait until something happened: a node, a question, the end."""
        await self._news.wait()
        self._news = Event()

    def end(self, outcome: Outcome | None, problem: Exception | None = None) -> None:
        """It is over. Without an outcome and a problem it was interrupted."""
        self.outcome, self.problem, self.done = outcome, problem, True
        self._news.set()


class Runs:
    """The runs of one process. tasks: in which they live."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._runs: dict[str, Run] = {}

    def of(self, intent: str) -> Run | None:
        """The run of an intent that is under way here."""
        return self._runs.get(intent)

    def start(self, intent: str, nodes: int, walk: Callable[[Run], Awaitable[Outcome]]) -> Run:
        """Begin a run, which nobody has to wait for. intent: a ULID without a run here."""
        run = self._runs[intent] = Run(intent, nodes)

        async def work() -> None:
            outcome: Outcome | None = None
            try:
                with run.scope:
                    outcome = await walk(run)
            except get_cancelled_exc_class():
                run.end(None)
                raise
            except Exception as problem:  # noqa: BLE001  # whoever waits for the run is told
                run.end(None, problem)
            else:
                run.end(outcome)
            finally:
                self._runs.pop(intent, None)

        self._tasks.start_soon(work)
        return run
