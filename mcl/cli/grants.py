"""`mcl grants`: what the agent may do at all."""

from enum import StrEnum
from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note


class SideEffect(StrEnum):
    """The side-effect classes of a plan."""

    read = "read"
    write = "write"
    network = "network"
    shell = "shell"
    chain = "chain"


Classes = Annotated[
    list[SideEffect], typer.Argument(metavar="CLASS...", help="read, write, network, shell, chain.")
]


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    grants = typer.Typer(
        name="grants",
        help="Grants: what the agent may do at all.",
        invoke_without_command=True,
        rich_markup_mode=None,
    )
    grants.callback(epilog=example("mcl grants", "mcl grants give network", "mcl grants take write"))(
        list_grants
    )
    grants.command("give", epilog=example("mcl grants give network"))(give_grants)
    grants.command("take", epilog=example("mcl grants take write"))(take_grants)
    app.add_typer(grants)


def list_grants(context: typer.Context, as_json: AsJson = False) -> None:
    """What the agent may do at all; the gate still judges every single call."""
    if context.invoked_subcommand is not None:
        return
    from dataclasses import asdict

    from executor.gate.grants import Grants
    from mcl.cli.home import use_home
    from mcl.cli.views.layout import BAD, DIM, listing, moment

    home, out = use_home(), Output(as_json)
    found = Grants(home.db, home.clock).list(home.keyring.agent.did)
    out.document({"agent": home.keyring.agent.did, "grants": [asdict(grant) for grant in found]})
    lines = [
        (
            (grant.side_effect, ""),
            ("taken back", BAD) if grant.revoked_at else ("granted", ""),
            (moment(grant.revoked_at or grant.since), DIM),
        )
        for grant in found
    ]
    if not as_json:
        out.tell([listing(("class", "", "since"), lines)])


def give_grants(classes: Classes) -> None:
    """Let the agent do calls of these classes, where the gate allows them."""
    from executor.gate.grants import Grants
    from mcl.cli.home import use_home

    home = use_home()
    grants, agent = Grants(home.db, home.clock), home.keyring.agent.did
    held = grants.classes(agent)
    grants.grant(agent, [one.value for one in classes if one.value not in held])
    note(f"the agent may: {', '.join(sorted(grants.classes(agent)))}")


def take_grants(classes: Classes) -> None:
    """Take classes back; calls of them are denied from now on."""
    from executor.gate.grants import Grants
    from mcl.cli.home import use_home

    home = use_home()
    grants, agent = Grants(home.db, home.clock), home.keyring.agent.did
    for one in classes:
        grants.revoke(agent, one.value)
    note(f"the agent may: {', '.join(sorted(grants.classes(agent))) or 'nothing'}")
