"""`mcl tool classify` and `mcl tool unclassify`: the operator's word on what another server's tool does."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note
from mcl.cli.tool.arguments import ToolName, agreed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType

    from mcl.usecases.classify import Classified

_WORD = {
    "server": "says its server",
    "operator": "says an operator",
    "": "the worst, as nobody is believed",
}


class Operation(StrEnum):
    """How a tool treats what is there."""

    read = "read"
    write = "write"
    destructive = "destructive"


def register(tools: typer.Typer) -> None:
    """Add these verbs."""
    tools.command(
        "classify",
        epilog=example(
            "mcl tool classify github:get_issue read --effects network",
            "mcl tool classify files:put write --effects read,write",
        ),
    )(classify_tool)
    tools.command("unclassify", epilog=example("mcl tool unclassify github:get_issue"))(unclassify_tool)


def classify_tool(
    tool: ToolName,
    operation: Annotated[Operation, typer.Argument(help="What it does to what is there.")],
    effects: Annotated[
        str,
        typer.Option("--effects", metavar="CLASSES", help="read, write, network, shell, chain; with commas."),
    ],
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; for scripts.")] = False,
    pin: Annotated[
        str, typer.Option("--pin", metavar="HASH", help="Only if this is what was approved of it.")
    ] = "",
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept in the journal.")
    ] = "",
    as_json: AsJson = False,
) -> int:
    """Say what a tool of another server does.

    Your word counts before that of its server, up and down, be the server trusted or not. Holds for the tool
    as it is described now, until that changes. Shows the tool, asks, and keeps your word in the journal. Exit
    code 4 when you do not agree.
    """
    from ir.errors import REFUSED
    from mcl.cli.home import use_home
    from mcl.usecases import classify as acts

    classes = [name.strip() for name in effects.split(",") if name.strip()]
    home, out = use_home(signs=True), Output(as_json)
    found = acts.classified(tool, home=home)
    if not (as_json and yes):
        out.tell(_view(found))
    says = f"{operation.value} ({', '.join(sorted(set(classes)))})"
    if not yes and not agreed(f"Let {found.manifest.name} count as {says}, as it is now?"):
        out.document({**_document(found), "code": "NOT_AGREED"})
        note("not classified; nothing was changed")
        return REFUSED
    after = acts.classify_tool(
        tool,
        operation.value,
        classes,
        pin=pin or found.manifest.pin,
        reason=reason,
        home=home,
        unseen=yes,
    )
    out.document(_document(after))
    note(f"{after.manifest.name} counts as {says}; {_consequence(after)}")
    return 0


def unclassify_tool(tool: ToolName, as_json: AsJson = False) -> None:
    """Take back what was said of a tool.

    It counts as its server says again, where that is trusted; else as destructive.
    """
    from mcl.cli.home import use_home
    from mcl.usecases import classify as acts

    after = acts.unclassify_tool(tool, home=use_home(signs=True))
    Output(as_json).document(_document(after))
    note(f"{after.manifest.name} counts as {after.effect.operation} again; {_consequence(after)}")


def _consequence(said: "Classified") -> str:
    granted = " where the network is granted" if "network" in said.effect.classes else ""
    asks = "a person is asked about each call" if said.asked else f"calls need nobody{granted}"
    return f"agents call it by {said.call_with}, and {asks}"


def _document(said: "Classified") -> dict[str, Any]:
    return {
        "name": said.manifest.name,
        "uri": said.manifest.uri,
        "pin": said.manifest.pin,
        "operation": said.effect.operation,
        "effects": sorted(said.effect.classes),
        "by": said.by,
        "call_with": said.call_with,
        "asked": said.asked,
    }


def _view(said: "Classified") -> "Iterator[RenderableType]":
    from ir.shown import clear
    from mcl.cli.views.definition import hints_said
    from mcl.cli.views.exact import exact, field
    from mcl.cli.views.layout import DIM, STRONG, rows

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
