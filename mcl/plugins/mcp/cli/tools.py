"""`mcl tool classify` and `unclassify`: the operator's word on what another server's tool does."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from mcl.cli.arguments import AsJson, Reason, ToolName, Yes, option, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note
from mcl.cli.people import agreed
from mcl.cli.views.layout import DIM, STRONG, rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from mcl.plugins.mcp.classify import ClassifiedTool

verbs = typer.Typer()


_WORD = {
    "server": "says its server",
    "operator": "says an operator",
    "": "the worst, as nobody is believed",
}


Operation = Literal["read", "write", "destructive"]  # how a tool treats what is there


@verb(verbs, "classify")
def classify_tool(
    tool: ToolName,
    operation: Annotated[Operation, typer.Argument(help="What it does to what is there.")],
    effects: Annotated[str, option("--effects CLASSES", "read, write, network, shell, chain; with commas.")],
    yes: Yes = False,
    pin: Annotated[str, option("--pin HASH", "Only if this is what was approved of it.")] = "",
    reason: Reason = "",
    as_json: AsJson = False,
) -> int:
    """Say what a tool of another server does.

    Your word counts before that of its server, up and down, be the server trusted or not. Holds for the tool
    as it is described now, until that changes. Shows the tool, asks, and keeps your word in the journal. Exit
    code 4 when you do not agree.
    """
    from ir.errors import REFUSED
    from mcl.plugins.mcp import classify as acts

    classes = [name.strip() for name in effects.split(",") if name.strip()]
    home, out = use_home(signs=True), Output(as_json)
    found = acts.classified(tool, home=home)
    if not (as_json and yes):
        out.tell(_view(found))
    says = f"{operation} ({', '.join(sorted(set(classes)))})"
    if not yes and not agreed(f"Let {found.manifest.name} count as {says}, as it is now?"):
        out.document({**found.to_json(), "code": "NOT_AGREED"})
        note("not classified; nothing was changed")
        return REFUSED
    after = acts.classify(
        tool,
        operation,
        classes,
        pin=pin or found.manifest.pin,
        reason=reason,
        home=home,
        unseen=yes,
    )
    out.document(after)
    note(f"{after.manifest.name} counts as {says}; {_consequence(after)}")
    return 0


@verb(verbs, "unclassify")
def unclassify_tool(tool: ToolName, as_json: AsJson = False) -> None:
    """Take back what was said of a tool.

    It counts as its server says again, where that is trusted; else as destructive.
    """
    from mcl.plugins.mcp import classify as acts

    after = acts.unclassify(tool, home=use_home(signs=True))
    Output(as_json).document(after)
    note(f"{after.manifest.name} counts as {after.effect.operation} again; {_consequence(after)}")


def _consequence(said: "ClassifiedTool") -> str:
    granted = " where the network is granted" if "network" in said.effect.classes else ""
    asks = "a person is asked about each call" if said.asked else f"calls need nobody{granted}"
    return f"agents call it by {said.call_with}, and {asks}"


def _view(said: "ClassifiedTool") -> "Iterator[RenderableType]":
    from ir.display import clear
    from mcl.cli.views.definition import hints_said
    from mcl.cli.views.exact import exact, field

    outside = said.manifest.outside
    hints = outside.definition.get("annotations") if outside else None
    given = ", ".join(hints_said(hints)) if isinstance(hints, dict) else ""
    silent = not said.by and said.manifest.annotated  # trusted, and says nothing
    word = "by default, as its server does not say" if silent else _WORD[said.by]
    effect = f"{said.effect.operation} ({', '.join(sorted(said.effect.classes))}): {word}"
    yield exact((clear(said.manifest.name), STRONG))
    yield field(said.manifest.description)
    yield ""
    yield rows(
        [
            ("hints", exact((given or "none", ""))),
            ("counts as", exact((effect, ""))),
            ("calls", exact((_consequence(said), ""))),
            ("pin", exact((said.manifest.pin, DIM))),
        ]
    )
