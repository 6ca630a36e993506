"""An intent with its plan, its questions, and what can be done next."""

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType

from ir import canonical_bytes
from ir.document import Document
from mcl.cli.views.intent import STATE_STYLES, intent_view
from mcl.cli.views.layout import BAD, DIM, STRONG, commands, joined, plain, rows
from mcl.cli.views.plan import Cell, plan_head, plan_table

if TYPE_CHECKING:
    from ir import ClarifyQuestion
    from mcl.acts.show import Shown

_NODE_STYLES = {"completed": "green", "failed": BAD, "denied": BAD, "running": "cyan"}


def as_json(document: Document | None) -> object:
    """A document as it is hashed: empty fields left out."""
    return None if document is None else json.loads(canonical_bytes(document))


def shown_document(found: "Shown") -> dict[str, object]:
    """The JSON form."""
    return {
        "id": found.id,
        "state": found.state,
        "prose": found.prose,
        "intent": as_json(found.intent),
        "plan": as_json(found.plan),
        "questions": [question_document(question) for question in found.questions],
        "nodes": dict(found.view.nodes),
        "accepted_by": found.accepted_by,
        "reason": found.reason,
        "next": [command for command, _ in next_commands(found.id, found.state, found.questions)],
    }


def shown_view(found: "Shown", console: Console) -> Iterator[RenderableType]:
    """Everything a person needs before the next command."""
    if found.intent is not None:
        yield from intent_view(found.intent, console, state=found.state)
    else:
        style = STATE_STYLES.get(found.state, "cyan")
        yield joined((("Intent", STRONG), (found.id, STRONG), (found.state, style)))
        yield ""
        yield rows([("goal", plain(found.prose))])
    if found.reason:
        yield rows([("reason", plain(found.reason, BAD))])
    if found.plan is not None:
        cells = {node: Cell(state, _NODE_STYLES.get(state, DIM)) for node, state in found.view.nodes.items()}
        yield ""
        yield plan_head(found.plan)
        yield plan_table(found.plan, console, cells, head="state" if cells else "")
        yield rows([("plan hash", plain(found.plan.hash, DIM))])
    if found.questions:
        yield ""
        yield from questions_view(found.questions)
    yield commands(next_commands(found.id, found.state, found.questions))


def questions_view(questions: "tuple[ClarifyQuestion, ...]") -> Iterator[RenderableType]:
    """The questions that must be answered."""
    pairs: list[tuple[str, RenderableType]] = []
    for question in questions:
        offered = f"one of: {', '.join(question.options)}" if question.options else ""
        default = f"default {question.default}" if question.default else ""
        pairs.append((question.unknown_id, joined(((question.prompt, ""), (offered, DIM), (default, DIM)))))
    yield plain("Questions", STRONG)
    yield rows(pairs)


def question_document(question: "ClarifyQuestion") -> dict[str, object]:
    """One question as JSON."""
    return {
        "id": question.unknown_id,
        "field": question.field,
        "prompt": question.prompt,
        "type": question.type,
        "required": question.required,
        "options": list(question.options),
        "default": question.default,
    }


def next_commands(id: str, state: str, questions: "tuple[ClarifyQuestion, ...]") -> list[tuple[str, str]]:
    """The commands that make sense now, each with what it does."""
    match state:
        case "clarifying":
            answers = " ".join(f"{question.unknown_id}=…" for question in questions)
            return [(f"mcl answer {id} {answers}", "answer, and compile again")]
        case "proposed":
            return [(f"mcl accept {id}", "sign it"), (f"mcl cancel {id}", "drop it")]
        case "accepted":
            return [(f"mcl run {id}", "run it"), (f"mcl cancel {id}", "drop it")]
        case "executing":
            return [(f"mcl run {id} --resume", "go on after a stop")]
        case "completed" | "failed":
            return [(f"mcl log {id}", "what happened"), (f"mcl replay {id}", "compile it again and compare")]
        case _:
            return [(f"mcl log {id}", "what happened")]
