"""The keys of a home: one for the user, one for the agent, and the keys of others that the user trusts.

keys/user.json, keys/agent.json   our own, mode 0600; the secret in clear, or sealed with a passphrase
keys/trusted.json                 others' keys and revocations, signed by the user's key

The own key files are the root of trust: whoever can write them is the user. Retired keys stay listed in
them, so that what they signed can still be checked.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from executor.core.clock import Clock
from executor.core.errors import KeyringError
from executor.store.database import explain_os
from executor.store.keys.keyfile import (
    KeyFile,
    exclusive,
    make_marking_secret,
    read_document,
    seal_secret,
    write_document,
)
from ir import PublicKey, Role, did_of, key_of

ROLES: Final[tuple[Role, ...]] = ("user", "agent")
Stamp: TypeAlias = tuple[int, int, int] | None
_TRUSTED: Final = "trusted.json"
_TRUST_CONTEXT: Final = b"mcl/0.1 trusted keys\x00"


@dataclass(frozen=True)
class KeyPair:
    """One of our own keys. The secret is unsealed when it is first asked for, not before."""

    did: str
    role: Role
    _secret: Callable[[], bytes] = field(repr=False)

    @property
    def verify_key(self) -> bytes:
        """The 32-byte public key."""
        return key_of(self.did)

    @cached_property
    def signing_key(self) -> SigningKey:
        """The private key. Raises KeyringError KEY_SEALED, KEY_PASSPHRASE_WRONG."""
        return SigningKey(self._secret())


@dataclass(frozen=True)
class KeyEntry:
    """A key as `mcl key list` shows it; empty texts where there is nothing."""

    did: str
    role: Role
    origin: Literal["own", "retired", "trusted"]
    label: str = ""
    added_at: str = ""
    revoked_at: str = ""
    sealed: bool = False

    def revoked_by(self, at: str) -> bool:
        """Whether it was revoked before that moment; what it signed until then stays good.

        Of the same millisecond only what came before the revocation was stored: nothing is, after it.
        """
        return bool(self.revoked_at) and datetime.fromisoformat(at) > datetime.fromisoformat(self.revoked_at)


class Keyring:
    """The keys in a folder. Changes made by another process are seen at the next question."""

    def __init__(self, folder: Path, clock: Clock, passphrase: bytes | None) -> None:
        self._folder = folder
        self._prefix = f"{folder}{os.sep}"
        self._clock = clock
        self._passphrase = passphrase
        self._pairs: dict[Role, KeyPair] = {}
        self._entries: dict[str, KeyEntry] = {}
        self._in_files: dict[str, KeyEntry] = {}
        self._public: dict[str, PublicKey] = {}
        self._seen: tuple[Stamp, ...] = ()
        self._merged: Callable[[dict[str, KeyEntry]], dict[str, KeyEntry]] = dict
        self._tell: Callable[[str, dict[str, str]], object] = lambda kind, body: None
        self._lent: dict[str, bytes] = {}

    def follow(
        self,
        merged: Callable[[dict[str, KeyEntry]], dict[str, KeyEntry]],
        tell: Callable[[str, dict[str, str]], object],
    ) -> None:
        """From now on what a journal says of keys counts too, and what is changed here is told there first.

        merged: gives what the files say together with what the rows say.
        """
        self._merged, self._tell = merged, tell
        self._seen = ((0, 0, 0),) * (len(ROLES) + 1)  # no file is like that: all is read again

    @classmethod
    def open(cls, folder: Path, *, clock: Clock, passphrase: bytes | None = None) -> Keyring:
        """Read the keys of `folder`. passphrase: for sealed keys, used only when something is signed.

        Raises KeyringError KEY_MISSING, KEY_FILE_CORRUPT, KEY_FILE_EXPOSED, TRUST_FORGED.
        """
        keyring = cls(folder, clock, passphrase)
        keyring._refresh()
        return keyring

    @classmethod
    def complete(cls, folder: Path) -> bool:
        """Whether both own keys are there."""
        return all((folder / f"{role}.json").exists() for role in ROLES)

    @classmethod
    def create(cls, folder: Path, *, clock: Clock, passphrase: bytes | None = None) -> Keyring:
        """Make the own keys that are missing, then open. Another process doing the same gets the same keys.

        Raises HomeError (read-only, full disk) and what `open` raises; never leaves half a key.
        """
        with exclusive(folder):
            for role in ROLES:
                path = folder / f"{role}.json"
                if not path.exists():
                    write_document(path, _fresh(role, clock.now(), passphrase, ()).to_json())
            make_marking_secret(folder)
        return cls.open(folder, clock=clock, passphrase=passphrase)

    @property
    def user(self) -> KeyPair:
        return self._current("user")

    @property
    def agent(self) -> KeyPair:
        """The key of the program that acts for the person."""
        return self._current("agent")

    def lend(self, seed: bytes) -> None:
        """Let a sealed own key sign with this secret, which was opened elsewhere, while this is open.

        Raises KeyringError KEY_UNKNOWN where it is of no own key.
        """
        did = did_of(bytes(SigningKey(seed).verify_key))
        if not any(self._current(role).did == did for role in ROLES):
            raise _refusal("KEY_UNKNOWN", did, "is no own key", "mcl key list shows them")
        self._lent[did] = seed

    @property
    def opens(self) -> bool:
        """Whether each sealed own key was lent."""
        return all(one.did in self._lent for one in self.entries() if one.origin == "own" and one.sealed)

    @property
    def first(self) -> str:
        """The did of the first user key that this home had: it names the home."""
        own = self._current("user").did
        retired = (one for one in self._entries.values() if one.origin == "retired" and one.role == "user")
        return next((one.did for one in retired), own)

    def resolver(self, did: str) -> PublicKey | None:
        """The public key of a DID with its role, or None for a stranger (`ir.open_envelope` asks this)."""
        if did not in self._public or self._stamp_of("trusted") != self._seen[-1]:
            self._refresh()
        return self._public.get(did)

    def past_resolver(self, did: str) -> PublicKey | None:
        """The same without regard to a revocation: for what was stored before; see `revoked_by`."""
        key = self.resolver(did)
        return replace(key, revoked=False) if key and key.revoked else key

    def revoked_by(self, did: str, at: str) -> bool:
        """Whether the key of a DID was revoked before that moment."""
        entry = self._entries.get(did)
        return entry is not None and entry.revoked_by(at)

    def is_revoked(self, did: str) -> bool:
        """Whether the key of a DID was revoked at all."""
        return bool((entry := self._entries.get(did)) and entry.revoked_at)

    def entries(self) -> tuple[KeyEntry, ...]:
        """All keys: own, retired, trusted, revoked."""
        self._refresh()
        return tuple(self._entries.values())

    def in_files(self) -> tuple[KeyEntry, ...]:
        """The same as the files alone have them, whatever the journal says."""
        self._refresh()
        return tuple(self._in_files.values())

    def export(self, did: str) -> dict[str, str]:
        """The public half for others to trust. Raises KeyringError KEY_UNKNOWN."""
        entry = self._known(did)
        return {"did": entry.did, "role": entry.role, "label": entry.label}

    def new(self, role: Role) -> KeyPair:
        """Replace the own key of a role; the old one is retired and still checks what it signed.

        Raises KeyringError KEY_SEALED, KEY_PASSPHRASE_WRONG; HomeError where the folder cannot be written.
        """
        with self._changing():
            old = self._read(role)
            if old.sealed:
                self._pairs[role].signing_key  # noqa: B018  # a sealed key is replaced only by who can open it
            retired = (*old.retired, {"did": old.did, "added_at": old.created_at})
            fresh = _fresh(role, self._clock.now(), self._passphrase, retired)
            self._tell("record.key.replaced", {"role": role, "old": old.did, "new": fresh.did})
            write_document(self._folder / f"{role}.json", fresh.to_json())
        return self._current(role)

    def seal(self, role: Role, passphrase: bytes) -> KeyPair:
        """Seal the own key of a role with a passphrase; it stays the same key, and a sealed one is opened
        first. What was read of it before is not unread: `new` replaces it.

        Raises KeyringError KEY_SEALED, KEY_PASSPHRASE_WRONG; HomeError.
        """
        with self._changing():
            old = self._read(role)
            seed = bytes(self._pairs[role].signing_key)
            sealed = replace(old, sealing=seal_secret(seed, passphrase))
            write_document(self._folder / f"{role}.json", sealed.to_json())
            self._passphrase = passphrase
        return self._current(role)

    def trust(self, did: str, role: Role, *, label: str = "") -> KeyEntry:
        """Accept what `did` signs in `role`. Signed by the user's key.

        Raises ir.KeyTextError for a DID that is none; KeyringError KEY_ROLE_TAKEN, KEY_REVOKED, KEY_OWN.
        """
        key_of(did)
        with self._changing():
            known = self._entries.get(did)
            if known and known.role != role:
                raise _refusal(
                    "KEY_ROLE_TAKEN", did, f"is already a key of the {known.role}", "use one key for one role"
                )
            if known and known.revoked_at:
                raise _refusal("KEY_REVOKED", did, "was revoked", "ask its owner for the new key")
            if known and known.origin != "trusted":
                raise _refusal(
                    "KEY_OWN", did, "is a key of this home", "nothing to do: it is trusted already"
                )
            added = KeyEntry(did, role, "trusted", label, self._clock.now())
            told = {"did": did, "role": role, "label": label, "added_at": added.added_at}
            self._tell("record.key.trusted", told)
            self._write_trusted(added)
        return self._entries[did]

    def revoke(self, did: str) -> KeyEntry:
        """Refuse whatever `did` signs from now on. Signed by the user's key.

        Raises KeyringError KEY_UNKNOWN, KEY_IN_USE (an own key that was not replaced yet).
        """
        with self._changing():
            entry = self._known(did)
            if entry.origin == "own":
                raise _refusal(
                    "KEY_IN_USE",
                    did,
                    "is in use by this home",
                    f"replace it first: mcl key new --role {entry.role}",
                )
            if not entry.revoked_at:
                revoked = replace(entry, revoked_at=self._clock.now())
                self._tell("record.key.revoked", {"did": did, "revoked_at": revoked.revoked_at})
                self._write_trusted(revoked)
        return self._entries[did]

    # ---- reading and writing the folder ----

    def _current(self, role: Role) -> KeyPair:
        # Asked before each signature that is made: only the file that the pair came from is looked at.
        if not self._seen or self._stamp_of(role) != self._seen[ROLES.index(role)]:
            self._refresh()
        return self._pairs[role]

    def _find(self, did: str) -> KeyEntry | None:
        self._refresh()
        return self._entries.get(did)

    def _known(self, did: str) -> KeyEntry:
        entry = self._find(did)
        if entry is None:
            raise _refusal("KEY_UNKNOWN", did, "is not in the keyring", "mcl key list shows what is")
        return entry

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with exclusive(self._folder):
            self._refresh()
            yield
        self._refresh()

    def _stamp(self) -> tuple[Stamp, ...]:
        return tuple(self._stamp_of(name) for name in (*ROLES, "trusted"))

    def _stamp_of(self, name: str) -> Stamp:
        # Every change makes a new file; asked before each signature that is checked, hence no Path.
        try:
            status = os.stat(f"{self._prefix}{name}.json")  # noqa: PTH116
        except FileNotFoundError:
            return None
        except OSError as error:
            raise explain_os(error, self._folder) from error
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _refresh(self) -> None:
        stamp = self._stamp()
        if stamp == self._seen:
            return
        pairs: dict[Role, KeyPair] = {}
        entries: dict[str, KeyEntry] = {}
        for role in ROLES:
            file = self._read(role)
            pairs[role] = KeyPair(file.did, role, self._opener(file))
            entries[file.did] = KeyEntry(file.did, role, "own", "", file.created_at, sealed=file.sealed)
            for old in file.retired:
                entries[old["did"]] = KeyEntry(old["did"], role, "retired", "", old["added_at"])
        users = [entry.did for entry in entries.values() if entry.role == "user"]
        entries.update(self._read_trusted(users))
        self._in_files = dict(entries)
        entries = self._merged(entries)
        self._public = {
            did: PublicKey(did, entry.role, key_of(did), bool(entry.revoked_at))
            for did, entry in entries.items()
        }
        self._pairs, self._entries, self._seen = pairs, entries, stamp

    def _opener(self, file: KeyFile) -> Callable[[], bytes]:
        unsealed: list[bytes] = []

        def secret() -> bytes:
            if file.did in self._lent:
                return self._lent[file.did]
            if not unsealed:
                unsealed.append(file.unseal(self._passphrase))
            return unsealed[0]

        return secret

    def _read(self, role: Role) -> KeyFile:
        return KeyFile.read(self._folder / f"{role}.json", role)

    def _read_trusted(self, users: list[str]) -> dict[str, KeyEntry]:
        path = self._folder / _TRUSTED
        if not path.exists():
            return {}
        document = read_document(path)
        try:
            signer = document["signed_by"]
            VerifyKey(key_of(signer)).verify(
                _trust_bytes(document["keys"]), bytes.fromhex(document["signature"])
            )
            found = [KeyEntry(**entry) for entry in document["keys"]]
        except (KeyError, TypeError, ValueError, BadSignatureError) as error:
            raise _forged(path, str(error)) from error
        if signer not in users:
            raise _forged(path, f"it is signed by {signer}, which is no user key of this home")
        return {entry.did: entry for entry in found}

    def _write_trusted(self, changed: KeyEntry) -> None:
        kept = {
            did: entry
            for did, entry in self._entries.items()
            if entry.origin == "trusted" or entry.revoked_at
        }
        keys = [asdict(entry) for entry in (kept | {changed.did: changed}).values()]
        pair = self._pairs["user"]
        signature = pair.signing_key.sign(_trust_bytes(keys)).signature
        document = {"v": 1, "keys": keys, "signed_by": pair.did, "signature": signature.hex()}
        write_document(self._folder / _TRUSTED, document)


def _fresh(role: Role, at: str, passphrase: bytes | None, retired: tuple[dict[str, str], ...]) -> KeyFile:
    key = SigningKey.generate()
    return KeyFile(
        role, did_of(bytes(key.verify_key)), at, seal_secret(bytes(key), passphrase), retired, Path()
    )


def _trust_bytes(keys: Any) -> bytes:
    return _TRUST_CONTEXT + json.dumps(keys, sort_keys=True, separators=(",", ":")).encode()


def _refusal(code: str, did: str, message: str, fix: str) -> KeyringError:
    return KeyringError(code, f"this key {message}", place=did, fix=fix)


def _forged(path: Path, reason: str) -> KeyringError:
    return KeyringError(
        "TRUST_FORGED",
        f"the list of trusted keys is not signed by the user of this home: {reason}",
        place=str(path),
        fix="remove the file if you did not write it, then trust the keys again",
    )


def is_personal(keyring: Keyring, did: str) -> bool:
    """Is this a user's key that no program on this machine can use unasked?

    The own key where it is sealed with a passphrase; another user's key, whose secret is not here at all.
    """
    entry = next((one for one in keyring.entries() if one.did == did), None)
    if entry is None or entry.role != "user" or entry.revoked_at:
        return False
    return entry.origin == "trusted" or (entry.origin == "own" and entry.sealed)
