"""A gate node: a question to a person."""

from __future__ import annotations

from executor.core.errors import UnresolvedError
from executor.gate.offer import Offer
from executor.gate.references import as_text, resolve
from executor.walker.engine.protocol import Failure
from executor.walker.run import Run
from executor.walker.tree import Place


async def attempt(place: Place, run: Run) -> Failure | None:
    """Ask, unless a person decided while no run was waiting."""
    gate = place.node.gate
    assert gate is not None
    try:
        question = as_text(resolve(gate.question, run.outputs))
    except UnresolvedError as problem:
        return run.failure(problem, place)
    run.begin(place)
    state = run.questions.decided(place.id)
    if state is None:
        answer = await run.questions.ask(
            "gate",
            place.id,
            question,
            rule=gate.rule_ref or "matrix://rule/plan-gate",
            offer=Offer.of(gate.options, gate.refuses),
            timeout_ms=gate.timeout_ms,
        )
        state = answer if isinstance(answer, Failure) else answer[1]
    if isinstance(state, Failure):
        return state
    run.outputs[place.id] = {"decision": state.decision, "answer": state.answer, "reason": state.reason}
    return None
