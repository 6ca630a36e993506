"""What a call left behind: traced, and told where it went beyond its intent. It never refuses anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from executor.core.errors import ScopeError
from executor.sandbox.paths import Workspace
from executor.sandbox.protected import is_protected
from executor.store.home import Home
from executor.walker.undo.look import FILE_LIMIT
from mcl.plugins.agents.guard import dirty, refusals
from mcl.plugins.agents.guard.calls import Pending, PendingCalls, opened
from mcl.plugins.agents.guard.judge import Caller
from mcl.plugins.agents.guard.places import below, lexical
from mcl.plugins.agents.hosts.event import Event
from mcl.plugins.agents.work.leases import BoundCheckouts, Leases
from mcl.plugins.agents.work.store import Work
from mcl.plugins.agents.writes.images import Seen, left, trace_writes

STRAYED: Final = "record.agent.strayed"
_NAMED: Final = 20  # files that are told of


class Aftermath:
    """Notes what calls left, for one home. For one thread at a time."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._work = Work(home)
        self._leases = Leases(home, self._work)
        self._seen, self._calls = Seen(home), PendingCalls(home)

    def note(self, event: Event, caller: Caller) -> str:
        """What the model is told about a call that was made; "" nothing. Raises MclError, OSError."""
        call = self._calls.take(event.key, caller.agent)
        if event.does == "reads":
            if not event.failed:  # who was shown nothing has seen nothing
                self._note_read(event, caller)
        elif call is not None and call.dirty is not None:
            return self._after_command(call)
        elif call is not None:
            return self._after_write(call, event)
        elif event.does == "writes" and not event.failed:
            self._unannounced(event, caller)
        return ""

    def _note_read(self, event: Event, caller: Caller) -> None:
        for root, path in self._files(event):
            with opened(root, self._home) as workspace:
                try:
                    there = workspace.check(path)
                    if there is not None and there.st_size > FILE_LIMIT:
                        continue
                    digest = workspace.digest(path)[0] if there is not None else None
                except ScopeError:
                    continue
            self._seen.note(root, caller.agent, path, digest)

    def _after_write(self, call: Pending, event: Event) -> str:
        root = Path(call.root)
        with opened(root, self._home) as workspace:
            changed = left(self._home, workspace, intent=call.intent, node=call.node)
            really = [one for one in changed if one[1] != one[2]]
            trace_writes(
                *(self._home, root, workspace, really),
                label=call.label,
                intent_id=call.intent,
                tool=call.tool,
                agent=call.agent,
            )
            away = [path for path in event.paths if _leads_away(workspace, path, event.cwd)]
        if not away:
            return ""
        self._record_strayed(call, away)
        named = ", ".join(map(refusals.shown, away))
        return (
            f"OUT_OF_SCOPE: a link was put in the way of {named} while it was written, so something else may "
            "have changed. This is recorded. Tell the person."
        )

    def _after_command(self, call: Pending) -> str:
        root, state = Path(call.root), (call.dirty or {}).get("state")
        changed: tuple[dirty.Changed, ...] | None = dirty.compare(root, state) if state else None
        with opened(root, self._home) as workspace:
            left(self._home, workspace, intent=call.intent, node=call.node)
            if not changed:
                return ""
            item = self._work.by_id(call.intent)
            scope = item.checkout_scope if item is not None else None
            inside = [
                one
                for one in changed
                if scope is not None
                and not is_protected(tuple(one[0].split("/")))
                and scope.matches(one[0])
                and self._work.root_of(root / one[0]) == root  # and not in a folder with work of its own
            ]
            outside = [one for one in changed if one not in inside]
            for some, label, intent in ((inside, call.label, call.intent), (outside, "", "")):
                known = [
                    one for one in some if not any((end or "").startswith(dirty.NO_DIGEST) for end in one[1:])
                ]
                trace_writes(
                    self._home,
                    root,
                    workspace,
                    known,
                    label=label,
                    intent_id=intent,
                    tool=call.tool,
                    agent=call.agent,
                )
        return self._strayed(call, [path for path, *_ in outside]) if outside else ""

    def _strayed(self, call: Pending, files: list[str]) -> str:
        shown = self._record_strayed(call, files)
        more = f", and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
        return (
            f"OUT_OF_SCOPE: the command changed {len(files)} file(s) outside the scope of {call.label}: "
            f"{', '.join(shown)}{more}. This is recorded. Put them back as they were, or tell the person; a "
            f"person can give {call.label} a wider scope (mcl work import)."
        )

    def _record_strayed(self, call: Pending, files: list[str]) -> list[str]:
        shown = [refusals.shown(path) for path in files[:_NAMED]]
        body: dict[str, Any] = {
            "agent": call.agent,
            "root": call.root,
            "label": call.label,
            "tool": call.tool,
            "files": shown,
            "count": len(files),
        }
        self._home.journal.record(STRAYED, body, intent=call.intent)
        return shown

    def _unannounced(self, event: Event, caller: Caller) -> None:
        """A write that nobody asked about: the hook before it did not run."""
        for root, path in self._files(event):
            with opened(root, self._home) as workspace:
                try:
                    now: str | None = workspace.digest(path)[0]
                except ScopeError as error:
                    if error.code != "NOT_FOUND":
                        continue
                    now = None
                was = self._seen.of(root, caller.agent, path)
                if was == now:
                    continue
                held = BoundCheckouts(self._work, self._leases, root, caller.agent).held()
                covered = held is not None and held.scope.matches(path)
                label, intent = (held.label, held.intent_id) if held is not None and covered else ("", "")
                trace_writes(
                    *(self._home, root, workspace, [(path, was, now)]),
                    label=label,
                    intent_id=intent,
                    tool=event.tool[:200],
                    agent=caller.agent,
                )

    def _files(self, event: Event) -> list[tuple[Path, str]]:
        """The files of governed folders that a call names, each with its folder."""
        found: list[tuple[Path, str]] = []
        for path in event.paths:
            place = lexical(path, event.cwd)
            root = self._work.root_of(Path(place)) if place is not None else None
            inside = below(place, root) if place is not None and root is not None else None
            if root is not None and inside:
                found.append((root, inside))
        return found


def _leads_away(workspace: Workspace, path: str, cwd: str) -> bool:
    """Whether something lies at a path, or on the way there, that is no plain file of the folder."""
    place = lexical(path, cwd)
    inside = below(place, workspace.root) if place is not None else None
    if not inside:
        return True
    try:
        workspace.check(inside)
    except ScopeError:
        return True
    return False
