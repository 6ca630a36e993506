"""What came of a compile."""

from collections.abc import Iterator

from rich.console import Console, RenderableType

from mcl.catalog.extras import missing_for
from mcl.cli.views.intent import intent_view
from mcl.cli.views.layout import BAD, DIM, STRONG, WARN, commands, joined, plain, rows
from mcl.cli.views.plan import plan_head, plan_table
from mcl.cli.views.shown import questions_view
from mcl.compiler.compiler import Clarify, Compiled, Refused
from mcl.usecases.documents import next_commands


def result_view(
    result: Compiled | Clarify | Refused, console: Console, *, stored: bool
) -> Iterator[RenderableType]:
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
            if lacking := missing_for(result.plan):
                yield plain(lacking, WARN)
            if result.review:
                yield ""
                yield plain(f"{result.advice[:1].upper()}{result.advice[1:]}.", WARN)
            yield from _prompt(result, stored=stored)
            yield from _next(result.intent.id, "proposed", result, stored=stored)
        case Clarify():
            yield from intent_view(result.intent, console, gaps=False)
            yield ""
            yield from questions_view(result.questions)
            yield from _prompt(result, stored=stored)
            yield from _next(result.intent.id, "clarifying", result, stored=stored)
        case Refused():
            yield joined((("Refused", BAD), (result.id, STRONG), (result.reason, BAD)))
            yield ""
            yield rows([("reason", plain(result.message))])
            if stored:
                yield commands(
                    [("mcl skill list", "what can be asked for"), (f"mcl log {result.id}", "what was kept")]
                )


def _prompt(result: Compiled | Clarify, *, stored: bool) -> Iterator[RenderableType]:
    """What the model was asked with, where nothing else comes of it."""
    if stored or not result.prompt.system:
        return
    yield ""
    yield rows(
        [
            ("prompt", plain("system", DIM)),
            ("", plain(result.prompt.system)),
            ("", plain("user", DIM)),
            *(("", plain(line)) for line in result.prompt.user.split("\n")),
        ]
    )


def _next(id: str, state: str, result: Compiled | Clarify, *, stored: bool) -> Iterator[RenderableType]:
    if not stored:
        yield ""
        yield plain("Dry run: nothing was signed or stored.", DIM)
        return
    yield commands(next_commands(id, state, result.questions if isinstance(result, Clarify) else ()))
