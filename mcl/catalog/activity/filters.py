"""Which records are wanted. A filter that cannot be right is an error, never ignored."""

from __future__ import annotations

import hashlib
import re
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Final, TypeAlias

from executor.core.errors import JournalError
from executor.core.hashing import json_bytes
from executor.store.home import Home
from executor.store.journal.record import Record
from executor.store.journal.rows import COLUMNS, Row
from executor.tools.names import is_server
from ir.errors import MclError
from mcl.catalog.activity.entry import KIND, OPERATIONS, SENSITIVITIES, VERDICTS
from mcl.catalog.activity.record import CallRecord, call_of, milliseconds
from mcl.core.errors import McpError

_LONGEST: Final = 200  # characters of a filter
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}  # seconds
_AGO: Final = re.compile(r"(\d{1,9})([smhdw])", re.ASCII)
_MOMENT: Final = re.compile(
    r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d([.]\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?", re.ASCII
)
_CODE: Final = re.compile(r"[A-Z][A-Z0-9_]*", re.ASCII)
_INTENT: Final = re.compile(r"(matrix://intent/)?[0-9A-HJKMNP-TV-Z]{1,26}", re.ASCII)
_AGENT: Final = re.compile(r"did:[ -~]+", re.ASCII)
_MOMENTS: Final = "2026-11-21, 2026-11-21T10:00Z, or ago: 90s, 30m, 2h, 3d, 1w"

Given: TypeAlias = Mapping[str, object]
_Check: TypeAlias = Callable[[str], bool]

# Each filter of which several values may be given: what a value must be, and what is allowed in words.
_VALUES: Final[Mapping[str, tuple[_Check, str]]] = {
    "server": (is_server, "the name of a server, as mcl server list shows it; mcl is mcl itself"),
    "tool": (lambda text: text.isprintable(), "the name of a tool, or server:tool"),
    "operation": (OPERATIONS.__contains__, ", ".join(OPERATIONS)),
    "sensitivity": (SENSITIVITIES.__contains__, ", ".join(SENSITIVITIES)),
    "status": (VERDICTS.__contains__, ", ".join(VERDICTS)),
    "code": (lambda text: _CODE.fullmatch(text) is not None, "a code such as SERVER_MISMATCH"),
    "intent": (lambda text: _INTENT.fullmatch(text) is not None, "the id of an intent, or how it begins"),
    "agent": (lambda text: _AGENT.fullmatch(text) is not None, "a DID, or how it begins: did:key:z6Mk"),
    "client": (lambda text: text.isprintable(), "what the client calls itself"),
}
_ONE: Final = ("since", "until", "text")
NAMES: Final = (*_VALUES, *_ONE)


@dataclass(frozen=True, slots=True)
class Filters:
    """What a record must be like; of one filter with several values any will do.

    since, until: milliseconds since 1970, the first included, the second not. text: folded, to be found in
    what is shown of a call. digest: marks what was asked for, whatever "3d ago" means by now.
    """

    values: Mapping[str, tuple[str, ...]]
    since: int | None = None
    until: int | None = None
    text: str = ""
    digest: str = ""

    def matches(self, call: CallRecord) -> bool:
        """Whether a record is wanted."""
        if self.since is not None and call.at_ms < self.since:
            return False
        if self.until is not None and call.at_ms >= self.until:
            return False
        if any(not _MATCH[name](call, wanted) for name, wanted in self.values.items()):
            return False
        return not self.text or self.text in words_of(call)

    def where(self) -> tuple[str, list[object]]:
        """The same as SQL over the index (`a`), with its parameters."""
        parts, parameters = list[str](), list[object]()
        for name, wanted in self.values.items():
            one, of = _SQL[name]
            parts.append("(" + " OR ".join([one] * len(wanted)) + ")")
            parameters += [value for text in wanted for value in of(text)]
        if self.since is not None:
            parts.append("a.at_ms >= ?")
            parameters.append(self.since)
        if self.until is not None:
            parts.append("a.at_ms < ?")
            parameters.append(self.until)
        if self.text:
            parts.append("instr((SELECT words FROM activity_words w WHERE w.seq = a.seq), ?) > 0")
            parameters.append(self.text)
        return " AND ".join(parts) or "1", parameters


def parse_filters(given: Given, *, now: str) -> Filters:
    """Read filters by their names: one text, or a list of texts where several will do.

    now: ISO 8601, what "2h" is reckoned from. Raises McpError BAD_FILTER.
    """
    for name in given:
        if name not in NAMES:
            raise _unknown(name)
    found = {
        name: tuple(_value(name, text) for text in _list(name, given[name]))
        for name in _VALUES
        if name in given
    }
    since, until = (_moment(name, given[name], now) if name in given else None for name in ("since", "until"))
    if since is not None and until is not None and since >= until:
        raise bad_filter("until", f"is not after since ({given['since']})", "a later moment than since")
    text = fold(_text("text", given["text"], _LONGEST)) if "text" in given else ""
    return Filters(found, since, until, text, hashlib.sha256(json_bytes(dict(given))).hexdigest()[:8])


def bad_filter(name: str, why: str, allowed: str) -> McpError:
    """BAD_FILTER: which one, why, and what is allowed."""
    return McpError(
        "BAD_FILTER",
        f"the filter {name} {why}",
        place=name,
        fix=f"allowed: {allowed}",
        data={"filter": name, "allowed": allowed},
    )


def words_of(call: CallRecord) -> str:
    """What a text is looked for in: the fields that are shown, folded, none running into the next."""
    fields = (call.name, call.reason, call.args, call.code, call.client, *call.warnings)
    return "\x1f".join([fold(text) for text in fields])


def fold(text: str) -> str:
    """A text without what does not count in a search: case, and how much blank there is."""
    return " ".join(text.casefold().split())


def _unknown(name: object) -> McpError:
    shown = ascii(str(name)[:80])
    near = get_close_matches(str(name), NAMES, 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    return McpError(
        "BAD_FILTER",
        f"there is no filter {shown}{meant}",
        place=str(name)[:80],
        fix=f"allowed: {', '.join(NAMES)}",
        data={"filter": str(name)[:80], "allowed": ", ".join(NAMES)},
    )


def _list(name: str, value: object) -> Sequence[object]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple) and 0 < len(value) <= _LONGEST:
        return value
    raise bad_filter(name, "is neither a text nor a list of texts", _VALUES[name][1])


def _value(name: str, value: object) -> str:
    check, allowed = _VALUES[name]
    text = _text(name, value, _LONGEST, allowed)
    if not check(text):
        raise bad_filter(name, f"cannot be {text!a}", allowed)
    return text.removeprefix("matrix://intent/") if name == "intent" else text


def _text(name: str, value: object, limit: int, allowed: str = "a text") -> str:
    if not isinstance(value, str):
        raise bad_filter(name, f"is a {type(value).__name__}, not a text", allowed)
    if not value.strip():
        raise bad_filter(name, "is empty; leave it out to ask for all", allowed)
    if len(value) > limit:
        raise bad_filter(name, f"has {len(value)} characters", f"{allowed}, of at most {limit} characters")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise bad_filter(name, "holds half a character", allowed) from None
    return value


def _moment(name: str, value: object, now: str) -> int:
    text = _text(name, value, _LONGEST, _MOMENTS).strip()
    if ago := _AGO.fullmatch(text):
        return milliseconds(now) - int(ago[1]) * _UNITS[ago[2]] * 1000
    if _MOMENT.fullmatch(text) is None:
        raise bad_filter(name, f"cannot be {text!a}", _MOMENTS)
    try:
        moment = datetime.fromisoformat(text)
        return round((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
    except (ValueError, OverflowError) as error:
        raise bad_filter(name, f"is no moment: {text!a} ({error})", _MOMENTS) from error


def _tool(call: CallRecord, wanted: tuple[str, ...]) -> bool:
    return call.tool in wanted or call.name in wanted


def _begins(text: str, wanted: tuple[str, ...]) -> bool:
    return any(text.startswith(one) for one in wanted)


_MATCH: Final[Mapping[str, Callable[[CallRecord, tuple[str, ...]], bool]]] = {
    "server": lambda call, wanted: call.server in wanted,
    "tool": _tool,
    "operation": lambda call, wanted: call.operation in wanted,
    "sensitivity": lambda call, wanted: call.data_sensitivity in wanted,
    "status": lambda call, wanted: call.verdict in wanted,
    "code": lambda call, wanted: call.code in wanted,
    "intent": lambda call, wanted: _begins(call.intent_id, wanted),
    "agent": lambda call, wanted: _begins(call.agent, wanted),
    "client": lambda call, wanted: call.client in wanted,
}
_SQL: Final[Mapping[str, tuple[str, Callable[[str], tuple[object, ...]]]]] = {
    **{
        name: (f"a.{name} = ?", lambda text: (text,))
        for name in ("server", "operation", "sensitivity", "status", "code", "client")
    },
    "tool": ("(a.tool = ? OR a.server || ':' || a.tool = ?)", lambda text: (text, text)),
    **{name: (f"substr(a.{name}, 1, ?) = ?", lambda text: (len(text), text)) for name in ("intent", "agent")},
}


# ---- A table of what the records say, to find them by. It is made of the journal, and can be made again:
# what is shown of a call always comes from the signed bytes of its row.

# flaw: why a row was not believed when it was read; nothing else is known of it then. `activity_read`: all
# rows up to there are in the table.
STEPS: Final = (
    """
    CREATE TABLE activity (
        seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, server TEXT NOT NULL, tool TEXT NOT NULL,
        operation TEXT NOT NULL, sensitivity TEXT NOT NULL, status TEXT NOT NULL, code TEXT NOT NULL,
        intent TEXT NOT NULL, agent TEXT NOT NULL, client TEXT NOT NULL, latency_us INTEGER NOT NULL,
        result_bytes INTEGER NOT NULL, flaw TEXT NOT NULL) STRICT;
    CREATE TABLE activity_words (seq INTEGER PRIMARY KEY, words TEXT NOT NULL) STRICT;
    CREATE TABLE activity_read (one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER NOT NULL) STRICT;
    INSERT INTO activity_read VALUES (1, 0);
    """,
)
_ADD: Final = "INSERT OR REPLACE INTO activity VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,'')"
_ADD_WORDS: Final = "INSERT OR REPLACE INTO activity_words VALUES (?, ?)"
_ADD_FLAW: Final = "INSERT OR REPLACE INTO activity VALUES (?,0,'','','','','','','','','',0,0,?)"
_PORTION: Final = 1000  # rows that are read before the database is written to, which others wait for
_MISSING: Final = f"""
    SELECT {COLUMNS} FROM journal j
    WHERE j.seq > ? AND j.kind = ? AND NOT EXISTS (SELECT 1 FROM activity a WHERE a.seq = j.seq)
    ORDER BY j.seq LIMIT ?"""  # noqa: S608  # fixed texts


class Index:
    """The table of a home. Its methods raise HomeError."""

    def __init__(self, home: Home) -> None:
        self._home = home
        home.db.migrate("activity", STEPS)

    def add(self, connection: sqlite3.Connection, calls: Sequence[CallRecord]) -> None:
        """Enter calls whose rows are written in the same commit."""
        connection.executemany(_ADD, [_columns(call) for call in calls])
        connection.executemany(_ADD_WORDS, [(call.seq, words_of(call)) for call in calls])

    def catch_up(self, *, fresh: bool = False) -> None:
        """Enter all rows that are missing, each after its signature was checked. fresh: all rows anew."""
        db, size = self._home.db, self._home.journal.size()
        read = int(db.read("SELECT seq FROM activity_read")[0][0])
        if fresh or read > size:  # a journal that became shorter is another one
            with db.derive("activity") as connection:
                for table in ("activity", "activity_words"):
                    connection.execute(f"DELETE FROM {table}")  # noqa: S608  # fixed texts
                connection.execute("UPDATE activity_read SET seq = 0")
            read = 0
        while rows := [Row(*found) for found in db.read(_MISSING, (read, KIND, _PORTION))]:
            read = rows[-1].seq
            self._enter(rows, read)
        if size - read > _PORTION:  # so that the same rows are not gone through again each time
            self._enter((), size)

    def _enter(self, rows: Sequence[Row], read: int) -> None:
        calls, flaws = list[CallRecord](), list[tuple[int, str]]()
        for row in rows:
            try:
                calls.append(believed(self._home, row))
            except MclError as problem:
                flaws.append((row.seq, problem.code))
        with self._home.db.derive("activity") as connection:
            self.add(connection, calls)
            connection.executemany(_ADD_FLAW, flaws)
            connection.execute("UPDATE activity_read SET seq = max(seq, ?)", (read,))


def believed(home: Home, row: Row) -> CallRecord:
    """The call that a row tells of, from its signed bytes.

    Raises what Journal.open raises; JournalError COLUMN_MISMATCH, ACTIVITY_SHAPE.
    """
    message = home.journal.open(row.wire)
    said = (message.kind, message.id, message.at, message.self_hash)
    if said != (row.kind, row.id, row.at, row.self_hash) or row.kind != KIND:
        raise JournalError(
            "COLUMN_MISMATCH",
            "the row does not say what its signed bytes say",
            place=row.id,
            fix="run mcl log verify",
        )
    assert isinstance(message, Record)
    return call_of(message.body, seq=row.seq, id=row.id, at=row.at)


def _columns(call: CallRecord) -> tuple[object, ...]:
    return (
        call.seq,
        call.at_ms,
        call.server,
        call.tool,
        call.operation,
        call.data_sensitivity,
        call.verdict,
        call.code,
        call.intent_id,
        call.agent,
        call.client,
        call.latency_us,
        call.result_bytes,
    )
