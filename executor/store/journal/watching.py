"""Holding a journal against what this machine has seen of it: rolled back, cut, or rewritten is told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from executor.core.errors import JournalError
from executor.store.journal.merkle import Frontier, leaf_hash
from executor.store.journal.record import Record, open_record
from executor.store.journal.rows import COLUMNS, FIRST, Links, Row, is_chained, opened
from executor.store.journal.standing import KINDS, Standing
from executor.store.journal.witness import KEYS, Witness, subject
from ir import MclError, PublicKey

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
