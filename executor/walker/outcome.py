"""How a run ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from executor.core.errors import WalkError
from executor.walker.engine.protocol import Failure
from executor.walker.predicates import Criterion
from executor.walker.preflight import Verdict

__all__ = ["Failure", "FailureMode", "FailureModes", "Outcome"]

_EXITS = {"completed": 0, "failed": 5, "denied": 4, "cancelled": 4, "corrected": 10}


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


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a run ended.

    state: denied = refused before it began, or by the gate on its way; corrected = stopped by a correction
    that needs a new accept, after which it goes on. nodes: state of each node. outputs: what each completed
    node gave. verdicts: what the gate said of each node beforehand. envelope_id: of the intent.attest or
    intent.fail, "" where the run never began, or a person cancelled or corrected it.
    """

    intent_id: str
    state: Literal["completed", "failed", "denied", "cancelled", "corrected"]
    nodes: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, object] = field(default_factory=dict)
    failure: Failure | None = None
    criteria: tuple[Criterion, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    envelope_id: str = ""

    @property
    def exit(self) -> int:
        """The exit code of the command line: 0 done, 4 refused or cancelled, 5 failed, 10 corrected."""
        return _EXITS[self.state]

    def require(self) -> Outcome:
        """This, of a run that completed. Raises WalkError with the code of what went wrong."""
        if self.state == "completed":
            return self
        why = self.failure or Failure(f"RUN_{self.state.upper()}", f"the run was {self.state}", self._next())
        place = why.node_id or self.intent_id
        raise WalkError(why.code, why.message, place=place, fix=why.fix, exit=self.exit)

    def _next(self) -> str:
        corrected = f"accept it again: mcl accept {self.intent_id}"
        return corrected if self.state == "corrected" else f"mcl log {self.intent_id} says why"

    def to_json(self) -> dict[str, object]:
        """The outcome as a JSON object."""
        return {
            "intent": self.intent_id,
            "state": self.state,
            "nodes": dict(self.nodes),
            "outputs": dict(self.outputs),
            "failure": self.failure.to_json() if self.failure else None,
            "criteria": [criterion.to_json() for criterion in self.criteria],
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "envelope": self.envelope_id,
        }
