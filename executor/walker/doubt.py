"""A node that was begun in an earlier run of the same plan, and nobody knows how far it came.

What is idempotent is done again. Anything else may have happened: a person says whether it is to be done
again, counts as done, or ends the run. Either way the decision is a record of the journal.
The question names the attempt that it is about by its idempotency key, so no answer counts for another one.
"""

from __future__ import annotations

from executor.gate.approvals import IN_DOUBT
from executor.gate.offer import Offer
from executor.walker.engine.protocol import Failure
from executor.walker.run import Run
from executor.walker.tree import Place

_RETRY, _DONE, _STOP = OPTIONS = ("retry", "done", "stop")
_OFFER = Offer(OPTIONS, (_STOP,))


async def settle(place: Place, run: Run) -> tuple[bool, Failure | None]:
    """Decide about it, or have a person decide. True: nothing is left to do for it."""
    what = _acts(place, run)
    if not what:
        _note(place, run, _RETRY, "")
        return False, None
    gate, decision = _decided(place, run)
    if not decision:
        answer = await run.questions.ask(
            "in_doubt",
            place.id,
            f"Node {place.id} ({what}) was running when its process ended: "
            "it may have happened. Do it again, count it as done, or stop?",
            rule=_rule(place, run),
            offer=_OFFER,
        )
        if isinstance(answer, Failure):
            return True, answer
        gate, decision = answer[0], answer[1].decision
    _note(place, run, decision, gate)
    if decision == _RETRY:
        return False, None
    if decision == _DONE:
        if run.images is not None:  # what is there now counts as what the call left
            workspace = place.scope.context.workspace
            await run.images.settle(workspace, intent=run.ledger.intent_id, node=place.id)
        run.outputs[place.id] = {}
        return True, None
    stop = Failure("GATE_DENIED", "neither 'retry' nor 'done'", "state the goal again", place.id, denied=True)
    return True, stop


def _acts(place: Place, run: Run) -> str:
    """The tool or the agent that may have acted, where acting twice is not acting once; else nothing."""
    if (call := place.node.tool_call) is not None:
        manifest = run.scope.context.find(call.tool_ref)
        return "" if manifest is not None and manifest.idempotent else call.tool_ref
    return place.node.sub_dispatch.agent_ref if place.node.sub_dispatch else ""


def _decided(place: Place, run: Run) -> tuple[str, str]:
    """What a person decided about this very start while no run was waiting: gate and decision."""
    begun = run.earlier.begun.get(place.id)
    gates = run.ledger.view().gates
    for id in reversed(begun.asked if begun else ()):
        gate = gates.get(id)
        if gate is None or gate.options != OPTIONS or not gate.decision:
            continue
        # A question of before questions named their attempt: that it stands behind this start must do.
        if gate.rule in (IN_DOUBT, _rule(place, run)):
            return id, gate.decision
    return "", ""


def _rule(place: Place, run: Run) -> str:
    begun = run.earlier.begun.get(place.id)
    key = begun.told.get("key") if begun else None
    return f"{IN_DOUBT}/{key}" if key else IN_DOUBT


def _note(place: Place, run: Run, decision: str, gate: str) -> None:
    """gate: id of the policy.gate, "" where nobody had to be asked."""
    attempt = run.attempts.get(place.id, 0)
    told = {"node": place.id, "attempt": attempt, "decision": decision, "gate": gate}
    run.ledger.note("in_doubt", told)
