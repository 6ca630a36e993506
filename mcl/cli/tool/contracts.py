"""`mcl tool contracts`: all that is said of every tool, as one table or one JSON document."""

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output


def register(tools: typer.Typer) -> None:
    """Add this verb."""
    tools.command("contracts", epilog=example("mcl tool contracts", "mcl tool contracts --json"))(
        contract_table
    )


def contract_table(as_json: AsJson = False) -> None:
    """Show what each tool promises.

    Effects, class, scope, repeats, limits and pin; with --json all that is said of it, its schemas too.
    """
    from mcl.acts.tools import contract, list_tools
    from mcl.cli.home import use_home
    from mcl.cli.views.layout import DIM, listing

    found, out = list_tools(home=use_home()), Output(as_json)
    out.document({"v": "mcl/0.1", "tools": [contract(tool) for tool in found]})
    if as_json:
        return
    lines = [
        (
            (tool.name if tool.outside else tool.manifest.uri.removeprefix("matrix://tool/"), ""),
            (tool.manifest.safety, ""),
            (" ".join(tool.effects), ""),
            (tool.manifest.scope.kind, ""),
            ("yes" if tool.manifest.idempotent else "no", ""),
            (str(tool.manifest.retries.max), ""),
            (f"{tool.manifest.timeout_ms / 1000:g} s", ""),
            (f"{tool.manifest.max_output >> 10} KiB", ""),
            (tool.manifest.pin[:8], DIM),
        )
        for tool in found
    ]
    heads = ("tool", "class", "effects", "scope", "again", "retries", "time", "output", "pin")
    out.tell([listing(heads, lines)])
