"""`mcl tool list`: the tools there are, and what each may do."""

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output
from mcl.cli.tool.arguments import STYLES

_NARROW = 84  # columns


def register(tools: typer.Typer) -> None:
    """Add this verb."""
    tools.command("list", epilog=example("mcl tool list", "mcl tool list --json"))(list_tools)


def list_tools(as_json: AsJson = False) -> None:
    """List the tools, with what each may do at most.

    The class is A (reads in the workspace), B (reads elsewhere), C (writes in the workspace), D (runs a fixed
    command), E (acts on the world).
    """
    from mcl.acts.tools import contract
    from mcl.acts.tools import list_tools as all_tools
    from mcl.cli.home import use_home
    from mcl.cli.views.layout import DIM, listing
    from mcl.cli.views.plan import EFFECT_STYLES

    found, out = all_tools(home=use_home()), Output(as_json)
    kept = ("uri", "name", "pin", "standing", "closed", "effects", "operation", "class", "idempotent")
    said = [contract(tool) for tool in found]
    out.document(
        {"tools": [{**{name: one[name] for name in kept}, "scope": one["scope"]["kind"]} for one in said]}  # type: ignore[index]  # an object
    )
    if as_json:
        return
    lines: list[tuple[tuple[str, str], ...]] = []
    for tool in found:
        one, standing = tool.manifest, "closed" if tool.closed else tool.standing
        effects = " ".join(one.effects)
        lines.append(
            (
                (tool.name, ""),
                (one.uri.partition("@")[2], DIM),
                (effects, max((EFFECT_STYLES[name] for name in one.effects), key=_loudness)),
                (one.operation, "red" if one.operation == "destructive" else ""),
                (one.safety, ""),
                (one.scope.kind, DIM),
                ("again" if one.idempotent else "once", DIM),
                ("" if standing in ("new", "approved") else standing, STYLES[standing]),
            )
        )
    heads: tuple[str, ...] = ("tool", "version", "effects", "operation", "class", "scope", "run", "")
    if out.people.width < _NARROW:  # what is dispensable goes, before names are cut
        places = [heads.index(head) for head in ("tool", "effects", "operation", "class", "")]
        heads = tuple(heads[at] for at in places)
        lines = [tuple(line[at] for at in places) for line in lines]
    out.tell([listing(heads, lines)])


def _loudness(style: str) -> int:
    return ("", "yellow", "red").index(style)
