"""All that one server process does for its clients: a session, and what goes on in it from call to call."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

from anyio import CancelScope, CapacityLimiter, Event, Lock, get_cancelled_exc_class, to_thread
from anyio.abc import TaskGroup

from executor.call import Call
from executor.core.hashing import json_hash
from executor.gate.breaker import MOST, SHARED, Breaker
from executor.gate.checkout import circuit_open
from executor.gate.guards.call import MAX_REASON
from executor.gate.verdict import Deny
from executor.store.home import Home
from executor.walker.ledger import ENDS
from mcl.plugins.mcp.corrections import FormCorrections
from mcl.plugins.mcp.session import Session
from mcl.plugins.mcp.shelf import Shelves
from mcl.serve.exchange import Filled, Form
from mcl.serve.folders import Judged

if TYPE_CHECKING:
    from executor import Outcome
    from executor.walker.interfaces import WalkEvent
    from mcl.compiler.outcome import Outcome as Compilation
    from mcl.plugins.mcp.call_questions import CallQuestions


T = TypeVar("T")

# ---- Calls that are refused again and again: an agent that repeats itself is told so.


class Refusals:
    """The calls that the gate refused lately. Each is judged whenever it comes; who repeats one that stays
    refused is told so for a minute.

    What is refused for its file, or for what its agent has checked out, counts together with what the hook of
    the agent's host refused.
    """

    def __init__(self, home: Home) -> None:
        self._home, self._breaker = home, Breaker(home)

    def told(self, judged: Judged, verdict: Deny) -> Deny:
        """The refusal as the agent is told of it: CIRCUIT_OPEN where this very call was refused MOST times
        lately. Raises HomeError."""
        governed, at = judged.governed, self._home.clock.now()
        shared = governed is not None and verdict.code in SHARED
        root = governed.root if governed else ""
        if governed is not None and shared:
            key, lease = governed.key(judged.call, judged.context), governed.intent_id
        else:  # it counts anew as soon as anything changed that could make a difference
            key, lease = _what(judged.call), sha256(repr(judged.stamp).encode()).hexdigest()
        code = self._breaker.repeated(judged.agent, root, key, verdict.code, at, lease=lease)
        if code is None:
            return verdict
        if shared:
            told = circuit_open(code).deny()
            return replace(told, guard="checkout", data={**told.data, "refused_with": code})
        return replace(
            verdict,
            code="CIRCUIT_OPEN",
            reason=f"this very call was refused {MOST} times: {verdict.code}: {verdict.reason}",
            data={**verdict.data, "refused_with": verdict.code},
        )


def _what(call: Call) -> str:
    """The call with what is declared of it. Of the reason just whether it is too long: to say it in other
    words makes no other call."""
    said = call.declaration
    declared: list[object] = []
    if said is not None:
        declared = [said.given, said.operation_type, said.data_sensitivity, said.variant]
        declared.append(len(said.reason) > MAX_REASON)
    return json_hash([call.tool_ref, call.args_hash, declared])


class Service(Session):
    """A session with its questions to people, its runs, the tools that can be found, and who was refused.

    Args:
        questions, runs: open, of the same home, and not closed here. compiler: makes Intents of goals.
        session: as of ``Session``.

    Raises:
        What ``Session`` raises.
    """

    def __init__(
        self,
        home: Home,
        workspace: Path,
        *,
        questions: CallQuestions,
        runs: ServedRuns,
        compiler: GoalCompiler,
        **session: Any,
    ) -> None:
        super().__init__(home, workspace, **session)
        self.questions, self.runs, self.compiler = questions, runs, compiler
        self.shelves, self.refusals = Shelves(), Refusals(home)
        self.corrections = FormCorrections(self)


# ---- Compiling goals in a server: in a thread, one at a time, so that other calls are answered meanwhile.


class GoalCompiler:
    """The compiler of one process.

    model: a GGUF, None for the one in use. ai: False for the deterministic matcher. skills: further folders.
    workspace: where words for files are looked up.
    """

    def __init__(
        self,
        home: Home,
        *,
        model: Path | None = None,
        ai: bool = True,
        skills: Sequence[Path] = (),
        workspace: Path | None = None,
    ) -> None:
        self._home, self._workspace = home, workspace
        self.model, self.ai, self.skills = model, ai, tuple(skills)
        self._turn = CapacityLimiter(1)  # a model is not for several threads

    async def compile(self, goal: str, *, skill: str = "", verb: str = "", zone: str = "") -> Compilation:
        """Compile a goal; what comes of it is signed and kept. Raises as ``compile_goal``."""
        from mcl.usecases.compile import compile_goal

        return await self.alone(
            partial(
                compile_goal,
                goal,
                skill=skill or None,
                verb=verb or None,
                zone=zone or None,
                model=self.model,
                ai=self.ai,
                skills=self.skills,
                home=self._home,
                workspace=self._workspace,
            )
        )

    async def answer(self, intent: str, answers: Mapping[str, str]) -> Compilation:
        """Compile an intent again with answers; nobody knows who gave them.

        Raises as ``answer`` of the use cases.
        """
        from mcl.usecases.compile import answer

        return await self.alone(
            partial(
                answer,
                intent,
                answers,
                model=self.model,
                ai=self.ai,
                skills=self.skills,
                home=self._home,
                unseen=True,
            )
        )

    async def alone(self, work: Callable[[], T]) -> T:
        """What else is done with a model, or with what one made: in a thread, in its turn."""
        # A compile that nobody waits for any more still ends, and is kept.
        return await to_thread.run_sync(work, limiter=self._turn)


# ---- Runs of accepted plans that clients started. A run lasts as long as its plan does, and not as long as a
# request: in the modern era the client leaves with each question, and comes back with the answer.


_PREVIEW: Final = 200  # characters of what a node gave
_KEPT: Final = 256  # events that nobody was told of yet; the oldest is dropped


@dataclass
class ServedRun:
    """One run. The side of its plan asks (`elicit`) and tells (`on`); whoever waits for it hears by `news`.

    nodes: how many the plan has. form: what is asked now; asked: the number of that question. said: for each
    event how many nodes had ended by then, and words. begun: False while nobody has accepted the plan, and it
    is asked what is to be otherwise.
    """

    intent: str
    nodes: int
    scope: CancelScope = field(default_factory=CancelScope)
    form: Form | None = None
    asked: int = 0
    outcome: Outcome | None = None
    problem: Exception | None = None
    done: bool = False
    begun: bool = True
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
        if event.state in ENDS:
            self._ended.add(event.node_id)
        words = (event.error or event.preview)[:_PREVIEW]
        self.said.append((len(self._ended), f"{event.node_id} {event.state}{f': {words}' if words else ''}"))
        self._news.set()

    def spoke(self, node_id: str, text: str) -> None:
        """A node said something while it runs: the last line of it is told."""
        lines = text.strip().splitlines()
        self.said.append((len(self._ended), f"{node_id}: {lines[-1][:_PREVIEW] if lines else ''}"))
        self._news.set()

    async def news(self) -> None:
        """Wait until something happened: a node, a question, the end."""
        await self._news.wait()
        self._news = Event()

    def end(self, outcome: Outcome | None, problem: Exception | None = None) -> None:
        """It is over. Without an outcome and a problem it was interrupted."""
        self.outcome, self.problem, self.done = outcome, problem, True
        self._news.set()


class ServedRuns:
    """The runs of one process. tasks: in which they live."""

    def __init__(self, tasks: TaskGroup) -> None:
        self._tasks = tasks
        self._runs: dict[str, ServedRun] = {}

    def of(self, intent: str) -> ServedRun | None:
        """The run of an intent that is under way here."""
        return self._runs.get(intent)

    def start(self, intent: str, nodes: int, walk: Callable[[ServedRun], Awaitable[Outcome]]) -> ServedRun:
        """Begin a run, which nobody has to wait for. intent: a ULID without a run here."""
        run = self._runs[intent] = ServedRun(intent, nodes)

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
