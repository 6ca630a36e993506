"""Who calls, and what comes back: JSON in, JSON out, in words that know no protocol version.

Nothing here knows the SDK: the plug-in `mcp` is the one place where this becomes protocol, in both eras.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

from executor.core.errors import PolicyError, ScopeError
from executor.sandbox.redaction import visible
from ir import MclError
from ir.errors import REFUSED

if TYPE_CHECKING:
    from executor.gate.verdict import Deny

Era: TypeAlias = Literal["handshake", "modern"]
Json: TypeAlias = Mapping[str, object]


class Channel(Protocol):
    """Where one call's progress and log go. What comes is bounded, and none of it is to be believed.

    Both may wait; what comes meanwhile is kept in its order, and dropped where it becomes too much.
    """

    async def progress(self, progress: float, total: float | None, message: str | None) -> None:
        """So much is done, of so much where that is known."""

    async def log(self, level: str, data: object, logger: str | None) -> None:
        """One line of the log. level: debug, info, notice, warning, error, critical, alert or emergency;
        data: any JSON value."""


@dataclass(frozen=True, slots=True)
class Form:
    """A question to the client's person. schema: the flat JSON Schema of an elicitation form."""

    message: str
    schema: Json


@dataclass(frozen=True, slots=True)
class Filled:
    """What the client says became of a form. content: its fields, where the action is ``accept``."""

    action: Literal["accept", "decline", "cancel"]
    content: Json = field(default_factory=dict)


@dataclass(frozen=True)
class Caller:
    """Who called, and the ways back while the call lasts. A cancelled call is a cancelled task, as usual.

    client, version: what the client calls itself, "" where it does not; not to be believed, only told.
    era: ``handshake`` (up to 2025-11-25) or ``modern`` (from 2026-07-28). request_id: the JSON-RPC id as
    text. can_elicit: the client says that it can show a form. channel: progress and log of this call.
    elicit: shows a form and waits, in the handshake era alone and where can_elicit; raises what the SDK
    raises where the client fails. filled: in the modern era, what came back for the forms of an earlier
    `Reply.wanted`, by their names; state: the state that came back with them, to be believed no more than
    any other argument.
    """

    client: str
    version: str
    era: Era
    request_id: str
    can_elicit: bool
    channel: Channel
    elicit: Callable[[Form], Awaitable[Filled]] | None = None
    filled: Mapping[str, Filled] = field(default_factory=dict)
    state: str = ""


@dataclass(frozen=True, slots=True)
class WantedForms:
    """Forms that the client has to show before it makes the same call again with what was filled in; for
    callers of the modern era. state: goes out and comes back with them."""

    forms: Mapping[str, Form]
    state: str


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a call.

    structured: the answer as one JSON object, None where there is none. content: blocks of MCP (text, image,
    …) as JSON; None: one text block with `structured` as JSON. is_error: the tool failed, or refused. wanted:
    no answer yet. blocked: of an error, that a boundary, guard or policy refused. tool: what it is told of,
    "" = the tool that the client called.
    """

    structured: Json | None = None
    content: Sequence[Json] | None = None
    is_error: bool = False
    wanted: WantedForms | None = None
    blocked: bool = False
    tool: str = ""


def refused(
    code: str,
    message: str,
    *,
    fix: str = "",
    example: object = "",
    data: Json | None = None,
    blocked: bool = False,
) -> Reply:
    """A failure or a refusal as the wire has it: what, why, what to do, and an example that would do."""
    told = {"code": code, "message": message, "fix": fix, "example": example, "data": dict(data or {})}
    return Reply(told, is_error=True, blocked=blocked)


def refused_by(problem: MclError) -> Reply:
    """The same of an error of ours; an `example` among its data stands where examples stand."""
    data = dict(problem.data)
    example = data.pop("example", "") or getattr(problem, "example", "")
    if problem.place:
        data.setdefault("place", problem.place)
    return refused(
        problem.code,
        problem.message,
        fix=problem.fix,
        example=example,
        data=data,
        blocked=is_boundary(problem),
    )


def refused_at(verdict: Deny) -> Reply:
    """The same of a refusal by the gate."""
    data = {**verdict.data, "guard": verdict.guard}
    return refused(
        verdict.code, verdict.reason, fix=verdict.fix, example=verdict.example, data=data, blocked=True
    )


def is_boundary(problem: MclError) -> bool:
    """Whether an error says that a boundary, guard or policy refused; else something went wrong."""
    if isinstance(problem, ScopeError):  # the others say what is not there, or is not what it should be
        return problem.code in ("OUT_OF_SCOPE", "PROTECTED_PATH", "HOST_DENIED")
    return problem.exit == REFUSED or isinstance(problem, PolicyError)


def error_text(reply: Reply, called: str) -> str:
    """An error as text alone: ``<tool> blocked: …`` where a boundary, guard or policy refused, else
    ``<tool> failed: …``, and below it all of it as JSON. called: the tool that the client called."""
    said = dict(reply.structured or {})
    line = " ".join(str(said.get("message", "")).split())
    what = "blocked" if reply.blocked else "failed"
    tool = " ".join(visible(reply.tool or called)[:200].split())
    return f"{tool} {what}: {line}\n{json.dumps(said, ensure_ascii=False, default=str)}"
