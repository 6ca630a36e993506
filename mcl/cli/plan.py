"""`mcl plan`: what would run, and what the gate says to it."""

from pathlib import Path

import typer

from mcl.cli.arguments import AsJson, IntentId, Workspace, example
from mcl.cli.output import Output


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    app.command("plan", epilog=example("mcl plan @last", "mcl plan 01K --workspace ~/project --json"))(
        plan_command
    )


def plan_command(intent: IntentId, workspace: Workspace = None, as_json: AsJson = False) -> None:
    """Show what would run, and what the gate says to it.

    The plan as a tree with side effects and verdicts; nothing runs.
    """
    from mcl.acts.plan import plan
    from mcl.cli.documents import of_planned
    from mcl.cli.home import use_home

    seen, out = plan(intent, home=use_home(), workspace=workspace or Path.cwd()), Output(as_json)
    out.document(of_planned(seen))
    if not as_json:
        from mcl.cli.views.plan import plan_view

        out.tell(plan_view(seen, out.people))
