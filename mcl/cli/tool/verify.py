"""`mcl tool verify`: is every tool still what was approved?"""

from typing import TYPE_CHECKING

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output

if TYPE_CHECKING:
    from mcl.acts.tools import KnownTool


def register(tools: typer.Typer) -> None:
    """Add this verb."""
    tools.command("verify", epilog=example("mcl tool verify", "mcl tool verify --json"))(verify_tools)


def verify_tools(as_json: AsJson = False) -> int:
    """Compare every tool with what was approved.

    Its manifest with the approved one, and its class with its effects. Exit code 6 when something changed
    or contradicts itself. A tool that was never used here is approved with its first use.
    """
    from dataclasses import asdict

    from ir.errors import UNVERIFIED
    from mcl.acts.tools import verify_tools as verified
    from mcl.cli.home import use_home
    from mcl.cli.views.definition import change_view
    from mcl.cli.views.layout import BAD, DIM, GOOD, WARN, joined, plain

    found, out = verified(home=use_home()), Output(as_json)
    changed = [tool for tool in found.tools if tool.standing == "changed"]
    held = [tool for tool in found.tools if tool.standing == "quarantined"]
    out.document(
        {
            "sound": found.sound,
            "tools": len(found.tools),
            "changed": [
                {
                    "uri": tool.manifest.uri,
                    "approved": tool.approved_pin,
                    "found": tool.manifest.pin,
                    "changes": [asdict(change) for change in tool.changes],
                }
                for tool in changed
            ],
            "quarantined": [tool.manifest.uri for tool in held],
            "broken": [problem.to_json() for problem in found.broken],
            "gone": list(found.gone),
        }
    )
    if not as_json:
        for problem in found.broken:
            out.tell([joined(((problem.place, BAD), (problem.message, "")))])
        for tool in changed:
            out.tell([joined(((_named(tool), BAD), ("changed since it was approved", "")))])
            out.tell(change_view(tool.changes))
            out.tell([plain(f"  mcl tool approve {tool.name}", DIM)])
        out.tell(joined(((_named(tool), WARN), ("quarantined", ""))) for tool in held)
        out.tell(joined(((uri, DIM), ("approved here, and gone", DIM))) for uri in found.gone)
        if found.sound:
            same = [tool for tool in found.tools if tool.standing in ("new", "approved") and not tool.waits]
            out.tell([plain(f"{len(same)} tools are what was approved", GOOD)])
    return 0 if found.sound else UNVERIFIED


def _named(tool: "KnownTool") -> str:
    return tool.name if tool.outside else tool.manifest.uri
