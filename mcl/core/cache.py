"""Files that a home keeps to be quicker: what it did not write there itself is not believed."""

from __future__ import annotations

import hmac
import os
import stat
from functools import cache
from pathlib import Path
from typing import Final

from executor.core.files import whole_file
from executor.store.keys.keyfile import marking_secret
from ir.errors import MclError

MAX_ENTRY: Final = 32 * 1024 * 1024  # bytes; what is longer is made anew each time
_LENGTH: Final = 32  # bytes before the rest


def write_own(path: Path, data: bytes) -> None:
    """Write a whole file that only this user can write, sealed with the secret of its home and bound to its
    name: another process may be reading, or writing the same.

    Raises OSError.
    """
    data = seal(path, data) + data
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with whole_file(path, durable=False) as file:
        file.write(data)


def read_own(path: str) -> bytes:
    """The bytes that `write_own` wrote to this file. Raises OSError, ValueError: also of a file that others
    could have written, or that says something else than this home wrote there.
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
    try:
        found = os.fstat(handle)
        # What others could have written is not even read.
        mine = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)
        if not (stat.S_ISREG(found.st_mode) and mine and found.st_size < MAX_ENTRY):
            raise ValueError("not an entry of this user's")
        data = os.read(handle, found.st_size)
    finally:
        os.close(handle)
    sealed, data = data[:_LENGTH], data[_LENGTH:]
    if not hmac.compare_digest(sealed, seal(Path(path), data)):
        raise ValueError("not what this home wrote there")
    return data


def seal(path: Path, data: bytes | memoryview) -> bytes:
    """What shows that the home of a file wrote these bytes there: 32 bytes.

    Raises OSError where the secret of the home cannot be read.
    """
    try:
        secret = _secret(path.parent)
    except MclError as error:  # it cannot be read, or made
        raise OSError(str(error)) from error
    made = hmac.new(secret, path.name.encode() + b"\0", "sha256")
    made.update(data)
    return made.digest()


@cache
def _secret(folder: Path) -> bytes:
    """The secret of the home whose cache the folder is in; nothing outside of homes."""
    for place in (folder, *folder.parents):
        if place.name == "cache" and (place.parent / "keys").is_dir():
            return marking_secret(place.parent / "keys")
    return b""
