"""state: there is an accepted intent, nothing blocks it, and this process holds its run; or a call that no
plan holds carries a declaration, which three_keys judges."""

from __future__ import annotations

from executor.call import Call
from executor.gate.context import RUNNABLE, Context
from executor.gate.verdict import Deny


def check(call: Call, context: Context) -> Deny | None:
    """NO_INTENT_DECLARED, INTENT_NOT_ACTIVE, INTENT_BLOCKED."""
    mandate = context.mandate
    if mandate is None and call.declaration is not None and not call.declared:
        return None
    if mandate is None:
        return Deny(
            "NO_INTENT_DECLARED",
            "no accepted intent covers this call",
            "compile a goal, have a person accept it, and run its plan: mcl compile, mcl accept, mcl run",
        )
    state = context.view().state
    if state not in RUNNABLE:
        return Deny(
            "INTENT_NOT_ACTIVE",
            f"the intent {mandate.intent.id} is {state}",
            "only an accepted intent runs: mcl accept",
            data={"state": state},
        )
    if not context.leased:
        return Deny(
            "INTENT_NOT_ACTIVE",
            f"this process does not hold the run of the intent {mandate.intent.id}",
            "let the process that runs it finish, or end it",
        )
    open_questions = [unknown.id for unknown in mandate.intent.unknowns if unknown.severity == "blocking"]
    if open_questions:
        return Deny(
            "INTENT_BLOCKED",
            f"still unknown: {', '.join(open_questions)}",
            "answer the questions: mcl answer",
        )
    return None
