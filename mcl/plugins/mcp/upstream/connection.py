"""One live connection to one server, which many callers share: each call fails by itself, with its reason."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, cast

import anyio
import mcp_types as types
from mcp.client import Client
from mcp.shared.exceptions import MCPError
from mcp.shared.subscriptions import SUBSCRIPTION_ID_META_KEY
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from executor.core.hashing import json_size
from executor.sandbox.redaction import Redactor
from mcl.catalog.servers import Server
from mcl.plugins.mcp.upstream.answers import (
    METHODS,
    Fault,
    FaultError,
    Json,
    Kind,
    all_pages,
    asked,
    asks,
    check_whole,
    down,
    last_words,
    lied,
    quoted,
    slow,
    too_large,
)
from mcl.plugins.mcp.upstream.bounds import ConnectionWatch
from mcl.plugins.mcp.upstream.channels import SILENT, Relay
from mcl.plugins.mcp.upstream.process import ServerProcess, filled, gives_secrets, redactor_of, running
from mcl.plugins.mcp.upstream.transports import (
    ENCODED,
    LIED,
    STATUS,
    TOO_LARGE,
    TOO_LARGE_TEXT,
    UNREACHED,
    over_http,
    over_stdio,
)
from mcl.serve.exchange import Channel

_RAW: Final[Any] = TypeAdapter(
    dict[str, Any]
)  # the SDK checks the shape before; what is given on is as it came
USUAL_LEVEL: Final = "info"  # of the log, until somebody wants more
_LIST_S: Final = 30.0  # seconds for one page of a listing
_LISTS: Final[Mapping[Kind, Callable[..., types.Request[Any, Any]]]] = {
    "resources": types.ListResourcesRequest,
    "templates": types.ListResourceTemplatesRequest,
    "prompts": types.ListPromptsRequest,
}
_MAY_ASK: Final[Mapping[type, type[types.Result]]] = {
    types.CallToolRequest: types.CallToolResult,
    types.ReadResourceRequest: types.ReadResourceResult,
    types.GetPromptRequest: types.GetPromptResult,
}
_CHANGED: Final[Mapping[type, tuple[Kind, ...]]] = {
    types.ToolListChangedNotification: ("tools",),
    types.ResourceListChangedNotification: ("resources", "templates"),
    types.PromptListChangedNotification: ("prompts",),
}


@dataclass(eq=False)
class _Flight:
    relay: Relay
    asked: str = ""


class Connection:
    """A connection that is up. ``watch.ended`` is set when it no longer is."""

    def __init__(
        self,
        server: Server,
        client: Client,
        watch: ConnectionWatch,
        flights: set[_Flight],
        redactor: Redactor,
    ) -> None:
        self.server, self.client, self.watch, self.redactor = server, client, watch, redactor
        # What was agreed on is kept: a client that has ended does not even tell that.
        self.session, self.offered = client.session, client.server_capabilities
        self.protocol, self.about, self.instructions = (
            client.protocol_version,
            client.server_info,
            client.instructions or "",
        )
        self._flights = flights
        self.level: str = USUAL_LEVEL  # of the log that is wanted
        self._redacts, self._over_http = gives_secrets(server), server.transport == "http"

    @property
    def in_flight(self) -> int:
        """Calls that wait for an answer."""
        return len(self._flights)

    @property
    def modern(self) -> bool:
        """Does it speak the protocol without a handshake?"""
        return self.protocol in MODERN_PROTOCOL_VERSIONS

    def offers(self, kind: Kind) -> bool:
        """Does the server say that it has any of these?"""
        offered = self.offered
        return {
            "tools": offered.tools,
            "resources": offered.resources,
            "templates": offered.resources,
            "prompts": offered.prompts,
        }[kind] is not None

    async def ask(
        self,
        request: types.Request[Any, Any],
        what: str,
        *,
        channel: Channel = SILENT,
        timeout_s: float,
        ours: bool = False,
    ) -> Json:
        """Make one request, and wait for its answer; a cancelled one is cancelled at the server.

        Args:
            what: it is about, for messages. ours: nobody's call; what the server asks or logs is about
                another one.

        Raises:
            FaultError: every way in which it can fail.
        """
        flight = _Flight(Relay(channel, self.redactor))
        if not ours:
            self._flights.add(flight)
        try:
            with anyio.move_on_after(timeout_s):
                answer: Json = await self._send(request, what, flight, silent=channel is SILENT)
                if (fault := asked(answer)) is not None:
                    raise FaultError(fault)
                check_whole(answer, what)
                if self._over_http and json_size(answer) is None:
                    raise FaultError(lied(f"answered {what} with a number or text that JSON does not know"))
                await flight.relay.close()
                if self._redacts:
                    answer = {name: self.redactor.value(value) for name, value in answer.items()}
                return answer
            if flight.asked:
                raise FaultError(asks(flight.asked, ", and then answered no more"))
            raise FaultError(slow(f"did not answer {what} within {timeout_s:.3g} s; it was told to stop"))
        finally:
            self._flights.discard(flight)
            flight.relay.shut()

    async def list_all(self, kind: Kind) -> tuple[Json, ...]:
        """Everything the server lists of a kind. Raises FaultError."""
        if not self.offers(kind):
            return ()

        async def page(cursor: str | None) -> Json:
            params = types.PaginatedRequestParams(cursor=cursor)
            if kind == "tools":  # the SDK learns from it which arguments go into headers
                with anyio.move_on_after(_LIST_S):
                    return await self._tools(params)
                raise FaultError(slow(f"did not list its tools within {_LIST_S:.0f} s"))
            return await self.ask(_LISTS[kind](params=params), METHODS[kind], timeout_s=_LIST_S, ours=True)

        try:
            return await all_pages(kind, page)
        except FaultError as problem:
            error = problem.fault.data.get("error")
            if kind != "tools" and isinstance(error, dict) and error.get("code") == types.METHOD_NOT_FOUND:
                return ()  # a server that has resources need not know of templates, whatever the two share
            raise

    async def want_log(self) -> None:
        """Ask a server of the older protocol for a log of `level`; one that does not want to need not."""
        if not self.modern and self.offered.logging is not None:
            request = types.SetLevelRequest(
                params=types.SetLevelRequestParams(level=cast("types.LoggingLevel", self.level))
            )
            try:
                await self.ask(request, "logging/setLevel", timeout_s=_LIST_S, ours=True)
            except FaultError:
                return

    async def _tools(self, params: types.PaginatedRequestParams) -> Json:
        try:
            answer = await self.session.list_tools(params=params)
        except MCPError as problem:
            raise FaultError(self._fault(problem, "tools/list", None)) from None
        except ValidationError as problem:
            raise FaultError(_misshapen(problem, "tools/list", self.redactor)) from None
        tools = [tool.model_dump(by_alias=True, mode="json", exclude_unset=True) for tool in answer.tools]
        if json_size(tools) is None:
            raise FaultError(lied("lists tools with numbers or texts that JSON does not know"))
        return {"tools": tools, "nextCursor": answer.next_cursor}

    async def _send(
        self,
        request: types.Request[Any, Any],
        what: str,
        flight: _Flight,
        *,
        silent: bool,
        again: bool = False,
    ) -> Json:
        progress = None if silent else flight.relay.progress
        if self.modern and self.level != USUAL_LEVEL:  # there each request says what it wants
            params = (request.params or types.RequestParams()).model_dump(by_alias=True, exclude_unset=True)
            meta = {**(params.get("_meta") or {}), types.LOG_LEVEL_META_KEY: self.level}
            request = type(request).model_validate(
                {"method": request.method, "params": {**params, "_meta": meta}}
            )
        try:
            answer: Json = await self.session.send_request(request, _RAW, progress_callback=progress)
            if self.modern and type(request) in _MAY_ASK and asked(answer) is None:
                # Of these the SDK saw only that it is an answer or a question of the server.
                _MAY_ASK[type(request)].model_validate(answer, by_name=False)
        except MCPError as problem:
            if problem.code == types.HEADER_MISMATCH and not again:  # it wants other arguments as headers now
                await self.list_all("tools")
                return await self._send(request, what, flight, silent=silent, again=True)
            raise FaultError(self._fault(problem, what, flight)) from None
        except ValidationError as problem:
            raise FaultError(_misshapen(problem, what, self.redactor)) from None
        if answer.get("isError") is True and flight.asked:
            raise FaultError(asks(flight.asked))
        return answer

    def _fault(self, problem: MCPError, what: str, flight: _Flight | None) -> Fault:
        code, said = problem.code, quoted(problem.message, self.redactor)
        if self.watch.ended.is_set():
            fault = self.watch.fault or down("closed the connection")
            return Fault(fault.code, f"{fault.message}, before it answered {what}", fault.fix, fault.data)
        if flight is not None and flight.asked:
            return asks(flight.asked, f", and then answered: {said}")
        if code == TOO_LARGE or TOO_LARGE_TEXT in said:
            return too_large(f"answered {what} with more than is kept: {said}")
        if code in (LIED, ENCODED) or said.startswith(_OF_THE_SDK):
            return lied(f"answered {what} wrongly: {said}")
        if code in (UNREACHED, types.CONNECTION_CLOSED):
            return down(f"was lost while it worked on {what}: {said}")
        error: dict[str, object] = {"code": code, "message": said}
        if code == STATUS:
            return Fault("UPSTREAM_ERROR", said, _headers(self.server), {"error": error})
        return Fault("UPSTREAM_ERROR", f"answered {what} with the error {code}: {said}", "", {"error": error})


# How the SDK begins what it says of an answer over HTTP that it could not read.
_OF_THE_SDK: Final = ("Failed to parse", "SSE stream failed", "Unexpected content type", "server answered a")


@asynccontextmanager
async def connected(
    server: Server,
    variables: Mapping[str, str],
    changed: Callable[[tuple[Kind, ...]], None],
    updated: Callable[[str, object], None],
    *,
    handshake: bool = False,
) -> AsyncIterator[Connection]:
    """Start or reach a server and agree on the protocol; end it at the end.

    Args:
        variables: that ``$env:NAME`` is taken from. changed: is told which lists changed; updated: the
            address of a resource that changed, and the id of the stream that says so. handshake: do not
            ask for the newer protocol first.

    Raises:
        FaultError: why it is not up, or no longer.
    """
    _keep_quiet()
    redactor, flights = redactor_of(server, variables), set[_Flight]()
    process: ServerProcess | None = None

    def asked_for(method: str) -> None:
        if len(flights) == 1:  # else nobody can tell for whom
            next(iter(flights)).asked = method

    async def log(params: types.LoggingMessageNotificationParams) -> None:
        if len(flights) == 1:  # the older protocol does not say of which call it speaks
            await next(iter(flights)).relay.log(params.level, params.data, params.logger)

    async def hear(message: object) -> None:
        if isinstance(message, Exception):
            watch.end(lied(f"sent something that cannot be read: {quoted(str(message), redactor)}"))
        elif kinds := _CHANGED.get(type(message)):
            changed(kinds)
        elif isinstance(message, types.ResourceUpdatedNotification):
            updated(message.params.uri, (message.params.meta or {}).get(SUBSCRIPTION_ID_META_KEY))

    watch = ConnectionWatch(anyio.current_time, asked_for)
    try:
        environment = filled(server.environment, variables)
        headers = filled(server.headers, variables)

        def client(transport: Any) -> Client:
            return Client(
                transport,
                mode="legacy" if handshake else "auto",
                cache=None,
                log_level=USUAL_LEVEL,
                logging_callback=log,
                message_handler=hear,
                client_info=types.Implementation(name="mcl", version=_version()),
            )

        if server.transport == "http":
            async with client(over_http(server.url, headers, environment, watch)) as live:
                yield Connection(server, live, watch, flights, redactor)
        else:
            async with running(server.command, server.folder, environment) as process:  # noqa: SIM117
                async with client(over_stdio(process, watch)) as live:  # made of what the first gives
                    yield Connection(server, live, watch, flights, redactor)
    except Exception as problem:
        fault = watch.fault or _reason(problem, server, redactor)
        alone = process is not None and watch.fault is not None and fault.code == "SERVER_DOWN"
        raise FaultError(_with_words(fault, process, redactor), alone=alone) from problem


def _reason(problem: BaseException, server: Server, redactor: Redactor) -> Fault:
    if isinstance(problem, BaseExceptionGroup):
        reasons = [_reason(one, server, redactor) for one in problem.exceptions]
        return next((one for one in reasons if one.code != "SERVER_DOWN"), reasons[0])
    if isinstance(problem, FaultError):
        return problem.fault
    if isinstance(problem, ValidationError):
        return _misshapen(problem, "the handshake", redactor)
    said = quoted(str(problem), redactor) or type(problem).__name__
    fix = _headers(server) if isinstance(problem, MCPError) and problem.code == STATUS else ""
    return down(f"did not come to an understanding: {said}", fix)


def _headers(server: Server) -> str:
    return f"mcl server show {server.name} shows its address, and the headers it gets"


def _with_words(fault: Fault, process: ServerProcess | None, redactor: Redactor) -> Fault:
    words = last_words(process.words, redactor) if process is not None else ""
    if not words:
        return fault
    return Fault(fault.code, f"{fault.message}; it said: {words}", fault.fix, fault.data)


def _misshapen(problem: ValidationError, what: str, redactor: Redactor) -> Fault:
    first = problem.errors(include_input=False, include_url=False)[0]
    said = f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}"
    return lied(f"answered {what} in a wrong shape: {quoted(said, redactor)}")


def _keep_quiet() -> None:
    """The SDK gives strangers' words to its loggers; without a handler they would go to the terminal."""
    for name in ("mcp", "client"):
        logger = logging.getLogger(name)
        if not logger.handlers:
            logger.addHandler(logging.NullHandler())


def _version() -> str:
    from mcl.core.distribution import VERSION

    return VERSION
