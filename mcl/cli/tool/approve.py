"""`mcl tool approve` and `mcl tool quarantine`: the operator's word about one tool."""

from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note
from mcl.cli.tool.arguments import ToolName, agreed


def register(tools: typer.Typer) -> None:
    """Add these verbs."""
    tools.command("approve", epilog=example("mcl tool approve http/get", "mcl tool approve http/get --yes"))(
        approve_tool
    )
    tools.command("quarantine", epilog=example('mcl tool quarantine http/get --reason "asks too much"'))(
        quarantine_tool
    )


def approve_tool(
    tool: ToolName,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask; for scripts.")] = False,
    pin: Annotated[
        str, typer.Option("--pin", metavar="HASH", help="Only if this is what its manifest hashes to.")
    ] = "",
    as_json: AsJson = False,
) -> int:
    """Approve a tool as it is now.

    After it changed or was in quarantine. Shows what changed, asks, and keeps the approval in the journal.
    Exit code 4 when you do not agree.
    """
    from ir.errors import REFUSED
    from mcl.acts import tools as acts
    from mcl.cli.home import use_home
    from mcl.cli.tool.verify import change_view
    from mcl.cli.views.layout import joined

    home, out = use_home(signs=True), Output(as_json)
    found = acts.find_tool(tool, home=home)
    if found.standing != "approved" and not (as_json and yes):
        out.tell([joined(((found.manifest.uri, "bold"), (found.standing, ""), (found.manifest.pin, "dim")))])
        out.tell(change_view(found.changes) if found.standing == "changed" else ())
    if not yes and not agreed(f"Approve {found.name} as it is now?"):
        note("not approved; nothing was changed")
        return REFUSED
    after = acts.approve_tool(found.manifest.uri, pin=pin or found.manifest.pin, home=home)
    out.document({"uri": after.manifest.uri, "pin": after.manifest.pin, "standing": after.standing})
    note(f"approved {after.manifest.uri}")
    return 0


def quarantine_tool(
    tool: ToolName,
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept in the journal.")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Close a tool until it is approved again.

    Every call of it is refused (TOOL_QUARANTINED).
    """
    from mcl.acts import tools as acts
    from mcl.cli.home import use_home

    after = acts.quarantine_tool(tool, reason=reason, home=use_home(signs=True))
    Output(as_json).document(
        {"uri": after.manifest.uri, "pin": after.manifest.pin, "standing": after.standing}
    )
    note(f"quarantined {after.manifest.uri}; mcl tool approve {after.name} opens it again")
