"""Key files: small JSON documents, mode 0600, replaced as a whole, their secret optionally sealed."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from nacl import pwhash, secret, utils
from nacl.exceptions import CryptoError
from nacl.signing import SigningKey

from executor.core.errors import KeyringError
from executor.core.files import locked, whole_file
from executor.store.database import explain_os
from ir import did_of, key_of

_CLEAR: Final = "none"
_SEALED: Final = "argon2id+secretbox"


@dataclass(frozen=True)
class KeyFile:
    """An own key as it lies on disk. sealing: scheme and values; retired: earlier keys (did, added_at)."""

    role: str
    did: str
    created_at: str
    sealing: dict[str, Any]
    retired: tuple[dict[str, str], ...]
    path: Path

    @property
    def sealed(self) -> bool:
        """Whether a passphrase is needed for signing."""
        return bool(self.sealing["scheme"] != _CLEAR)

    def to_json(self) -> dict[str, object]:
        """The document that `read` takes."""
        return {
            "v": 1,
            "role": self.role,
            "did": self.did,
            "created_at": self.created_at,
            "secret": self.sealing,
            "retired": list(self.retired),
        }

    @classmethod
    def read(cls, path: Path, role: str) -> KeyFile:
        """Read a key file. Raises KeyringError KEY_MISSING, KEY_FILE_EXPOSED, KEY_FILE_CORRUPT."""
        document = read_document(path)
        try:
            retired = tuple({"did": old["did"], "added_at": old["added_at"]} for old in document["retired"])
            for did in (document["did"], *(old["did"] for old in retired)):
                key_of(did)
            if document["role"] != role or document["secret"]["scheme"] not in (_CLEAR, _SEALED):
                raise ValueError(f"it is not a key of the {role}")
            return cls(role, document["did"], document["created_at"], document["secret"], retired, path)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise _corrupt(path, error) from error

    def unseal(self, passphrase: bytes | None) -> bytes:
        """The 32-byte seed. Raises KeyringError KEY_SEALED, KEY_PASSPHRASE_WRONG, KEY_FILE_CORRUPT."""
        try:
            seed = self._open_box(passphrase) if self.sealed else bytes.fromhex(self.sealing["seed"])
            if did_of(bytes(SigningKey(seed).verify_key)) != self.did:
                raise ValueError("the secret does not belong to the did")
        except (KeyError, TypeError, ValueError) as error:
            raise _corrupt(self.path, error) from error
        return seed

    def _open_box(self, passphrase: bytes | None) -> bytes:
        if passphrase is None:
            raise KeyringError(
                "KEY_SEALED",
                f"the key of the {self.role} is sealed with a passphrase",
                place=str(self.path),
                fix="give the passphrase (MCL_PASSPHRASE)",
            )
        salt, box = bytes.fromhex(self.sealing["salt"]), bytes.fromhex(self.sealing["box"])
        try:
            return secret.SecretBox(
                _stretch(passphrase, salt, self.sealing["ops"], self.sealing["mem"])
            ).decrypt(box)
        except CryptoError as error:
            raise KeyringError(
                "KEY_PASSPHRASE_WRONG",
                f"the passphrase does not open the key of the {self.role}",
                place=str(self.path),
                fix="try again; without the passphrase the key is lost: mcl key new",
            ) from error


def seal_secret(seed: bytes, passphrase: bytes | None) -> dict[str, object]:
    """How the seed is written: in clear (hex), or in a SecretBox under argon2id of the passphrase."""
    if passphrase is None:
        return {"scheme": _CLEAR, "seed": seed.hex()}
    salt = utils.random(pwhash.argon2id.SALTBYTES)
    ops, mem = pwhash.argon2id.OPSLIMIT_MODERATE, pwhash.argon2id.MEMLIMIT_MODERATE
    box = bytes(secret.SecretBox(_stretch(passphrase, salt, ops, mem)).encrypt(seed))
    return {"scheme": _SEALED, "salt": salt.hex(), "ops": ops, "mem": mem, "box": box.hex()}


def _stretch(passphrase: bytes, salt: bytes, ops: int, mem: int) -> bytes:
    return pwhash.argon2id.kdf(secret.SecretBox.KEY_SIZE, passphrase, salt, opslimit=ops, memlimit=mem)


def read_document(path: Path) -> dict[str, Any]:
    """The JSON object in `path`. Raises KeyringError KEY_MISSING, KEY_FILE_EXPOSED, KEY_FILE_CORRUPT."""
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            document = json.load(file)
    except FileNotFoundError as error:
        raise KeyringError(
            "KEY_MISSING",
            "a key file of this home is gone",
            place=str(path),
            fix="restore the keys folder from a backup; the journal cannot be continued without its keys",
        ) from error
    except OSError as error:
        raise explain_os(error, path) from error
    except ValueError as error:
        raise _corrupt(path, error) from error
    if mode & 0o077:
        raise KeyringError(
            "KEY_FILE_EXPOSED",
            f"others may read or write this key file (mode {mode & 0o777:o})",
            place=str(path),
            fix=f"chmod 600 {path}",
        )
    if not isinstance(document, dict):
        raise _corrupt(path, ValueError("not a JSON object"))
    return document


def write_document(path: Path, document: dict[str, Any]) -> None:
    """Replace `path` as a whole: what stood there stays until the new bytes are on disk. Raises HomeError."""
    try:
        with whole_file(path, spare=f".{path.name}.new") as file:  # whoever writes one holds the folder
            file.write(json.dumps(document, indent=1).encode())
    except OSError as error:
        raise explain_os(error, path) from error


@contextmanager
def exclusive(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder between processes; a process that dies lets go of it. Raises HomeError."""
    try:
        with locked(folder / ".lock"):
            yield
    except OSError as error:
        raise explain_os(error, folder) from error


def _corrupt(path: Path, error: Exception) -> KeyringError:
    return KeyringError(
        "KEY_FILE_CORRUPT",
        f"this key file is damaged: {type(error).__name__}: {error}",
        place=str(path),
        fix="restore the keys folder from a backup",
    )


# ---- A secret of the home with which marks are made: what is known by a mark cannot be guessed from it.

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
        raise _corrupt_of_marking(place) from error
    if len(found) != _BYTES:
        raise _corrupt_of_marking(place)
    return found


def make_marking_secret(folder: Path) -> None:
    """Make the secret where there is none; for whoever holds the folder (`exclusive`). Raises HomeError."""
    place = folder / _FILE
    if not place.exists():
        write_document(place, {"v": 1, "secret": secrets.token_hex(_BYTES)})


def _corrupt_of_marking(place: Path) -> KeyringError:
    return KeyringError(
        "KEY_FILE_CORRUPT",
        "this key file is damaged",
        place=str(place),
        fix="restore it from a backup, or remove it: findings that were dismissed then stand open again",
    )
