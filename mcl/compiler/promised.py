"""How each promise of an Intent is kept by its plan, as things are in a home."""

from collections.abc import Callable
from typing import Final, TypeAlias

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
    with_hash,
)

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
