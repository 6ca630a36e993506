"""Trees and templates kept by the digest of their source, so that a second run reads no grammar."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from mcl.core.kept import MAX_ENTRY, read_own, write_own

Read = TypeVar("Read")
BAD_VALUE = (LookupError, TypeError, ValueError, AttributeError, RecursionError)


class Cache:
    """A folder of entries named by what they were made from; without a folder nothing is kept.

    An entry is two lines of JSON, of which the second is only read when it is asked for. Nothing but plain
    values is kept. An entry that is damaged, of another form, or that the home did not write for just these
    bytes (``read_own``) is not used, and written again. A folder that cannot be written costs time only.
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
            head_line, body_line = read_own(path).split(b"\n")
            return read(json.loads(head_line), lambda: json.loads(body_line))
        except (OSError, *BAD_VALUE):
            head, body = make()
        values = b"\n".join(json.dumps(value, separators=(",", ":")).encode() for value in (head, body))
        if len(values) < MAX_ENTRY:
            with contextlib.suppress(OSError):
                write_own(Path(path), values)
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
