"""How a run ended: attested where its success criteria are met, else failed, with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from executor.core.errors import WalkError
from executor.gate.mandate import Mandate
from executor.gate.standings import unchecked
from executor.walker.criteria import Criterion
from executor.walker.engine import Failure
from executor.walker.interfaces import FailureMode, FailureModes
from executor.walker.ledger import Ledger
from executor.walker.preflight import Verdict, uncheckable
from ir import (
    Budget,
    BudgetConstraint,
    DeadlineConstraint,
    Envelope,
    PromiseStanding,
    promises_of,
)
from ir.results import JsonResult, called

_EXITS = {"completed": 0, "failed": 5, "denied": 4, "cancelled": 4, "paused": 4, "corrected": 10}


@dataclass(frozen=True, slots=True)
class Outcome(JsonResult):
    """How a run ended.

    state: denied = refused before it began, or by the gate on its way; corrected = stopped by a correction
    that needs a new accept, after which it goes on; paused = another run did not stop writing where it wants
    to write, and it goes on with resume. nodes: state of each node. outputs: what each completed
    node gave. verdicts: what the gate said of each node beforehand. envelope_id: of the intent.attest or
    intent.fail, "" where the run never began, rests, or a person cancelled or corrected it.
    """

    intent_id: str = field(metadata=called("intent"))
    state: Literal["completed", "failed", "denied", "cancelled", "corrected", "paused"]
    nodes: Mapping[str, str] = field(default_factory=dict)
    outputs: Mapping[str, object] = field(default_factory=dict)
    failure: Failure | None = None
    criteria: tuple[Criterion, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    envelope_id: str = field(default="", metadata=called("envelope"))

    @property
    def exit(self) -> int:
        """The exit code of the command line: 0 done, 4 refused, cancelled or paused, 5 failed, 10
        corrected."""
        return _EXITS[self.state]

    def require(self) -> Outcome:
        """This, of a run that completed. Raises WalkError with the code of what went wrong."""
        if self.state == "completed":
            return self
        why = self.failure or Failure(f"RUN_{self.state.upper()}", f"the run was {self.state}", self._next())
        place = why.node_id or self.intent_id
        raise WalkError(why.code, why.message, place=place, fix=why.fix, exit=self.exit)

    def _next(self) -> str:
        corrected = f"accept it again: mcl accept {self.intent_id}"
        return corrected if self.state == "corrected" else f"mcl log {self.intent_id} says why"


# ---- Writing it down.


# Code of the first failure -> reason of intent.fail (the closed set that skills use too).
_REASONS = {
    "BUDGET_EXCEEDED": "out_of_budget",
    "DEADLINE": "timeout",
    "TIMEOUT": "timeout",
    "GATE_TIMEOUT": "timeout",
    "GATE_DENIED": "cancelled_by_user",
    "OUT_OF_SCOPE": "out_of_scope",
    "PROTECTED_PATH": "out_of_scope",
    "CRITERION_NOT_MET": "external_failure",
}


def close(
    ledger: Ledger,
    mandate: Mandate,
    failure: Failure | None,
    criteria: tuple[Criterion, ...],
    known: FailureModes | None = None,
    promised: tuple[PromiseStanding, ...] = (),
) -> tuple[Envelope, Failure | None]:
    """Write intent.attest, or intent.fail with the first thing that went wrong and what there is all the
    same.

    known: what the skill says of failures. Its reason is not taken for what the gate, a person or a budget
    refused: that is not the skill's to name. promised: how each promise is kept; with a hard one that
    nothing here can see it is no success.
    """
    unmet = next((criterion for criterion in criteria if not criterion.holds), None)
    if failure is None and unmet is not None:
        failure = Failure(
            "CRITERION_NOT_MET",
            f"the success criterion {unmet.name} is not met: {unmet.reason}",
            "see what the run left, then state the goal again",
        )
    if failure is None and (unseen := unchecked(promised)):
        refusal = uncheckable(unseen[0])
        failure = Failure(refusal.code, refusal.reason, refusal.fix)
    mode = FailureMode()
    if failure is not None and known is not None:
        mode = _mode(failure, mandate, known)
        message = f"{mode.message}: {failure.message}" if mode.message else failure.message
        fix = f"{failure.fix}; the skill suggests: {mode.suggest}" if mode.suggest else failure.fix
        failure = replace(failure, message=message, fix=fix)
    evidence = {
        "plan_hash": mandate.plan_hash,
        "criteria": [criterion.to_json() for criterion in criteria],
        **({"promises": kept_promises(promised, mandate, criteria)} if promised else {}),
        **({"failure": failure.to_json()} if failure else {}),
        **ledger.marks,
    }
    cited = tuple(
        f"file:{one.evidence['artifact']}"
        for one in criteria
        if one.predicate.type == "delivered" and one.holds
    )
    if failure is None:
        return ledger.attest(evidence, cited), None
    default = "policy_violation" if failure.denied else "tool_failure"
    message = f"{failure.node_id}: {failure.message}" if failure.node_id else failure.message
    reason = _REASONS.get(failure.code, default)
    named = reason if failure.denied else mode.reason or reason
    return ledger.fail(named, message, evidence, cited), failure


def kept_promises(
    promised: tuple[PromiseStanding, ...], mandate: Mandate, criteria: tuple[Criterion, ...]
) -> list[dict[str, object]]:
    """Each promise with its standing, its verdict and the evidence for that.

    verdict: kept, broken, or unknown for what nobody looked at. What is enforced was kept by whatever
    happened: a call that would have broken it was refused.
    """
    items = {promise.place: promise.item for promise in promises_of(mandate.intent)}
    told = []
    for one in promised:
        found = next((two for two in criteria if two.predicate == items.get(one.place)), None)
        verdict = "kept" if one.standing == "enforced" else "unknown"
        spent = isinstance(items.get(one.place), str | Budget | BudgetConstraint | DeadlineConstraint)
        guard = {"guard": "budget" if spent else "promise"}
        evidence: dict[str, object] = {"evidence": guard} if one.standing == "enforced" else {}
        if found is not None:
            verdict, evidence = "kept" if found.holds else "broken", {"evidence": found.to_json()}
        said = {"place": one.place, "hard": one.hard, "standing": one.standing, "says": one.says}
        told.append({**said, "verdict": verdict, **evidence})
    return told


def _mode(failure: Failure, mandate: Mandate, known: FailureModes) -> FailureMode:
    """What the skill says of this failure; nothing where it does not name it."""
    modes = known.modes(mandate.plan.skill_ref)
    node = mandate.nodes.get(failure.node_id)
    names = [failure.code.lower(), *(["tool_failure"] if node is not None and node.tool_call else [])]
    return next((modes[name] for name in names if name in modes), FailureMode())
