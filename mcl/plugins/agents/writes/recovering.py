"""Lines of the trace for calls of processes that were killed between the write and its line.

What such a call found is known, and what is there now: the line says that, and that nobody saw it happen.
So it is only made of calls whose process is gone for certain. A host's own calls are not among them: nobody
knows whether one that never came back was made, or declined.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from executor.core.errors import ScopeError
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.walker.undo.look import Looker, State
from executor.walker.undo.records import Call
from executor.walker.undo.store import ImageStore
from mcl.plugins.agents.trace import Change, Trace, TraceLine
from mcl.plugins.agents.trace.trace import signed_lines
from mcl.plugins.agents.writes.callers import Callers
from mcl.plugins.agents.writes.images import TABLES, Caller, call_of_row, forget
from mcl.plugins.agents.writes.tracing import lines_of, within

_MOST: Final = 100  # calls that are traced in one go; the others have their turn at the next call


@dataclass(frozen=True, slots=True)
class _Open:
    """A call of which nobody saw the end, and by whom it was made."""

    intent: str
    node: str
    caller: Caller


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
        caller = Caller(*json.loads(said))
        if caller.process not in alive:
            alive[caller.process] = callers.lives(caller.process)
        if not alive[caller.process]:
            yield _Open(intent, node, caller)


def _changes(home: Home, root: Path, one: _Open, call: Call) -> Iterator[Change]:
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
                    yield Change(
                        *(one.caller.label, one.intent, one.caller.tool, file, then, now, lines),
                        agent=one.caller.agent,
                        recovered=True,
                    )
        finally:
            workspace.close()


def _sha256(state: State) -> str | None:
    return state.sha256 if state.kind == "file" else None
