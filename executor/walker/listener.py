"""What a run tells whoever watches it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class WalkEvent:
    """A node's state changed.

    verdict: what the gate said, where it was asked (allow, ask, or the code of a refusal). ms: milliseconds
    since the node began. preview: the beginning of its output, safe for a terminal. error: what went wrong.
    """

    node_id: str
    kind: str
    state: str
    description: str = ""
    depth: int = 0
    verdict: str = ""
    ms: int = 0
    preview: str = ""
    error: str = ""


class Listener(Protocol):
    """Whoever watches a run."""

    def on(self, event: WalkEvent) -> None:
        """Called in the run's own thread; must not take long."""
        ...


@runtime_checkable
class Follower(Protocol):
    """A listener that is also told how far a tool is that takes a while."""

    def advanced(self, node_id: str, done: int, total: int) -> None:
        """Called from any thread; must not take long."""
        ...


class Silent:
    """Nobody watches."""

    def on(self, event: WalkEvent) -> None:
        pass
