"""From a contract to its Intent and the plan of it in one repository: deterministic; no model is asked."""

import re
import warnings
from collections.abc import Mapping
from functools import partial

from ir import Gate, Intent, PlanNode, PlanTree, with_hash
from mcl.core.errors import RepoError
from mcl.core.repositories import Resolved
from mcl.core.text import cut
from mcl.language.plans.planner import KnownTools
from mcl.language.skills import Skill
from mcl.plugins.repo.contract import Effect, RepoIntent, intent_types
from mcl.plugins.repo.wording import rules, words_of
from mcl.usecases.packs import PackOrigin, planned, without_secrets

# ---- What a person is asked before a step: gates of the plan. Pure.

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
    return cut(line, _SAID)


def _literal(text: str) -> str:
    """A text as a plan holds it where references are read."""
    return text.replace("${", "$${")


REFUSED = 2
refused = partial(RepoError, exit=REFUSED)
# What the Intent of each class may do at most: looking; changing; running what may change.
_VERBS: Mapping[Effect, str] = {
    "read-only": "find",
    "state-write": "modify",
    "executes": "build",
    "repo-write": "build",
}


def plan_contract(
    contract: RepoIntent,
    repository: Resolved | None,
    *,
    prose: str,
    origin: PackOrigin,
    skill: Skill,
    tools: KnownTools,
    ripgrep: bool,
    every: bool = False,
) -> tuple[Intent, PlanTree]:
    """The Intent of a contract that was judged, and the plan that the pack makes of it, both with hashes.

    repository: what it is about; None where the intent is about none. prose: what was asked for, in the
    asker's words. ripgrep: there is one, and it may be run. every: a person is asked before every step.

    Raises RepoError SECRET_INLINE (what looks like a key stands in it), NOT_PLANNED (the pack has no plan for
    it, or what it plans does not hold); SkillError TOOL_MISSING.
    """
    without_secrets((prose, contract.text), refused, "leave it out")
    intent, plan = planned(
        skill,
        _VERBS[intent_types()[contract.intent].effect],
        _objects(contract, repository, prose, ripgrep=ripgrep),
        prose=prose,
        origin=origin,
        tools=tools,
        refusal=refused,
    )
    return intent, with_questions(plan, contract, every=every or contract.requires_confirmation)


def _objects(
    contract: RepoIntent, repository: Resolved | None, prose: str, *, ripgrep: bool
) -> dict[str, str]:
    """What fills the slots of the pack; "" fills none."""
    kind = intent_types()[contract.intent]
    given = dict(zip(kind.arguments, contract.args, strict=True))
    return {
        "intent": contract.intent,
        "repo": repository.key if repository else "",
        "folder": str(repository.path) if repository else "",
        "command": contract.command or "",
        **given,
        "search": _search(given["query"], ripgrep=ripgrep) if "query" in given else "",
        "language": "sv" if contract.message == kind.message["sv"] or _is_swedish(prose) else "",
        "contract": contract.text,
    }


def _search(query: str, *, ripgrep: bool) -> str:
    """What looks for it: what is no regular expression is a text, whoever searches."""
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(query)
    except (re.error, OverflowError, RecursionError):
        return "text"
    return "ripgrep" if ripgrep else "pattern"


def _is_swedish(prose: str) -> bool:
    known = rules()[1].swedish
    return any(word.folded in known or not {*"åäö"}.isdisjoint(word.folded) for word in words_of(prose))
