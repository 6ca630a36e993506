"""Reading the trace of a governed folder, and holding it against what was signed into the journal."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from executor.core.errors import ScopeError
from executor.store.home import Home
from mcl.plugins.agents.trace.folder import TRACE, open_file, opened_folder
from mcl.plugins.agents.trace.line import LONGEST, NO_LINE, TraceLine, hash_of, read_line
from mcl.plugins.agents.trace.trace import signed_lines

_MOST_FINDINGS: Final = 100


@dataclass(frozen=True, slots=True)
class TraceFinding:
    """A flaw of the trace. line: from 1, 0 where it is about none.

    code: DAMAGED_LINE, it is no line or its hash does not fit; BROKEN_CHAIN, it is not bound to the line
    before it; CHANGED_LINE, another one was signed under its id; MISSING_LINE, a signed one is not there.
    """

    code: str
    line: int
    message: str

    def to_json(self) -> dict[str, object]:
        return {"code": self.code, "line": self.line, "message": self.message}


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
            findings.append(TraceFinding("DAMAGED_LINE", number, "it is no line, or its hash does not fit"))
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
            findings.append(TraceFinding("MISSING_LINE", 0, what))
    return TraceReport(root, tuple(lines), tuple(findings[:_MOST_FINDINGS]), unsigned, torn)


def _held_against(
    line: TraceLine, number: int, prev: str, signed: Mapping[str, TraceLine]
) -> Iterator[TraceFinding]:
    if line.prev != prev:
        yield TraceFinding("BROKEN_CHAIN", number, "it is not bound to the line before it")
    if line.id in signed and signed[line.id].hash != line.hash:
        yield TraceFinding("CHANGED_LINE", number, "another line was signed under its id")


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
        fcntl.flock(file, fcntl.LOCK_SH)
        yield iter(lambda: lines.readline(LONGEST + 1), b"")
