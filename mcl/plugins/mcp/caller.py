"""Who called, as the protocol has it: both eras of it become one ``Caller``."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, get_args

import mcp_types as types
from anyio import create_task_group, move_on_after
from mcp.server.connection import allowed_log_levels
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from mcl.serve.exchange import Caller, Filled, Form, WantedForms

if TYPE_CHECKING:
    from mcp.server.connection import Connection
    from mcp.server.context import ServerRequestContext

_LEVELS: Final[tuple[types.LoggingLevel, ...]] = get_args(types.LoggingLevel)  # the least grave first
_UNTIL_SAID: Final = "info"  # what a client of the handshake era gets that asked for no level
_LEVEL: Final = "mcl/level"


def caller_of(
    ctx: ServerRequestContext[Any, Any], params: types.InputResponseRequestParams | None = None
) -> Caller:
    """The caller of a request. params: of one that may bring filled-in forms."""
    told = ctx.session.client_params
    modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
    can_elicit = _shows_forms(ctx.session.client_capabilities)

    async def elicit(form: Form) -> Filled:
        shown = await ctx.session.elicit_form(form.message, dict(form.schema), ctx.request_id)
        return _filled(shown)

    return Caller(
        client=told.client_info.name if told else "",
        version=told.client_info.version if told else "",
        era="modern" if modern else "handshake",
        request_id="" if ctx.request_id is None else str(ctx.request_id),
        can_elicit=can_elicit,
        channel=RequestChannel(ctx),
        elicit=elicit if can_elicit and not modern and ctx.session.can_send_request else None,
        filled=_all_filled(params.input_responses) if params else {},
        state=(params.request_state or "") if params else "",
    )


def interim(wanted: WantedForms) -> types.InputRequiredResult:
    """The forms that a client of the modern era has to show before it asks again."""
    return types.InputRequiredResult(
        input_requests={
            name: types.ElicitRequest(
                params=types.ElicitRequestFormParams(message=form.message, requested_schema=dict(form.schema))
            )
            for name, form in wanted.forms.items()
        },
        request_state=wanted.state,
    )


class RequestChannel:
    """Progress and log of one request, as far as its client wants either."""

    def __init__(self, ctx: ServerRequestContext[Any, Any]) -> None:
        self._ctx = ctx

    async def progress(self, progress: float, total: float | None = None, message: str | None = None) -> None:
        """Tell how far it is; nothing where the client gave no token."""
        await self._ctx.session.report_progress(progress, total, message)

    async def log(self, level: str, data: object, logger: str | None = None) -> None:
        """Pass a log message on; nothing where the client wants none of this level."""
        ctx = self._ctx
        if level not in _LEVELS or level not in _wanted(ctx):
            return
        params = types.LoggingMessageNotificationParams(level=level, data=data, logger=logger)
        await ctx.session.send_notification(
            types.LoggingMessageNotification(params=params), related_request_id=ctx.request_id
        )


def connection_of(ctx: ServerRequestContext[Any, Any]) -> Connection:
    """The connection that a request came by: of the handshake era one a client, of the modern one a request.

    The SDK has a place for what belongs to a connection and gives handlers no public way to it.
    """
    return ctx.session._connection


def set_level(ctx: ServerRequestContext[Any, Any], level: types.LoggingLevel) -> None:
    """Keep the least level that a client of the handshake era wants to be told."""
    connection_of(ctx).state[_LEVEL] = level


def wanted_level(ctx: ServerRequestContext[Any, Any]) -> str | None:
    """The level of the log that a request of the modern era asks for, None where it asks for none."""
    level = (ctx.meta or {}).get(types.LOG_LEVEL_META_KEY)
    return level if level in _LEVELS else None


def _wanted(ctx: ServerRequestContext[Any, Any]) -> frozenset[str]:
    if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return frozenset(allowed_log_levels(ctx.protocol_version, ctx.meta))
    least = connection_of(ctx).state.get(_LEVEL, _UNTIL_SAID)
    return frozenset(_LEVELS[_LEVELS.index(least) :])


def _shows_forms(can: types.ClientCapabilities | None) -> bool:
    """Of a client that says `elicitation: {}` forms are meant; there was nothing else at first."""
    if can is None or can.elicitation is None:
        return False
    return can.elicitation.form is not None or can.elicitation.url is None


def _all_filled(responses: Mapping[str, types.InputResponse] | None) -> dict[str, Filled]:
    return {
        name: _filled(one) for name, one in (responses or {}).items() if isinstance(one, types.ElicitResult)
    }


def _filled(result: types.ElicitResult) -> Filled:
    return Filled(result.action, dict(result.content or {}))


# ---- Telling clients that a list of ours is not what it was, each in the way of its era.

Kind: TypeAlias = Literal["tools", "resources", "prompts"]

_PATIENCE: Final = 5.0  # seconds
_EVENTS: Final[dict[Kind, Callable[[], ServerEvent]]] = {
    "tools": ToolsListChanged,
    "resources": ResourcesListChanged,
    "prompts": PromptsListChanged,
}


class ListChanges:
    """Who wants to be told of changed lists: all clients of the handshake era, as we said that we would, and
    of the modern era those that listen."""

    def __init__(self) -> None:
        self._bus = InMemorySubscriptionBus()
        self._connections: set[Connection] = set()
        self.listen = ListenHandler(self._bus)

    async def greet(self, ctx: ServerRequestContext[Any, Any], _: types.NotificationParams | None) -> None:
        """A client of the handshake era is ready: from now on it is told, until its connection ends."""
        connection = connection_of(ctx)
        if connection not in self._connections:
            self._connections.add(connection)
            connection.exit_stack.callback(self._connections.discard, connection)

    async def tell(self, kind: Kind) -> None:
        """Tell all who want it that the list of this kind changed."""
        await self._bus.publish(_EVENTS[kind]())
        with move_on_after(_PATIENCE):  # for a client that does not read
            async with create_task_group() as tasks:
                for connection in tuple(self._connections):
                    send: dict[Kind, Callable[[], Coroutine[Any, Any, None]]] = {
                        "tools": connection.send_tool_list_changed,
                        "resources": connection.send_resource_list_changed,
                        "prompts": connection.send_prompt_list_changed,
                    }
                    tasks.start_soon(send[kind])

    async def tell_updated(self, uri: str) -> None:
        """Tell those of the modern era who listen for it that this resource changed."""
        await self._bus.publish(ResourceUpdated(uri))

    def close(self) -> None:
        """End all subscriptions in an orderly way."""
        self.listen.close()
