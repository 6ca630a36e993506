"""Bytes of a pipe into lines, and a line into a JSON-RPC message: nothing is kept beyond a limit."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any, Final

MAX_LINE: Final = 16 << 20  # bytes of one message
MAX_PARTS: Final = 100_000  # objects and lists in it: checking the shape of more blocks everybody for seconds
MAX_ITEMS: Final = 2_000_000  # commas in it
_HEAD: Final = 512  # bytes kept of a line that is too long
_BLANK: Final = b" \t\r"
_MIGHT_OVERFLOW: Final = re.compile(rb"[0-9][eE]\+?[0-9]{3}")
_ID: Final = re.compile(
    rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(?:(\d{1,18})|"([^"\\]{1,80})")\s*,'
)


@dataclass(frozen=True, slots=True)
class Overlong:
    """A line beyond the limit; the rest of it is thrown away as it comes. head: how it began."""

    head: bytes

    @property
    def id(self) -> int | str | None:
        """The id that the message begins with, where it does."""
        found = _ID.match(self.head)
        if found is None:
            return None
        return int(found[1]) if found[1] else found[2].decode("utf-8", "replace")


class Lines:
    """Cuts what comes into lines. Between two calls it holds at most ``limit`` bytes."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._held: list[bytes] = []
        self._size = 0
        self._skipping = False
        self.skipped = 0  # bytes thrown away of the line that is too long, so far

    def feed(self, chunk: bytes) -> list[bytes | Overlong]:
        """The lines that end in this chunk, without their ends, blank ones left out; and lines that become
        too long in it."""
        found: list[bytes | Overlong] = []
        begin = 0
        while True:
            end = chunk.find(b"\n", begin)
            piece = chunk[begin : end if end >= 0 else len(chunk)]
            if self._skipping:
                self.skipped += len(piece)
                self._skipping = end < 0
            elif self._size + len(piece) > self._limit:
                head = b"".join([*self._held, piece[:_HEAD]])[:_HEAD]
                found.append(Overlong(head))
                self._held, self._size = [], 0
                self._skipping, self.skipped = end < 0, len(piece)
            elif end < 0:
                if piece:
                    self._held.append(piece)
                    self._size += len(piece)
            else:
                line = b"".join([*self._held, piece])
                self._held, self._size = [], 0
                if line.strip(_BLANK):
                    found.append(line)
            if end < 0:
                return found
            begin = end + 1


def count_parts(data: bytes) -> tuple[int, int]:
    """How many objects and lists, and how many items, some JSON has at most; brackets in texts count too."""
    return data.count(b"{") + data.count(b"["), data.count(b",")


def parse_message(line: bytes) -> dict[str, Any]:
    """One JSON object in strict UTF-8: no NaN, no infinity, no half characters.

    Raises:
        ValueError: what is wrong with it.
    """
    from pydantic_core import from_json

    value = from_json(line, allow_inf_nan=False)
    if not isinstance(value, dict):
        raise ValueError("a message is one JSON object")
    if _MIGHT_OVERFLOW.search(line) and not _finite(value):
        raise ValueError("a number in it is too large")
    return value


def _finite(value: object) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(_finite(one) for one in value.values())
    return not isinstance(value, list) or all(_finite(one) for one in value)
