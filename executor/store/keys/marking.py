"""A secret of the home with which marks are made: what is known by a mark cannot be guessed from it.

keys/marking.json   32 random bytes, mode 0600; made with the home, in one of before when first asked for. It
                    signs nothing.
"""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Final

from executor.core.errors import KeyringError
from executor.store.keys.keyfile import exclusive, read_document, write_document

_FILE: Final = "marking.json"
_BYTES: Final = 32


def marking_secret(folder: Path) -> bytes:
    """The secret in a home's folder of keys; several processes that ask first get the same.

    Raises KeyringError KEY_FILE_EXPOSED, KEY_FILE_CORRUPT; HomeError.
    """
    place = folder / _FILE
    if not place.exists():
        with exclusive(folder):
            make_marking_secret(folder)
    try:
        found = bytes.fromhex(read_document(place)["secret"])
    except (KeyError, TypeError, ValueError) as error:
        raise _corrupt(place) from error
    if len(found) != _BYTES:
        raise _corrupt(place)
    return found


def make_marking_secret(folder: Path) -> None:
    """Make the secret where there is none; for whoever holds the folder (`exclusive`). Raises HomeError."""
    place = folder / _FILE
    if not place.exists():
        write_document(place, {"v": 1, "secret": secrets.token_hex(_BYTES)})


def _corrupt(place: Path) -> KeyringError:
    return KeyringError(
        "KEY_FILE_CORRUPT",
        "this key file is damaged",
        place=str(place),
        fix="restore it from a backup, or remove it: findings that were dismissed then stand open again",
    )
