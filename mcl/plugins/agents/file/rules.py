"""What must hold for each intent of a file by itself, and for its place among the others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, TypeAlias

from executor.core.errors import GlobError
from executor.core.globs import Glob
from mcl.core.yaml import FileFlaw, Level, shown
from mcl.plugins.agents.file.document import IntentEntry

# ---- The words of a file: what its intents are called, and how far they may be.

Status = Literal["DRAFT", "IN_PROGRESS", "DONE", "BLOCKED"]
STATUSES: Final[tuple[Status, ...]] = ("DRAFT", "IN_PROGRESS", "DONE", "BLOCKED")
MAX_LABEL: Final = 64  # characters
_LABEL: Final = re.compile(r"INT-[0-9]{3,}")


def is_label(text: str) -> bool:
    """Whether a text is the id of an intent, such as INT-001."""
    return len(text) <= MAX_LABEL and _LABEL.fullmatch(text) is not None


def in_order(labels: Iterable[str]) -> tuple[str, ...]:
    """Labels from the smallest to the largest: INT-002 before INT-010 before INT-1000."""
    return tuple(sorted(labels, key=lambda label: (len(label), label)))


# ---- The times of a file: ISO 8601 with a zone, and the same in UTC.

_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)", re.ASCII)


def moment(text: str) -> datetime | None:
    """The moment that a text such as 2024-01-15T10:30:00Z says, None where it says none."""
    if not _MOMENT.fullmatch(text):
        return None
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):  # the 31st of February; the year 0001 east of Greenwich
        return None


def instant(text: str) -> str:
    """The same moment in UTC, as a signed document writes it: 2024-01-15T10:30:00Z, with parts of a second
    where there are any. Raises ValueError where the text says no moment.
    """
    found = moment(text)
    if found is None:
        raise ValueError(f"{text!r} is no moment such as 2024-01-15T10:30:00Z")
    return found.replace(tzinfo=None).isoformat() + "Z"


# ---- The patterns of a file, each read once however often it stands there.

MAX_PATHS: Final = 50_000


class Patterns:
    """Reads patterns and keeps what became of them, up to a bound for the whole file."""

    def __init__(self) -> None:
        self._read: dict[str, Glob | GlobError | None] = {}
        self._paths = 0

    def read(self, text: str) -> Glob | GlobError | None:
        """The pattern, or what is wrong with it; None behind the one at which the file had too many."""
        if text not in self._read:
            self._read[text] = self._new(text)
        return self._read[text]

    def good(self, texts: tuple[str, ...]) -> tuple[Glob, ...]:
        """Those of these patterns that can be read and are about files of the workspace."""
        return tuple(glob for text in texts if isinstance(glob := self.read(text), Glob))

    def _new(self, text: str) -> Glob | GlobError | None:
        if self._paths > MAX_PATHS:
            return None
        try:
            found = Glob.read(text)
        except GlobError as error:
            self._paths += 1
            return error
        self._paths += len(found.paths)
        if self._paths > MAX_PATHS:
            message = f"the patterns of the file stand for more than {MAX_PATHS}, with braces written out"
            return GlobError("INVALID_GLOB", message, place=text, fix="name folders, or part the file")
        return found


@dataclass(frozen=True)
class RuleContext:
    """The file around an entry. by_label: the first entry with each label. spoilt: as in a IntentFile."""

    by_label: Mapping[str, IntentEntry]
    spoilt: frozenset[tuple[int, str]]
    patterns: Patterns

    def is_spoilt(self, entry: IntentEntry, name: str) -> bool:
        """Whether the shape of a field is wrong already."""
        return (entry.line, name) in self.spoilt


Rule: TypeAlias = Callable[[IntentEntry, RuleContext], Iterator[FileFlaw]]


def label(entry: IntentEntry, around: RuleContext) -> Iterator[FileFlaw]:
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


def status(entry: IntentEntry, around: RuleContext) -> Iterator[FileFlaw]:
    """INVALID_STATUS."""
    if entry.status in STATUSES or around.is_spoilt(entry, "status"):
        return
    capitals = entry.status.upper().replace("-", "_").replace(" ", "_")
    meant = f"; write {capitals}" if capitals in STATUSES else ""
    said = f"the status {shown(entry.status)} is none" if entry.status else "there is no status; give one"
    yield _at(entry, "status", "INVALID_STATUS", f"{said} of {', '.join(STATUSES)}{meant}")


def scope(entry: IntentEntry, around: RuleContext) -> Iterator[FileFlaw]:
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


def times(entry: IntentEntry, around: RuleContext) -> Iterator[FileFlaw]:
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


def dependencies(entry: IntentEntry, around: RuleContext) -> Iterator[FileFlaw]:
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


def advice(entry: IntentEntry, around: RuleContext) -> Iterator[FileFlaw]:
    """MISSING_CONSTRAINTS, MISSING_ACCEPTANCE_CRITERIA."""
    if not entry.constraints and not around.is_spoilt(entry, "constraints"):
        message = "the intent has no constraints; say what an agent must keep to"
        yield _at(entry, "constraints", "MISSING_CONSTRAINTS", message, "warning")
    if not entry.acceptance_criteria and not around.is_spoilt(entry, "acceptance_criteria"):
        message = "the intent has no acceptance criteria; say when it is done"
        yield _at(entry, "acceptance_criteria", "MISSING_ACCEPTANCE_CRITERIA", message, "warning")


RULES: Final[tuple[Rule, ...]] = (label, status, scope, times, dependencies, advice)


def _at(entry: IntentEntry, named: str, type: str, message: str, level: Level = "error") -> FileFlaw:
    line = entry.lines.get(named) or entry.line_of(named.partition("[")[0])
    return FileFlaw(type, message, entry.label, named, line, level)
