"""A sub_dispatch node: the plan of another skill, walked below this node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executor.engine.protocol import Failure

if TYPE_CHECKING:
    from executor.walker.run import Run
    from executor.walker.tree import Place


async def attempt(place: Place, run: Run) -> Failure | None:
    """Nothing here dispatches yet."""
    return Failure(
        "SUB_DISPATCH_UNAVAILABLE", "this executor runs no sub-dispatch", "", place.id, denied=True
    )
