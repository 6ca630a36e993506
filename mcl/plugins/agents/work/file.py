"""The file of a folder: read without following a link, and changed whole, by one process at a time."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Final, NamedTuple

from executor.core.errors import ScopeError
from executor.core.files import locked, whole_file
from executor.sandbox.files import explain, open_plain, out_of_scope, read_up_to
from ir import MclError
from mcl.core.errors import WorkError
from mcl.core.yaml import FileFlaw, ListNode, MapNode, ScalarNode, read_tree, shown, text_of
from mcl.plugins.agents.file.document import NAME as FILE
from mcl.plugins.agents.file.document import IntentEntry, IntentFile, document_of, quoted, read_file
from mcl.plugins.agents.file.rules import Status

_MOST: Final = 4 * 1024 * 1024 + 1  # one byte more than is read as YAML, so that more is noticed
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_IN, _, _NAME = FILE.rpartition("/")


def read_bytes(root: Path) -> bytes:
    """What the file of a folder holds; of a file that is too large its beginning.

    Raises WorkError FILE_UNREADABLE, whose message says why.
    """
    try:
        return _read(root)[0]
    except OSError as problem:
        raise _unreadable(root, problem) from problem


def read_document(root: Path) -> IntentFile:
    """The same, read as YAML; what is wrong there is in its findings. Raises WorkError FILE_UNREADABLE."""
    return read_file(read_bytes(root))


def change_bytes(root: Path, change: Callable[[bytes], bytes]) -> bool:
    """Put what a function makes of the file in its place; whether that is anything else.

    Others that do the same wait. What somebody saved meanwhile is not lost: then the function is asked again.
    Raises WorkError FILE_UNREADABLE, FILE_BUSY; ScopeError where it cannot be written; what the function
    raises.
    """
    with _locked(root):
        for _ in range(3):
            try:
                before, status = _read(root)
            except OSError as problem:
                raise _unreadable(root, problem) from problem
            after = change(before)
            if after == before:
                return False
            if _exchanged(root, after, status):
                return True
    raise WorkError("FILE_BUSY", "somebody keeps saving the file", place=FILE, fix="try again")


def write_bytes(root: Path, data: bytes, *, overwrite: bool = False) -> Path:
    """Write the file, and its folder where that is missing.

    Raises WorkError FILE_EXISTS; ScopeError where it cannot be written or a link lies there.
    """
    try:
        (root / _IN).mkdir(exist_ok=True)
    except OSError as problem:
        explain(problem, _IN)
    with _locked(root):
        try:
            status: os.stat_result | None = _read(root)[1]
        except FileNotFoundError:
            status = None
        except OSError as problem:
            raise _unreadable(root, problem) from problem
        if status is not None and not overwrite:
            raise WorkError("FILE_EXISTS", "there is a file already", place=FILE, fix="say --overwrite")
        try:
            with whole_file(root / FILE, like=status) as file:
                file.write(data)
            if status is None:
                (root / FILE).chmod(0o644)  # a team's file, in their repository
        except OSError as problem:
            explain(problem, FILE)
    return root / FILE


def _read(root: Path) -> tuple[bytes, os.stat_result]:
    """Raises OSError, also where something else than a plain file lies there."""
    folder = os.open(root / _IN, _FOLDER)
    try:
        descriptor = open_plain(_NAME, folder, FILE)
    except ScopeError as problem:
        raise OSError(errno.EINVAL, problem.message) from problem
    finally:
        os.close(folder)
    try:
        return read_up_to(descriptor, _MOST), os.fstat(descriptor)
    finally:
        os.close(descriptor)


def _exchanged(root: Path, after: bytes, status: os.stat_result) -> bool:
    """Whether the new file is in place: not, where the old one was saved anew since it was read."""

    class Saved(Exception):  # noqa: N818  # a signal out of `last`
        pass

    def last() -> None:
        now = (root / FILE).stat(follow_symlinks=False)
        if (now.st_ino, now.st_mtime_ns, now.st_size) != (status.st_ino, status.st_mtime_ns, status.st_size):
            raise Saved

    try:
        with whole_file(root / FILE, like=status, last=last) as file:
            file.write(after)
    except Saved:
        return False
    except OSError as problem:
        explain(problem, FILE)
    return True


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    with ExitStack() as held:
        try:
            held.enter_context(locked(root / _IN, _FOLDER))
        except OSError as problem:
            if problem.errno in (errno.ELOOP, errno.ENOTDIR):
                out_of_scope(_IN, "it is no folder of its own")
            raise _unreadable(root, problem) from problem
        yield


def _unreadable(root: Path, problem: OSError) -> WorkError:
    name = errno.errorcode.get(problem.errno or 0, "EIO")
    if problem.errno == errno.ENOENT:
        why = "ENOENT (file not found). Please create the file with at least one intent."
    elif problem.errno == errno.EINVAL:
        why = f"{problem.strerror}. Please put a plain file there."
    else:
        why = f"{name} ({(problem.strerror or 'no more is known').lower()}). Please make the file readable."
    fix = f"a person writes {root / FILE}, or writes it anew as it was signed: mcl work export"
    return WorkError("FILE_UNREADABLE", f"Failed to read {FILE}: {why}", place=FILE, fix=fix)


# ---- The file follows what was decided: its status line is edited, and everything else stays as it is.


def follow(root: Path, label: str, before: Status, after: Status, at: str) -> str:
    """Write a new status into the file. Gives "" or why the file does not say it: it is a view, and nothing
    depends on it.

    before: what the file must say now; whoever wrote another status there has it imported, or loses nothing.
    """

    def change(data: bytes) -> bytes:
        entry = read_file(data).entry(label)
        if entry is None or entry.status != before:
            raise _Differs
        return edit_status(data, label, after, at)

    try:
        change_bytes(root, change)
    except _Differs:
        return f"{FILE} says something else of {label} than what was signed, and was left as it is"
    except MclError as problem:
        return f"{FILE} does not say that {label} is {after}: {problem.message}"
    return ""


class _Differs(Exception):  # noqa: N818  # a signal inside this file
    pass


# ---- The status of one intent changed in its file, and every other byte left as it is.

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
    before, text, root = _read_tree(data)
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


def _read_tree(data: bytes) -> tuple[IntentFile, str, MapNode]:
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
