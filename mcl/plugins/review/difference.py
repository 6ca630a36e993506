"""What changed since a commit: files as they are now, with the lines that are new in them.

git is asked for its list of changed files (with their names as they are) and for the patch of each in the
same answer, so that both are of one moment. Attributes may call a file binary to hide it: a text that git
shows no lines of, or other lines than the file has, is judged whole.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from anyio import to_thread

from executor.core.errors import ScopeError
from executor.core.globs import fits_name
from executor.sandbox.files import components
from executor.sandbox.git import Git, text
from executor.tools.project.changes import PLAIN
from executor.tools.project.sources import LeftOut, is_vendored
from mcl.plugins.review.piece import (
    MAX_FILE,
    FilePiece,
    RemovedLines,
    SkippedFile,
    State,
    piece_of,
    text_of,
)

# ---- What git's own look at the files passes over: those that its index marks as unchanged, whatever is in
# them, and submodules, into which no git is sent.

_MAX_INDEX: Final = 32 << 20  # bytes of git's list of its index
_FILES: Final = ("100644", "100755")
_SUBMODULE: Final = "160000"
_SPARSE: Final = "S"  # skip-worktree; a small letter is assume-unchanged


@dataclass(frozen=True)
class Overlooked:
    """files: (mode, blob, path) of marked files whose content is not the index's. submodules: their paths.
    truncated: was git's list cut?"""

    files: tuple[tuple[str, str, str], ...]
    submodules: tuple[str, ...]
    truncated: bool


async def overlooked(git: Git, read: Callable[[str], bytes | None]) -> Overlooked:
    """What has to be looked at beside what git tells of the files.

    read: gives the bytes of a file, as many as there are; None where there is none. Raises ToolError
    GIT_FAILED.
    """
    answer = await git.answer("ls-files", "-v", "--stage", "-z", max_output=_MAX_INDEX)
    files: list[tuple[str, str, str]] = []
    submodules: list[str] = []
    for line in text(answer.out).split("\0"):
        about, _, path = line.partition("\t")
        if not path:
            continue
        tag, mode, blob, _ = about.split(" ")
        if mode == _SUBMODULE:
            submodules.append(path)
        elif mode in _FILES and (tag == _SPARSE or tag.islower()):
            data = await to_thread.run_sync(read, path)
            if data is not None and not _is(data, blob):
                files.append((mode, blob, path))
    return Overlooked(tuple(files), tuple(dict.fromkeys(submodules)), answer.truncated)


def _is(data: bytes, blob: str) -> bool:
    """Are these the bytes of a blob, also with the line ends of Windows?"""
    return blob in (_name(data, blob), _name(data.replace(b"\r\n", b"\n"), blob))


def _name(data: bytes, like: str) -> str:
    made = hashlib.sha1(usedforsecurity=False) if len(like) == 40 else hashlib.sha256()
    made.update(b"blob %d\0" % len(data))
    made.update(data)
    return made.hexdigest()


MAX_CHANGED: Final = 1000  # files of one difference
_MAX_PATCH = 32 << 20  # bytes of git's answer
_MAX_NAMES = 8 << 20  # bytes of names
_MAX_NEW = 5000  # files that git does not know yet
_HUNK = re.compile(rb"@@ -\d+(?:,\d+)? \+(\d+)(?:,(\d+))? @@")
_FORM = (*(one for one in PLAIN if one != "--no-renames"), "--find-renames", "-l1000", "--unified=0",
         "--inter-hunk-context=0", "--abbrev=64", "--full-index")  # fmt: skip
_WHY = {"120000": "link", _SUBMODULE: "submodule"}
_BLOCKS = {"U": 0, "T": 2}  # patches that git shows of a record, 1 of any other
_STATES: Mapping[str, State] = {"A": "new", "C": "new", "T": "new", "R": "renamed"}

Read = Callable[[str], bytes | SkippedFile]


@dataclass(frozen=True)
class ChangedFiles:
    """As of `ReviewTarget`."""

    pieces: tuple[FilePiece, ...]
    skipped: tuple[SkippedFile, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class _Record:
    """One line of git's list. status: A added, D deleted, M modified, R renamed, T kind, U unmerged."""

    mode: str
    blob: str
    status: str
    path: str
    was: str = ""


@dataclass(frozen=True, slots=True)
class _Hunk:
    """What became of some lines: those that stand there now, from the number ``start``, and those that are
    gone. Where none are new, ``start`` is the line they stood behind."""

    start: int
    new: list[str]
    gone: list[str]


async def changes(
    git: Git, tree: str, *, staged: bool, read: Read, holds: Callable[[str], bool]
) -> ChangedFiles:
    """The files that differ from a commit or tree.

    read: gives a file of the workspace. holds: is there anything in a folder of it? Raises ToolError
    GIT_FAILED.
    """
    index = await _staged(git, tree)
    conflicts = {one.path for one in index if one.status == "U"}
    records, patches, truncated = await _changed(git, tree, staged=staged)
    new, more = ([], False) if staged else await _untracked(git)
    away = {*new, *(one.path for one in records if one.status != "D")}
    records = [one for one in records if one.status != "D" or one.path not in away]
    # git looks into no submodule here: what changed of them is told by the index alone.
    records += [one for one in index if one.mode == _SUBMODULE and one.path not in away]
    if not staged:
        told = away | {one.path for one in records}
        marked, cut = await _marked(git, read, holds)
        records += [one for one in marked if one.path not in told]
        truncated = truncated or cut
    found: list[FilePiece | SkippedFile] = []
    for record in records:
        data = await _content(git, record, staged=staged, read=read)
        patch = patches.get(record.path)
        found.append(data if isinstance(data, SkippedFile) else _piece(record, data, patch, conflicts))
    for path in new:
        why = _left_out(path, untracked=True)
        data = why if why is not None else await to_thread.run_sync(read, path)
        found.append(data if isinstance(data, SkippedFile) else _piece(_Record("", "", "A", path), data))
    found.sort(key=lambda one: one.path)
    pieces = [one for one in found if isinstance(one, FilePiece)]
    skipped = [one for one in found if isinstance(one, SkippedFile)]
    skipped += [SkippedFile(one.path, "too many") for one in pieces[MAX_CHANGED:]]
    truncated = truncated or more or len(pieces) > MAX_CHANGED
    return ChangedFiles(tuple(pieces[:MAX_CHANGED]), tuple(skipped), truncated)


async def _staged(git: Git, tree: str) -> list[_Record]:
    """What the index has otherwise than a tree, submodules too: these are told without a look into them."""
    form = [one for one in PLAIN if not one.startswith("--ignore-submodules")]
    command = [
        "diff",
        "--cached",
        *form,
        "--ignore-submodules=none",
        "--raw",
        "--abbrev=64",
        "-z",
        tree,
        "--",
    ]
    answer = await git.answer(*command, max_output=_MAX_NAMES)
    return _records(answer.out)[0]


async def _marked(git: Git, read: Read, holds: Callable[[str], bool]) -> tuple[list[_Record], bool]:
    """What git was told to overlook and differs, and submodules that hold something: nobody looks into them.
    Whether there may be more."""

    def data(path: str) -> bytes | None:
        found = read(path)
        if isinstance(found, bytes):
            return found
        return None if found.why == "not there" else b"?"  # it cannot be compared: told with its reason

    found = await overlooked(git, data)
    records = [_Record(mode, blob, "M", path) for mode, blob, path in found.files]
    for path in found.submodules:
        if await to_thread.run_sync(holds, path):
            records.append(_Record(_SUBMODULE, "", "M", path))
    return records, found.truncated


async def _changed(
    git: Git, tree: str, *, staged: bool
) -> tuple[list[_Record], dict[str, list[bytes]], bool]:
    """The list, the lines of the patch of each path in it, and whether the answer was cut."""
    cached = ["--cached"] if staged else []
    answer = await git.answer(
        *("diff", *cached, *_FORM, "--raw", "--patch", "-z", tree, "--"),
        max_output=_MAX_PATCH,
        by_content=True,
    )
    records, rest = _records(answer.out)
    blocks = list(_blocks(rest))
    owners = [one.path for one in records for _ in range(_BLOCKS.get(one.status, 1))]
    if answer.truncated:
        blocks = blocks[:-1]
    elif len(blocks) != len(owners):  # a form that is not known here: each file is judged whole
        blocks = []
    return records, dict(zip(owners, blocks, strict=False)), answer.truncated


def _records(out: bytes) -> tuple[list[_Record], bytes]:
    """The list at the beginning of git's answer, and what follows it."""
    records: list[_Record] = []
    place = 0
    while out[place : place + 1] == b":":
        head, place = _field(out, place)
        _, mode, _, blob, status = text(head).split(" ")
        path, place = _field(out, place)
        was = b""
        if status[0] in "RC":
            was, (path, place) = path, _field(out, place)
        records.append(_Record(mode, blob, status[0], text(path), text(was)))
    return records, out[place:]


def _field(out: bytes, place: int) -> tuple[bytes, int]:
    end = out.find(b"\0", place)
    end = len(out) if end < 0 else end
    return out[place:end], end + 1


def _blocks(patch: bytes) -> Iterator[list[bytes]]:
    """The lines of each file's patch. Those of the files begin with + and -, so that none looks like a
    head."""
    block: list[bytes] | None = None
    for line in patch.lstrip(b"\0").split(b"\n"):
        if line.startswith(b"diff --git "):
            if block is not None:
                yield block
            block = []
        elif block is not None:
            block.append(line)
    if block is not None:
        yield block


async def _content(git: Git, record: _Record, *, staged: bool, read: Read) -> bytes | SkippedFile:
    if record.status in "DU" and not (record.status == "U" and not staged):
        return SkippedFile(record.path, "deleted" if record.status == "D" else "conflict")
    if record.mode in _WHY:
        return SkippedFile(record.path, _WHY[record.mode])
    if (why := _left_out(record.path)) is not None:
        return why
    if not staged:
        return await to_thread.run_sync(read, record.path)
    answer = await git.answer("cat-file", "blob", record.blob, max_output=MAX_FILE + 1)
    return SkippedFile(record.path, "too large") if len(answer.out) > MAX_FILE else answer.out


def _left_out(path: str, *, untracked: bool = False) -> SkippedFile | None:
    """Why a file is not opened, by its name; None where it may be."""
    if path.endswith("/"):
        return SkippedFile(path, "submodule")  # or any other repository
    try:
        name = components(path)[-1]
    except ScopeError as problem:
        return SkippedFile(path, "secret" if problem.code == "PROTECTED_PATH" else "name")
    left_out = LeftOut.load()
    if fits_name(left_out.files, name):
        return SkippedFile(path, "generated")
    return SkippedFile(path, "vendored") if untracked and is_vendored(path, left_out) else None


def _piece(
    record: _Record, data: bytes, patch: list[bytes] | None = None, conflicts: Collection[str] = ()
) -> FilePiece | SkippedFile:
    """A file, with the lines of its patch as those that are to be judged."""
    piece = piece_of(record.path, data)
    if piece is None:
        return SkippedFile(record.path, "binary")
    state = "conflict" if record.path in conflicts else _STATES.get(record.status, "changed")
    piece = replace(piece, state=state, was=record.was)
    if record.status == "A" or patch is None or data.count(b"\n") != piece.text.count("\n"):
        return piece
    hunks = list(_hunks(patch))
    if not all(_stands(hunk, piece) for hunk in hunks):
        return piece
    if not hunks:  # its name or its mode alone, or git takes for binary what it is not
        hidden = any(line.startswith(b"Binary files ") for line in patch)
        return piece if hidden or state == "conflict" else SkippedFile(record.path, "unchanged")
    return replace(
        piece,
        lines=tuple((one.start, one.start + len(one.new) - 1) for one in hunks if one.new),
        removed=tuple(
            RemovedLines(one.start - 1 if one.new else one.start, tuple(one.gone))
            for one in hunks
            if one.gone
        ),
    )


def _stands(hunk: _Hunk, piece: FilePiece) -> bool:
    """Does the file have what the patch says? It may have changed since, or be another one to git."""
    first = hunk.start - 1
    return (
        list(piece.rows[first : first + len(hunk.new)]) == hunk.new if hunk.new else hunk.start <= piece.total
    )


def _hunks(patch: list[bytes]) -> Iterator[_Hunk]:
    hunk: _Hunk | None = None
    for line in patch:
        if line.startswith(b"@@ ") and (head := _HUNK.match(line)):
            if hunk is not None:
                yield hunk
            hunk = _Hunk(int(head[1]), [], [])
        elif hunk is not None and line[:1] in (b"+", b"-"):
            row = text_of(line[1:]).rstrip("\n")
            (hunk.new if line[:1] == b"+" else hunk.gone).append(row)
    if hunk is not None:
        yield hunk


async def _untracked(git: Git) -> tuple[list[str], bool]:
    """New files that git would take, and whether there are more."""
    answer = await git.answer("ls-files", "-z", "--others", "--exclude-standard", max_output=_MAX_NAMES)
    names = [name for name in text(answer.out).split("\0") if name]
    return names[:_MAX_NEW], answer.truncated or len(names) > _MAX_NEW
