"""A small model of how plans are walked, written from the rules alone and with none of the walker's code.

It works on times instead of tasks: what each node would do if nothing disturbed it is worked out first, and
what a failure cancels is cut off afterwards.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, replace
from typing import Literal

PLACES = 32  # children of one parallel node that run at once

End = Literal["completed", "failed", "denied"]


@dataclass(frozen=True)
class Leaf:
    """A terminal that begins, lasts so long, and ends like this. ``silent``: it fails before it begins."""

    id: str
    kind: Literal["tool_call", "step", "gate"]
    lasts: int
    end: End
    silent: bool = False


@dataclass(frozen=True)
class Branch:
    """A sequential or parallel node."""

    id: str
    kind: Literal["sequential", "parallel"]
    children: tuple[Node, ...]


Node = Leaf | Branch


@dataclass(frozen=True)
class Told:
    """What became of a node. ``begins`` is None for one that never had its turn."""

    state: str
    begins: int | None = None
    ends: int = 0
    silent: bool = False


Story = dict[str, Told]


def expected(root: Node) -> tuple[str, Story]:
    """How a run of this plan ends (completed, failed or denied), and what becomes of each node."""
    story = _walk(root, 0)
    state = story[root.id].state
    if state != "completed":
        culprit = min(
            (leaf for leaf in _leaves(root) if story[leaf.id].state in ("failed", "denied")),
            key=lambda leaf: story[leaf.id].ends,
        )
        state = story[culprit.id].state
    return state, story


def _walk(node: Node, start: int) -> Story:
    if isinstance(node, Leaf):
        return {node.id: Told(node.end, start, start + (0 if node.silent else node.lasts), node.silent)}
    return (_in_order if node.kind == "sequential" else _at_once)(node, start)


def _in_order(node: Branch, start: int) -> Story:
    story: Story = {}
    at, state = start, "completed"
    for child in node.children:
        if state != "completed":
            story |= _never(child, "skipped")
            continue
        story |= _walk(child, at)
        at = story[child.id].ends
        state = "completed" if story[child.id].state == "completed" else "failed"
    return {**story, node.id: Told(state, start, at)}


def _at_once(node: Branch, start: int) -> Story:
    undisturbed: list[tuple[Node, Story]] = []
    free = [start] * PLACES
    for child in node.children:
        at = heapq.heappop(free)
        story = _walk(child, at)
        heapq.heappush(free, story[child.id].ends)
        undisturbed.append((child, story))
    ends = [(story[child.id].ends, story[child.id].state) for child, story in undisturbed]
    failures = [at for at, state in ends if state != "completed"]
    if not failures:
        whole = {id: told for _, story in undisturbed for id, told in story.items()}
        return {**whole, node.id: Told("completed", start, max(at for at, _ in ends))}
    first = min(failures)
    cut = {id: told for child, story in undisturbed for id, told in _cut(child, story, first, node).items()}
    return {**cut, node.id: Told("failed", start, first)}


def _cut(node: Node, story: Story, at: int, parent: Branch) -> Story:
    """What is left of a node's story when everything that still runs is cancelled at a moment."""
    mine = story[node.id]
    if mine.begins is None or mine.begins >= at:
        return _never(node, "skipped" if parent.kind == "sequential" else "cancelled")
    below = {node.id} if isinstance(node, Leaf) else {node.id, *(one.id for one in _all(node))}
    if mine.ends <= at:
        return {id: story[id] for id in below}
    cut: Story = {node.id: replace(mine, state="cancelled", ends=at)}
    for child in node.children if isinstance(node, Branch) else ():
        cut |= _cut(child, story, at, node)
    return cut


def _never(node: Node, state: str) -> Story:
    return {one.id: Told(state) for one in _all(node)}


def _all(node: Node) -> list[Node]:
    below = [one for child in node.children for one in _all(child)] if isinstance(node, Branch) else []
    return [node, *below]


def _leaves(node: Node) -> list[Leaf]:
    return [one for one in _all(node) if isinstance(one, Leaf)]
