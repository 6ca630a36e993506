"""`mcl do`: a goal compiled, shown once, signed and run in one step.

What is agreed to is what was shown: the hashes of an Intent and its plan, and of the calls that the gate asks
a person about those that are known whole by then, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, cast

from executor.gate.approvals import APPROVE
from executor.gate.effects import need_of
from executor.gate.verdict import Ask, Deny
from executor.sandbox.redaction import visible
from executor.store.home import Home
from executor.tools.manifest import Effect
from executor.walker.questions import GateAnswer, GateQuestion, People
from ir import OutputRef, PlanNode, parse_references
from ir.errors import CLARIFY, REFUSED
from mcl.catalog.extras import missing_for
from mcl.compiler.outcome import Clarify, Compiled, Refused
from mcl.core.home import open_home
from mcl.core.settings import setting
from mcl.usecases.accept import Acceptance, accept
from mcl.usecases.compile import compile_goal
from mcl.usecases.intents import find_intent
from mcl.usecases.plans import Planned
from mcl.usecases.plans import show as plan_of
from mcl.usecases.run import run

if TYPE_CHECKING:
    from executor.call import Operation
    from executor.walker import Outcome, Verdict
    from executor.walker.interfaces import Listener
    from mcl.model import Model

UNSIGNED: Final = "record.do.unsigned"
_FILES: Final = frozenset({"read", "write"})  # what a call does to files, and `mcl undo` puts back
Agreement: TypeAlias = Literal["yes", "approve", "no"]
Agree: TypeAlias = "Callable[[DoProposal], Agreement]"


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

    review: why it is to be read with care, "" where it need not be.
    """

    compiled: Compiled
    planned: Planned
    review: str = ""

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
    return call is not None and not call.alternatives and not any(map(_refers, call.args.values()))


def _refers(text: str) -> bool:
    return any(isinstance(piece, OutputRef) for piece in parse_references(text))


@dataclass(frozen=True)
class DoOutcome:
    """What became of a goal. signed: None where nothing was; outcome: of its run, None where there was none.
    code, why: of what was not signed, as the journal has it; "" for a goal with questions, or refused."""

    result: Compiled | Clarify | Refused
    signed: Acceptance | None = None
    outcome: Outcome | None = None
    code: str = ""
    why: str = ""

    @property
    def exit(self) -> int:
        """0 done; 3 questions, or to be read with care; 4 refused, or not agreed to; else that of the run."""
        if self.outcome is not None:
            return self.outcome.exit
        if isinstance(self.result, Clarify) or self.code == "NEEDS_REVIEW":
            return CLARIFY
        return REFUSED if isinstance(self.result, Refused) or self.code else 0


class ApprovedBeforehand:
    """People of whom one has approved some calls already, each once; all else is put to `others`."""

    def __init__(self, calls: Sequence[AskedCall], others: People | None) -> None:
        self._calls, self._others = list(calls), others

    async def ask(self, gate: GateQuestion) -> GateAnswer | None:
        """Answer for a call that is exactly one of them, else ask."""
        if gate.kind == "approval":
            for call in self._calls:
                same = (call.node_id, call.tool_ref, call.question)
                if same == (gate.node_id, gate.tool_ref, gate.question):
                    self._calls.remove(call)
                    return GateAnswer(APPROVE, "approved together with the plan")
        return await self._others.ask(gate) if self._others is not None else None


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


def carry_out(
    proposal: DoProposal,
    *,
    approve: bool = False,
    unseen: bool = False,
    people: People | None = None,
    listener: Listener | None = None,
    workspace: Path | None = None,
    skills: Sequence[Path] = (),
    model: Path | Model | None = None,
    ai: bool = True,
    home: Home | None = None,
) -> DoOutcome:
    """Sign what was shown, and run it.

    approve: the person approved with the same word the calls that the gate asks about (`proposal.asked`).
    unseen: nobody looked, which its rows then say. The rest, and errors: as of `accept` and `run`.
    """
    home = home or open_home()
    shown = proposal.planned
    signed = accept(
        proposal.id,
        intent_hash=shown.intent.hash,
        plan_hash=shown.plan.hash,
        skills=skills,
        unseen=unseen,
        home=home,
    )
    outcome = run(
        proposal.id,
        workspace=workspace,
        people=ApprovedBeforehand(proposal.asked, people) if approve and not unseen else people,
        listener=listener,
        model=model,
        ai=ai,
        skills=skills,
        home=home,
    )
    return DoOutcome(proposal.compiled, signed, outcome)


def leave_unsigned(intent: str, why: str, *, code: str = "NOT_SIGNED", home: Home | None = None) -> None:
    """Keep in the journal that nothing was signed of an intent, and why; it can still be accepted."""
    home = home or open_home()
    id = find_intent(home, intent)
    home.journal.record(UNSIGNED, {"code": code, "why": why}, intent=id)


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


def runs_reads(home: Home) -> bool:
    """Whether what only reads is run at once (`mcl config set do.reads`)."""
    return setting(home.path, "do.reads") == "run"


def do(
    goal: str,
    *,
    agree: Agree | None = None,
    skill: str | None = None,
    verb: str | None = None,
    slots: Mapping[str, str] | None = None,
    people: People | None = None,
    listener: Listener | None = None,
    workspace: Path | None = None,
    skills: Sequence[Path] = (),
    model: Path | Model | None = None,
    ai: bool = True,
    zone: str | None = None,
    home: Home | None = None,
) -> DoOutcome:
    """Compile a goal, and where it is agreed to, sign and run it.

    agree: is shown what would be signed, and says "yes", "no", or "approve": yes, and each call of
    `proposal.asked` is approved by the same word. Without it only what reads is run; what reads is run
    unasked in any case, unless `config` says otherwise, and its rows say that nobody looked. The rest: as of
    `compile_goal` and `run`. A goal with questions, or refused, is given back as it is; what was not signed
    is in the journal with a code. Raises what those and `accept` raise.
    """
    home = home or open_home()
    given = {"skills": skills, "model": model, "ai": ai, "home": home}
    result = compile_goal(goal, skill=skill, verb=verb, slots=slots, zone=zone, **given)  # type: ignore[arg-type]
    if not isinstance(result, Compiled) or result.plan is None:
        return DoOutcome(result)
    there = {**given, "workspace": workspace}
    proposal = propose(result, **there)  # type: ignore[arg-type]
    if refused := refusal_of(proposal):
        return _unsigned(result, *refused, home)
    watched = {**there, "listener": listener, "people": people}
    if proposal.only_reads and runs_reads(home):
        return carry_out(proposal, unseen=True, **watched)  # type: ignore[arg-type]
    word = agree(proposal) if agree is not None else "no"
    if word not in ("yes", "approve"):
        return _unsigned(result, "NOT_SIGNED", "it was not agreed to", home)
    return carry_out(proposal, approve=word == "approve", **watched)  # type: ignore[arg-type]


def _unsigned(result: Compiled, code: str, why: str, home: Home) -> DoOutcome:
    leave_unsigned(result.intent.id, why, code=code, home=home)
    return DoOutcome(result, code=code, why=why)
