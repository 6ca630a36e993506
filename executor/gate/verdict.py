"""What the gate says when it does not simply allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from executor.call import Warned
from executor.core.tables import table_beside


@dataclass(frozen=True, slots=True)
class Ask:
    """A person must decide about this very call.

    binding: sha256 (hex) of everything the answer will be bound to. expires_at: ISO 8601 UTC. why: what makes
    a person necessary, a sentence each. warnings: what the operator lets pass.
    """

    question: str
    binding: str
    expires_at: str
    guard: str = "approval"
    why: tuple[str, ...] = ()
    warnings: tuple[Warned, ...] = ()

    def to_json(self) -> dict[str, object]:
        """The verdict as a JSON object."""
        return {
            "decision": "ask",
            "guard": self.guard,
            "question": self.question,
            "why": list(self.why),
            "binding": self.binding,
            **({"warnings": [one.to_json() for one in self.warnings]} if self.warnings else {}),
        }


@dataclass(frozen=True, slots=True)
class Deny:
    """Refused: a stable code, what was refused and why, what to do instead, and an example of that.

    passes: what stands against the call ends by itself, so who can wait may.
    """

    code: str
    reason: str
    fix: str
    guard: str = ""
    data: dict[str, object] = field(default_factory=dict)
    example: str = ""
    passes: bool = False

    def to_json(self) -> dict[str, object]:
        """The verdict as a JSON object."""
        return {
            **self.data,
            "decision": "deny",
            "guard": self.guard,
            "code": self.code,
            "reason": self.reason,
            "fix": self.fix,
            "example": self.example,
        }


# For each code of the gate one example of a call, or a plan, that would not be refused so.
EXAMPLES: Final[Mapping[str, str]] = table_beside(__file__, "examples")
