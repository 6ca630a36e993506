"""`mcl plan`: what would run, and what the gate says to it; nothing runs."""

from dataclasses import dataclass
from pathlib import Path

from executor.errors import WalkError
from executor.home import Home
from executor.walker import Verdict, Walker
from ir import Intent, PlanTree
from mcl.acts.ids import find_intent
from mcl.acts.models import Models
from mcl.acts.show import shown
from mcl.home import open_home
from mcl.reasoner import ModelReasoner
from mcl.tools import registry


@dataclass(frozen=True)
class Planned:
    """An intent's plan with the gate's verdicts, in walk order.

    accepted: a person has signed exactly this plan.
    """

    intent: Intent
    plan: PlanTree
    state: str
    accepted: bool
    verdicts: tuple[Verdict, ...]


def plan(intent: str, *, workspace: Path | None = None, home: Home | None = None) -> Planned:
    """The plan of an intent, judged as it would be run in `workspace` (default: the current folder).

    Raises InputError; WalkError NO_PLAN; ScopeError where the workspace cannot be used.
    """
    home = home or open_home()
    found = shown(home, find_intent(home, intent))
    if found.intent is None or found.plan is None:
        raise WalkError(
            "NO_PLAN",
            f"this intent is {found.state} and has no plan",
            place=found.id,
            fix=f"mcl show {found.id} says what can be done",
        )
    reasoner = ModelReasoner(Models(home).open)
    walker = Walker(home, registry(lambda: home), workspace=workspace or Path.cwd(), reasoner=reasoner)
    try:
        verdicts = walker.preflight(found.id)
    finally:
        walker.close()
    accepted = bool(found.view.accepted_plan_hash) and found.view.accepted_plan_hash == found.plan.hash
    return Planned(found.intent, found.plan, found.state, accepted, tuple(verdicts))
