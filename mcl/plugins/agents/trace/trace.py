"""The trace of a governed folder: records of the journal, and a file in the folder that is written from them.

A line is first signed into the journal (``record.agent.wrote``), whole, and then added to the file: what a
crash kept from the file is added before the next line. The file is bound together by itself, too, so that
it can travel with the repository; lines of other people's homes may stand among ours.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import ClassVar, Final, Self

from executor.core.errors import ScopeError
from executor.core.files import take
from executor.sandbox.files import explain
from executor.store.home import Home
from executor.store.journal.record import Record
from ir.findings import Finding
from mcl.plugins.agents.trace.line import (
    LONGEST,
    NAME,
    NO_LINE,
    TRACE,
    FileChange,
    TraceLine,
    hash_of,
    line_of,
    open_file,
    opened_folder,
    opened_trace,
    read_line,
    read_map,
    write_map,
)

# Which record of the journal tells the last line of a root: each write asks, and must not search all rows.
TABLES: Final = (
    """
    CREATE TABLE agent_trace (root TEXT PRIMARY KEY, record TEXT NOT NULL) STRICT, WITHOUT ROWID;
    CREATE TABLE agent_touched (
        root TEXT NOT NULL, file TEXT NOT NULL, label TEXT NOT NULL, PRIMARY KEY (root, file, label)
    ) STRICT, WITHOUT ROWID;
    """,
    "DROP TABLE agent_touched;",  # the journal says it
)

WROTE: Final = "record.agent.wrote"
CUT: Final = "record.agent.trace_cut"
MENDED: Final = "record.agent.trace_mended"


class Trace:
    """The trace of one governed folder.

    Args:
        root: the governed folder, in which `.orchestration` lies.
    """

    def __init__(self, home: Home, root: Path) -> None:
        self._home = home
        self.root = root
        home.db.migrate("agent_trace", TABLES)

    def append(self, change: FileChange) -> TraceLine:
        """Add one change. Raises as ``extend``."""
        return self.extend((change,))[0]

    def extend(
        self, changes: Sequence[FileChange], *, once: Callable[[sqlite3.Connection], bool] | None = None
    ) -> tuple[TraceLine, ...]:
        """Add changes, in order; processes that do so at once wait for one another.

        once: called in the transaction that signs them; where it answers False nothing is added, since
        somebody else did.

        Raises:
            ScopeError: the trace is no plain file, or cannot be written: what is signed by then is added with
            the next line that can be. HomeError: the journal cannot be written, and nothing was added.
        """
        lines: tuple[TraceLine, ...] = ()
        if not changes:
            return lines
        try:
            with opened_folder(self.root, make=True) as folder, opened_trace(folder) as file:
                prev, lost = self._mended(file)
                lines = self._signed(changes, prev, once)
                _write(file, b"".join(line.wire for line in lines))
                self._map(folder, (*lost, *lines))
                return lines
        except ScopeError:
            if not lines:  # that the file cannot be written is no reason to forget what was done
                told = self._last_told()
                self._signed(changes, told.hash if told is not None else NO_LINE, once)
            raise

    def pairs(self) -> set[tuple[str, str]]:
        """File and label of what was changed under an intent here, as the journal has it."""
        return _pairs_of(signed_lines(self._home, self.root))

    def _map(self, folder: int, lines: Sequence[TraceLine]) -> None:
        """See to it that the map names what these lines say; where there is none, it is made of all lines."""
        known, pairs = read_map(folder), _pairs_of(lines)
        if any(label not in known.get(file, ()) for file, label in pairs):
            write_map(folder, known, pairs if known else self.pairs())

    def _mended(self, file: int) -> tuple[str, Sequence[TraceLine]]:
        """Bring the end of the file in order; gives the hash that the next line is bound to, and the lines
        that were missing."""
        last, torn = _end(file)
        if torn and (read_line(torn) is not None or len(torn) > LONGEST):  # only its end was lost; or no line
            _write(file, b"\n")
            last = torn
        elif torn:
            self._cut(file, torn)
        prev, told = hash_of(last), self._last_told()
        if told is None or told.hash == prev:
            return prev, ()
        lost = self._since(prev, told)
        if len(lost) > 1:  # a crash loses one at most: these were taken out, or the file could not be written
            self._home.journal.record(MENDED, {"root": str(self.root), "lines": len(lost)})
        _write(file, b"".join(line.wire for line in lost))
        return (lost[-1].hash if lost else prev), lost

    def _since(self, prev: str, told: TraceLine) -> list[TraceLine]:
        """The signed lines that follow a line, up to the last one; none where they do not lead back to it."""
        if told.prev == prev:
            return [told]
        by_hash = {line.hash: line for line in signed_lines(self._home, self.root)}
        found, line = list[TraceLine](), by_hash.get(told.hash)
        while line is not None and line.hash != prev:
            found.append(line)
            if line.prev == prev:
                return found[::-1]
            line = by_hash.get(line.prev)
        return []

    def _last_told(self) -> TraceLine | None:
        """The line that was last signed here."""
        found = self._home.db.read("SELECT record FROM agent_trace WHERE root = ?", (str(self.root),))
        if not found:
            return None
        record = self._home.journal.open(self._home.journal.row(str(found[0][0])).wire)
        return _line_in(record, self.root)

    def _signed(
        self, changes: Sequence[FileChange], prev: str, once: Callable[[sqlite3.Connection], bool] | None
    ) -> tuple[TraceLine, ...]:
        lines: list[TraceLine] = []
        with self._home.db.write() as connection:
            if once is not None and not once(connection):
                return ()
            for change in changes:
                clock = self._home.clock
                line = TraceLine.of(change, id=clock.new_id(), time=clock.now(), prev=prev)
                lines.append(line)
                prev = line.hash
                body = {"root": str(self.root), "line": line.to_json()}
                row = self._home.journal.record(WROTE, body, intent=change.intent_id or None)
                connection.execute(
                    "INSERT OR REPLACE INTO agent_trace VALUES (?, ?)", (str(self.root), row.id)
                )
        return tuple(lines)

    def _cut(self, file: int, torn: bytes) -> None:
        """Take away half a line, which a crash or another program left, and keep that it was there."""
        size = os.fstat(file).st_size
        body = {"root": str(self.root), "bytes": len(torn), "sha256": sha256(torn).hexdigest()}
        self._home.journal.record(CUT, body)
        try:
            os.ftruncate(file, size - len(torn))
        except OSError as problem:
            explain(problem, f"{NAME}/{TRACE}")


def _pairs_of(lines: Iterable[TraceLine]) -> set[tuple[str, str]]:
    return {(line.change.file, line.change.label) for line in lines if line.change.label}


def signed_lines(home: Home, root: Path) -> Iterator[TraceLine]:
    """The lines that were signed in this home for a folder, oldest first. Raises as `Journal.open`."""
    for row in home.journal.rows(kind=WROTE):
        if (line := _line_in(home.journal.open(row.wire), root)) is not None:
            yield line


def _line_in(message: object, root: Path) -> TraceLine | None:
    """The line that a record holds; None for what is no such record, or of another folder."""
    if not isinstance(message, Record) or message.kind != WROTE or message.body.get("root") != str(root):
        return None
    return line_of(message.body["line"])


def _end(file: int) -> tuple[bytes, bytes]:
    """The last whole line without its end, and what follows it."""
    size = os.fstat(file).st_size
    data = os.pread(file, 4 * LONGEST, max(0, size - 4 * LONGEST))
    whole, end, torn = data.rpartition(b"\n")
    if not end:
        return b"", data
    return whole.rpartition(b"\n")[2], torn


def _write(file: int, data: bytes) -> None:
    """Add to the file, durably."""
    left = memoryview(data)
    try:
        while left:
            left = left[os.write(file, left) :]
        os.fsync(file)
    except OSError as problem:
        explain(problem, f"{NAME}/{TRACE}")


# ---- Reading the trace of a governed folder, and holding it against what was signed into the journal.

_MOST_FINDINGS: Final = 100


@dataclass(frozen=True, slots=True)
class TraceFinding(Finding):
    """A flaw of the trace. line: from 1, 0 where it is about none.

    code: DAMAGED_LINE, it is no line or its hash does not fit; BROKEN_CHAIN, it is not bound to the line
    before it; CHANGED_LINE, another one was signed under its id; MISSING_LINE, a signed one is not there.
    """

    JSON: ClassVar = "code line message"
    line: int = field(kw_only=True)

    @classmethod
    def of(cls, code: str, line: int, message: str) -> Self:
        """The flaw of a line."""
        return cls(code, message, f"line {line}" if line else "", line=line)


@dataclass(frozen=True, slots=True)
class TraceReport:
    """The trace as it is. unsigned: how many lines this home did not sign; another home may have: a trace
    travels with its repository. torn: a crash
    came in between: the next line that is added puts the end in order."""

    root: Path
    lines: tuple[TraceLine, ...]
    findings: tuple[TraceFinding, ...]
    unsigned: int = 0
    torn: bool = False

    @property
    def ok(self) -> bool:
        """Whether nothing was changed, taken out or put in between."""
        return not self.findings


def read_trace(home: Home, root: Path) -> TraceReport:
    """Read and check the trace of a governed folder; empty where there is none.

    Raises:
        ScopeError: what lies there is no plain file. JournalError: a record that cannot be believed.
    """
    with _opened(root) as pieces:  # nobody adds to it meanwhile
        return _checked(root, pieces, {line.id: line for line in signed_lines(home, root)})


def _checked(root: Path, pieces: Iterable[bytes], signed: Mapping[str, TraceLine]) -> TraceReport:
    lines, findings = list[TraceLine](), list[TraceFinding]()
    prev, unsigned, torn = NO_LINE, 0, False
    for number, data in enumerate(pieces, start=1):
        if not data.endswith(b"\n") and len(data) <= LONGEST:
            torn = read_line(data) is None
            if torn:
                break
        line = read_line(data)
        if line is None:
            findings.append(
                TraceFinding.of("DAMAGED_LINE", number, "it is no line, or its hash does not fit")
            )
        else:
            findings += _held_against(line, number, prev, signed)
            unsigned += line.id not in signed
            lines.append(line)
        prev = hash_of(data.removesuffix(b"\n"))
    there = {line.id for line in lines}
    for id, line in signed.items():
        if id not in there and line.prev == prev and id == max(signed):
            torn = True  # a crash came between the journal and the file
        elif id not in there:
            what = f"{line.change.tool} of {line.change.file} at {line.time} was signed and is not there"
            findings.append(TraceFinding.of("MISSING_LINE", 0, what))
    return TraceReport(root, tuple(lines), tuple(findings[:_MOST_FINDINGS]), unsigned, torn)


def _held_against(
    line: TraceLine, number: int, prev: str, signed: Mapping[str, TraceLine]
) -> Iterator[TraceFinding]:
    if line.prev != prev:
        yield TraceFinding.of("BROKEN_CHAIN", number, "it is not bound to the line before it")
    if line.id in signed and signed[line.id].hash != line.hash:
        yield TraceFinding.of("CHANGED_LINE", number, "another line was signed under its id")


@contextmanager
def _opened(root: Path) -> Iterator[Iterable[bytes]]:
    """The lines of the file with their ends; what is longer than a line can be comes in pieces."""
    try:
        with opened_folder(root) as folder:
            file = open_file(folder, TRACE, os.O_RDONLY)
    except (FileNotFoundError, ScopeError) as problem:
        if isinstance(problem, ScopeError) and problem.code != "NOT_FOUND":
            raise
        yield ()
        return
    with os.fdopen(file, "rb") as lines:
        take(file, shared=True)
        yield iter(lambda: lines.readline(LONGEST + 1), b"")
