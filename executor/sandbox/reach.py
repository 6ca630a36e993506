"""Reading outside the workspace, where a person said so: a folder that was granted, or one path that was
approved.

The way to such a place is walked from the root of the file system, one component at a time, and no link is
followed; below it everything is as in the workspace, from a descriptor of its own. Nothing is ever written
there.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from executor.core.errors import PolicyError, ScopeError
from executor.sandbox.files import components, explain, out_of_scope
from executor.sandbox.paths import Workspace

# What looks like files there is the machine itself, with the memory and the variables of every program.
_NO_FILES = frozenset({"proc", "sys", "dev"})
_WAY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def is_elsewhere(path: str) -> bool:
    """Does a path, by its text, mean a place that is not named relative to the workspace?"""
    return path.startswith("/")


def plain_place(path: str) -> str:
    """An absolute path in its one spelling, by its text alone.

    Raises:
        ScopeError: OUT_OF_SCOPE (relative, ``..``, control characters, over-long, the whole file system, or
            below /proc, /sys or /dev), PROTECTED_PATH.
    """
    if not is_elsewhere(path):
        out_of_scope(path, "it is no absolute path")
    parts = components(path, absolute=True)
    if not parts:
        out_of_scope(path, "it is the whole file system")
    if parts[0] in _NO_FILES:
        out_of_scope(path, f"what lies in /{parts[0]} are no files")
    return "/" + "/".join(parts)


def covers(place: str, path: str) -> bool:
    """Is a path this place, or below it? Both as ``plain_place`` gives them."""
    return path == place or path.startswith(place + "/")


def walk_to(parts: Sequence[str], place: str, closed: Collection[tuple[int, int]]) -> int:
    """The descriptor of a folder, reached from the root of the file system without following a link; good for
    a way further, and not for reading. place: what messages call it. closed: folders on no way, by identity.

    Raises ScopeError OUT_OF_SCOPE, OSError.
    """
    here = os.open("/", _WAY)
    try:
        for part in parts:
            try:
                below = os.open(part, _WAY, dir_fd=here)
            except NotADirectoryError:
                if stat.S_ISLNK(os.stat(part, dir_fd=here, follow_symlinks=False).st_mode):
                    out_of_scope(place, "there is a symbolic link on its way")
                raise
            os.close(here)
            here = below
            _require_open(here, place, closed)
        return here
    except BaseException:
        os.close(here)
        raise


def _require_open(folder: int, place: str, closed: Collection[tuple[int, int]]) -> None:
    status = os.fstat(folder)
    if (status.st_dev, status.st_ino) in closed:
        out_of_scope(place, "the folder is closed to tools")


class Reach(Workspace):
    """A workspace whose tools may also read the given places, by absolute paths. Close it after the call.

    Args:
        workspace: where everything else happens; it stays open.
        places: folders (and all below them) or single files, as ``plain_place`` gives them.

    Raises:
        ScopeError: a place cannot be reached without following a link, or is closed to tools.
    """

    def __init__(self, workspace: Workspace, places: Iterable[str]) -> None:
        self.root = workspace.root
        self.forbidden = workspace.forbidden
        self.closed = workspace.closed
        self.known = workspace.known
        self._fd = -1
        self._folders: dict[tuple[str, ...], int] = {}
        self._files: dict[tuple[str, ...], int] = {}
        try:
            self._fd = os.dup(workspace._fd)
            for place in places:
                self._open(place)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give all descriptors back."""
        for descriptor in (*self._folders.values(), *self._files.values()):
            os.close(descriptor)
        self._folders, self._files = {}, {}
        super().close()

    def split(self, path: str) -> tuple[str, ...]:
        """As of a workspace; an absolute path to a place that may be read begins with an empty component.

        Raises:
            ScopeError: also OUT_OF_SCOPE for any other absolute path.
        """
        if not is_elsewhere(path):
            return super().split(path)
        parts = ("", *components(path, absolute=True))
        if parts not in self._files and self._above(parts) is None:
            out_of_scope(path, "nobody granted or approved to read there")
        return parts

    def check(self, path: str) -> os.stat_result | None:
        parts = self.split(path)
        if parts in self._folders:
            return os.fstat(self._folders[parts])
        return super().check(path)

    def _above(self, parts: tuple[str, ...]) -> tuple[str, ...] | None:
        return next((folder for folder in self._folders if parts[: len(folder)] == folder), None)

    def _start(self, parts: tuple[str, ...], path: str, *, create: bool) -> tuple[int, tuple[str, ...]]:
        if not parts or parts[0]:
            return super()._start(parts, path, create=create)
        if create:
            out_of_scope(path, "nothing is written outside the workspace")
        folder = self._above(parts)
        if folder is not None:
            return os.dup(self._folders[folder]), parts[len(folder) :]
        holding = next((held for name, held in self._files.items() if name[:-1] == parts), None)
        if holding is None:
            out_of_scope(path, "nobody granted or approved to read there")
        return os.dup(holding), ()

    def _open(self, place: str) -> None:
        parts = components(plain_place(place), absolute=True)
        try:
            above = walk_to(parts[:-1], place, self.closed)
        except OSError as problem:
            explain(problem, place)
        try:
            status = os.stat(parts[-1], dir_fd=above, follow_symlinks=False)
            if not stat.S_ISDIR(status.st_mode):
                self._files[("", *parts)] = os.dup(above)
                return
            folder = os.open(parts[-1], _FOLDER, dir_fd=above)
            self._folders[("", *parts)] = folder
            _require_open(folder, place, self.closed)
        except FileNotFoundError:
            self._files[("", *parts)] = os.dup(above)  # whoever opens it is told that there is nothing
        except OSError as problem:
            explain(problem, place)
        finally:
            os.close(above)


@contextmanager
def reaching(workspace: Workspace, places: Iterable[str]) -> Iterator[Workspace]:
    """The workspace, and for as long as this is open the places that may be read beside it.

    Raises:
        ScopeError: as ``Reach``.
    """
    wanted = tuple(places)
    if not wanted:
        yield workspace
        return
    reach = Reach(workspace, wanted)
    try:
        yield reach
    finally:
        reach.close()


def look_elsewhere(workspace: Workspace, path: str) -> None:
    """Judge an absolute path as it stands, whoever may read it: its text, and every component that exists.

    Raises:
        ScopeError: OUT_OF_SCOPE (also links, hard links, devices, FIFOs, closed folders), PROTECTED_PATH;
            NOT_FOUND, UNREADABLE, where nothing is wrong with the path but that.
    """
    place = plain_place(path)
    with reaching(workspace, [place]) as reach:
        reach.check(place)


# ---- Folders that may be read as a whole: what may be named, and what whoever starts mcl names.


def readable_root(root: Path, home: Path) -> str:
    """A folder that may be read, as ``plain_place`` gives it; links on the way to it are resolved now.

    Args:
        root: absolute. home: the folder of mcl's home, which is never readable.

    Raises:
        PolicyError: BAD_ROOT (not there, no folder, secrets, in the home, or the whole file system by any
            spelling, link or mount).
    """
    try:
        found = root.resolve(strict=True)
        if not found.is_dir():
            raise ScopeError("NOT_A_FOLDER", "it is no folder", place=str(root))
        if found.is_relative_to(home.resolve()):
            raise ScopeError("OUT_OF_SCOPE", "it lies in the home of mcl", place=str(root))
        if found.samefile("/"):
            raise ScopeError("OUT_OF_SCOPE", "it is the whole file system", place=str(root))
        return plain_place(str(found))
    except (OSError, RuntimeError, ValueError, ScopeError) as problem:
        said = getattr(problem, "strerror", None) or str(problem)
        why = problem.message if isinstance(problem, ScopeError) else f"it cannot be read: {said}"
        raise bad_root(str(root), why) from None


def allowed_roots(named: Iterable[str], home: Path) -> frozenset[str]:
    """The folders that whoever starts mcl lets its tools read beside the workspace.

    Nothing is ever written there, and a folder that is named so opens no secret: it is as if the agent had
    been granted to read it, for as long as this process lasts.

    Args:
        named: absolute paths, as they were given. home: the folder of mcl's home.

    Raises:
        PolicyError: BAD_ROOT (empty, relative, or as ``readable_root``).
    """
    found = []
    for name in named:
        if not name.startswith("/"):
            raise bad_root(name, "it is no absolute path")
        found.append(readable_root(Path(name), home))
    return frozenset(found)


def bad_root(name: str, why: str) -> PolicyError:
    """The refusal of a folder."""
    return PolicyError(
        "BAD_ROOT",
        f"{name!r} cannot be opened to reading: {why}",
        place=name,
        fix="name a folder that is there; no secrets, and not the whole file system",
    )
