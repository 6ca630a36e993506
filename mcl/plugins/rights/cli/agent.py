"""`mcl agent`: other agents that plans may hand work to."""

from typing import Annotated

from mcl.cli.arguments import AsJson, argument, noun, option, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note
from mcl.cli.views.layout import BAD, DIM, listing, moment

Name = Annotated[str, argument("NAME", "Small letters, digits and dashes.")]


agents = noun("agent", "Other agents that plans may hand work to.", "mcl agent list")


@verb(agents, "add")
def add_agent(
    name: Name,
    did: Annotated[str, option("--did DID", "The key that signs its answers.")],
    endpoint: Annotated[str, option("--endpoint URL", "Where it listens for signed dispatches.")],
    as_json: AsJson = False,
) -> None:
    """Enter an agent, and trust its key as that of an agent.

    Plans name it matrix://agent/NAME. Each dispatch to it is approved by a person.
    """
    from executor.gate.grants import Grants
    from executor.sandbox.origin import parse_url
    from executor.walker.dispatch import Agents

    home = use_home(signs=True)
    found = Agents(home).add(name, did, endpoint)
    Output(as_json).document(found)
    note(f"entered: {found.uri}, {found.did}, at {found.endpoint}")
    origin = parse_url(found.endpoint).origin
    if origin not in Grants(home).hosts(home.keyring.agent.did):
        note(f"its host is not granted yet: mcl grant add network --host {origin.short}")


@verb(agents, "list")
def list_agents(as_json: AsJson = False) -> None:
    """List the agents that plans may hand work to."""
    from executor.walker.dispatch import Agents
    from ir.results import fields_json

    home, out = use_home(), Output(as_json)
    found = Agents(home).list()
    trusted = {one.did for one in home.keyring.entries() if one.role == "agent" and not one.revoked_at}
    lines = [
        (
            (one.name, ""),
            (one.endpoint, ""),
            (moment(one.since), DIM),
            (one.did, "") if one.did in trusted else (f"{one.did} (revoked)", BAD),
        )
        for one in found
    ]
    out.show(
        {"agents": [{**fields_json(one), "trusted": one.did in trusted} for one in found]},
        [listing(("agent", "endpoint", "since", "did"), lines)],
    )


@verb(agents, "remove")
def remove_agent(name: Name, as_json: AsJson = False) -> None:
    """Take an agent out: nothing is handed to it any more.

    Its key stays trusted, so that what it signed can be checked; mcl key revoke ends that.
    """
    from executor.walker.dispatch import Agents

    found = Agents(use_home(signs=True)).remove(name)
    Output(as_json).document(found)
    note(f"removed: {found.uri}; its key is still trusted (mcl key revoke {found.did})")
