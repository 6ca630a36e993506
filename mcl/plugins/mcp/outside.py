"""Tools of other servers as tools of the executor: known from the home, run over the connections of this
process, and only as long as the server still says of them what was judged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from shlex import quote
from typing import TYPE_CHECKING, Any, Final, cast

from anyio import CancelScope

from executor.core.errors import ToolError
from executor.store.home import Home
from executor.tools.manifest import Manifest
from executor.tools.names import is_outside
from executor.tools.tool import Bench, Tool, unheard
from ir import is_ulid
from mcl.catalog.definitions import Definitions, Observed
from mcl.catalog.manifests import GET, READ, is_pseudo, pseudo_definitions
from mcl.catalog.suspicion import revealed
from mcl.core.text import cut
from mcl.plugins.mcp.upstream.channels import Channels, Overheard
from mcl.serve.exchange import Channel

if TYPE_CHECKING:
    from mcl.plugins.mcp.upstream.answers import Kind
    from mcl.plugins.mcp.upstream.upstreams import Upstreams

# Whoever makes the call limits its time: a plan's node, or its tool's manifest.
_LONGEST_S: Final = 7200.0
_SAID: Final = 1000  # characters of what a tool says went wrong


class OutsideTools:
    """The tools of other servers.

    Args:
        definitions: what is known of them.
        channels: where calls tell of their progress.
        told: is told of each listing that said anything otherwise than was known.

    Without connections (``connect``, ``connect_by``) its tools can be looked at and judged, and not run.
    """

    def __init__(
        self,
        definitions: Definitions,
        *,
        channels: Channels | None = None,
        told: Callable[[str, Observed], None] | None = None,
    ) -> None:
        self.definitions = definitions
        self.channels = channels or Channels()
        self._told = told
        self._upstreams: Upstreams | None = None
        self._opening: Callable[[], Awaitable[Upstreams]] | None = None
        self._pins: dict[str, dict[str, str]] = {}  # by server: what it says of its tools in this connection
        self._kinds: dict[str, dict[str, bool]] = {}  # by server: what it has besides tools
        self._running: dict[tuple[str, str], set[CancelScope]] = {}

    @classmethod
    def of(cls, home: Home) -> OutsideTools:
        """Those that a home knows."""
        return cls(Definitions(home))

    def connect(self, upstreams: Upstreams) -> None:
        """Run them over these connections, which tell ``heard`` what their servers list."""
        self._upstreams = upstreams

    def connect_by(self, opening: Callable[[], Awaitable[Upstreams]]) -> None:
        """The same, with connections that are opened when the first tool is called."""
        self._opening = opening

    def heard(self, server: str, kind: Kind, items: Sequence[Mapping[str, Any]]) -> None:
        """Take note of what a server lists now. Calls that are under way of a tool that changed by it are
        cancelled."""
        if kind == "tools":
            observed = self.definitions.observe(server, items)
            self._live(server, observed.pins, lambda tool: not is_pseudo(tool))
        else:
            kinds = self._kinds.setdefault(server, {})
            kinds[kind] = bool(items)
            about = GET if kind == "prompts" else READ
            if (
                about == READ
                and not any(kinds.values())
                and len(kinds.keys() & {"resources", "templates"}) < 2
            ):
                return  # the other list may have some
            has = [name for name, some in kinds.items() if some]
            observed = self.definitions.observe(
                server, pseudo_definitions(has), about=lambda tool: tool == about
            )
            self._live(server, observed.pins, lambda tool: tool == about)
        if observed and self._told is not None:
            self._told(server, observed)

    def find(self, reference: str) -> Tool | None:
        """The tool at an address (``…@1.0.0`` or ``…@sha256:<pin>``); None where there is none."""
        if not is_outside(reference):
            return None
        place, _, version = reference.partition("@")
        manifest = self.definitions.manifest(f"{place}@1.0.0")
        if manifest is None or version not in ("1.0.0", f"sha256:{manifest.pin}"):
            return None
        return self._tool(manifest)

    def tools(self) -> tuple[Tool, ...]:
        """All there are, in the order of their names."""
        return tuple(
            self._tool(known.manifest) for known in self.definitions.known() if known.standing != "gone"
        )

    def servers(self) -> tuple[str, ...]:
        """The names of all servers that are entered, also of those that never listed a tool."""
        return self.definitions.servers()

    def _tool(self, manifest: Manifest) -> Tool:
        return Tool(manifest, partial(self._call, manifest))

    async def _call(self, manifest: Manifest, args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        """Call a tool. What it says went wrong fails a plan's node; a direct call is given it as it is."""
        outside = manifest.outside
        assert outside is not None
        upstreams = await self._connected(manifest)
        channel = self.channels.of(bench.intent, bench.node_id)
        if bench.output is not unheard:
            channel = Overheard(channel, bench.output)
        await upstreams.listing(outside.server, "tools")  # connected, if it was not
        self._require(manifest)
        with self._watched(outside.server, outside.tool) as scope:
            answer = await perform(
                upstreams, outside.server, outside.tool, args, channel=channel, timeout_s=_LONGEST_S
            )
        if scope.cancelled_caught:
            raise _changed(manifest, "while it was called: what it did until then is not known")
        if answer["is_error"] and is_ulid(bench.intent):
            self.channels.failed(bench.intent, bench.node_id, answer)
            raise ToolError(
                "TOOL_ERROR",
                f"{manifest.name}: {_words(answer)}",
                place=manifest.name,
                fix="this is what the tool itself says; its arguments may be wrong",
            )
        return answer

    async def _connected(self, manifest: Manifest) -> Upstreams:
        if self._upstreams is None and self._opening is not None:
            self._upstreams = await self._opening()
        if self._upstreams is None:
            raise ToolError(
                "NOT_CONNECTED",
                f"{manifest.name} was judged only: nothing here is connected to its server",
                place=manifest.name,
                fix="mcl run connects to the servers that a plan needs",
            )
        return self._upstreams

    def _require(self, manifest: Manifest) -> None:
        """Raise where the server, as it is connected now, does not say of a tool what was judged."""
        outside = manifest.outside
        assert outside is not None
        live = self._pins.get(outside.server, {}).get(outside.tool)
        if live is None and is_pseudo(outside.tool):
            return  # mcl's own words; whether the server can do it, it will say
        if live != manifest.pin:
            raise _changed(manifest, "since it was approved" if live else "and is not there any more")

    def _live(self, server: str, pins: Mapping[str, str], about: Callable[[str], bool]) -> None:
        before = self._pins.get(server, {})
        now = {tool: pin for tool, pin in before.items() if not about(tool)} | dict(pins)
        self._pins[server] = now
        for tool in {tool for tool, pin in before.items() if now.get(tool) != pin}:
            for scope in self._running.get((server, tool), set()):
                scope.cancel()

    @contextmanager
    def _watched(self, server: str, tool: str) -> Iterator[CancelScope]:
        running = self._running.setdefault((server, tool), set())
        with CancelScope() as scope:
            running.add(scope)
            try:
                yield scope
            finally:
                running.discard(scope)
                if not running:
                    self._running.pop((server, tool), None)


def _changed(manifest: Manifest, when: str) -> ToolError:
    return ToolError(
        "TOOL_CHANGED",
        f"what its server says of {manifest.name} changed {when}",
        place=manifest.name,
        fix=f"a person looks at it and approves it: mcl tool approve {quote(manifest.name)}",
    )


def _words(answer: Mapping[str, Any]) -> str:
    """What a tool says went wrong, in one text."""
    texts = [str(one.get("text", "")) for one in answer["content"] if one.get("type") == "text"]
    text = " ".join(" ".join(texts).split()) or "it failed and does not say why"
    return revealed(cut(text, _SAID))


async def perform(
    upstreams: Upstreams,
    server: str,
    tool: str,
    arguments: Mapping[str, object],
    *,
    channel: Channel,
    timeout_s: float,
) -> dict[str, Any]:
    """Do what a tool of a server does, be it one of the two or the server's own.

    Returns: content, structured, is_error as ``Upstreams.call``; of the two ``structured`` is the whole
    result as the protocol has it (contents; description and messages), and there is no content.

    Raises:
        McpError: as ``Upstreams.call``.
    """
    if tool == READ:
        said = await upstreams.read_resource(
            server, str(arguments["uri"]), channel=channel, timeout_s=timeout_s
        )
    elif tool == GET:
        filled = cast("Mapping[str, str]", arguments.get("arguments") or {})
        said = await upstreams.get_prompt(
            server, str(arguments["name"]), filled, channel=channel, timeout_s=timeout_s
        )
    else:
        return {**await upstreams.call(server, tool, arguments, channel=channel, timeout_s=timeout_s)}
    return {"content": [], "structured": dict(said), "is_error": False}
