"""The end of a run: are the success criteria met? Then attest, else fail and say why."""

from __future__ import annotations

from dataclasses import replace

from executor.gate.mandate import Mandate
from executor.home import Home
from executor.sandbox.paths import Workspace
from executor.walker.asking import Asking
from executor.walker.ledger import Ledger
from executor.walker.outcome import Failure, FailureMode, FailureModes
from executor.walker.predicates import Criterion, attested, delivered, unsupported
from ir import AttestationPredicate, DeliveredPredicate, Envelope, SignedOffPredicate

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


async def judge(mandate: Mandate, home: Home, workspace: Workspace, asking: Asking) -> tuple[Criterion, ...]:
    """Look at every success criterion, in order."""
    found: list[Criterion] = []
    for predicate in mandate.intent.frame.success_criteria:
        if isinstance(predicate, DeliveredPredicate):
            found.append(delivered(predicate, mandate.intent, workspace))
        elif isinstance(predicate, SignedOffPredicate):
            found.append(await _signed_off(predicate, mandate, home, asking))
        elif isinstance(predicate, AttestationPredicate):
            rows = home.journal.rows(kind="intent.attest")
            opened = (home.journal.open(row.wire) for row in rows)
            found.append(attested(predicate, (one for one in opened if isinstance(one, Envelope))))
        else:
            found.append(unsupported(predicate))
    return tuple(found)


async def _signed_off(
    predicate: SignedOffPredicate, mandate: Mandate, home: Home, asking: Asking
) -> Criterion:
    who = predicate.by.removeprefix("matrix://user/") or mandate.accepted_by
    evidence: dict[str, object] = {"by": who}
    if who not in (mandate.accepted_by, home.keyring.user.did):
        return Criterion(predicate, False, f"{who} is no user of this home, so nobody can ask", evidence)
    answer = await asking.ask(
        "sign_off",
        "",
        f"The plan has run. Is this done: {mandate.intent.prose or mandate.intent.frame.verb}?",
        rule="matrix://rule/sign-off",
    )
    if isinstance(answer, Failure):
        return Criterion(predicate, False, f"not signed off: {answer.message}", evidence)
    if answer[1].by != who:
        return Criterion(predicate, False, f"signed off by {answer[1].by}, not by {who}", evidence)
    return Criterion(predicate, True, "", {**evidence, "gate": answer[0]})


def close(
    ledger: Ledger,
    mandate: Mandate,
    failure: Failure | None,
    criteria: tuple[Criterion, ...],
    known: FailureModes | None = None,
) -> tuple[Envelope, Failure | None]:
    """Write intent.attest, or intent.fail with the first thing that went wrong.

    known: what the skill says of failures. Its reason is not taken for what the gate, a person or a budget
    refused: that is not the skill's to name.
    """
    unmet = next((criterion for criterion in criteria if not criterion.holds), None)
    if failure is None and unmet is not None:
        failure = Failure(
            "CRITERION_NOT_MET",
            f"the success criterion {unmet.predicate.type} is not met: {unmet.reason}",
            "see what the run left, then state the goal again",
        )
    mode = FailureMode()
    if failure is not None and known is not None:
        mode = _mode(failure, mandate, known)
        message = f"{mode.message}: {failure.message}" if mode.message else failure.message
        fix = f"{failure.fix}; the skill suggests: {mode.suggest}" if mode.suggest else failure.fix
        failure = replace(failure, message=message, fix=fix)
    evidence = {
        "plan_hash": mandate.plan_hash,
        "criteria": [criterion.to_json() for criterion in criteria],
        **({"failure": failure.to_json()} if failure else {}),
    }
    if failure is None:
        cited = tuple(
            f"file:{one.evidence['artifact']}" for one in criteria if one.predicate.type == "delivered"
        )
        return ledger.attest(evidence, cited), None
    default = "policy_violation" if failure.denied else "tool_failure"
    message = f"{failure.node_id}: {failure.message}" if failure.node_id else failure.message
    reason = _REASONS.get(failure.code, default)
    return ledger.fail(reason if failure.denied else mode.reason or reason, message, evidence), failure


def _mode(failure: Failure, mandate: Mandate, known: FailureModes) -> FailureMode:
    """What the skill says of this failure; nothing where it does not name it."""
    modes = known.modes(mandate.plan.skill_ref)
    node = mandate.nodes.get(failure.node_id)
    names = [failure.code.lower(), *(["tool_failure"] if node is not None and node.tool_call else [])]
    return next((modes[name] for name in names if name in modes), FailureMode())
