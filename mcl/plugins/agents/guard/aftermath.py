"""What a call left behind: traced, and told where it went beyond its intent. It never refuses anything."""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import anyio

from executor.core.clock import instant
from executor.core.errors import ScopeError
from executor.sandbox.files import is_protected
from executor.sandbox.git import Git, repository, text
from executor.sandbox.paths import Known, Workspace
from executor.store.home import Home
from executor.walker.undo.looker import FILE_LIMIT
from ir import MclError
from mcl.plugins.agents.guard import refusals
from mcl.plugins.agents.guard.places import below, lexical
from mcl.plugins.agents.hosts.host import Event, HookCaller
from mcl.plugins.agents.work.leases import BoundCheckouts, Leases
from mcl.plugins.agents.work.store import SignedWork
from mcl.plugins.agents.writes.images import SeenVersions, left, trace_writes

STRAYED: Final = "record.agent.strayed"
_NAMED: Final = 20  # files that are told of


class Aftermath:
    """Notes what calls left, for one home. For one thread at a time."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._work = SignedWork(home)
        self._leases = Leases(home, self._work)
        self._seen, self._calls = SeenVersions(home), PendingCalls(home)

    def note(self, event: Event, caller: HookCaller) -> str:
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

    def _note_read(self, event: Event, caller: HookCaller) -> None:
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

    def _after_write(self, call: PendingCall, event: Event) -> str:
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

    def _after_command(self, call: PendingCall) -> str:
        root, state = Path(call.root), (call.dirty or {}).get("state")
        changed: tuple[Changed, ...] | None = git_changes(root, state) if state else None
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
                known = [one for one in some if not any((end or "").startswith(NO_DIGEST) for end in one[1:])]
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

    def _strayed(self, call: PendingCall, files: list[str]) -> str:
        shown = self._record_strayed(call, files)
        more = f", and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
        return (
            f"OUT_OF_SCOPE: the command changed {len(files)} file(s) outside the scope of {call.label}: "
            f"{', '.join(shown)}{more}. This is recorded. Put them back as they were, or tell the person; a "
            f"person can give {call.label} a wider scope (mcl work import)."
        )

    def _record_strayed(self, call: PendingCall, files: list[str]) -> list[str]:
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

    def _unannounced(self, event: Event, caller: HookCaller) -> None:
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


# ---- Calls that were let through and have not come back: what is known of them when they do.
# The host tells of a call before it is made and after, to two processes that share nothing but the home.

_TABLES: Final = (
    """
    CREATE TABLE agent_calls (
        key TEXT PRIMARY KEY, root TEXT NOT NULL, agent TEXT NOT NULL, intent TEXT NOT NULL,
        label TEXT NOT NULL, tool TEXT NOT NULL, node TEXT NOT NULL, dirty TEXT NOT NULL, at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    """,
)
_FORGOTTEN: Final = timedelta(days=1)  # a call that never came back failed, or was declined


@dataclass(frozen=True, slots=True)
class PendingCall:
    """A call that may be made now. intent, label: under which; node: what its before-images are called;
    dirty: of a shell, what git said of the folder before, None of other calls."""

    root: str
    agent: str
    intent: str
    label: str
    tool: str
    node: str
    dirty: Mapping[str, Any] | None = field(default=None, repr=False)


class PendingCalls:
    """The pending calls of a home."""

    def __init__(self, home: Home) -> None:
        self._home = home
        home.db.migrate("agent_hooks", _TABLES)

    def put(self, key: str, call: PendingCall) -> None:
        """Remember a call; one of the same key is forgotten. Raises HomeError."""
        now = self._home.clock.now()
        dirty = json.dumps(call.dirty)
        row = (key, call.root, call.agent, call.intent, call.label, call.tool, call.node, dirty, now)
        old = instant(datetime.fromisoformat(now) - _FORGOTTEN)
        with self._home.db.write("agent_hooks") as connection:
            connection.execute("DELETE FROM agent_calls WHERE at < ?", (old,))
            connection.execute("INSERT OR REPLACE INTO agent_calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    def take(self, key: str, agent: str) -> PendingCall | None:
        """What is remembered of a call of this agent, once; None where it is nothing. Raises HomeError."""
        if not self._home.db.read("SELECT 1 FROM agent_calls WHERE key = ? AND agent = ?", (key, agent)):
            return None
        sql = "DELETE FROM agent_calls WHERE key = ? AND agent = ? RETURNING *"
        with self._home.db.write("agent_hooks") as connection:
            rows = connection.execute(sql, (key, agent)).fetchall()
        if not rows:
            return None
        _, root, who, intent, label, tool, node, dirty, _ = rows[0]
        return PendingCall(root, who, intent, label, tool, node, json.loads(dirty))


# ---- A governed folder, opened so that nothing outside it can be reached.


@contextmanager
def opened(root: Path, home: Home) -> Iterator[Workspace]:
    """The folder as a workspace to which the home is closed. Raises ScopeError."""
    workspace = Workspace(root, forbidden=[home.path])
    try:
        yield workspace
    finally:
        workspace.close()


# ---- What git says changed in a folder while a shell ran; bounded, and silent where there is no repository.

LIMIT_S: Final = 2.0
NO_DIGEST: Final = "~"  # how the state of a file begins that was not read
_MOST: Final = 500  # files that are compared
_LARGEST: Final = 16 << 20  # bytes of a file that is compared by content
_HIDDEN: Final = frozenset({".orchestration/agent_trace.jsonl", ".orchestration/intent_map.json"})

Changed: TypeAlias = tuple[str, str | None, str | None]
_Seen = TypeVar("_Seen")
State: TypeAlias = Mapping[str, Any]  # head: a commit or ""; files: path -> sha256, None of what is gone


def git_state(root: Path) -> State | None:
    """The files that differ from the last commit, with what is in them.

    None: there is no repository of the folder's own, too much differs, or it took too long.
    """
    return _bounded(partial(_look, root))


def git_changes(root: Path, before: State) -> tuple[Changed, ...] | None:
    """The files that changed since `git_state`: path, sha256 (hex) before and now, None where there is no
    file; where it was not read, a text that begins with NO_DIGEST.

    None: that cannot be told.
    """
    return _bounded(partial(_compare, root, before))


def _bounded(work: Callable[[], Awaitable[_Seen | None]]) -> _Seen | None:
    async def run() -> _Seen | None:
        with anyio.move_on_after(LIMIT_S):
            return await work()
        return None

    try:
        return anyio.run(run)
    except (MclError, OSError):
        return None


def _signed_for(root: Path) -> Known:
    """A person signed work for this folder: where it is a linked work tree, its history is theirs too."""
    return Known(named=(str(root),))


async def _look(root: Path) -> State | None:
    workspace = Workspace(root, known=partial(_signed_for, root))
    try:
        async with repository(workspace, ".") as git:
            names = await _differing(git)
            head = text((await git.run("rev-parse", "--verify", "--quiet", "HEAD")).out).strip()
        if names is None:
            return None
        return {"head": head, "files": {name: _digest(workspace, name) for name in names}}
    finally:
        workspace.close()


async def _compare(root: Path, before: State) -> tuple[Changed, ...] | None:
    workspace = Workspace(root, known=partial(_signed_for, root))
    known: Mapping[str, str | None] = before["files"]
    try:
        async with repository(workspace, ".") as git:
            names = await _differing(git)
            if names is None:
                return None
            head = str(before["head"])
            if head:  # what was changed and committed at once differs from what was committed before
                names |= set(_split((await git.run("diff", "--name-only", "-z", "--no-renames", head)).out))
            changed: list[Changed] = []
            for name in sorted((names | known.keys()) - _HIDDEN)[:_MOST]:
                was = known[name] if name in known else await _committed(git, head, name)
                now = _digest(workspace, name)
                if was != now:
                    changed.append((name, was, now))
            return tuple(changed)
    finally:
        workspace.close()


async def _differing(git: Git) -> set[str] | None:
    finished = await git.answer(
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=all",
        "--ignore-submodules=all",
        "--no-renames",
    )
    names = {record[3:] for record in _split(finished.out) if len(record) > 3}
    return None if finished.truncated or len(names) > _MOST else names - _HIDDEN


async def _committed(git: Git, head: str, name: str) -> str | None:
    """The content of a file as it was committed, hashed; None where it was not there."""
    if not head:
        return None
    found = await git.run("cat-file", "blob", f"{head}:{name}", max_output=_LARGEST)
    return sha256(found.out).hexdigest() if found.status == 0 and not found.truncated else None


def _digest(workspace: Workspace, name: str) -> str | None:
    """What is in a file, hashed; of what is no plain file, or too large, what stands for its state."""
    try:
        status = workspace.check(name)
        if status is None:
            return None
        if status.st_size > _LARGEST:
            return f"{NO_DIGEST}{status.st_size} {status.st_mtime_ns}"
        return workspace.digest(name)[0]
    except ScopeError:
        try:  # links, and names that tools may not open: only whether they are as they were
            found = os.lstat(workspace.root / name)
        except OSError:
            return None
        return f"{NO_DIGEST}{found.st_ino} {found.st_size} {found.st_mtime_ns}"


def _split(data: bytes) -> list[str]:
    return [os.fsdecode(one) for one in data.split(b"\0") if one]
