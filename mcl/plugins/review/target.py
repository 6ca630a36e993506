"""What a review looks at: a file, a folder, or what changed, with the lines that are to be judged."""

from __future__ import annotations

import os
import stat
from functools import partial
from typing import Final

from anyio import from_thread, to_thread

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.git import Git, repository, text
from executor.sandbox.paths import Workspace
from executor.tools.project.sources import Missed, sources
from executor.tools.tool import Bench
from mcl.core.errors import ReviewError
from mcl.plugins.review.difference import changes
from mcl.plugins.review.piece import MAX_FILE, FilePiece, ReviewTarget, SkippedFile, piece_of

# ---- What a revision stands for.

_LONGEST = 500  # characters of a revision


async def base_of(git: Git, named: str) -> tuple[str, str]:
    """The commit that changes are taken against, and what git is told to compare with.

    It is where the present branch left the named revision (their merge base), so that what others did there
    since is no change. Of a repository without a commit it is the empty tree, and the commit is "".

    Raises:
        ReviewError: LOOKS_LIKE_OPTION, UNKNOWN_REVISION.
    """
    check_name(named)
    head = await git.commit_of("HEAD")
    if not head and named == "HEAD":
        empty = await git.answer("hash-object", "-t", "tree", "/dev/null")
        return "", text(empty.out).strip()
    commit = await git.commit_of(named)
    if not commit:
        raise ReviewError(
            "UNKNOWN_REVISION",
            f"there is no commit {named!r}",
            place=named,
            fix="name a branch, a tag or a commit, as in: mcl review --diff main",
        )
    if head and head != commit:
        met = await git.run("merge-base", commit, head)
        if met.status == 0 and (found := text(met.out).split()):
            commit = found[0]
    return commit, commit


def check_name(named: str) -> None:
    """Judge a revision by its text alone. Raises as `base_of`."""
    if named.startswith("-"):
        raise ReviewError(
            "LOOKS_LIKE_OPTION", f"{named!r} begins like an option", place=named, fix="name a revision: main"
        )
    if len(named) > _LONGEST or any(ord(char) < 32 or ord(char) == 127 for char in named):
        raise ReviewError(
            "UNKNOWN_REVISION",
            "what is named is no revision: it is too long, or holds a control character",
            place=named[:60],
            fix="name a branch, a tag or a commit",
        )


MAX_FILES: Final = 5000
MAX_TOTAL: Final = 64 << 20  # bytes of all files together
_WHY = {
    "PROTECTED_PATH": "secret",
    "OUT_OF_SCOPE": "link",
    "NOT_FOUND": "not there",
    "NOT_A_FILE": "submodule",  # git knows it as a file: it is another repository's folder
}


async def look_at(bench: Bench, *, path: str = "", base: str = "", staged: bool = False) -> ReviewTarget:
    """Read what is to be reviewed; nothing is written, and no link is followed.

    Args:
        path: a file or a folder, relative to the workspace. Of a folder what git knows or would take.
        base: a revision, in place of a path: the files as they are, with new ones that git does not ignore,
            against where this branch left it (the merge base).
        staged: what is staged against `base` (default: the last commit).

    Raises:
        ReviewError: NOTHING_NAMED, TWO_TARGETS, TOO_LARGE, NOT_TEXT, NOT_A_REPOSITORY, UNKNOWN_REVISION,
            LOOKS_LIKE_OPTION, NOTHING_CHANGED, NO_SOURCE.
        ScopeError: OUT_OF_SCOPE, PROTECTED_PATH, NOT_FOUND, NOT_A_FILE, UNREADABLE.
        ToolError: REPOSITORY_ELSEWHERE, GIT_FAILED, OBJECTS_MISSING, COMMAND_NOT_FOUND.
    """
    changed = bool(base or staged)
    if path and changed:
        raise ReviewError(
            "TWO_TARGETS", "a file and a revision are named", place=path, fix="name one of the two"
        )
    if changed:
        return await _difference(bench, base or "HEAD", staged=staged)
    if not path:
        raise ReviewError("NOTHING_NAMED", "no file is named", fix="name a file, a folder or a revision")
    missed: list[SkippedFile] = []
    paths = await in_folder(bench, path, missed=lambda place, why: missed.append(SkippedFile(place, why)))
    if paths is not None:
        return await to_thread.run_sync(_folder, bench.workspace, path, paths, missed)
    return ReviewTarget("file", (await to_thread.run_sync(_file, bench.workspace, path),))


async def in_folder(bench: Bench, path: str, *, missed: Missed = lambda path, why: None) -> list[str] | None:
    """The files of a folder; None where the path is none. missed: told what is left out. Raises ReviewError
    NO_SOURCE; ScopeError."""
    status = bench.workspace.check(path)
    if status is None or not stat.S_ISDIR(status.st_mode):
        return None
    paths = await sources(path, (), bench, missed=missed)
    if not paths:
        raise ReviewError(
            "NO_SOURCE", f"{path!r} holds no source file", place=path, fix="name a file, or another folder"
        )
    return paths


def _file(workspace: Workspace, path: str) -> FilePiece:
    """A file of the workspace, whole."""
    name = "/".join(workspace.split(path))
    data = _read(workspace, name)
    piece = piece_of(name, data) if isinstance(data, bytes) else None
    if isinstance(data, SkippedFile):
        raise ReviewError(
            "TOO_LARGE",
            f"{name!r} is larger than {MAX_FILE:,} bytes",
            place=name,
            fix="review a smaller file, or what changed in it: mcl review --diff",
        )
    if piece is None:
        raise ReviewError("NOT_TEXT", f"{name!r} is a binary file", place=name, fix="name a source file")
    return piece


def _read(workspace: Workspace, path: str) -> bytes | SkippedFile:
    """The bytes of a file; Skipped where it has too many. Raises ScopeError."""
    data, size = workspace.read(path, MAX_FILE + 1)
    return SkippedFile(path, "too large") if size > MAX_FILE or len(data) > MAX_FILE else data


def _one_of_many(workspace: Workspace, path: str) -> bytes | SkippedFile:
    """The same, where what may not be opened is left out, and told."""
    try:
        workspace.split(path)
    except ScopeError as problem:
        return SkippedFile(path, "secret" if problem.code == "PROTECTED_PATH" else "name")
    try:
        return _read(workspace, path)
    except ScopeError as problem:
        if problem.code == "NOT_FOUND" and "\ufffd" in path:  # what git's name is without its bytes
            return SkippedFile(path, "name")
        return SkippedFile(path, _WHY.get(problem.code, "unreadable"))


def _holds(workspace: Workspace, path: str) -> bool:
    """Is there anything in a folder? What cannot be looked at may hold something."""
    try:
        with workspace.open_folder(path) as folder, os.scandir(folder) as found:
            return next(found, None) is not None
    except ScopeError as problem:
        return problem.code != "NOT_FOUND"


def _folder(workspace: Workspace, path: str, paths: list[str], missed: list[SkippedFile]) -> ReviewTarget:
    pieces: list[FilePiece] = []
    skipped = sorted(missed, key=lambda one: one.path)
    room = MAX_TOTAL
    for count, name in enumerate(paths):
        from_thread.check_cancelled()
        if len(pieces) == MAX_FILES or room < 0:
            return ReviewTarget("folder", tuple(pieces), (*skipped, *_left(paths[count:])), truncated=True)
        data = _one_of_many(workspace, name)
        found = data if isinstance(data, SkippedFile) else piece_of(name, data) or SkippedFile(name, "binary")
        if isinstance(found, SkippedFile):
            skipped.append(found)
        else:
            pieces.append(found)
            room -= len(found.text)
    return ReviewTarget("folder", tuple(pieces), tuple(skipped))


def _left(paths: list[str]) -> tuple[SkippedFile, ...]:
    return tuple(SkippedFile(path, "too many") for path in paths)


async def _difference(bench: Bench, base: str, *, staged: bool) -> ReviewTarget:
    workspace = bench.workspace
    try:
        async with repository(workspace, ".") as git:
            commit, tree = await base_of(git, base)
            found = await changes(
                git,
                tree,
                staged=staged,
                read=partial(_one_of_many, workspace),
                holds=partial(_holds, workspace),
            )
    except ToolError as problem:
        raise _explained(problem) from problem
    if not found.pieces and not found.skipped:
        against = f"since {base}" if base != "HEAD" else "since the last commit"
        raise ReviewError(
            "NOTHING_CHANGED",
            f"nothing is staged {against}" if staged else f"nothing changed {against}",
            place=base,
            fix="name an older revision: mcl review --diff main",
        )
    return ReviewTarget("diff", found.pieces, found.skipped, base=commit, truncated=found.truncated)


def _explained(problem: ToolError) -> ToolError | ReviewError:
    """What git cannot be asked, as it is told to whoever wants a review."""
    if problem.code != "NOT_A_REPOSITORY":
        return problem
    return ReviewError(
        "NOT_A_REPOSITORY",
        "this folder holds no git repository of its own: a folder inside one and a bare repository are none",
        place=problem.place,
        fix="name the folder that holds .git: --workspace DIR; or review a file",
    )
