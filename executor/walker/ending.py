"""The end of a run: are the success criteria met? Then attest, else fail and say why."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial

from anyio import from_thread, to_thread

from executor.gate.context import Context
from executor.gate.mandate import Mandate
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.store.journal.record import Record
from executor.walker.external import external
from executor.walker.ledger import ANSWERED, Ledger
from executor.walker.outcome import Failure, FailureMode, FailureModes
from executor.walker.predicates import Criterion, attested, delivered, unsupported
from executor.walker.questions import Questions
from executor.walker.run import Run
from ir import (
    AttestationPredicate,
    DeliveredPredicate,
    Envelope,
    ExternalPredicate,
    MclError,
    SignedOffPredicate,
)

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


async def judge(context: Context, run: Run, home: Home) -> tuple[Criterion, ...]:
    """Look at every success criterion of the Intent that a context is about, in order."""
    mandate, workspace = context.mandate, context.workspace
    assert mandate is not None, "criteria are those of a mandate"
    found: list[Criterion] = []
    for place, predicate in enumerate(mandate.intent.frame.success_criteria):
        if isinstance(predicate, DeliveredPredicate):
            found.append(await _delivered(predicate, mandate, workspace))
        elif isinstance(predicate, SignedOffPredicate):
            found.append(await _signed_off(predicate, mandate, home, run.questions))
        elif isinstance(predicate, AttestationPredicate):
            found.append(attested(predicate, attestations(home)))
        elif isinstance(predicate, ExternalPredicate):
            found.append(await external(predicate, mandate.criterion_id(place), context, run))
        else:
            found.append(unsupported(predicate))
    return tuple(found)


def attestations(home: Home) -> Iterator[Envelope]:
    """What was attested here, and by agents that work was handed to; signatures are checked again."""
    for row in home.journal.rows(kind="intent.attest"):
        envelope = home.journal.open(row.wire)
        if isinstance(envelope, Envelope):
            yield envelope
    for row in home.journal.rows(kind=ANSWERED):
        record = home.journal.open(row.wire)
        if isinstance(record, Record) and record.body["answer"]:
            with suppress(MclError):  # its key was revoked before it signed
                envelope = home.journal.open(record.body["answer"])
                if isinstance(envelope, Envelope):
                    yield envelope


async def left_behind(run: Run) -> tuple[Criterion, ...]:
    """What a run that failed has delivered all the same: the criteria of that kind that hold."""
    mandate, workspace = run.scope.mandate, run.scope.context.workspace
    asked = [one for one in mandate.intent.frame.success_criteria if isinstance(one, DeliveredPredicate)]
    found = [await _delivered(predicate, mandate, workspace) for predicate in asked]
    return tuple(criterion for criterion in found if criterion.holds)


async def _delivered(predicate: DeliveredPredicate, mandate: Mandate, workspace: Workspace) -> Criterion:
    """In a thread: it may be large, and the run may be cancelled meanwhile."""
    look = partial(delivered, predicate, mandate.intent, workspace, from_thread.check_cancelled)
    return await to_thread.run_sync(look)


async def _signed_off(
    predicate: SignedOffPredicate, mandate: Mandate, home: Home, questions: Questions
) -> Criterion:
    who = predicate.by.removeprefix("matrix://user/") or mandate.accepted_by
    evidence: dict[str, object] = {"by": who}
    key = home.keyring.resolver(who)
    if who != mandate.accepted_by and (key is None or key.role != "user" or key.revoked):
        why = f"{who} is no user whose signature counts here (mcl key trust … --role user)"
        return Criterion(predicate, False, why, evidence)
    answer = await questions.ask(
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
    """Write intent.attest, or intent.fail with the first thing that went wrong and what there is all the
    same.

    known: what the skill says of failures. Its reason is not taken for what the gate, a person or a budget
    refused: that is not the skill's to name.
    """
    unmet = next((criterion for criterion in criteria if not criterion.holds), None)
    if failure is None and unmet is not None:
        failure = Failure(
            "CRITERION_NOT_MET",
            f"the success criterion {unmet.name} is not met: {unmet.reason}",
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


def _mode(failure: Failure, mandate: Mandate, known: FailureModes) -> FailureMode:
    """What the skill says of this failure; nothing where it does not name it."""
    modes = known.modes(mandate.plan.skill_ref)
    node = mandate.nodes.get(failure.node_id)
    names = [failure.code.lower(), *(["tool_failure"] if node is not None and node.tool_call else [])]
    return next((modes[name] for name in names if name in modes), FailureMode())
