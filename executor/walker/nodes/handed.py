"""A sub_dispatch node with an agent_ref: the work goes to another agent, and a signed answer comes back."""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256

import anyio

from executor.call import Allow, Call
from executor.core.errors import ExecutorError
from executor.sandbox.redaction import visible
from executor.store.home import Home
from executor.walker.agents import Agents
from executor.walker.answer import Handed, read_answer, refused, told
from executor.walker.engine.protocol import Failure
from executor.walker.external import get_leave
from executor.walker.handing import handing
from executor.walker.run import Run
from executor.walker.tree import Place
from ir import Envelope, Intent, MclError


async def attempt(place: Place, run: Run) -> Failure | None:
    """Hand the work over once, if the gate lets it, and wait for the answer."""
    sub, context, home = place.node.sub_dispatch, place.scope.context, run.home
    assert sub is not None, "the node is a sub_dispatch"
    assert home is not None, "a run that dispatches has a home"
    if (spending := context.spending) is not None and (full := spending.agent_refusal()) is not None:
        return Failure(full.code, full.reason, full.fix, place.id, denied=True)
    try:
        agent = Agents(home).require_trusted(sub.agent_ref)
        call, intent = handing(place.node, place.scope.mandate, agent, spending, run.outputs)
    except MclError as problem:
        return replace(run.failure(problem, place), denied=True)
    assert intent is not None, "at run time every reference is resolved"
    allowed = await get_leave(call, context, run.questions)
    if isinstance(allowed, Failure):
        return allowed
    try:
        answer = await _exchange(*allowed, intent, agent.did, place, run, home)
    except TimeoutError:
        return Failure(
            "TIMEOUT", f"{agent.name} did not answer in time", "ask its operator, or agree on more", place.id
        )
    except MclError as problem:
        return run.failure(problem, place)
    return _end(answer, place, run)


async def _exchange(
    call: Call, leave: Allow, intent: Intent, did: str, place: Place, run: Run, home: Home
) -> Envelope:
    """Send the signed dispatch, which is in the journal before it leaves, and take the answer; both are
    kept."""
    context = place.scope.context
    manifest = run.registry.find(call.tool_ref)
    assert manifest is not None, "the gate allowed an unknown tool"
    limit = manifest.timeout_ms / 1000
    if context.spending is not None:
        context.spending.begin(manifest.cost)
        context.spending.begin_agent()
        left = context.spending.seconds_left()
        limit = limit if left is None else min(limit, left)
    key = run.begin(place, {"calls": 1, "agents": 1, "intent": intent.id, "agent": did})
    dispatch = run.ledger.hand_over(intent, str(call.args["scope_uri"]), to=did)
    with anyio.fail_after(limit):
        said = await run.registry.invoke(
            leave,
            call,
            workspace=context.workspace,
            clock=context.clock,
            redactor=run.redactor,
            idempotency_key=key,
            intent=run.ledger.intent_id,
            letter=dispatch.wire,
        )
    wire = bytes.fromhex(str(said["answer"]))
    handed = Handed(dispatch, f"matrix://intent/{intent.id}", did)
    try:
        answer = read_answer(wire, handed, home.keyring, context.clock.now(), unattended=home.unattended)
    except MclError as problem:
        why = {"node": place.id, "code": problem.code, "sha256": sha256(wire).hexdigest(), "bytes": len(wire)}
        run.ledger.note("answer_refused", {**why, "message": visible(run.redactor.text(problem.message))})
        raise refused(problem) from problem
    run.ledger.answered(place.id, dispatch, answer, whole=_is_clean(answer, run))
    return answer


def _is_clean(answer: Envelope, run: Run) -> bool:
    """Is there no secret in an answer, so that its bytes may be kept?"""
    text, said = answer.wire.decode("utf-8", "replace"), told(answer)
    return run.redactor.text(text) == text and run.redactor.value(said) == said


def _end(answer: Envelope, place: Place, run: Run) -> Failure | None:
    """The answer as the output of the node, or as its failure."""
    found = run.redactor.value(told(answer))
    assert isinstance(found, dict), "told gives an object"
    if found["outcome"] == "success":
        run.outputs[place.id] = found
        return None
    reason = found.get("reason", found["outcome"])
    said = f"{reason}: {found['message']}" if found.get("message") else str(reason)
    problem = ExecutorError(
        "DISPATCH_FAILED",
        f"the agent did not do it ({said[:500]})",
        place=place.id,
        fix="see its evidence: mcl log",
    )
    return run.failure(problem, place)
