"""What the gate says when it does not simply allow."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Ask:
    """A person must decide about this very call.

    binding: sha256 (hex) of everything the answer will be bound to. expires_at: ISO 8601 UTC.
    """

    question: str
    binding: str
    expires_at: str
    guard: str = "approval"

    def to_json(self) -> dict[str, object]:
        """The verdict as a JSON object."""
        return {"decision": "ask", "guard": self.guard, "question": self.question, "binding": self.binding}


@dataclass(frozen=True, slots=True)
class Deny:
    """Refused: a stable code, what was refused and why, and what to do instead."""

    code: str
    reason: str
    fix: str
    guard: str = ""
    data: dict[str, object] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """The verdict as a JSON object."""
        return {
            **self.data,
            "decision": "deny",
            "guard": self.guard,
            "code": self.code,
            "reason": self.reason,
            "fix": self.fix,
        }
