"""`mcl tool check` and `mcl tool contracts`: what is said of every tool, and whether it is still so."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, option, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note, write_line
from mcl.cli.progress import progress_bar
from mcl.cli.views.layout import BAD, DIM, GOOD, WARN, joined, listing, plain

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.plugins.probing.usecases import VerifiedContracts
    from mcl.usecases.tools import KnownTool, VerifiedTools


def register_check(tools: typer.Typer) -> None:
    verb(tools, "check")(verify_tools)


def verify_tools(
    docs: Annotated[
        Path | None,
        option("--docs DIR", "Compare tool_contracts.json and TOOL_SAFETY.md in DIR too."),
    ] = None,
    no_probe: Annotated[
        bool, option("--no-probe", "Run no example to see what tools do: a matter of seconds.")
    ] = False,
    as_json: AsJson = False,
) -> int:
    """Compare every tool with what was approved, with what is said of it, and with what it does.

    Its manifest with the approved one and with the code beside it; what its examples are seen to do, each in
    a folder that is made for it, with what the manifest declares. Exit code 6 when something changed or
    differs. A tool that was never used here is approved with its first use.
    """
    from ir.errors import UNVERIFIED
    from mcl.plugins.probing.usecases import verify_contracts
    from mcl.usecases.policy import unverified_note
    from mcl.usecases.tools import check as verified

    home, out = use_home(), Output(as_json)
    found = verified(home=home)
    if unverified := unverified_note(home=home):
        note(unverified)
    probing = not no_probe and not found.broken
    with progress_bar("examples", quiet=as_json or not probing) as progress:
        others = [tool.manifest for tool in found.tools if tool.outside or tool.manifest.command]
        said = verify_contracts(docs=docs, probing=probing, others=others, progress=progress)
    out.document(_document(found, said))
    if not as_json:
        out.tell(_approved(found))
        out.tell(_promised(said))
    return 0 if found.sound and said.sound else UNVERIFIED


def _document(found: "VerifiedTools", said: "VerifiedContracts") -> dict[str, object]:

    return {
        "sound": found.sound and said.sound,
        "tools": len(found.tools),
        "changed": [
            {
                "uri": tool.manifest.uri,
                "approved": tool.approved_pin,
                "found": tool.manifest.pin,
                "changes": tool.changes,
            }
            for tool in found.tools
            if tool.standing == "changed"
        ],
        "quarantined": [tool.manifest.uri for tool in found.tools if tool.standing == "quarantined"],
        "broken": found.broken,
        "gone": list(found.gone),
        "drift": said.drift,
        "probed": said.probed,
    }


def _approved(found: "VerifiedTools") -> "Iterator[RenderableType]":
    """What differs from what was approved."""
    from mcl.cli.views.definition import change_view

    for problem in found.broken:
        yield joined(((problem.place, BAD), (problem.message, "")))
    for tool in found.tools:
        if tool.standing == "changed":
            yield joined(((_named(tool), BAD), ("changed since it was approved", "")))
            yield from change_view(tool.changes)
            yield plain(f"  mcl tool approve {tool.name}", DIM)
    for tool in found.tools:
        if tool.standing == "quarantined":
            yield joined(((_named(tool), WARN), ("quarantined", "")))
    for uri in found.gone:
        yield joined(((uri, DIM), ("approved here, and gone", DIM)))
    if found.sound:
        same = [tool for tool in found.tools if tool.standing in ("new", "approved") and not tool.waits]
        yield plain(f"{len(same)} tools are what was approved", GOOD)


def _promised(said: "VerifiedContracts") -> "Iterator[RenderableType]":
    """What differs from what is promised, and what was not seen."""
    for one in said.drift:
        yield joined(((one.place, BAD), (one.message, ""), (f"({one.code})", DIM)))
        if one.fix:
            yield plain(f"  {one.fix}", DIM)
    for tool in said.unprobed:
        name = tool.tool.removeprefix("matrix://tool/")
        yield joined(((name, DIM), ("not seen at work:", DIM), (tool.reason, DIM)))
    stand_ins = sorted({name for one in said.probed for name in one.stand_ins})
    if stand_ins:
        yield plain(f"stand-ins took the place of {', '.join(stand_ins)}", DIM)
    if said.sound and said.probed:
        done = said.count("sound")
        yield plain(f"{done} examples did what their tools declare, and nothing else", GOOD)


def _named(tool: "KnownTool") -> str:
    return tool.name if tool.outside else tool.manifest.uri


# ---- `mcl tool contracts`: all that is said of every tool, as a table, a JSON document, or two files.


def register_contracts(tools: typer.Typer) -> None:
    verb(tools, "contracts")(contract_table)


def contract_table(
    to: Annotated[
        Path | None,
        option("--out DIR", "Write tool_contracts.json and TOOL_SAFETY.md into DIR."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what each tool promises.

    Effects, class, scope, repeats, limits and pin; with --json all that is said of it, its schemas too. With
    --out two files are written, of the tools that come with mcl.
    """
    out = Output(as_json)
    if to is not None:
        from mcl.plugins.probing.usecases import write_contracts

        written = [str(place) for place in write_contracts(to)]
        out.document({"written": written})
        if not as_json:
            for place in written:
                write_line(place)
        return
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
