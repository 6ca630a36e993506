"""How each promise of an Intent is kept by its plan, as things are in a home, and whether the plan can be
undone."""

from collections.abc import Callable, Collection
from typing import Final, TypeAlias

from executor.gate.effects import lasting
from executor.gate.measures import Find, nothing_found
from executor.gate.standings import Regions, Signers, standings
from executor.store.home import Home
from ir import (
    CommandPredicate,
    ExtensionConstraint,
    ExtensionPredicate,
    Intent,
    JurisdictionConstraint,
    PlanTree,
    PromiseStanding,
    QualityConstraint,
    ToolCall,
    with_hash,
)
from mcl.language.skills import Skill, Skills

Finder: TypeAlias = Callable[[], Find]  # tools are read only where a promise is about one

_BY_TOOLS: Final = (QualityConstraint, CommandPredicate, ExtensionConstraint, ExtensionPredicate)


def promised(home: Home, intent: Intent, plan: PlanTree, tools: Finder | None) -> tuple[PromiseStanding, ...]:
    """The standings, in the order of `ir.promises_of`. tools: makes what finds a manifest by its pinned
    address; None: no tool is known."""
    frame = intent.frame
    regions: Regions = {}
    if any(isinstance(one, JurisdictionConstraint) and one.hard for one in frame.constraints):
        from executor.gate.grants import Grants

        regions = Grants(home).regions(intent.agent)
    signers = Signers.of(home.keyring.entries()) if frame.success_criteria else Signers()
    by_tools = any(_by_tool(one) for one in (*frame.constraints, *frame.success_criteria))
    find = tools() if tools is not None and by_tools else nothing_found
    return standings(intent, plan, signers=signers, regions=regions, find=find)


def _by_tool(item: object) -> bool:
    return isinstance(item, _BY_TOOLS) and getattr(item, "hard", True)


def with_promises(home: Home, intent: Intent, plan: PlanTree, tools: Finder | None) -> PlanTree:
    """The plan, with its hash, that says them. tools: as of `promised`."""
    found = promised(home, intent, plan, tools)
    return with_hash(plan.model_copy(update={"promises": found})) if found or plan.promises else plan


def is_undone(plan: PlanTree, skills: Skills, find: Find) -> bool:
    """Whether an undo puts back all that a plan may do, and nothing in it destroys; of what is not known,
    nobody can say so."""
    for node, _ in plan.root.walk():
        call, sub = node.tool_call, node.sub_dispatch
        if call is not None and not _undoes(call.tool_ref, _given(call), find):
            return False
        skill = skills.get(sub.skill_ref.rpartition("/")[2].partition("@")[0]) if sub is not None else None
        if sub is not None and (sub.agent_ref or skill is None or not always_undone(skill, find)):
            return False
    return True


def always_undone(skill: Skill, find: Find) -> bool:
    """The same of any plan of a skill."""
    return not skill.sub_skills and all(_undoes(one, None, find) for one in skill.tools)


def _given(call: ToolCall) -> frozenset[str]:
    return frozenset((*call.args, *(name for other in call.alternatives for name in other)))


def _undoes(reference: str, given: Collection[str] | None, find: Find) -> bool:
    """given: the arguments of the call; None: any."""
    manifest = find(reference)
    if manifest is None:
        return False
    cases = [one for one in manifest.when if given is None or set(one.equals) <= set(given)]
    destroys = "destructive" in (manifest.operation, *(one.operation for one in cases))
    effect = manifest.effect(dict.fromkeys(given or (), ""), lambda path: False)
    return not destroys and not lasting(manifest, effect)
