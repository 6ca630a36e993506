"""From what happened to what must be put back: pure, no file is looked at."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from executor.walker.undo.look import State, from_body
from executor.walker.undo.records import Call, History

INTERRUPTED = "its call was interrupted: what it left was not recorded"


@dataclass(frozen=True, slots=True)
class Restore:
    """One path that must become what it was.

    found: what lies there if nobody changed it since; None where nobody knows. calls: ids of the calls that
    changed it, the last first.
    """

    root: str
    path: str
    found: State | None
    target: State
    calls: tuple[str, ...]
    node: str

    def to_body(self) -> dict[str, Any]:
        """As the record of an undo keeps it."""
        return {
            "root": self.root,
            "path": self.path,
            "node": self.node,
            "found": [] if self.found is None else [self.found.to_body(self.path)],
            "target": self.target.to_body(self.path),
            "calls": list(self.calls),
        }


def restore_of(body: dict[str, Any]) -> Restore:
    """What a record keeps."""
    found = from_body(body["found"][0])[1] if body["found"] else None
    target = from_body(body["target"])[1]
    return Restore(body["root"], body["path"], found, target, tuple(body["calls"]), body["node"])


@dataclass(frozen=True, slots=True)
class Changed:
    """A path that is not as the calls left it, and why it is left alone."""

    path: str
    why: str
    node: str = ""

    def to_json(self) -> dict[str, str]:
        return {"path": self.path, "why": self.why, "node": self.node}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What an undo has to do.

    files: in the order in which they are put back, the last call's first. folders: that calls made, by root,
    the deepest first. changed: what the journal alone says against it. calls: all that are meant.
    """

    files: tuple[Restore, ...]
    folders: tuple[tuple[str, str, tuple[str, ...]], ...]
    changed: tuple[Changed, ...]
    calls: tuple[Call, ...]


def wanted(history: History, *, nodes: Collection[str] | None = None, leave: Collection[str] = ()) -> Wanted:
    """What must be put back so that the calls of an intent never were.

    nodes: only the calls of these nodes. leave: paths that stay as they are.
    """
    undone, calls = history.undone(), history.calls
    chains: dict[tuple[str, str], list[Call]] = {}
    for call in calls:
        for path in call.changed:
            if (call.id, path) not in undone and path not in leave:
                chains.setdefault((call.root, path), []).append(call)
    files, changed = list[Restore](), list[Changed]()
    for (root, path), chain in chains.items():
        meant = [call for call in chain if nodes is None or call.node in nodes]
        if not meant:
            continue
        later = [call for call in chain[chain.index(meant[0]) :] if call not in meant]
        if later:
            changed.append(Changed(path, f"node {later[-1].node} changed it too", meant[-1].node))
            continue
        for one, following in pairwise(meant):
            left = one.changed[path][1]
            if left is not None and left != following.changed[path][0]:
                changed.append(
                    Changed(path, f"somebody changed it before node {following.node} ran", one.node)
                )
                break
        target, found = meant[0].changed[path][0], meant[-1].changed[path][1]
        ids = tuple(call.id for call in reversed(meant))
        files.append(Restore(root, path, found, target, ids, meant[-1].node))
    places = {call.id: place for place, call in enumerate(calls)}
    files.sort(key=lambda one: (-places[one.calls[0]], one.path))
    chosen = tuple(call for call in calls if nodes is None or call.node in nodes)
    return Wanted(tuple(files), _folders(chosen, undone, leave), tuple(changed), chosen)


def _folders(
    calls: tuple[Call, ...], undone: set[tuple[str, str]], leave: Collection[str]
) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    found: dict[tuple[str, str], list[str]] = {}
    for call in calls:
        # Nobody saw what an interrupted call made: what was not there before it and is empty now, may go.
        for path in call.missing if call.after is None else call.made:
            if (call.id, path) not in undone and path not in leave:
                found.setdefault((call.root, path), []).append(call.id)
    deepest = sorted(found, key=lambda place: (place[0], -place[1].count("/"), place[1]))
    return tuple((root, path, tuple(found[root, path])) for root, path in deepest)
