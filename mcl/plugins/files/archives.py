"""Archives: packed the same for the same files, and unpacked so that nothing leaves its folder.

What an archive says of itself is a stranger's word: sizes are counted while reading, names are taken as paths
below one folder or refused, and links, devices and modes are not made.
"""

from __future__ import annotations

import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, Final

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.files import components
from executor.sandbox.paths import Workspace
from mcl.plugins.files.selection import MOST, suffix

MOST_BYTES: Final = 4 << 30  # that are packed or unpacked at once
_RATIO: Final = 1000  # unpacked bytes for one packed, of more than
_FREE: Final = 64 << 20  # bytes, which any archive may have
_PIECE: Final = 1 << 20
_MOST_TOLD: Final = 20_000  # entries that are looked at
_EARLIEST: Final = datetime(1980, 1, 1, tzinfo=UTC)
ENDINGS: Final = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")


@dataclass(frozen=True, slots=True)
class Member:
    """One entry. path: below the folder into which it is unpacked. size: bytes, as the archive says."""

    path: str
    name: str
    folder: bool
    size: int


class Archive:
    """An open archive."""

    def __init__(self, opened: zipfile.ZipFile | tarfile.TarFile, path: str, packed: int) -> None:
        self._opened, self._path, self._packed = opened, path, packed

    def members(self, *, check: Callable[[], None]) -> list[Member]:
        """All entries, in their order.

        Raises:
            ToolError: UNSAFE_ARCHIVE (a path that leads out, a link or device, two of one name),
                TOO_MANY_FILES, TOO_LARGE, ARCHIVE_LOCKED.
        """
        found: dict[str, Member] = {}
        for name, size, kind in self._listed():
            check()
            if len(found) >= _MOST_TOLD:
                raise _error("TOO_MANY_FILES", f"it holds more than {_MOST_TOLD:,} files", self._path)
            if kind not in ("file", "folder"):
                raise _error("UNSAFE_ARCHIVE", f"{name!r} in it is a {kind}", self._path)
            one = Member(self._below(name), name, kind == "folder", size)
            there = found.get(one.path)
            if there is not None and not (there.folder and one.folder):
                raise _error("UNSAFE_ARCHIVE", f"{name!r} is in it twice", self._path)
            if one.path:
                found[one.path] = one
        return list(found.values())

    def require_unpackable(self, members: Sequence[Member]) -> None:
        """Refuse what is too much. Raises ToolError as ``members``."""
        if len(members) > MOST:
            raise _error("TOO_MANY_FILES", f"it holds more than {MOST:,} files", self._path)
        self._require_room(sum(one.size for one in members))
        files = {one.path for one in members if not one.folder}
        for one in members:
            parts = one.path.split("/")
            above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
            if clash := next((path for path in above if path in files), ""):
                raise _error("UNSAFE_ARCHIVE", f"{clash!r} in it is a file and a folder", self._path)

    def pieces(self, member: Member, check: Callable[[], None]) -> Iterator[bytes]:
        """What a file in it holds, never more than it says. Raises ToolError as ``members``; BAD_ARCHIVE."""
        left = member.size
        with _told(self._path), self._open(member.name) as file:
            while piece := file.read(_PIECE):
                check()
                left -= len(piece)
                if left < 0:
                    raise _error("UNSAFE_ARCHIVE", f"{member.name!r} holds more than it says", self._path)
                yield piece
        if left:
            raise _error("BAD_ARCHIVE", f"{member.name!r} in it is cut off", self._path)

    def _require_room(self, size: int) -> None:
        if size > MOST_BYTES or (size > _FREE and size > _RATIO * max(1, self._packed)):
            message = f"it would unpack to {size:,} bytes from {self._packed:,}"
            raise _error("TOO_LARGE", message, self._path)

    def _listed(self) -> Iterator[tuple[str, int, str]]:
        with _told(self._path):
            if isinstance(self._opened, zipfile.ZipFile):
                for one in self._opened.infolist():
                    if one.flag_bits & 1:
                        raise _error("ARCHIVE_LOCKED", "it is locked with a password", self._path)
                    mode = stat.S_IFMT(one.external_attr >> 16) if one.create_system == 3 else 0
                    odd = mode not in (0, stat.S_IFREG, stat.S_IFDIR)
                    kind = "link or device" if odd else "folder" if one.is_dir() else "file"
                    yield one.filename, one.file_size, kind
                return
            for entry in self._opened:
                plain = "file" if entry.isreg() and not entry.issparse() else "link or device"
                yield entry.name, entry.size, "folder" if entry.isdir() else plain

    def _open(self, name: str) -> IO[bytes]:
        if isinstance(self._opened, zipfile.ZipFile):
            return self._opened.open(name)
        file = self._opened.extractfile(name)
        if file is None:
            raise _error("BAD_ARCHIVE", f"{name!r} in it cannot be read", self._path)
        return file

    def _below(self, name: str) -> str:
        try:
            return "/".join(components(name.removeprefix("./").rstrip("/") or "."))
        except ScopeError as problem:
            raise _error("UNSAFE_ARCHIVE", f"{name!r} in it: {problem.message}", self._path) from problem


@contextmanager
def opened(path: str, workspace: Workspace) -> Iterator[Archive]:
    """Open an archive of the workspace, of whatever kind it is by its content.

    Raises:
        ToolError: BAD_ARCHIVE. ScopeError.
    """
    with workspace.open_file(path) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
        size = os.fstat(descriptor).st_size
        with _told(path):
            if zipfile.is_zipfile(file):
                file.seek(0)
                with zipfile.ZipFile(file) as packed:
                    yield Archive(packed, path, size)
                return
            file.seek(0)
            with tarfile.open(fileobj=file, mode="r:*") as tar:
                yield Archive(tar, path, size)


@contextmanager
def _told(path: str) -> Iterator[None]:
    try:
        yield
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, NotImplementedError) as problem:
        raise _error("BAD_ARCHIVE", f"it cannot be read: {problem}", path) from problem
    except (OSError, RuntimeError, ValueError) as problem:
        if isinstance(problem, OSError) and problem.errno is not None:
            raise
        raise _error("BAD_ARCHIVE", f"it cannot be read: {problem}", path) from problem


def _error(code: str, message: str, path: str) -> ToolError:
    fixes = {
        "UNSAFE_ARCHIVE": "do not trust it; a person can look into it by hand",
        "ARCHIVE_LOCKED": "unpack it by hand",
        "BAD_ARCHIVE": f"name one of these: {', '.join(ENDINGS)}",
    }
    fix = fixes.get(code, "unpack it by hand")
    return ToolError(code, f"the archive {path!r} is left alone: {message}", place=path, fix=fix)


def stem(name: str) -> str:
    """The name of an archive without its ending."""
    ending = suffix(name)
    return name.removesuffix(ending) if ending.lower() in ENDINGS else name


def pack(
    file: IO[bytes], files: Sequence[tuple[str, str, bool]], workspace: Workspace, check: Callable[[], None]
) -> None:
    """Write a zip of these files (path in the workspace, name in the archive, is it a folder), in this order.

    The bytes depend on names, contents and times alone. Raises ScopeError, ToolError.
    """
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for path, name, folder in files:
            check()
            if folder:
                packed.writestr(_header(f"{name}/", 0), b"")
                continue
            with workspace.open_file(path) as descriptor:
                status = os.fstat(descriptor)
                header = _header(name, status.st_mtime_ns)
                header.file_size = status.st_size  # whether it needs the large form
                with packed.open(header, "w") as into:
                    while piece := os.read(descriptor, _PIECE):
                        check()
                        into.write(piece)


def _header(name: str, modified: int) -> zipfile.ZipInfo:
    when = max(_EARLIEST, datetime.fromtimestamp(modified // 10**9, UTC))
    header = zipfile.ZipInfo(name, when.timetuple()[:6])
    header.compress_type = zipfile.ZIP_DEFLATED
    header.create_system = 3
    header.external_attr = (0o40755 << 16 | 0x10) if name.endswith("/") else 0o100644 << 16
    return header
