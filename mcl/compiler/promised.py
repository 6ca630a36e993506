"""How each promise of an Intent is kept by its plan, as things are in a home."""

from executor.gate.standings import Regions, Signers, standings
from executor.store.home import Home
from ir import Intent, JurisdictionConstraint, PlanTree, PromiseStanding, with_hash


def promised(home: Home, intent: Intent, plan: PlanTree) -> tuple[PromiseStanding, ...]:
    """The standings, in the order of `ir.promises_of`."""
    frame = intent.frame
    regions: Regions = {}
    if any(isinstance(one, JurisdictionConstraint) and one.hard for one in frame.constraints):
        from executor.gate.grants import Grants

        regions = Grants(home).regions(intent.agent)
    signers = Signers.of(home.keyring.entries()) if frame.success_criteria else Signers()
    return standings(intent, plan, signers=signers, regions=regions)


def with_promises(home: Home, intent: Intent, plan: PlanTree) -> PlanTree:
    """The plan, with its hash, that says them."""
    found = promised(home, intent, plan)
    return with_hash(plan.model_copy(update={"promises": found})) if found or plan.promises else plan
