"""The servers that a person lets in: how each is started or reached, and whether its hints are believed.

An entry says everything that a server's process gets: its command, its folder, its environment. Each change
is a record in the journal. No secret is written down: ``$env:NAME`` takes it from the environment of mcl when
the server is started.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from executor.core.errors import ScopeError
from executor.sandbox.origin import parse_url
from executor.store.home import Home
from executor.store.journal.standing import COMPONENT as STATED
from executor.tools.names import OURSELVES, is_server
from ir import canonical_bytes, find_secret, parse_json
from mcl.core.errors import McpError

Transport = Literal["stdio", "http"]

REFERENCE: Final = re.compile(r"\$env:([A-Za-z_][A-Za-z0-9_]{0,127})", re.ASCII)
MOST_SERVERS: Final = 256
MOST_PARTS: Final = 256  # arguments, variables, headers
MOST_TEXT: Final = 8192  # characters of each
# What most programs need to find others and their own settings; everything else is named by the person.
USUAL: Final = ("PATH", "HOME")

_TABLES: Final = (
    # command, environment and headers are JSON.
    """CREATE TABLE servers (
         id TEXT PRIMARY KEY, name TEXT NOT NULL, transport TEXT NOT NULL, command TEXT NOT NULL,
         folder TEXT NOT NULL, environment TEXT NOT NULL, url TEXT NOT NULL, headers TEXT NOT NULL,
         trusted INTEGER NOT NULL DEFAULT 0, since TEXT NOT NULL, removed_at TEXT NOT NULL DEFAULT ''
       ) STRICT;
       CREATE UNIQUE INDEX servers_by_name ON servers (name) WHERE removed_at = ''""",
    "".join(f"DROP TRIGGER IF EXISTS mcp_servers_{verb};" for verb in ("INSERT", "UPDATE", "DELETE")),
)
_COLUMNS: Final = "id, name, transport, command, folder, environment, url, headers, trusted, since"
VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,127}", re.ASCII)
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}", re.ASCII)
# What the protocol or HTTP itself says in a request.
_TAKEN_HEADERS: Final = frozenset(
    {
        *("accept", "connection", "content-length", "content-type", "host", "last-event-id", "mcp-method"),
        *("mcp-name", "mcp-protocol-version", "mcp-session-id", "te", "trailer", "transfer-encoding"),
        "upgrade",
    }
)
# A server that is reached over HTTP has no process; these say by which way it is reached.
_WAYS: Final = frozenset({"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "SSL_CERT_FILE"})
# --api-key=…, GITHUB_TOKEN=…; --api-key with its value after it
_OPTION: Final = re.compile(r"-{0,2}([A-Za-z][A-Za-z0-9_-]{0,63})=(.*)", re.ASCII | re.DOTALL)
_OPTION_BEFORE: Final = re.compile(r"--?([A-Za-z][A-Za-z0-9_-]{0,63})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Server:
    """One server.

    command: program and arguments (stdio). folder: where its process runs. environment: all the variables it
    gets; in a value, ``$env:NAME`` stands for a variable of mcl's own. url, headers (http): the same.
    trusted: its hints may lower what a tool counts as. since: ISO 8601 UTC.
    """

    id: str
    name: str
    transport: Transport
    command: tuple[str, ...] = ()
    folder: str = ""
    environment: Mapping[str, str] = field(default_factory=dict)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    trusted: bool = False
    since: str = ""

    def to_json(self) -> dict[str, object]:
        """The entry as a JSON object; no value in it is a secret."""
        entry: dict[str, object] = {"name": self.name, "transport": self.transport, "trusted": self.trusted}
        if self.transport == "stdio":
            entry |= {"command": list(self.command), "folder": self.folder}
        else:
            entry |= {"url": self.url, "headers": dict(self.headers)}
        return {**entry, "environment": dict(self.environment), "since": self.since}


class Servers:
    """The servers that a home knows."""

    def __init__(self, home: Home) -> None:
        home.db.migrate("servers", _TABLES)
        self.home = home

    def add(
        self,
        name: str,
        *,
        command: Sequence[str] = (),
        folder: Path | None = None,
        environment: Mapping[str, str] | None = None,
        url: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> Server:
        """Enter a server; its tools are quarantined, and its hints are not believed.

        Args:
            command: program and arguments of a server that talks over its input and output; or
            url: where it listens. folder: where the process runs (default: this one).

        Raises:
            McpError: BAD_SERVER_NAME, SERVER_TAKEN, BAD_SERVER, SECRET_IN_SERVER, TOO_MANY_SERVERS.
        """
        check_server(name)
        environment, headers = dict(environment or {}), dict(headers or {})
        if bool(command) == bool(url):
            raise _bad("a server has a command or an address, not both and not none", name)
        _check_variables(environment, name, over_http=bool(url))
        if url:
            url = check_address(url, name)
            _check_headers(headers, name)
        else:
            _check_command(command, name)
            if headers:
                raise _bad("headers go with an address (--url)", name)
        place = str((folder or Path.cwd()).absolute()) if command else ""
        if command and not Path(place).is_dir():
            raise _bad(f"there is no folder {place}", name, fix="name a folder that is there")
        if len(self.list()) >= MOST_SERVERS:
            raise McpError(
                "TOO_MANY_SERVERS", f"{MOST_SERVERS} servers are the most", fix="mcl server remove NAME"
            )
        clock = self.home.clock
        server = Server(
            id=clock.new_id(),
            name=name,
            transport="http" if url else "stdio",
            command=tuple(command),
            folder=place,
            environment=environment,
            url=url,
            headers=headers,
            since=clock.now(),
        )
        try:
            with self.home.journal.tables.changing() as connection:
                connection.execute(
                    f"INSERT INTO servers ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",  # noqa: S608
                    _row(server),
                )
                self._record("added", server)
        except sqlite3.IntegrityError as problem:
            raise McpError(
                "SERVER_TAKEN",
                f"there is a server {name}",
                place=name,
                fix=f"mcl server remove {name}, or another name",
            ) from problem
        return server

    def list(self) -> tuple[Server, ...]:
        """All of them, in the order of their names."""
        sql = f"SELECT {_COLUMNS} FROM servers WHERE removed_at = '' ORDER BY name"  # noqa: S608  # fixed names
        rows = self.home.journal.tables.read(sql)
        return tuple(_server(row) for row in rows)

    def find(self, name: str) -> Server | None:
        """The server of this name, None where there is none."""
        rows = self.home.journal.tables.read(
            f"SELECT {_COLUMNS} FROM servers WHERE name = ? AND removed_at = ''",  # noqa: S608
            (name,),
        )
        return _server(rows[0]) if rows else None

    def require(self, name: str) -> Server:
        """The same.

        Raises:
            McpError: SERVER_UNKNOWN.
        """
        found = self.find(name)
        if found is None:
            raise unknown(name, [one.name for one in self.list()])
        return found

    def trust(self, name: str) -> Server:
        """Believe a server's hints from now on: they may lower what its tools count as.

        Raises:
            McpError: SERVER_UNKNOWN.
        """
        return self._set(name, trusted=True)

    def untrust(self, name: str) -> Server:
        """Believe them no more. Raises as ``trust``."""
        return self._set(name, trusted=False)

    def remove(self, name: str) -> Server:
        """Take a server out: it is not started any more, and its tools are gone. Raises as ``trust``."""
        found = self.require(name)
        with self.home.journal.tables.changing() as connection:
            connection.execute(
                "UPDATE servers SET removed_at = ? WHERE id = ?", (self.home.clock.now(), found.id)
            )
            self._record("removed", found)
        return found

    def stamp(self) -> tuple[int, int]:
        """Two equal marks, and no entry changed in between."""
        return self.home.db.stamp(STATED)

    def _set(self, name: str, *, trusted: bool) -> Server:
        found = self.require(name)
        if found.trusted is trusted:
            return found
        with self.home.journal.tables.changing() as connection:
            connection.execute("UPDATE servers SET trusted = ? WHERE id = ?", (int(trusted), found.id))
            self._record("trusted" if trusted else "untrusted", found)
        return self.require(name)

    def _record(self, what: str, server: Server) -> None:
        told: dict[str, Any] = {"name": server.name, "by": self.home.keyring.user.did}
        if what == "added":
            told |= {
                name: value for name, value in server.to_json().items() if name not in ("trusted", "since")
            }
        self.home.journal.record(f"record.server.{what}", told)


def check_server(text: str) -> str:
    """The name of a server that may be added.

    Raises:
        McpError: BAD_SERVER_NAME.
    """
    if not is_server(text) or text == OURSELVES:
        why = "is mcl itself" if text == OURSELVES else "is no server's name"
        raise McpError(
            "BAD_SERVER_NAME",
            f"{text[:80]!a} {why}",
            place="name",
            fix="1 to 32 of a-z, 0-9 and -, beginning with a letter; not mcl",
            example="github",
        )
    return text


def unknown(name: str, known: Sequence[str]) -> McpError:
    """Nobody entered a server of this name."""
    return McpError(
        "SERVER_UNKNOWN",
        f"{name[:80]!a} is no server that is known here (known: {', '.join(known) or 'none'})",
        place=name[:80],
        fix="mcl server list, or retrieve_tools, shows what there is; a person adds one: mcl server add NAME",
    )


def _row(server: Server) -> tuple[object, ...]:
    command, environment, headers = (
        canonical_bytes(value).decode()
        for value in (list(server.command), dict(server.environment), dict(server.headers))
    )
    return (
        *(server.id, server.name, server.transport, command, server.folder, environment),
        *(server.url, headers, int(server.trusted), server.since),
    )


def _server(row: tuple[Any, ...]) -> Server:
    id, name, transport, command, folder, environment, url, headers, trusted, since = row
    said: list[Any] = [parse_json(text.encode()) for text in (command, environment, headers)]
    return Server(
        id=id,
        name=name,
        transport=transport,
        command=tuple(said[0]),
        folder=folder,
        environment=said[1],
        url=url,
        headers=said[2],
        trusted=bool(trusted),
        since=since,
    )


def _check_command(command: Sequence[str], name: str) -> None:
    if len(command) > MOST_PARTS:
        raise _bad(f"a command has {MOST_PARTS} arguments at most", name)
    if not command[0].strip():
        raise _bad("the command names no program", name)
    for place, part in enumerate(command):
        _check_text(part, f"argument {place}", name)
        kind = find_secret("", part)
        if option := _OPTION.fullmatch(part):
            kind = kind or _secret_kind(option[1], option[2])
        elif (option := _OPTION_BEFORE.fullmatch(part)) and place + 1 < len(command):
            after = command[place + 1]
            kind = kind or _secret_kind(option[1], "" if after.startswith("-") else after)
        if kind:
            raise _secret(kind, f"argument {place}", name)


def _secret_kind(name: str, value: str) -> str | None:
    """What kind of secret a value under a name seems to hold. Every end of the name counts: GITHUB_TOKEN."""
    rest = REFERENCE.sub("", value)
    if rest != value:
        return find_secret("", rest)
    words = re.split(r"[_-]", name)
    ends = ("_".join(words[begin:]) for begin in range(len(words)))
    return next((kind for end in ends if (kind := find_secret(end, value))), None)


def _check_variables(environment: Mapping[str, str], name: str, *, over_http: bool) -> None:
    if len(environment) > MOST_PARTS:
        raise _bad(f"{MOST_PARTS} variables are the most", name)
    for variable, value in environment.items():
        if not VARIABLE.fullmatch(variable):
            raise _bad(f"{variable[:80]!a} is no name of a variable", name, fix="such as API_URL")
        if over_http and variable not in _WAYS:
            raise _bad(
                f"a server with an address has no process, so {variable} would reach nothing",
                name,
                fix=f"with --url only {', '.join(sorted(_WAYS))} mean something; secrets go into --header",
            )
        _check_value(variable, value, f"variable {variable}", name)


def _check_headers(headers: Mapping[str, str], name: str) -> None:
    if len(headers) > MOST_PARTS:
        raise _bad(f"{MOST_PARTS} headers are the most", name)
    for header, value in headers.items():
        check_header(header, value, name)


def check_header(header: str, value: str, name: str) -> None:
    """Raise McpError BAD_SERVER, SECRET_IN_SERVER for a header that no request of a server may have."""
    if not _HEADER.fullmatch(header):
        raise _bad(f"{header[:80]!a} is no name of a header", name, fix="such as Authorization")
    if header.lower() in _TAKEN_HEADERS:
        raise _bad(f"the header {header} is the protocol's own", name, fix="leave it out")
    _check_value(header, value, f"header {header}", name)


def _check_value(key: str, value: str, what: str, name: str) -> None:
    _check_text(value, what, name)
    if value.count("$env:") != len(REFERENCE.findall(value)):
        raise _bad(f"{what}: {value[:80]!a} names no variable", name, fix="such as $env:GITHUB_TOKEN")
    if kind := _secret_kind(key, value):
        raise _secret(kind, what, name)


def _check_text(text: str, what: str, name: str) -> None:
    if len(text) > MOST_TEXT:
        raise _bad(f"{what} is longer than {MOST_TEXT} characters", name)
    if not text.isprintable() and text:
        raise _bad(f"{what} holds a control character", name, fix="leave it out")


def check_address(url: str, name: str) -> str:
    """The address of a service as it is written down. Raises McpError BAD_SERVER, SECRET_IN_SERVER."""
    try:
        found = parse_url(url)
    except ScopeError as problem:
        raise _bad(problem.message, name, fix="such as https://mcp.example.org/mcp") from None
    address = found.origin.address
    loopback = found.origin.host == "localhost" or (address is not None and address.is_loopback)
    if found.origin.scheme == "http" and not loopback:
        raise _bad(
            f"{found.origin} would be spoken to without encryption",
            name,
            fix="https, or http on this machine (http://127.0.0.1:8000/mcp)",
        )
    if kind := find_secret("", str(found)):
        raise _secret(kind, "the address", name)
    return str(found)


def _bad(message: str, name: str, *, fix: str = "mcl server add --help") -> McpError:
    return McpError(
        "BAD_SERVER", message, place=name, fix=fix, example="mcl server add time -- uvx mcp-server-time"
    )


def _secret(kind: str, what: str, name: str) -> McpError:
    header = what.startswith(("header", "the address"))
    option = "--header 'Authorization: Bearer $env:TOKEN'" if header else "--env 'TOKEN=$env:TOKEN'"
    reached = "--url https://mcp.example.org/mcp" if header else "-- github-mcp-server stdio"
    return McpError(
        "SECRET_IN_SERVER",
        f"{what} looks like {kind}; nothing was written down",
        place=name,
        fix=f"export it as a variable, and name that: {option}",
        example=f"mcl server add {name} {option} {reached}",
    )
