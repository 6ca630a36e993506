"""The server that clients see: what is offered as the SDK's handlers, for both eras of the protocol.

Whatever a call brings, its answer is a result. An error of the protocol is given only where the protocol
itself was broken, and that the SDK does before anything here is asked.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import mcp_types as types
from anyio import CancelScope, get_cancelled_exc_class
from mcp.server.lowlevel.server import NotificationOptions, Server

from executor.core.hashing import json_size
from executor.tools.names import OURSELVES
from ir import MclError
from mcl.core.distribution import VERSION
from mcl.plugins.mcp.caller import ListChanges, caller_of, interim, set_level, wanted_level
from mcl.plugins.mcp.proxy.handlers import Proxy
from mcl.plugins.mcp.records import CallRecord
from mcl.serve.exchange import Caller, Json, Reply, error_text, refused, refused_by
from mcl.serve.offered import Arguments, Offered

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext
    from mcp.server.models import InitializationOptions

    from mcl.plugins.mcp.service import Service

NAME: Final = "mcl"
INSTRUCTIONS: Final = (
    "mcl runs tools behind a gate. Find a tool with retrieve_tools, then call it with the variant that its"
    " call_with names (call_tool_read, call_tool_write or call_tool_destructive), and say in `intent` what"
    " you do and why; a call that does more than it declares is refused. Some calls wait for a person. For"
    " a goal of several steps use compile_intent; a person accepts it (mcl accept ID), then"
    " run_intent runs it. A refusal says what to do instead. Where list_active_intents lists work for this"
    " folder, select an intent with select_active_intent before you change files."
)
_SINCE: Final = {"audio": "2025-03-26", "resource_link": "2025-06-18"}
_CANCELLED: Final = refused("CANCELLED", "the client cancelled the call")
_DENIED: Final = frozenset(
    {
        *("INVALID_ARGS", "UNKNOWN_TOOL", "NOT_ACCEPTED", "BAD_FILTER", "GATE_DENIED"),
        *("INVALID_ID_FORMAT", "NOT_FOUND", "NOT_IMPORTED", "BLOCKED", "DONE", "LEASED", "SCOPE_OVERLAP"),
        *("INTENT_ALREADY_ACTIVE", "NOTHING_HELD", "NOT_HELD", "SIGN_OFF_PENDING", "CRITERION_NOT_MET"),
    }
)
_log = logging.getLogger(__name__)


class Face:
    """What clients of one process see of a session.

    offered: the tools. Beside them stand the resources and prompts of all servers (`Proxy`).
    """

    def __init__(self, session: Service, offered: Sequence[Offered]) -> None:
        self._session = session
        self._offered = {one.name: one for one in offered}
        self._arguments = {one.name: Arguments(one) for one in offered if one.checked}
        self.changes = ListChanges()
        self.proxy = Proxy(session, self.changes)
        self.server = self._made()

    @property
    def options(self) -> InitializationOptions:
        """What the handshake says of us."""
        return self.server.create_initialization_options()

    def _made(self) -> Server[dict[str, Any]]:
        server = _Telling(
            NAME,
            version=VERSION,
            title="mcl",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list,
            get_tool_input_schema=self._schema,
        )
        server.middleware.clear()  # spans of a tracer that nobody configured cost 50 µs a message
        server.add_request_handler("tools/call", types.CallToolRequestParams, self._call)
        server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, self._set_level)
        server.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self.changes.greet
        )
        self.proxy.add_to(server)
        return server

    async def _list(
        self, ctx: ServerRequestContext[Any, Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        try:
            strict = self._session.context.policy.strict_server_validation
        except MclError:  # a policy that cannot be read stops every call, and says so there
            strict = False
        return types.ListToolsResult(tools=[_listed(one, strict=strict) for one in self._offered.values()])

    async def _call(
        self, ctx: ServerRequestContext[Any, Any], params: types.CallToolRequestParams
    ) -> dict[str, Any] | types.InputRequiredResult:
        if (level := wanted_level(ctx)) is not None:
            self._session.upstreams.want_log(level)
        reply = await self._answer(params.name, params.arguments or {}, caller_of(ctx, params))
        if reply.wanted is not None:
            return interim(reply.wanted)
        return _result(reply, params.name, ctx.protocol_version)

    async def _set_level(
        self, ctx: ServerRequestContext[Any, Any], params: types.SetLevelRequestParams
    ) -> types.EmptyResult:
        set_level(ctx, params.level)
        self._session.upstreams.want_log(params.level)
        return types.EmptyResult()

    async def _answer(self, name: str, arguments: Json, caller: Caller) -> Reply:
        """What a tool says, kept before it goes out."""
        tool = self._offered.get(name)
        if tool is not None and not tool.kept:
            return await self._said(tool, arguments, caller)
        began = perf_counter()
        try:
            if tool is None:
                reply = self._unknown(name)
            else:
                reply = await self._said(tool, arguments, caller)
        except get_cancelled_exc_class():
            with CancelScope(shield=True):
                await self._keep(name, arguments, caller, _CANCELLED, began)
            raise
        return await self._keep(name, arguments, caller, reply, began)

    async def _keep(self, name: str, arguments: Json, caller: Caller, reply: Reply, began: float) -> Reply:
        said = reply.structured or {}
        verdict = "asked" if reply.wanted is not None else "allowed"
        code = "GATE_PENDING" if reply.wanted is not None else ""
        if reply.is_error:
            code = str(said.get("code", ""))
            verdict = "denied" if code in _DENIED else "failed"
        intent = said.get("id", "")
        entry = CallRecord(
            server=OURSELVES,
            tool=name,
            verdict=verdict,
            code=code,
            args=arguments,
            result_bytes=json_size(said) or 0,
            latency_ms=(perf_counter() - began) * 1000,
            request_id=caller.request_id,
            client=caller.client,
            client_version=caller.version,
            intent_id=intent if isinstance(intent, str) else "",
        )
        try:
            await self._session.activity.keep(entry)
        except MclError as problem:
            return refused_by(problem)
        return reply

    def _unknown(self, name: str) -> Reply:
        return refused(
            "UNKNOWN_TOOL",
            f"mcl offers no tool {name[:80]!r}",
            fix=f"one of {', '.join(self._offered)}; call tools of other servers through call_tool_*",
            example='call_tool_read {"name": "server:tool", "args": {}, "intent": {"reason": "…"}}',
        )

    async def _said(self, tool: Offered, arguments: Json, caller: Caller) -> Reply:
        """What a tool says; whatever goes wrong in it is an answer too."""
        known = self._arguments.get(tool.name)
        if known is not None and (wrong := known.refusal(arguments)) is not None:
            return wrong
        try:
            return await tool.run(self._session, arguments, caller)
        except MclError as problem:
            return refused_by(problem)
        except Exception as problem:  # noqa: BLE001  # a fault of ours fails this call, and no client sees more
            _log.exception("a fault of mcl itself in %s", tool.name)
            return refused(
                "INTERNAL",
                f"a fault of mcl itself: {type(problem).__name__}",
                fix="nothing that was signed is lost; standard error of `mcl mcp serve` has the details",
            )

    def _schema(self, name: str) -> Mapping[str, Any] | None:
        tool = self._offered.get(name)
        return tool.input_schema if tool else None


class _Telling(Server[dict[str, Any]]):
    """A server that says, over whatever it is reached, that it tells when its lists change."""

    def create_initialization_options(
        self, notification_options: NotificationOptions | None = None, *more: Any, **named: Any
    ) -> InitializationOptions:
        """The SDK's own, which over HTTP asks for them without saying so."""
        wanted = NotificationOptions(prompts_changed=True, resources_changed=True, tools_changed=True)
        return super().create_initialization_options(notification_options or wanted, *more, **named)


def _listed(tool: Offered, *, strict: bool) -> types.Tool:
    """The tool as clients see it. Where the operator lets calls pass that do more than they declare, what is
    declared is no promise of what they do."""
    hints = tool.annotations if strict or tool.kept else {"openWorldHint": True}
    return types.Tool(
        name=tool.name,
        title=tool.title or None,
        description=tool.description,
        input_schema=dict(tool.input_schema),
        output_schema=dict(tool.output_schema) if tool.output_schema is not None else None,
        annotations=types.ToolAnnotations.model_validate(dict(hints)),
    )


def _result(reply: Reply, called: str, version: str) -> dict[str, Any]:
    """A reply as ``CallToolResult`` has it on the wire of a protocol version. called: the tool's name."""
    if reply.content is None:
        whole = json.dumps(reply.structured, ensure_ascii=False, default=str)
        text = error_text(reply, called) if reply.is_error else whole
        content: list[Json] = [{"type": "text", "text": text}]
    else:
        content = [_known(block, version) for block in reply.content]
    result = {"resultType": "complete", "content": content, "isError": reply.is_error}
    if reply.structured is not None:
        result["structuredContent"] = dict(reply.structured)
    return result


def _known(block: Json, version: str) -> Json:
    """A block of content, as a text where the version does not know its kind."""
    kind = str(block.get("type"))
    if version >= _SINCE.get(kind, ""):
        return block
    return {"type": "text", "text": f"[{kind}] {block.get('uri') or block.get('mimeType') or ''}".strip()}
