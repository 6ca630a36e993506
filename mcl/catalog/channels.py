"""Open channels: the adapter of a tool finds that of its call by intent and node (``Bench``)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final, Protocol

# ---- What a call says while it runs: its progress and its log, to whoever asked for it, and to nobody
# else.


class Channel(Protocol):
    """Where one call's progress and log go. What comes is bounded, and none of it is to be believed.

    Both may wait; what comes meanwhile is kept in its order, and dropped where it becomes too much.
    """

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """So much is done, of so much where that is known."""

    async def log(self, level: str, data: object, logger: str | None) -> None:
        """One line of the log. level: debug, info, notice, warning, error, critical, alert or emergency;
        data: any JSON value."""


class _Silent:
    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Nobody wants to know."""

    async def log(self, level: str, data: object, logger: str | None) -> None:
        """Nobody wants to know."""


SILENT: Final[Channel] = _Silent()


class Channels:
    """Where the calls that are under way say what they do."""

    def __init__(self) -> None:
        self._calls = 0
        self._open: dict[tuple[str, str], Channel] = {}
        self._errors: dict[tuple[str, str], Mapping[str, object]] = {}

    def number(self) -> str:
        """A name for a call that no intent stands behind: no other call here has it."""
        self._calls += 1
        return f"mcp-{self._calls}"

    @contextmanager
    def open(self, intent: str, node: str, channel: Channel) -> Iterator[None]:
        """While this lasts, the call of this intent's node speaks here. node: "" for all nodes of it."""
        self._open[intent, node] = channel
        try:
            yield
        finally:
            self._open.pop((intent, node), None)
            self._errors.pop((intent, node), None)

    def failed(self, intent: str, node: str, answer: Mapping[str, object]) -> None:
        """Leave what a tool says went wrong, whole, for whoever listens to just this call."""
        if (intent, node) in self._open:
            self._errors[intent, node] = answer

    def error(self, intent: str, node: str) -> Mapping[str, object] | None:
        """What the tool of a call said went wrong; None where it did not."""
        return self._errors.get((intent, node))

    def of(self, intent: str, node: str) -> Channel:
        """The channel of a call; a silent one where nobody listens."""
        return self._open.get((intent, node)) or self._open.get((intent, ""), SILENT)
