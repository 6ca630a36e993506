"""`mcl grant` and `mcl policy`: what an agent may do at all."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, Verbs, argument, noun, option, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note, note_error
from mcl.cli.views.layout import BAD, DIM, GOOD, WARN, listing, moment, plain
from mcl.core.text import safe

if TYPE_CHECKING:
    from rich.console import RenderableType

    from executor.gate.grants import Grant, HostGrant, RootGrant
    from mcl.plugins.rights.grants import AgentGrants
    from mcl.usecases.policy import CheckedPolicy


class SideEffect(StrEnum):
    """The side-effect classes of a plan."""

    read = "read"
    write = "write"
    network = "network"
    shell = "shell"
    chain = "chain"


Classes = Annotated[list[SideEffect], argument("CLASS...", "read, write, network, shell, chain.")]
Agent = Annotated[str, option("--agent DID", "Which agent (default: that of this home).")]
Hosts = Annotated[
    list[str] | None,
    option(
        "--host HOST",
        "With network: example.org, example.org:8443, or http://localhost:8080 without encryption;"
        " may be given several times.",
    ),
]
Regions = Annotated[
    list[str] | None,
    option(
        "--region CODE",
        "With --host: where it is (ISO 3166-1, or EU), for goals that say where; may be given several times.",
    ),
]
Roots = Annotated[
    list[str] | None,
    option(
        "--root DIR",
        "With read: a folder outside the workspace that may be read, with all below it but secrets;"
        " may be given several times.",
    ),
]


class AddsByDefault(Verbs):
    """`mcl grant network` is `mcl grant add network`."""

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]
        if args and args[0] in list(SideEffect):
            args = ["add", *args]
        return super().parse_args(ctx, args)


grants = noun(
    "grant",
    "Grants: what an agent may do at all.",
    "mcl grant list",
    "mcl grant add network --host example.org",
    cls=AddsByDefault,
)


@verb(grants, "add")
def grant_command(
    classes: Classes,
    host: Hosts = None,
    region: Regions = None,
    root: Roots = None,
    max_calls: Annotated[
        int | None, option("--max-calls N", "At most so many calls of each class in 24 hours.", min=1)
    ] = None,
    until: Annotated[
        str, option("--until WHEN", "A date, a moment (ISO 8601), or P7D: a week from now.")
    ] = "",
    agent: Agent = "",
    as_json: AsJson = False,
) -> None:
    """Let an agent do calls of these classes, where the gate allows them.

    A call to a host, or a read of a folder outside the workspace, that was not granted is asked about each
    time. What is held already keeps its terms, unless new ones are given.
    """
    from mcl.plugins.rights.grants import add as grant

    found = grant(
        [one.value for one in classes],
        agent=agent,
        hosts=host or (),
        regions=region or (),
        roots=_folders(root),
        max_calls=max_calls or 0,
        until=until,
        home=use_home(signs=True),
    )
    _say(found, as_json)


@verb(grants, "list")
def grants_command(agent: Agent = "", as_json: AsJson = False) -> None:
    """What an agent may do at all; the gate still judges every single call."""
    from mcl.plugins.rights.grants import list as list_grants

    found, out = list_grants(agent=agent, home=use_home()), Output(as_json)
    granted: list[tuple[str, Grant | HostGrant | RootGrant]] = [
        *((one.side_effect, one) for one in found.classes),
        *((one.host, one) for one in found.hosts),
        *((one.root, one) for one in found.roots),
    ]
    lines = [
        (
            (name, ""),
            ("granted", "") if found.holds(one) else ("taken back" if one.revoked_at else "over", BAD),
            (moment(one.revoked_at or one.since), DIM),
            (moment(one.until) if one.until else "", DIM),
            (_calls(one, found) or _where(one), ""),
        )
        for name, one in granted
    ]
    out.show(found, [listing(("class, host or folder", "", "since", "until", "calls in 24 h"), lines)])


@verb(grants, "remove")
def revoke_command(
    classes: Classes, host: Hosts = None, root: Roots = None, agent: Agent = "", as_json: AsJson = False
) -> None:
    """Take classes back; calls of them are denied from now on.

    With --host or --root only those are taken; network without --host takes all hosts too, and read without
    --root all folders.
    """
    from mcl.plugins.rights.grants import remove as revoke

    names = [one.value for one in classes]
    _say(
        revoke(names, agent=agent, hosts=host or (), roots=_folders(root), home=use_home(signs=True)), as_json
    )


def _folders(names: list[str] | None) -> list[Path]:
    """The folders by their names. An empty one, as of an unset variable, is not the folder one is in."""
    if any(not name for name in names or ()):
        raise typer.BadParameter("an empty name is no folder; this one is called .", param_hint="--root")
    return [Path(name) for name in names or ()]


def _calls(one: "Grant | HostGrant | RootGrant", found: "AgentGrants") -> str:
    most = getattr(one, "max_calls", 0)
    if not most:
        return ""
    used = found.used.get(getattr(one, "side_effect", ""), 0)
    return f"{used} of {most}" if found.holds(one) else f"at most {most}"


def _where(one: "Grant | HostGrant | RootGrant") -> str:
    regions = getattr(one, "regions", ())
    return f"in {', '.join(regions)}" if regions else ""


def _say(found: "AgentGrants", as_json: bool) -> None:
    Output(as_json).document(found)
    if as_json:
        return

    held = [one for one in found.classes if found.holds(one)]
    told = []
    for one in sorted(held, key=lambda one: one.side_effect):
        terms = [f"{one.max_calls} calls in 24 hours"] if one.max_calls else []
        terms += [f"until {moment(one.until)}"] if one.until else []
        told.append(one.side_effect + (f" ({', '.join(terms)})" if terms else ""))
    note(f"the agent may: {', '.join(told) or 'nothing'}")
    if any(one.side_effect == "network" for one in held):
        hosts = ", ".join(one.host.removeprefix("https://") for one in found.hosts if found.holds(one))
        note(f"and reach: {hosts or 'no host unasked (mcl grant add network --host example.org)'}")
    if roots := [one.root for one in found.roots if found.holds(one)]:
        note(f"and read in: {safe(', '.join(roots))}")


# ---- `mcl policy`: what the operator closes.


policy = noun("policy", "What the operator closes: policy.toml.", "mcl policy check")


@verb(policy, "check")
def check(as_json: AsJson = False) -> int:
    """Show what each entry of policy.toml closes, and start nothing.

    Exit codes: 0 each closes something; 6 some name a tool that its server did not list yet; 2 the file
    cannot be followed, and nothing is called until it is mended.
    """
    from mcl.usecases.policy import check as check_policy

    found, out = check_policy(home=use_home()), Output(as_json)
    out.show(found, _view(found))
    if found.problem is not None:
        note_error(found.problem)
    return found.exit


def _view(found: "CheckedPolicy") -> "Iterator[RenderableType]":
    styles = {"closed": GOOD, "unverified": WARN, "unknown": BAD}
    lines = []
    for one in found.entries:
        near = f" (nearest: {', '.join(one.nearest)})" if one.nearest and one.standing == "unverified" else ""
        said = ", ".join(one.tools) or f"{one.message}{near}"
        lines.append(
            ((one.entry, ""), (one.standing, styles[one.standing]), (said, ""), (_line(one.place), DIM))
        )
    if lines:
        yield listing(("deny", "", "", "line"), lines)
    else:
        yield plain("policy.toml denies nothing")


def _line(place: str) -> str:
    line = place.rpartition(":")[2]
    return line if line.isdigit() else ""
