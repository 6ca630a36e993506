"""Trees and templates kept by the digest of their source, so that a second run reads no grammar."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Read = TypeVar("Read")
MAX_ENTRY = 32 * 1024 * 1024  # bytes; what is longer is made anew each time
BAD_VALUE = (LookupError, TypeError, ValueError, AttributeError, RecursionError)


class Cache:
    """A folder of entries named by what they were made from; without a folder nothing is kept.

    An entry is three lines: the sha256 of the rest, and two JSON values, of which the second is only read
    when it is asked for. Nothing but plain values is kept. An entry that is damaged, of another form, or that
    others than this user could have written, is not used, and written again. A folder that cannot be
    written costs time only.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def get(
        self, kind: str, version: str, source: bytes, make: Callable[[], Any], read: Callable[[Any], Read]
    ) -> Read:
        """What `read` makes of the JSON value that `make` gives for these bytes.

        `version` names the form of the value. A kept value of another form, which `read` refuses with a
        LookupError, TypeError, ValueError or AttributeError, is made again.
        """
        return self.get_parts(kind, version, source, lambda: (None, make()), lambda _, body: read(body()))

    def get_parts(
        self,
        kind: str,
        version: str,
        source: bytes,
        make: Callable[[], tuple[Any, Any]],
        read: Callable[[Any, Callable[[], Any]], Read],
    ) -> Read:
        """As `get`, of two values: a short one, and one that is decoded when `read` calls its second argument
        (or keeps it to be called later).

        That call raises one of the errors above for text that is no JSON; `forget` then drops the entry.
        """
        if self.folder is None:
            head, body = make()
            return read(head, lambda: body)
        path = self._path(kind, version, source)
        try:
            lines = read_own(path).split(b"\n")
            if (
                len(lines) != 3
                or hashlib.sha256(lines[1] + b"\n" + lines[2]).hexdigest().encode() != lines[0]
            ):
                raise ValueError("damaged")
            return read(json.loads(lines[1]), lambda: json.loads(lines[2]))
        except (OSError, *BAD_VALUE):
            head, body = make()
        values = b"\n".join(json.dumps(value, separators=(",", ":")).encode() for value in (head, body))
        if len(values) < MAX_ENTRY:
            with contextlib.suppress(OSError):
                write_own(Path(path), hashlib.sha256(values).hexdigest().encode() + b"\n" + values)
        return read(head, lambda: body)

    def has(self, kind: str, version: str, source: bytes) -> bool:
        """Whether there is an entry for these bytes, good or not."""
        return self.folder is not None and os.path.isfile(self._path(kind, version, source))  # noqa: PTH113  (four times as quick, at every start)

    def forget(self, kind: str, version: str, source: bytes) -> None:
        """Drop an entry that says something else than its source."""
        if self.folder is not None:
            with contextlib.suppress(OSError):
                Path(self._path(kind, version, source)).unlink()

    def _path(self, kind: str, version: str, source: bytes) -> str:
        key = hashlib.sha256(f"{kind}\0{version}\0".encode() + source).hexdigest()
        return f"{self.folder}/{key}.json"


def write_own(path: Path, data: bytes) -> None:
    """Write a whole file that only this user can write: another process may be reading, or writing the same.

    Raises OSError.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = Path(f"{path}.{os.getpid()}")
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def read_own(path: str) -> bytes:
    """The bytes of a plain file that only this user can write. Raises OSError, ValueError."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        found = os.fstat(handle)
        mine = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)
        if not (stat.S_ISREG(found.st_mode) and mine and found.st_size < MAX_ENTRY):
            raise ValueError("not an entry of this user's")
        return os.read(handle, found.st_size)
    finally:
        os.close(handle)
