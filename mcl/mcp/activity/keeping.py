"""Keeping records of calls: on disk before the answer goes out; callers at once share one commit."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from typing import Any

from executor.home import Home
from executor.journal.journal import Statement
from executor.lifecycle.view import intent_id
from executor.sandbox.redaction import Redactor
from ir import is_instant, is_ulid
from mcl.mcp.activity.entry import KIND, Entry
from mcl.mcp.activity.storing import body_of


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
        self._redactor = redactor or Redactor(os.environ)
        self._waiting: list[tuple[tuple[Statement, str], asyncio.Future[Kept]]] = []

    async def keep(self, entry: Entry) -> Kept:
        """Sign the record of a call and write it to the journal; returns when it is on disk.

        Call it before the answer goes out. A caller that is cancelled while it waits loses nothing: what was
        handed in is written. Raises HomeError, JournalError, KeyringError: then nothing was kept, and the
        call must fail. Does not raise for anything that an agent or a server can put into an entry.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Kept] = loop.create_future()
        self._waiting.append((self._statement(entry), future))
        if len(self._waiting) == 1:
            loop.call_soon(self._commit)
        # Not the future itself: who is cancelled must not take the record with it.
        return await asyncio.shield(future)

    def _statement(self, entry: Entry) -> tuple[Statement, str]:
        body: dict[str, Any] = body_of(entry, self._redactor, self._home.keyring.agent.did)
        intent = intent_id(entry.intent_id)
        said = Statement(KIND, body, at=entry.at if is_instant(entry.at) else "")
        return said, intent if is_ulid(intent) else ""

    def _commit(self) -> None:
        batch, self._waiting = self._waiting, []
        try:
            rows = self._home.journal.record_many([statement for statement, _ in batch])
        except Exception as error:  # noqa: BLE001  # whatever it is, every caller of this commit is told
            for _, future in batch:
                future.set_exception(error)
                future.exception()  # of a caller that went away nobody asks
            return
        for row, (_, future) in zip(rows, batch, strict=True):
            future.set_result(Kept(row.seq, row.id))
