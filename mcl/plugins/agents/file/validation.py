"""Whether a file of intents may be used: every rule over every entry, cycles, overlaps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from mcl.core.yaml.findings import Finding, Report, report_of, shown
from mcl.plugins.agents.file.cycles import cycles_of
from mcl.plugins.agents.file.document import Document
from mcl.plugins.agents.file.entries import Entry
from mcl.plugins.agents.file.overlaps import Overlap, TooManyError, overlaps_of
from mcl.plugins.agents.file.patterns import Patterns
from mcl.plugins.agents.file.rules import RULES, Around

SOFT_LIMIT: Final = 1_000  # intents in a file
_SHOWN: Final = 12  # labels of a cycle in its message


def validate(document: Document) -> Report:
    """All that is wrong or doubtful in a file, in its order; of one that could not be read, why."""
    if not document.whole:
        return report_of(document.findings)
    return report_of((*document.findings, *_found(document)))


def _found(document: Document) -> Iterator[Finding]:
    by_label: dict[str, Entry] = {}
    for entry in document.entries:
        by_label.setdefault(entry.label, entry)
    patterns = Patterns()
    around = Around(by_label, document.spoilt, patterns)
    for entry in document.entries:
        for rule in RULES:
            yield from rule(entry, around)
    yield from _circles(by_label)
    yield from _overlapping(document, patterns)
    if len(document.entries) > SOFT_LIMIT:
        message = (
            f"{len(document.entries)} intents in one file; more than {SOFT_LIMIT} are hard to keep apart"
        )
        yield Finding("SOFT_LIMIT", message, field="active_intents", line=1, level="warning")


def _circles(by_label: dict[str, Entry]) -> Iterator[Finding]:
    for cycle in cycles_of({label: entry.dependencies for label, entry in by_label.items()}):
        first = by_label[cycle.path[0]]
        way = [
            *cycle.path[:_SHOWN],
            *(["…", cycle.path[-1]] if len(cycle.path) > _SHOWN + 1 else cycle.path[_SHOWN:]),
        ]
        more = len(cycle.members) - (len(cycle.path) - 1)
        others = f", and {more} more on the same round" if more else ""
        named = f"dependencies[{first.dependencies.index(cycle.path[1])}]"
        message = (
            f"intents wait for one another: {' → '.join(way)}{others}; leave one of the dependencies out"
        )
        data = {"cycle": list(cycle.path), "members": list(cycle.members)}
        yield Finding("CIRCULAR_DEPENDENCY", message, first.label, named, first.line_of(named), data=data)


def _overlapping(document: Document, patterns: Patterns) -> Iterator[Finding]:
    active = [entry for entry in document.entries if entry.status == "IN_PROGRESS"]
    try:
        for overlap in overlaps_of([patterns.good(entry.owned_scope) for entry in active]):
            yield _overlap(active[overlap.one], active[overlap.other], overlap)
    except TooManyError:
        message = "the scopes of the intents in progress overlap, or begin alike, too often to tell of all"
        yield Finding("SCOPE_OVERLAP", f"{message}; begin each pattern with a folder of its own", line=1)


def _overlap(one: Entry, other: Entry, overlap: Overlap) -> Finding:
    """Told at the later of the two."""
    named = f"owned_scope[{other.owned_scope.index(overlap.its_pattern)}]"
    message = (
        f"{other.label} and {one.label} are both IN_PROGRESS and both own {shown(overlap.witness)}: "
        f"{shown(overlap.its_pattern)} meets {shown(overlap.pattern)}; part them, or finish one first"
    )
    data = {
        "intents": [one.label, other.label],
        "patterns": [overlap.pattern, overlap.its_pattern],
        "witness": overlap.witness,
    }
    return Finding("SCOPE_OVERLAP", message, other.label, named, other.line_of(named), data=data)
