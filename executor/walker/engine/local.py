"""The engine that comes with the package: everything in this process, on this event loop."""

from __future__ import annotations

import random
from collections.abc import Callable

import anyio
from anyio import get_cancelled_exc_class

from executor.walker.engine.protocol import Again, Failure, Work

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
