"""What clients ask of other servers' resources and prompts, as the SDK's handlers, for both eras of the
protocol.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, TypeVar

import mcp_types as types
from anyio import CancelScope
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from executor.core.hashing import json_size
from ir import MclError
from mcl.catalog.manifests import GET, READ
from mcl.plugins.mcp.call_texts import ToolCallRequest, ToolName
from mcl.plugins.mcp.caller import caller_of, connection_of, interim
from mcl.plugins.mcp.calls import make
from mcl.plugins.mcp.proxy.lists import Merged, linked, parse_prompt, parse_uri, readdressed
from mcl.plugins.mcp.proxy.subscriptions import ResourceSubscriptions
from mcl.plugins.mcp.records import CallRecord
from mcl.serve.exchange import Caller, Reply, refused_by

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.lowlevel.server import Server

    from mcl.plugins.mcp.caller import ListChanges
    from mcl.plugins.mcp.service import Service
    from mcl.plugins.mcp.upstream.answers import Kind


# ---- Completing an argument of a prompt or a template: asked of the server that has it, where a person let
# it in.

_TOOL: Final = "completion/complete"
_MOST: Final = 100  # values, as the protocol wants
_MAX_VALUE: Final = 1_000  # characters of one
_WAIT_S: Final = 10.0  # somebody is typing


class Completing:
    """Asks servers for completions, and keeps a record of each. merged: knows what was let in."""

    def __init__(self, session: Service, merged: Merged) -> None:
        self._session, self._merged = session, merged

    async def complete(self, caller: Caller, params: types.CompleteRequestParams) -> types.CompleteResult:
        """What fits behind what was typed.

        Raises:
            McpError: BAD_RESOURCE_URI, BAD_PROMPT_NAME, the gate's codes, and what the server says.
        """
        began, asked = perf_counter(), 0.0
        tool, server, reference = _reference(params.ref)
        args: dict[str, Any] = {
            "ref": reference,
            "argument": {"name": params.argument.name, "value": params.argument.value},
        }
        if params.context and params.context.arguments:
            args["context"] = dict(params.context.arguments)
        entry = CallRecord(
            server=server,
            tool=_TOOL,
            verdict="denied",
            operation_type="read",
            data_sensitivity="unknown",
            args=args,
            request_id=caller.request_id,
            client=caller.client,
            client_version=caller.version,
        )
        try:
            self._merged.require(server, tool)
            entry = replace(entry, verdict="failed", code="CANCELLED")  # until it is known to be otherwise
            asked = perf_counter()
            said = await self._session.upstreams.complete(
                server, reference, args["argument"], args.get("context"), timeout_s=_WAIT_S
            )
            completion = self._bounded(said)
            entry = replace(entry, verdict="allowed", code="", result_bytes=json_size(completion.values) or 0)
        except MclError as problem:
            entry = replace(entry, code=problem.code)
            raise
        finally:
            with CancelScope(shield=True):
                now = perf_counter()
                took = (now - asked) * 1000 if asked else None
                await self._session.activity.keep(
                    replace(entry, upstream_ms=took, latency_ms=(now - began) * 1000)
                )
        return types.CompleteResult(completion=completion)

    def _bounded(self, said: dict[str, object]) -> types.Completion:
        values, total = said.get("values"), said.get("total")
        texts = [one for one in values if isinstance(one, str)] if isinstance(values, list) else []
        kept = [self._session.redactor.text(one[:_MAX_VALUE]) for one in texts[:_MOST]]
        more = said.get("hasMore") is True or len(texts) > _MOST
        return types.Completion(
            values=kept, total=total if type(total) is int else None, has_more=more if more else None
        )


def _reference(
    ref: types.PromptReference | types.ResourceTemplateReference,
) -> tuple[str, str, dict[str, object]]:
    """The tool that what is completed belongs to, its server, and the reference as that server knows it.

    Raises:
        McpError: BAD_RESOURCE_URI, BAD_PROMPT_NAME.
    """
    if isinstance(ref, types.PromptReference):
        server, name = parse_prompt(ref.name)
        return GET, server, {"type": "ref/prompt", "name": name}
    server, uri = parse_uri(ref.uri)
    return READ, server, {"type": "ref/resource", "uri": uri}


REFUSED: Final = -32050  # JSON-RPC, ours: mcl refused, or the server failed; its data says which
LEFT_OUT: Final = "mcl/left_out"  # in _meta of a list: servers whose part is missing
_LOGGER: Final = "mcl.proxy"
_OF_PARAMS: Final = frozenset(
    ("BAD_RESOURCE_URI", "BAD_PROMPT_NAME", "BAD_CURSOR", "INVALID_ARGS", "UNKNOWN_TOOL", "SERVER_UNKNOWN")
)
_log = logging.getLogger(__name__)
_R = TypeVar("_R")


class Proxy:
    """Resources, templates, prompts and completion of all servers, through one of ours.

    changes: who is told of changed lists. Reading and getting are declared calls of
    ``server:resources/read`` and ``server:prompts/get``, and go the way of every call.
    """

    def __init__(self, session: Service, changes: ListChanges) -> None:
        self._session = session
        self._merged = Merged(session)
        self._completing = Completing(session, self._merged)
        self.subscriptions = ResourceSubscriptions(session, self._merged, changes)

    def add_to(self, server: Server[Any]) -> None:
        """Have the server answer for all of this."""
        paged, request = types.PaginatedRequestParams, server.add_request_handler
        request("resources/list", paged, _told(self._resources))
        request("resources/templates/list", paged, _told(self._templates))
        request("prompts/list", paged, _told(self._prompts))
        request("resources/read", types.ReadResourceRequestParams, _told(self._read))
        request("prompts/get", types.GetPromptRequestParams, _told(self._get))
        request("completion/complete", types.CompleteRequestParams, _told(self._complete))
        request("resources/subscribe", types.SubscribeRequestParams, _told(self._subscribe))
        request("resources/unsubscribe", types.UnsubscribeRequestParams, _told(self._unsubscribe))
        request(
            "subscriptions/listen", types.SubscriptionsListenRequestParams, _told(self.subscriptions.listen)
        )

    async def _resources(
        self, ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams
    ) -> dict[str, Any]:
        return await self._listed(ctx, params, "resources", "resources")

    async def _templates(
        self, ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams
    ) -> dict[str, Any]:
        return await self._listed(ctx, params, "templates", "resourceTemplates")

    async def _prompts(
        self, ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams
    ) -> dict[str, Any]:
        return await self._listed(ctx, params, "prompts", "prompts")

    async def _listed(
        self,
        ctx: ServerRequestContext[Any, Any],
        params: types.PaginatedRequestParams,
        kind: Kind,
        member: str,
    ) -> dict[str, Any]:
        page = await self._merged.page(kind, params.cursor or "")
        result: dict[str, Any] = {member: list(page.items)}
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            result |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        if page.cursor:
            result["nextCursor"] = page.cursor
        if page.left_out:
            missing = [one.to_json() for one in page.left_out]
            result["_meta"] = {LEFT_OUT: missing}
            if not params.cursor:
                names = ", ".join(one.server for one in page.left_out)
                said = {"message": f"{kind} of these servers are left out: {names}", "left_out": missing}
                await caller_of(ctx).channel.log("warning", said, _LOGGER)
        return result

    async def _read(
        self, ctx: ServerRequestContext[Any, Any], params: types.ReadResourceRequestParams
    ) -> dict[str, Any] | types.InputRequiredResult:
        server, uri = parse_uri(params.uri)
        said = await self._made(ctx, params, ToolName(server, READ), {"uri": uri})
        if isinstance(said, types.InputRequiredResult):
            return said
        if "resultType" in said:  # each read is judged and kept: a client may not answer it from memory
            said |= {"ttlMs": 0, "cacheScope": "private"}
        return {**said, "contents": [readdressed(server, one) for one in _objects(said.get("contents"))]}

    async def _get(
        self, ctx: ServerRequestContext[Any, Any], params: types.GetPromptRequestParams
    ) -> dict[str, Any] | types.InputRequiredResult:
        server, name = parse_prompt(params.name)
        args: dict[str, object] = {"name": name}
        if params.arguments:
            args["arguments"] = dict(params.arguments)
        said = await self._made(ctx, params, ToolName(server, GET), args)
        if isinstance(said, types.InputRequiredResult):
            return said
        messages = [
            {**one, "content": linked(server, content)}
            if isinstance(content := one.get("content"), dict)
            else one
            for one in _objects(said.get("messages"))
        ]
        return {**said, "messages": messages}

    async def _made(
        self,
        ctx: ServerRequestContext[Any, Any],
        params: types.InputResponseRequestParams,
        name: ToolName,
        args: dict[str, object],
    ) -> dict[str, Any] | types.InputRequiredResult:
        """What the server answers to a declared call."""
        request = ToolCallRequest(name, args, self._merged.declared(name))
        reply = await make(self._session, request, caller_of(ctx, params))
        if reply.wanted is not None:
            return interim(reply.wanted)
        if reply.is_error:
            raise error_of(reply)
        said = dict(reply.structured or {})
        said.pop("_meta", None)  # of the server's own connection with us; nothing in it is for our clients
        if ctx.protocol_version in MODERN_PROTOCOL_VERSIONS:
            said["resultType"] = "complete"
        return said

    async def _complete(
        self, ctx: ServerRequestContext[Any, Any], params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        return await self._completing.complete(caller_of(ctx), params)

    async def _subscribe(
        self, ctx: ServerRequestContext[Any, Any], params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        await self.subscriptions.subscribe(connection_of(ctx), params.uri)
        return types.EmptyResult()

    async def _unsubscribe(
        self, ctx: ServerRequestContext[Any, Any], params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        await self.subscriptions.unsubscribe(connection_of(ctx), params.uri)
        return types.EmptyResult()


def error_of(reply: Reply) -> MCPError:
    """A refusal as an error of the protocol, whose methods for resources and prompts know no other."""
    told = dict(reply.structured or {})
    code, data = str(told.get("code", "")), told.get("data")
    number = types.INVALID_PARAMS if code in _OF_PARAMS else REFUSED
    if code in ("TIMEOUT", "SERVER_SLOW"):
        number = types.REQUEST_TIMEOUT
    error = data.get("error") if isinstance(data, Mapping) else None
    if code == "UPSTREAM_ERROR" and isinstance(error, Mapping) and type(error.get("code")) is int:
        number = error["code"]  # the server's own, as it would have come without us
    message = f"{code}: {told.get('message', '')}"
    if told.get("fix"):
        message += f" ({told['fix']})"
    return MCPError(number, message, json.loads(json.dumps(told, default=str)))


def _told(
    handler: Callable[[ServerRequestContext[Any, Any], Any], Awaitable[_R]],
) -> Callable[[ServerRequestContext[Any, Any], Any], Awaitable[_R]]:
    """The handler, whose refusals become errors of the protocol and whose faults stay ours."""

    async def answer(ctx: ServerRequestContext[Any, Any], params: Any) -> _R:
        try:
            return await handler(ctx, params)
        except MCPError:
            raise
        except MclError as problem:
            raise error_of(refused_by(problem)) from None
        except Exception as problem:  # noqa: BLE001  # a fault of ours fails this request alone
            _log.exception("a fault of mcl itself in %s", ctx.method)
            raise MCPError(types.INTERNAL_ERROR, f"a fault of mcl itself: {type(problem).__name__}") from None

    return answer


def _objects(value: object) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
