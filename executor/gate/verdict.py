"""What the gate says when it does not simply allow."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from executor.call import Warned


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


# ---- For each code of the gate one example of a call, or a plan, that would not be refused so.
# They are made for a model that corrects itself: it is told what was refused, why, what to do, and this.

EXAMPLES: Final[Mapping[str, str]] = {
    # integrity
    "INTENT_HASH_MISMATCH": "mcl compile the goal again, then mcl accept, then mcl run",
    "PLAN_HASH_MISMATCH": "call what the accepted plan holds at this node, with just its arguments",
    # state
    "NO_INTENT_DECLARED": 'mcl compile "which files in notes mention invoice", then mcl accept @last',
    "INTENT_NOT_ACTIVE": "mcl accept @last, then mcl run @last",
    "INTENT_BLOCKED": "mcl answer @last u1=notes",
    "WISH_NOT_PLANNED": 'mcl compile "find the word invoice in notes", then the other wish',
    "INTENT_EXPIRED": 'mcl compile "which files in notes mention invoice" --expires 2h',
    # tool_known, unchanged
    "UNKNOWN_TOOL": "matrix://tool/fs/read@1.0.0",
    "TOOL_UNPINNED": "matrix://tool/fs/read@1.0.0, not matrix://tool/fs/read or …@latest",
    "TOOL_QUARANTINED": "use another tool, such as matrix://tool/fs/read@1.0.0",
    "TOOL_CHANGED": "use another tool, or have the user look at this one again",
    # denylist
    "TOOL_DENIED": "a plan without this tool",
    # three_keys
    "MISSING_INTENT": "a goal with a verb: find, analyze, monitor, build, modify, schedule, …",
    "OUT_OF_SCHEDULE": 'mcl schedule add "back up notes every friday", and sign what it does',
    "MISSING_OPERATION_TYPE": 'side_effect_class = "read" for fs/read, "write" for fs/write',
    "INVALID_OPERATION_TYPE": 'side_effect_class = "write"',
    "INTENT_MISMATCH": 'for a goal to find: fs/search with side_effect_class = "read"',
    "SERVER_MISMATCH": 'fs/write with side_effect_class = "write"',
    "INVALID_SENSITIVITY": 'data_sensitivity = "private"',
    "REASON_TOO_LONG": 'reason = "the report is due on Friday"',
    # capability
    "CAPABILITY_DENIED": "mcl grant add network --host example.org",
    # arguments
    "INVALID_ARGS": 'fs/read with path = "notes/monday.txt"',
    "PLACE_IN_JSON": 'args: {body: {text: "${read.output.text}"}}, an object and no text',
    "CREDENTIAL_MISSING": "export SHOP_TOKEN=… before mcl run",
    # promise
    "PROMISE_BROKEN": "for a goal that changes nothing: fs/read, and no fs/write",
    "PROMISE_UNKNOWN": 'keeps = "change nothing", or "only in src, docs"',
    "PROMISE_UNCHECKABLE": "mcl answer @last u1='sign it off myself at the end'",
    # scope
    "PROTECTED_PATH": 'path = "docs/settings.md", not ".env"',
    "OUT_OF_SCOPE": 'path = "docs/notes.md", relative to the workspace',
    "HOST_DENIED": 'url = "https://example.org/page"',
    # locks
    "SCOPE_CONTENTION": "a sequential node with both writers as its children",
    "STALE_FILE": "fs/read the file, then base = ${read.output.sha256}",
    # budget
    "BUDGET_EXCEEDED": "a plan with fewer calls, or max_calls raised and accepted again",
    "DEADLINE": "a later deadline, accepted again",
    "CIRCUIT_OPEN": "another tool, or other arguments",
    # approval
    "GATE_PENDING": "mcl gate approve 01M7YXAD, then the same call",
    "GATE_DENIED": "a plan without this call",
    "GATE_TIMEOUT": "ask again, and decide before the question closes",
    "APPROVAL_MISMATCH": "ask for approval of just this call, then make it unchanged",
    "APPROVAL_CONSUMED": "ask for a new approval; each is good for one call",
    # of preflight
    "CRITERION_UNREACHABLE": "a node that writes report.md, for a goal that is done when report.md is there",
    "NO_MODEL": "mcl run @last --model model.gguf",
}
