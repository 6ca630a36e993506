"""What a person is asked to agree to in one step: an Intent and its plan, as the gate judges them now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from executor.gate.effects import need_of
from executor.gate.verdict import Ask, Deny
from executor.sandbox.redaction import visible
from executor.store.home import Home
from executor.tools.manifest import Effect
from ir import PlanNode
from ir.references import refers
from mcl.catalog.extras import missing_for
from mcl.compiler.outcome import Compiled
from mcl.core.home import open_home
from mcl.usecases.plans import Planned
from mcl.usecases.plans import show as plan_of

if TYPE_CHECKING:
    from executor import Verdict
    from executor.call import Operation
    from mcl.model import Model
    from mcl.usecases.corrections import Proposal

_FILES: Final = frozenset({"read", "write"})  # what a call does to files, and `mcl undo` puts back


@dataclass(frozen=True)
class AskedCall:
    """A call that the gate will ask a person about, known whole before anything is signed.

    irreversible: no undo puts back what it does, or it destroys what is there.
    """

    node_id: str
    tool_ref: str
    question: str
    irreversible: bool


@dataclass(frozen=True)
class DoProposal:
    """What a person is asked to agree to: an Intent and its plan, judged by the gate as things are.

    review: why it is to be read with care, "" where it need not be. correction: what makes it of an Intent
    that is there, and is signed first; None for a goal as it was compiled. before: the intent that ended, and
    that this one goes on from; "" where there is none.
    """

    compiled: Compiled
    planned: Planned
    review: str = ""
    correction: Proposal | None = None
    before: str = ""

    @property
    def id(self) -> str:
        """The ULID of the intent."""
        return self.compiled.intent.id

    @cached_property
    def refused(self) -> Verdict | None:
        """What the gate would refuse first."""
        return next(iter(self.planned.refused), None)

    @cached_property
    def only_reads(self) -> bool:
        """Whether all of it reads, and the gate allows all of it without a question."""
        plan = self.planned.plan
        asks = any(one.hard and one.standing == "signed_off" for one in plan.promises)
        return not (self.review or asks or plan.grammar or missing_for(plan)) and all(
            one.decision == "allow" and not one.sketched and not one.warnings and _reads(one)
            for one in self.planned.verdicts
        )

    @cached_property
    def asked(self) -> tuple[AskedCall, ...]:
        """The calls that the gate will ask about and that are known whole."""
        nodes = {node.id: node for node, _ in self.planned.unfolded.root.walk()}
        return tuple(
            AskedCall(
                one.node_id,
                one.tool_ref,
                visible(one.reply.question),
                one.operation == "destructive" or not _FILES.issuperset(one.effects),
            )
            for one in self.planned.verdicts
            if isinstance(one.reply, Ask) and one.node_id in nodes and _known(nodes[one.node_id])
        )


def _reads(verdict: Verdict) -> bool:
    if not verdict.effects:  # it calls nothing itself
        return verdict.kind == "step" or verdict.below is not None
    operation = cast("Operation", verdict.operation)  # of a manifest
    return need_of(Effect(frozenset(verdict.effects), operation)) == "allow"


def _known(node: PlanNode) -> bool:
    """Whether a node makes one call, of which each argument stands in the plan."""
    call = node.tool_call
    return call is not None and not call.alternatives and not any(map(refers, call.args.values()))


def propose(
    result: Compiled,
    *,
    workspace: Path | None = None,
    skills: Sequence[Path] = (),
    model: Path | Model | None = None,
    ai: bool = True,
    home: Home | None = None,
) -> DoProposal:
    """What `carry_out` would sign and run. The rest: as of `run`.

    Raises what `plans.show` raises: WalkError NO_PLAN where it only understands.
    """
    home = home or open_home()
    planned = plan_of(result.intent.id, workspace=workspace, skills=skills, model=model, ai=ai, home=home)
    care = result.advice or "it is not sure enough to be signed unread"
    return DoProposal(result, planned, care if result.review else "")


def refusal_of(proposal: DoProposal) -> tuple[str, str] | None:
    """Code and reason of why it need not be asked about; None where it may be signed."""
    plan = proposal.planned.plan
    if (missing := missing_for(plan)) is not None:
        return missing.code, f"{missing.message}; {missing.fix}"
    if proposal.refused is None:
        return None
    reply = proposal.refused.reply
    assert isinstance(reply, Deny), "what is refused has a refusal"
    return reply.code, f"{proposal.refused.node_id or 'this plan'}: {reply.reason}; {reply.fix}"
