"""What counts where, by rows of the journal and their order: whose signatures, never by a time that a signer
wrote, and what stands in the tables beside it.

A key that was revoked in row n signs nothing behind row n, whatever moment it states; what it signed before
stays good. In a journal of before, revocations stood in ``keys/trusted.json`` alone: the row that binds it
(``record.journal.chained``) states them, and for the rows before it the moment still decides.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Final, cast

from executor.store.journal.record import Record
from executor.store.journal.rows import CHAINED, Message
from executor.store.journal.tables import CHANGED, Lines, heard
from executor.store.keys.keyring import KeyEntry, Keyring
from ir import PublicKey, Role, key_of

TRUSTED: Final = "record.key.trusted"
REVOKED: Final = "record.key.revoked"
REPLACED: Final = "record.key.replaced"
POLICY: Final = "record.policy.read"
KINDS: Final = (TRUSTED, REVOKED, REPLACED, CHAINED, CHANGED, POLICY)


_OFFERS: Final = ("tool_pins", "tool_classes", "servers", "mcp_rejections")  # what tools there are
_OUTSIDE: Final = "matrix://tool/mcp-"


def _is_first_look(change: Any) -> bool:
    """Whether tools of our own were entered that counted as approved before."""
    if not isinstance(change, dict) or change.get("gone"):
        return False
    lines = [one for one in change.get("new", ()) if isinstance(one, dict)]
    return all("pin" in one and not str(one.get("uri")).startswith(_OUTSIDE) for one in lines)


@dataclass(frozen=True, slots=True)
class Revocation:
    """The row that says it, and when it was; of_before: the moment decides about the rows before that."""

    seq: int
    at: str
    of_before: bool = False


@dataclass(slots=True)
class Standing:
    """What rows said so far, in order.

    tables: what stands in each of the stated tables; changed: the last row by which there are other tools, or
    one stands otherwise. policy: sha256 (hex)
    of the operator's policy as it was followed last; denied: its deny list.
    """

    revoked: dict[str, Revocation] = field(default_factory=dict)
    trusted: dict[str, KeyEntry] = field(default_factory=dict)
    tables: Lines = field(default_factory=dict)
    changed: int = 0
    policy: str = sha256(b"").hexdigest()
    denied: tuple[str, ...] = ()

    def copy(self) -> Standing:
        """The same, to go on from without changing this one."""
        tables = {name: lines.copy() for name, lines in self.tables.items()}
        return replace(self, revoked=dict(self.revoked), trusted=dict(self.trusted), tables=tables)

    def hear(self, seq: int, record: Record) -> None:
        """One more row of `KINDS`, which was signed by whoever may say it."""
        body = record.body
        if record.kind == CHAINED:
            for entry in entries_in(body.get("keys", ())):
                if entry.origin == "trusted":
                    self.trusted[entry.did] = entry
                if entry.revoked_at:
                    self.revoked[entry.did] = Revocation(seq, entry.revoked_at, of_before=True)
            heard(self.tables, body.get("tables", {}))
        elif record.kind == CHANGED:
            heard(self.tables, body)
            if any(name in _OFFERS and not _is_first_look(change) for name, change in body.items()):
                self.changed = seq
        elif record.kind == POLICY:
            denied = body.get("deny")
            self.policy = str(body.get("version"))
            self.denied = tuple(map(str, denied)) if isinstance(denied, list | tuple) else ()
        elif record.kind == TRUSTED:
            for entry in entries_in((body,)):
                self.trusted[entry.did] = entry
        elif record.kind == REVOKED:
            self.revoked.setdefault(str(body.get("did")), Revocation(seq, record.at))

    def refuses(self, did: str, seq: int, at: str) -> bool:
        """Whether a row that this key signed does not count where it stands. seq: 0: behind all rows."""
        said = self.revoked.get(did)
        if said is None:
            return False
        if not seq or seq > said.seq:
            return True
        return said.of_before and datetime.fromisoformat(at) > datetime.fromisoformat(said.at)

    def key(self, did: str) -> PublicKey | None:
        """A key of somebody else that rows say is trusted."""
        entry = self.trusted.get(did)
        return PublicKey(did, entry.role, key_of(did)) if entry else None

    def merged(self, entries: dict[str, KeyEntry]) -> dict[str, KeyEntry]:
        """What the files say of keys, with what the rows say: nothing is lost where a file is."""
        found = {**self.trusted, **entries}
        for did, said in self.revoked.items():
            if did in found and not found[did].revoked_at:
                found[did] = _revoked(found[did], said.at)
        return found

    def unlike(self, entries: Iterable[KeyEntry]) -> list[tuple[int, str]]:
        """Where files say something else than the rows: the row, or 0, and what."""
        there = {entry.did: entry for entry in entries}
        told = [
            (said.seq, f"row {said.seq} revokes the key {did}; keys/trusted.json does not")
            for did, said in self.revoked.items()
            if did not in there or not there[did].revoked_at
        ]
        told += [
            (0, f"the trusted key {did} is not in keys/trusted.json")
            for did in self.trusted
            if did not in there
        ]
        for did, entry in there.items():
            if entry.revoked_at and did not in self.revoked:
                told.append((0, f"keys/trusted.json revokes the key {did}; no row does"))
            if entry.origin == "trusted" and did not in self.trusted:
                told.append((0, f"keys/trusted.json trusts the key {did}; no row does"))
        return told


def refused(message: Message, seq: int, standing: Standing, keyring: Keyring) -> bool:
    """Whether a row does not count because its key was revoked: in a row before it; in a journal of before,
    at a moment before it. What files alone say of a journal whose rows say it is not believed to be late."""
    if message.from_ in standing.revoked:
        return standing.refuses(message.from_, seq, message.at)
    if message.previous:
        return keyring.is_revoked(message.from_)
    return keyring.revoked_by(message.from_, message.at)


def entries_in(said: Any) -> list[KeyEntry]:
    """The keys that a row states; what has another form is no key."""
    found = []
    for one in said if isinstance(said, list | tuple) else ():
        if not isinstance(one, dict) or one.get("role") not in ("user", "agent"):
            continue
        did, label, added, revoked = (
            str(one.get(name, "")) for name in ("did", "label", "added_at", "revoked_at")
        )
        role, origin = cast(Role, one["role"]), one.get("origin", "trusted")
        if origin in ("own", "retired", "trusted"):
            found.append(KeyEntry(did, role, origin, label, added, revoked))
    return found


def stated(entries: Iterable[KeyEntry]) -> list[dict[str, str]]:
    """The trusted and the revoked of these keys, as the row that binds a journal of before states them."""
    names = ("did", "role", "origin", "label", "added_at", "revoked_at")
    kept = (one for one in entries if one.origin == "trusted" or one.revoked_at)
    return [{name: str(getattr(one, name)) for name in names} for one in kept]


def _revoked(entry: KeyEntry, at: str) -> KeyEntry:
    return KeyEntry(entry.did, entry.role, entry.origin, entry.label, entry.added_at, at, entry.sealed)
