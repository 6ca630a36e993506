"""`mcl intents trace`: what was changed in a folder, under which intent, and whether the trace holds."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from executor.store.home import Home
from mcl.core.home import open_home
from mcl.plugins.agents.trace.line import TraceLine
from mcl.plugins.agents.trace.reading import TraceReport, read_trace
from mcl.plugins.agents.work.root import find_root
from mcl.plugins.agents.work.store import Work
from mcl.plugins.agents.writes.unended import Unended, unended


@dataclass(frozen=True)
class WorkTrace:
    """The lines that were asked for, oldest first, and what is to be said of the trace as a whole.

    unended: files that changed since a call of which nobody saw the end, and that no line tells of.
    """

    lines: tuple[TraceLine, ...]
    report: TraceReport
    unended: tuple[Unended, ...] = ()

    def to_json(self) -> dict[str, object]:
        """As a JSON object."""
        return {
            "root": str(self.report.root),
            "ok": self.report.ok,
            "torn": self.report.torn,
            "unsigned": self.report.unsigned,
            "total": len(self.report.lines),
            "findings": [one.to_json() for one in self.report.findings],
            "unended": [one.to_json() for one in self.unended],
            "lines": [line.to_json() for line in self.lines],
        }


def trace_work(
    *,
    root: Path | None = None,
    intent: str = "",
    file: str = "",
    agent: str = "",
    last: int | None = None,
    home: Home | None = None,
) -> WorkTrace:
    """Read and check the trace of a folder.

    Args:
        root: a folder in it (default: this one).
        intent, file, agent: only lines of this label or ULID, this file (relative to the root), this agent.
        last: at most so many, the newest.

    Raises:
        ScopeError: the trace is no plain file. JournalError: a record cannot be believed. HomeError.
    """
    home = home or open_home()
    work = Work(home)
    report = read_trace(home, find_root(work, root or Path.cwd()))
    lines = [
        line
        for line in report.lines
        if (not intent or intent in (line.change.label, line.change.intent_id))
        and (not file or line.change.file == file)
        and (not agent or line.change.agent == agent)
    ]
    traced = {line.change.file: line.change.after for line in report.lines}
    missed = unended(home, report.root, [one.intent_id for one in work.items(report.root)], traced)
    return WorkTrace(tuple(lines if last is None else lines[max(0, len(lines) - last) :]), report, missed)
