"""Where git keeps what it knows of a folder: in its own ``.git``, or, for a linked work tree and a submodule,
in a folder elsewhere that a file ``.git`` names.

That file comes with a workspace, so it is believed in nothing. The folder elsewhere is walked to from the
root of the file system without following a link, must be our own user's, and must itself name this work tree
(that of a submodule, which is only read, must be kept by a repository above it); and where it lies outside
the workspace, a person must have named it. git is asked only after that, and is given the folders that were
looked at, as open descriptors: it does not read ``.git`` again.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NoReturn

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.files import open_plain, out_of_scope, read_up_to, status_of
from executor.sandbox.paths import KEY, Known, Workspace
from executor.sandbox.reach import walk_to

_LONGEST: Final = 8192  # bytes of a file that names a folder
_POINTER: Final = "gitdir: "
_ABOVE: Final = "../.."  # what git itself writes; it follows that from the descriptor
_MOVED: Final = (
    "where a work tree was moved: git worktree repair; else use a clone with a .git folder of its own"
)
_WAY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class History:
    """The folders of git of one work tree, open for as long as it is in use.

    own: what is of this tree alone (HEAD, the index); common: all else. Both are the same but in a linked
    work tree. place: where `common` lies. linked: it is named by a file, and no ``.git`` of the tree's own.
    """

    own: int
    common: int
    place: Path
    own_place: Path
    linked: bool

    @property
    def folders(self) -> tuple[Path, Path]:
        """`own` and `common` as this process, and one that was given the descriptors, can open them."""
        if sys.platform == "linux":  # nobody can move another folder into their place meanwhile
            return Path(f"/proc/self/fd/{self.own}"), Path(f"/proc/self/fd/{self.common}")
        return self.own_place, self.place


@contextmanager
def history(workspace: Workspace, path: str, folder: int, *, writes: bool = False) -> Iterator[History]:
    """Find the history of a folder of the workspace. folder: the same, open. writes: it will be changed.

    Raises:
        ToolError: NOT_A_REPOSITORY, REPOSITORY_ELSEWHERE.
    """
    here = _absolute(workspace, path)
    with ExitStack() as opened:
        try:
            status = status_of(".git", folder)
            if status is not None and stat.S_ISREG(status.st_mode):
                found = _named(workspace, here, folder, opened)
                _require_known(workspace, path, here, found, writes=writes)
            elif status is not None and stat.S_ISDIR(status.st_mode):
                own = _open(os.open(".git", _WAY, dir_fd=folder), opened)
                found = History(own, own, here / ".git", here / ".git", linked=False)
            else:
                bare = status_of("HEAD", folder) is not None and status_of("objects", folder) is not None
                _no_repository(path, "is a bare repository, which has no files" if bare else "")
        except (OSError, ScopeError) as problem:
            said = problem.message if isinstance(problem, ScopeError) else problem.strerror or str(problem)
            elsewhere(path, f"its .git cannot be followed: {said}", fix=_MOVED)
        yield found


def places_elsewhere(workspace: Workspace) -> tuple[Path, Path] | None:
    """Where the history of the workspace itself lies, its own part and the common one, where that is outside
    and may be read; else None."""
    try:
        with workspace.open_folder(".") as folder, history(workspace, ".", folder) as found:
            outside = found.linked and not found.place.is_relative_to(workspace.root)
            return (found.own_place, found.place) if outside else None
    except (ToolError, ScopeError):
        return None


def elsewhere(path: str, why: str, *, fix: str = "") -> NoReturn:
    """ToolError REPOSITORY_ELSEWHERE."""
    raise ToolError(
        "REPOSITORY_ELSEWHERE",
        f"the repository in {path!r} is not used: {why}",
        place=path,
        fix=fix or "use a clone that keeps everything in its own .git folder",
    )


def main_folder(place: Path) -> Path:
    """The folder that people know a repository by, of its folder of git."""
    return place.parent if place.name == ".git" else place


def _no_repository(path: str, why: str) -> NoReturn:
    raise ToolError(
        "NOT_A_REPOSITORY",
        f"{path!r} {why or 'holds no git repository of its own (a folder inside one is none)'}",
        place=path,
        fix="choose the folder that holds .git as workspace or as `repo`",
    )


def _named(workspace: Workspace, here: Path, folder: int, opened: ExitStack) -> History:
    """The folders that a file ``.git`` names, where what lies there names this tree."""
    said, pointer = _line(".git", folder)
    if not said.startswith(_POINTER):
        raise ScopeError("UNREADABLE", "it does not say where", place=str(here))
    place = _resolved(said.removeprefix(_POINTER), here)
    parts = place.parts[1:]
    if len(parts) >= 3 and parts[-2] == "worktrees":
        return _linked(workspace, here, folder, pointer, place, opened)
    within = [above for above in here.parents if place.is_relative_to(above / ".git" / "modules")]
    if not within or place == within[0] / ".git" / "modules":
        raise ScopeError(
            "OUT_OF_SCOPE",
            f"{place} is neither of a linked worktree nor of a submodule of a folder above",
            place=str(place),
        )
    own = _walked(place, workspace, opened)
    _require_repository(own, place)
    return History(own, own, place, place, linked=True)


def _linked(
    workspace: Workspace, here: Path, folder: int, pointer: os.stat_result, place: Path, opened: ExitStack
) -> History:
    """The folders of a linked work tree: ``<common>/worktrees/<name>``, which names the tree, and common."""
    common_place = place.parent.parent
    common = _walked(common_place, workspace, opened)
    below = _open(os.open("worktrees", _WAY, dir_fd=common), opened)
    own = _open(os.open(place.name, _WAY, dir_fd=below), opened)
    for one, name in ((below, place.parent), (own, place)):
        _require_ours(os.fstat(one), name)
    _require_repository(common, common_place)
    back = _resolved(_line("gitdir", own)[0], place)
    if back != here / ".git":
        raise ScopeError("OUT_OF_SCOPE", f"{place} is of the work tree {back.parent}", place=str(place))
    # On the disk too: a folder may have been moved since it was opened.
    if not (os.path.samestat(here.lstat(), os.fstat(folder)) and os.path.samestat(back.lstat(), pointer)):
        raise ScopeError("OUT_OF_SCOPE", f"{here} is another folder by now", place=str(place))
    if _line("commondir", own)[0] != _ABOVE:
        raise ScopeError("OUT_OF_SCOPE", f"{place}/commondir leads elsewhere", place=str(place))
    return History(own, common, common_place, place, linked=True)


def _require_known(workspace: Workspace, path: str, here: Path, found: History, *, writes: bool) -> None:
    submodule = found.own == found.common
    repository = main_folder(found.place)
    if submodule:
        if writes:
            elsewhere(path, "it is a submodule, which is only read", fix="work in a clone of its own")
        repository = next(one for one in here.parents if found.place.is_relative_to(one / ".git" / "modules"))
    if found.place.is_relative_to(workspace.root):
        return
    known: Known = workspace.known()
    if known.lets_write(repository, here) or (not writes and known.lets_read(repository, here)):
        return
    shown = shlex.quote(str(repository))
    add = f"mcl repo add {repository.name if KEY.match(repository.name) else 'KEY'} {shown}"
    if writes and known.lets_read(repository, here):
        elsewhere(path, f"its history lies in {repository}, which may be read and not written", fix=add)
    elsewhere(
        path,
        f"its history lies outside the workspace, in {repository}, which no person has named",
        fix=f"{add}; or, to read it only: mcl grant add read --root {shown}",
    )


def _require_repository(folder: int, place: Path) -> None:
    _require_ours(os.fstat(folder), place)
    for name, kind in (("HEAD", stat.S_ISREG), ("objects", stat.S_ISDIR), ("refs", stat.S_ISDIR)):
        status = status_of(name, folder)
        if status is None or not kind(status.st_mode):
            raise ScopeError("OUT_OF_SCOPE", f"{place} is no repository ({name})", place=str(place))


def _require_ours(status: os.stat_result, place: Path) -> None:
    if status.st_uid != os.geteuid():
        raise ScopeError("OUT_OF_SCOPE", f"{place} belongs to another user", place=str(place))


def _line(name: str, folder: int) -> tuple[str, os.stat_result]:
    """The one line of a plain file of our own, and its status. Raises ScopeError, OSError."""
    descriptor = open_plain(name, folder, name)
    try:
        status = os.fstat(descriptor)
        _require_ours(status, Path(name))
        data = read_up_to(descriptor, _LONGEST + 1)
    finally:
        os.close(descriptor)
    try:
        said = data.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        said = ""
    if not said or len(data) > _LONGEST or not said.isprintable():
        raise ScopeError("UNREADABLE", f"{name} does not hold one line of text", place=name)
    return said, status


def _resolved(said: str, base: Path) -> Path:
    """A path as git means it in a folder, by its text alone: on the way to it no link is followed later."""
    return Path(os.path.normpath(base / said))


def _absolute(workspace: Workspace, path: str) -> Path:
    parts = workspace.split(path)
    return Path("/", *parts) if parts[:1] == ("",) else workspace.root.joinpath(*parts)


def _walked(place: Path, workspace: Workspace, opened: ExitStack) -> int:
    # Of the machine's folders /dev may be on the way: workspaces lie in /dev/shm too.
    status = Path("/dev").lstat()
    return _open(
        walk_to(place.parts[1:], str(place), workspace.closed - {(status.st_dev, status.st_ino)}), opened
    )


def _open(descriptor: int, opened: ExitStack) -> int:
    opened.callback(os.close, descriptor)
    return descriptor


# ---- What git keeps of branches, tags and the index, as files that are kept before a tool and put back.

STATE_FILES: Final = ("HEAD", "index", "packed-refs")
STATE_FOLDERS: Final = ("refs", "logs/refs")
_STATE: Final = re.compile(r"(?:|logs|HEAD|index|packed-refs|(?:logs/)?refs(?:/.*)?)", re.DOTALL)
_GIT: Final = ".git"


class HistoryWorkspace(Workspace):
    """A workspace in which also the state of git may be looked at and put back; no tool is ever given one."""

    @classmethod
    def of(cls, workspace: Workspace) -> HistoryWorkspace:
        """The same folder; the other one stays open."""
        made = cls.__new__(cls)
        made.root, made.forbidden = workspace.root, workspace.forbidden
        made.closed, made.known = workspace.closed, workspace.known
        made._fd = os.dup(workspace._fd)
        return made

    def split(self, path: str) -> tuple[str, ...]:
        """As of a workspace; below ``.git`` the files of its state alone."""
        parts = path.split("/")
        if _GIT not in parts:
            return super().split(path)
        place = parts.index(_GIT)
        below = parts[place + 1 :]
        if not _STATE.fullmatch("/".join(below)) or any(
            part in ("", ".", "..") or not part.isprintable() for part in below
        ):
            out_of_scope(path, "it is no part of git's state that is put back")
        return (*super().split("/".join(parts[:place])), _GIT, *below)
