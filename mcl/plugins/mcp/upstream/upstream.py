"""One server over time: started when it is needed, kept up to date, started again after it failed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import anyio

from executor.tools.schemas import ForeignChecker
from mcl.catalog.servers import Server
from mcl.plugins.mcp.upstream.answers import KINDS, Fault, FaultError, Kind, down, slow
from mcl.plugins.mcp.upstream.subscriptions import ServerSubscriptions, follow_lists

if TYPE_CHECKING:
    from mcl.plugins.mcp.upstream.connection import Connection


# ---- How long to wait before a server is started again: longer each time, and never for all at once.

FIRST_S: Final = 0.5
MOST_S: Final = 60.0
PATIENCE: Final = 6  # failures in a row after which it starts with the next call only
STEADY_S: Final = 30.0  # seconds up after which it counts as well again


def delay(failures: int, jitter: float) -> float:
    """Seconds before the next start.

    Args:
        failures: in a row, 1 or more. jitter: from 0 to 1; it makes half to all of the doubled time.
    """
    whole = min(FIRST_S * 2.0 ** min(failures - 1, 16), MOST_S)
    return whole * (0.5 + jitter / 2)


State: TypeAlias = Literal["idle", "starting", "up", "backing off", "down"]
Json: TypeAlias = dict[str, Any]
# Is told (server, kind, everything that it lists of that kind) at each connection and at each change; before
# the first call after a connection goes out, it was told the tools. It must not wait for anything.
OnListing: TypeAlias = Callable[[str, Kind, Sequence[Json]], None]
# Is told (server, the server's own address) of a watched resource that changed. It must not wait either.
OnUpdated: TypeAlias = Callable[[str, str], None]

START_S: Final = 60.0  # seconds that a server has to start and to list its tools
_LEAVE_S: Final = 5.0  # seconds for taking leave of a server at an address
_SAYS: Final = 200  # characters kept of what it calls itself
_INSTRUCTS: Final = 4096  # and of its instructions
_PAUSE_S: Final = 1.0  # seconds between two looks at lists that keep changing
_STALE_S: Final = 300.0  # seconds after which tools are looked at again, whatever the server says


@dataclass(frozen=True, slots=True)
class Status:
    """How a server does.

    state: idle (not needed yet), starting, up, backing off (starts again by itself in next_start_s seconds)
    or down (starts again with the next call). problem, code: why it is not up. restarts: since mcl began.
    protocol: the version spoken. name, version, instructions: what it says of itself. in_flight: calls under
    way. dropped: messages beyond the rate.
    """

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


class Upstream:
    """One server. ``run`` it in a task; everything else may be called from any task."""

    def __init__(
        self,
        server: Server,
        variables: Mapping[str, str],
        on_listing: OnListing | None,
        jitter: Callable[[], float],
        on_updated: OnUpdated | None = None,
    ) -> None:
        self.server = server
        self.level = "info"  # of the log that callers want at most
        self.subscriptions = ServerSubscriptions(
            lambda uri: on_updated(server.name, uri) if on_updated else None
        )
        self._variables, self._on_listing, self._jitter = variables, on_listing, jitter
        self._state: State = "idle"
        self._fault: Fault | None = None
        self._connection: Connection | None = None
        self._listings: dict[Kind, tuple[Json, ...]] = {}
        self._promised: dict[str, ForeignChecker] = {}
        self._stale: set[Kind] = set()
        self._next, self._began, self._starts, self._failures = 0.0, 0.0, 0, 0
        self._needed, self._turned, self._look = anyio.Event(), anyio.Event(), anyio.Event()
        self._leveled = anyio.Event()
        self._scope, self._leaving, self.left = anyio.CancelScope(), False, anyio.Event()
        self._handshake = False  # speak the older protocol at once

    # ---- what callers want ----

    async def ready(self, timeout_s: float) -> Connection:
        """The connection, once it is up.

        Raises:
            FaultError: SERVER_DOWN, at once where it failed and is not to be started yet; SERVER_SLOW, and
            whatever keeps it from starting.
        """
        if self._connection is not None:
            return self._connection
        if self._state == "backing off" or self._leaving:
            raise FaultError(self._why_not())
        self._needed.set()
        with anyio.move_on_after(timeout_s):
            while True:
                await self._turned.wait()
                if self._connection is not None:
                    return self._connection
                if self._state in ("backing off", "down"):
                    raise FaultError(self._why_not())
        raise FaultError(slow(f"was not up within {timeout_s:.3g} s; it is still starting"))

    async def listing(self, kind: Kind, timeout_s: float) -> tuple[Json, ...]:
        """All that the server lists of a kind. Raises FaultError."""
        connection = await self.ready(timeout_s)
        if kind not in self._listings:
            with anyio.move_on_after(timeout_s):
                self._listed(kind, await connection.list_all(kind))
                return self._listings[kind]
            raise FaultError(slow(f"did not list its {kind} within {timeout_s:.3g} s"))
        return self._listings[kind]

    def promised(self, tool: str) -> ForeignChecker | None:
        """What a tool's structured answers are held to, None where it promises nothing."""
        return self._promised.get(tool)

    def status(self) -> Status:
        live, fault = self._connection, self._fault
        about = None if live is None else live.about
        return Status(
            server=self.server.name,
            state=self._state,
            problem="" if fault is None else f"{self.server.name} {fault.message}",
            code="" if fault is None else fault.code,
            next_start_s=max(0.0, self._next - anyio.current_time()) if self._state == "backing off" else 0.0,
            restarts=max(0, self._starts - 1),
            protocol="" if live is None else live.protocol,
            name="" if about is None else about.name[:_SAYS],
            version="" if about is None else about.version[:_SAYS],
            instructions="" if live is None else live.instructions[:_INSTRUCTS],
            in_flight=0 if live is None else live.in_flight,
            dropped=0 if live is None else live.watch.excess,
        )

    @property
    def connection(self) -> Connection | None:
        """The connection where it is up."""
        return self._connection

    def want_log(self, level: str) -> None:
        """Have the server log at this level, over this connection and those to come."""
        self.level = level
        if self._connection is not None and self._connection.modern:
            self._connection.level = level  # each request says it
        self._leveled.set()

    def want(self) -> None:
        """Start it, unless it is up or has to wait."""
        self._needed.set()

    async def settled(self) -> None:
        """Wait until it is up or has failed."""
        while self._state in ("idle", "starting"):
            await self._turned.wait()

    def stop(self) -> None:
        self._turn("down", down("was taken out, or entered anew"))
        self.leave()

    def leave(self) -> None:
        """End it for good, politely where it is up; ``left`` is set then."""
        self._leaving = True
        if self._connection is not None:
            self._connection.watch.end(down("is not needed any more"))
        else:
            self._scope.cancel()

    # ---- its life ----

    async def run(self) -> None:
        """Keep it as it should be, until it is stopped."""
        try:
            await self._keep()
        finally:
            self.left.set()

    async def _keep(self) -> None:
        with self._scope:
            while not self._leaving:
                await self._needed.wait()
                self._turn("starting", self._fault)
                self._starts += 1
                self._began = anyio.current_time()
                fault = await self._live()
                if self._state == "backing off":
                    self._fault = fault  # with what the process said at its end
                else:
                    self._fall(fault)
                if self._leaving:
                    return
                await anyio.sleep_until(self._next)
                if self._failures >= PATIENCE:
                    self._needed = anyio.Event()
                    self._turn("down", fault)

    async def _live(self) -> Fault:
        """Have it up for as long as it lasts; why it ended, or did not come up.

        Some servers of the older protocol end when they are asked for the newer one before the handshake.
        """
        fault, alone = await self._one_life(handshake=self._handshake)
        if alone and not self._handshake and self._state == "starting":
            self._handshake = True
            fault, alone = await self._one_life(handshake=True)
            self._handshake = self._state != "starting"
        return fault

    async def _one_life(self, *, handshake: bool) -> tuple[Fault, bool]:
        """A start and what follows; why it ended, and whether the process did so by itself."""
        from mcl.plugins.mcp.upstream.connection import connected

        fault: Fault | None = None
        with anyio.CancelScope(deadline=anyio.current_time() + START_S) as scope:
            try:
                async with connected(
                    *(self.server, self._variables, self._changed, self.subscriptions.heard),
                    handshake=handshake,
                ) as connection:
                    self._listed("tools", await connection.list_all("tools"))
                    scope.deadline = math.inf
                    self._connection = connection
                    self._turn("up", None)
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(self._want_log, connection)
                        tasks.start_soon(follow_lists, connection, self._changed)
                        tasks.start_soon(self._keep_listings, connection)
                        tasks.start_soon(self.subscriptions.follow, connection)
                        await connection.watch.ended.wait()
                        ended = fault = connection.watch.fault or down("closed the connection")
                        self._fall(ended)  # at once: ending it takes its time, but not for ever
                        scope.deadline = anyio.current_time() + _LEAVE_S
                        tasks.cancel_scope.cancel()
                    raise FaultError(ended)
            except FaultError as problem:
                return problem.fault, problem.alone
        return fault or slow(f"did not start within {START_S:.0f} s"), False

    def _fall(self, fault: Fault) -> None:
        """It is not up any more, or did not come up."""
        now = anyio.current_time()
        steady = self._connection is not None and now - self._began >= STEADY_S
        self._failures = 1 if steady else self._failures + 1
        self._next = now + delay(self._failures, self._jitter())
        self._connection, self._listings, self._stale = None, {}, set()
        self._turn("backing off", fault)

    async def _want_log(self, connection: Connection) -> None:
        while True:
            connection.level, self._leveled = self.level, anyio.Event()
            await connection.want_log()
            if connection.level == self.level:
                await self._leveled.wait()

    async def _keep_listings(self, connection: Connection) -> None:
        for kind in KINDS[1:]:
            await self._look_at(kind, connection)
        while True:
            with anyio.move_on_after(_STALE_S):
                while not self._stale:
                    self._look = anyio.Event()
                    await self._look.wait()
            wanted, self._stale = self._stale or {"tools"}, set()
            for kind in sorted(wanted):
                await self._look_at(kind, connection)
            await anyio.sleep(_PAUSE_S)

    async def _look_at(self, kind: Kind, connection: Connection) -> None:
        try:
            items = await connection.list_all(kind)
        except FaultError as problem:
            if kind == "tools" and problem.fault.code != "SERVER_SLOW":
                connection.watch.end(problem.fault)  # what it offers is not known any more
            self._listings.pop(kind, None)  # whoever asks for it asks the server, and hears why not
            return
        self._listed(kind, items)

    def _changed(self, kinds: tuple[Kind, ...]) -> None:
        for kind in kinds:
            self._listings.pop(kind, None)  # whoever asks for it before the next look asks the server
        self._stale.update(kinds)
        self._look.set()

    def _listed(self, kind: Kind, items: tuple[Json, ...]) -> None:
        if kind == "tools":
            self._promised = {
                str(tool.get("name")): ForeignChecker(schema)
                for tool in items
                if isinstance(schema := tool.get("outputSchema"), dict)
            }
        self._listings[kind] = items
        if self._on_listing is not None:
            self._on_listing(self.server.name, kind, items)

    def _turn(self, state: State, fault: Fault | None) -> None:
        self._state, self._fault = state, fault
        turned, self._turned = self._turned, anyio.Event()
        turned.set()

    def _why_not(self) -> Fault:
        fault = self._fault or down("is not up")
        wait = max(0.0, self._next - anyio.current_time())
        when = f"; it is started again in {wait:.1f} s" if self._state == "backing off" else ""
        return Fault(
            "SERVER_DOWN",
            f"is down: it {fault.message}{when}",
            fault.fix,
            {**fault.data, "because": fault.code, "next_start_s": round(wait, 3)},
        )
