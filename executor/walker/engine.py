"""Between an engine, which knows when, and a run, which knows what.

An engine gives nodes their turn. What a node is, whether it may do what it wants, and what is written down
of it, is the run's matter (``Work``), so that another engine, one with a queue of its own in a database say,
walks the same plans under the same gate and into the same journal.

What an engine must guarantee:

- A node has one turn: ``open``, then for a branch its children, for a terminal its attempts, then ``close``.
- sequential: one child after the other; after the first that did not complete, ``drop`` the rest as skipped.
- parallel: children at once, as many as it likes but at least one; at the first that did not complete it
  cancels the others, waits until they have ended, and closes the node with that failure. Children that never
  had their turn are dropped as cancelled.
- A node whose turn is cancelled is told ``abandon``, innermost first, after its work has really ended; what
  was still to come below a sequential node is dropped as skipped.
- ``next_child`` is asked before each child, and each node is opened by the id it gave: what the plan says may
  have been corrected since the last node.
- ``Again`` is answered by another attempt, after at most ``delay_ms``.
- All calls for one run come from one event loop. Any other exception ends the walk: what runs besides is
  cancelled and abandoned, and the exception is passed on; of its own node nothing more is told.

What it need not do: keep anything. After a crash the walk begins at the root again; nodes that completed are
``settled`` at their turn, and those in doubt are looked into by their attempt.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, Protocol

import anyio
from anyio import get_cancelled_exc_class

from ir.results import UNTOLD, WHERE_SAID, JsonResult, called


@dataclass(frozen=True, slots=True)
class Failure(JsonResult):
    """Why a node, or the run, did not complete: stable code, message, way out, and the node.

    denied: refused, by the gate or by a person. example: of what would not have been refused so. passing: it
    may go well another time.
    """

    code: str
    message: str
    fix: str = ""
    node_id: str = field(default="", metadata=called("node"))
    denied: bool = field(default=False, metadata=UNTOLD)
    example: str = field(default="", metadata=WHERE_SAID)
    passing: bool = field(default=False, metadata=UNTOLD)


@dataclass(frozen=True, slots=True)
class Again:
    """An attempt failed as things fail that may pass: make another, after at most ``delay_ms`` milliseconds.

    The delay may be shortened down to its half, so that many that wait do not come back at one moment.
    """

    failure: Failure
    delay_ms: int


@dataclass(frozen=True, slots=True)
class Turn:
    """What a node whose turn has come asks of the engine.

    order: how its children are walked; ``terminal``: attempts; ``settled``: nothing, it has ended, with
    ``failure`` unless it completed.
    """

    order: Literal["sequential", "parallel", "terminal", "settled"]
    failure: Failure | None = None


class Work(Protocol):
    """One run of one plan, as an engine sees it. Nodes are named by their ids."""

    async def open(self, node_id: str) -> Turn:
        """A node's turn has come. Reads the node as it stands now; the start of a branch is written down."""
        ...

    def next_child(self, node_id: str) -> str | None:
        """The next child of an open branch, as the plan stands now, each given once; None after the last."""
        ...

    async def attempt(self, node_id: str) -> Failure | Again | None:
        """Do the work of a terminal once. None: it is done."""
        ...

    async def close(self, node_id: str, failure: Failure | None, *, more: bool = False) -> Failure | None:
        """A node has ended, and this is written down. Gives what became of it, which may be a failure that
        only shows now.

        more: the engine goes on in this run at once, and waits for nothing before it opens, drops or closes
        another node. The end may then be written together with what comes next.
        """
        ...

    def abandon(self, node_id: str) -> None:
        """The turn of a node was cancelled, and nothing of it runs any more."""
        ...

    def drop(self, node_id: str, state: Literal["skipped", "cancelled"]) -> None:
        """The children of a branch that never had their turn, and all below them, get this state."""
        ...


class Engine(Protocol):
    """Walks a plan."""

    async def walk(self, node_id: str, work: Work) -> Failure | None:
        """Walk a node and all below it. None: it completed."""
        ...


# ---- The engine that comes with the package: everything in this process, on this event loop.


MAX_PARALLEL = 32  # children of one parallel node that run at once


class LocalEngine:
    """Walks depth first.

    Args:
        jitter: a number from 0 to 1 by which the second half of a delay between attempts is shortened.
    """

    def __init__(self, *, jitter: Callable[[], float] = random.random) -> None:
        self._jitter = jitter

    async def walk(self, node_id: str, work: Work) -> Failure | None:
        """Walk a node and all below it; see ``Engine``.

        Sequential nodes lie on a stack of their own: sub-dispatches nest deeper than Python calls do.
        """
        branches: list[str] = []  # sequential nodes that are open, outermost first
        node: str | None = node_id
        failure: Failure | None = None
        try:
            while node is not None:
                turn = await work.open(node)
                if turn.order == "sequential":
                    branches.append(node)
                elif turn.order == "settled":
                    failure = turn.failure
                else:
                    do = self._parallel if turn.order == "parallel" else self._attempts
                    failure = await work.close(node, await do(node, work), more=bool(branches))
                node = None
                while branches and node is None:
                    node = work.next_child(branches[-1]) if failure is None else None
                    if node is None:
                        if failure is not None:
                            work.drop(branches[-1], "skipped")
                        failure = await work.close(branches[-1], failure, more=len(branches) > 1)
                        branches.pop()
        except get_cancelled_exc_class():
            if node is not None and node not in branches:
                work.abandon(node)
            for branch in reversed(branches):
                work.drop(branch, "skipped")
                work.abandon(branch)
            raise
        return failure

    async def _parallel(self, node_id: str, work: Work) -> Failure | None:
        first: list[Failure] = []
        try:
            async with anyio.create_task_group() as places:

                async def place(child: str | None) -> None:
                    while child is not None:
                        failure = await self.walk(child, work)
                        if failure is not None:
                            first.append(failure)
                            places.cancel_scope.cancel()
                        child = None if first else work.next_child(node_id)

                for _ in range(MAX_PARALLEL):
                    if (child := work.next_child(node_id)) is None:
                        break
                    places.start_soon(place, child)
        except get_cancelled_exc_class():
            work.drop(node_id, "cancelled")
            raise
        if first:
            work.drop(node_id, "cancelled")
        return first[0] if first else None

    async def _attempts(self, node_id: str, work: Work) -> Failure | None:
        while isinstance(result := await work.attempt(node_id), Again):
            await anyio.sleep(result.delay_ms / 1000 * (1 - self._jitter() / 2))
        return result
