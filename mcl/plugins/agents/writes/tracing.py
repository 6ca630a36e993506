"""After a write: a line of the trace a file, with what differs in it, and the version its agent knows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias

from executor.core.errors import ScopeError, UndoError
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.walker.undo.store import ImageStore
from mcl.plugins.agents.trace import Change, Trace, TraceLine, changed_lines
from mcl.plugins.agents.trace.change import Author, Ranges
from mcl.plugins.agents.writes.images import forget
from mcl.plugins.agents.writes.seen import Seen

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
