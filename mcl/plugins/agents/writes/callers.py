"""Which processes that make calls still live: each holds a lock on a file of its own, until it ends somehow.

The operating system frees the lock, so a file that can be locked belongs to nobody any more.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from secrets import token_hex
from typing import Final

from executor.core.errors import ScopeError
from executor.core.files import take
from executor.sandbox.paths import Workspace
from executor.store.database import explain_os
from executor.store.home import Home
from executor.walker.undo.looker import Looker, State
from executor.walker.undo.records import KeptCall
from executor.walker.undo.store import ImageStore
from mcl.plugins.agents.trace.line import FileChange, TraceLine
from mcl.plugins.agents.trace.trace import Trace, signed_lines
from mcl.plugins.agents.writes.images import TABLES, WriteCaller, call_of_row, forget, lines_of, within

_FOLDER: Final = "callers"
_FLAGS: Final = os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW


class Callers:
    """The callers of a home, seen from one of them. Close it when no more calls are made."""

    def __init__(self, home: Home) -> None:
        self._folder = home.path / _FOLDER
        self._name, self._lock = "", -1

    @property
    def name(self) -> str:
        """What this process is called, once it made a call; nobody else ever was. Raises HomeError."""
        if not self._name:
            try:
                self._folder.mkdir(mode=0o700, exist_ok=True)
                while not self._taken(token_hex(16)):
                    pass
            except OSError as problem:
                raise explain_os(problem, self._folder) from problem
        return self._name

    def lives(self, name: str) -> bool:
        """Whether a caller may still go on. Of one that is gone the file is removed. Raises HomeError."""
        if name == self._name:
            return True
        try:
            lock = os.open(self._folder / name, _FLAGS)
        except FileNotFoundError:
            return False
        except OSError as problem:
            raise explain_os(problem, self._folder) from problem
        try:
            dead = take(lock, wait=False)
            if dead:
                (self._folder / name).unlink(missing_ok=True)
        finally:
            os.close(lock)
        return not dead

    def close(self) -> None:
        """Make no more calls under this name."""
        if self._name:
            with suppress(OSError):
                (self._folder / self._name).unlink()
            os.close(self._lock)
            self._name, self._lock = "", -1

    def _taken(self, name: str) -> bool:
        """Make the file of a name and hold it; false where another process took it for a dead one's before it
        was locked."""
        place = Path(self._folder / name)
        lock = os.open(place, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            take(lock)
            held = place.exists() and os.stat(place).st_ino == os.fstat(lock).st_ino  # noqa: PTH116
        except BaseException:
            os.close(lock)
            raise
        if not held:
            os.close(lock)
            return False
        self._name, self._lock = name, lock
        return True


# ---- Lines of the trace for calls of processes that were killed between the write and its line.

_MOST: Final = 100  # calls that are traced in one go; the others have their turn at the next call


@dataclass(frozen=True, slots=True)
class _Open:
    """A call of which nobody saw the end, and by whom it was made."""

    intent: str
    node: str
    caller: WriteCaller


def recover(home: Home, root: Path, callers: Callers) -> tuple[TraceLine, ...]:
    """Trace what killed processes changed in a governed folder, once for each call, whoever else does so.

    Raises:
        ScopeError: the trace cannot be written; what was signed is added with the next line that can be.
        HomeError. JournalError: a record that cannot be believed.
    """
    found: tuple[TraceLine, ...] = ()
    for one in list(islice(_of_the_dead(home, root, callers), _MOST)):
        call = call_of_row(home, one.intent, one.node)
        changes = list(_changes(home, root, one, call)) if call is not None else []
        if changes:
            claim = forget(one.intent, one.node)
            found += Trace(home, root).extend(changes, once=claim)
            continue
        with home.db.write("agents") as connection:
            forget(one.intent, one.node)(connection)
    return found


def _of_the_dead(home: Home, root: Path, callers: Callers) -> Iterator[_Open]:
    home.db.migrate("agent_writes", TABLES)
    sql = "SELECT intent, node, caller FROM agent_kept WHERE caller != '' AND root = ? ORDER BY number"
    alive: dict[str, bool] = {}
    for intent, node, said in home.db.read(sql, (str(root),)):
        caller = WriteCaller(*json.loads(said))
        if caller.process not in alive:
            alive[caller.process] = callers.lives(caller.process)
        if not alive[caller.process]:
            yield _Open(intent, node, caller)


def _changes(home: Home, root: Path, one: _Open, call: KeptCall) -> Iterator[FileChange]:
    """What a call may have changed and no line tells of."""
    later: dict[str, str | None] = {}  # by file, what the first line since then found there
    for line in signed_lines(home, root):
        if line.time >= call.at:
            later.setdefault(line.change.file, line.change.before)
    with suppress(ScopeError):  # the folder is gone
        workspace = Workspace(Path(call.root), forbidden=[home.path])
        try:
            look = Looker(workspace, ImageStore(home.path / "undo"))
            for path, was in call.before.items():
                file = within(root, workspace, path)
                if file is None or was.kind == "folder":
                    continue
                with suppress(ScopeError):
                    then = _sha256(was)
                    now = later[file] if file in later else _sha256(look.now(path))
                    if now == then or (now is None and file in later):  # or not known to who wrote that line
                        continue
                    lines = lines_of(home, workspace, path, then, now) if file not in later else ()
                    yield FileChange(
                        *(one.caller.label, one.intent, one.caller.tool, file, then, now, lines),
                        agent=one.caller.agent,
                        recovered=True,
                    )
        finally:
            workspace.close()


def _sha256(state: State) -> str | None:
    return state.sha256 if state.kind == "file" else None
