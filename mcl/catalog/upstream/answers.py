"""What a tool answered: its shape was checked by the SDK, its structured part is held to its schema here."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias, TypedDict

import anyio

from executor.core.hashing import json_size
from executor.sandbox.redaction import Redactor, visible
from executor.tools.schemas import ForeignChecker
from mcl.catalog.channels import Channel
from mcl.catalog.upstream.faults import Fault, FaultError, asks, lied

Json: TypeAlias = dict[str, Any]


class Result(TypedDict):
    """What a tool answered: blocks of content, the structured answer or None; is_error: it says it failed.

    A structured answer that is no object (the newer protocol allows it) is {"result": it}.
    """

    content: list[Json]
    structured: Json | None
    is_error: bool


def as_result(answer: Json) -> Result:
    """The answer to a call, in our form."""
    structured = answer.get("structuredContent")
    if structured is not None and not isinstance(structured, dict):
        structured = {"result": structured}
    content = answer.get("content")
    return {
        "content": list(content) if isinstance(content, list) else [],
        "structured": structured,
        "is_error": answer.get("isError") is True,
    }


def check_structured(answer: Json, tool: str, promised: ForeignChecker | None) -> None:
    """Hold the structured part of an answer to what the tool promised.

    Args:
        promised: of its output schema, None where it has none.

    Raises:
        FaultError: SERVER_LIED.
    """
    if promised is None or answer.get("isError") is True:
        return
    if "structuredContent" not in answer:
        raise FaultError(lied(f"promised a structured answer of {tool}, and gave none"))
    if (flaw := next(promised.iter_errors(answer["structuredContent"]), None)) is not None:
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in flaw.absolute_path)
        said = visible(f"${place[:80]} {flaw.message}")
        raise FaultError(lied(f"answered {tool} otherwise than its output schema says: {said}"))


def check_whole(answer: Json, what: str) -> None:
    """See that an answer is one, and says so in one way only.

    Raises:
        FaultError: SERVER_LIED.
    """
    if (kind := answer.get("resultType", "complete")) != "complete":
        raise FaultError(lied(f"answered {what} with a result of the kind {ascii(kind)[:80]}"))
    if not isinstance(answer.get("isError", False), bool):
        raise FaultError(lied(f"answered {what} in a wrong shape: isError is no boolean"))


def asked(answer: Json) -> Fault | None:
    """What a server wants first, where its answer is not yet one (protocol 2026-07-28)."""
    if answer.get("resultType") != "input_required":
        return None
    requests = answer.get("inputRequests")
    wanted = list(requests.values()) if isinstance(requests, dict) else []
    method = next((one.get("method") for one in wanted if isinstance(one, dict)), "")
    return asks(method if isinstance(method, str) else "")


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
