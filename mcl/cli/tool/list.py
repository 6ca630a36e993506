"""`mcl tool list`: the tools there are, and what each may do."""

from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note
from mcl.cli.tool.arguments import STYLES, nothing_known

if TYPE_CHECKING:
    from mcl.usecases.tools import KnownTool

_NARROW = 84  # columns


def register(tools: typer.Typer) -> None:
    """Add this verb."""
    tools.command("list", epilog=example("mcl tool list", "mcl tool list --waiting", "mcl tool list --json"))(
        list_tools
    )


def list_tools(
    server: Annotated[
        str, typer.Option("--server", metavar="NAME", help="Only this server's; mcl is mcl itself.")
    ] = "",
    waiting: Annotated[bool, typer.Option("--waiting", help="Only those that wait for an approval.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the tools, with what each may do at most.

    Those of other servers are called server:tool, and are refused until you approve them.

    The class is A (reads in the workspace), B (reads elsewhere), C (writes in the workspace), D (runs a fixed
    command), E (acts on the world).
    """
    from executor.tools.names import OURSELVES
    from mcl.cli.home import use_home
    from mcl.cli.views.layout import DIM, listing
    from mcl.cli.views.plan import EFFECT_STYLES
    from mcl.usecases.policy import unverified_note
    from mcl.usecases.tools import broken_tools
    from mcl.usecases.tools import list_tools as all_tools

    home, out = use_home(), Output(as_json)
    found = [
        one
        for one in all_tools(home=home)
        if (not server or server == (one.outside.server if one.outside else OURSELVES))
        and (one.waits or not waiting)
    ]
    if server and not found and server != OURSELVES:
        from mcl.catalog.servers import Servers

        Servers(home).require(server)
    broken = broken_tools(home=home) if server in ("", OURSELVES) else ()
    out.document({"tools": [_document(tool) for tool in found], "broken": [one.to_json() for one in broken]})
    for problem in broken:
        note(f"{problem.code}: {problem.place}: {problem.message}")
    if said := unverified_note(home=home):
        note(said)
    if not found:
        note((server and nothing_known(server, home)) or "no tool waits for an approval")
    if as_json or not found:
        return
    lines: list[tuple[tuple[str, str], ...]] = []
    for tool in found:
        one, standing = tool.manifest, "closed" if tool.closed else tool.standing
        effects = " ".join(tool.effects)
        lines.append(
            (
                (tool.name, ""),
                ("" if one.outside else one.uri.partition("@")[2], DIM),
                (effects, max((EFFECT_STYLES[name] for name in tool.effects), key=_loudness)),
                (tool.operation, "red" if tool.operation == "destructive" else ""),
                (one.safety, ""),
                (one.scope.kind, DIM),
                ("again" if one.idempotent else "once", DIM),
                (_words(tool, standing), STYLES[standing]),
            )
        )
    heads: tuple[str, ...] = ("tool", "version", "effects", "operation", "class", "scope", "run", "")
    if out.people.width < _NARROW:  # what is dispensable goes, before names are cut
        places = [heads.index(head) for head in ("tool", "effects", "operation", "class", "")]
        heads = tuple(heads[at] for at in places)
        lines = [tuple(line[at] for at in places) for line in lines]
    out.tell([listing(heads, lines)])


def _document(tool: "KnownTool") -> dict[str, object]:
    """What is told of a tool among many. What is suspicious takes a while to find: of those that wait."""
    one = tool.manifest
    said: dict[str, object] = {
        "uri": one.uri,
        "name": tool.name,
        "pin": one.pin,
        "standing": tool.standing,
        "closed": tool.closed,
        "effects": list(tool.effects),
        "operation": tool.operation,
        "class": one.safety,
        "idempotent": one.idempotent,
        "scope": one.scope.kind,
    }
    if tool.outside is not None:
        said["server"] = tool.outside.server
        if tool.waits:
            said["suspicions"] = [finding.to_json() for finding in tool.suspicions]
    return said


def _words(tool: "KnownTool", standing: str) -> str:
    """How a tool stands, where that is worth a word."""
    if standing == "approved" or (standing == "new" and not tool.outside):
        return ""
    warnings = len([one for one in tool.suspicions if one.level == "warning"]) if tool.waits else 0
    return f"{standing}, {warnings} warning{'s' * (warnings > 1)}" if warnings else standing


def _loudness(style: str) -> int:
    return ("", "yellow", "red").index(style)
