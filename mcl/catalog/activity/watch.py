"""New records as they come, whichever process keeps them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from executor.store.home import Home
from executor.store.journal.rows import Row
from ir.errors import MclError
from mcl.catalog.activity.entry import KIND
from mcl.catalog.activity.filters import Filters
from mcl.catalog.activity.index import believed
from mcl.catalog.activity.reading import Flaw, Found

_CHUNK: Final = 200  # rows that are read at once


def watch(home: Home, filters: Filters, wait: Callable[[], bool]) -> Iterator[Found]:
    """The records that are kept from now on, in order; rows that do not verify are flaws, whatever is asked
    for.

    wait: waits a moment, and says whether to go on. Raises HomeError.
    """
    place = home.journal.size()
    stamp: object = None
    while True:
        now = home.db.stamp("journal")
        if now != stamp:
            stamp = now
            # By size first: what is written while these are read has a later number.
            size = home.journal.size()
            while rows := home.journal.rows(after=place, kind=KIND, limit=_CHUNK):
                for row in rows:
                    place = row.seq
                    found = _found(home, row)
                    if isinstance(found, Flaw) or filters.matches(found):
                        yield found
            place = max(place, size)
        if not wait():
            return


def _found(home: Home, row: Row) -> Found:
    try:
        return believed(home, row)
    except MclError as problem:
        return Flaw(row.seq, problem.code, problem.message)
