"""A tool_call node: arguments, the gate, the call."""

from __future__ import annotations

from contextlib import ExitStack

import anyio

from executor.call import Allow, Call
from executor.core.errors import ScopeError, ToolError, UnresolvedError
from executor.gate.references import typed_args
from executor.tools.credentials import credentials_of
from executor.tools.manifest import Manifest
from executor.walker.engine.protocol import Again, Failure
from executor.walker.external import contended, get_leave
from executor.walker.run import Run
from executor.walker.tree import Place
from executor.walker.undo.images import Kept
from ir import MclError


async def attempt(place: Place, run: Run) -> Failure | Again | None:
    """Call the tool once, if the gate lets it."""
    planned, context = place.node.tool_call, place.scope.context
    assert planned is not None
    manifest = run.registry.find(planned.tool_ref)
    try:
        args = typed_args(planned.args, manifest, run.outputs, planned.documents)
    except UnresolvedError as problem:
        return run.failure(problem, place)
    call = Call(planned.tool_ref, args, planned.side_effect_class, place.id, planned.timeout_ms)
    allow = await get_leave(call, context, run.questions)
    if isinstance(allow, Failure):
        return allow
    call, leave = allow
    assert manifest is not None, "the gate allowed an unknown tool"
    with ExitStack() as held:
        try:
            held.enter_context(context.locks.hold(context.written(call, manifest)))
        except ScopeError as problem:  # another run took the path since the gate looked
            return contended(problem, call, context)
        return await _make(call, leave, manifest, place, run)


async def _make(
    call: Call, leave: Allow, manifest: Manifest, place: Place, run: Run
) -> Failure | Again | None:
    """Make the call that was allowed, with what it may change kept as it was."""
    try:
        kept = await _keep(call, manifest, place, run)
    except MclError as problem:
        return run.failure(problem, place)
    try:
        return await _invoke(call, leave, manifest, place, run, kept)
    finally:
        if run.images is not None:
            await run.images.after(kept, run.outputs.get(place.id), tell=run.ledger.later)


async def _invoke(
    call: Call, leave: Allow, manifest: Manifest, place: Place, run: Run, kept: Kept | None
) -> Failure | Again | None:
    context = place.scope.context
    named = credentials_of(call.args, manifest).values()
    run.redactor = run.redactor.knowing(context.credentials.values(named))
    key = run.begin_call(place, manifest.cost)
    if kept is not None:
        kept.close()
    limit = (call.timeout_ms or manifest.timeout_ms) / 1000
    left = context.spending.seconds_left() if context.spending else None
    try:
        with anyio.fail_after(limit if left is None else min(limit, left)):
            run.outputs[place.id] = await run.registry.invoke(
                leave,
                call,
                workspace=context.workspace,
                clock=context.clock,
                redactor=run.redactor,
                idempotency_key=key,
                credentials=context.credentials,
                intent=run.ledger.intent_id,
                progress=run.progress(place),
            )
    except TimeoutError:
        if left is not None and left <= limit:
            message = f"no answer within {left:g} s, which is all that the budget or the deadline left"
            return Failure("TIMEOUT", message, "agree on more time", place.id)
        failure = Failure(
            "TIMEOUT", f"no answer within {limit:g} s", "allow more time (timeout_ms)", place.id
        )
        return run.again(failure, manifest, place)
    except MclError as problem:
        failure = run.failure(problem, place)
        passing = isinstance(problem, ToolError) and problem.transient
        return run.again(failure, manifest, place) if passing else failure
    return None


async def _keep(call: Call, manifest: Manifest, place: Place, run: Run) -> Kept | None:
    """Keep what the call may change; that it is kept is written together with the start of the node."""
    if run.images is None:
        return None
    context = place.scope.context
    return await run.images.before(
        context.workspace,
        context.paths(call, manifest),
        context.effect(call, manifest),
        intent=run.ledger.intent_id,
        node=place.id,
        tool=call.tool_ref,
        resumed=place.id in run.earlier.attempts,
        tell=run.ledger.later,
    )
