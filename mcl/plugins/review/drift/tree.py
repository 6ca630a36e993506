"""A repository as it is looked at: the files that git knows or would take, read with bounds.

Whatever lies in it may be hostile: names are compared and never run, no link is followed, no file larger than
a bound is read, and there is an end to how many are.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import PurePosixPath
from typing import Any, Final

import anyio

from executor.core.clock import Clock
from executor.core.errors import ScopeError, ToolError
from executor.sandbox.git import Git, repository, text
from executor.sandbox.paths import Workspace
from executor.tools.project.changes import state
from executor.tools.project.sources import sources
from executor.tools.tool import Bench
from mcl.core.errors import ReviewError
from mcl.plugins.review.difference import overlooked

MAX_FILES: Final = 50_000
MAX_TEXT: Final = 2 << 20  # bytes of a file that is read as text
MAX_TOTAL: Final = 512 << 20  # bytes read in one look
_KEPT: Final = 32 << 20  # characters kept of what was read
_MAX_NAMES: Final = 32 << 20  # bytes of names taken from git
_MAX_COMPARED: Final = 64 << 20  # bytes of a file that git was told to overlook
_PATIENCE: Final = 120  # seconds
_ROOM: Final = 1 << 20  # bytes that the changes of a status may take
_LINK, _MODULE = "120000", "160000"  # git's modes of a link, and of a submodule
_UNDER_WAY: Final = (
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
)


@dataclass(frozen=True, slots=True)
class GitState:
    """What git says of a repository.

    tracked: path to mode of what is in version control. changes: (code, path) as of git status. tags: name to
    commit. last_tag: the newest tag that HEAD comes after or is, "" where there is none. under_way: a merge
    or the like that was not ended, in words.
    """

    head: str
    branch: str
    tracked: Mapping[str, str]
    changes: tuple[tuple[str, str], ...]
    tags: Mapping[str, str]
    last_tag: str
    under_way: str


@dataclass
class RepositoryTree:
    """The files of a workspace.

    files: those that are source, sorted, at most MAX_FILES. checkout: None where no git can be asked; closed
    then says why, and way_out what to do, "" where there is no repository. cut: are there more files than
    were looked at?
    """

    workspace: Workspace
    files: tuple[str, ...]
    checkout: GitState | None = None
    closed: str = ""
    way_out: str = ""
    cut: bool = False
    _left: int = field(default=MAX_TOTAL, repr=False)
    _room: int = field(default=_KEPT, repr=False)
    _kept: dict[str, str | None] = field(default_factory=dict, repr=False)

    @cached_property
    def known(self) -> frozenset[str]:
        """The files and the folders that they are in."""
        folders = {str(above) for path in self.files for above in PurePosixPath(path).parents}
        return frozenset({*self.files, *folders})

    @cached_property
    def folded(self) -> Mapping[str, str]:
        """The names at the top, by how they read in small letters."""
        return {path.casefold(): path for path in self.files if "/" not in path}

    def has(self, path: str) -> bool:
        """Is there such a file or folder? One that git ignores counts too."""
        plain = os.path.normpath(path)
        if plain in self.known:
            return True
        try:
            return self.workspace.check(plain) is not None
        except ScopeError:  # a protected name is nothing that a page leads to, but it is no flaw of the page
            return True

    @property
    def spent(self) -> bool:
        """Has more been read than one look may? Then nothing more is."""
        return self._left <= 0

    def beginning(self, path: str) -> tuple[bytes, int] | None:
        """The first MAX_TEXT bytes of a file, and its size; None where it is none, or too much was read."""
        if self.spent:
            return None
        try:
            data, size = self.workspace.read(path, MAX_TEXT)
        except ScopeError:
            return None
        self._left -= len(data)
        return data, size

    def read(self, path: str) -> bytes | None:
        """A whole file; None where it is none, larger than MAX_TEXT, or too much was read."""
        found = self.beginning(path)
        return found[0] if found is not None and found[1] <= MAX_TEXT else None

    def text(self, path: str) -> str | None:
        """A whole file as text; None also where it is no UTF-8. The first ones are read once."""
        if path in self._kept:
            return self._kept[path]
        data = self.read(path)
        try:
            found = None if data is None else data.decode("utf-8-sig")
        except UnicodeDecodeError:
            found = None
        self._room -= len(found or "")
        if self._room > 0:
            self._kept[path] = found
        return found


async def look(workspace: Workspace, clock: Clock) -> RepositoryTree:
    """Look at a workspace.

    Raises:
        ScopeError: it may not be opened. ReviewError: TREE_TOO_LARGE, going through it takes minutes.
    """
    bench, tree = Bench(workspace, clock, "read", _ROOM, ""), RepositoryTree(workspace, ())
    try:
        with anyio.fail_after(_PATIENCE):
            found = await sources(".", (), bench)
            tree.files, tree.cut = tuple(found[:MAX_FILES]), len(found) > MAX_FILES
            if _stat(workspace, ".git") is not None:
                async with repository(workspace, ".") as git:
                    tree.checkout = await _checkout(git, workspace)
                    gone = {path for code, path in tree.checkout.changes if "D" in code}
                    tree.files = tuple(path for path in tree.files if path not in gone)
    except ToolError as problem:
        tree.closed, tree.way_out = problem.message, problem.fix
    except TimeoutError as problem:
        raise ReviewError(
            "TREE_TOO_LARGE",
            f"going through the folder took longer than {_PATIENCE} seconds",
            place=str(workspace.root),
            fix="name a smaller folder: --workspace DIR",
        ) from problem
    return tree


async def _checkout(git: Git, workspace: Workspace) -> GitState:
    status: Mapping[str, Any] = await state(git, _ROOM)
    listed = await git.answer("ls-files", "--stage", "-z", max_output=_MAX_NAMES)
    tracked = dict(_staged(line) for line in text(listed.out).split("\0") if "\t" in line)
    tags: dict[str, str] = {}
    last = ""
    if status["commit"]:
        named = await git.answer(
            "for-each-ref", "--format=%(refname:strip=2)%00%(objectname)%00%(*objectname)", "refs/tags"
        )
        for line in text(named.out).splitlines():
            name, _, commits = line.partition("\0")
            commit, _, peeled = commits.partition("\0")
            tags[name] = peeled or commit
        described = await git.run("describe", "--tags", "--abbrev=0", "HEAD")
        last = text(described.out).strip() if described.status == 0 else ""
    changes = [(str(one["code"]), str(one["path"])) for one in status["changes"]]
    known = {path for _, path in changes}
    marked = await overlooked(git, partial(_content, workspace))
    changes += [(" M", path) for _, _, path in marked.files if path not in known]
    under_way = next((what for name, what in _UNDER_WAY if git.keeps(name)), "")
    return GitState(status["commit"], status["branch"], tracked, tuple(changes), tags, last, under_way)


def _content(workspace: Workspace, path: str) -> bytes | None:
    """The bytes of a tracked file; None where there is none. What cannot be read is no content of a file."""
    try:
        data, size = workspace.read(path, _MAX_COMPARED)
    except ScopeError as problem:
        return None if problem.code == "NOT_FOUND" else b""
    return data if size <= _MAX_COMPARED else b""


def _staged(line: str) -> tuple[str, str]:
    """Path and mode of a line of ``git ls-files --stage``."""
    about, _, path = line.partition("\t")
    return path, about.partition(" ")[0]


def plain_files(checkout: GitState) -> tuple[str, ...]:
    """The tracked files that are neither links nor submodules, sorted."""
    return tuple(sorted(path for path, mode in checkout.tracked.items() if mode not in (_LINK, _MODULE)))


def _stat(workspace: Workspace, name: str) -> os.stat_result | None:
    with workspace.open_folder(".") as folder:
        try:
            return os.stat(name, dir_fd=folder, follow_symlinks=False)
        except OSError:
            return None


def size_of(tree: RepositoryTree, path: str) -> int:
    """Bytes of a file; 0 where it is none that may be looked at."""
    try:
        status = tree.workspace.check(path)
    except ScopeError:
        return 0
    return status.st_size if status is not None and stat.S_ISREG(status.st_mode) else 0


Progress = Callable[[int, int, str], None]
"""Told how much of how much is done, and of what."""


def quiet(done: int, total: int, what: str) -> None:
    """Progress that nobody watches."""
