"""Before-images of what is written under an intent that has no plan: `mcl undo INTENT` puts it all back.

One call before the write, one after it, which may be of another process: they find each other by the intent
and the name of the call. What is kept lies where that of plans lies, and is told of in the same records.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from executor.core.errors import ScopeError, UndoError
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.store.journal.record import Record
from executor.store.lifecycle.view import intent_id
from executor.tools.manifest import Mode
from executor.walker.undo.images import STORE_LIMIT, make_room
from executor.walker.undo.looker import FILE_LIMIT, Before, Looker, State
from executor.walker.undo.records import KEPT, LEFT, KeptCall, before_of, call_of, kept_body, left_body
from executor.walker.undo.store import ImageStore, Total, note_tried, total
from ir.results import JsonResult
from mcl.plugins.agents.trace.line import FileChange, Ranges, TraceLine, changed_lines
from mcl.plugins.agents.trace.trace import Trace

# ---- The tables of what an agent saw and writes; of the home, and worth nothing beyond it.

# number: grows with each note, so that the oldest can go. record: id of the record of the files that a call
# which has not ended may change. root: its governed folder. caller: who makes it, where the line of what it
# changed is owed by that process; "" of a host's own calls.
TABLES: Final = (
    """
    CREATE TABLE agent_seen (
        number INTEGER PRIMARY KEY AUTOINCREMENT, root TEXT NOT NULL, agent TEXT NOT NULL, path TEXT NOT NULL,
        sha256 TEXT NOT NULL, UNIQUE (root, agent, path)
    ) STRICT;
    CREATE TABLE agent_denials (
        number INTEGER PRIMARY KEY AUTOINCREMENT, root TEXT NOT NULL, agent TEXT NOT NULL, key TEXT NOT NULL,
        lease TEXT NOT NULL, code TEXT NOT NULL, times INTEGER NOT NULL, at TEXT NOT NULL,
        UNIQUE (root, agent, key)
    ) STRICT;
    CREATE TABLE agent_kept (
        number INTEGER PRIMARY KEY AUTOINCREMENT, intent TEXT NOT NULL, node TEXT NOT NULL,
        record TEXT NOT NULL, UNIQUE (intent, node)
    ) STRICT;
    """,
    """
    ALTER TABLE agent_kept ADD COLUMN root TEXT NOT NULL DEFAULT '';
    ALTER TABLE agent_kept ADD COLUMN caller TEXT NOT NULL DEFAULT '';
    """,
    # executor.gate.breaker counts refusals, of every door.
    "DROP TABLE agent_denials;",
)

_OPEN: Final = 4096  # calls of a home that are under way, or were when it crashed


class WriteCaller(NamedTuple):
    """Who makes a call, and what its lines of the trace will say. process: as of `Callers`."""

    process: str
    label: str
    tool: str
    agent: str


def keep(
    home: Home,
    workspace: Workspace,
    paths: Sequence[tuple[str, Mode]],
    *,
    intent: str,
    node: str,
    tool: str,
    why_not: str = "",
    root: Path | None = None,
    caller: WriteCaller | None = None,
) -> Before | None:
    """Keep the files that a call is about to change, durably; None where it names none and nothing is told.

    Args:
        paths: relative to the workspace, with what is done there; those that are only read are left out.
        intent: URI or ULID. node: names this call; no other call of the intent has it.
        why_not: why the call as a whole cannot be put back, such as that a shell ran.
        root, caller: the governed folder, and who makes the call: then it counts as open until its lines of
            the trace are signed, and `recovering` signs them where that process is killed before.

    Raises:
        ScopeError: a path that tools may not touch. HomeError: it could not be kept. Then the call must not
        be made.
    """
    written = [(path, mode) for path, mode in paths if mode not in ("read", "list")]
    if not written and not why_not:
        return None
    home.db.migrate("agent_writes", TABLES)
    store = ImageStore(home.path / "undo")
    with store.together():
        before = Looker(workspace, store, FILE_LIMIT).before(written, whole_folders=not why_not)
        if why_not:
            before.uncovered[""] = why_not
        body = kept_body(before, node=node, tool=tool, root=str(workspace.root))
        with home.db.write() as connection:
            record = home.journal.record(KEPT, body, intent=intent)
            made = connection.execute(
                "INSERT OR REPLACE INTO agent_kept (intent, node, record, root, caller)"
                " VALUES (?, ?, ?, ?, ?)",
                (intent_id(intent), node, record.id, str(root or ""), json.dumps(caller) if caller else ""),
            )
            connection.execute("DELETE FROM agent_kept WHERE number <= ?", ((made.lastrowid or 0) - _OPEN,))
    return before


def left(
    home: Home, workspace: Workspace, *, intent: str, node: str, answer: object = None
) -> tuple[tuple[str, str | None, str | None], ...]:
    """Record what a call left, however it ended; nothing where none was kept, or it was recorded before.

    Args:
        answer: what the tool said; of a folder that was added to it names what was made.

    Returns:
        Of each file that changed its path, and its sha256 (hex) before and after, None where it is no file.

    Raises:
        HomeError.
    """
    call = call_of_row(home, intent_id(intent), node)
    if call is None:
        return ()
    store = ImageStore(home.path / "undo")
    after = Looker(workspace, store, FILE_LIMIT).after(before_of(call), answer)
    body = left_body(after, of=call.id, node=node)
    held = total(home, store)
    with home.db.write() as connection:
        home.journal.record(LEFT, body, intent=intent)
        owed = "AND caller = ''" if after.files else ""  # a line, whose signing forgets the call
        connection.execute(
            f"DELETE FROM agent_kept WHERE intent = ? AND node = ? {owed}",  # noqa: S608  # fixed
            (intent_id(intent), node),
        )
        held.keep(connection)
    _tidy(home, store, held)
    return tuple(
        (path, _digest(call.before.get(path)), _digest(now))
        for path, now in after.files.items()
        if now.kind != "folder"
    )


def open_calls(home: Home, intent: str) -> Iterator[KeptCall]:
    """The calls under an intent (ULID) that were let through and never seen to end, oldest first."""
    home.db.migrate("agent_writes", TABLES)
    for (node,) in home.db.read("SELECT node FROM agent_kept WHERE intent = ? ORDER BY number", (intent,)):
        if (call := call_of_row(home, intent, node)) is not None:
            yield call


def forget(intent: str, node: str) -> Callable[[sqlite3.Connection], bool]:
    """What forgets an open call of an intent (ULID), in a transaction; whether it was open until then."""

    def claim(connection: sqlite3.Connection) -> bool:
        sql = "DELETE FROM agent_kept WHERE intent = ? AND node = ?"
        return connection.execute(sql, (intent, node)).rowcount > 0

    return claim


def call_of_row(home: Home, intent: str, node: str) -> KeptCall | None:
    """What was kept for a call that has not ended; None where nothing was."""
    home.db.migrate("agent_writes", TABLES)
    sql = "SELECT record FROM agent_kept WHERE intent = ? AND node = ?"
    found = home.db.read(sql, (intent, node))
    if not found:
        return None
    record = home.journal.open(home.journal.row(found[0][0]).wire)
    fits = isinstance(record, Record) and record.kind == KEPT and intent_id(record.intent) == intent
    return call_of(record) if fits and isinstance(record, Record) else None


def _digest(state: State | None) -> str | None:
    return state.sha256 if state is not None and state.kind == "file" else None


def _tidy(home: Home, store: ImageStore, held: Total) -> None:
    """Beyond STORE_LIMIT, remove what ended intents kept: after the call, when nobody waits for it. Where
    more is left, since intents go on, not again before a sixteenth of the limit has come."""
    if held.bytes > max(STORE_LIMIT, held.tried + STORE_LIMIT // 16):
        note_tried(home, make_room(home, store, STORE_LIMIT // 2))


# ---- Which version of a file an agent last read or wrote, so that a write over a newer one is refused.

_KEPT: Final = 1 << 16  # notes of a home


class SeenVersions:
    """The versions that the agents of a home saw."""

    def __init__(self, home: Home) -> None:
        self._db = home.db
        self._db.migrate("agent_writes", TABLES)

    def note(self, root: Path, agent: str, path: str, sha256: str | None) -> None:
        """This agent read or wrote this version. path: relative to root. sha256: hex; None: no file is there.

        Raises HomeError.
        """
        if self.of(root, agent, path) == sha256:
            return
        with self._db.write("agents") as connection:
            if sha256 is None:
                connection.execute(
                    "DELETE FROM agent_seen WHERE root = ? AND agent = ? AND path = ?",
                    (str(root), agent, path),
                )
                return
            made = connection.execute(
                "INSERT OR REPLACE INTO agent_seen (root, agent, path, sha256) VALUES (?, ?, ?, ?)",
                (str(root), agent, path, sha256),
            )
            connection.execute("DELETE FROM agent_seen WHERE number <= ?", ((made.lastrowid or 0) - _KEPT,))

    def of(self, root: Path, agent: str, path: str) -> str | None:
        """sha256 (hex) of the file as this agent last saw it; None where it never did. Raises HomeError."""
        sql = "SELECT sha256 FROM agent_seen WHERE root = ? AND agent = ? AND path = ?"
        found = self._db.read(sql, (str(root), agent, path))
        return str(found[0][0]) if found else None


# ---- After a write: a line of the trace a file, with what differs in it, and the version its agent knows.

Changed: TypeAlias = tuple[str, str | None, str | None]

_LARGEST: Final = 4 << 20  # bytes of a file whose lines are compared


def trace_writes(
    home: Home,
    root: Path,
    workspace: Workspace,
    changed: Sequence[Changed],
    *,
    label: str,
    intent_id: str,
    tool: str,
    agent: str,
    node: str = "",
) -> tuple[TraceLine, ...]:
    """Trace what a call changed, as `left` told it, and note that its agent knows what is there now.

    Args:
        root: the governed folder; the workspace is that folder, or lies in it or around it.
        changed: path in the workspace, sha256 (hex) before and after, None where there is no file.
        label, intent_id, tool, agent: as of `FileChange`. node: of a call that `keep` was told
            the caller of, which is open until the lines are signed; it has them once, whoever signs them.

    Raises:
        ScopeError: the trace cannot be written; what could not be added is added with the next line.
        HomeError: the home cannot.
    """
    seen = SeenVersions(home)
    changes: list[FileChange] = []
    for path, before, after in changed:
        file = within(root, workspace, path)
        if file is None:
            continue
        seen.note(root, agent, file, after)
        lines = lines_of(home, workspace, path, before, after)
        changes.append(FileChange(label, intent_id, tool, file, before, after, lines, "agent", agent))
    claim = forget(intent_id, node) if node else None
    if claim is not None and not changes:
        with home.db.write("agents") as connection:
            claim(connection)
    return Trace(home, root).extend(changes, once=claim)


def within(root: Path, workspace: Workspace, path: str) -> str | None:
    """A path of the workspace as one relative to the governed folder; None where it lies outside that."""
    place = workspace.root.joinpath(*path.split("/"))
    return place.relative_to(root).as_posix() if place.is_relative_to(root) else None


def lines_of(home: Home, workspace: Workspace, path: str, before: str | None, after: str | None) -> Ranges:
    """The lines that differ; none of a file that is gone, binary or large, or that changed since."""
    if after is None:
        return ()
    try:
        now, size = workspace.read(path, _LARGEST)
        was = ImageStore(home.path / "undo").read(before) if before is not None else b""
    except (ScopeError, UndoError):
        return ()
    if size > _LARGEST or len(was) > _LARGEST or b"\0" in now or b"\0" in was:
        return ()
    return changed_lines(was, now)


# ---- Files that a call may have changed of which nobody saw the end: its process was killed, or its host
# was.


@dataclass(frozen=True, slots=True)
class Unended(JsonResult):
    """A file that is another one than the call found. at: when that was let through; file: relative to the
    governed folder; tool: its address, or the host's name of it."""

    at: str
    tool: str
    file: str


def unended(
    home: Home, root: Path, intents: Iterable[str], traced: Mapping[str, str | None]
) -> tuple[Unended, ...]:
    """What the trace of a governed folder may lack, oldest first. A call that was let through and declined
    afterwards is among them, if somebody changed its file since.

    Args:
        intents: ULIDs of the work of the folder. traced: by file, the sha256 that its last line names.

    Raises:
        HomeError. JournalError: a record that cannot be believed.
    """
    found = dict[str, Unended]()
    for intent in intents:
        for call in open_calls(home, intent):
            for file in _changed(home, root, call, traced):
                found.setdefault(file, Unended(call.at, call.tool, file))
    return tuple(sorted(found.values(), key=lambda one: (one.at, one.file)))


def _changed(home: Home, root: Path, call: KeptCall, traced: Mapping[str, str | None]) -> Iterator[str]:
    with suppress(ScopeError):  # the folder is gone
        workspace = Workspace(Path(call.root), forbidden=[home.path])
        try:
            look = Looker(workspace, ImageStore(home.path / "undo"))
            for path, was in call.before.items():
                file = within(root, workspace, path)
                with suppress(ScopeError):
                    now = look.now(path)
                    same = (now.kind, now.sha256) == (was.kind, was.sha256) or now.kind == "folder"
                    if file is not None and not same and traced.get(file, "") != (now.sha256 or None):
                        yield file
        finally:
            workspace.close()
