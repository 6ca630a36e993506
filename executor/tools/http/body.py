"""The body of an answer, unpacked and cut as it comes in: no packed body grows beyond what is asked for."""

from __future__ import annotations

import zlib

from executor.core.errors import ToolError

_GZIP = 31  # zlib's window bits for gzip alone
_SPARE = 1 << 16  # bytes that may come in packed beyond the limit: packing makes small things larger
_ENCODINGS = {"": False, "identity": False, "gzip": True, "x-gzip": True}


class Body:
    """Takes pieces of a body until it is full.

    Args:
        encoding: of the Content-Encoding header. limit: bytes kept, unpacked.

    Raises:
        ToolError: BAD_RESPONSE, packed in a way that was not asked for.
    """

    def __init__(self, encoding: str, limit: int) -> None:
        name = encoding.strip().lower()
        if name not in _ENCODINGS:
            raise _bad(f"is packed as {name[:40]!r}, which was not asked for")
        self._packed = _ENCODINGS[name]
        self._part: zlib._Decompress | None = None  # gzip bodies are parts, one behind the other; mostly one
        self._padding = False
        self._whole = 0  # parts read to their end
        self._begun = 0  # bytes kept when the present part began
        self._kept = bytearray()
        self._limit = limit
        self._came = 0

    @property
    def full(self) -> bool:
        """Is there more than is kept?"""
        return len(self._kept) > self._limit or self._came > self._limit + _SPARE

    def take(self, piece: bytes) -> None:
        """Take the next piece as it came. Raises ToolError BAD_RESPONSE."""
        self._came += len(piece)
        if not self._packed:
            self._kept += piece[: self._room]
            return
        while piece and not self.full and not self._padding:
            if self._part is None:
                self._part, self._begun = zlib.decompressobj(_GZIP), len(self._kept)
            try:
                self._kept += self._part.decompress(piece, self._room)
            except zlib.error as problem:
                if self._whole and len(self._kept) == self._begun:  # padding behind the last part
                    self._part, self._padding = None, True
                    return
                raise _bad(f"cannot be unpacked ({problem})") from problem
            piece = self._part.unconsumed_tail
            if self._part.eof:
                piece, self._part, self._whole = self._part.unused_data, None, self._whole + 1

    def end(self) -> tuple[bytes, bool]:
        """The bytes kept, and whether the body was longer or broke off."""
        return bytes(self._kept[: self._limit]), self.full or self._part is not None

    @property
    def _room(self) -> int:
        return self._limit + 1 - len(self._kept)


def _bad(why: str) -> ToolError:
    return ToolError("BAD_RESPONSE", f"the answer {why}", fix="try another page of the host")
