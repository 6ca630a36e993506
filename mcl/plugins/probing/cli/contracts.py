"""`mcl tool contracts`: all that is said of every tool, as a table, a JSON document, or two files."""

from pathlib import Path
from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, write_line


def register(tools: typer.Typer) -> None:
    """Add this verb."""
    tools.command(
        "contracts",
        epilog=example("mcl tool contracts", "mcl tool contracts --json", "mcl tool contracts --out docs"),
    )(contract_table)


def contract_table(
    to: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Write tool_contracts.json and TOOL_SAFETY.md into DIR."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what each tool promises.

    Effects, class, scope, repeats, limits and pin; with --json all that is said of it, its schemas too. With
    --out two files are written, of the tools that come with mcl.
    """
    from mcl.cli.views.layout import DIM, listing

    out = Output(as_json)
    if to is not None:
        from mcl.plugins.probing.usecases import write_contracts

        written = [str(place) for place in write_contracts(to)]
        out.document({"written": written})
        if not as_json:
            for place in written:
                write_line(place)
        return
    from mcl.cli.home import use_home
    from mcl.usecases.tools import contract
    from mcl.usecases.tools import list as list_tools

    found = list_tools(home=use_home())
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
