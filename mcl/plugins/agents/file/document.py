"""A file of intents, read: its entries, and what is wrong with how it is written."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final

from mcl.core.yaml.nodes import ListNode, MapNode, Node, is_null
from mcl.core.yaml.reading import MAX_BYTES, Finding, read_tree, text_of
from mcl.plugins.agents.file.entries import Entry, EntryReader

NAME: Final = ".orchestration/active_intents.yaml"  # where a folder keeps it
MAX_INTENTS: Final = 10_000
_ROOT: Final = ("active_intents", "metadata")
_END: Final = MAX_BYTES + 1  # a line that no file has


@dataclass(frozen=True)
class Document:
    """What a file says. entries: in the order of the file. findings: of its bytes, its YAML, its shape.

    whole: whether its list of intents could be read at all. spoilt: (line of an entry, field) of what has a
    wrong shape, which no rule need speak of again.
    """

    entries: tuple[Entry, ...]
    findings: tuple[Finding, ...] = ()
    whole: bool = True
    spoilt: frozenset[tuple[int, str]] = frozenset()

    def entry(self, label: str) -> Entry | None:
        """The first entry with this id."""
        return next((entry for entry in self.entries if entry.label == label), None)


def read_file(data: bytes, *, quick: bool = True) -> Document:
    """Read a file of intents. Never raises for what is in it: that is a finding.

    quick: with libyaml, where it is there; the same is found without.
    """
    text = text_of(data)
    if isinstance(text, Finding):
        return Document((), (text,), whole=False)
    return document_of(*read_tree(text, quick=quick))


def document_of(root: Node | None, found: tuple[Finding, ...]) -> Document:
    """What a tree says, and what was found while it was read."""
    if root is None and found:
        return Document((), found, whole=False)
    listed = root.get("active_intents") if isinstance(root, MapNode) else None
    if not isinstance(root, MapNode) or not isinstance(listed, ListNode):
        place = listed or root
        line = place.line if place else 1
        missing = Finding(
            "MISSING_ACTIVE_INTENTS", "the file must be a map with a list `active_intents`", line=line
        )
        return Document((), (*found, missing), whole=False)
    if len(listed.items) > MAX_INTENTS:
        line = listed.items[MAX_INTENTS].line
        return Document(
            (), (*found, Finding("FILE_TOO_LARGE", f"more than {MAX_INTENTS} intents", line=line)), False
        )
    entries: list[Entry] = []
    findings: list[Finding] = []
    spoilt: set[tuple[int, str]] = set()
    for number, item in enumerate(listed.items):
        if not isinstance(item, MapNode):
            named, line = f"active_intents[{number}]", item.line
            findings.append(
                Finding("INVALID_TYPE", "an intent must be a map of fields", field=named, line=line)
            )
            continue
        reader = EntryReader(item)
        entries.append(entry := reader.read())
        findings.extend(reader.findings)
        spoilt.update((entry.line, name) for name in reader.spoilt)
    findings.extend(_around(root))
    placed = _placed(
        found, entries, min((key.line for key, _ in root.pairs if key.line > listed.line), default=_END)
    )
    return Document(tuple(entries), (*placed, *findings), spoilt=frozenset(spoilt))


def _around(root: MapNode) -> Iterable[Finding]:
    """What else stands in the file."""
    for key, value in root.pairs:
        if key.text not in _ROOT:
            message = "only `active_intents` and `metadata` are read here"
            yield Finding("UNKNOWN_FIELD", message, "", key.text, key.line, "warning")
        elif key.text == "metadata" and not (isinstance(value, MapNode) or is_null(value)):
            yield Finding("INVALID_TYPE", "metadata must be a map", "", "metadata", key.line)


def _placed(found: tuple[Finding, ...], entries: list[Entry], after: int) -> Iterable[Finding]:
    """Findings of the YAML with the intent that they lie in. after: the line where the intents are over."""
    starts = [entry.line for entry in entries]
    for one in found:
        index = bisect_right(starts, one.line) - 1
        yield replace(one, intent_id=entries[index].label) if index >= 0 and one.line < after else one
