"""`mcl do`: a goal compiled, shown once, signed and run in one step.

What is agreed to is what was shown: the hashes of an Intent and its plan, and of the calls that the gate asks
a person about those that are known whole by then, one by one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from executor.gate.approvals import APPROVE
from executor.store.home import Home
from executor.walker.questions import GateAnswer, GateQuestion, People
from ir.errors import CLARIFY, REFUSED
from ir.schedule import recurs
from mcl.compiler.outcome import Clarify, Compiled, Refused
from mcl.core.home import open_home
from mcl.core.settings import setting
from mcl.usecases.accept import Acceptance, accept
from mcl.usecases.compile import compile_goal
from mcl.usecases.do_proposal import AskedCall, DoProposal, propose, refusal_of
from mcl.usecases.follow_up_words import follow_up_in
from mcl.usecases.intents import find_intent
from mcl.usecases.run import run

if TYPE_CHECKING:
    from executor import Outcome
    from executor.walker.interfaces import Listener
    from mcl.model import Model

UNSIGNED: Final = "record.do.unsigned"
Agreement: TypeAlias = Literal["yes", "approve", "no"]
Agree: TypeAlias = "Callable[[DoProposal], Agreement]"


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
    if proposal.correction is not None:
        from mcl.usecases.corrections import sign_correction  # few are one, and it takes much

        sign_correction(proposal.correction, home=home, unseen=unseen)
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
    unasked in any case, unless `config` says otherwise, and its rows say that nobody looked. Words that go on
    from the last goal ("also in the archive") correct it. The rest: as of `compile_goal` and `run`. A goal
    with questions, or refused, is given back as it is; what was not signed is in the journal with a code.
    Raises what those and `accept` raise.
    """
    home = home or open_home()
    given: dict[str, Any] = {"skills": skills, "model": model, "ai": ai, "home": home}
    there = {**given, "workspace": workspace}
    proposal = None
    if not (skill or verb or slots) and follow_up_in(goal) is not None:
        from mcl.usecases.follow_up import follow_up

        proposal = follow_up(goal, **there)
    if proposal is None:
        said: dict[str, Any] = {"skill": skill, "verb": verb, "slots": slots, "zone": zone}
        result = compile_goal(goal, **said, **there)
        # What is to run again and again is signed as that, by what knows how (`ir.schedule`).
        if not isinstance(result, Compiled) or result.plan is None or recurs(result.intent):
            return DoOutcome(result)
        proposal = propose(result, **there)
    result = proposal.compiled
    if refused := refusal_of(proposal):
        return _unsigned(result, *refused, home)
    watched = {**there, "listener": listener, "people": people}
    if proposal.only_reads and runs_reads(home):
        return carry_out(proposal, unseen=True, **watched)
    word = agree(proposal) if agree is not None else "no"
    if word not in ("yes", "approve"):
        return _unsigned(result, "NOT_SIGNED", "it was not agreed to", home)
    return carry_out(proposal, approve=word == "approve", **watched)


def _unsigned(result: Compiled, code: str, why: str, home: Home) -> DoOutcome:
    leave_unsigned(result.intent.id, why, code=code, home=home)
    return DoOutcome(result, code=code, why=why)
