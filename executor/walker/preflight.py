"""The whole plan before its first node: what is wrong with it, what will be refused, what a person will be
asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from executor.errors import UnresolvedError
from executor.gate.call import Call
from executor.gate.context import Context
from executor.gate.decide import BEFOREHAND, foresee
from executor.gate.verdict import Ask, Deny
from executor.references import typed_args
from ir import PlanNode, PlanTree, check_plan

_UNSIGNED = ("integrity", "state")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the gate says of one node beforehand; ``reply`` is None where it objects to nothing."""

    node_id: str
    kind: str
    reply: Ask | Deny | None = None
    tool_ref: str = ""
    effects: tuple[str, ...] = ()
    operation: str = ""

    @property
    def decision(self) -> Literal["allow", "ask", "deny"]:
        """The verdict in one word."""
        return "allow" if self.reply is None else "ask" if isinstance(self.reply, Ask) else "deny"

    def to_json(self) -> dict[str, object]:
        """The verdict as a JSON object."""
        return {
            "node": self.node_id,
            "kind": self.kind,
            "tool": self.tool_ref,
            "effects": list(self.effects),
            "operation": self.operation,
            "decision": self.decision,
            **(self.reply.to_json() if self.reply else {}),
        }


def preflight(
    plan: PlanTree, context: Context, *, reasoner: bool = True, accepted: bool = True
) -> list[Verdict]:
    """Judge every node of a plan, in walk order; flaws of the plan itself come first.

    Args:
        reasoner: is there a model for step nodes?
        accepted: False for a plan that is still proposed: who signed what is then not asked.
    """
    intent_id = context.mandate.intent.id if context.mandate else None
    flaws = [
        Verdict(finding.node_id, "plan", Deny(finding.code, finding.message, finding.fix, guard="plan"))
        for finding in check_plan(plan, intent_id=intent_id)
    ]
    if any(
        flaw.reply and getattr(flaw.reply, "code", "") in ("TOO_MANY_NODES", "TOO_DEEP") for flaw in flaws
    ):
        return flaws
    nodes = (node for node, _ in plan.root.walk() if not node.children)
    return flaws + [_judge(node, context, reasoner=reasoner, accepted=accepted) for node in nodes]


def _judge(node: PlanNode, context: Context, *, reasoner: bool, accepted: bool) -> Verdict:
    if node.kind == "step":
        lacking = Deny(
            "NO_MODEL", "this step needs a model, and none is loaded", "give one with --model", guard="model"
        )
        return Verdict(node.id, node.kind, None if reasoner else lacking)
    if node.kind == "gate" and node.gate:
        return Verdict(node.id, node.kind, Ask(node.gate.question, binding="", expires_at="", guard="gate"))
    if node.kind == "tool_call" and node.tool_call:
        planned = node.tool_call
        manifest = context.tools.find(planned.tool_ref)
        try:
            args = typed_args(planned.args, manifest, None)
        except UnresolvedError as problem:
            refusal = Deny("INVALID_ARGS", problem.message, problem.fix, guard="arguments")
            return Verdict(node.id, node.kind, refusal, planned.tool_ref)
        call = Call(planned.tool_ref, args, planned.side_effect_class, node.id, planned.timeout_ms)
        guards = BEFOREHAND if accepted else tuple(one for one in BEFOREHAND if one[0] not in _UNSIGNED)
        effect = context.effect(call, manifest) if manifest else None
        return Verdict(
            node.id,
            node.kind,
            foresee(call, context, guards),
            planned.tool_ref,
            tuple(sorted(effect.classes)) if effect else (),
            effect.operation if effect else "",
        )
    refusal = Deny(
        "SUB_DISPATCH_UNAVAILABLE" if node.kind == "sub_dispatch" else "UNKNOWN_NODE_KIND",
        f"this executor runs no {node.kind!r} nodes",
        "put the steps of the sub-skill into this plan",
        guard="walker",
    )
    return Verdict(node.id, node.kind, refusal)
