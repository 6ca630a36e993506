"""Open channels: the adapter of a tool finds that of its call by intent and node (``Bench``)."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from mcl.mcp.channel import SILENT, Channel


class Channels:
    """Where the calls that are under way say what they do."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, str], Channel] = {}

    @contextmanager
    def open(self, intent: str, node: str, channel: Channel) -> Iterator[None]:
        """While this lasts, the call of this intent's node speaks here. node: "" for all nodes of it."""
        self._open[intent, node] = channel
        try:
            yield
        finally:
            self._open.pop((intent, node), None)

    def of(self, intent: str, node: str) -> Channel:
        """The channel of a call; a silent one where nobody listens."""
        return self._open.get((intent, node)) or self._open.get((intent, ""), SILENT)
