"""Asking people. ``People`` is the door; two answerers for scripts and tests lie beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from executor.gate.approvals import APPROVE, DENY
from ir import Envelope

# Whoever lists one of these words as an option means it.
REFUSALS = frozenset({"deny", "denied", "no", "reject", "refuse", "cancel", "stop", "abort"})


@dataclass(frozen=True, slots=True)
class GateQuestion:
    """A question that a person must decide.

    gate_id: id of the policy.gate envelope. kind: a gate of the plan, the approval of one exact call
    (tool_ref and args say which), a node that may have run before, or the sign-off at the end. options:
    listed answers; empty = approve or deny. expires_at: ISO 8601 UTC, "" = no limit.
    """

    gate_id: str
    intent_id: str
    node_id: str
    kind: Literal["gate", "approval", "in_doubt", "sign_off"]
    question: str
    options: tuple[str, ...] = ()
    expires_at: str = ""
    tool_ref: str = ""
    args: Mapping[str, object] = field(default_factory=dict)
    binding: str = ""


@dataclass(frozen=True, slots=True)
class GateAnswer:
    """A person's answer: exactly ``approve`` or one of the listed options approves, all else denies.

    envelope: the signed policy.gate.resolve, where the person signed it elsewhere. Without it the person
    answered at this process, and the answer is signed with the home's user key.
    """

    decision: str
    answer: str = ""
    envelope: Envelope | None = None


class People(Protocol):
    """Whoever decides at gates."""

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        """Put the question; None when nobody answers (end of input)."""
        ...


class AlwaysDeny:
    """Nobody is there: every gate is denied."""

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        return GateAnswer(DENY)


class AlwaysApprove:
    """Everything is approved, unseen: for scripts whose author has read the plan, and for tests."""

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        fitting = [option for option in gate.options if option.casefold() not in REFUSALS]
        return GateAnswer(
            APPROVE if not gate.options or APPROVE in gate.options or not fitting else fitting[0]
        )


def approves(decision: str, options: tuple[str, ...]) -> bool:
    """Does a decision approve? Only the exact word, or a listed option that is no refusal."""
    return decision == APPROVE or (decision in options and decision.casefold() not in REFUSALS)
