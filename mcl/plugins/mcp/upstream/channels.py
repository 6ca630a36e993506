"""Where a call's progress and log go: the adapter of a tool finds the channel of its call by intent and node
(``Bench``), and what a server says meanwhile reaches it bounded and in order."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import anyio

from executor.core.hashing import json_size
from executor.sandbox.redaction import Redactor
from mcl.serve.exchange import Channel

# ---- What a call says while it runs: its progress and its log, to whoever asked for it, and to nobody
# else.


class _Silent:
    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Nobody wants to know."""

    async def log(self, level: str, data: object, logger: str | None) -> None:
        """Nobody wants to know."""


SILENT: Final[Channel] = _Silent()


class Overheard:
    """A channel whose words are heard beside it, too: a line each, as the output of the node that calls.

    hear: is given them in UTF-8; what it makes of secrets and of too much is its own.
    """

    def __init__(self, channel: Channel, hear: Callable[[bytes], None]) -> None:
        self._channel, self._hear = channel, hear

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """How far it is says nothing of itself."""
        if message:
            self._say(message)
        await self._channel.progress(progress, total, message)

    async def log(self, level: str, data: object, logger: str | None) -> None:
        """A line of the log, behind its level."""
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
        self._say(f"{level}: {text}")
        await self._channel.log(level, data, logger)

    def _say(self, text: str) -> None:
        self._hear(f"{text}\n".encode("utf-8", "backslashreplace"))


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


# ---- What a server says while a call runs, handed to its channel: in order, bounded, never after the
# answer.

_MOST_WAITING: Final = 64  # messages of one call that its channel was not yet quick enough for
_MOST_TEXT: Final = 4096  # characters of a message
_MOST_DATA: Final = 16 << 10  # bytes of what a line of the log carries
_DRAIN_S: Final = 1.0  # seconds that an answer waits for what was said before it
LEVELS: Final = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")


class Relay:
    """The way from a server to one call's channel."""

    def __init__(self, channel: Channel, redactor: Redactor) -> None:
        self._channel, self._redactor = channel, redactor
        self._lock = anyio.Lock()  # fair: who came first is first
        self._waiting, self._closed = 0, False
        self._idle = anyio.Event()
        self.dropped = 0

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """Pass on how far the call is."""
        said = None if message is None else self._text(message)
        await self._pass(lambda: self._channel.progress(progress, total, said))

    async def log(self, level: str, data: object, logger: str | None) -> None:
        """Pass on a line of the log."""
        size = json_size(data)
        if size is None or size > _MOST_DATA:
            data = f"[left out: {size or 'more than a log has'} bytes]"
        said, by = self._redactor.value(data), None if logger is None else self._text(logger)
        await self._pass(lambda: self._channel.log(level if level in LEVELS else "info", said, by))

    async def close(self) -> None:
        """The answer is there: what was said before it is passed on, what comes now is not."""
        if self._waiting:
            with anyio.move_on_after(_DRAIN_S):
                await self._idle.wait()
        self._closed = True

    def shut(self) -> None:
        """The call is over, however: nothing more is passed on."""
        self._closed = True

    async def _pass(self, say: Callable[[], Awaitable[None]]) -> None:
        if self._closed or self._waiting >= _MOST_WAITING:
            self.dropped += 1
            return
        self._waiting += 1
        try:
            async with self._lock:
                if not self._closed:
                    await say()
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._idle.set()
                self._idle = anyio.Event()

    def _text(self, text: str) -> str:
        return self._redactor.text(text[:_MOST_TEXT])
