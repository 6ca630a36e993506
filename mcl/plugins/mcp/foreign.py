"""The tools of other servers that a home knows: nothing of them is loaded before one is asked for, and no
server is started before one is called."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from executor.store.home import Home
from executor.tools.names import is_outside
from executor.tools.tool import Tool
from ir import MclError

if TYPE_CHECKING:
    from mcl.catalog.definitions import DescribedTool
    from mcl.plugins.mcp.outside import OutsideTools
    from mcl.plugins.mcp.upstream.upstreams import Upstreams


class Foreign:
    """They as an annex of a registry.

    opening: gives the connections that they are called over; None: they are not called.
    """

    def __init__(self, home: Home, opening: Callable[[], Awaitable[Upstreams]] | None = None) -> None:
        self._home, self._opening = home, opening

    @cached_property
    def outside(self) -> OutsideTools:
        """What makes them."""
        from mcl.plugins.mcp.outside import OutsideTools

        made = OutsideTools.of(self._home)
        if self._opening is not None:
            made.connect_by(self._opening)
        return made

    def find(self, reference: str) -> Tool | None:
        """The tool at a pinned address; None where there is none."""
        return self.outside.find(reference) if is_outside(reference) and self._some else None

    def tools(self) -> Iterable[Tool]:
        """All of them."""
        return self.outside.tools() if self._some else ()

    def servers(self) -> tuple[str, ...]:
        """The names of all servers that are entered."""
        if not self._has("servers"):
            return ()
        return self.outside.servers()

    def known(self) -> tuple[DescribedTool, ...]:
        """What is known of each, those that are gone too."""
        return self.outside.definitions.known() if self._some else ()

    @property
    def _some(self) -> bool:
        """Did any server ever list a tool here?"""
        return self._has("mcp_tools")

    def _has(self, table: str) -> bool:
        known = self._home.db.read("SELECT count(*) FROM sqlite_schema WHERE name = ?", (table,))
        return bool(known[0][0])

    @classmethod
    @asynccontextmanager
    async def connected(cls, home: Home) -> AsyncIterator[Foreign]:
        """The same to be called: connected to servers from the first call of one of them to the end."""
        late, failure = _Late(home), None
        foreign = cls(home, late.open)
        from anyio import create_task_group  # a compile reads which tools there are, and waits for none

        async with create_task_group() as tasks:
            tasks.start_soon(late.hold, foreign)
            try:
                yield foreign
            except BaseException as problem:  # noqa: BLE001  # raised below, and not in a group
                failure = problem
            tasks.cancel_scope.cancel()
        if failure is not None:
            raise failure


class _Late:
    """Connections that are opened, and closed, in a task of their own: whoever wants them may be any task."""

    def __init__(self, home: Home) -> None:
        self._home = home
        from anyio import Event

        self._wanted, self._ready = Event(), Event()
        self._found: Upstreams | MclError | None = None

    async def hold(self, foreign: Foreign) -> None:
        """Wait until they are wanted, open them, and keep them open until cancelled. What their servers list
        is told to foreign."""
        await self._wanted.wait()
        try:
            from mcl.catalog.servers import Servers
            from mcl.plugins.mcp.upstream.upstreams import Upstreams

            async with Upstreams(Servers(self._home), on_listing=foreign.outside.heard) as upstreams:
                self._found = upstreams
                self._ready.set()
                from anyio import sleep_forever

                await sleep_forever()
        except MclError as problem:
            self._found = problem
            self._ready.set()

    async def open(self) -> Upstreams:
        """The connections. Raises what opening them raises."""
        self._wanted.set()
        await self._ready.wait()
        if isinstance(self._found, MclError):
            raise self._found
        assert self._found is not None
        return self._found
