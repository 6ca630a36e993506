"""The Merkle tree of RFC 6962 (section 2.1): sha256, leaves prefixed 0x00, nodes 0x01.

Proofs are checked as RFC 9162 (sections 2.1.3.2 and 2.1.4.2) writes it. Every hash is 32 bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from executor.core.errors import JournalError
from executor.store.journal.record import Record, open_record
from ir import PublicKey
from ir.results import JsonResult

HASH_SIZE: Final = 32
EMPTY_ROOT: Final = sha256(b"").digest()


def leaf_hash(data: bytes) -> bytes:
    """The hash of one entry."""
    return sha256(b"\x00" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two subtrees."""
    return sha256(b"\x01" + left + right).digest()


class Frontier:
    """A tree that only grows, kept as the roots of its complete subtrees, largest first."""

    __slots__ = ("peaks", "size")

    def __init__(self, size: int = 0, peaks: Iterable[bytes] = ()) -> None:
        self.size = size
        self.peaks = list(peaks)

    @classmethod
    def of(cls, leaves: Iterable[bytes]) -> Frontier:
        """The frontier over leaf hashes in order."""
        tree = cls()
        for leaf in leaves:
            tree.append(leaf)
        return tree

    @classmethod
    def from_bytes(cls, size: int, stored: bytes) -> Frontier:
        """The frontier that `to_bytes` wrote. Raises ValueError where size and bytes do not fit together."""
        if size < 0 or len(stored) != size.bit_count() * HASH_SIZE:
            raise ValueError(f"a tree of {size} leaves does not have {len(stored)} bytes of peaks")
        return cls(size, (stored[i : i + HASH_SIZE] for i in range(0, len(stored), HASH_SIZE)))

    def to_bytes(self) -> bytes:
        """The peaks, joined; 32 bytes for each bit set in `size`."""
        return b"".join(self.peaks)

    def append(self, leaf: bytes) -> None:
        size = self.size
        while size & 1:
            leaf = node_hash(self.peaks.pop(), leaf)
            size >>= 1
        self.peaks.append(leaf)
        self.size += 1

    def root(self) -> bytes:
        """The root of the whole tree."""
        if not self.peaks:
            return EMPTY_ROOT
        peaks = reversed(self.peaks)
        root = next(peaks)
        for peak in peaks:
            root = node_hash(peak, root)
        return root


def root_of(leaves: Iterable[bytes]) -> bytes:
    """The root over leaf hashes in order."""
    return Frontier.of(leaves).root()


def _split(size: int) -> int:
    """The largest power of two below `size` (size >= 2)."""
    return 1 << ((size - 1).bit_length() - 1)


def inclusion_path(leaves: Sequence[bytes], index: int) -> tuple[bytes, ...]:
    """The audit path of the leaf at `index` (from 0). Raises IndexError where there is none."""
    if not 0 <= index < len(leaves):
        raise IndexError(f"a tree of {len(leaves)} leaves has no leaf {index}")
    path: list[bytes] = []
    low, high = 0, len(leaves)
    while high - low > 1:
        middle = low + _split(high - low)
        if index < middle:
            path.append(root_of(leaves[middle:high]))
            high = middle
        else:
            path.append(root_of(leaves[low:middle]))
            low = middle
    return tuple(reversed(path))


def consistency_path(leaves: Sequence[bytes], old_size: int) -> tuple[bytes, ...]:
    """The proof that the tree over `leaves` extends its first `old_size` leaves.

    Raises IndexError unless 0 <= old_size <= len(leaves); an empty old tree needs no proof.
    """
    if not 0 <= old_size <= len(leaves):
        raise IndexError(f"a tree of {len(leaves)} leaves never had {old_size}")
    if old_size in (0, len(leaves)):
        return ()
    path: list[bytes] = []
    low, high = 0, len(leaves)
    whole = True  # whether the subtree we stand in is the whole old tree, whose root the checker already has
    while old_size != high:
        middle = low + _split(high - low)
        if old_size <= middle:
            path.append(root_of(leaves[middle:high]))
            high = middle
        else:
            path.append(root_of(leaves[low:middle]))
            low, whole = middle, False
    if not whole:
        path.append(root_of(leaves[low:high]))
    return tuple(reversed(path))


def verify_inclusion(leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes) -> bool:
    """Whether `leaf` is entry `index` of the tree with that size and root."""
    if not 0 <= index < size:
        return False
    number, last, found = index, size - 1, leaf
    for step in path:
        if last == 0:
            return False
        if number & 1 or number == last:
            found = node_hash(step, found)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            found = node_hash(found, step)
        number, last = number >> 1, last >> 1
    return last == 0 and found == root


def verify_consistency(
    old_size: int, old_root: bytes, new_size: int, new_root: bytes, path: Sequence[bytes]
) -> bool:
    """Whether the second tree is the first with leaves added and nothing else changed."""
    if old_size < 0 or old_size > new_size:
        return False
    if old_size == new_size:
        return not path and old_root == new_root
    if old_size == 0:
        return not path and old_root == EMPTY_ROOT
    steps = list(path)
    if old_size & (old_size - 1) == 0:
        steps.insert(0, old_root)
    if not steps:
        return False
    number, last = old_size - 1, new_size - 1
    while number & 1:
        number, last = number >> 1, last >> 1
    old = new = steps[0]
    for step in steps[1:]:
        if last == 0:
            return False
        if number & 1 or number == last:
            old, new = node_hash(step, old), node_hash(step, new)
            while not number & 1 and number:
                number, last = number >> 1, last >> 1
        else:
            new = node_hash(new, step)
        number, last = number >> 1, last >> 1
    return last == 0 and old == old_root and new == new_root


# ---- What the journal can show to others: a signed head, that a row is in it, that it only grew.


HEAD_KIND: Final = "record.head"


@dataclass(frozen=True, slots=True)
class Head:
    """A tree size and root (32 bytes), signed by the agent."""

    size: int
    root: bytes
    record: Record

    @classmethod
    def of(cls, record: Record) -> Head:
        """The head that a record states. Raises JournalError HEAD_SHAPE."""
        size, root = record.body.get("size"), record.body.get("root")
        if record.kind != HEAD_KIND or type(size) is not int or type(root) is not bytes or len(root) != 32:
            raise JournalError("HEAD_SHAPE", "this record is not a head of a journal", place=record.id)
        return cls(size, root, record)

    @classmethod
    def from_json(cls, document: Mapping[str, Any], resolver: Callable[[str], PublicKey | None]) -> Head:
        """The head in a document made by `to_json`; only the signed record in it is believed.

        Raises JournalError HEAD_SHAPE and what `open_record` raises.
        """
        try:
            wire = bytes.fromhex(document["record"])
        except (KeyError, TypeError, ValueError) as error:
            raise JournalError("HEAD_SHAPE", "this document holds no signed head") from error
        return cls.of(open_record(wire, resolver))

    def to_json(self) -> dict[str, object]:
        """`size`, `root` (hex), `at`, `from` for people; `record` (hex) is what is signed."""
        return {
            "size": self.size,
            "root": self.root.hex(),
            "at": self.record.at,
            "from": self.record.from_,
            "record": self.record.wire.hex(),
        }


@dataclass(frozen=True, slots=True)
class InclusionProof(JsonResult):
    """That a leaf (32 bytes) is number `index`, from 0, in a tree of `size` leaves."""

    index: int
    size: int
    leaf: bytes
    path: tuple[bytes, ...]

    def holds(self, root: bytes) -> bool:
        """Whether it is so in the tree with this root."""
        return verify_inclusion(self.leaf, self.index, self.size, self.path, root)


@dataclass(frozen=True, slots=True)
class ConsistencyProof(JsonResult):
    """That a tree of `new_size` leaves begins with the tree of `old_size`."""

    old_size: int
    new_size: int
    path: tuple[bytes, ...]

    def holds(self, old_root: bytes, new_root: bytes) -> bool:
        """Whether it is so for the trees with these roots."""
        return verify_consistency(self.old_size, old_root, self.new_size, new_root, self.path)
