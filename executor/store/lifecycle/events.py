"""What each event needs beyond the table, and what it changes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from executor.store.lifecycle.legality import Changes, illegal, moment_of, read_document
from executor.store.lifecycle.legality import is_past as is_past
from executor.store.lifecycle.view import NEW, PersistentMap, has_ended, having
from executor.store.lifecycle.view import TABLE as TABLE
from executor.store.lifecycle.view import TERMINAL as TERMINAL
from executor.store.lifecycle.view import GateState as GateState
from executor.store.lifecycle.view import View as View
from executor.store.lifecycle.view import intent_id as intent_id
from ir import Envelope, Intent, PlanTree
from ir.schedule import recurs

MAX_ROUNDS: Final = 3


def _draft(view: View, envelope: Envelope) -> Changes:
    return {"draft": envelope.body, "drafted_by": envelope.from_}


def _compiled(view: View, envelope: Envelope) -> Changes:
    if view.state == "clarifying" and view.questions:
        raise illegal(view, envelope, "NOT_ANSWERED", "the questions of the last clarify have no answer yet")
    if view.state == "proposed" and view.intent is not None:
        raise illegal(
            view, envelope, "ALREADY_COMPILED", "the intent is compiled and was not corrected since"
        )
    body: Any = envelope.body
    intent = read_document(view, envelope, Intent, body.intent_json)
    if intent.id != intent_id(envelope.intent):
        raise illegal(view, envelope, "INTENT_ID_MISMATCH", f"the document is the Intent {intent.id}")
    return {"intent": intent, "intent_hash": intent.hash, "questions": (), "plan": None, "plan_hash": ""}


def _clarify(view: View, envelope: Envelope) -> Changes:
    if view.questions:
        raise illegal(view, envelope, "NOT_ANSWERED", "the questions of the last clarify have no answer yet")
    if view.rounds >= MAX_ROUNDS:
        raise illegal(
            view,
            envelope,
            "TOO_MANY_ROUNDS",
            f"{MAX_ROUNDS} rounds of questions were asked",
            fix="end it with intent.fail, reason ambiguous_request",
        )
    body: Any = envelope.body
    return {"questions": body.questions, "clarify_id": envelope.id, "rounds": view.rounds + 1}


def _answer(view: View, envelope: Envelope) -> Changes:
    body: Any = envelope.body
    if not view.questions or body.answer_of != view.clarify_id:
        raise illegal(view, envelope, "ANSWER_OF_NOTHING", f"{body.answer_of} is not the open question")
    return {"questions": (), "answers": (*view.answers, body)}


def _plan_proposed(view: View, envelope: Envelope) -> Changes:
    if view.intent is None:
        raise illegal(
            view, envelope, "NOT_COMPILED", "the intent was corrected and is not compiled again yet"
        )
    body: Any = envelope.body
    plan = read_document(view, envelope, PlanTree, body.plan_json)
    if plan.intent_id not in (envelope.intent, intent_id(envelope.intent)):
        raise illegal(view, envelope, "PLAN_OF_ANOTHER", f"the plan belongs to the intent {plan.intent_id}")
    return {"plan": plan, "plan_hash": plan.hash}


def _accept(view: View, envelope: Envelope) -> Changes:
    body: Any = envelope.body
    if view.intent is None:
        raise illegal(
            view, envelope, "NOT_COMPILED", "the intent was corrected and is not compiled again yet"
        )
    if body.intent_hash != view.intent_hash:
        raise illegal(
            view,
            envelope,
            "INTENT_HASH_MISMATCH",
            f"accepts {body.intent_hash}; the compiled Intent is {view.intent_hash}",
        )
    if body.plan_hash != view.plan_hash:
        signed, proposed = body.plan_hash or "no plan", view.plan_hash or "none"
        raise illegal(
            view, envelope, "PLAN_HASH_MISMATCH", f"accepts {signed}; the proposed plan is {proposed}"
        )
    blocking = [unknown.id for unknown in view.intent.unknowns if unknown.severity == "blocking"]
    if blocking:
        raise illegal(view, envelope, "BLOCKING_UNKNOWN", f"still unknown: {', '.join(blocking)}")
    if is_past(view.intent.expires_at, max(envelope.at, body.accepted_at, key=moment_of)):
        message = f"it was to count until {view.intent.expires_at}"
        raise illegal(view, envelope, "INTENT_EXPIRED", message, fix="state the goal again: mcl compile")
    if not body.schedule and recurs(view.intent):
        message = "it is to run again and again, or later, and is signed as that"
        fix = f"mcl schedule sign {view.intent.id}; or state the goal without when"
        raise illegal(view, envelope, "SCHEDULE_MISSING", message, fix=fix)
    return {
        **(_schedule(view, envelope) if body.schedule else {"schedule": None, "under": None}),
        "accepted_hash": body.intent_hash,
        "accepted_plan_hash": body.plan_hash,
        "accepted_by": envelope.from_,
        "base_intent": view.intent,
        "base_plan": view.plan,
        "walked": None,
        "retry_from": "",
        "gates": PersistentMap(),
        **_carried(view),
    }


def _schedule(view: View, envelope: Envelope) -> Changes:
    """What is accepted is to run again and again."""
    from executor.store.lifecycle.firings import accepted_schedule  # few accepts are

    return accepted_schedule(view, envelope)


def _dispatch(view: View, envelope: Envelope) -> Changes:
    """A part of a run goes to another; or a schedule is fired: this is its story, or that of the child."""
    if view.state == "executing":
        return {}
    from executor.store.lifecycle.firings import begun, fired

    return begun(view, envelope) if view.state == NEW else fired(view, envelope)


def _carried(view: View) -> Changes:
    """What is kept of the run that a correction stopped."""
    if view.walked is None or view.plan is None:
        return {"nodes": PersistentMap()}
    from executor.store.lifecycle.corrections import carried  # heavy, and seldom needed

    return carried(view, view.walked, view.plan)


def _step(view: View, envelope: Envelope) -> Changes:
    body: Any = envelope.body
    if view.schedule is not None:
        raise illegal(view, envelope, "SCHEDULED", "it runs in its firings, each an intent of its own")
    if view.state == "proposed" and view.walked is None:
        raise illegal(view, envelope, "ILLEGAL_EVENT", "no run of this intent has begun")
    _require_plan(view, envelope, body.plan_id)
    last = view.nodes.get(body.node_id, "pending")
    if body.node_id in view.again:
        left = {"again": view.again - {body.node_id}}
        if body.status != "running":  # it began before a correction that has it run again
            return {**left, "state": view.state}
        return {**left, "nodes": having(view.nodes, body.node_id, body.status)}
    if view.state == "proposed" and (last != "running" or body.status == "running"):
        raise illegal(
            view, envelope, "NOT_ACCEPTED", f"{body.node_id} was not running when the intent was corrected"
        )
    if view.state == "cancelled" and (last != "running" or body.status in ("pending", "running")):
        raise illegal(
            view, envelope, "CANCELLED", f"{body.node_id} was not running when the intent was cancelled"
        )
    if last == "completed" and body.status != "completed":
        raise illegal(
            view, envelope, "NODE_COMPLETED", f"{body.node_id} is completed and cannot be {body.status}"
        )
    if body.status == "completed" and view.corrections and (waiting := _unended_child(view, body.node_id)):
        message = f"{waiting} below {body.node_id} has not completed; a correction brought it"
        raise illegal(view, envelope, "NODE_INCOMPLETE", message)
    changes: Changes = {"nodes": having(view.nodes, body.node_id, body.status)}
    if (
        view.state == "accepted"
        and last == "running"
        and body.status != "running"
        and not _is_root(view, body)
    ):
        changes["state"] = "accepted"  # of the run that a correction stopped; the next has not begun
    return changes


def _unended_child(view: View, node_id: str) -> str:
    """The first child of a branch of the plan that has not completed."""
    nodes = view.plan.root.walk() if view.plan is not None else ()
    branch = next((node for node, _ in nodes if node.id == node_id), None)
    children = branch.children if branch is not None and branch.map is None else ()
    return next((child.id for child in children if not has_ended(child, view.nodes)), "")


def _is_root(view: View, body: Any) -> bool:
    return view.plan is not None and view.plan.root.id == body.node_id


def _output(view: View, envelope: Envelope) -> Changes:
    body: Any = envelope.body
    _require_plan(view, envelope, body.plan_id)
    return {}


def _gate(view: View, envelope: Envelope) -> Changes:
    body: Any = envelope.body
    asked = GateState(body.options, body.expires_at, body.node_id, rule=body.rule_ref, refuses=body.refuses)
    return {"gates": having(view.gates, envelope.id, asked)}


def _resolve(view: View, envelope: Envelope) -> Changes:
    body: Any = envelope.body
    gate = view.gates.get(body.gate_of)
    if gate is None:
        raise illegal(view, envelope, "GATE_UNKNOWN", f"no gate {body.gate_of} was opened for this intent")
    if gate.decision:
        raise illegal(
            view,
            envelope,
            "GATE_RESOLVED",
            f"the gate {body.gate_of} was decided at {gate.at} by {gate.by}: {gate.decision}",
        )
    if is_past(gate.expires_at, max(envelope.at, body.resolved_at, key=moment_of)):
        raise illegal(view, envelope, "GATE_EXPIRED", f"the gate {body.gate_of} closed at {gate.expires_at}")
    decided = replace(
        gate,
        decision=body.decision,
        answer=body.answer,
        by=envelope.from_,
        at=body.resolved_at,
        reason=body.reason,
        unseen=body.unseen,
    )
    return {"gates": having(view.gates, body.gate_of, decided)}


def _correct(view: View, envelope: Envelope) -> Changes:
    """Where it is material, or a run had ended, nothing stays accepted."""
    if view.schedule is not None:
        fix = "revoke it, and sign another: mcl schedule revoke"
        raise illegal(view, envelope, "SCHEDULED", "a schedule stays as it was signed", fix=fix)
    if view.state == "failed" and not view.begun:
        raise illegal(view, envelope, "ILLEGAL_EVENT", "it ended before any run of it began")
    from executor.store.lifecycle.corrections import corrected  # heavy, and seldom needed

    body: Any = envelope.body
    changes = corrected(view, body, at=envelope.at, intent=envelope.intent)
    return {**changes, "corrections": (*view.corrections, envelope)}


def _attest(view: View, envelope: Envelope) -> Changes:
    """Of a plan, once its run has begun; of an Intent that was accepted without one, by whoever did it."""
    if view.state == "accepted" and view.accepted_plan_hash:
        raise illegal(view, envelope, "NOT_RUN", "its plan was accepted and has not run, or not to its end")
    body: Any = envelope.body
    return {"state": "completed" if body.outcome == "success" else "failed", "outcome": body.outcome}


def _fail(view: View, envelope: Envelope) -> Changes:
    body: Any = envelope.body
    return {"reason": body.reason, "outcome": "failure"}


def _cancel(view: View, envelope: Envelope) -> Changes:
    body: Any = envelope.body
    return {"reason": body.reason}


EFFECTS: Final[Mapping[str, Callable[[View, Envelope], Changes]]] = {
    "intent.draft": _draft,
    "intent.compiled": _compiled,
    "intent.clarify": _clarify,
    "intent.answer": _answer,
    "plan.proposed": _plan_proposed,
    "intent.accept": _accept,
    "plan.step": _step,
    "plan.output": _output,
    "policy.gate": _gate,
    "policy.gate.resolve": _resolve,
    "intent.dispatch": _dispatch,
    "intent.correct": _correct,
    "intent.attest": _attest,
    "intent.fail": _fail,
    "intent.cancel": _cancel,
}


def _require_plan(view: View, envelope: Envelope, plan_id: str) -> None:
    plan = view.plan if view.accepted_plan_hash else view.walked
    if plan is None:
        raise illegal(view, envelope, "NO_PLAN_ACCEPTED", "no plan was accepted, so none can run")
    if plan_id != plan.id:
        raise illegal(view, envelope, "PLAN_HASH_MISMATCH", f"the accepted plan is {plan.id}, not {plan_id}")


# ---- The life of an intent: transitions.TABLE says what is legal, events.EFFECTS what follows from it.


def fold(envelopes: Iterable[Envelope], view: View | None = None) -> View:
    """Replay envelopes of one intent, in journal order, from `view` (default: from the start).

    Raises LifecycleError at the first illegal event.
    """
    view = view or View()
    for envelope in envelopes:
        view = advance(view, envelope)
    return view


def check(view: View, envelope: Envelope) -> None:
    """Raise LifecycleError unless `envelope` is legal in `view`."""
    advance(view, envelope)


def advance(view: View, envelope: Envelope) -> View:
    """The view after one more event. Raises LifecycleError; `view` is unchanged."""
    if envelope.kind not in TABLE[view.state]:
        raise illegal(
            view, envelope, "ILLEGAL_EVENT", f"{envelope.kind} is not legal while the intent is {view.state}"
        )
    changes = EFFECTS[envelope.kind](view, envelope)
    states = TABLE[view.state][envelope.kind]
    if getattr(envelope.body, "unseen", False):
        changes["unseen"] = (*view.unseen, (envelope.kind, envelope.id))
    return view.having({"state": states[0], **changes, "last_id": envelope.id})
