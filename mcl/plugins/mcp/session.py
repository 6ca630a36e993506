"""What all clients of one server process share: the home, the tools as they are now, and the gate."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from executor.gate.approvals import Approvals
from executor.gate.context import Context
from executor.gate.grants import Grants, workspace_of
from executor.gate.locks import Locks, SharedLocks
from executor.gate.pins import Pins
from executor.gate.policy import PolicyFile
from executor.sandbox.reach import allowed_roots
from executor.sandbox.redaction import Redactor, known_variables
from executor.store.home import Home
from executor.store.keys.keyring import is_personal
from executor.tools.manifest import Manifest
from executor.tools.names import SCHEME, outside_uri, short_name
from executor.tools.registry import Registry
from executor.tools.tool import Credentials
from mcl.plugins.mcp.call_texts import ToolName
from mcl.serve.folders import Judged, folders_of, judged_as

if TYPE_CHECKING:
    from executor.call import Call
    from mcl.catalog.definitions import Definitions
    from mcl.plugins.mcp.records import Activity
    from mcl.plugins.mcp.upstream.channels import Channels
    from mcl.plugins.mcp.upstream.upstreams import Upstreams
    from mcl.serve.exchange import Caller

_WHO: Final = "a call over MCP"  # that holds a place which another run wants to write to


@dataclass(frozen=True, slots=True)
class Now:
    """What there is at one moment. stamp: differs from that of any other moment at which there was something
    else. own: addresses of our own tools by their names."""

    stamp: object
    registry: Registry
    context: Context
    own: Mapping[str, str]


class Session:
    """One server process at work in one workspace; its clients come and go. Close it when done.

    Args:
        workspace: the folder that our own tools work in.
        upstreams, definitions, activity: open, of the same home, and not closed here.
        channels: those that the adapters of other servers' tools look at.
        tools: makes the registry of all tools there are now; stamp: differs whenever it would make another.
        environment: variables that credentials come from, and whose secret values are taken out of answers
            (default: this process's).
        agent: what every agent that calls is called; "": what its client calls itself.

    Raises:
        ScopeError: the workspace cannot be used. WorkError: BAD_AGENT_NAME. A policy that cannot be followed
        does not keep it from opening: each call is refused by it, and says so (PolicyError BAD_POLICY).
    """

    def __init__(
        self,
        home: Home,
        workspace: Path,
        *,
        upstreams: Upstreams,
        definitions: Definitions,
        activity: Activity,
        channels: Channels,
        tools: Callable[[], Registry],
        stamp: Callable[[], object],
        environment: Mapping[str, str] | None = None,
        agent: str = "",
    ) -> None:
        self.home = home
        self.workspace = workspace_of(home, workspace)
        self.upstreams = upstreams
        self.definitions = definitions
        self.activity = activity
        shown = known_variables() if environment is None else environment
        variables = os.environ if environment is None else environment
        self.redactor, self.credentials = Redactor(shown), Credentials(variables)
        self.pins, self.grants = Pins(home), Grants(home)
        self._approvals = Approvals(home)
        self._locks = Locks(SharedLocks(home.path / "locks", self.workspace.root, _WHO))
        self.channels = channels
        self.folders = folders_of(home, self.workspace, agent)
        self._build, self._stamp = tools, stamp
        self._now: Now | None = None

    @property
    def agent(self) -> str:
        """The did in whose name calls are made."""
        return self.home.keyring.agent.did

    @property
    def stamp(self) -> object:
        """A mark of what tools there are and what they may do; two equal marks: nothing changed between."""
        return self._stamp()

    @property
    def registry(self) -> Registry:
        """All tools there are at this moment. Raises what reading them raises."""
        return self.now.registry

    @property
    def context(self) -> Context:
        """What the gate judges declared calls by, at this moment: calls that no plan holds.

        It keeps no records of its own: what became of every such call is kept by `activity`.
        """
        return self.now.context

    @property
    def now(self) -> Now:
        """Both, as they belong together. Raises what reading the tools raises."""
        if self._now is None or self._stamp() != self._now.stamp:
            self._now = self._read()
        return self._now

    def judged(self, call: Call, caller: Caller) -> Judged:
        """A declared call with what it is judged by. Raises what reading the tools raises, HomeError."""
        now = self.now
        return judged_as(self.folders, self.home, call, now.context, now.stamp, caller)

    def address(self, name: ToolName) -> str:
        """The address of a tool by its name; of one that is not there, one that leads nowhere."""
        if not name.own:
            return outside_uri(name.server, name.tool)
        return self.now.own.get(name.tool, f"{SCHEME}{name.tool}")

    def close(self) -> None:
        """Give the workspace back."""
        self.folders.close()
        self.workspace.close()

    def _read(self) -> Now:
        stamp = self._stamp()  # first: what changes while the tools are read is seen the next time
        registry, home = self._build(), self.home
        self.pins.meet(registry.own)
        context = Context(
            agent=self.agent,
            tools=registry,
            workspace=self.workspace,
            policy=PolicyFile(home, registry),
            pins=self.pins,
            grants=self.grants,
            approvals=self._approvals,
            clock=home.clock,
            record=_elsewhere,
            locks=self._locks,
            credentials=self.credentials,
            personal=lambda did: is_personal(home.keyring, did),
            moment=home.db.moment,
            allowed=allowed_roots(home.allowed, home.path),
        )
        return Now(stamp, registry, context, _by_name(registry.own))


def _elsewhere(kind: str, body: dict[str, object]) -> None:
    """Of a declared call the verdict stands in its record of activity, and a question in that of its gate."""


def _by_name(manifests: Iterable[Manifest]) -> dict[str, str]:
    """Our own tools by the names that agents may give: ``fs/read@1.0.0``, and ``fs/read`` for the highest."""
    own = sorted(manifests, key=_version)
    known = {short_name(one.uri): one.uri for one in own}
    return known | {one.uri.removeprefix(SCHEME): one.uri for one in own}


def _version(manifest: Manifest) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", manifest.uri.partition("@")[2])[:3])
