"""Trees and templates kept by the digest of their source, so that a second run reads no grammar."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

Read = TypeVar("Read")


class Cache:
    """A folder of JSON files named by what they were made from; without a folder nothing is kept.

    The folder must be the user's own: what it holds is taken as it is (and the digest of a skill is worked
    out from what was read here, so a changed entry shows in every Intent compiled with it). A folder that
    cannot be written, or an entry that cannot be read, costs time only.
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
        if self.folder is None:
            return read(make())
        key = hashlib.sha256(f"{kind}\0{version}\0".encode() + source).hexdigest()
        path = self.folder / f"{key}.json"
        try:
            return read(json.loads(path.read_bytes()))
        except (OSError, LookupError, TypeError, ValueError, AttributeError):
            value = make()
        with contextlib.suppress(OSError):
            self._write(path, json.dumps(value, separators=(",", ":")).encode())
        return read(value)

    def _write(self, path: Path, data: bytes) -> None:
        """Write whole files only: another process may be reading, or writing the same."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = path.with_suffix(f".{os.getpid()}")
        try:
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
