"""The connections of one process to all its servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeAlias, TypedDict

from mcl.mcp.channel import SILENT, Channel
from mcl.mcp.servers import Servers

Kind: TypeAlias = Literal["tools", "resources", "templates", "prompts"]
KINDS: Final[tuple[Kind, ...]] = ("tools", "resources", "templates", "prompts")
State: TypeAlias = Literal["idle", "starting", "up", "backing off", "down"]
Json: TypeAlias = dict[str, Any]
# Is told (server, kind, everything that it lists of that kind) at each connection and at each change; before
# the first call after a connection goes out, it was told the tools. It must not wait for anything.
OnListing: TypeAlias = Callable[[str, Kind, Sequence[Json]], None]


class Result(TypedDict):
    """What a tool answered: blocks of content, the structured answer or None; is_error: it says it failed."""

    content: list[Json]
    structured: Json | None
    is_error: bool


@dataclass(frozen=True, slots=True)
class Status:
    """How a server does. state: idle (not needed yet), starting, up, backing off (starts again by itself) or
    down (starts again with the next call). next_start_s: seconds to then. restarts: since mcl began. problem:
    why it is not up. protocol: the version spoken; name, version: what it calls itself."""

    server: str
    state: State
    problem: str = ""
    code: str = ""
    next_start_s: float = 0.0
    restarts: int = 0
    protocol: str = ""
    name: str = ""
    version: str = ""
    instructions: str = ""
    in_flight: int = 0
    dropped: int = 0


class Upstreams:
    """All servers of a home, each connected to when it is first needed; many callers share a connection.

    A server that is dead, slow or lies harms its own calls and no other's. Every method that names a server
    raises McpError SERVER_UNKNOWN, SERVER_DOWN (at once while it is down), SERVER_SLOW, SERVER_LIED,
    RESULT_TOO_LARGE, UPSTREAM_ERROR (what the server itself said), UPSTREAM_ASKS. Cancelling one cancels the
    call at the server.
    """

    def __init__(
        self,
        servers: Servers,
        *,
        on_listing: OnListing | None = None,
        environment: Mapping[str, str] | None = None,
        jitter: Callable[[], float] | None = None,
    ) -> None:
        """
        Args:
            environment: variables that ``$env:NAME`` in an entry is taken from (default: this process's).
            jitter: gives numbers from 0 to 1 that spread restarts (default: random ones).
        """

    async def __aenter__(self) -> Self:
        raise NotImplementedError

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        raise NotImplementedError

    async def call(
        self,
        server: str,
        tool: str,
        arguments: Mapping[str, object],
        *,
        channel: Channel = SILENT,
        timeout_s: float = 60.0,
    ) -> Result:
        """Call a tool. What it answers is checked against its output schema."""
        raise NotImplementedError

    async def listing(self, server: str, kind: Kind, *, timeout_s: float = 60.0) -> tuple[Json, ...]:
        """All that a server lists of a kind, as it gave it: all pages, from memory where nothing changed."""
        raise NotImplementedError

    async def read_resource(
        self, server: str, uri: str, *, channel: Channel = SILENT, timeout_s: float = 60.0
    ) -> Json:
        """Read a resource: {"contents": […]}, as the server gave it."""
        raise NotImplementedError

    async def get_prompt(
        self,
        server: str,
        name: str,
        arguments: Mapping[str, str],
        *,
        channel: Channel = SILENT,
        timeout_s: float = 60.0,
    ) -> Json:
        """Get a prompt: {"description": …, "messages": […]}, as the server gave it."""
        raise NotImplementedError

    async def complete(
        self,
        server: str,
        reference: Mapping[str, object],
        argument: Mapping[str, str],
        context: Mapping[str, str] | None = None,
        *,
        timeout_s: float = 10.0,
    ) -> Json:
        """Complete an argument. reference: {"type": "ref/prompt", "name": …} or {"type": "ref/resource",
        "uri": …}; argument: {"name": …, "value": …}. Gives {"values": […], "total": …, "hasMore": …}."""
        raise NotImplementedError

    async def start(self, *names: str) -> tuple[Status, ...]:
        """Connect to servers (default: all) at the same time, and wait until each is up or failed. Raises
        SERVER_UNKNOWN only."""
        raise NotImplementedError

    def status(self) -> tuple[Status, ...]:
        """How each server does, in the order of their names. Starts nothing."""
        raise NotImplementedError
