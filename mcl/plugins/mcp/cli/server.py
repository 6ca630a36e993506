"""`mcl server`: the servers whose tools agents may ask for."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from mcl.cli.arguments import AsJson, argument, folder, noun, option, verb
from mcl.cli.home import use_home
from mcl.cli.output import Output, note
from mcl.cli.views.layout import BAD, DIM, GOOD, WARN, commands, joined, listing, moment, plain, rows
from mcl.core.text import safe

if TYPE_CHECKING:
    from rich.console import RenderableType

    from mcl.catalog.servers import Server
    from mcl.plugins.mcp.servers import Checked

Name = Annotated[str, argument("NAME", "Small letters, digits and dashes.")]
_ADD = "mcl server add time -- uvx mcp-server-time"


servers = noun(
    "server",
    "MCP servers whose tools agents may ask for.",
    "mcl server add time -- uvx mcp-server-time",
    "mcl server check time",
)


@verb(servers, "add")
def add(
    name: Name,
    command: Annotated[
        list[str] | None, argument("[-- COMMAND ARGS...]", "The program and its arguments; no shell.")
    ] = None,
    env: Annotated[
        list[str] | None,
        option(
            "--env NAME[=VALUE]",
            "A variable for its process: NAME=text, 'NAME=$env:OTHER', or NAME to pass on ours of that"
            " name; may be given several times.",
        ),
    ] = None,
    bare: Annotated[bool, option("--bare-environment", "Give it neither PATH nor HOME.")] = False,
    directory: Annotated[
        Path | None, option("--folder DIR", "Where its process runs (default: this folder).", parser=folder)
    ] = None,
    url: Annotated[str, option("--url URL", "In place of a command: where it listens.")] = "",
    header: Annotated[
        list[str] | None,
        option(
            "--header 'NAME: VALUE'",
            "With --url: a header of each request; $env:NAME in it is filled in when it is sent; may be"
            " given several times.",
        ),
    ] = None,
    openapi: Annotated[
        Path | None,
        option(
            "--openapi FILE",
            "In place of a command: an OpenAPI document, whose operations become its tools; --url and"
            " --header then say where the service is, and what each request has.",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Enter a server.

    Its tools are quarantined until you approve them, and what it says of them is not believed until you trust
    it. No secret is written down: name the variable that holds it.
    """
    from mcl.plugins.mcp.servers import add as add_server

    if openapi is not None:
        _add_described(name, openapi, url, header or (), command or env or directory, as_json=as_json)
        return
    server = add_server(
        name,
        command=command or (),
        folder=directory,
        environment=env or (),
        bare=bare,
        url=url,
        headers=header or (),
        home=use_home(signs=True),
    )
    Output(as_json).document(server)
    note(f"entered: {server.name}, {safe(_reached(server))}")
    if server.transport == "stdio":
        given = ", ".join(
            key if value == f"$env:{key}" else f"{key}={value}" for key, value in server.environment.items()
        )
        note(f"its process gets: {safe(given) or 'no variable'}")
    note(f"next: mcl server check {server.name}, then mcl tool approve --server {server.name}")


def _add_described(
    name: str, document: Path, url: str, headers: Sequence[str], more: object, *, as_json: bool
) -> None:
    from mcl.core.errors import McpError
    from mcl.plugins.mcp.servers import add_described

    if more:
        message = "--openapi goes with --url and --header, and with nothing else"
        raise McpError("BAD_SERVER", message, place=name, fix="mcl server add --help")
    server, found = add_described(name, document, url=url, headers=headers, home=use_home(signs=True))
    Output(as_json).document(server)
    note(f"entered: {server.name}, {safe(str(found))}")
    note("what its methods say is believed: GET reads, others are asked about each time; mcl server untrust")
    note(f"next: mcl server check {server.name}, then mcl tool approve --server {server.name}")


@verb(servers, "list")
def list_all(as_json: AsJson = False) -> None:
    """List the servers."""
    from mcl.plugins.mcp.servers import list as list_servers

    found, out = list_servers(home=use_home()), Output(as_json)
    out.document({"servers": found})
    if not found:
        note(f"no servers; {_ADD}")
    lines = [
        (
            (one.name, ""),
            ("trusted", GOOD) if one.trusted else ("not trusted", DIM),
            (moment(one.since), DIM),
            (_reached(one), ""),
        )
        for one in found
    ]
    if found:
        out.view([listing(("server", "", "since", "how it is reached"), lines)])


@verb(servers, "show")
def show(name: Name, as_json: AsJson = False) -> None:
    """Show how a server is started or reached, and the tools that are known of it."""
    from mcl.plugins.mcp.servers import show as show_server

    shown, out = show_server(name, home=use_home()), Output(as_json)
    server = shown.server
    tools = [{"name": one.name, "standing": one.standing, "since": one.since} for one in shown.tools]
    out.document({**server.to_json(), "tools": tools, "needs": shown.needs})
    facts: list[tuple[str, RenderableType]] = [
        ("server", server.name),
        ("reached", _reached(server)),
        *((("folder", server.folder),) if server.folder else ()),
        *(("variable", f"{key}={value}") for key, value in server.environment.items()),
        *(("header", f"{key}: {value}") for key, value in server.headers.items()),
        (
            "hints",
            plain("believed" if server.trusted else "not believed; they may raise what a tool counts as"),
        ),
        ("since", moment(server.since)),
    ]
    parts: list[RenderableType] = [rows(facts)]
    if shown.tools:
        lines = [((one.name, ""), (one.standing, ""), (moment(one.since), "")) for one in shown.tools]
        parts.append(listing(("tool", "", "since"), lines))
    waiting = any(one.standing in ("new", "changed") for one in shown.tools)
    look = (f"mcl server check {name}", "connect to it, and see what it offers")
    parts.append(commands([look, *_next(name, waiting, shown.needs)]))
    out.view(parts)


@verb(servers, "trust")
def trust(name: Name, as_json: AsJson = False) -> None:
    """Believe what a server says of its tools: that one only reads, that one stays on this machine.

    Tools that you approved stay approved; the calls of some need less than before.
    """
    from mcl.plugins.mcp.servers import trust as trust_server

    Output(as_json).document(trust_server(name, home=use_home(signs=True)))
    note(f"trusted: {name}; take it back with mcl server untrust {name}")


@verb(servers, "untrust")
def untrust(name: Name, as_json: AsJson = False) -> None:
    """Believe it no more: its hints may raise what a tool counts as, and never lower it."""
    from mcl.plugins.mcp.servers import untrust as untrust_server

    Output(as_json).document(untrust_server(name, home=use_home(signs=True)))
    note(f"not trusted: {name}")


@verb(servers, "remove")
def remove(name: Name, as_json: AsJson = False) -> None:
    """Take a server out: it is not started any more, and its tools are gone.

    A server that is entered under the same name later is another one: its tools are approved anew.
    """
    from mcl.plugins.mcp.servers import remove as remove_server

    Output(as_json).document(remove_server(name, home=use_home(signs=True)))
    note(f"removed: {name}")


@verb(servers, "check")
def check(
    names: Annotated[list[str] | None, argument("[NAME...]", "Which servers (default: all).")] = None,
    as_json: AsJson = False,
) -> int:
    """Connect to servers, show what they offer and how long it took, and take note of their tools.

    Ends with 5 where one of them does not come up.
    """
    from ir.errors import FAILED
    from mcl.plugins.mcp.servers import check as check_servers
    from mcl.usecases.policy import unverified_note

    home, out = use_home(signs=True), Output(as_json)
    checked = check_servers(*(names or ()), home=home)
    out.document({"servers": checked})
    if not checked:
        note(f"no servers; {_ADD}")
    for one in checked:
        out.view(_view(one))
    if said := unverified_note(home=home):
        note(said)
    return 0 if all(one.up for one in checked) else FAILED


def _reached(server: "Server") -> str:
    from shlex import join

    return server.url or join(server.command)


def _view(one: "Checked") -> "list[RenderableType]":
    from mcl.cli.views.definition import findings_view

    status, name = one.status, one.server.name
    if not one.up:
        facts: list[tuple[str, RenderableType]] = [
            ("code", status.code),
            ("why", status.problem),
        ]
        return [joined([(name, ""), ("not up", BAD)]), rows(facts)]
    calls_itself = f"{status.name} {status.version}".strip() or "nothing"
    counted = ((count, kind if count > 1 else kind.removesuffix("s")) for kind, count in one.offers.items())
    offers = ", ".join(f"{count} {kind}" for count, kind in counted if count) or "nothing"
    facts = [
        ("calls itself", calls_itself),
        ("protocol", status.protocol),
        ("offers", offers),
        *((kind, plain(why, WARN)) for kind, why in one.flaws.items()),
        *(("new", tool) for tool in one.new),
        *(("changed", plain(tool, WARN)) for tool in one.changed),
        *(("as approved", f"{tool}, again") for tool in one.back),
        *(("waits", plain(tool, WARN)) for tool in one.waiting if tool not in (*one.new, *one.changed)),
        *(("gone", tool) for tool in one.gone),
        *(("unusable", plain(why, BAD)) for why in one.bad),
    ]
    parts: list[RenderableType] = [joined([(name, ""), (f"up in {one.seconds:.2f} s", GOOD)]), rows(facts)]
    parts += findings_view(one.suspicions)
    if then := _next(name, bool(one.waiting), one.needs):
        parts.append(commands(then))
    return parts


def _next(name: str, waiting: bool, needs: Sequence[str]) -> list[tuple[str, str]]:
    approve = (f"mcl tool approve --server {name}", "read its tools, and approve them")
    grant = (f"mcl grant add {' '.join(needs)}", "what its tools may do, and the agent may not yet")
    return [*([approve] * waiting), *([grant] * bool(needs))]
