"""Asking people. ``People`` is the door; two answerers for scripts and tests lie beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from executor.gate.approvals import APPROVE, DENY
from executor.gate.offer import Offer
from ir import Envelope


@dataclass(frozen=True, slots=True)
class GateQuestion:
    """A question that a person must decide.

    gate_id: id of the policy.gate envelope. kind: a gate of the plan, the approval of one exact call
    (tool_ref and args say which), a node that may have run before, or the sign-off at the end. options:
    listed answers; empty = approve or deny. refuses: those of them that refuse. expires_at: ISO 8601 UTC,
    "" = no limit. again: why it is put once more, "" the first time.
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
    refuses: tuple[str, ...] = ()
    again: str = ""

    @property
    def offer(self) -> Offer:
        """What may be answered."""
        return Offer.of(self.options, self.refuses)


@dataclass(frozen=True, slots=True)
class GateAnswer:
    """An answer, at whatever door it was given: what was decided, and apart from it why.

    decision: an option by its name, or a word for yes or no, where that answers the question; what is neither
    is asked again. envelope: the signed policy.gate.resolve, where the person signed it elsewhere. Without it
    the person answered at this process, and the answer is signed with the home's user key. unseen: nobody
    looked at the question, or it is not known that anybody did.
    """

    decision: str
    reason: str = ""
    envelope: Envelope | None = None
    unseen: bool = False


class People(Protocol):
    """Whoever decides at gates."""

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        """Put the question; None when nobody answers (end of input), which refuses."""
        ...


class AlwaysDeny:
    """Nobody is there: every gate is denied."""

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        return GateAnswer(DENY, unseen=True)


class AlwaysApprove:
    """Everything is approved, unseen: for scripts whose author has read the plan, and for tests. Of several
    options the first that goes on."""

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        going_on = gate.offer.continuing
        option = APPROVE if APPROVE in going_on else next(iter(going_on), DENY)
        return GateAnswer(option, unseen=True)
