"""`mcl grants`: what the agent may do at all, and which hosts it may reach."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note

if TYPE_CHECKING:
    from executor.gate.grants import Grants


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
Hosts = Annotated[
    list[str] | None,
    typer.Option(
        "--host",
        metavar="HOST",
        help="With network: example.org, example.org:8443, or http://localhost:8080 without encryption;"
        " may be given several times.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    grants = typer.Typer(
        name="grants",
        help="Grants: what the agent may do at all.",
        invoke_without_command=True,
        rich_markup_mode=None,
    )
    give, take = "mcl grants give network --host example.org", "mcl grants take network --host example.org"
    grants.callback(epilog=example("mcl grants", give, "mcl grants take write"))(list_grants)
    grants.command("give", epilog=example("mcl grants give shell", give))(give_grants)
    grants.command("take", epilog=example("mcl grants take write", take))(take_grants)
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
    grants, agent = Grants(home.db, home.clock), home.keyring.agent.did
    classes, hosts = grants.list(agent), grants.list_hosts(agent)
    out.document(
        {"agent": agent, "grants": [asdict(one) for one in classes], "hosts": [asdict(one) for one in hosts]}
    )
    granted = [(one.side_effect, one) for one in classes] + [(one.host, one) for one in hosts]
    lines = [
        (
            (name, ""),
            ("taken back", BAD) if one.revoked_at else ("granted", ""),
            (moment(one.revoked_at or one.since), DIM),
        )
        for name, one in granted
    ]
    if not as_json:
        out.tell([listing(("class or host", "", "since"), lines)])


def give_grants(classes: Classes, host: Hosts = None) -> None:
    """Let the agent do calls of these classes, where the gate allows them; on the network, to these hosts.

    A call to another host is asked about each time.
    """
    from executor.gate.grants import Grants
    from mcl.cli.home import use_home

    _require_network(classes, host)
    home = use_home()
    grants, agent = Grants(home.db, home.clock), home.keyring.agent.did
    with home.db.write():
        grants.grant_hosts(agent, host or ())
        held = grants.classes(agent)
        grants.grant(agent, [one.value for one in classes if one.value not in held])
    _say(grants, agent)


def take_grants(classes: Classes, host: Hosts = None) -> None:
    """Take classes back; calls of them are denied from now on.

    With --host only the hosts are taken; network without it takes all hosts too.
    """
    from executor.gate.grants import Grants
    from mcl.cli.home import use_home

    _require_network(classes, host)
    home = use_home()
    grants, agent = Grants(home.db, home.clock), home.keyring.agent.did
    with home.db.write():
        grants.revoke_hosts(agent, host or ())
        for one in classes:
            if not (host and one is SideEffect.network):
                grants.revoke(agent, one.value)
    _say(grants, agent)


def _require_network(classes: list[SideEffect], hosts: list[str] | None) -> None:
    if hosts and SideEffect.network not in classes:
        raise typer.BadParameter("--host goes with the class network")


def _say(grants: "Grants", agent: str) -> None:
    classes = grants.classes(agent)
    note(f"the agent may: {', '.join(sorted(classes)) or 'nothing'}")
    if "network" in classes:
        hosts = ", ".join(sorted(origin.short for origin in grants.hosts(agent)))
        note(f"and reach: {hosts or 'no host unasked (mcl grants give network --host example.org)'}")
