"""Writing records of calls: on disk before the answer goes out; callers at once share one commit."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from executor.core.hashing import json_bytes
from executor.sandbox.redaction import Redactor, known_variables
from executor.store.home import Home
from executor.store.journal.journal import Statement
from executor.store.journal.rows import Row
from executor.store.lifecycle.view import intent_id
from ir import is_instant
from mcl.plugins.mcp.records.index import ActivityIndex
from mcl.plugins.mcp.records.record import INTENT, KIND, TEXTS, CallRecord, call_of, whole_number

if TYPE_CHECKING:
    import asyncio


# ---- A call as it is signed: redacted, within bounds, with nothing in it that could not be written.

MAX_ARGS: Final = 4096  # bytes of the arguments' JSON, as they are kept
CUT: Final = "…"  # ends what was cut; the redactor knows it
_MAX_TEXT: Final = 200  # characters of a name, a code, an id
_LIMITS: Final = {"reason": 1000}  # characters of texts that may be longer
_MAX_WARNING, _MAX_WARNINGS = 500, 8  # characters, and how many
_ROOM: Final = 1 << 16  # bytes of JSON beyond which arguments are cut before they are redacted, which is slow
_LOOKED_AT: Final = 2 * MAX_ARGS  # characters of one text that are redacted at most
_ITEMS: Final = 64  # items of a list or object of large arguments that are redacted at most
_DEPTH: Final = 8  # levels of them


def body_of(call: CallRecord, redactor: Redactor, agent: str) -> dict[str, Any]:
    """The body of the record of a call.

    agent: the DID to name where the call names none. Times are whole microseconds. `args` is JSON, or the
    beginning of it and a `…`; `args_bytes` is how long the JSON was that came. Never raises for what an agent
    or a server can send.
    """
    came = _json(call.args)
    digest = call.args_hash or (hashlib.sha256(came).hexdigest() if came else "")
    args: object = call.args
    if not 0 < len(came) <= _ROOM:
        args = _beginning(args, 0)
    said = {name: _text(getattr(call, name)) for name in (*TEXTS, *INTENT)}
    said["intent_id"] = intent_id(said["intent_id"])
    warned = [_text(one) for one in call.warnings[:_MAX_WARNINGS]]
    # One look at all texts together takes a tenth of the time of one look at each.
    together = CUT.join((*said.values(), *warned, *_texts(args)))
    if redactor.text(together) != together:
        said = {name: redactor.text(text) for name, text in said.items()}
        warned = [redactor.text(text) for text in warned]
        args = redactor.value(args)
    said = {name: cut(text, _LIMITS.get(name, _MAX_TEXT)) for name, text in said.items()}
    intent = {name: said.pop(name) for name in INTENT}
    declared = {**intent, "data_sensitivity": intent["data_sensitivity"] or "unknown"}
    return {
        **said,
        "agent": said["agent"] or agent,
        "intent": declared if any(intent.values()) else {},
        "args": _cut_bytes(_json(args).decode(), MAX_ARGS),
        "args_bytes": len(came),
        "args_hash": digest,
        "result_bytes": whole_number(call.result_bytes),
        "upstream_us": None if call.upstream_ms is None else whole_number(call.upstream_ms * 1000),
        "latency_us": whole_number(call.latency_ms * 1000),
        "warnings": [cut(text, _MAX_WARNING) for text in warned],
    }


def cut(text: str, limit: int) -> str:
    """The first `limit` characters, the last of them a `…` where more came."""
    return text if len(text) <= limit else text[: limit - 1] + CUT


def _text(value: object) -> str:
    """What is redacted of a text, with half characters written out: they have no form in UTF-8."""
    text = cut(str(value), _LOOKED_AT)
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _texts(value: object) -> Iterator[str]:
    """Every text inside a JSON value, its object keys included."""
    below = [value]
    while below:
        one = below.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, dict):
            below += one
            below += one.values()
        elif isinstance(one, list | tuple):
            below += one


def _json(value: object) -> bytes:
    """A value as JSON; b"" where it is none."""
    try:
        return json_bytes(dict(value) if isinstance(value, Mapping) else value)
    except (TypeError, ValueError, RecursionError):
        return b""


def _beginning(value: object, depth: int) -> object:
    """Enough of a value that is large, or no JSON, to fill what is kept of it."""
    if value is None or isinstance(value, bool | int):
        return value
    if depth > _DEPTH:
        return CUT
    if isinstance(value, Mapping):
        kept = {_text(name): _beginning(value[name], depth + 1) for name in list(value)[:_ITEMS]}
        return kept if len(value) <= _ITEMS else {**kept, CUT: CUT}
    if isinstance(value, list | tuple):
        items = [_beginning(item, depth + 1) for item in value[:_ITEMS]]
        return items if len(value) <= _ITEMS else [*items, CUT]
    return _text(value)


def _cut_bytes(text: str, limit: int) -> str:
    """As `cut`, in bytes of UTF-8."""
    data = text.encode()
    if len(data) <= limit:
        return text
    return data[: limit - len(CUT.encode())].decode(errors="ignore") + CUT


_MOST: Final = 256  # records in one commit, about: more are not waited for


@dataclass(frozen=True, slots=True)
class ActivityRow:
    """Where a record is in the journal. seq: the number of its row, from 1; id: its ULID."""

    seq: int
    id: str


class Activity:
    """Keeps what was called, in the journal of a home, from one event loop.

    redactor: takes secrets out of everything that is kept (default: those of this process's environment).
    """

    def __init__(self, home: Home, *, redactor: Redactor | None = None) -> None:
        self._home = home
        self._redactor = redactor or Redactor(known_variables())
        self._index = ActivityIndex(home)
        self._waiting: list[tuple[str, dict[str, Any], asyncio.Future[ActivityRow]]] = []

    async def keep(self, call: CallRecord) -> ActivityRow:
        """Sign the record of a call and write it to the journal; returns when it is on disk.

        Call it before the answer goes out. A caller that is cancelled while it waits loses nothing: what was
        handed in is written. Raises HomeError, JournalError, KeyringError: then nothing was kept, and the
        call must fail. Does not raise for anything that an agent or a server can put into it.
        """
        import asyncio  # not needed by whoever only reads

        loop = asyncio.get_running_loop()
        future: asyncio.Future[ActivityRow] = loop.create_future()
        body = body_of(call, self._redactor, self._home.keyring.agent.did)
        self._waiting.append((call.at if is_instant(call.at) else "", body, future))
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
            future.set_result(ActivityRow(row.seq, row.id))
