"""Looking at what a call may touch: before it, with contents kept; after it, by their hashes."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal, cast

from executor.core.errors import ScopeError
from executor.core.hashing import json_bytes
from executor.sandbox.files import digest_of
from executor.sandbox.history import STATE_FILES, STATE_FOLDERS
from executor.sandbox.paths import Workspace
from executor.tools.manifest import CHANGING, Mode
from executor.walker.undo.store import ImageStore

# ---- What is at a path at one moment, as far as it can be put back.

Kind = Literal["absent", "file", "folder"]


@dataclass(frozen=True, slots=True)
class State:
    """Nothing, a regular file, or a folder.

    sha256: hex, of a file's content. size: bytes. mode: permission bits of a file or folder; 0 for nothing.
    """

    kind: Kind
    sha256: str = ""
    size: int = 0
    mode: int = 0

    def to_body(self, path: str) -> dict[str, Any]:
        """As a record of the journal keeps it."""
        body: dict[str, Any] = {"path": path, "is": self.kind}
        if self.kind == "file":
            body |= {"sha256": self.sha256, "size": self.size}
        return body if self.kind == "absent" else {**body, "mode": self.mode}


ABSENT = State("absent")


def from_body(body: Mapping[str, Any]) -> tuple[str, State]:
    """The path and state that a record keeps."""
    kind = cast(Kind, body["is"])
    return str(body["path"]), State(
        kind, str(body.get("sha256", "")), int(body.get("size", 0)), int(body.get("mode", 0))
    )


FILE_LIMIT: Final = 64 << 20  # bytes of one file that are kept
MOST_ENTRIES: Final = 2000  # files and folders of one folder that a call may change as a whole
_BITS: Final = 0o777  # no set-user-id: files that tools write never have it

_TOO_LARGE = "it is larger than {:,} bytes"
_UNREADABLE = "it may not be read by this user"
_TOO_MANY = "the folder holds more than {:,} files and folders"
FULL: Final = "the store of before-images is full"
ELSEWHERE: Final = "git keeps the history of this folder elsewhere, or holds links"
_HIDDEN: Final = "its name is one of a secret file"
_ODD = "what lies there is no plain file (a link, device or FIFO)"


@dataclass(slots=True)
class Before:
    """What a call may touch, as it is before it.

    files: by path relative to the workspace. missing: folders that its files would need. listings: of folders
    that are only added to, the sha256 (hex) of the kept list of names. uncovered: by path, why it cannot be
    put back. fresh: bytes newly kept.
    """

    files: dict[str, State] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    listings: dict[str, str] = field(default_factory=dict)
    uncovered: dict[str, str] = field(default_factory=dict)
    fresh: int = 0


@dataclass(slots=True)
class After:
    """What a call left. files: only what differs from before. made: folders that are new."""

    files: dict[str, State] = field(default_factory=dict)
    made: tuple[str, ...] = ()
    uncovered: dict[str, str] = field(default_factory=dict)


def within(
    touched: Sequence[tuple[str, Mode]], judged: Sequence[tuple[str, Mode]], workspace: Workspace
) -> list[tuple[str, Mode]]:
    """What a tool says that it will change, which lies in what the gate judged. Raises ScopeError."""
    folders = [workspace.split(path) for path, mode in judged if mode in CHANGING]
    for path, _ in touched:
        parts = workspace.split(path)
        if not any(parts[: len(folder)] == folder for folder in folders):
            fix = "report it to the author of the tool"
            raise ScopeError("OUT_OF_SCOPE", f"the tool would change {path!r} too", place=path, fix=fix)
    return list(touched)


def unkept(paths: Sequence[tuple[str, Mode]], workspace: Workspace) -> tuple[str, str] | None:
    """The first path whose content is too large to be kept, and why; None where there is none."""
    for path, mode in paths:
        status = workspace.check(path) if mode == "write" else None
        if status is not None and stat.S_ISREG(status.st_mode) and status.st_size > FILE_LIMIT:
            return path, _TOO_LARGE.format(FILE_LIMIT)
    return None


@dataclass(frozen=True, slots=True)
class Looker:
    """Looks into one workspace. room: whether so many bytes more may be kept."""

    workspace: Workspace
    store: ImageStore
    file_limit: int = FILE_LIMIT
    room: Callable[[int], bool] = lambda size: True

    def before(
        self,
        paths: Sequence[tuple[str, Mode]],
        *,
        whole_folders: bool,
        history: str | None = None,
        known: Before | None = None,
    ) -> Before:
        """Keep what lies at these paths.

        Args:
            paths: relative to the workspace, each with what the call does there (write, add or move). Of
                what is moved no content is kept: it is where it was moved to.
            whole_folders: is a folder to be written to by this tool's own hand (and not by a process)?
            history: a folder whose branches, tags and index of git are kept too (of a ``HistoryWorkspace``).
            known: what an earlier attempt at the same call kept; that is what counts.

        Raises:
            ScopeError: a path that tools may not touch. HomeError: it could not be kept.
        """
        seen = known or Before()
        missing = dict.fromkeys(seen.missing)
        for path, mode in paths:
            name = "/".join(self.workspace.split(path))
            if name in seen.files or name in seen.listings or name in seen.uncovered:
                continue
            status = self.workspace.check(name)
            if status is None:
                seen.files[name] = ABSENT
                missing |= dict.fromkeys(self._missing(name))
            elif not stat.S_ISDIR(status.st_mode):
                self._keep(name, seen, mode)
            elif mode == "add":
                names = sorted(self._names(name))
                digest, size, new = self.store.keep_bytes(json_bytes(names))
                seen.listings[name] = digest
                seen.fresh += size if new else 0
            elif whole_folders:
                self._keep_folder(name, status.st_mode, seen, mode)
        seen.missing = tuple(missing)
        if history is not None and known is None:
            self._keep_history(history, seen)
        return seen

    def _keep_history(self, folder: str, seen: Before) -> None:
        """Keep the state of git in a folder; where it cannot be kept whole, the call is not covered."""
        git = "/".join((*self.workspace.split(folder), ".git"))
        try:
            for name in STATE_FILES:
                if self.workspace.check(f"{git}/{name}") is None:
                    seen.files[f"{git}/{name}"] = ABSENT
                else:
                    self._keep(f"{git}/{name}", seen, "write")
            for name in STATE_FOLDERS:
                if (status := self.workspace.check(f"{git}/{name}")) is not None:
                    self._keep_folder(f"{git}/{name}", status.st_mode, seen, hidden=True)
        except ScopeError:
            seen.uncovered[""] = ELSEWHERE

    def after(self, before: Before, answer: object) -> After:
        """What is there now, where it differs. answer: what the tool said; it names what it made."""
        left, made = After(), []
        for path, was in before.files.items():
            now = self._now(path, left)
            if now is None:
                continue
            if now != was and not (was == ABSENT and now.kind == "folder"):
                left.files[path] = now
            if now.kind == "folder":
                made += self._fill(path, before, left)
        said = _texts(answer) if before.listings else frozenset[str]()
        for folder, digest in before.listings.items():
            known = set(_parsed(self.store.read(digest)))
            for path in sorted(self._names(folder) - known):
                if path not in said:
                    left.uncovered[path] = "it appeared meanwhile, and the tool does not say that it made it"
                elif (now := self._now(path, left)) is not None:
                    left.files[path] = now
        made += [folder for folder in before.missing if self._is_folder(folder)]
        left.made = tuple(dict.fromkeys(made))
        return left

    def now(self, path: str) -> State:
        """What lies at a path. Raises ScopeError where it is nothing that tools may touch."""
        status = self.workspace.check(path)
        if status is None:
            return ABSENT
        if stat.S_ISDIR(status.st_mode):
            return State("folder", mode=status.st_mode & _BITS)
        digest, size = self.workspace.digest(path)
        return State("file", digest, size, status.st_mode & _BITS)

    def _now(self, path: str, left: After) -> State | None:
        try:
            return self.now(path)
        except ScopeError as problem:
            left.uncovered[path] = problem.message
            return None

    def _keep(self, path: str, seen: Before, what: Mode) -> None:
        try:
            with self.workspace.open_file(path) as descriptor:
                status = os.fstat(descriptor)
                if what == "move":
                    digest, size = digest_of(descriptor), status.st_size
                    seen.files[path] = State("file", digest, size, status.st_mode & _BITS)
                elif status.st_size > self.file_limit:
                    seen.uncovered[path] = _TOO_LARGE.format(self.file_limit)
                elif not self.room(seen.fresh + status.st_size):
                    seen.uncovered[path] = FULL
                else:
                    digest, size, new = self.store.keep(descriptor)
                    seen.files[path] = State("file", digest, size, status.st_mode & _BITS)
                    seen.fresh += size if new else 0
        except ScopeError as problem:
            if problem.code != "UNREADABLE":
                raise
            seen.uncovered[path] = _UNREADABLE

    def _keep_folder(
        self, path: str, mode: int, seen: Before, what: Mode = "write", *, hidden: bool = False
    ) -> None:
        """hidden: what a walk leaves out for its name may be changed all the same, and is told."""
        seen.files[path or "."] = State("folder", mode=mode & _BITS)

        def missed(name: str, _: str) -> None:
            if hidden:
                seen.uncovered[name] = _HIDDEN

        for count, entry in enumerate(self.workspace.walk(path, check=_never, missed=missed)):
            if count >= MOST_ENTRIES:
                seen.uncovered[path or "."] = _TOO_MANY.format(MOST_ENTRIES)
                return
            if entry.kind == "file":
                self._keep(entry.path, seen, what)
            elif entry.kind == "folder":
                status = self.workspace.check(entry.path)
                bits = status.st_mode & _BITS if status is not None else 0o755
                seen.files[entry.path] = State("folder", mode=bits)
            else:
                seen.uncovered[entry.path] = _ODD

    def _fill(self, path: str, before: Before, left: After) -> list[str]:
        """Note what is new below a folder; gives the folders among it."""
        made = [path] if before.files.get(path, ABSENT).kind == "absent" else []
        for count, entry in enumerate(self.workspace.walk("" if path == "." else path, check=_never)):
            if count >= MOST_ENTRIES:
                left.uncovered[path] = _TOO_MANY.format(MOST_ENTRIES)
                break
            if entry.path in before.files or entry.path in before.uncovered:
                continue
            if entry.kind == "folder":
                made.append(entry.path)
            elif (now := self._now(entry.path, left)) is not None:
                left.files[entry.path] = now
        return made

    def _missing(self, path: str) -> list[str]:
        parts = path.split("/")[:-1]
        above = ["/".join(parts[: place + 1]) for place in range(len(parts))]
        return [folder for folder in above if self.workspace.check(folder) is None]

    def _names(self, folder: str) -> set[str]:
        entries = self.workspace.walk(folder, check=_never, recursive=False)
        return {entry.path for entry in entries if entry.kind == "file"}

    def _is_folder(self, path: str) -> bool:
        try:
            status = self.workspace.check(path)
        except ScopeError:
            return False
        return status is not None and stat.S_ISDIR(status.st_mode)


def _never() -> None:
    """Nothing stops such a walk."""


def _parsed(data: bytes) -> list[str]:
    import json

    return [str(name) for name in json.loads(data)]


def _texts(answer: object) -> frozenset[str]:
    """Every text that a tool's answer holds."""
    found, waiting = set[str](), [answer]
    while waiting:
        match waiting.pop():
            case str() as text:
                found.add(text)
            case list() as items:
                waiting += items
            case Mapping() as items:
                waiting += items.values()
    return frozenset(found)
