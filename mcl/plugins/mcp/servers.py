"""`mcl server`: the servers whose tools agents may ask for, entered, believed and tried by a person."""

from __future__ import annotations

import re
from collections.abc import MutableSequence, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from executor.gate.grants import Grants
from executor.store.home import Home
from ir.results import as_json
from mcl.catalog.servers import USUAL, VARIABLE, Server, Servers
from mcl.core.errors import McpError
from mcl.core.event_loop import at_once
from mcl.core.home import open_home

if TYPE_CHECKING:
    from mcl.catalog.definitions import Definitions, DescribedTool
    from mcl.catalog.suspicion import Suspicion
    from mcl.plugins.mcp.upstream.upstream import Status
    from mcl.plugins.mcp.upstream.upstreams import Upstreams


@dataclass(frozen=True)
class ShownServer:
    """A server with the tools that are known of it, also those that are gone. needs: side-effect classes of
    these tools that the agent was not granted; calls of them are denied until it is."""

    server: Server
    tools: tuple[DescribedTool, ...]
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Checked:
    """What came of connecting to a server.

    seconds: until its tools were known, 0 where it did not come up. offers: how many of each kind it lists,
    by kind; flaws: the kinds that it could not list, with the reason. new, changed, gone: names of tools that
    differ from what was known before; back: that changed and are what was approved again; waiting: that wait
    for a person, since whenever; bad: definitions that cannot be used, with the reason. needs: as above.
    suspicions: what is suspicious in its name and in its instructions, which nobody is given.
    """

    server: Server
    status: Status
    seconds: float
    offers: dict[str, int]
    flaws: dict[str, str]
    new: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()

    @property
    def up(self) -> bool:
        return self.status.state == "up"

    def to_json(self) -> dict[str, object]:
        """What came of it as a JSON object: of a server that did not come up only why."""
        status = self.status
        entry: dict[str, object] = {"server": self.server.name, "up": self.up, "seconds": self.seconds}
        if not self.up:
            return {**entry, "code": status.code, "problem": status.problem}
        says = {"name": status.name, "version": status.version, "protocol": status.protocol}
        tools = {name: getattr(self, name) for name in ("new", "changed", "gone", "bad", "back", "waiting")}
        told = {"says": says, "offers": self.offers, "flaws": self.flaws, "tools": tools}
        more = {"needs": self.needs, "suspicions": self.suspicions}
        return {**entry, **as_json({**told, **more})}


def add(
    name: str,
    *,
    command: Sequence[str] = (),
    folder: Path | None = None,
    environment: Sequence[str] = (),
    bare: bool = False,
    url: str = "",
    headers: Sequence[str] = (),
    home: Home | None = None,
) -> Server:
    """Enter a server. Its tools are quarantined until a person approves them.

    Args:
        command: program and arguments; or url. environment: ``NAME=value``, ``NAME=$env:OTHER``, or ``NAME``
            for ``NAME=$env:NAME``. bare: without PATH and HOME, which a command gets otherwise. headers:
            ``Name: value``.

    Raises:
        McpError: BAD_SERVER and the other codes of ``Servers.add``.
    """
    variables = {one: f"$env:{one}" for one in USUAL} if command and not bare else {}
    variables |= dict(_variable(one, name) for one in environment)
    return Servers(home or open_home()).add(
        name,
        command=command,
        folder=folder,
        environment=variables,
        url=url,
        headers=dict(_header(one, name) for one in headers),
    )


def add_described(
    name: str, document: Path, *, url: str = "", headers: Sequence[str] = (), home: Home | None = None
) -> tuple[Server, object]:
    """Enter a service by the document that describes it, whose operations are its tools; and what was
    read.

    Arguments as of ``add``; url: in place of the address that the document names. Raises what the plug-in
    that reads such documents raises; McpError as ``add``.
    """
    from mcl.plugins.hooks import plugins

    plugin = next(one for one in plugins() if one.services)
    entered: tuple[Server, object] = plugin.load_named(plugin.services)(
        name, document, url=url, headers=[_header(one, name) for one in headers], home=home or open_home()
    )
    return entered


def list(home: Home | None = None) -> tuple[Server, ...]:
    """All servers that are entered, by name."""
    return Servers(home or open_home()).list()


def show(name: str, home: Home | None = None) -> ShownServer:
    """A server and its tools. Raises McpError SERVER_UNKNOWN."""
    from mcl.catalog.definitions import Definitions

    home = home or open_home()
    server = Servers(home).require(name)
    tools = tuple(one for one in Definitions(home).known() if one.server == name)
    return ShownServer(server, tools, _needs(home, tools))


def trust(name: str, home: Home | None = None) -> Server:
    """Believe what a server says of its tools. Raises McpError SERVER_UNKNOWN."""
    return Servers(home or open_home()).trust(name)


def untrust(name: str, home: Home | None = None) -> Server:
    """Believe it no more. Raises McpError SERVER_UNKNOWN."""
    return Servers(home or open_home()).untrust(name)


def remove(name: str, home: Home | None = None) -> Server:
    """Take a server out. Raises McpError SERVER_UNKNOWN."""
    return Servers(home or open_home()).remove(name)


def check(*names: str, home: Home | None = None) -> tuple[Checked, ...]:
    """Connect to servers (default: all), look at what they offer, and take note of their tools.

    All are started at the same time; one that does not come up is told, and harms no other.

    Raises:
        McpError: SERVER_UNKNOWN. InputError: EXTRA_MISSING.
    """
    home = home or open_home()
    wanted = names or tuple(one.name for one in Servers(home).list())
    return at_once(partial(_check_all, home, wanted))


async def _check_all(home: Home, names: Sequence[str]) -> tuple[Checked, ...]:
    import anyio

    from mcl.catalog.definitions import Definitions, Observed
    from mcl.catalog.suspicion import examine_server
    from mcl.plugins.mcp.outside import OutsideTools
    from mcl.plugins.mcp.upstream.upstreams import Upstreams

    servers = Servers(home)
    entries = {name: servers.require(name) for name in dict.fromkeys(names)}
    said: dict[str, MutableSequence[Observed]] = {name: [] for name in entries}
    outside = OutsideTools(Definitions(home), told=lambda server, observed: said[server].append(observed))
    found: dict[str, Checked] = {}

    async def check(server: Server) -> None:
        begun = anyio.current_time()
        (status,) = await upstreams.start(server.name)
        seconds = round(anyio.current_time() - begun, 3) if status.state == "up" else 0.0
        offers, flaws, bad = await _offers(upstreams, server.name, outside.definitions)
        observed = said[server.name]
        stands = {one.name: one.standing for one in outside.definitions.known() if one.server == server.name}
        changed = [name for one in observed for name in one.changed]
        found[server.name] = Checked(
            *(server, status, seconds, offers, flaws),
            new=tuple(name for one in observed for name in one.new),
            changed=tuple(name for name in changed if stands.get(name) != "approved"),
            back=tuple(name for name in changed if stands.get(name) == "approved"),
            waiting=tuple(name for name, one in stands.items() if one in ("new", "changed")),
            gone=tuple(name for one in observed for name in one.gone),
            bad=bad,
            needs=_needs(home, [one for one in outside.definitions.known() if one.server == server.name]),
            suspicions=examine_server(server.name, status.instructions, outside.definitions.neighbours()),
        )

    async with (
        Upstreams(servers, on_listing=outside.heard) as upstreams,
        anyio.create_task_group() as tasks,
    ):
        for server in entries.values():
            tasks.start_soon(check, server)
    return tuple(found[name] for name in entries)


async def _offers(
    upstreams: Upstreams, server: str, definitions: Definitions
) -> tuple[dict[str, int], dict[str, str], tuple[str, ...]]:
    """How many of each kind, which kinds it could not list, and which tools cannot be used, with reasons."""
    from mcl.plugins.mcp.upstream.answers import KINDS

    offers, flaws, bad = dict[str, int](), dict[str, str](), tuple[str, ...]()
    for kind in KINDS:
        try:
            items = await upstreams.listing(server, kind, timeout_s=30)
        except McpError as problem:
            if problem.code == "SERVER_DOWN":
                break
            flaws[kind] = problem.message
            continue
        offers[kind] = len(items)
        if kind == "tools":
            bad = tuple(f"{one.place}: {one.message}" for one in definitions.observe(server, items).bad)
    return offers, flaws, bad


def _needs(home: Home, tools: Sequence[DescribedTool]) -> tuple[str, ...]:
    agent = home.keyring.agent.did
    grants = Grants(home)
    wanted = {effect for one in tools if one.standing != "gone" for effect in one.manifest.effects}
    return tuple(sorted(wanted - grants.classes(agent)))


def _variable(text: str, server: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals and VARIABLE.fullmatch(text):
        return text, f"$env:{text}"
    if not equals:
        raise McpError(
            "BAD_SERVER",
            f"{text[:80]!a} is no variable",
            place=server,
            fix="--env NAME=value, --env 'NAME=$env:OTHER', or --env NAME to pass on the one of that name",
        )
    if re.fullmatch(r":[A-Za-z_][A-Za-z0-9_]*", value):
        raise McpError(
            "BAD_SERVER",
            f"{text[:80]!a}: your shell took the $env away",
            place=server,
            fix=f"put it into single quotes: --env '{name}=$env{value}', or write --env {value[1:]}",
        )
    return name, value


def _header(text: str, server: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon:
        raise McpError(
            "BAD_SERVER",
            "a header is written as Name: value",
            place=server,
            fix="--header 'Authorization: Bearer $env:API_TOKEN', in single quotes",
        )
    return name.strip(), value.strip()
