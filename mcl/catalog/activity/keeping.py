"""Keeping records of calls: on disk before the answer goes out; callers at once share one commit."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from executor.sandbox import taken
from executor.sandbox.redaction import Redactor
from executor.store.home import Home
from executor.store.journal.journal import Statement
from executor.store.journal.rows import Row
from ir import is_instant
from mcl.catalog.activity.entry import KIND, Entry
from mcl.catalog.activity.index import Index
from mcl.catalog.activity.record import call_of
from mcl.catalog.activity.storing import body_of

if TYPE_CHECKING:
    import asyncio

_MOST: Final = 256  # records in one commit, about: more are not waited for


@dataclass(frozen=True, slots=True)
class Kept:
    """Where a record is in the journal. seq: the number of its row, from 1; id: its ULID."""

    seq: int
    id: str


class Activity:
    """Keeps what was called, in the journal of a home, from one event loop.

    redactor: takes secrets out of everything that is kept (default: those of this process's environment).
    """

    def __init__(self, home: Home, *, redactor: Redactor | None = None) -> None:
        self._home = home
        self._redactor = redactor or Redactor(taken.variables())
        self._index = Index(home)
        self._waiting: list[tuple[str, dict[str, Any], asyncio.Future[Kept]]] = []

    async def keep(self, entry: Entry) -> Kept:
        """Sign the record of a call and write it to the journal; returns when it is on disk.

        Call it before the answer goes out. A caller that is cancelled while it waits loses nothing: what was
        handed in is written. Raises HomeError, JournalError, KeyringError: then nothing was kept, and the
        call must fail. Does not raise for anything that an agent or a server can put into an entry.
        """
        import asyncio  # not needed by whoever only reads

        loop = asyncio.get_running_loop()
        future: asyncio.Future[Kept] = loop.create_future()
        body = body_of(entry, self._redactor, self._home.keyring.agent.did)
        self._waiting.append((entry.at if is_instant(entry.at) else "", body, future))
        if len(self._waiting) == 1:
            loop.call_soon(self._gather, loop, 0)
        # Not the future itself: who is cancelled must not take the record with it.
        return await asyncio.shield(future)

    def _gather(self, loop: asyncio.AbstractEventLoop, before: int) -> None:
        """Commit when a turn of the loop has brought nobody new: no timer, and one commit for all at once.

        In a thread of its own a commit takes longer, measured: others of this loop ask the same database, and
        wait for it there.
        """
        if before < len(self._waiting) < _MOST:
            loop.call_soon(self._gather, loop, len(self._waiting))
        else:
            self._commit()

    def _commit(self) -> None:
        batch, self._waiting = self._waiting, []

        def index(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
            told = zip(rows, batch, strict=True)
            calls = [call_of(body, seq=row.seq, id=row.id, at=row.at) for row, (_, body, _) in told]
            self._index.add(connection, calls)

        try:
            said = [Statement(KIND, body, at=at) for at, body, _ in batch]
            rows = self._home.journal.record_many(said, beside=index)
        except Exception as error:  # noqa: BLE001  # whatever it is, every caller of this commit is told
            for *_, future in batch:
                future.set_exception(error)
                future.exception()  # of a caller that went away nobody asks
            return
        for row, (*_, future) in zip(rows, batch, strict=True):
            future.set_result(Kept(row.seq, row.id))
