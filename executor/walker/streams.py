"""What a node says while it runs: pieces of its output, kept as they come (plan.output) and shown.

A node that says nothing, or is done before its first piece is due, leaves no piece: what it gave says all.
"""

from __future__ import annotations

import asyncio
from codecs import getincrementaldecoder
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Lock
from typing import TYPE_CHECKING, Final, Protocol

from executor.sandbox.redaction import Redactor, visible
from executor.walker.interfaces import OutputListener
from ir import Envelope, MclError, PlanOutputBody, PlanStepBody

if TYPE_CHECKING:
    from executor.walker.run import Run

MOST: Final = 1 << 18  # bytes of one node's output, from a start of it to its end, that are kept
MARK: Final = f"\n[cut: the first {MOST:,} bytes of this output are kept]\n"
_DUE_S: Final = 0.3  # seconds from the first word to the first piece, and at least between two
_LATER_S: Final = 0.01  # seconds that each piece puts off the next: of an hour a thousand are kept
_LARGE: Final = 1 << 14  # characters after which a piece does not wait
_LINE: Final = 1 << 15  # characters of a line, or of a private key, that are waited for
_AHEAD: Final = 80  # characters that must follow the words of a line that is not at its end
_KEY: Final = "-----BEGIN "
_KEY_ENDS: Final = "-----END "


class Keep(Protocol):
    """Writes a piece down, and shows it."""

    def __call__(self, sequence: int, text: str, *, final: bool) -> None: ...


class OutputStream:
    """The output of one node, from one of its starts to its end.

    Before the end only whole lines leave it, of a long line whole words, without their secrets. What cannot
    be written down ends it: the node's end, which is written next, is told why.
    """

    def __init__(self, redactor: Callable[[], Redactor], keep: Keep) -> None:
        self._redactor, self._keep = redactor, keep
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._lock = Lock()
        self._waiting = ""
        self._pieces = self._bytes = 0
        self._due = self._over = self._long = False  # long: a piece was due, whether or not it could be told
        self._loop: asyncio.AbstractEventLoop | None = None
        with suppress(RuntimeError):  # on another kind of loop pieces are written at the end alone
            self._loop = asyncio.get_running_loop()

    def take(self, data: bytes) -> None:
        """More of it, from any thread."""
        with self._lock:
            if self._over:
                return
            self._waiting += self._decoder.decode(data)
            due, self._due = self._due, True
        if not due and self._loop is not None:
            with suppress(RuntimeError):  # the loop has ended, and the run with it
                self._loop.call_soon_threadsafe(self._plan)

    def end(self, *, failed: bool) -> None:
        """The node has ended. failed: what it said is kept though no piece was due yet."""
        with self._lock:
            if self._over:
                return
            text, self._waiting = self._waiting + self._decoder.decode(b"", final=True), ""
        if text and (failed or self._long):
            self._write(self._redactor().text(text), final=True)
        self._over = True

    def _plan(self) -> None:
        assert self._loop is not None
        wait = 0.0 if self._pieces and len(self._waiting) >= _LARGE else _DUE_S + _LATER_S * self._pieces
        self._loop.call_later(wait, self._flush)

    def _flush(self) -> None:
        with self._lock:
            self._due, self._long = False, True
            if self._over:
                return
            text = self._settled()
            self._waiting = self._waiting[len(text) :]
        if text:
            self._write(self._redactor().text(text), final=False)

    def _settled(self) -> str:
        """The beginning of what waits that can be told without what follows: whole lines, of a long one whole
        words, and no part of a secret whose other part follows."""
        waiting, redact = self._waiting, self._redactor().text
        cut = lines = waiting.rfind("\n") + 1
        if not lines:
            cut = waiting.rfind(" ", 0, max(0, len(waiting) - _AHEAD)) + 1
        begins = waiting.rfind(_KEY, 0, cut)
        if begins >= 0 and _KEY_ENDS not in waiting[begins:cut]:
            cut = begins
        text, rest = waiting[:cut], waiting[cut:]
        if not lines and redact(text) + redact(rest) != redact(waiting):
            text = ""
        return text or (waiting if len(waiting) > _LINE else "")

    def _write(self, text: str, *, final: bool) -> None:
        data = text.encode("utf-8", "replace")
        if cut := self._bytes + len(data) > MOST:
            text = data[: MOST - self._bytes].decode("utf-8", "ignore") + MARK
        self._bytes += len(data)
        try:
            self._keep(self._pieces, text, final=final or cut)
        except MclError:
            cut = True
        self._pieces += 1
        self._over = self._over or cut


@contextmanager
def streaming(run: Run, node_id: str, channel: str) -> Iterator[OutputStream]:
    """Where a node that has begun says what it says while it runs. channel: what that is."""

    def keep(sequence: int, text: str, *, final: bool) -> None:
        run.ledger.said(node_id, sequence, text, channel=channel, final=final)
        if isinstance(run.listener, OutputListener):
            run.listener.spoke(node_id, visible(text))

    stream, failed = OutputStream(lambda: run.redactor, keep), True
    try:
        yield stream
        failed = False
    finally:
        stream.end(failed=failed)


def said(envelopes: Iterable[Envelope]) -> Mapping[str, str]:
    """What nodes said in the last run of each, as far as it was kept and not forgotten, by their ids."""
    found: dict[str, str] = {}
    for envelope in envelopes:
        body = envelope.body
        if isinstance(body, PlanStepBody) and body.status == "running":
            found.pop(body.node_id, None)
        elif isinstance(body, PlanOutputBody):
            chunk = body.chunk.decode("utf-8", "replace") if isinstance(body.chunk, bytes) else body.chunk
            found[body.node_id] = found.get(body.node_id, "") + chunk
    return found
