"""What has changed in the files of a repository, what another commit would change, and staging it."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.git import Git, plain_path, text
from executor.sandbox.redaction import visible
from executor.tools.project.changes import CONFLICTS
from executor.tools.tool import Bench

_MOST = 200  # names that an answer lists
_UNFILTERED = ("unspecified", "unset", "set")  # what git says of a file that no filter changes


@dataclass(frozen=True, slots=True)
class Uncommitted:
    """Files that differ from the last commit. code: two letters as in git status --short."""

    path: str
    code: str

    @property
    def unstaged(self) -> bool:
        """Is something of it not in the index yet?"""
        return self.code[1] != " "


@dataclass(frozen=True, slots=True)
class Staged:
    """What was put into the index, and what was left out, each with the reason."""

    paths: tuple[str, ...]
    left_out: tuple[str, ...]


async def changed(git: Git, paths: Sequence[str]) -> list[Uncommitted]:
    """What has changed in these files and folders of the repository; everywhere where none is named.

    Raises:
        ToolError: TOO_MANY_FILES, IN_CONFLICT, LOOKS_LIKE_OPTION.
    """
    only = [plain_path(path) for path in paths]
    finished = await git.answer(
        "status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames",
        "--ignore-submodules=all", "--", *only,
    )  # fmt: skip
    if finished.truncated:
        raise ToolError(
            "TOO_MANY_FILES",
            "more has changed than can be looked at at once",
            place=".",
            fix="name the folder that is meant, or let .gitignore name what does not belong to it",
        )
    found = [Uncommitted(one[3:], one[:2]) for one in text(finished.out).split("\0") if len(one) > 3]
    clashing = [visible(one.path) for one in found if one.code in CONFLICTS]
    if clashing:
        raise ToolError(
            "IN_CONFLICT",
            f"in conflict: {', '.join(clashing[:5])}",
            place=clashing[0],
            fix="settle the conflict in the file first",
        )
    return found


async def changed_but(git: Git, paths: Sequence[str], but: Sequence[str]) -> list[str]:
    """The paths of what has changed there, without what lies in `but`. Raises ToolError as ``changed``."""
    found = await changed(git, paths)
    apart = {one.path for path in but for one in found if _below(path, [one])}
    return [one.path for one in found if one.path not in apart]


async def stage(git: Git, repo: str, paths: Sequence[str], bench: Bench, *, tracked: bool = False) -> Staged:
    """Put what has changed there into the index; with `tracked` no new files. Secret files and
    those with several hard links are left out; secret ones are refused where they are named.

    Raises:
        ToolError: as ``changed``; NOT_FOUND, FILTERED. ScopeError: PROTECTED_PATH, OUT_OF_SCOPE.
    """
    for path in paths:
        bench.workspace.split(f"{repo}/{path}")
    found = await changed(git, paths)
    for path in paths:
        known = await git.run("ls-files", "--error-unmatch", "-z", "--", plain_path(path), max_output=1024)
        if known.status != 0 and not _below(path, found) and bench.workspace.check(f"{repo}/{path}") is None:
            raise ToolError("NOT_FOUND", f"there is no {path!r}", place=path, fix="check the path")
    kept, left = list[str](), list[str]()
    for one in found:
        if not one.unstaged or (tracked and one.code == "??"):
            continue
        if one.path.endswith("/"):
            left.append(f"{visible(one.path)} (a repository of its own)")
        elif _is_secret(f"{repo}/{one.path}", bench):
            left.append(f"{visible(one.path)} (a secret file)")
        elif _has_other_names(f"{repo}/{one.path}", bench):
            left.append(f"{visible(one.path)} (it has several hard links)")
        else:
            kept.append(one.path)
    if kept:
        names = "\0".join(kept).encode("utf-8", "surrogateescape")
        await _require_unfiltered(git, names)
        await git.answer("add", "-A", "--pathspec-from-file=-", "--pathspec-file-nul", said=names)
    return Staged(tuple(kept), tuple(left))


async def require_committed(git: Git, repo: str, files: Sequence[str], *, all_staged: bool = False) -> None:
    """Refuse what is not committed of files that will be written over. all_staged: and all that is staged.

    Raises:
        ToolError: UNCOMMITTED.
    """
    meant = set(files)
    waiting = [
        visible(one.path)
        for one in await changed(git, [])
        if one.path in meant or (all_staged and one.code[0] not in " ?")
    ]
    if waiting:
        raise ToolError(
            "UNCOMMITTED",
            f"not committed: {', '.join(waiting[:5])}",
            place=repo,
            fix="commit it first, or put it away: git stash",
        )


async def files_between(git: Git, ours: str, tree: str, repo: str, bench: Bench) -> list[str]:
    """The files that differ between two commits. Raises ScopeError PROTECTED_PATH of a secret file."""
    said = await git.answer(
        "diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", ours, tree, "--"
    )
    found = [one for one in text(said.out).split("\0") if one]
    for path in found:
        try:
            bench.workspace.split(f"{repo}/{path}")
        except ScopeError as problem:
            raise ScopeError(
                problem.code,
                f"that would write {visible(path)!r}: {problem.message}",
                place=visible(path),
                fix="do it with git itself",
            ) from problem
    return found


def listed(paths: Sequence[str]) -> list[str]:
    """Names as an answer holds them."""
    return [visible(path) for path in paths[:_MOST]]


def remarks(left_out: Sequence[str]) -> str:
    """What is told of files that were left out, a line."""
    if not left_out:
        return ""
    more = f" and {len(left_out) - 5} more" if len(left_out) > 5 else ""
    return f"\nleft out: {', '.join(left_out[:5])}{more}"


def _below(path: str, found: Sequence[Uncommitted]) -> bool:
    name = path.strip("/")
    return any(one.path == name or one.path.startswith(f"{name}/") for one in found)


def _is_secret(path: str, bench: Bench) -> bool:
    try:
        bench.workspace.split(path)
    except ScopeError:
        return True
    return False


def _has_other_names(path: str, bench: Bench) -> bool:
    """Whether a file has several hard links, one of which may lie outside the workspace: no tool reads it."""
    folder, _, name = path.rpartition("/")
    try:
        with bench.workspace.open_folder(folder or ".") as below:
            status = os.stat(name, dir_fd=below, follow_symlinks=False)
    except (ScopeError, OSError):  # gone; git keeps a link as a link
        return False
    return stat.S_ISREG(status.st_mode) and status.st_nlink > 1


async def _require_unfiltered(git: Git, names: bytes) -> None:
    """Refuse files whose content a program is to change on its way into the history: none is run here."""
    said = await git.answer("check-attr", "-z", "--stdin", "filter", said=names + b"\0")
    fields = text(said.out).split("\0")
    for path, _, value in zip(fields[::3], fields[1::3], fields[2::3], strict=False):
        if value not in _UNFILTERED:
            raise ToolError(
                "FILTERED",
                f"{visible(path)!r} goes through the filter {visible(value)!r}, which is not run here",
                place=visible(path),
                fix="commit it with git itself",
            )
