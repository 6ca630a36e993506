"""The chain: each row says under its signature which row stands before it.

What is said at a place in the journal is signed there, with the hash (the leaf) of the row before. What
others signed says nothing of our rows: a record of ours, ``record.journal.bound``, stands right behind it and
states it. The rows of a journal of before are bound once by ``record.journal.chained``, from which on all is
chained.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any, Final, TypeAlias

from executor.core.clock import Clock
from executor.core.errors import KeyringError
from executor.store.journal.merkle import Frontier
from executor.store.journal.record import Record, seal_record
from executor.store.keys.keyring import KeyPair, Keyring
from ir import Envelope
from ir.envelope import with_signature, without_signature

Message: TypeAlias = Envelope | Record
Maker: TypeAlias = Callable[[bytes], Message]  # given the hash of the row before it

FIRST: Final = bytes(32)  # what row 1 says stands before it
CHAINED: Final = "record.journal.chained"
BOUND: Final = "record.journal.bound"
BREAK_ACCEPTED: Final = "record.journal.break_accepted"  # signed by the person, as the next is
RESTORED: Final = "record.journal.restored"
_PREVIOUS: Final = b"\x0c\x58\x20"  # key 12, then 32 bytes


@dataclass(slots=True)
class End:
    """The end of a journal, to be written on from: its tree, and the leaf of its last row.

    chained: whether what follows is chained; False only in a journal of before, until it is bound.
    """

    tree: Frontier = field(default_factory=Frontier)
    leaf: bytes = FIRST
    chained: bool = True

    def copy(self) -> End:
        """The same, to be written on from without changing this one."""
        return End(Frontier(self.tree.size, self.tree.peaks), self.leaf, self.chained)

    def add(self, leaf: bytes) -> None:
        """A row was written."""
        self.tree.append(leaf)
        self.leaf = leaf


def placed(message: Message, previous: bytes, keyring: Keyring) -> Message:
    """The same said at its place, where our own keys said it and can be used; else as it is."""
    if message.previous == previous:
        return message
    for pair in (keyring.agent, keyring.user):
        if pair.did == message.from_:
            try:
                return _signed_at(message, previous, pair)
            except KeyringError:
                return message
    return message


def _signed_at(message: Message, previous: bytes, pair: KeyPair) -> Message:
    was = without_signature(message.wire, previous=bool(message.previous))
    if message.previous:
        signed = was[: -len(previous)] + previous
    else:
        signed = bytes((was[0] + 1,)) + was[1:] + _PREVIOUS + previous
    signature = pair.signing_key.sign(signed).signature
    return replace(
        message,
        signature=signature,
        self_hash=sha256(signed).hexdigest(),
        wire=with_signature(signed, signature, previous=True),
        previous=previous,
    )


def bound(seq: int, leaf: bytes, keyring: Keyring, clock: Clock) -> Record:
    """The record that stands behind row `seq`, which is not chained. Raises KeyringError."""
    body = {"row": seq, "leaf": leaf}
    at, id = clock.now(), clock.new_id()
    return seal_record(BOUND, body, id=id, at=at, signer=keyring.agent, previous=leaf)


def begun(end: End, keyring: Keyring, clock: Clock, more: Mapping[str, Any]) -> Record | None:
    """The record that binds all rows of a journal of before; None where the agent's key is sealed. more: what
    stood beside the journal and is a matter of rows from now on."""
    body = {"size": end.tree.size, "root": end.tree.root(), **more}
    at, id = clock.now(), clock.new_id()
    try:
        return seal_record(CHAINED, body, id=id, at=at, signer=keyring.agent, previous=end.leaf)
    except KeyringError:
        return None


class Links:
    """Follows a chain row by row, in order, and tells what does not hold."""

    def __init__(self, seq: int = 0, leaf: bytes = FIRST, *, chained: bool = False) -> None:
        self.seq, self.leaf, self.chained = seq, leaf, chained
        self._loose = 0  # a row that has yet to be bound
        self._unread = False  # whether the last row could not be read, which is told of itself

    def next(
        self, message: Message | None, leaf: bytes, tree: Frontier | None = None
    ) -> list[tuple[int, str]]:
        """One more row: row and words of each flaw. message: None where it cannot be read. tree: of all rows
        before it, where that is known."""
        flaws: list[tuple[int, str]] = []
        loose, before = self._loose, self.leaf
        self.seq, self.leaf, self._loose = self.seq + 1, leaf, 0
        unread, self._unread = self._unread, message is None
        if message is None:
            return [(loose, _UNBOUND)] if loose else []
        if loose and not (
            isinstance(message, Record)
            and message.kind == BOUND
            and (message.body.get("row"), message.body.get("leaf")) == (loose, before)
        ):
            flaws.append((loose, _UNBOUND))
        if message.previous:
            if message.previous != before and not unread:
                flaws.append((self.seq, "the row before it is not the one that it was signed behind"))
            elif not (self.chained or unread) and self.seq > 1 and not _binds(message, self.seq - 1, tree):
                flaws.append((self.seq, "the rows before it are chained by nothing"))
            self.chained = True
        elif self.chained:
            self._loose = self.seq
        return flaws

    def end(self) -> list[tuple[int, str]]:
        """What is still missing where the journal ends."""
        return [(self._loose, _UNBOUND)] if self._loose else []


_UNBOUND: Final = "it does not say which row is before it, and no record of this home binds it"


def _binds(message: Message, size: int, tree: Frontier | None) -> bool:
    if not isinstance(message, Record):
        return False
    if message.kind == BOUND and size == 1:  # what others said is the first row of all
        return bool(message.body.get("row") == 1)
    if message.kind != CHAINED or message.body.get("size") != size:
        return False
    return tree is None or message.body.get("root") == tree.root()
