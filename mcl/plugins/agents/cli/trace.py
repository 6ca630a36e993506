"""`mcl intents trace`: what was changed in this folder, and under which intents."""

from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note
from mcl.plugins.agents.cli.arguments import Root

_LAST = 20
_MARK = " (recovered)"  # the line was made by whoever came after a killed process


def register(intents: typer.Typer) -> None:
    """Add this verb."""
    intents.command(
        "trace",
        epilog=example(
            "mcl intents trace", "mcl intents trace --intent INT-001 --last 100", "mcl intents trace --json"
        ),
    )(trace)


def trace(
    intent: Annotated[
        str, typer.Option("--intent", metavar="INTENT", help="Only what was changed under this intent.")
    ] = "",
    file: Annotated[
        str, typer.Option("--file", metavar="PATH", help="Only of this file, as the trace names it.")
    ] = "",
    agent: Annotated[str, typer.Option("--agent", metavar="NAME", help="Only by this agent.")] = "",
    last: Annotated[
        int, typer.Option("--last", metavar="N", min=0, help="At most so many lines, the newest.")
    ] = _LAST,
    root: Root = None,
    as_json: AsJson = False,
) -> int:
    """Show what was changed in this folder, and check that the trace is whole.

    The exit code is 6 where lines were changed, taken out or put in between; they are named then.
    """
    from ir.errors import UNVERIFIED
    from mcl.cli.home import use_home
    from mcl.cli.views.layout import BAD, DIM, listing, moment
    from mcl.core.safe import one_line
    from mcl.plugins.agents.usecases.trace import trace_work

    found = trace_work(root=root, intent=intent, file=file, agent=agent, last=last, home=use_home())
    out, report = Output(as_json), found.report
    out.document(found.to_json())
    lines = [
        (
            (moment(line.time), DIM),
            (line.change.label, ""),
            (line.change.agent or line.change.author, DIM),
            (line.change.tool, DIM),
            (f"{line.change.file}{_ranges(line.change.lines)}{_MARK if line.change.recovered else ''}", ""),
        )
        for line in found.lines
    ]
    if lines:
        out.view([listing(("when", "intent", "by", "tool", "file"), lines)])
    elif not report.lines:
        note(f"no trace in {report.root}")
    if report.unsigned:
        note(f"{report.unsigned} lines were not signed in this home; they came with the folder")
    if report.torn:
        note("a crash left the end unfinished; the next change puts it in order")
    for one in found.unended[:_LAST]:
        since = f"since {moment(one.at)}, when {one_line(one.tool)} was let through"
        note(f"{one_line(one.file)} changed {since}; nobody saw how that ended, and no line tells of it")
    if report.findings:
        out.view(
            [
                listing(
                    ("code", "line", "what"),
                    [
                        ((one.code, BAD), (str(one.line or ""), ""), (one.message, ""))
                        for one in report.findings
                    ],
                )
            ]
        )
    return 0 if report.ok else UNVERIFIED


def _ranges(lines: tuple[tuple[int, int], ...]) -> str:
    said = [f"{first}" if first == last else f"{first}-{last}" for first, last in lines[:4]]
    more = ", …" if len(lines) > len(said) else ""
    return f":{', '.join(said)}{more}" if said else ""
