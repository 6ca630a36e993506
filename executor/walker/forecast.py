"""What will be when a node's turn comes: what is used of the budget by then, the moment, who writes where.

The guards judge by it as they judge at that turn, so that what must fail is told before anybody signs. It is
the least that will be used: attempts after a failure, and what a plan below a node that is not known yet
does, come to it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from executor.call import Call, Deferred, Warned
from executor.core.clock import Clock, instant
from executor.core.errors import HomeError, ScopeError
from executor.gate.budget import Spending
from executor.gate.context import Context
from executor.gate.guards.moment import contention
from executor.gate.guards.promise import files_of
from executor.gate.locks import Branch, Place, PlannedLocks
from executor.gate.mandate import Mandate
from executor.gate.portion import roams
from executor.gate.standings import artifact_path
from executor.gate.verdict import Deny
from executor.sandbox.files import components
from executor.tools.manifest import CHANGING, Manifest
from executor.walker.history import RunHistory
from ir import DeliveredPredicate, Intent, PlanNode, PlanTree


class Forecast:
    """A plan that is looked at node by node, in walk order.

    Args:
        context: what the gate looks at, as things are.
        earlier: what was done of the plan before; it is not done again.
    """

    def __init__(self, context: Context, earlier: RunHistory) -> None:
        self._earlier = earlier
        self._clock = _Ahead(context.clock)
        self._locks = PlannedLocks(context.locks)
        self._ends: dict[str, int] = {}  # by node id, milliseconds from now until it is done at the earliest
        self._branches: dict[str, Branch] = {}
        self._written: set[tuple[str, ...]] = set()
        self._anywhere = False  # may a call write where nobody can tell beforehand?
        mandate, spending = context.mandate, context.spending
        if spending is not None:
            spending = spending.reckoning(self._clock)
        elif mandate is not None:
            spending = self._own(mandate, None, "", earlier.started_at)
        self._used = spending.used if spending is not None else None
        self.context = replace(context, spending=spending, locks=self._locks)

    def below(self, context: Context, node_id: str) -> Context:
        """The context of a plan below a node that dispatches, with the budget that it has of its own."""
        assert context.mandate is not None, "a plan is walked under a mandate"
        since = self._earlier.began.get(node_id, "")
        own = self._own(context.mandate, context.spending, f"{node_id}/", since)
        return replace(context, spending=own)

    def lay_out(self, plan: PlanTree, context: Context, node_id: str = "") -> None:
        """Look at the nodes of a plan, below the one that dispatches it, if any."""
        found = {node.id: node for node, _ in plan.root.walk()}
        least = {id: self._least(node, context) for id, node in found.items()}
        begins = self._ends.get(node_id, 0)
        self._branches |= _branches(plan.root, self._branches.get(node_id, ()))
        self._ends |= dict.fromkeys(found, begins)
        if any(least.values()):
            _reach(plan.root, begins, least, self._ends)

    def done(self, node_id: str) -> bool:
        """Has it completed, so that nothing of it is to come?"""
        return self._earlier.states.get(node_id) == "completed"

    def turn(self, node_id: str) -> None:
        """From now on it is the moment at which this node is done at the earliest."""
        self._clock.ms = self._ends.get(node_id, 0)
        self._locks.branch = self._branches.get(node_id, ())

    def foretold(self, refusal: Deny) -> Deny:
        """A refusal by the budget as it is told beforehand."""
        spending = self.context.spending
        now = not self._clock.ms and (spending is None or spending.used == self._used)
        return refusal if now else replace(refusal, reason=f"when its turn comes, {refusal.reason}")

    def begin_call(self, call: Call, manifest: Manifest, context: Context) -> tuple[Warned, ...]:
        """Count a call, and note where it writes; gives what stands against that at this moment."""
        if context.spending is not None:
            context.spending.begin(manifest.cost, _files(call, context, manifest))
        places = self.note(call, manifest, context)
        try:
            found = context.locks.contended(places) if places else None
        except (ScopeError, HomeError):  # a home that may only be read keeps no locks
            return ()
        if found is None:
            return ()
        said = contention(found)
        return (Warned(said.code, f"{said.reason}; when its turn comes, the node waits for it"),)

    def begin_step(self, context: Context) -> None:
        """Count a question to the model."""
        if context.spending is not None:
            context.spending.begin()

    def begin_agent(self, node_id: str, context: Context) -> Deny | None:
        """Count a dispatch; why it may not be made, if so."""
        if context.spending is None or node_id in self._earlier.begun:
            return None
        refusal = context.spending.agent_refusal()
        if refusal is None:
            context.spending.begin_agent()
        return refusal and self.foretold(refusal)

    def hidden(self) -> None:
        """Something is done that nobody here can look at beforehand."""
        self._anywhere = True

    def note(self, call: Call, manifest: Manifest, context: Context, *, offered: bool = False) -> list[Place]:
        """Note where a call writes, which it gives, or that nobody can tell. offered: it may not be made."""
        named = [name for name, mode in manifest.scope.paths.items() if mode in CHANGING]
        places: list[Place] = []
        if named:
            try:
                places = context.written(call, manifest)
            except ScopeError:  # the guard scope refuses it
                return []
            self._locks.plan(() if offered else places)
            self._written.update(path for path, _ in places)
        if not self._anywhere:
            given = manifest.complete(call.args) if named else {}
            unknown = any(isinstance(given.get(name), Deferred) for name in named)
            self._anywhere = unknown or self._roams(call, manifest, context, bool(named))
        return places

    def _roams(self, call: Call, manifest: Manifest, context: Context, named: bool) -> bool:
        """May a call write where its arguments do not say?"""
        changes = context.effect(call, manifest).operation != "read"
        if not changes and not (manifest.command and manifest.command.outputs):
            return False
        outward = bool({"network", "chain"} & set(manifest.effects)) and manifest.outside is None
        return roams(manifest) or not (named or outward)

    def unreachable(self, predicate: DeliveredPredicate, intent: Intent, context: Context) -> Deny | None:
        """CRITERION_UNREACHABLE, where the artifact is not there and nothing that will run could make it."""
        path = artifact_path(predicate, intent)
        try:
            parts = components(path)
        except ScopeError:  # no path at all: that nobody can look at it is told of the promise
            return None
        try:
            there = context.workspace.check(path) is not None
        except ScopeError as problem:
            return _unreachable(f"{path!r} cannot be looked at: {problem.message}")
        made = any(parts[: len(one)] == one for one in self._written)
        if there or made or self._anywhere:
            return None
        return _unreachable(f"{path!r} is not there, and nothing in the plan writes it")

    def _own(self, mandate: Mandate, above: Spending | None, prefix: str, since: str) -> Spending:
        """The budget of a plan, as its run will begin, or goes on."""
        return Spending(
            mandate.intent,
            mandate.plan,
            self._clock,
            started_at=since or self._clock.now(),
            used=self._earlier.used_below(prefix),
            above=above,
            calls=mandate.portion.calls if mandate.portion else 0,
        )

    def _least(self, node: PlanNode, context: Context) -> int:
        manifest = context.find(node.tool_call.tool_ref) if node.tool_call else None
        return 0 if manifest is None or self.done(node.id) else manifest.least_ms


class _Ahead:
    """A clock that goes so many milliseconds ahead of another."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.ms = 0

    def now(self) -> str:
        """The moment that is looked at, ISO 8601 UTC."""
        now = self._clock.now()
        return instant(datetime.fromisoformat(now) + timedelta(milliseconds=self.ms)) if self.ms else now

    def new_id(self) -> str:
        """An id, of the moment that it is."""
        return self._clock.new_id()


def _branches(root: PlanNode, branch: Branch) -> Mapping[str, Branch]:
    found, waiting = {}, [(root, branch)]
    while waiting:
        node, branch = waiting.pop()
        found[node.id] = branch
        for place, child in enumerate(node.children):
            at_once = ((node.id, place),) if node.kind == "parallel" else ()
            waiting.append((child, (*branch, *at_once)))
    return found


def _reach(node: PlanNode, at: int, least: Mapping[str, int], ends: dict[str, int]) -> int:
    """When a node and all below it are done at the earliest; of the leaves it is entered in ``ends``."""
    if not node.children:
        ends[node.id] = at + least[node.id]
        return ends[node.id]
    end = at
    for child in node.children:
        done = _reach(child, at if node.kind == "parallel" else end, least, ends)
        end = max(end, done)
    return end


def _files(call: Call, context: Context, manifest: Manifest) -> frozenset[str]:
    try:
        return files_of(call, context, manifest)
    except ScopeError:
        return frozenset()


def _unreachable(why: str) -> Deny:
    return Deny(
        "CRITERION_UNREACHABLE",
        f"the success criterion can never be met: {why}",
        "name a file that the plan writes, or plan what makes it",
        guard="criteria",
    )
