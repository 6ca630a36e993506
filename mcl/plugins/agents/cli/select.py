"""`mcl intents select` and `release`: an agent takes a piece of work, and gives it up."""

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note, write_line
from mcl.plugins.agents.cli.arguments import Agent, Label, Root


def register(intents: typer.Typer) -> None:
    """Add these verbs."""
    intents.command(
        "select",
        epilog=example("mcl intents select INT-001", "mcl intents select INT-001 --agent worker-2 --json"),
    )(select)
    intents.command("release", epilog=example("mcl intents release", "mcl intents release --agent worker-2"))(
        release
    )


def select(label: Label, agent: Agent = "", root: Root = None, as_json: AsJson = False) -> int:
    """Check out a piece of signed work, so that its files may be changed.

    Prints what an agent must know as <intent_context>. It is held until it is completed, released, or nothing
    was done for 15 minutes. Exit code 4 where it cannot be had.
    """
    from ir.errors import REFUSED
    from mcl.cli.home import use_home
    from mcl.core.safe import safe
    from mcl.plugins.agents.usecases.select import select_work

    found = select_work(label, agent=agent, root=root, home=use_home(signs=True))
    Output(as_json).document(found.to_json())
    if not found.success:
        note(safe(f"error: {found.error}\n  code  {found.code}"))
        return REFUSED
    if not as_json:
        for line in found.context.split("\n"):
            write_line(line)
    for warning in found.warnings:
        note(safe(f"warning: {warning}"))
    note(f"held until {found.expires_at}; each call renews it")
    return 0


def release(agent: Agent = "", root: Root = None, as_json: AsJson = False) -> None:
    """Give up what an agent has checked out; another may have it then."""
    from mcl.cli.home import use_home
    from mcl.plugins.agents.usecases.release import release_work

    lease = release_work(agent=agent, root=root, home=use_home(signs=True))
    Output(as_json).document(lease.to_json())
    note(f"released: {lease.label}, held by {lease.agent}")
