"""What came of a compile."""

from collections.abc import Iterator

from rich.console import Console, RenderableType

from mcl.cli.views.intent import intent_view
from mcl.cli.views.layout import BAD, DIM, STRONG, WARN, commands, joined, plain, rows
from mcl.cli.views.plan import plan_head, plan_table
from mcl.cli.views.shown import as_json, next_commands, question_document, questions_view
from mcl.compiler import Clarify, Compiled, Refused

Result = Compiled | Clarify | Refused


def result_document(result: Result, *, stored: bool) -> dict[str, object]:
    """The JSON form. `stored`: whether it is in the journal."""
    always = {"ms": round(result.ms, 3), "stored": stored}
    match result:
        case Compiled():
            return {
                "status": "compiled",
                "id": result.intent.id,
                "review": result.review,
                "intent": as_json(result.intent),
                "plan": as_json(result.plan),
                "no_plan": result.no_plan,
                "next": [command for command, _ in next_commands(result.intent.id, "proposed", ())]
                if stored
                else [],
                **always,
            }
        case Clarify():
            asked = next_commands(result.intent.id, "clarifying", result.questions) if stored else []
            return {
                "status": "clarify",
                "id": result.intent.id,
                "intent": as_json(result.intent),
                "questions": [question_document(question) for question in result.questions],
                "next": [command for command, _ in asked],
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


def result_view(result: Result, console: Console, *, stored: bool) -> Iterator[RenderableType]:
    """The Frame, what will run, what is asked, and the exact next command."""
    match result:
        case Compiled():
            yield from intent_view(result.intent, console)
            if result.plan is not None:
                yield ""
                yield plan_head(result.plan)
                yield plan_table(result.plan, console, {}, head="")
            else:
                yield rows([("plan", plain(f"none: {result.no_plan}" if result.no_plan else "none", WARN))])
            if result.review:
                yield ""
                yield plain("Not sure enough to go unread: check it before you accept.", WARN)
            yield from _next(result.intent.id, "proposed", result, stored=stored)
        case Clarify():
            yield from intent_view(result.intent, console)
            yield ""
            yield from questions_view(result.questions)
            yield from _next(result.intent.id, "clarifying", result, stored=stored)
        case Refused():
            yield joined((("Refused", BAD), (result.id, STRONG), (result.reason, BAD)))
            yield ""
            yield rows([("reason", plain(result.message))])
            if stored:
                yield commands(
                    [("mcl skill list", "what can be asked for"), (f"mcl log {result.id}", "what was kept")]
                )


def _next(id: str, state: str, result: Compiled | Clarify, *, stored: bool) -> Iterator[RenderableType]:
    if not stored:
        yield ""
        yield plain("Dry run: nothing was signed or stored.", DIM)
        return
    yield commands(next_commands(id, state, result.questions if isinstance(result, Clarify) else ()))
