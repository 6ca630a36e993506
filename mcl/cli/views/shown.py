"""An intent with its plan, its questions, and what can be done next."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType

from mcl.cli.views.intent import STATE_STYLES, intent_view
from mcl.cli.views.layout import BAD, DIM, STRONG, WARN, commands, joined, plain, rows
from mcl.cli.views.plan import Cell, plan_head, plan_table
from mcl.cli.views.walk import may_write, outputs_view
from mcl.usecases.documents import next_commands

if TYPE_CHECKING:
    from ir import ClarifyQuestion
    from mcl.usecases.show import Shown

_NODE_STYLES = {"completed": "green", "failed": BAD, "denied": BAD, "running": "cyan"}


def shown_view(found: "Shown", console: Console, found_text: str = "") -> Iterator[RenderableType]:
    """Everything a person needs before the next command. found_text: what a review found."""
    if found.intent is not None:
        yield from intent_view(found.intent, console, state=found.state)
    else:
        style = STATE_STYLES.get(found.state, "cyan")
        yield joined((("Intent", STRONG), (found.id, STRONG), (found.state, style)))
        yield ""
        yield rows([("goal", plain(found.prose))])
    if found.reason:
        yield rows([("reason", plain(found.reason, BAD))])
    if found.view.unseen:
        kinds = ", ".join(dict.fromkeys(kind for kind, _ in found.view.unseen))
        yield rows([("unseen", plain(f"nobody need have looked when these were signed: {kinds}", WARN))])
    if found.plan is not None:
        cells = {node: Cell(state, _NODE_STYLES.get(state, DIM)) for node, state in found.view.nodes.items()}
        yield ""
        yield plan_head(found.plan)
        yield plan_table(found.plan, console, cells, head="state" if cells else "")
        yield rows([("plan hash", plain(found.plan.hash, DIM))])
    if found.questions and found.state == "clarifying":
        yield ""
        yield from questions_view(found.questions)
    if found_text:
        yield ""
        yield plain("Findings", STRONG)
        yield plain(found_text)
    elif found.outputs:
        yield ""
        yield from outputs_view(found.outputs, found.plan)
    compiled = found.intent is not None and found.intent.compile_metadata is not None
    writes = found.plan is not None and may_write(found.plan)
    yield commands(next_commands(found.id, found.state, found.questions, compiled=compiled, writes=writes))


def questions_view(questions: "tuple[ClarifyQuestion, ...]") -> Iterator[RenderableType]:
    """The questions that must be answered."""
    pairs: list[tuple[str, RenderableType]] = []
    for question in questions:
        offered = f"one of: {', '.join(question.options)}" if question.options else ""
        default = f"default {question.default}" if question.default else ""
        pairs.append((question.unknown_id, joined(((question.prompt, ""), (offered, DIM), (default, DIM)))))
    yield plain("Questions", STRONG)
    yield rows(pairs)
