"""What a run is given by whoever starts it: a listener, a model, prompts, and what skills make and say.

Each is a Protocol that the walker calls and fills in nowhere.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from ir import Frame, Intent, PlanTree
from ir.results import called

if TYPE_CHECKING:
    from executor.walker.criteria import Criterion
    from executor.walker.engine import Failure

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


@runtime_checkable
class OutputListener(Protocol):
    """A listener that is also told what a node says while it runs."""

    def spoke(self, node_id: str, text: str) -> None:
        """A piece of its output, safe for a terminal. Called in the run's own thread; must not take long."""
        ...


class Silent:
    """Nobody watches."""

    def on(self, event: WalkEvent) -> None:
        pass


# ---- The model that answers the step nodes of a plan.


@dataclass(frozen=True, slots=True)
class StepAnswer:
    """What a model answered to a step: a value for each output; and which model it was, for the journal.

    model: sha256 (hex) of its weights. grammar: name and digest of what held its answer. tokens: that it
    wrote; 0 of one that only copies.
    """

    outputs: dict[str, object]
    model: str = ""
    grammar: str = ""
    tokens: int = 0


class Reasoner(Protocol):
    """Filled in by whoever has a model."""

    async def reason(
        self, *, system: str, user: str, outputs: Sequence[str], kind: str
    ) -> StepAnswer | dict[str, object]:
        """Answer with one value for each name in ``outputs``; ``kind`` is the step's kind (``reason``,
        ``code``…). Of an answer without its model the journal cannot say who gave it."""
        ...


@dataclass(frozen=True, slots=True)
class StepModel:
    """A model that a step will be asked of. digest: sha256 (hex) of its weights. writes: whether it writes
    text of its own; else it copies words of what it is given."""

    name: str
    digest: str
    writes: bool


@runtime_checkable
class RoutedReasoner(Protocol):
    """A reasoner that has several models, and says beforehand which one it will ask."""

    def model_for(self, kind: str) -> StepModel:
        """Who will answer a step of this kind. Raises MclError where nobody here can."""
        ...


@runtime_checkable
class LiveReasoner(Protocol):
    """A reasoner whose answers can be followed while they are written."""

    async def reason_live(
        self, *, system: str, user: str, outputs: Sequence[str], kind: str, tell: Callable[[bytes], None]
    ) -> StepAnswer:
        """The same as ``reason``. tell: is given each piece of the answer (UTF-8) as it is written, from any
        thread."""
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
    """What a skill says of one way to fail: the reason of intent.fail, a message for people, a way out, and
    what may be tried; "" where it says nothing."""

    reason: str = ""
    message: str = ""
    suggest: str = ""
    retry: str = ""


class FailureModes(Protocol):
    """Where the failure modes of skills are found."""

    def modes(self, skill_ref: str) -> Mapping[str, FailureMode]:
        """The modes of a pinned skill, by name: the code of a failure in lower case, or `tool_failure` for
        any other failure of a tool."""
        ...


@dataclass(frozen=True)
class Replan:
    """What a critic proposes for a run that is about to fail.

    intent, plan: as they would be. again: ids of nodes that would run again; node: the one it is about. says:
    what it is, for people. sign: signs and keeps it; False where that may not be.
    """

    intent: Intent
    plan: PlanTree
    again: frozenset[str]
    node: str
    says: str
    sign: Callable[[], bool]


Critic: TypeAlias = "Callable[[str, Failure | None, Sequence[Criterion]], Replan | None]"
"""What might mend an intent's run that failed, or whose criteria are not met; None where nothing is known.
Called in a thread; changes nothing."""


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

    def takes_any(self, skill_ref: str) -> bool:
        """Whether a plan's skill is here, is for any goal, and keeps the words of all that is wished."""
        ...
