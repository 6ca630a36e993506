"""What a host is told, in its own form."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, Literal

from executor.sandbox.redaction import visible
from mcl.plugins.agents.hosts.host import Host

BLOCK: Final = 2  # the only exit code with which hosts stop a call
_MOST: Final = 9_000  # characters of a text; hosts cut at 10,000

Verdict = Literal["allow", "ask", "deny", "leave"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes out: the exit code, standard output (JSON) and standard error."""

    exit: int
    out: str
    err: str = ""


def answer_before(host: Host, verdict: Verdict, reason: str = "", context: str = "") -> Answer:
    """The decision about a call. leave: none, the host's own rules decide. context: told to the model."""
    reason, context = _shown(reason), _shown(context)
    if verdict == "leave":
        return Answer(0, "{}")
    out: dict[str, Any]
    if host.style == "permission":
        said = {"hookEventName": host.pre, "permissionDecision": verdict, "permissionDecisionReason": reason}
        out = {"hookSpecificOutput": {**said, **({"additionalContext": context} if context else {})}}
    else:
        out = {"decision": verdict, "reason": reason}
        if verdict == "ask":
            out["systemMessage"] = reason
    text = json.dumps(out)
    return Answer(BLOCK, text, reason + "\n") if verdict == "deny" else Answer(0, text)


def answer_after(event: str, context: str = "") -> Answer:
    """What is told about a call that was made; it never blocks. event: what the host calls it."""
    if not context:
        return Answer(0, "{}")
    said = {"hookEventName": event, "additionalContext": _shown(context)}
    return Answer(0, json.dumps({"hookSpecificOutput": said}))


def _shown(text: str) -> str:
    text = visible(text)
    return text if len(text) <= _MOST else f"{text[:_MOST]}…"
