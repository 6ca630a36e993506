"""What goes between a hook's process and the resident one: byte strings, counted, with a bound.

A hook imports this file at each call: nothing that takes time to load is imported here.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False  # importing `typing` would take as long as the rest of this file
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

VERSION = b"mcl-hook-1"
MOST = (16 << 20) + (1 << 16)  # bytes of one message: an event, and the little beside it
FOLDER = "hook"  # in the home
SOCKET = "socket"
LOCK = "lock"
FIELDS = 7  # of a request: version, code, verb, host, agent, surroundings, event


def packed(parts: Sequence[bytes]) -> bytes:
    """Byte strings as one message."""
    body = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return len(body).to_bytes(4, "big") + body


def received(read: Callable[[int], bytes]) -> list[bytes]:
    """The byte strings of one message. read: gives at most so many bytes, none at the end.

    Raises ValueError where it is none, or too large.
    """
    size = int.from_bytes(_exactly(read, 4), "big")
    if size > MOST:
        raise ValueError("too large")
    body = _exactly(read, size)
    parts: list[bytes] = []
    at = 0
    while at < size:
        end = at + 4 + int.from_bytes(body[at : at + 4], "big")
        if end > size or len(parts) >= 64:
            raise ValueError("no message")
        parts.append(body[at + 4 : end])
        at = end
    return parts


def _exactly(read: Callable[[int], bytes], size: int) -> bytes:
    pieces: list[bytes] = []
    while size:
        piece = read(min(size, 1 << 20))
        if not piece:
            raise ValueError("it ends in the middle")
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


def code_place() -> bytes:
    """The folder that the code of this process lies in: two installations do not answer for each other."""
    place = os.path.abspath(__file__)  # noqa: PTH100
    for _ in range(5):
        place = os.path.dirname(place)  # noqa: PTH120
    return os.fsencode(place)
