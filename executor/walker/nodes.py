"""What the terminal nodes of a plan do with their turn: a gate asks, a step asks the model, a tool_call asks
the gate for leave and calls its tool.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio

from executor.call import Allow, Call
from executor.core.errors import ScopeError, ToolError, UnresolvedError, WalkError
from executor.core.hashing import is_json
from executor.gate.approvals import APPROVE, DENY, IN_DOUBT, Offer
from executor.gate.context import Context
from executor.gate.decide import decide
from executor.gate.guards.promise import files_of
from executor.gate.references import as_text, resolve, typed_args
from executor.gate.verdict import EXAMPLES, Ask, Deny
from executor.tools.manifest import Manifest
from executor.tools.tool import credentials_of
from executor.walker.engine import Again, Failure
from executor.walker.interfaces import Reasoner
from executor.walker.questions import Questions
from executor.walker.run import Run
from executor.walker.tree import Place
from ir import MclError

if TYPE_CHECKING:
    from executor.walker.undo.images import Kept

# ---- Getting leave for one call: the gate is asked, and people where the gate wants them asked.


async def get_leave(call: Call, context: Context, questions: Questions) -> tuple[Call, Allow] | Failure:
    """The call as it was allowed, with the leave to make it; else why there is none."""
    reply = decide(call, context)
    if isinstance(reply, Ask):
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
        if isinstance(answer, Failure):
            return answer
        call = replace(call, approval=answer[0])
        reply = decide(call, context)
    if isinstance(reply, Allow):
        return call, reply
    if isinstance(reply, Deny):
        return Failure(reply.code, reply.reason, reply.fix, call.node_id, True, reply.example)
    return Failure("GATE_PENDING", "the gate asks again", "state the goal again", call.node_id, denied=True)


def contended(problem: ScopeError, call: Call, context: Context) -> Failure:
    """The refusal of a call that was allowed, whose place another run took meanwhile; it is recorded too."""
    example = EXAMPLES.get(problem.code, "")
    fix = "state the goal again when that run is done"
    refusal = Deny(problem.code, problem.message, fix, guard="locks", example=example)
    context.record("refused", {"node": call.node_id, "tool": call.tool_ref, **refusal.to_json()})
    return Failure(problem.code, problem.message, fix, call.node_id, True, example)


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


# ---- A step node: a question to the model, and an answer that is held to what was expected.


_MAX_ANSWER = 1 << 20  # bytes of JSON, as the largest output of a tool
_DEFAULT_PROMPT = "Answer the question from what is given. Say only what follows from it."


async def ask_model(place: Place, run: Run) -> Failure | None:
    """Ask the model once."""
    step, scope = place.node.step, place.scope
    assert step is not None
    if run.reasoner is None:
        return Failure("NO_MODEL", "this step needs a model", "give one with --model", place.id)
    wanted = step.expected_outputs or ("text",)
    try:
        given = {name: as_text(resolve(text, run.outputs)) for name, text in step.inputs.items()}
        system = user = ""
        if scope.prompts is not None:
            system, user = scope.prompts.prompt(scope.mandate.plan.skill_ref, step.prompt_name, given)
        elif step.prompt_name:
            message = f"no prompt {step.prompt_name!r}"
            return Failure("NO_PROMPT", message, "name one of the skill's", place.id)
    except MclError as problem:
        return run.failure(problem, place)
    run.begin_call(place)
    user = user or "\n".join(f"{name}: {text}" for name, text in given.items())
    spending = scope.context.spending
    try:
        with anyio.fail_after(spending.seconds_left() if spending else None):
            answer = await _ask(run.reasoner, system or _DEFAULT_PROMPT, user, wanted, step.kind or "reason")
    except TimeoutError:
        return Failure("TIMEOUT", "the model gave no answer in time", "allow more time", place.id)
    except MclError as problem:
        return run.failure(problem, place)
    if not isinstance(answer, dict):
        said = f"with a {type(answer).__name__}, not {', '.join(wanted)}"
    elif set(answer) != set(wanted) or any(value is None for value in answer.values()):
        said = f"with {', '.join(sorted(answer))!r}, not {', '.join(wanted)}"
    elif not is_json(answer, _MAX_ANSWER):
        said = f"with what is no JSON of at most {_MAX_ANSWER} bytes"
    else:
        run.outputs[place.id] = run.redactor.value(dict(answer))
        return None
    return Failure("BAD_ANSWER", f"the model answered {said}", "try again", place.id)


async def _ask(reasoner: Reasoner, system: str, user: str, outputs: Sequence[str], kind: str) -> object:
    """The model's answer, which may be anything. Raises WalkError MODEL_CRASHED, and its own."""
    try:
        return await reasoner.reason(system=system, user=user, outputs=outputs, kind=kind)
    except (MclError, TimeoutError):
        raise
    except Exception as problem:  # a model is foreign code: its mistakes fail its node only
        raise WalkError(
            "MODEL_CRASHED",
            f"the model crashed: {type(problem).__name__}: {problem}",
            fix="try again, or use another model",
        ) from problem


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
        if kept is not None and run.images is not None:
            await run.images.after(kept, run.outputs.get(place.id), tell=run.ledger.later)


async def _invoke(
    call: Call, leave: Allow, manifest: Manifest, place: Place, run: Run, kept: Kept | None
) -> Failure | Again | None:
    context = place.scope.context
    named = credentials_of(call.args, manifest).values()
    run.redactor = run.redactor.knowing(context.credentials.values(named))
    key = run.begin_call(place, manifest.cost, files_of(call, context, manifest))
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
    context = place.scope.context
    effect = context.effect(call, manifest)
    if effect.operation == "read" or run.images is None:
        return None
    return await run.images.before(
        context.workspace,
        context.paths(call, manifest),
        effect,
        intent=run.ledger.intent_id,
        node=place.id,
        tool=call.tool_ref,
        resumed=place.id in run.history.attempts,
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
            f"Node {place.id} ({what}) was running when its process ended: "
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
