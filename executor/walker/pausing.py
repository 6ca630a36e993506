"""How a walk ends when a correction takes the ground from under it: between nodes, none of them cut off."""

from __future__ import annotations

import anyio


class Superseded(Exception):  # noqa: N818  # a signal within the walker: nothing went wrong
    """What was accepted when this walk began, or this step of it, does not count any more."""


class Pause:
    """Where all branches of a walk wait for those terminals that are still at work.

    over: nothing of this walk happens any more, and nothing more of it is told.
    """

    def __init__(self) -> None:
        self.over = False
        self._busy: set[str] = set()
        self._changed = anyio.Event()

    def begin(self, node_id: str) -> None:
        """A terminal is at work."""
        self._busy.add(node_id)

    def end(self, node_id: str) -> None:
        """It is not any more, and that is written down."""
        self._busy.discard(node_id)
        self._changed.set()

    async def quiet(self) -> None:
        """Wait until no terminal is at work."""
        while self._busy:
            self._changed = anyio.Event()
            await self._changed.wait()
