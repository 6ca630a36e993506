"""What must hold for each intent of a file by itself, and for its place among the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from executor.core.errors import GlobError
from mcl.core.yaml.findings import Finding, Level, shown
from mcl.plugins.agents.file.entries import Entry
from mcl.plugins.agents.file.labels import STATUSES, is_label
from mcl.plugins.agents.file.moments import moment
from mcl.plugins.agents.file.patterns import Patterns


@dataclass(frozen=True)
class Around:
    """The file around an entry. by_label: the first entry with each label. spoilt: as in a Document."""

    by_label: Mapping[str, Entry]
    spoilt: frozenset[tuple[int, str]]
    patterns: Patterns

    def is_spoilt(self, entry: Entry, name: str) -> bool:
        """Whether the shape of a field is wrong already."""
        return (entry.line, name) in self.spoilt


Rule: TypeAlias = Callable[[Entry, Around], Iterator[Finding]]


def label(entry: Entry, around: Around) -> Iterator[Finding]:
    """INVALID_ID_FORMAT, DUPLICATE_ID."""
    if around.is_spoilt(entry, "id"):
        return
    if not is_label(entry.label):
        said = f"{shown(entry.label)} is" if entry.label else "there is"
        message = f"{said} no id; write INT- and at least three digits, such as INT-001"
        yield _at(entry, "id", "INVALID_ID_FORMAT", message)
    first = around.by_label[entry.label]
    if entry.label and first is not entry:
        message = f"{shown(entry.label)} is the id of the intent in line {first.line} too; give each its own"
        yield _at(entry, "id", "DUPLICATE_ID", message)


def status(entry: Entry, around: Around) -> Iterator[Finding]:
    """INVALID_STATUS."""
    if entry.status in STATUSES or around.is_spoilt(entry, "status"):
        return
    capitals = entry.status.upper().replace("-", "_").replace(" ", "_")
    meant = f"; write {capitals}" if capitals in STATUSES else ""
    said = f"the status {shown(entry.status)} is none" if entry.status else "there is no status; give one"
    yield _at(entry, "status", "INVALID_STATUS", f"{said} of {', '.join(STATUSES)}{meant}")


def scope(entry: Entry, around: Around) -> Iterator[Finding]:
    """EMPTY_SCOPE, INVALID_GLOB, ABSOLUTE_PATH."""
    if not entry.owned_scope and not around.is_spoilt(entry, "owned_scope"):
        message = "an intent needs at least one pattern in owned_scope, such as src/auth/**"
        yield _at(entry, "owned_scope", "EMPTY_SCOPE", message)
    for number, pattern in enumerate(entry.owned_scope):
        named = f"owned_scope[{number}]"
        wrong = around.patterns.read(pattern) if pattern else None
        if not isinstance(wrong, GlobError):
            continue
        if wrong.code == "ABSOLUTE_PATH":
            message = f"the pattern {shown(pattern)} is absolute, so it fits no file of the workspace"
            yield _at(entry, named, wrong.code, f"{message}; begin at its top folder", "warning")
        else:
            message = f"the pattern {shown(pattern)} cannot be read: {wrong.message}; {wrong.fix}"
            yield _at(entry, named, "INVALID_GLOB", message)


def times(entry: Entry, around: Around) -> Iterator[Finding]:
    """INVALID_TIMESTAMP_FORMAT, INVALID_TIMESTAMP."""
    moments = []
    for name, text in (("created_at", entry.created_at), ("updated_at", entry.updated_at)):
        moments.append(moment(text))
        if moments[-1] is None and not around.is_spoilt(entry, name):
            said = f"{name} {shown(text)} is no moment" if text else f"{name} is missing"
            message = f"{said}; write ISO 8601 with a zone, such as 2024-01-15T10:30:00Z"
            yield _at(entry, name, "INVALID_TIMESTAMP_FORMAT", message)
    created, updated = moments
    if created and updated and updated < created:
        message = f"updated_at {entry.updated_at} is before created_at {entry.created_at}"
        yield _at(entry, "updated_at", "INVALID_TIMESTAMP", message)


def dependencies(entry: Entry, around: Around) -> Iterator[Finding]:
    """INVALID_DEPENDENCY, and DEPENDENCY_NOT_READY for work that goes on without what it depends on."""
    for number, name in enumerate(entry.dependencies):
        if not name:
            continue
        other = around.by_label.get(name)
        if other is None:
            message = f"it depends on {shown(name)}, which is no intent of this file"
            yield _at(entry, f"dependencies[{number}]", "INVALID_DEPENDENCY", message)
        elif entry.status == "IN_PROGRESS" and other.status in ("DRAFT", "BLOCKED"):
            message = f"it is IN_PROGRESS and depends on {name}, which is {other.status}"
            yield _at(entry, f"dependencies[{number}]", "DEPENDENCY_NOT_READY", message, "warning")


def advice(entry: Entry, around: Around) -> Iterator[Finding]:
    """MISSING_CONSTRAINTS, MISSING_ACCEPTANCE_CRITERIA."""
    if not entry.constraints and not around.is_spoilt(entry, "constraints"):
        message = "the intent has no constraints; say what an agent must keep to"
        yield _at(entry, "constraints", "MISSING_CONSTRAINTS", message, "warning")
    if not entry.acceptance_criteria and not around.is_spoilt(entry, "acceptance_criteria"):
        message = "the intent has no acceptance criteria; say when it is done"
        yield _at(entry, "acceptance_criteria", "MISSING_ACCEPTANCE_CRITERIA", message, "warning")


RULES: Final[tuple[Rule, ...]] = (label, status, scope, times, dependencies, advice)


def _at(entry: Entry, named: str, type: str, message: str, level: Level = "error") -> Finding:
    line = entry.lines.get(named) or entry.line_of(named.partition("[")[0])
    return Finding(type, message, entry.label, named, line, level)
