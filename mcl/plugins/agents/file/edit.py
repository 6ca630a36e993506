"""The status of one intent changed in its file, and every other byte left as it is."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from mcl.core.errors import WorkError
from mcl.core.yaml import FileFlaw, ListNode, MapNode, ScalarNode, read_tree, shown, text_of
from mcl.plugins.agents.file.document import IntentEntry, IntentFile, document_of, quoted, read_file

_MARK: Final = b"\xef\xbb\xbf"  # what some editors put before a text
_BREAK: Final = re.compile("\r\n?|\n")
_PLAIN: Final = re.compile(r"[A-Z0-9][A-Za-z0-9_:.+-]*[A-Za-z0-9]")  # what needs no quotes, of what is put in
_PERSON: Final = "a person changes the file by hand, or writes it anew: mcl work export"


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


def edit_status(
    data: bytes, label: str, status: str, updated_at: str, blocked_reason: str | None = None
) -> bytes:
    """The file with another status, time of change and reason for one intent.

    blocked_reason: None makes a reason that is there null. A value keeps its quotes; what follows it on its
    line, and all else, stays byte for byte. The new bytes are read again: they say what they should.

    Raises WorkError: FILE_INVALID (it cannot be read), NOT_FOUND, FILE_NOT_EDITED (what a value stands in
    allows no change of it alone, as with an alias, or a second intent has the same id).
    """
    before, text, root = _read(data)
    entry, node = _found(before, root, label)
    edits = sorted(_edits(text, node, entry, status, updated_at, blocked_reason))
    parts, done = [], 0
    for start, end, new in edits:
        parts += [text[done:start], new]
        done = end
    after = "".join((*parts, text[done:])).encode()
    after = _MARK + after if data.startswith(_MARK) else after
    wanted = (status, updated_at, blocked_reason or "")
    if not _says(after, before, label, wanted):
        message = f"the status of {label} cannot be changed without changing something else"
        raise WorkError("FILE_NOT_EDITED", message, place=f"line {entry.line}", fix=_PERSON)
    return after


def _read(data: bytes) -> tuple[IntentFile, str, MapNode]:
    text = text_of(data)
    if isinstance(text, FileFlaw):
        first = text
    else:
        root, found = read_tree(text)
        document = document_of(root, found)
        if document.whole and isinstance(root, MapNode):
            return document, text, root
        first = document.findings[0]
    raise WorkError("FILE_INVALID", first.message, place=f"line {first.line}", fix="mcl work check says more")


def _found(document: IntentFile, root: MapNode, label: str) -> tuple[IntentEntry, MapNode]:
    """The one entry with this label, and the map that it is."""
    listed = root.get("active_intents")
    nodes = (
        [item for item in listed.items if isinstance(item, MapNode)] if isinstance(listed, ListNode) else []
    )
    found = [pair for pair in zip(document.entries, nodes, strict=True) if pair[0].label == label]
    if not found:
        there = ", ".join(entry.label for entry in document.entries[:20]) or "none"
        raise WorkError(
            "NOT_FOUND", f"{shown(label)} is not in the file", place=label, fix=f"there is {there}"
        )
    if len(found) > 1:
        message = f"{len(found)} intents of the file have the id {label}"
        raise WorkError("FILE_NOT_EDITED", message, place=f"line {found[1][0].line}", fix=_PERSON)
    return found[0]


def _edits(
    text: str, node: MapNode, entry: IntentEntry, status: str, updated_at: str, reason: str | None
) -> Iterator[_Edit]:
    own_status, own_time = _own(node, entry, "status"), _own(node, entry, "updated_at")
    if status != entry.status:
        yield _replaced(text, own_status, _like(own_status, status))
    if updated_at != entry.updated_at:
        yield _replaced(text, own_time, _like(own_time, updated_at))
    if (reason or "") == entry.blocked_reason:
        return
    if node.get("blocked_reason") is None:
        yield _added(text, node, own_status, f"blocked_reason: {quoted(reason or '')}")
    else:
        own_reason = _own(node, entry, "blocked_reason")
        yield _replaced(text, own_reason, quoted(reason) if reason else "null")


def _own(node: MapNode, entry: IntentEntry, name: str) -> ScalarNode:
    """The value of a field, which must be written there itself."""
    value = node.get(name)
    if isinstance(value, ScalarNode) and value.style != "*":
        return value
    message = f"{name} of {entry.label} is no value of its own that could be changed"
    raise WorkError("FILE_NOT_EDITED", message, place=f"line {entry.line_of(name)}", fix=_PERSON)


def _like(value: ScalarNode, text: str) -> str:
    """A new value in the quotes of the old one."""
    if value.style == "'" and "'" not in text:
        return f"'{text}'"
    return text if value.plain and _PLAIN.fullmatch(text) else quoted(text)


def _replaced(text: str, value: ScalarNode, written: str) -> _Edit:
    """A value exchanged; one of many lines (| or >) up to its last character, one that is empty after its
    colon.
    """
    start = value.start
    kept = len(text[start : value.end].rstrip())
    apart = " " if not kept and text[start - 1 : start] == ":" else ""
    return _Edit(start, start + kept, apart + written)


def _added(text: str, node: MapNode, status: ScalarNode, written: str) -> _Edit:
    """A field after the status: in the braces, or on a line of its own that begins where the status does."""
    end = status.start + len(text[status.start : status.end].rstrip())
    if node.flow:
        return _Edit(end, end, f", {written}")
    key = next(key for key, _ in node.pairs if key.text == "status").start
    column = key - 1 - max(text.rfind("\n", 0, key), text.rfind("\r", 0, key))
    found = _BREAK.search(text, end)
    place, line_break = (found.start(), found[0]) if found else (len(text), "\n")
    return _Edit(place, place, f"{line_break}{' ' * column}{written}")


def _says(after: bytes, before: IntentFile, label: str, wanted: tuple[str, str, str]) -> bool:
    """Whether the new bytes say what the old ones said, but for the one intent."""
    status, updated_at, reason = wanted
    expected = tuple(
        replace(entry, status=status, updated_at=updated_at, blocked_reason=reason)
        if entry.label == label
        else entry
        for entry in before.entries
    )
    document = read_file(after)
    return document.entries == expected and _kinds(document) == _kinds(before)


def _kinds(document: IntentFile) -> list[tuple[str, str, str]]:
    return sorted((one.type, one.intent_id, one.field) for one in document.findings)
