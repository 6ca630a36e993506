"""Restoration files back: all staged first, then each swapped in at once; all taken back where one fails.

Names of what lies beside a file meanwhile come from the record of the undo, so that a later process finds
what a killed one left: ``new`` is the content to come, ``old`` the one that goes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from executor.core.errors import ScopeError
from executor.sandbox.files import digest_of, explain, open_plain, status_of
from executor.sandbox.paths import Workspace
from executor.sandbox.writing import alone, place_new
from executor.walker.undo.looker import ABSENT, Looker, State, from_body
from executor.walker.undo.records import KeptCall, UndoHistory
from executor.walker.undo.store import ImageStore
from ir.results import JsonResult

# ---- From what happened to what must be put back: pure, no file is looked at.

INTERRUPTED = "its call was interrupted: what it left was not recorded"


@dataclass(frozen=True, slots=True)
class Restore:
    """One path that must become what it was.

    found: what lies there if nobody changed it since; None where nobody knows. calls: ids of the calls that
    changed it, the last first.
    """

    root: str
    path: str
    found: State | None
    target: State
    calls: tuple[str, ...]
    node: str

    def to_body(self) -> dict[str, Any]:
        """As the record of an undo keeps it."""
        return {
            "root": self.root,
            "path": self.path,
            "node": self.node,
            "found": [] if self.found is None else [self.found.to_body(self.path)],
            "target": self.target.to_body(self.path),
            "calls": list(self.calls),
        }


def restore_of(body: dict[str, Any]) -> Restore:
    """What a record keeps."""
    found = from_body(body["found"][0])[1] if body["found"] else None
    target = from_body(body["target"])[1]
    return Restore(body["root"], body["path"], found, target, tuple(body["calls"]), body["node"])


@dataclass(frozen=True, slots=True)
class Changed(JsonResult):
    """A path that is not as the calls left it, and why it is left alone."""

    path: str
    why: str
    node: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an undo has to do.

    files: in the order in which they are put back, the last call's first. folders: that calls made, by root,
    the deepest first. changed: what the journal alone says against it. calls: all that are meant.
    """

    files: tuple[Restore, ...]
    folders: tuple[tuple[str, str, tuple[str, ...]], ...]
    changed: tuple[Changed, ...]
    calls: tuple[KeptCall, ...]


def wanted(
    history: UndoHistory, *, nodes: Collection[str] | None = None, leave: Collection[str] = ()
) -> Wanted:
    """What must be put back so that the calls of an intent never were.

    nodes: only the calls of these nodes. leave: paths that stay as they are.
    """
    undone, calls = history.undone(), history.calls
    chains: dict[tuple[str, str], list[KeptCall]] = {}
    for call in calls:
        for path in call.changed:
            if (call.id, path) not in undone and path not in leave:
                chains.setdefault((call.root, path), []).append(call)
    files, changed = list[Restore](), list[Changed]()
    for (root, path), chain in chains.items():
        meant = [call for call in chain if nodes is None or call.node in nodes]
        if not meant:
            continue
        later = [call for call in chain[chain.index(meant[0]) :] if call not in meant]
        if later:
            changed.append(Changed(path, f"node {later[-1].node} changed it too", meant[-1].node))
            continue
        for one, following in pairwise(meant):
            left = one.changed[path][1]
            if left is not None and left != following.changed[path][0]:
                changed.append(
                    Changed(path, f"somebody changed it before node {following.node} ran", one.node)
                )
                break
        target, found = meant[0].changed[path][0], meant[-1].changed[path][1]
        ids = tuple(call.id for call in reversed(meant))
        files.append(Restore(root, path, found, target, ids, meant[-1].node))
    places = {call.id: place for place, call in enumerate(calls)}
    files.sort(key=lambda one: (-places[one.calls[0]], one.path))
    chosen = tuple(call for call in calls if nodes is None or call.node in nodes)
    return Wanted(tuple(files), _folders(chosen, undone, leave), tuple(changed), chosen)


def _folders(
    calls: tuple[KeptCall, ...], undone: set[tuple[str, str]], leave: Collection[str]
) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    found: dict[tuple[str, str], list[str]] = {}
    for call in calls:
        # Nobody saw what an interrupted call made: what was not there before it and is empty now, may go.
        for path in call.missing if call.after is None else call.made:
            if (call.id, path) not in undone and path not in leave:
                found.setdefault((call.root, path), []).append(call.id)
    deepest = sorted(found, key=lambda place: (place[0], -place[1].count("/"), place[1]))
    return tuple((root, path, tuple(found[root, path])) for root, path in deepest)


_INDEX = ".git/index"  # of files older than it git believes the times that it holds; put back, it looks anew
_PIECE = 1 << 20
_ELSE = "somebody changed it since"
_FOLDER = "a folder lies there now"
_STAGED = "somebody changed the copy that was to replace it"


class ChangedMeanwhileError(Exception):
    """A path changed between the check and its turn."""

    def __init__(self, changed: Changed) -> None:
        super().__init__(changed.path)
        self.changed = changed


@dataclass
class Restoration:
    """One undo at work in its workspaces (by root).

    id: of the record that began it. leave: paths that stay as they are.
    """

    id: str
    files: Sequence[Restore]
    workspaces: dict[str, Workspace]
    store: ImageStore
    leave: Collection[str] = ()
    _made: list[tuple[Workspace, str]] = field(default_factory=list)
    _staged: dict[int, os.stat_result] = field(default_factory=dict)
    _swapped: list[int] = field(default_factory=list)

    def tidy(self) -> None:
        """Remove what a killed undo left beside files that it had not come to yet."""
        for place, one in enumerate(self.files):
            with suppress(ScopeError), self._beside(one) as (folder, name):
                with suppress(FileNotFoundError):
                    os.unlink(self._name(place, "new"), dir_fd=folder)
                spare = self._name(place, "old")
                old, now = status_of(spare, folder), status_of(name, folder)
                if old is None:
                    continue
                if now is not None and _same(old, now):
                    os.unlink(spare, dir_fd=folder)
                elif now is None and one.target.kind == "file":
                    place_new(spare, name, folder, one.path)

    def lacks(self, one: Restore) -> bool:
        """Is the content that a file had neither kept nor where a call moved it to?"""
        return not self.store.has(one.target.sha256) and self._moved(one) is None

    def changed(self) -> list[Changed]:
        """The files that are neither what the calls left nor what they will be again."""
        return [found for _, one in self._meant() if (found := self._judge(one)[1]) is not None]

    def stage(self) -> None:
        """Put every content that is needed beside its place. Raises UndoError, ScopeError, HomeError."""
        folders = [one for _, one in self._meant() if one.target.kind == "folder"]
        for one in sorted(folders, key=lambda one: one.path.count("/")):
            self._make_folder(self.workspaces[one.root], one.path, one.target.mode)
        for place, one in self._meant():
            if one.target.kind == "file" and self._judge(one)[0] != one.target:
                workspace = self.workspaces[one.root]
                parts = one.path.split("/")[:-1]
                for depth in range(len(parts)):
                    self._make_folder(workspace, "/".join(parts[: depth + 1]), None)
                self._stage(place, one)

    def swap(self) -> None:
        """Put each file in its place, in order. Raises ChangedMeanwhileError, ScopeError."""
        # What goes comes last: until then it may be all that there is of the content of another.
        for place, one in sorted(self._meant(), key=lambda item: item[1].target == ABSENT):
            if one.target.kind == "folder":
                continue
            if one.target.kind == "absent" and self._judge(one)[0] == one.target:
                continue
            with self._beside(one) as (folder, name), alone(folder, one.path, _never):
                self._swap(place, one, folder, name)

    def roll_back(self) -> None:
        """Make everything as it was before this undo."""
        for place in reversed(self._swapped):
            one = self.files[place]
            with suppress(ScopeError, OSError), self._beside(one) as (folder, name):
                old = self._name(place, "old")
                if one.target.kind == "absent":
                    place_new(old, name, folder, one.path)
                elif status_of(old, folder) is not None:
                    os.rename(old, name, src_dir_fd=folder, dst_dir_fd=folder)
                elif one.found is not None and one.found.kind == "absent":
                    os.unlink(name, dir_fd=folder)
                os.fsync(folder)
        self._clear()
        for workspace, path in reversed(self._made):
            _remove_folder(workspace, path)

    def finish(self, folders: Sequence[tuple[str, str]]) -> tuple[list[str], list[str]]:
        """Remove what was set aside, then the folders (root, path) that are empty, the deepest first.

        Returns the folders that are gone, and those that hold something.
        """
        self._clear()
        gone, kept = list[str](), list[str]()
        for root, path in folders:
            workspace = self.workspaces[root]
            with suppress(ScopeError):  # what is no folder any more is not ours to remove
                if workspace.check(path) is None:
                    continue
                (gone if _remove_folder(workspace, path) else kept).append(path)
        return gone, kept

    def _meant(self) -> Iterator[tuple[int, Restore]]:
        return ((place, one) for place, one in enumerate(self.files) if one.path not in self.leave)

    def _judge(self, one: Restore) -> tuple[State, Changed | None]:
        try:
            now = Looker(self.workspaces[one.root], self.store).now(one.path)
        except ScopeError as problem:
            return ABSENT, Changed(one.path, problem.message, one.node)
        return now, _objection(one, now)

    def _swap(self, place: int, one: Restore, folder: int, name: str) -> None:
        new, old = self._name(place, "new"), self._name(place, "old")
        # The file stays open until it is set aside: its number on the disk is nobody else's meanwhile.
        with _seen(name, folder, one.path) as (now, status):
            if (why := _objection(one, now)) is not None:
                raise ChangedMeanwhileError(why)
            if now == one.target:
                return
            if one.target.kind == "file":
                staged = status_of(new, folder)
                if staged is None or not _untouched(staged, self._staged[place]):
                    raise ChangedMeanwhileError(Changed(one.path, _STAGED, one.node))
            if status is None:
                place_new(new, name, folder, one.path)
                self._swapped.append(place)
            else:
                set_aside = os.rename if one.target == ABSENT else _second_name
                set_aside(name, old, src_dir_fd=folder, dst_dir_fd=folder)
                self._swapped.append(place)
                aside = status_of(old, folder)
                if aside is None or not _same(aside, status):  # swapped while it was read
                    raise ChangedMeanwhileError(Changed(one.path, _ELSE, one.node))
                if one.target != ABSENT:
                    os.rename(new, name, src_dir_fd=folder, dst_dir_fd=folder)
            os.fsync(folder)

    def _stage(self, place: int, one: Restore) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with self._content(one) as image, self._beside(one) as (folder, _):
            spare = self._name(place, "new")
            with os.fdopen(os.open(spare, flags, 0o600, dir_fd=folder), "wb") as file:
                while piece := os.read(image, _PIECE):
                    file.write(piece)
                file.flush()
                os.fchmod(file.fileno(), one.target.mode)
                if one.path.endswith(_INDEX):
                    os.utime(file.fileno(), (1, 1))
                os.fsync(file.fileno())
                self._staged[place] = os.fstat(file.fileno())

    def _moved(self, one: Restore) -> Restore | None:
        """The path that the same undo clears, and at which the content of a file lies by now."""
        for _, other in self._meant():
            if other.target == ABSENT and other.found and other.found.sha256 == one.target.sha256:
                return other
        return None

    @contextmanager
    def _content(self, one: Restore) -> Iterator[int]:
        """What a file is to hold again. Raises UndoError, ScopeError, ChangedMeanwhileError."""
        moved = None if self.store.has(one.target.sha256) else self._moved(one)
        if moved is None:
            with self.store.open(one.target.sha256) as image:
                yield image
            return
        with self.workspaces[moved.root].open_file(moved.path) as descriptor:
            if digest_of(descriptor) != one.target.sha256:
                raise ChangedMeanwhileError(Changed(moved.path, _ELSE, moved.node))
            os.lseek(descriptor, 0, os.SEEK_SET)
            yield descriptor

    def _clear(self) -> None:
        for place, one in enumerate(self.files):
            with suppress(ScopeError), self._beside(one) as (folder, _):
                for end in ("new", "old"):
                    with suppress(FileNotFoundError):
                        os.unlink(self._name(place, end), dir_fd=folder)
                os.fsync(folder)

    def _make_folder(self, workspace: Workspace, path: str, mode: int | None) -> None:
        if workspace.check(path) is not None:
            return
        above, _, name = path.rpartition("/")
        try:
            with workspace.open_folder(above) as folder:
                os.mkdir(name, dir_fd=folder)
                self._made.append((workspace, path))
                os.fsync(folder)
            if mode is not None:
                with workspace.open_folder(path) as made:
                    os.fchmod(made, mode)
        except OSError as problem:
            explain(problem, path)

    def _name(self, place: int, end: str) -> str:
        return f".mcl-undo-{self.id}-{place}-{end}.tmp"  # a name that watching tools pass over

    @contextmanager
    def _beside(self, one: Restore) -> Iterator[tuple[int, str]]:
        """The descriptor of the folder of a path, and its name there. Raises ScopeError."""
        above, _, name = one.path.rpartition("/")
        with self.workspaces[one.root].open_folder(above) as folder:
            try:
                yield folder, name
            except OSError as problem:
                explain(problem, one.path)


def _objection(one: Restore, now: State) -> Changed | None:
    """Why a path that is like this now is left alone; None where it is as the calls left it, or put back."""
    if now == one.target or (one.target.kind == now.kind == "folder"):
        return None
    if now.kind == "folder":
        return Changed(one.path, _FOLDER, one.node)
    if one.found is None:
        return Changed(one.path, INTERRUPTED, one.node)
    return None if now == one.found else Changed(one.path, _ELSE, one.node)


@contextmanager
def _seen(name: str, folder: int, path: str) -> Iterator[tuple[State, os.stat_result | None]]:
    """What has a name in a folder, held open. Raises ScopeError, OSError."""
    if status_of(name, folder) is None:
        yield ABSENT, None
        return
    descriptor = open_plain(name, folder, path)
    try:
        status = os.fstat(descriptor)
        digest, size = digest_of(descriptor), os.fstat(descriptor).st_size
        yield State("file", digest, size, stat.S_IMODE(status.st_mode) & 0o777), status
    finally:
        os.close(descriptor)


def _second_name(name: str, old: str, *, src_dir_fd: int, dst_dir_fd: int) -> None:
    """Give a file a second name, so that the first can be replaced at once."""
    try:
        os.link(name, old, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd, follow_symlinks=False)
    except OSError:  # a file system without hard links: the file has no name for a moment
        os.rename(name, old, src_dir_fd=src_dir_fd, dst_dir_fd=dst_dir_fd)


def _remove_folder(workspace: Workspace, path: str) -> bool:
    above, _, name = path.rpartition("/")
    try:
        with workspace.open_folder(above) as folder:
            os.rmdir(name, dir_fd=folder)
            os.fsync(folder)
    except (OSError, ScopeError):  # not empty, or no folder any more: not ours to remove
        return False
    return True


def _same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_dev, one.st_ino) == (other.st_dev, other.st_ino)


def _untouched(now: os.stat_result, before: os.stat_result) -> bool:
    return _same(now, before) and (now.st_ctime_ns, now.st_size) == (before.st_ctime_ns, before.st_size)


def _never() -> None:
    """Nothing ends the wait for another writer but its patience."""
