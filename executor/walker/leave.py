"""Getting leave for one call: the gate is asked, and people where the gate wants them asked."""

from __future__ import annotations

from dataclasses import replace

from executor.call import Allow, Call
from executor.core.errors import ScopeError
from executor.gate.approvals import APPROVE, DENY
from executor.gate.context import Context
from executor.gate.decide import decide
from executor.gate.examples import EXAMPLES
from executor.gate.offer import Offer
from executor.gate.verdict import Ask, Deny
from executor.walker.asking import Asking
from executor.walker.engine.protocol import Failure


async def get_leave(call: Call, context: Context, asking: Asking) -> tuple[Call, Allow] | Failure:
    """The call as it was allowed, with the leave to make it; else why there is none."""
    reply = decide(call, context)
    if isinstance(reply, Ask):
        answer = await asking.ask(
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
