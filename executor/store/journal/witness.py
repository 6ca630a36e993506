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
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from executor.core.errors import JournalError
from executor.core.files import locked, whole_file
from executor.store.journal.merkle import Frontier, leaf_hash
from executor.store.journal.record import Record, open_record
from executor.store.journal.rows import CHAINED, COLUMNS, FIRST, Links, Row, is_chained, opened
from executor.store.journal.standing import KINDS, Standing
from ir import MclError, PublicKey

_LEAF: Final = 32
_ROW: Final = _LEAF + 16
_NOTHING: Final = bytes(_LEAF)  # what a file may end with after the power failed
KEYS: Final = "record.key"
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
    stated = kind.startswith(("record.key.", "record.table.", "record.policy.")) or kind == CHAINED
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


# ---- Holding a journal against what was seen of it: rolled back, cut, or rewritten is told.

ROLLED_BACK: Final = "JOURNAL_ROLLED_BACK"
REWRITTEN: Final = "JOURNAL_REWRITTEN"
BROKEN: Final = "CHAIN_BROKEN"
UNSEEN: Final = "record.journal.unseen"  # nothing was known of it here, though it has rows

Read = Callable[[str, tuple[object, ...]], list[tuple[object, ...]]]


def look(read: Read, witness: Witness, resolver: Callable[[str], PublicKey | None]) -> None:
    """Hold the journal against what was seen of it, and see what is new in it: form, key, signature, chain,
    and that no key that was revoked signed it.

    Raises JournalError JOURNAL_ROLLED_BACK, JOURNAL_REWRITTEN, or a code of `mcl log verify`; OSError.
    """
    seen, leaf = witness.last()  # before the rows are: what is seen was committed
    size = _number(read("SELECT max(seq) FROM journal", ()))
    if seen > size:
        raise rolled_back(size, seen)
    last = _row(read, seen) if seen else None
    if seen and (last is None or leaf_hash(last.wire) != leaf):
        raise rewritten(_first_other(read, witness))
    if size == seen:
        return
    chained = last is not None and is_chained(last.wire)
    links, tree = Links(seen, leaf, chained=chained) if seen else Links(), Frontier()
    new: list[tuple[bytes, bytes]] = []
    standing = heard(read, witness, resolver, limit=seen)[1] if seen else Standing()
    try:
        for row in _rows(read, seen):
            true = leaf_hash(row.wire)
            try:
                if row.seq != links.seq + 1:
                    raise JournalError("SEQUENCE", f"row {links.seq + 1} is missing")
                message = opened(row.wire, lambda did: resolver(did) or standing.key(did))
                if message.previous and standing.refuses(message.from_, row.seq, message.at):
                    raise JournalError("KEY_REVOKED", f"the key {message.from_} was revoked")
            except MclError as problem:
                raise _broken(problem.code, links.seq + 1, problem.message) from problem
            if flaws := links.next(message, true, None if seen else tree):
                del new[flaws[0][0] - seen - 1 :]
                raise _broken(BROKEN, *flaws[0])
            if isinstance(message, Record) and message.kind in KINDS:
                standing.hear(row.seq, message)
            tree.append(true)
            new.append((true, subject(message.intent.rpartition("/")[2] or None, message.kind)))
        if flaws := links.end():
            del new[flaws[0][0] - seen - 1 :]
            raise _broken(BROKEN, *flaws[0])
    finally:  # what stands before a break is as good as ever
        witness.add(seen + 1, new)


def heard(
    read: Read,
    witness: Witness | None,
    resolver: Callable[[str], PublicKey | None],
    known: tuple[int, Standing] | None = None,
    limit: int = 0,
) -> tuple[int, Standing]:
    """What the rows say of keys and tables, and how many rows there are. known: what the first of them say.
    limit: how many rows count (0: all).

    A row counts as it was seen; one that nobody has seen yet, where it says that it stands there.
    """
    seen, after = witness.size() if witness else 0, known[0] if known else 0
    # Never fewer than were heard: who looks from within a moment sees an older journal than others heard of.
    last = max(after, limit or _number(read("SELECT max(seq) FROM journal", ())))
    leaves: dict[int, bytes] = {}
    if witness is not None and after < seen:
        about = witness.about(subject(None, KEYS))  # rows that came meanwhile are heard the next time
        leaves = {seq: leaf for seq, leaf in about.items() if after < seq <= min(last, seen)}
    found = [row for seq in sorted(leaves) if (row := _row(read, seq)) and leaf_hash(row.wire) == leaves[seq]]
    marks = ", ".join("?" * len(KINDS))
    sql = f"SELECT {COLUMNS} FROM journal WHERE seq > ? AND seq <= ? AND kind IN ({marks}) ORDER BY seq"  # noqa: S608  # fixed texts
    found += [Row(*one) for one in read(sql, (max(after, seen), last, *KINDS))]  # type: ignore[arg-type]  # a STRICT table
    if not found and known:
        return last, known[1]
    standing = known[1].copy() if known else Standing()
    for row in found:
        try:
            record = open_record(row.wire, resolver)
        except MclError:
            continue  # `mcl log verify` tells it
        if row.seq > seen and record.previous and not _stands_behind(read, row.seq, record.previous):
            continue
        if record.kind in KINDS and not standing.refuses(record.from_, row.seq, record.at):
            standing.hear(row.seq, record)
    return last, standing


def _stands_behind(read: Read, seq: int, previous: bytes) -> bool:
    before = _row(read, seq - 1) if seq > 1 else None
    return previous == (leaf_hash(before.wire) if before else FIRST)


def rolled_back(size: int, seen: int) -> JournalError:
    """The refusal of a journal that has fewer rows than were seen."""
    return JournalError(
        ROLLED_BACK,
        f"the journal has {size} rows; this machine has seen {seen}: the others were cut off, or it is an"
        " older copy",
        place=f"journal:{size + 1}",
        fix="put the newer mcl.db back; if the older one is meant, a person says so: mcl log restored",
    )


def rewritten(seq: int) -> JournalError:
    """The refusal of a journal whose row is not the one that was seen."""
    return JournalError(
        REWRITTEN,
        f"row {seq} is not the one that this machine has seen there",
        place=f"journal:{seq}",
        fix=f"restore mcl.db from a backup; a person can go on all the same: mcl log accept-break {seq}",
    )


def _broken(code: str, seq: int, message: str) -> JournalError:
    return JournalError(
        code,
        f"the journal does not hold in row {seq}: {message}",
        place=f"journal:{seq}",
        fix=f"see mcl log verify; a person can go on all the same: mcl log accept-break {seq}",
    )


def _first_other(read: Read, witness: Witness) -> int:
    leaves = witness.leaves()
    for row, leaf in zip(_rows(read, 0), leaves, strict=False):
        if leaf_hash(row.wire) != leaf:
            return row.seq
    return len(leaves)


def _rows(read: Read, after: int) -> list[Row]:
    sql = f"SELECT {COLUMNS} FROM journal WHERE seq > ? ORDER BY seq"  # noqa: S608  # fixed texts
    return [Row(*found) for found in read(sql, (after,))]  # type: ignore[arg-type]  # a STRICT table


def _row(read: Read, seq: int) -> Row | None:
    sql = f"SELECT {COLUMNS} FROM journal WHERE seq = ?"  # noqa: S608  # fixed texts
    found = read(sql, (seq,))
    return Row(*found[0]) if found else None  # type: ignore[arg-type]  # a STRICT table


def _number(found: list[tuple[object, ...]]) -> int:
    value = found[0][0]
    return value if isinstance(value, int) else 0
