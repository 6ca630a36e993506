"""What the journal can show to others: a signed head, that a row is in it, that it only grew."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from executor.core.errors import JournalError
from executor.store.journal.merkle import verify_consistency, verify_inclusion
from executor.store.journal.record import Record, open_record
from ir import PublicKey
from ir.results import JsonResult

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
