"""The contents of files as they were, in the home: one file a content, named by its sha256."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Final

from executor.core.errors import UndoError
from executor.core.files import FOLDER, locked, sync_folder, whole_file
from executor.sandbox.files import digest_of
from executor.store.database import explain_os
from executor.store.home import Home
from ir.errors import UNVERIFIED

_PIECE: Final = 1 << 20
_READ: Final = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
_NAME: Final = re.compile(r"[0-9a-f]{64}")


class ImageStore:
    """A folder of contents. Files are 0600, folders 0700; what is there is durable before it is named."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def keep(self, descriptor: int) -> tuple[str, int, bool]:
        """Keep what follows where a descriptor stands.

        Returns:
            Its sha256 (hex), its size in bytes, and whether it is new here.

        Raises:
            HomeError: DISK_FULL, HOME_READ_ONLY; nothing was kept.
        """
        start = os.lseek(descriptor, 0, os.SEEK_CUR)
        known = self._place(digest_of(descriptor))
        try:
            size = known.stat().st_size
        except FileNotFoundError:
            pass
        else:
            return known.name, size, False
        os.lseek(descriptor, start, os.SEEK_SET)
        return self._write(iter(lambda: os.read(descriptor, _PIECE), b""))

    def keep_bytes(self, data: bytes) -> tuple[str, int, bool]:
        """The same for bytes."""
        digest = hashlib.sha256(data).hexdigest()
        return (digest, len(data), False) if self.has(digest) else self._write([data])

    @contextmanager
    def open(self, digest: str) -> Iterator[int]:
        """Open a content for reading, checked against its name.

        Raises:
            UndoError: IMAGE_MISSING, IMAGE_DAMAGED.
        """
        try:
            descriptor = os.open(self._place(digest), _READ)
        except FileNotFoundError:
            raise UndoError(
                "IMAGE_MISSING",
                "the before-image of a file is not there any more",
                place=digest,
                fix="leave the file out with --except, or restore it from a backup",
            ) from None
        except OSError as problem:
            raise explain_os(problem, self.folder) from problem
        try:
            if digest_of(descriptor) != digest:
                raise UndoError(
                    "IMAGE_DAMAGED",
                    "the before-image of a file is not what was kept",
                    place=digest,
                    fix="leave the file out with --except, or restore it from a backup",
                    exit=UNVERIFIED,
                )
            os.lseek(descriptor, 0, os.SEEK_SET)
            yield descriptor
        finally:
            os.close(descriptor)

    def read(self, digest: str) -> bytes:
        """A whole content. Raises as ``open``."""
        with self.open(digest) as descriptor, os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read()

    def has(self, digest: str) -> bool:
        """Is there a content of this name? (``open`` checks it.)"""
        return self._place(digest).is_file()

    def discard(self, digest: str) -> None:
        """Remove a content; only under ``alone``."""
        with suppress(FileNotFoundError):
            self._place(digest).unlink()

    def folders(self) -> Iterator[tuple[str, int]]:
        """The folders that contents lie in, and when a name last came to each or went, in ns."""
        try:
            for folder in sorted(self.folder.glob("[0-9a-f][0-9a-f]")):
                yield folder.name, folder.stat().st_mtime_ns
        except OSError as problem:
            raise explain_os(problem, self.folder) from problem

    def names(self, folder: str = "[0-9a-f][0-9a-f]") -> Iterator[tuple[str, int]]:
        """The sha256 and size in bytes of each content there is. folder: only of that one."""
        try:
            for one in sorted(self.folder.glob(folder)):
                for place in sorted(one.iterdir()):
                    if _NAME.fullmatch(place.name):
                        with suppress(FileNotFoundError):
                            yield place.name, place.stat().st_size
        except OSError as problem:
            raise explain_os(problem, self.folder) from problem

    def sweep(self) -> None:
        """Remove what a killed process left half written; only under ``alone``."""
        for place in self.folder.glob("*.part"):
            place.unlink(missing_ok=True)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Keep contents: several processes may, and none that removes them meanwhile."""
        with self._locked(shared=True):
            yield

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Remove contents: nobody keeps one meanwhile."""
        with self._locked():
            yield

    @contextmanager
    def _locked(self, *, shared: bool = False) -> Iterator[None]:
        with ExitStack() as held:
            try:
                self.folder.mkdir(mode=0o700, exist_ok=True)
                held.enter_context(locked(self.folder, FOLDER, shared=shared))
            except OSError as problem:
                raise explain_os(problem, self.folder) from problem
            yield

    def _place(self, digest: str) -> Path:
        return self.folder / digest[:2] / digest

    def _write(self, pieces: Iterable[bytes]) -> tuple[str, int, bool]:
        total, size = hashlib.sha256(), 0

        def place(part: str) -> None:
            # Named by the bytes that were written: the file may have changed since it was hashed.
            named = self._place(total.hexdigest())
            with suppress(FileExistsError):
                named.parent.mkdir(mode=0o700)
                sync_folder(self.folder)
            os.rename(part, named)  # noqa: PTH104
            sync_folder(named.parent)

        try:
            spare = f"{secrets.token_hex(8)}.part"
            with whole_file(self.folder / spare, spare=spare, place=place) as file:
                for piece in pieces:
                    total.update(piece)
                    size += len(piece)
                    file.write(piece)
        except OSError as problem:
            raise explain_os(problem, self.folder) from problem
        return total.hexdigest(), size, True


# ---- How many bytes the store of before-images holds, without looking at each of its contents again.

_COMPONENT: Final = "undo_total"
_TABLES: Final = (
    """
    CREATE TABLE undo_folders (
        name TEXT PRIMARY KEY, changed INTEGER NOT NULL, bytes INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE undo_tried (one INTEGER PRIMARY KEY CHECK (one = 1), bytes INTEGER NOT NULL) STRICT;
    """,
)
# A file system's time stands still for some milliseconds: within them a name could come that does not show.
_SETTLED: Final = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class Total:
    """What the store holds. bytes: of all contents. tried: how many were left when room was last made, 0
    where it never was. counted: folders that were counted anew, each with its time in ns and its bytes."""

    bytes: int
    tried: int = 0
    counted: Mapping[str, tuple[int, int]] = field(default_factory=dict, repr=False)

    def keep(self, connection: sqlite3.Connection) -> None:
        """Remember what was counted, with whatever else is written."""
        rows = [(name, *known) for name, known in self.counted.items()]
        connection.executemany("INSERT OR REPLACE INTO undo_folders VALUES (?, ?, ?)", rows)


def total(home: Home, store: ImageStore) -> Total:
    """Count what is in the store: only folders that are another than when they were counted last.

    Raises HomeError.
    """
    home.db.migrate(_COMPONENT, _TABLES)
    known = {name: (changed, size) for name, changed, size in home.db.read("SELECT * FROM undo_folders")}
    tried = home.db.read("SELECT bytes FROM undo_tried")
    now = datetime.fromisoformat(home.clock.now())
    settled = int((now - _SETTLED).timestamp()) * 1_000_000_000
    held, counted = 0, dict[str, tuple[int, int]]()
    for name, changed in store.folders():
        then, size = known.get(name, (-1, 0))
        if then != changed:
            size = sum(one for _, one in store.names(name))
            if changed < settled:
                counted[name] = (changed, size)
        held += size
    return Total(held, int(tried[0][0]) if tried else 0, counted)


def note_tried(home: Home, left: int) -> None:
    """So many bytes were left when room was made. Raises HomeError."""
    with home.db.write(_COMPONENT) as connection:
        connection.execute("INSERT OR REPLACE INTO undo_tried VALUES (1, ?)", (left,))
