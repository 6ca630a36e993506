"""What this machine has seen of a home's journal, kept outside of the home.

$MCL_STATE/heads/<home>.rows   48 bytes a row: its leaf (32), and what it is about (16: of the intent, else
                               of the kind). Written after the commit, so never ahead of what is on disk.
$MCL_STATE/heads/<home>.head   the newest signed head, as `mcl log head --json` tells it

The home is named by its folder and its first user key, so a copy is another home. The file of rows needs no
signature: each row in the journal is signed and says which is before it; what is kept here is how many there
were and where they stand, and whoever can write here writes with the person's rights outside of the home.
"""

from __future__ import annotations

import json
import mmap
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from executor.core.files import locked, whole_file

_LEAF: Final = 32
_ROW: Final = _LEAF + 16
_NOTHING: Final = bytes(_LEAF)  # what a file may end with after the power failed
KEYS: Final = "record.key"
_CHAINED: Final = "record.journal.chained"
VARIABLE: Final = "MCL_STATE"


def state_folder() -> Path:
    """Where what this machine knows of homes lies: $MCL_STATE, else mcl in the user's folder for states."""
    if named := os.environ.get(VARIABLE):
        return Path(named).expanduser().absolute()
    from platformdirs import user_state_path

    return user_state_path("mcl", appauthor=False)


def subject(intent: str | None, kind: str) -> bytes:
    """What a row is about, in 16 bytes: its intent (a ULID), else what stands (`KEYS`: keys, tables, the
    policy), else what kind it is."""
    stated = kind.startswith(("record.key.", "record.table.", "record.policy.")) or kind == _CHAINED
    what = intent or (KEYS if stated else kind)
    return sha256(what.encode()).digest()[: _ROW - _LEAF]


class Witness:
    """The rows of one home that this machine has seen. OSError where they cannot be kept or read."""

    def __init__(self, folder: Path, home: Path, did: str) -> None:
        name = sha256(f"{home.resolve()}\n{did}".encode()).hexdigest()[:32]
        self._rows = folder / "heads" / f"{name}.rows"
        self._head = folder / "heads" / f"{name}.head"
        self._unsaid = folder / "heads" / f"{name}.unsaid"

    @property
    def known(self) -> bool:
        """Whether this machine has seen the home before."""
        return self._rows.exists()

    def begin(self) -> bool:
        """Keep what is seen from now on. False where another process began before; so of several that open a
        new home, the one that begins does so before any has written."""
        self._rows.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            os.close(os.open(self._rows, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        except FileExistsError:
            return False
        return True

    @property
    def unsaid(self) -> int:
        """How many rows there were when nothing was known of them here, until the journal itself says so."""
        try:
            return int(self._unsaid.read_text() or 0)
        except (OSError, ValueError):
            return 0

    @unsaid.setter
    def unsaid(self, rows: int) -> None:
        if rows:
            self._unsaid.write_text(str(rows))
        else:
            self._unsaid.unlink(missing_ok=True)

    def size(self) -> int:
        """How many rows were seen."""
        with self._held() as file:
            return _size(file)

    def leaf(self, seq: int) -> bytes:
        """The leaf of a row that was seen; b"" of another."""
        with self._held() as file:
            return os.pread(file, _LEAF, (seq - 1) * _ROW)

    def last(self) -> tuple[int, bytes]:
        """The last row that was seen, and its leaf: 0 and b"" where none was."""
        with self._held() as file:
            size = _size(file)
            return size, os.pread(file, _LEAF, (size - 1) * _ROW) if size else b""

    def leaves(self) -> list[bytes]:
        """The leaves of all rows that were seen, in order."""
        with self._held() as file:
            data = os.pread(file, _size(file) * _ROW, 0)
        return [data[at : at + _LEAF] for at in range(0, len(data), _ROW)]

    def about(self, what: bytes) -> dict[int, bytes]:
        """The rows that were seen about something (`subject`), with their leaves."""
        found = dict[int, bytes]()
        with self._held() as file:
            if not (size := _size(file) * _ROW):
                return found
            with mmap.mmap(file, size, access=mmap.ACCESS_READ) as data:  # it may be long: nothing is copied
                at = data.find(what)
                while at >= 0:
                    row, place = divmod(at, _ROW)
                    if place == _LEAF:
                        found[row + 1] = data[row * _ROW : at]
                    at = data.find(what, at + 1)
        return found

    def add(self, first: int, rows: Iterable[tuple[bytes, bytes]]) -> None:
        """Rows (leaf and subject) that were committed, from row `first` on; those seen already are passed
        over, and nothing is kept where rows before them were not seen."""
        with self._held(shared=False) as file:
            size = _size(file)
            new = b"".join(leaf + what for leaf, what in list(rows)[max(0, size + 1 - first) :])
            if size + 1 >= first and new:
                os.pwrite(file, new, size * _ROW)

    def forget(self, size: int = 0) -> None:
        """Keep the first rows only, because a person said that the others are not meant."""
        with self._held(shared=False) as file:
            os.ftruncate(file, size * _ROW)
        self._head.unlink(missing_ok=True)

    def keep_head(self, document: dict[str, object]) -> None:
        """Keep a signed head instead of the one before; where that cannot be, the rows say it too."""
        with suppress(OSError), whole_file(self._head, durable=False) as file:
            file.write(json.dumps(document).encode())

    def head(self) -> dict[str, object] | None:
        """The signed head that was kept last, as it was told; None where there is none that can be read."""
        try:
            found = json.loads(self._head.read_bytes())
        except (OSError, ValueError):
            return None
        return found if isinstance(found, dict) else None

    @contextmanager
    def _held(self, *, shared: bool = True) -> Iterator[int]:
        with locked(self._rows, shared=shared) as file:
            yield file


def _size(file: int) -> int:
    size = os.fstat(file).st_size // _ROW
    while size and os.pread(file, _LEAF, (size - 1) * _ROW) == _NOTHING:
        size -= 1
    return size
