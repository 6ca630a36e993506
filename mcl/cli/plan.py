"""`mcl plan`: what would run, and what the gate says to it."""

from pathlib import Path

import typer

from mcl.cli.arguments import AsJson, IntentId, Workspace, example
from mcl.cli.groups import ShowsByDefault
from mcl.cli.output import Output


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    plans = typer.Typer(
        name="plan",
        cls=ShowsByDefault,
        help="Plans: what would run. `mcl plan INTENT` is `mcl plan show INTENT`.",
        epilog=example("mcl plan @last", "mcl plan 01K --workspace ~/project --json"),
        rich_markup_mode=None,
        subcommand_metavar="INTENT | COMMAND [ARGS]...",
    )
    plans.command("show", epilog=example("mcl plan @last", "mcl plan show 01K --workspace ~/project --json"))(
        plan_command
    )
    app.add_typer(plans)


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
