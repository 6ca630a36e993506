"""Looking at the address of an external success criterion, through the gate like any call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import anyio

from executor.call import Allow, Call
from executor.core.errors import ScopeError, ToolError, UnresolvedError
from executor.gate.approvals import APPROVE, DENY
from executor.gate.context import Context
from executor.gate.decide import decide
from executor.gate.examples import EXAMPLES
from executor.gate.offer import Offer
from executor.gate.references import typed_args
from executor.gate.verdict import Ask, Deny
from executor.sandbox.redaction import visible
from executor.walker.check import GRAMMAR, Check, parse_check
from executor.walker.engine.protocol import Failure
from executor.walker.predicates import Criterion
from executor.walker.questions import Questions
from executor.walker.run import Run
from ir import ExternalPredicate, MclError

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


# Seconds before it is looked again at what may pass: a failed criterion is final, a busy host is not.
_WAITS: Final = (0.5, 2.0)


@dataclass(frozen=True, slots=True)
class _Look:
    """What was found at an address: status and answer (empty for an error's), or why nothing was.

    passing: it may be different a moment later, and nobody has to be asked again.
    """

    status: int = 0
    answer: Mapping[str, object] = field(default_factory=dict)
    reason: str = ""
    passing: bool = False

    def flaw(self, check: Check) -> str:
        """Why the check does not hold; "" where it does."""
        return self.reason or check.flaw(self.status, self.answer)


async def external(predicate: ExternalPredicate, id: str, context: Context, run: Run) -> Criterion:
    """Does the check hold at the address? A host that was not granted is asked about.

    id: what the criterion is called (``Mandate.criterion_id``). What was found is kept as a record too.
    """
    evidence: dict[str, object] = {"url": predicate.url, "check": predicate.check}
    check = parse_check(predicate.check)
    if not predicate.url:
        return Criterion(predicate, False, "it names no address (url) that could be looked at", evidence)
    if check is None:
        why = f"its check {visible(predicate.check)[:200]!r} is not understood; write {GRAMMAR}"
        return Criterion(predicate, False, why, evidence)
    found = await _look(id, context, run)
    for seconds in _WAITS:
        if not found.passing or not found.flaw(check):
            break
        await anyio.sleep(seconds)
        found = await _look(id, context, run)
    flaw = found.flaw(check)
    if found.status:
        evidence |= {"status": found.status}
        evidence |= {"sha256": found.answer["sha256"]} if found.answer else {}
        run.ledger.note("looked", {"node": id, "holds": not flaw, **evidence})
    return Criterion(predicate, not flaw, flaw, evidence)


async def _look(id: str, context: Context, run: Run) -> _Look:
    """Look at the address once, if the gate lets it."""
    assert context.mandate is not None, "criteria are those of a mandate"
    planned = context.mandate.criteria[id]
    manifest = run.registry.find(planned.tool_ref)
    try:
        args = typed_args(planned.args, manifest, run.outputs, planned.documents)
    except UnresolvedError as problem:
        return _Look(reason=f"{problem.code}: {problem.message}")
    wanted = Call(planned.tool_ref, args, planned.side_effect_class, id)
    allowed = await get_leave(wanted, context, run.questions)
    if not isinstance(allowed, tuple):
        return _unseen(allowed)
    call, leave = allowed
    try:
        answer = await _fetch(call, leave, context, run)
    except TimeoutError:
        return _Look(reason="TIMEOUT: no answer in time", passing=not call.approval)
    except MclError as problem:
        passing = isinstance(problem, ToolError) and problem.transient and not call.approval
        if problem.code == "HTTP_STATUS":
            return _Look(int(str(problem.data["status"])), passing=passing)
        said = visible(run.redactor.text(f"{problem.code}: {problem.message}"))
        return _Look(reason=said, passing=passing)
    return _Look(int(str(answer["status"])), answer)


async def _fetch(call: Call, leave: Allow, context: Context, run: Run) -> Mapping[str, object]:
    manifest = run.registry.find(call.tool_ref)
    assert manifest is not None, "the gate allowed an unknown tool"
    limit = manifest.timeout_ms / 1000
    if context.spending is not None:
        context.spending.begin(manifest.cost)
        left = context.spending.seconds_left()
        limit = limit if left is None else min(limit, left)
    with anyio.fail_after(limit):
        return await run.registry.invoke(
            leave,
            call,
            workspace=context.workspace,
            clock=context.clock,
            redactor=run.redactor,
            credentials=context.credentials,
            intent=run.ledger.intent_id,
        )


def _unseen(failure: Failure) -> _Look:
    return _Look(reason=f"{failure.code}: {failure.message}")
