"""`mcl memory`: what is remembered, found, forgotten and proved."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from executor.store.home import Home
from ir.canonical import parse_json
from ir.errors import UNVERIFIED, MclError
from ir.results import JsonResult
from mcl.core.errors import MemoryStoreError
from mcl.core.home import open_home
from mcl.memory import Memories, Memory, MemoryStore, Snapshot, new_memory
from mcl.memory.lessons import is_on, setting
from mcl.memory.proof import Proof, ProofCheck
from mcl.memory.proof import prove as made_proof
from mcl.memory.store import unknown_memory
from mcl.plugins.memories.verification import MemoryReport, verify_home

_MOST_TOLD = 20  # wrong lines of one file
_LONGEST_LINE = 1_000_000  # bytes
_MAX_PROOF = 16 << 20  # bytes


@dataclass(frozen=True)
class Imported:
    """What an import changed: how many lines were read, wrote something, and said what was known already; the
    snapshot afterwards."""

    lines: int
    written: int
    unchanged: int
    size: int
    root: str


@dataclass(frozen=True)
class ProofReport(JsonResult):
    """What a proof file says (`uri`, `text`), and each part of it that was checked."""

    JSON: ClassVar = "ok uri text checks"
    uri: str
    text: str
    checks: tuple[ProofCheck, ...]

    @property
    def ok(self) -> bool:
        return all(check.ok for check in self.checks)


def add(
    type: str,
    text: str,
    *,
    id: str = "",
    tags: Sequence[str] = (),
    edges: Sequence[tuple[str, str]] = (),
    importance: float = 0.5,
    confidence: float = 1.0,
    source: str = "",
    home: Home | None = None,
) -> Memory:
    """Remember `text`: a new memory, or the next version of the one with this type and id.

    type: Identity, Fact, Preference, Belief, Event, Goal, Constraint, Capability or Pattern. id: made from
    the text where it is empty. edges: (relation, address). importance, confidence: shares from 0 to 1. Saying
    what is already remembered changes nothing; secrets are taken out. Raises MemoryStoreError MEMORY_SHAPE,
    HomeError, KeyringError.
    """
    return MemoryStore(home or open_home()).put(
        type, text, id=id, tags=tags, edges=edges, importance=importance, confidence=confidence, source=source
    )


def add_lines(
    lines: Iterable[bytes],
    *,
    name: str = "",
    progress: Callable[[int, int], None] | None = None,
    home: Home | None = None,
) -> Imported:
    """Remember every line of a JSONL file, in one commit: all of them or, where one is wrong, none.

    A line is an object with type and text, and where wanted id, tags, edges ([[relation, address], …]),
    importance, confidence, source, data and at. Lines that are remembered already change nothing, so that an
    import that was interrupted is simply done again. name: of the file, for messages. progress: is told how
    many lines are done, and of how many. Raises MemoryStoreError IMPORT_INVALID with all wrong lines (at most
    20) in `data["errors"]`.
    """
    home = home or open_home()
    store = MemoryStore(home)
    memories = [*_read_lines(lines, name, home.clock.now())]
    before = store.snapshot().size

    def told(done: int) -> None:
        if progress is not None:
            progress(done, len(memories))

    store.write(memories, progress=told)
    after = store.snapshot()
    written = after.size - before
    return Imported(len(memories), written, len(memories) - written, after.size, after.root)


def find(
    near: str,
    *,
    types: Sequence[str] = (),
    tags: Sequence[str] = (),
    limit: int = 10,
    at: str | int | None = None,
    home: Home | None = None,
) -> Sequence[Memory]:
    """The memories most like `near`, best first (BM25); only of these types and with all of these tags.

    at: a snapshot, by its size or root (default: now). Raises MemoryStoreError MEMORY_TYPE, SNAPSHOT_UNKNOWN.
    """
    return _memories(home, at).find(near=near, types=types, tags=tags, limit=limit)


def list(
    *,
    types: Sequence[str] = (),
    tags: Sequence[str] = (),
    limit: int = 50,
    at: str | int | None = None,
    home: Home | None = None,
) -> Sequence[Memory]:
    """Current memories, the most important and newest first; the rest as of find. limit: 0 for all."""
    memories = _memories(home, at)
    return memories.find(types=types, tags=tags, limit=limit or max(1, memories.size))


def show(uri: str, *, at: str | int | None = None, home: Home | None = None) -> Memory:
    """The memory at an address: the version that it names, else the current one. Raises MemoryStoreError
    MEMORY_UNKNOWN, MEMORY_ADDRESS, SNAPSHOT_UNKNOWN."""
    memories = _memories(home, at)
    found = memories.version(uri) if "@" in uri else memories.resolve(uri)
    if found is None:
        raise unknown_memory(uri)
    return found


def history(uri: str, *, at: str | int | None = None, home: Home | None = None) -> Sequence[Memory]:
    """All versions of a memory, oldest first; tombstones are `forgotten`. Raises MemoryStoreError
    MEMORY_UNKNOWN, MEMORY_ADDRESS, SNAPSHOT_UNKNOWN."""
    found = _memories(home, at).history(uri)
    if not found:
        raise unknown_memory(uri)
    return found


def remove(uri: str, *, home: Home | None = None) -> Memory:
    """Put a tombstone on a memory; what it said stays in earlier snapshots and in the journal. Raises
    MemoryStoreError MEMORY_UNKNOWN, MEMORY_ADDRESS."""
    return MemoryStore(home or open_home()).forget(uri)


def snapshot(at: str | int | None = None, *, home: Home | None = None) -> Snapshot:
    """The snapshot of now, of a size, or with a root. Raises MemoryStoreError SNAPSHOT_UNKNOWN."""
    store = MemoryStore(home or open_home())
    if at is None:
        return store.snapshot()
    named = str(at).strip().lower()
    if named.isascii() and named.isdigit() and len(named) < 16:
        return store.snapshot(int(named))
    try:
        found = store.snapshot_of(named) if len(named) == 64 else None
    except ValueError:
        found = None
    if found is None:
        fix = "name it by its size, such as 12, or by its root (64 hex digits)"
        raise MemoryStoreError("SNAPSHOT_UNKNOWN", f"this home has no snapshot {at}", place="at", fix=fix)
    return found


def prove(
    uri: str, *, at: str | int | None = None, since: str | int | None = None, home: Home | None = None
) -> Proof:
    """A proof that a memory says what it says and is in a snapshot (default: now) that the agent signed.

    since: an older snapshot; the proof then also shows that nothing of it was changed. `Proof.to_bytes` makes
    the file that verify_proof checks anywhere. Raises MemoryStoreError MEMORY_UNKNOWN, MEMORY_ADDRESS,
    SNAPSHOT_UNKNOWN, SNAPSHOT_ORDER.
    """
    home = home or open_home()
    older = snapshot(since, home=home) if since is not None else None
    return made_proof(MemoryStore(home), uri, snapshot=snapshot(at, home=home), since=older)


def _beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_MAX_PROOF)  # what is longer, or has no end, is no proof


def verify_proof(proof: bytes | Path, *, key: str = "") -> ProofReport:
    """Check a proof file by itself; no home is needed or looked at.

    key: the did:key of the agent that must have signed it; without it the report names who did. Raises
    MemoryStoreError PROOF_SHAPE where it is no proof.
    """
    try:
        found = Proof.of_bytes(_beginning(proof) if isinstance(proof, Path) else proof)
    except MemoryStoreError as error:
        place = str(proof) if isinstance(proof, Path) else ""
        raise MemoryStoreError(
            error.code, error.message, place=place, fix=error.fix, exit=error.exit
        ) from error
    except OSError as error:
        why = f"this is no proof: {error.strerror or error}"
        fix = "give a file made by mcl memory prove"
        raise MemoryStoreError("PROOF_SHAPE", why, place=str(proof), fix=fix, exit=UNVERIFIED) from error
    checks = tuple(found.checks(key))
    return ProofReport(found.uri, found.memory().text if checks[0].ok else "", checks)


def verify(
    *, reindex: bool = False, progress: Callable[[int, int], None] | None = None, home: Home | None = None
) -> MemoryReport:
    """Check every memory again: rows, leaves, roots, the journal's signed records, the search index.

    reindex: make the index anew first. progress: is told how many mutations are done, and of how many.
    """
    home = home or open_home()
    store = MemoryStore(home)
    if reindex:
        store.index_again()
    return verify_home(home, progress)


def learning(on: bool | None = None, *, home: Home | None = None) -> bool:
    """Whether accepted answers are learned from and made use of; turns it on or off where `on` is given."""
    home = home or open_home()
    store = MemoryStore(home)
    if on is not None and on != is_on(store.memories()):
        store.write([setting(on, at=home.clock.now())])
    return is_on(store.memories())


def _memories(home: Home | None, at: str | int | None) -> Memories:
    home = home or open_home()
    return MemoryStore(home).memories(snapshot(at, home=home))


def _read_lines(lines: Iterable[bytes], name: str, at: str) -> Iterator[Memory]:
    errors = deque[dict[str, object]]()
    for number, line in enumerate(lines, 1):
        line = line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line  # some editors write a BOM
        if not line.strip():
            continue
        try:
            if len(line) > _LONGEST_LINE:
                raise MemoryStoreError("MEMORY_SHAPE", f"the line has more than {_LONGEST_LINE} bytes")
            said = parse_json(line)
            if not isinstance(said, dict):
                raise MemoryStoreError("MEMORY_SHAPE", "the line is no JSON object")
            memory = new_memory(said, at=at)
        except MclError as error:
            errors.append({"line": number, "code": error.code, "message": error.message})
            if len(errors) == _MOST_TOLD:
                break
        else:
            if not errors:
                yield memory
    if errors:
        first = errors[0]
        more = f" (and {len(errors) - 1} more lines are wrong)" if len(errors) > 1 else ""
        raise MemoryStoreError(
            "IMPORT_INVALID",
            f"{first['message']}{more}",
            place=f"{name or 'line'}:{first['line']}",
            fix="correct it and import the file again; nothing of it was remembered",
            data={"errors": [*errors]},
        )
