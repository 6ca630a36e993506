"""Work for another agent: the Intent that is handed over, the call that hands it over, and the answer, which
is believed only where every check holds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from typing import Final

import anyio

from executor.call import Allow, Call, Deferred
from executor.core.clock import duration
from executor.core.errors import ExecutorError, ToolError
from executor.core.hashing import is_shallow
from executor.gate.budget import Spending
from executor.gate.mandate import DISPATCH, Mandate
from executor.sandbox.redaction import visible, visible_value
from executor.store.home import Home
from executor.store.keys.keyring import Keyring
from executor.walker.dispatch import Agent, Agents, child_id, portion_of, refers, resolved_frame
from executor.walker.engine import Failure
from executor.walker.nodes import get_leave
from executor.walker.run import Run
from executor.walker.tree import Place
from ir import (
    AssetAmount,
    Budget,
    Envelope,
    Frame,
    Intent,
    IntentAttestBody,
    IntentFailBody,
    MclError,
    PlanNode,
    PublicKey,
    Reference,
    canonical_bytes,
    open_envelope,
    with_hash,
)
from ir.envelope import MAX_SKEW

_SKILL: Final = "skill"  # the role of the reference that names the skill to be used


def handover_call(
    node: PlanNode,
    mandate: Mandate,
    agent: Agent,
    spending: Spending | None,
    outputs: Mapping[str, object] | None,
) -> tuple[Call, Intent | None]:
    """The call that hands a node's work over, and the Intent that goes with it.

    outputs: what the completed nodes gave. None beforehand: where the Frame refers to any there is no Intent
    yet, and the call's argument is deferred.

    Raises:
        WalkError: SUB_DISPATCH_SCOPE, SUB_INTENT_INVALID. UnresolvedError: a reference that leads nowhere.
    """
    sub = node.sub_dispatch
    assert sub is not None, "the node is a sub_dispatch"
    portion_of(node, mandate)  # a scope that cannot be read is refused here
    frame = sub.sub_intent or Frame()
    made: Intent | None = None
    if outputs is not None or not refers(frame):
        made = _intent(node, mandate, agent, spending, resolved_frame(frame, outputs or {}, node))
    unknown = Deferred(canonical_bytes(frame).decode())
    args: dict[str, object] = {
        "agent_ref": sub.agent_ref,
        "did": agent.did,
        "endpoint": agent.endpoint,
        "skill_ref": sub.skill_ref,
        "scope_uri": sub.scope_uri,
        "prose": made.prose if made else unknown,
        "frame": canonical_bytes(made.frame).decode() if made else unknown,
        "sub_intent": canonical_bytes(made).decode() if made else unknown,
    }
    return Call(DISPATCH, args, "network", node.id), made


def _intent(
    node: PlanNode, mandate: Mandate, agent: Agent, spending: Spending | None, frame: Frame
) -> Intent:
    """An Intent of its own below the one of the plan. Nothing in it depends on the clock or on chance."""
    above, sub = mandate.intent, node.sub_dispatch
    skill = (Reference(uri=sub.skill_ref, role=_SKILL),) if sub is not None and sub.skill_ref else ()
    return with_hash(
        Intent(
            id=child_id(above, node.id),
            parent=f"matrix://intent/{above.id}",
            actor=above.actor,
            agent=f"matrix://agent/{agent.did}",
            prose=node.description or above.prose,
            frame=frame,
            references=skill,
            state="proposed",
            confidence=above.confidence,
            budget=_left(mandate, spending),
            deadline=above.deadline,
            created_at=above.created_at,
            signed_by=above.signed_by,
        )
    )


def _left(mandate: Mandate, spending: Spending | None) -> Budget | None:
    """What is left of the budget: the other agent gets no more than this run has after the dispatch."""
    budgets = [budget for budget in (mandate.intent.budget, mandate.plan.budget) if budget]
    if not budgets:
        return None
    calls = min((one.max_calls for one in budgets if one.max_calls is not None), default=None)
    agents = min((one.max_agents for one in budgets if one.max_agents is not None), default=None)
    time = min((one.max_time for one in budgets if one.max_time), key=duration, default="")
    costs = [one.max_cost for one in budgets if one.max_cost]
    used = spending.used if spending is not None else None
    if used is not None:  # the dispatch itself counts too
        calls = max(0, calls - used.calls - 1) if calls is not None else None
        agents = max(0, agents - used.agents - 1) if agents is not None else None
    cost = min(costs, key=lambda one: one.value) if costs else None
    if cost is not None and used is not None and cost.asset in used.costs:
        rest = max(cost.value - used.costs[cost.asset], cost.value * 0)
        cost = AssetAmount(asset=cost.asset, amount=format(rest, "f"))
    return Budget(max_calls=calls, max_agents=agents, max_time=time, max_cost=cost)


@dataclass(frozen=True, slots=True)
class HandedWork:
    """Work that was handed over. dispatch: the envelope that was sent; intent: the address of the Intent that
    it carries; did: of the agent it was sent to."""

    dispatch: Envelope
    intent: str
    did: str


def read_answer(
    wire: bytes, handed: HandedWork, keyring: Keyring, now: str, *, unattended: bool = False
) -> Envelope:
    """The signed intent.attest or intent.fail of that agent, about that Intent, to this very dispatch.

    unattended: whether the own home is one; only there an answer counts that says it is of such a home.

    Raises:
        MclError: what ``open_envelope`` says (among them UNKNOWN_KEY where another key signed, BAD_SIGNATURE,
            WRONG_ROLE, STALE, FROM_FUTURE); ToolError ANSWER_MISMATCH.
    """

    def only(did: str) -> PublicKey | None:
        return keyring.resolver(did) if did == handed.did else None

    envelope = open_envelope(wire, only, now=now)
    body = envelope.body
    asked = handed.dispatch
    wrong = [
        what
        for what, holds in (
            (f"it is an {envelope.kind}", isinstance(body, IntentAttestBody | IntentFailBody)),
            (f"it is about {envelope.intent}", envelope.intent == handed.intent),
            ("it answers another dispatch", envelope.causation_id == asked.id),
            (f"it is addressed to {envelope.to}", envelope.to in (None, asked.from_)),
            ("it is of a home that no person attends", unattended or not says_unattended(body)),
            ("it is older than the dispatch", _moment(envelope.at) >= _moment(asked.at) - MAX_SKEW),
        )
        if not holds
    ]
    if wrong:
        raise ToolError(
            "ANSWER_MISMATCH",
            f"the answer of the agent does not belong to this dispatch: {', '.join(wrong)}",
            place=envelope.id,
            fix="do not trust this agent, or ask its operator",
        )
    return envelope


def says_unattended(body: object) -> bool:
    """Whether the end of a run says that it was signed in a home that no person attends."""
    if not isinstance(body, IntentAttestBody | IntentFailBody):
        return False
    evidence = _evidence(body.evidence_json)
    return isinstance(evidence, dict) and evidence.get("unattended") is True


def answer_output(envelope: Envelope) -> dict[str, object]:
    """An answer as the output of its node; what the agent wrote is safe for a terminal."""
    return {name: visible_value(value) for name, value in _fields(envelope).items()}


def _fields(envelope: Envelope) -> dict[str, object]:
    body = envelope.body
    shared: dict[str, object] = {
        "agent": envelope.from_,
        "intent": envelope.intent,
        "envelope": envelope.id,
        "at": envelope.at,
    }
    if isinstance(body, IntentAttestBody):
        outcome = {"outcome": body.outcome, "cited_uris": list(body.cited_uris)}
        return {**shared, **outcome, "evidence": _evidence(body.evidence_json)}
    assert isinstance(body, IntentFailBody), "read_answer takes nothing else"
    failed = {"outcome": "failure", "reason": body.reason, "message": body.message}
    return {
        **shared, **failed, "cited_uris": list(body.partial_uris), "evidence": _evidence(body.evidence_json),
    }  # fmt: skip


def _evidence(data: bytes) -> object:
    """What the agent gives as evidence; nothing where it is no JSON."""
    try:
        found: object = json.loads(data) if data else {}
    except (ValueError, RecursionError):
        return {}
    return found if is_shallow(found) else {}


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def answer_error(problem: MclError) -> ToolError:
    """An answer that is not believed, as the error of the node."""
    if isinstance(problem, ToolError):
        return problem
    return ToolError(
        problem.code,
        f"the answer of the agent is not believed: {problem.message}",
        place=problem.place,
        fix="do not trust this agent, or ask its operator",
    )


# ---- A sub_dispatch node with an agent_ref does this with its turn.


async def hand_over(place: Place, run: Run) -> Failure | None:
    """Hand the work over once, if the gate lets it, and wait for the answer."""
    sub, context, home = place.node.sub_dispatch, place.scope.context, run.home
    assert sub is not None, "the node is a sub_dispatch"
    assert home is not None, "a run that dispatches has a home"
    if (spending := context.spending) is not None and (full := spending.agent_refusal()) is not None:
        return Failure(full.code, full.reason, full.fix, place.id, denied=True)
    try:
        agent = Agents(home).require_trusted(sub.agent_ref)
        call, intent = handover_call(place.node, place.scope.mandate, agent, spending, run.outputs)
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
    handed = HandedWork(dispatch, f"matrix://intent/{intent.id}", did)
    try:
        answer = read_answer(wire, handed, home.keyring, context.clock.now(), unattended=home.unattended)
    except MclError as problem:
        why = {"node": place.id, "code": problem.code, "sha256": sha256(wire).hexdigest(), "bytes": len(wire)}
        run.ledger.note("answer_refused", {**why, "message": visible(run.redactor.text(problem.message))})
        raise answer_error(problem) from problem
    run.ledger.answered(place.id, dispatch, answer, whole=_is_clean(answer, run))
    return answer


def _is_clean(answer: Envelope, run: Run) -> bool:
    """Is there no secret in an answer, so that its bytes may be kept?"""
    text, said = answer.wire.decode("utf-8", "replace"), answer_output(answer)
    return run.redactor.text(text) == text and run.redactor.value(said) == said


def _end(answer: Envelope, place: Place, run: Run) -> Failure | None:
    """The answer as the output of the node, or as its failure."""
    found = run.redactor.value(answer_output(answer))
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
