"""One declared call, from what the caller said to what goes back: read, judged, asked about, made, kept.

There is one way: whatever comes over MCP to use a tool, a resource or a prompt goes through ``make``, is
judged by ``decide`` there, and leaves one record of activity, written before its answer goes out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import TYPE_CHECKING, Final, cast

from anyio import CancelScope, fail_after, get_cancelled_exc_class

from executor.core.hashing import json_size
from executor.gate.decide import decide
from executor.gate.verdict import Ask, Deny
from executor.tools.manifest import Manifest
from executor.tools.names import OURSELVES, short_name
from executor.walker.engine import Failure
from ir import MclError
from mcl.catalog.extras import require_extras
from mcl.core.errors import McpError
from mcl.plugins.mcp.call_questions import DeniedCall, Pending
from mcl.plugins.mcp.call_texts import ToolCallRequest, ToolName, parse_name, read_call
from mcl.plugins.mcp.records import CallRecord
from mcl.serve.exchange import Caller, Json, Reply, refused, refused_at, refused_by
from mcl.serve.folders import Judged, watched
from mcl.usecases.direct import NODE

if TYPE_CHECKING:
    from mcl.plugins.mcp.service import Service

_CANCELLED: Final = "CANCELLED"


@dataclass(slots=True)
class _Told:
    """What the record of a call will say, as far as it is known."""

    verdict: str = "failed"
    code: str = "INTERNAL"
    upstream_ms: float | None = None
    intent_id: str = ""
    gate_id: str = ""
    warnings: tuple[str, ...] = field(default=())

    def warn(self, code: str, reason: str) -> None:
        self.warnings = (*self.warnings, f"{code}: {reason}")

    def denied(self, code: str) -> None:
        self.verdict, self.code = "denied", code

    def failed(self, code: str) -> None:
        self.verdict, self.code = "failed", code

    def allowed(self) -> None:
        self.verdict, self.code = "allowed", ""


async def call(session: Service, variant: str, arguments: Json, caller: Caller) -> Reply:
    """What a call_tool_* tool does. variant: its name."""
    began = perf_counter()
    try:
        request = read_call(variant, arguments)
    except MclError as problem:
        reply = refused_by(problem)
        told = _Told()
        told.denied(problem.code)
        name = _named(arguments)
        kept = await _keep(session, _entry_of_none(variant, name, arguments, told, caller), reply, began)
        return replace(kept, tool=str(name)) if name is not None else kept
    return await make(session, request, caller, began=began)


async def make(
    session: Service, request: ToolCallRequest, caller: Caller, *, began: float | None = None
) -> Reply:
    """Judge a declared call, make it where it is allowed, and keep what became of it.

    A cancelled call is cancelled at its server too, and is kept as such.
    """
    began = perf_counter() if began is None else began
    told = _Told()
    try:
        reply = await _made(session, request, caller, told)
    except get_cancelled_exc_class():
        told.failed(_CANCELLED)
        with CancelScope(shield=True):
            await _keep(session, _entry(request, told, caller), Reply(), began)
        raise
    except TimeoutError:
        told.failed("TIMEOUT")
        reply = refused(
            "TIMEOUT",
            f"{request.name} did not answer in time; what it did until then is not known",
            fix="ask for less at once; look before you try again whether it was done",
        )
    except MclError as problem:
        told.failed(problem.code)
        reply = refused_by(problem)
    except Exception:  # a fault of mcl itself, which whoever called this tells; that it was called is kept
        told.failed("INTERNAL")
        await _keep(session, _entry(request, told, caller), Reply(), began)
        raise
    kept = await _keep(session, _entry(request, told, caller), reply, began)
    return replace(kept, tool=str(request.name)) if kept.is_error else kept


async def _made(session: Service, request: ToolCallRequest, caller: Caller, told: _Told) -> Reply:
    now = session.now
    judged = session.judged(request.call(session.address(request.name)), caller)
    wanted = judged.call
    verdict = decide(wanted, judged.context)
    if not isinstance(verdict, Ask) and caller.state:
        session.questions.withdraw(caller, "the gate does not ask about it any more")
    if isinstance(verdict, Deny):
        refusal = session.refusals.told(judged, verdict)
        told.denied(refusal.code)
        return refused_at(refusal)
    told.intent_id = judged.intent_id
    for one in verdict.warnings:
        told.warn(one.code, one.reason)
    manifest = now.registry.find(wanted.tool_ref)
    assert manifest is not None, "the gate lets no tool pass that it does not know"
    if isinstance(verdict, Ask):
        require_extras([short_name(wanted.tool_ref)])  # nobody is asked about what cannot be done
        return await _asked(session, judged, verdict, manifest, caller, told)
    number = session.channels.number()
    asked = perf_counter()
    try:
        with (
            session.channels.open(number, wanted.node_id, caller.channel),
            fail_after(manifest.timeout_ms / 1000),
        ):
            async with watched(judged, manifest, told.warn) as watch:
                answer = await now.registry.invoke(
                    verdict,
                    wanted,
                    workspace=session.workspace,
                    clock=session.home.clock,
                    redactor=session.redactor,
                    credentials=session.credentials,
                    intent=number,
                )
                watch.answer = answer
    finally:
        told.upstream_ms = (perf_counter() - asked) * 1000
    told.allowed()
    return _answered(manifest, answer, told)


async def _asked(
    session: Service, judged: Judged, ask: Ask, manifest: Manifest, caller: Caller, told: _Told
) -> Reply:
    """Have a person decide, and make the call where they approve it."""
    settled = await session.questions.settle(session, judged.call, ask, caller)
    if isinstance(settled, Pending):
        told.verdict, told.code, told.gate_id = "asked", "GATE_PENDING", settled.gate
        return Reply(wanted=settled.wanted)
    if isinstance(settled, DeniedCall):
        told.gate_id, told.intent_id = settled.gate, settled.intent_id
        told.denied(settled.code)
        return refused_at(settled.verdict)
    told.gate_id, told.intent_id = settled.asked.id, settled.intent_id
    asked = perf_counter()
    try:  # its progress goes to whoever asked for it
        with session.channels.open(settled.intent_id, NODE, caller.channel):
            async with watched(judged, manifest, told.warn) as watch:
                made = await session.questions.run_approved(session, settled)
                watch.answer = made.output
    finally:
        told.upstream_ms = (perf_counter() - asked) * 1000
    if made.output is not None:
        told.allowed()
        return _answered(manifest, made.output, told)
    failure = made.failure or Failure("NO_ANSWER", "the approved call ended without an answer")
    (told.denied if failure.denied else told.failed)(failure.code)
    return refused(
        failure.code,
        failure.message,
        fix=failure.fix,
        example=failure.example,
        data={"intent": made.intent_id},
        blocked=failure.denied,
    )


def _answered(manifest: Manifest, answer: Mapping[str, object], told: _Told) -> Reply:
    """A tool's answer as it goes back: of another server's tool as that gave it, its own errors too."""
    if manifest.outside is None:
        return Reply(answer)
    if answer["is_error"]:
        told.failed("TOOL_ERROR")
    return Reply(
        cast("Json | None", answer["structured"]),
        cast("list[Json]", answer["content"]),
        is_error=bool(answer["is_error"]),
    )


def _entry(request: ToolCallRequest, told: _Told, caller: Caller) -> CallRecord:
    said = request.declaration
    return CallRecord(
        server=request.name.server,
        tool=request.name.tool,
        verdict=told.verdict,
        variant=said.variant,
        code=told.code,
        operation_type=said.operation_type if said.given else "",  # what the variant says, nobody declared
        data_sensitivity=said.data_sensitivity if said.given else "",
        reason=said.reason,
        args=request.args,
        upstream_ms=told.upstream_ms,
        request_id=caller.request_id,
        client=caller.client,
        client_version=caller.version,
        intent_id=told.intent_id,
        gate_id=told.gate_id,
        warnings=told.warnings,
    )


def _named(arguments: Json) -> ToolName | None:
    """The tool that was to be called, whatever else is wrong; None where no tool can have the name."""
    try:
        return parse_name(arguments.get("name"))
    except McpError:
        return None


def _entry_of_none(
    variant: str, name: ToolName | None, arguments: Json, told: _Told, caller: Caller
) -> CallRecord:
    """Of arguments that cannot be understood all is kept as it came, as a call of the tool that was named;
    where none was, of the variant itself."""
    return CallRecord(
        server=name.server if name else OURSELVES,
        tool=name.tool if name else variant,
        verdict=told.verdict,
        variant=variant,
        code=told.code,
        args=arguments,
        request_id=caller.request_id,
        client=caller.client,
        client_version=caller.version,
    )


async def _keep(session: Service, entry: CallRecord, reply: Reply, began: float) -> Reply:
    """Write the record of a call; where that cannot be, its answer is that, and nothing else."""
    size = 0 if reply.wanted is not None else json_size([reply.structured, reply.content]) or 0
    ms = (perf_counter() - began) * 1000
    try:
        await session.activity.keep(replace(entry, result_bytes=size, latency_ms=ms))
    except MclError as problem:
        return refused_by(problem)
    return reply
