"""What a person is asked before a step: gates of the plan. Pure."""

from ir import Gate, PlanNode, PlanTree, with_hash
from mcl.plugins.repo.contract import RepoIntent

RULE = "matrix://rule/repo-confirm"
_OPTIONS = ("approve", "deny")
_SAID = 300  # characters told of the risk, and as many of the way back


def with_questions(plan: PlanTree, contract: RepoIntent, *, every: bool) -> PlanTree:
    """A plan whose questions also say what the contract says of its risk and of the way back.

    every: a gate stands before each call that has none yet.
    """
    said = _said(contract)
    root = _asked(plan.root) if every else plan.root
    root = _remarked(root, said) if said else root
    return plan if root == plan.root else with_hash(plan.model_copy(update={"root": root}))


def _asked(node: PlanNode) -> PlanNode:
    """A node with a gate before each call in it that has none."""
    if node.tool_call is not None:
        gate = _gate(node)
        return PlanNode(
            id=f"{node.id}-asked", kind="sequential", description=node.description, children=(gate, node)
        )
    children: list[PlanNode] = []
    for child in node.children:
        gated = bool(children) and children[-1].gate is not None
        if child.tool_call is not None and node.kind == "sequential":
            children += [child] if gated else [_gate(child), child]
        else:
            children.append(_asked(child))
    return node.model_copy(update={"children": tuple(children)}) if children else node


def _gate(node: PlanNode) -> PlanNode:
    question = f"{_literal(node.description)}?"
    return PlanNode(
        id=f"agree-{node.id}",
        kind="gate",
        description="Ask first",
        gate=Gate(rule_ref=RULE, question=question, options=_OPTIONS),
    )


def _remarked(node: PlanNode, said: str) -> PlanNode:
    if node.gate is not None:
        gate = node.gate.model_copy(update={"question": node.gate.question + said})
        return node.model_copy(update={"gate": gate})
    if not node.children:
        return node
    return node.model_copy(update={"children": tuple(_remarked(child, said) for child in node.children)})


def _said(contract: RepoIntent) -> str:
    """What whoever wrote the contract says of it, told as their words."""
    said = (("risk", contract.risk_level), ("way back", contract.rollback_plan))
    return _literal("".join(f"\n{name}, as it says: {short(text)}" for name, text in said if text))


def short(text: str) -> str:
    """Words of somebody else on one line, and so few that what stands before them stays in sight."""
    line = " ".join(text.split())
    return line if len(line) <= _SAID else f"{line[: _SAID - 1]}…"


def _literal(text: str) -> str:
    """A text as a plan holds it where references are read."""
    return text.replace("${", "$${")
