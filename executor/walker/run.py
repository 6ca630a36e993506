"""One run of one plan: what each node is, may do and gave. In which order is the engine's matter."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias

from executor.core.errors import ExecutorError, UnresolvedError
from executor.core.hashing import json_bytes
from executor.gate.context import RUNNABLE
from executor.gate.mandate import Mandate
from executor.sandbox.redaction import Redactor, visible
from executor.store.home import Home
from executor.store.lifecycle.view import View
from executor.tools.manifest import Cost, Manifest
from executor.tools.registry import Registry
from executor.tools.tool import Progress, unwatched
from executor.walker.contention import Contended
from executor.walker.engine import Again, Failure, Turn
from executor.walker.history import RunHistory
from executor.walker.interfaces import Follower, Listener, Reasoner, SubSkills, WalkEvent
from executor.walker.ledger import Ledger, Pause, Superseded
from executor.walker.maps import holds
from executor.walker.questions import CORRECTED, Questions
from executor.walker.tree import Place, PlanScope, Tree
from ir import MclError

if TYPE_CHECKING:
    from executor.walker.steps import StepEvidence
    from executor.walker.undo.images import Images

LONGEST_DELAY_MS = 60_000  # between two attempts
_PREVIEW = 120  # characters
_DENIED = ("PROTECTED_PATH", "OUT_OF_SCOPE", "HOST_DENIED")  # what a tool met that the gate would refuse

Attempt: TypeAlias = "Callable[[Place, Run], Awaitable[Failure | Again | None]]"


@dataclass(frozen=True)
class Kinds:
    """What nodes do with their turn, which a run need not know (``kinds`` fills it in).

    attempts: how a terminal is performed once, by its kind. settle: what is decided about one that was begun
    in an earlier run; True: nothing is left to do. open_plan, close_plan: what grows gets what lies below it,
    and gives what that gave.
    """

    attempts: Mapping[str, Attempt]
    settle: Callable[[Place, Run], Awaitable[tuple[bool, Failure | None]]]
    open_plan: Callable[[Place, Run], Failure | None]
    close_plan: Callable[[Place, Run], Awaitable[Failure | None]]


@dataclass
class Run:
    """The state of a walk: what each node is and what it gave. It is the ``Work`` of an engine.

    kinds: what nodes do with their turn. scope: the accepted plan with what the gate looks at. Nodes are
    named by their ids.
    """

    kinds: Kinds
    scope: PlanScope
    ledger: Ledger
    registry: Registry
    questions: Questions
    listener: Listener
    redactor: Redactor
    history: RunHistory
    reasoner: Reasoner | None
    home: Home | None = None
    sub_skills: SubSkills | None = None
    states: dict[str, str] = field(default_factory=dict)
    outputs: dict[str, object] = field(default_factory=dict)
    evidence: dict[str, StepEvidence] = field(default_factory=dict)  # of steps that are yet to end
    attempts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tree = Tree(self.scope.mandate.plan.root, self.scope)
        self.attempts = dict(self.history.attempts)
        self._began: dict[str, float] = {}
        self._doubtful = {id for id in self.history.attempts if self.history.in_doubt(id)}
        self._unended = {id for id, state in self.history.states.items() if state == "running"}
        self._pause = Pause()
        self.ledger.bind(self.scope.mandate, self.history.restarts)

    @cached_property
    def images(self) -> Images | None:
        """Where files are kept as they were before a call; opened by the first that changes something."""
        from executor.walker.undo.images import Images

        return Images(self.home) if self.home is not None else None

    # ---- between nodes ----

    async def _between(self) -> View:
        """Look at what other processes wrote; called at every node's turn. Gives what was seen.

        A correction that needs no new accept is taken over: the documents that count as accepted are others.
        One that does, or that has nodes run again, ends this walk.
        """
        view = self.ledger.view()
        if self.superseded(view):
            await self._leave()
        self._adopt(view)
        return view

    def superseded(self, view: View) -> bool:
        """Whether this walk is over because of a correction."""
        return view.state == "proposed" or (view.state in RUNNABLE and view.restarts != self.history.restarts)

    async def _leave(self) -> NoReturn:
        """Wait for the terminals at work, then end the walk; branches wait for their next turn."""
        await self._pause.quiet()
        self.rest()
        raise Superseded

    def rest(self) -> None:
        """Nothing of this walk happens any more: what began and has not ended waits for its next turn."""
        if self._pause.over:
            return
        self._pause.over = True
        self.ledger.flush()
        for id in [id for id, state in self.states.items() if state == "running"]:
            if (place := self.tree.find(id)) is not None:
                self._rest(place)

    def _rest(self, place: Place) -> None:
        """A node that began has to wait for its next turn."""
        view = self.ledger.view()
        if view.state in ("proposed", *RUNNABLE) and view.nodes.get(place.id) == "running":
            self.ledger.end(place.id, "pending")
            self._tell(place, "pending")

    def adopt(self) -> None:
        """Take the Intent and the plan as they were corrected. Raises Superseded where this walk is over."""
        view = self.ledger.view()
        if self.superseded(view):
            raise Superseded
        self._adopt(view)

    def _adopt(self, view: View) -> None:
        known = self.scope.mandate
        if (view.accepted_hash, view.accepted_plan_hash) == (known.accepted_hash, known.accepted_plan_hash):
            return
        mandate = Mandate.of(view)
        if mandate is None:
            return
        self.scope = replace(self.scope, context=replace(self.scope.context, mandate=mandate))
        if (spending := self.scope.context.spending) is not None:
            spending.limit(mandate.intent, mandate.plan)
        self.ledger.bind(mandate, self.history.restarts)
        self.tree.adopt(mandate.plan.root, self.scope)

    # ---- what an engine calls (Work) ----

    async def open(self, node_id: str) -> Turn:
        while True:
            await self._between()
            try:
                return self._open(node_id)
            except Superseded:  # a correction came after the look: look again
                continue

    def _open(self, node_id: str) -> Turn:
        place = self.tree.find(node_id)
        if place is None:  # a correction took it away before its turn
            return Turn("settled")
        if self.history.states.get(node_id) == "completed":
            self._restore(place)
            return Turn("settled")
        self._began[node_id] = time.monotonic()
        if place.node.when is not None:
            try:
                wanted = holds(place.node.when, self.outputs)
            except UnresolvedError as problem:
                unread = self.failure(problem, place)
                self._end(place, "failed", unread)
                return Turn("settled", unread)
            if not wanted:
                self._skip(place)
                return Turn("settled")
        if place.grows:
            failure = self._stopped(place, self.ledger.view()) or self.kinds.open_plan(place, self)
            if failure is not None:
                self._end(place, "denied" if failure.denied else "failed", failure)
            return Turn("settled", failure) if failure else Turn("sequential")
        if place.node.kind == "sequential" or place.node.kind == "parallel":
            self.begin(place)
            return Turn("sequential" if place.node.kind == "sequential" else "parallel")
        return Turn("terminal")

    def next_child(self, node_id: str) -> str | None:
        return self.tree.next_child(node_id)

    async def attempt(self, node_id: str) -> Failure | Again | None:
        while True:
            view = await self._between()
            place = self.tree.find(node_id)
            if place is None:  # a correction took it away
                return None
            self._pause.begin(node_id)
            try:
                result = await self._attempt(place, view)
            except Superseded:
                self._pause.end(node_id)
                continue
            except Contended:
                self._pause.end(node_id)
                await self._pause.quiet()  # what does not wait for it goes on to its end
                self.rest()
                raise
            if isinstance(result, Again):
                self._pause.end(node_id)
            return result

    async def _attempt(self, place: Place, view: View) -> Failure | Again | None:
        if (stopped := self._stopped(place, view)) is not None:
            return stopped
        if place.id in self._doubtful:
            settled, failure = await self.kinds.settle(place, self)
            self._doubtful.discard(place.id)
            if settled:
                return failure
        return await self.kinds.attempts[place.node.kind](place, self)

    async def close(self, node_id: str, failure: Failure | None, *, more: bool = False) -> Failure | None:
        place = self.tree.find(node_id)
        if place is None:
            self._pause.end(node_id)
            return failure
        if failure is None and place.grows:
            failure = await self.kinds.close_plan(place, self)
        state = "completed"
        if failure is not None:
            state = "denied" if failure.denied and not self.tree.is_branch(place) else "failed"
        if not (over := self.superseded(self.ledger.view())):
            try:
                self._end(place, state, failure, more=more)
            except Superseded:  # a correction brought more below this branch
                over = True
        elif failure is not None and failure.code == CORRECTED:
            self._rest(place)
        elif self.states.get(node_id) == "running":  # what began has an end; what did not has none to tell
            self._end(place, state, failure)
        self._pause.end(node_id)
        if over:
            await self._leave()
        return failure

    def abandon(self, node_id: str) -> None:
        if self._pause.over:
            return
        if (place := self.tree.find(node_id)) is not None:
            self._end(place, "cancelled")
        self._pause.end(node_id)

    def drop(self, node_id: str, state: Literal["skipped", "cancelled"]) -> None:
        if self._pause.over:
            return
        self._settle(self.tree.below(node_id), state)

    def _skip(self, place: Place) -> None:
        """What a node was to be done under does not hold: neither it nor anything below it is."""
        self._settle((place, *self.tree.below(place.id)), "skipped")

    def _settle(self, places: Iterable[Place], state: Literal["skipped", "cancelled"]) -> None:
        untouched = [
            place
            for place in places
            if place.id not in self.states and self.history.states.get(place.id) != "completed"
        ]
        for place in untouched:
            self._tell(place, state)
        self.ledger.settle([place.id for place in untouched], state)

    def given(self, place: Place, prefix: str) -> object:
        """What a node gave: a sequential one what its last child gave, a parallel one what each did, by name.

        prefix: what the ids of its plan begin with here.
        """
        while place.node.kind == "sequential":
            place = self.tree.children(place)[-1]
        if place.node.kind != "parallel":
            return self.outputs.get(place.id, {})
        children = self.tree.children(place)
        return {child.id.removeprefix(prefix): self.given(child, prefix) for child in children}

    # ---- what the kinds of nodes call ----

    def begin(self, place: Place, told: Mapping[str, object] | None = None) -> str:
        """Write down that a node begins, and what is to be told of it. Gives its idempotency key, another one
        for each attempt. An attempt that died with its process is made again under its own key: who knows the
        key does not do it twice."""
        self.states[place.id] = "running"
        number = self.attempts.get(place.id, 0) + (place.id not in self._unended)
        self.attempts[place.id] = number
        self._unended.discard(place.id)
        key = self.ledger.begin(place.id, number, told)
        self._tell(place, "running")
        return key

    def begin_call(
        self,
        place: Place,
        cost: Cost | None = None,
        files: frozenset[str] = frozenset(),
        *,
        counted: bool = False,
    ) -> str:
        """The same for a call of a tool or a model, which the budget counts. files: that it changes, where
        they are counted. counted: did the budget count it when it was allowed?"""
        told: dict[str, object] = {"calls": 1}
        told |= {"cost": {"asset": cost.asset, "amount": str(cost.amount)}} if cost else {}
        told |= {"files": sorted(files)} if files else {}
        key = self.begin(place, told)
        if (spending := place.scope.context.spending) is not None and not counted:
            spending.begin(cost, files)
        return key

    def again(self, failure: Failure, manifest: Manifest, place: Place) -> Failure | Again:
        """What follows from an attempt that failed as things fail that may pass.

        Another attempt, where the manifest allows one more (those before a crash count), the budget has
        another call, and the longest wait ends before the time does. The attempt's end is written down then.
        """
        number, spending = self.attempts[place.id], place.scope.context.spending
        delay = min(manifest.retries.backoff_ms << min(number - 1, 20), LONGEST_DELAY_MS)
        left = spending.seconds_left() if spending else None
        if (
            number > manifest.retries.max
            or not manifest.idempotent
            or (left is not None and left * 1000 <= delay)
            or (spending is not None and spending.refusal(manifest.cost) is not None)
        ):
            times = f" ({number} attempts)" if number > 1 else ""
            return replace(failure, message=failure.message + times, passing=True)
        self.ledger.end(place.id, "failed", error=self.redactor.value(failure.to_json()), ms=self._ms(place))
        said = f"attempt {number}: {failure.code}: {failure.message}"
        self._tell(place, "running", error=visible(self.redactor.text(said)))
        return Again(failure, delay)

    def failure(self, problem: MclError, place: Place) -> Failure:
        """An error as the failure of a node."""
        denied = isinstance(problem, ExecutorError) and problem.code in _DENIED
        # Messages quote files, commands and foreign code; from here they go to the journal and to terminals.
        message, fix = (visible(self.redactor.text(text)) for text in (problem.message, problem.fix))
        return Failure(problem.code, message, fix, place.id, denied=denied)

    # ---- the rest ----

    def _stopped(self, place: Place, view: View) -> Failure | None:
        """Why nothing more may begin: the intent is not running any more, or its budget is used up."""
        state = view.state
        if state not in RUNNABLE:
            return Failure(
                "INTENT_NOT_ACTIVE", f"the intent is {state}", "start a new intent", place.id, denied=True
            )
        spending = place.scope.context.spending
        if spending is None or place.node.kind == "tool_call":  # the gate says it of tools, and records it
            return None
        refusal = spending.refusal() if place.node.kind == "step" else spending.time_refusal()
        if refusal is None:
            return None
        return Failure(refusal.code, refusal.reason, refusal.fix, place.id, denied=True)

    def _restore(self, place: Place) -> None:
        """A node that completed in an earlier run, with all below it."""
        for one in (place, *self.tree.below(place.id)):
            if one.grows or not one.node.children:
                self.outputs[one.id] = self.history.outputs.get(one.id, {})
            if one.grows:
                self._restore_below(one.id)
            self._tell(one, "completed", preview=self._preview(one.id))

    def _restore_below(self, node_id: str) -> None:
        """The nodes below one that grows, which completed; nobody needs to know any more what they are."""
        for id, state in self.history.states.items():
            if id.startswith(f"{node_id}/"):
                self.states[id] = state
                if id in self.history.outputs:
                    self.outputs[id] = self.history.outputs[id]

    def _end(self, place: Place, state: str, failure: Failure | None = None, *, more: bool = False) -> None:
        ms = self._ms(place)
        output = self.outputs.get(place.id) if state == "completed" else None
        error = self.redactor.value(failure.to_json()) if failure else None
        evidence = self.evidence.pop(place.id, None)
        self.ledger.end(place.id, state, output=output, error=error, ms=ms, evidence=evidence, more=more)
        said = visible(self.redactor.text(f"{failure.code}: {failure.message}")) if failure else ""
        preview = self._preview(place.id) if state == "completed" else ""
        verdict = "" if self.tree.is_branch(place) or state == "cancelled" else "allow"
        if failure is not None and failure.denied and verdict:
            verdict = failure.code
        self._tell(place, state, verdict=verdict, ms=ms, preview=preview, error=said)

    def _ms(self, place: Place) -> int:
        """Milliseconds since the node's turn came."""
        began = self._began.get(place.id)
        return round((time.monotonic() - began) * 1000) if began else 0

    def _tell(
        self, place: Place, state: str, *, verdict: str = "", ms: int = 0, preview: str = "", error: str = ""
    ) -> None:
        self.states[place.id] = state
        node = place.node
        self.listener.on(
            WalkEvent(place.id, node.kind, state, place.depth, node.description, verdict, ms, preview, error)
        )

    def tell_pending(self, node_id: str, why: str) -> None:
        """Tell whoever watches why a node has yet to begin, or begins anew."""
        if (place := self.tree.find(node_id)) is not None:
            self._tell(place, "pending", error=visible(self.redactor.text(why)))

    def progress(self, place: Place) -> Progress:
        """Whom a tool tells how far it is."""
        return partial(self.listener.advanced, place.id) if isinstance(self.listener, Follower) else unwatched

    def _preview(self, node_id: str) -> str:
        output = self.outputs.get(node_id)
        if output is None:
            return ""
        text = output.get("text") if isinstance(output, dict) else None
        line = visible(str(text) if text else json_bytes(output).decode()).replace("\n", " ⏎ ")
        return line if len(line) <= _PREVIEW else line[:_PREVIEW] + "…"
