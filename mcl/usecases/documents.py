"""What programs see where that is not the fields of one result (`ir.results`): the documents of `--json`."""

from typing import TYPE_CHECKING

from ir import ClarifyQuestion, PlanTree
from ir.results import as_json, fields_json
from ir.schedule import recurs
from mcl.catalog.extras import missing_for

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from executor.store.home import Home
    from executor.walker.interfaces import WalkEvent
    from executor.walker.questions import GateQuestion
    from mcl.compiler.compiler import Clarify, Compiled, Refused
    from mcl.compiler.stages.frame_draft import PromptText
    from mcl.model import Model
    from mcl.usecases.corrections import Corrected
    from mcl.usecases.do import DoOutcome
    from mcl.usecases.intents import Shown
    from mcl.usecases.plans import Planned


def of_question(question: ClarifyQuestion) -> dict[str, object]:
    """One question."""
    return {
        "id": question.unknown_id,
        "field": question.field,
        "prompt": question.prompt,
        "type": question.type,
        "required": question.required,
        "options": list(question.options),
        "default": question.default,
    }


def of_unanswerable(
    home: "Home", plan: PlanTree | None, model: "Path | Model | None" = None, *, ai: bool = True
) -> list[dict[str, object]]:
    """The steps of a plan that no model here can answer, each with why. model, ai: as of `run`."""
    if plan is None or not any(node.step for node, _ in plan.root.walk()):
        return []
    from mcl.usecases.step_models import unanswerable  # only a plan with steps needs it

    return [
        {"node": node, "code": problem.code, "message": problem.message, "fix": problem.fix}
        for node, problem in unanswerable(home, plan, model, ai=ai)
    ]


def of_done(done: "DoOutcome", home: "Home") -> dict[str, object]:
    """What became of a goal in one step: as of a compile, with what was signed and how its run ended."""
    told = of_result(
        done.result, stored=True, unanswerable=of_unanswerable(home, getattr(done.result, "plan", None))
    )
    return {
        **told,
        "accept": as_json(done.signed) if done.signed is not None else None,
        "outcome": done.outcome.to_json() if done.outcome is not None else None,
        "code": done.code,
        "why": done.why,
    }


def of_result(
    result: "Compiled | Clarify | Refused",
    *,
    stored: bool,
    unanswerable: "Sequence[dict[str, object]]" = (),
) -> dict[str, object]:
    """What came of a compile. `stored`: whether it is in the journal. unanswerable: of its plan, the steps
    that no model here can answer."""
    from mcl.compiler.compiler import Clarify, Compiled, Refused  # heavy, and only this needs it

    always = {"ms": round(result.ms, 3), "stored": stored, "cached": result.cached}
    match result:
        case Compiled(intent=intent, plan=plan):
            again = recurs(intent)
            asked = next_commands(intent.id, "proposed", plan=plan, recurs=again) if stored else []
            return {
                "status": "compiled",
                "id": intent.id,
                "review": result.review,
                "intent": as_json(intent),
                "plan": as_json(plan),
                "no_plan": result.no_plan,
                "unanswerable": list(unanswerable),
                "next": [command for command, _ in asked],
                **_asked(result.prompt, stored=stored),
                **always,
            }
        case Clarify(intent=intent, questions=questions):
            asked = next_commands(intent.id, "clarifying", questions) if stored else []
            return {
                "status": "clarify",
                "id": intent.id,
                "intent": as_json(intent),
                "questions": [of_question(question) for question in questions],
                "next": [command for command, _ in asked],
                **_asked(result.prompt, stored=stored),
                **always,
            }
        case Refused():
            return {
                "status": "refused",
                "id": result.id,
                "reason": result.reason,
                "message": result.message,
                "nearest": list(result.nearest),
                **always,
            }


def _asked(prompt: "PromptText", *, stored: bool) -> dict[str, object]:
    """What the model was asked with: told of a dry run, whose point it is."""
    return {} if stored else {"prompt": {"system": prompt.system, "user": prompt.user}}


def of_shown(found: "Shown") -> dict[str, object]:
    """One intent as it is now."""
    return {
        "id": found.id,
        "state": found.state,
        "prose": found.prose,
        "intent": as_json(found.intent),
        "plan": as_json(found.plan),
        "questions": [of_question(question) for question in found.questions],
        "nodes": dict(found.view.nodes),
        "outputs": dict(found.outputs),
        "said": dict(found.said),
        "accepted_by": found.accepted_by,
        "unseen": [{"kind": kind, "id": id} for kind, id in found.view.unseen],
        "reason": found.reason,
        "next": [
            command
            for command, _ in next_commands(
                found.id,
                found.state,
                found.questions,
                plan=found.plan,
                recurs=found.intent is not None and recurs(found.intent),
                scheduled=found.view.schedule is not None,
            )
        ],
    }


def of_planned(planned: "Planned") -> dict[str, object]:
    """A plan with the gate's verdicts."""
    return {
        "intent": planned.intent.id,
        "state": planned.state,
        "accepted": planned.accepted,
        "plan": as_json(planned.plan),
        "verdicts": [verdict.to_json() for verdict in planned.verdicts],
    }


def of_correction(done: "Corrected") -> dict[str, object]:
    """What was signed, and what follows."""
    commands = [f"mcl accept {done.intent_id}", f"mcl run {done.intent_id}"] if done.material else []
    return {**fields_json(done), "next": commands}


def of_event(event: "WalkEvent") -> dict[str, object]:
    """A node's line of `mcl run --json`."""
    return {"event": "node", **fields_json(event)}


def of_question_asked(gate: "GateQuestion") -> dict[str, object]:
    """A question's line of `mcl run --json`."""
    return {
        "event": "question",
        "gate": gate.gate_id,
        "node": gate.node_id,
        "kind": gate.kind,
        "question": gate.question,
        "options": list(gate.options),
        "refuses": list(gate.offer.refusing),
        "again": gate.again,
        "expires_at": gate.expires_at,
        "tool": gate.tool_ref,
        "args": dict(gate.args),
    }


def next_commands(
    id: str,
    state: str,
    questions: tuple[ClarifyQuestion, ...] = (),
    *,
    compiled: bool = True,
    writes: bool = True,
    plan: PlanTree | None = None,
    recurs: bool = False,
    scheduled: bool = False,
) -> list[tuple[str, str]]:
    """The commands that make sense now, each with what it does.

    compiled: was it made from words, by a compile? writes: may its plan have changed files?
    plan: what accepting would sign, which needs what its tools need. recurs: it is to run again and again,
    and scheduled: is signed so.
    """
    match state:
        case "clarifying":
            answers = " ".join(f"{question.unknown_id}=…" for question in questions)
            return [(f"mcl answer {id} {answers}", "answer, and compile again")]
        case "proposed":
            if missing := missing_for(plan):
                sign = missing.fix, f"install what it needs; then mcl accept {id}"
            else:
                sign = f"mcl {'schedule sign' if recurs else 'accept'} {id}", "sign it"
            return [sign, (f"mcl cancel {id}", "drop it")]
        case "accepted" if scheduled:
            return [("mcl schedule list", "when it is due"), (f"mcl schedule revoke {id}", "end it")]
        case "accepted":
            return [(f"mcl run {id}", "run it"), (f"mcl cancel {id}", "drop it")]
        case "executing":
            return [(f"mcl run {id} --resume", "go on after a stop")]
        case "completed" | "failed":
            return [
                (f"mcl log {id}", "what happened"),
                *([(f"mcl replay {id}", "compile it again, and compare")] if compiled else []),
                *([(f"mcl undo {id} --check", "which files could be put back")] if writes else []),
            ]
        case _:
            return [(f"mcl log {id}", "what happened")]
