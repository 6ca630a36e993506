"""What a run is given by whoever starts it: a listener, a model, prompts, and what skills make and say.

Each is a Protocol that the walker calls and fills in nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from ir import Frame, Intent, PlanTree
from ir.results import called

# ---- Who watches.


@dataclass(frozen=True, slots=True)
class WalkEvent:
    """A node's state changed.

    verdict: what the gate said, where it was asked (allow, ask, or the code of a refusal). ms: milliseconds
    since the node began. preview: the beginning of its output, safe for a terminal. error: what went wrong.
    """

    node_id: str = field(metadata=called("node"))
    kind: str
    state: str
    depth: int = 0
    description: str = ""
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


# ---- The model that answers the step nodes of a plan.


class Reasoner(Protocol):
    """Filled in by whoever has a model."""

    async def reason(self, *, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        """Answer with one value for each name in ``outputs``; ``kind`` is the step's kind (``reason``,
        ``code``…)."""
        ...


class Prompts(Protocol):
    """Where the prompt blocks of skills are found."""

    def prompt(self, skill_ref: str, name: str, inputs: Mapping[str, str]) -> tuple[str, str]:
        """The system and the user text of the block ``name`` ("" = the default) of a pinned skill, for the
        step's inputs. An empty text: the walker's own."""
        ...


# ---- What skills say of failures, and make of sub-dispatches.


@dataclass(frozen=True, slots=True)
class FailureMode:
    """What a skill says of one way to fail: the reason of intent.fail, a message for people, a way out; ""
    where it says nothing."""

    reason: str = ""
    message: str = ""
    suggest: str = ""


class FailureModes(Protocol):
    """Where the failure modes of skills are found."""

    def modes(self, skill_ref: str) -> Mapping[str, FailureMode]:
        """The modes of a pinned skill, by name: the code of a failure in lower case, or `tool_failure` for
        any other failure of a tool."""
        ...


@dataclass(frozen=True)
class Expansion:
    """What a skill makes of a Frame: an Intent of its own, the plan for it, and the texts of its prompts."""

    intent: Intent
    plan: PlanTree
    prompts: Prompts | None = None


class SubSkills(Protocol):
    """Filled in by whoever has skills."""

    def expand(self, skill_ref: str, frame: Frame, parent: Intent, *, id: str, prose: str) -> Expansion:
        """What a skill makes of a Frame; always the same for the same arguments.

        skill_ref: its address and digest, ``matrix://skill/<id>@sha256:<hex>``. parent: the Intent above.
        id: a ULID for the new Intent. prose: what it is about, for people and prompts.

        Raises MclError where the skill is not here, is another one, or makes no plan of this.
        """
        ...
