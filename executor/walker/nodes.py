"""What the terminal nodes of a plan do with their turn: a gate asks a person, a tool_call asks the gate for
leave and calls its tool. What a step does is in `steps`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from executor.call import Allow, Call
from executor.core.errors import ScopeError, ToolError, UnresolvedError
from executor.gate.approvals import APPROVE, DENY, IN_DOUBT, Offer
from executor.gate.context import Context
from executor.gate.decide import decide
from executor.gate.effects import lasting
from executor.gate.guards.promise import files_of
from executor.gate.references import as_text, resolve, typed_args
from executor.gate.verdict import EXAMPLES, Ask, Deny
from executor.tools.manifest import Manifest
from executor.tools.tool import credentials_of
from executor.walker.contention import LockWait
from executor.walker.engine import Again, Failure
from executor.walker.questions import Questions
from executor.walker.run import Run
from executor.walker.streams import streaming
from executor.walker.tree import Place
from ir import MclError

if TYPE_CHECKING:
    from executor.walker.undo.images import Kept

# ---- Getting leave for one call: the gate is asked, and people where the gate wants them asked.


async def get_leave(
    call: Call,
    context: Context,
    questions: Questions,
    wait: Callable[[Call, Deny], Awaitable[Deny | None]] | None = None,
) -> tuple[Call, Allow] | Failure:
    """The call as it was allowed, with the leave to make it; else why there is none.

    wait: waits until what stands against the call has passed, and says what else does by then; None: such a
    refusal is one like any other.
    """
    reply = decide(call, context)
    while isinstance(reply, Ask | Deny):
        if isinstance(reply, Deny) and reply.passes and wait is not None:
            if (late := await wait(call, reply)) is not None:
                return refused(late, call)
        elif isinstance(reply, Deny):
            return refused(reply, call)
        elif call.approval:
            fix = "state the goal again"
            return Failure("GATE_PENDING", "the gate asks again", fix, call.node_id, denied=True)
        else:
            answer = await _approval(call, reply, questions)
            if isinstance(answer, Failure):
                return answer
            call = replace(call, approval=answer)
        reply = decide(call, context)
    return call, reply


def refused(reply: Deny, call: Call) -> Failure:
    """A refusal as the failure of the call's node."""
    return Failure(reply.code, reply.reason, reply.fix, call.node_id, True, reply.example)


async def _approval(call: Call, reply: Ask, questions: Questions) -> str | Failure:
    """The id of the gate at which a person approved this very call."""
    answer = await questions.ask(
        "approval",
        call.node_id,
        reply.question,
        rule="matrix://rule/exact-call",
        offer=Offer.of((APPROVE, DENY)),
        expires_at=reply.expires_at,
        tool_ref=call.tool_ref,
        args=call.args,
        binding=reply.binding,
    )
    return answer if isinstance(answer, Failure) else answer[0]


def contended(problem: ScopeError, call: Call, context: Context) -> Deny:
    """The refusal of a call that was allowed, whose place another run took meanwhile; it is recorded too."""
    example = EXAMPLES.get(problem.code, "")
    refusal = Deny(problem.code, problem.message, problem.fix, guard="locks", example=example, passes=True)
    context.record("refused", {"node": call.node_id, "tool": call.tool_ref, **refusal.to_json()})
    return refusal


# ---- A gate node: a question to a person.


async def ask_gate(place: Place, run: Run) -> Failure | None:
    """Ask, unless a person decided while no run was waiting."""
    gate = place.node.gate
    assert gate is not None
    try:
        question = as_text(resolve(gate.question, run.outputs))
    except UnresolvedError as problem:
        return run.failure(problem, place)
    run.begin(place)
    state = run.questions.decided(place.id)
    if state is None:
        answer = await run.questions.ask(
            "gate",
            place.id,
            question,
            rule=gate.rule_ref or "matrix://rule/plan-gate",
            offer=Offer.of(gate.options, gate.refuses),
            timeout_ms=gate.timeout_ms,
        )
        state = answer if isinstance(answer, Failure) else answer[1]
    if isinstance(state, Failure):
        return state
    run.outputs[place.id] = {"decision": state.decision, "answer": state.answer, "reason": state.reason}
    return None


# ---- A tool_call node: arguments, the gate, the call.


async def call_tool(place: Place, run: Run) -> Failure | Again | None:
    """Call the tool once, if the gate lets it."""
    planned, context = place.node.tool_call, place.scope.context
    assert planned is not None
    manifest = run.registry.find(planned.tool_ref)
    try:
        args = typed_args(planned.args, manifest, run.outputs, planned.documents)
    except UnresolvedError as problem:
        return run.failure(problem, place)
    wanted = Call(planned.tool_ref, args, planned.side_effect_class, place.id, planned.timeout_ms)
    wait = LockWait(place, run)
    while True:
        allow = await get_leave(wanted, context, run.questions, wait)
        if isinstance(allow, Failure):
            return allow
        call, leave = allow
        assert manifest is not None, "the gate allowed an unknown tool"
        files = files_of(call, context, manifest)
        with ExitStack() as held:
            try:
                held.enter_context(context.locks.hold(context.written(call, manifest)))
            except ScopeError as problem:  # another run took the path since the gate looked
                refusal = contended(problem, call, context)
            else:
                if context.spending is not None:  # at once: the next call that the gate looks at is one more
                    context.spending.begin(manifest.cost, files)
                return await _make(call, leave, manifest, place, run, files)
        if (late := await wait(wanted, refusal)) is not None:
            return refused(late, wanted)


async def _make(
    call: Call, leave: Allow, manifest: Manifest, place: Place, run: Run, files: frozenset[str]
) -> Failure | Again | None:
    """Make the call that was allowed, with what it may change kept as it was."""
    try:
        kept = await _keep(call, manifest, place, run)
    except MclError as problem:
        return run.failure(problem, place)
    try:
        return await _invoke(call, leave, manifest, place, run, files, kept)
    finally:
        if kept is not None and run.images is not None:
            await run.images.after(kept, run.outputs.get(place.id), tell=run.ledger.later)


async def _invoke(
    call: Call,
    leave: Allow,
    manifest: Manifest,
    place: Place,
    run: Run,
    files: frozenset[str],
    kept: Kept | None,
) -> Failure | Again | None:
    context = place.scope.context
    named = credentials_of(call.args, manifest).values()
    run.redactor = run.redactor.knowing(context.credentials.values(named))
    key = run.begin_call(place, manifest.cost, files, counted=True)
    if kept is not None:
        kept.close()
    limit = (call.timeout_ms or manifest.timeout_ms) / 1000
    left = context.spending.seconds_left() if context.spending else None
    try:
        with (
            anyio.fail_after(limit if left is None else min(limit, left)),
            streaming(run, place.id, "log") as stream,
        ):
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
                output=stream.take,
                absent=kept.absent if kept is not None else frozenset(),
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
    context = place.scope.context
    effect = context.effect(call, manifest)
    if effect.operation == "read" or run.images is None:
        return None
    paths = context.paths(call, manifest)
    if manifest.undo:
        from executor.walker.undo.looker import within

        try:
            touched = await anyio.to_thread.run_sync(run.registry.touched, call, context.workspace)
        except MclError:
            if place.id not in run.history.attempts:
                raise
            touched = ()  # an earlier attempt may have done it all, and has said what it would change
        paths = within(touched or (), paths, context.workspace)
    return await run.images.before(
        context.workspace,
        paths,
        effect,
        intent=run.ledger.intent_id,
        node=place.id,
        tool=call.tool_ref,
        stays=lasting(manifest, effect),
        history=context.history(call, manifest),
        resumed=place.id in run.history.attempts,
        whole=manifest.undo == "whole",
        tell=run.ledger.later,
    )


# ---- A node that was begun in an earlier run of the same plan, and nobody knows how far it came.
#
# What is idempotent is done again. Anything else may have happened: a person says whether it is to be done
# again, counts as done, or ends the run. Either way the decision is a record of the journal. The question
# names the attempt that it is about by its idempotency key, so no answer counts for another one.


_RETRY, _DONE, _STOP = OPTIONS = ("retry", "done", "stop")
_OFFER = Offer(OPTIONS, (_STOP,))


async def settle(place: Place, run: Run) -> tuple[bool, Failure | None]:
    """Decide about it, or have a person decide. True: nothing is left to do for it."""
    what = _acts(place, run)
    if not what:
        _note(place, run, _RETRY, "")
        return False, None
    gate, decision = _decided(place, run)
    if not decision:
        answer = await run.questions.ask(
            "in_doubt",
            place.id,
            f"Node {place.id} ({what}) {_interrupted(place, run)}: "
            "it may have happened. Do it again, count it as done, or stop?",
            rule=_rule(place, run),
            offer=_OFFER,
        )
        if isinstance(answer, Failure):
            return True, answer
        gate, decision = answer[0], answer[1].decision
    _note(place, run, decision, gate)
    if decision == _RETRY:
        return False, None
    if decision == _DONE:
        if run.images is not None:  # what is there now counts as what the call left
            workspace = place.scope.context.workspace
            await run.images.settle(workspace, intent=run.ledger.intent_id, node=place.id)
        run.outputs[place.id] = {}
        return True, None
    stop = Failure("GATE_DENIED", "neither 'retry' nor 'done'", "state the goal again", place.id, denied=True)
    return True, stop


def _interrupted(place: Place, run: Run) -> str:
    """How the attempt ended that nobody knows the effects of."""
    failed = run.history.states.get(place.id) == "failed"
    return "failed when it ran" if failed else "was running when its process ended"


def _acts(place: Place, run: Run) -> str:
    """The tool or the agent that may have acted, where acting twice is not acting once; else nothing."""
    if (call := place.node.tool_call) is not None:
        manifest = run.scope.context.find(call.tool_ref)
        return "" if manifest is not None and manifest.idempotent else call.tool_ref
    return place.node.sub_dispatch.agent_ref if place.node.sub_dispatch else ""


def _decided(place: Place, run: Run) -> tuple[str, str]:
    """What a person decided about this very start while no run was waiting: gate and decision."""
    begun = run.history.begun.get(place.id)
    gates = run.ledger.view().gates
    for id in reversed(begun.asked if begun else ()):
        gate = gates.get(id)
        if gate is None or gate.options != OPTIONS or not gate.decision:
            continue
        # A question of before questions named their attempt: that it stands behind this start must do.
        if gate.rule in (IN_DOUBT, _rule(place, run)):
            return id, gate.decision
    return "", ""


def _rule(place: Place, run: Run) -> str:
    begun = run.history.begun.get(place.id)
    key = begun.told.get("key") if begun else None
    return f"{IN_DOUBT}/{key}" if key else IN_DOUBT


def _note(place: Place, run: Run, decision: str, gate: str) -> None:
    """gate: id of the policy.gate, "" where nobody had to be asked."""
    attempt = run.attempts.get(place.id, 0)
    told = {"node": place.id, "attempt": attempt, "decision": decision, "gate": gate}
    run.ledger.note("in_doubt", told)
