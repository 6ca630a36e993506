"""Proofs that leave the home: that a memory says just this and is in a snapshot whose root the agent signed.

A proof is a JSON document that needs nothing but itself to be checked:

    kind        "mcl.cortex.proof/1"
    uri         the version of the memory that it is about
    document    its canonical JSON, as text: the bytes that were hashed
    snapshot    {size, root}
    inclusion   {index, path}: the leaf of the document in the tree of the snapshot (RFC 6962)
    record      hex of the journal's record of mutation number `size`: the agent's signature over the root
    since       {size, root, path}, where asked for: that the tree began with an older one (RFC 9162)
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from executor.core.errors import JournalError
from executor.store.home import Home
from executor.store.journal.merkle import (
    consistency_path,
    inclusion_path,
    leaf_hash,
    verify_consistency,
    verify_inclusion,
)
from executor.store.journal.record import Record, open_record
from ir import PublicKey, key_of
from ir.canonical import parse_json
from ir.errors import UNVERIFIED, MclError
from mcl.core.errors import MemoryStoreError
from mcl.memory.memory import Memory
from mcl.memory.store import FORGET, PUT, MemoryStore, Snapshot, unknown_memory
from mcl.memory.words import DOCUMENT

KIND: Final = "mcl.cortex.proof/1"
_SHAPE: Final = {"kind": str, "uri": str, "document": str, "snapshot": dict, "inclusion": dict, "record": str}
_PARTS: Final = {
    "snapshot": {"size": int, "root": str},
    "inclusion": {"index": int, "path": list},
    "since": {"size": int, "root": str, "path": list},
}


@dataclass(frozen=True)
class Since:
    """That the tree of a snapshot begins with the tree of an older one."""

    snapshot: Snapshot
    path: tuple[bytes, ...]


@dataclass(frozen=True)
class Proof:
    """That `document` is the mutation at `index` of the tree with this snapshot; record: the bytes in which
    the agent signed the snapshot's root."""

    uri: str
    snapshot: Snapshot
    index: int
    document: bytes
    path: tuple[bytes, ...]
    record: bytes
    since: Since | None = None

    def to_json(self) -> dict[str, Any]:
        """The proof as a JSON object."""
        said: dict[str, Any] = {
            "kind": KIND,
            "uri": self.uri,
            "document": self.document.decode(),
            "snapshot": {"size": self.snapshot.size, "root": self.snapshot.root},
            "inclusion": {"index": self.index, "path": [step.hex() for step in self.path]},
            "record": self.record.hex(),
        }
        if self.since is not None:
            old, path = self.since.snapshot, [step.hex() for step in self.since.path]
            said["since"] = {"size": old.size, "root": old.root, "path": path}
        return said

    def to_bytes(self) -> bytes:
        return (json.dumps(self.to_json(), ensure_ascii=False, indent=2) + "\n").encode()

    @classmethod
    def of_bytes(cls, data: bytes) -> "Proof":
        """Read a proof; nothing in it is believed yet. Raises MemoryStoreError PROOF_SHAPE."""
        try:
            said = parse_json(data)
        except MclError as error:
            raise _shape(error.message) from error
        if not isinstance(said, dict) or said.get("kind") != KIND:
            raise _shape(f"it is not of kind {KIND}")
        _require(said, _SHAPE | ({"since": dict} if "since" in said else {}), "")
        for name, fields in _PARTS.items():
            if name in said:
                _require(said[name], fields, f"{name}.")
        since = said.get("since")
        return cls(
            said["uri"],
            Snapshot(said["snapshot"]["size"], said["snapshot"]["root"]),
            said["inclusion"]["index"],
            said["document"].encode(),
            tuple(map(_hash, said["inclusion"]["path"])),
            _hex(said["record"]),
            Since(Snapshot(since["size"], since["root"]), tuple(map(_hash, since["path"])))
            if since
            else None,
        )

    def holds(self) -> bool:
        """Whether all of it is so, whoever signed."""
        return all(check.ok for check in self.checks())

    def checks(self, key: str = "") -> list["ProofCheck"]:
        """Check each part. key: the did:key that must have signed (default: whichever did)."""
        checks = [self._data(), self._inclusion(), *self._signed(key)]
        return checks + ([self._since(self.since)] if self.since is not None else [])

    def memory(self) -> Memory:
        """What the document says. Raises MemoryStoreError MEMORY_DOCUMENT."""
        return Memory.of_document(self.document, self.index + 1)

    def _data(self) -> "ProofCheck":
        try:
            memory = self.memory()
        except MemoryStoreError as error:
            return ProofCheck("data", False, error.message)
        if memory.uri != self.uri:
            return ProofCheck("data", False, f"the document is {memory.uri}, the proof says {self.uri}")
        what = "forgets" if memory.forgotten else "says"
        return ProofCheck("data", True, f"{memory.uri} {what} {json.dumps(memory.text, ensure_ascii=False)}")

    def _inclusion(self) -> "ProofCheck":
        leaf, size = leaf_hash(self.document), self.snapshot.size
        holds = verify_inclusion(leaf, self.index, size, self.path, _hash(self.snapshot.root))
        said = f"mutation {self.index + 1} of {size}"
        return ProofCheck("inclusion", holds, said if holds else f"the document is not {said} of this root")

    def _signed(self, key: str) -> list["ProofCheck"]:
        try:
            record = open_record(self.record, agent_by_did)
        except MclError as error:
            return [ProofCheck("signature", False, f"{error.code}: {error.message}")]
        body = record.body
        size, root = body.get("size"), body.get("root")
        # A signature is over one root; that of another snapshot, however genuine, says nothing of this one.
        if record.kind not in (PUT, FORGET) or (size, root) != (
            self.snapshot.size,
            _hash(self.snapshot.root),
        ):
            return [ProofCheck("signature", False, "the signed record is of another snapshot")]
        said = f"the root was signed by {record.from_} at {record.at}"
        signed = ProofCheck("signature", True, said)
        if not key:
            return [signed]
        return [signed, ProofCheck("key", record.from_ == key, f"expected {key}")]

    def _since(self, since: Since) -> "ProofCheck":
        old, new = since.snapshot, self.snapshot
        roots = _hash(old.root), _hash(new.root)
        holds = verify_consistency(old.size, roots[0], new.size, roots[1], since.path)
        said = f"the first {old.size} mutations are those of {old.root[:12]}…"
        return ProofCheck("since", holds, said if holds else f"not so: {said}")


@dataclass(frozen=True)
class ProofCheck:
    """One part of a proof: whether it holds, and what that says."""

    name: str
    ok: bool
    said: str


def prove(
    store: MemoryStore, uri: str, *, snapshot: Snapshot | None = None, since: Snapshot | None = None
) -> Proof:
    """That a version of a memory is in `snapshot` (default: now); a tombstone where its version is named.

    since: an older snapshot of this home, whose mutations the newer one begins with. Raises MemoryStoreError
    MEMORY_UNKNOWN, MEMORY_ADDRESS, SNAPSHOT_ORDER, RECORD_MISSING.
    """
    whole = snapshot or store.snapshot()
    memories = store.memories(whole)
    memory = memories.version(uri) if "@" in uri else memories.resolve(uri)
    if memory is None:
        raise unknown_memory(uri)
    leaves = store.leaves(whole.size)
    if len(leaves) != whole.size:
        raise _no_record(whole.size)
    index = memory.seq - 1
    older = None
    if since is not None:
        if not 0 < since.size <= whole.size:
            message = f"a snapshot of {whole.size} mutations does not begin with {since.size}"
            raise MemoryStoreError("SNAPSHOT_ORDER", message, fix="name an older snapshot")
        older = Since(since, consistency_path(leaves, since.size))
    record = record_of(store.home, whole.size)
    path = inclusion_path(leaves, index)
    return Proof(memory.uri, whole, index, memory.document(), path, record, older)


def record_of(home: Home, size: int) -> bytes:
    """The journal's record of mutation number `size`. Raises MemoryStoreError RECORD_MISSING."""
    found = home.db.read(f"{DOCUMENT} WHERE m.seq = ?", (size,))
    if not found:
        raise _no_record(size)
    return bytes(found[0][1])


def _no_record(size: int) -> MemoryStoreError:
    fix = "mcl memory verify tells what is wrong"
    return MemoryStoreError(
        "RECORD_MISSING", f"the journal lacks a record of the first {size} mutations", fix=fix
    )


def signed_memory(wire: bytes, resolver: Callable[[str], PublicKey | None]) -> Record:
    """A record of a mutation, its signature checked. Raises JournalError RECORD_SHAPE and what `open_record`
    raises."""
    record = open_record(wire, resolver)
    types = {"uri": str, "document": bytes, "size": int, "root": bytes}
    body = record.body
    if set(body) != set(types) or any(type(body[name]) is not kind for name, kind in types.items()):
        raise JournalError("RECORD_SHAPE", "this record is not that of a memory", place=record.id)
    return record


def agent_by_did(did: str) -> PublicKey | None:
    """An agent's key as its did:key itself says it: proof files are checked without a home."""
    try:
        return PublicKey(did, "agent", key_of(did))
    except MclError:
        return None


def _require(said: Mapping[str, Any], fields: Mapping[str, type], path: str) -> None:
    for name, kind in fields.items():
        if type(said.get(name)) is not kind:
            raise _shape(f"{path}{name} is missing or of another kind")
    if extra := sorted(set(said) - set(fields)):
        raise _shape(f"there is no {path}{extra[0]}")
    for name in ("root",):
        if name in fields:
            _hash(said[name])


def _hash(text: object) -> bytes:
    data = _hex(text)
    if len(data) != 32:
        raise _shape("a hash is not 32 bytes")
    return data


def _hex(text: object) -> bytes:
    try:
        if not isinstance(text, str) or text != text.strip().lower():
            raise ValueError("not hexadecimal")
        return bytes.fromhex(text)
    except ValueError as error:
        raise _shape("a hash is not written in hexadecimal") from error


def _shape(why: str) -> MemoryStoreError:
    fix = "give a file made by mcl memory prove"
    return MemoryStoreError("PROOF_SHAPE", f"this is no proof: {why}", fix=fix, exit=UNVERIFIED)
