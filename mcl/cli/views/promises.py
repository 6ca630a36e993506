"""How each promise of an Intent is kept, a line each: what that means beside the words of the goal."""

from collections.abc import Iterator
from typing import Final

from rich.console import RenderableType

from ir import Intent, PlanTree, PromiseStanding
from ir.display import beginning, clear
from mcl.cli.views.exact import Exact, exact
from mcl.cli.views.layout import BAD, DIM, GOOD, WARN, rows

_WORDS: Final = {
    "enforced": ("held", GOOD),
    "checked": ("checked at the end", GOOD),
    "signed_off": ("signed off at the end", WARN),
    "not_checkable": ("nobody can check it", BAD),
}
_WHOLE: Final = ("budget", "deadline")
_WISH: Final = ("a wish", DIM)
_QUOTED: Final = 60  # characters of the goal's words


def promises_view(intent: Intent, plan: PlanTree) -> Iterator[RenderableType]:
    """Nothing for a plan that says nothing of them."""
    marks = intent.compile_metadata.spans if intent.compile_metadata else ()
    said = {mark.field: intent.prose[mark.start : mark.end] for mark in marks}
    # A budget or deadline of the whole repeats what a constraint says.
    told = {one.says for one in plan.promises if one.place not in _WHOLE}
    lines = [one for one in plan.promises if one.place not in _WHOLE or one.says not in told]
    if lines:
        yield rows([("promises", _line(one, said.get(one.place, ""))) for one in lines])


def _line(one: PromiseStanding, said: str) -> Exact:
    word, style = _WORDS[one.standing] if one.hard else _WISH
    quote = f"({beginning(said, _QUOTED)})" if said and said != one.says else ""
    why = clear(one.why or (one.by and f"by {one.by}")) if one.hard else ""
    return exact((word, style), (clear(one.says), ""), (quote, DIM), (why, DIM))
