"""After a write: a line of the trace a file, with what differs in it, and the version its agent knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from executor.core.errors import ScopeError, UndoError
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.walker.undo.look import Looker
from executor.walker.undo.records import Call
from executor.walker.undo.store import ImageStore
from mcl.plugins.agents.trace import Change, Trace, TraceLine, changed_lines
from mcl.plugins.agents.trace.changed_lines import Author, Ranges
from mcl.plugins.agents.writes.images import Seen, forget, open_calls

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
    author: Author = "agent",
    node: str = "",
) -> tuple[TraceLine, ...]:
    """Trace what a call changed, as `left` told it, and note that its agent knows what is there now.

    Args:
        root: the governed folder; the workspace is that folder, or lies in it or around it.
        changed: path in the workspace, sha256 (hex) before and after, None where there is no file.
        label, intent_id, tool, agent, author: as of `Change`. node: of a call that `keep` was told the caller
            of, which is open until the lines are signed; it has them once, whoever signs them.

    Raises:
        ScopeError: the trace cannot be written; what could not be added is added with the next line.
        HomeError: the home cannot.
    """
    seen = Seen(home)
    changes: list[Change] = []
    for path, before, after in changed:
        file = within(root, workspace, path)
        if file is None:
            continue
        if author == "agent":
            seen.note(root, agent, file, after)
        lines = lines_of(home, workspace, path, before, after)
        changes.append(Change(label, intent_id, tool, file, before, after, lines, author, agent))
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
class Unended:
    """A file that is another one than the call found. at: when that was let through; file: relative to the
    governed folder; tool: its address, or the host's name of it."""

    at: str
    tool: str
    file: str

    def to_json(self) -> dict[str, object]:
        """As a JSON object."""
        return {"at": self.at, "tool": self.tool, "file": self.file}


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


def _changed(home: Home, root: Path, call: Call, traced: Mapping[str, str | None]) -> Iterator[str]:
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
