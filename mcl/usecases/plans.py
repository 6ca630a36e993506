"""Plans: what would run, and what the gate says to it; nothing runs."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from executor import Verdict, Walker
from executor.core.errors import WalkError
from executor.store.home import Home
from ir import Intent, PlanNode, PlanTree
from ir.plan import member
from mcl.catalog.tools.foreign import all_tools
from mcl.compiler.execution import InstalledSkills
from mcl.core.home import open_home
from mcl.usecases.installed import installed
from mcl.usecases.intents import find_intent, shown
from mcl.usecases.step_models import StepModels

if TYPE_CHECKING:
    from mcl.model import Model

# ---- The gate asked beforehand.


@contextmanager
def preflight(
    home: Home,
    workspace: Path | None,
    skills: Sequence[Path],
    *,
    model: "Path | Model | None" = None,
    ai: bool = True,
) -> Iterator[Walker]:
    """A walker whose preflights judge as a run in `workspace` (default: the current folder) would.

    skills: further folders of skills, for sub-dispatches. model, ai: as of ``run``. Raises ScopeError where
    the workspace cannot be used.
    """
    tools = all_tools(home)
    walker = Walker(
        home,
        tools,
        workspace=workspace or Path.cwd(),
        reasoner=StepModels(home, model, ai=ai),
        sub_skills=InstalledSkills(lambda: installed(home.path, skills), tools),
    )
    try:
        yield walker
    finally:
        walker.close()


# ---- `mcl plan`: what would run, and what the gate says to it.


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

    @property
    def refused(self) -> tuple[Verdict, ...]:
        """What the gate would refuse, as things are."""
        return tuple(one for one in self.verdicts if one.decision == "deny")

    @property
    def unfolded(self) -> PlanTree:
        """The plan with those of its sub-dispatches below their nodes, as far as they are known. It is for
        eyes, not for hashes."""
        return self._with(verdict for verdict in self.verdicts if not verdict.sketched)

    @property
    def sketched(self) -> PlanTree:
        """The same with what the others would be like."""
        return self._with(self.verdicts)

    def _with(self, verdicts: Iterable[Verdict]) -> PlanTree:
        below = {verdict.node_id: verdict.below.root for verdict in verdicts if verdict.below}
        return self.plan.model_copy(update={"root": _unfolded(self.plan.root, below)})


def show(
    intent: str,
    *,
    workspace: Path | None = None,
    skills: Sequence[Path] = (),
    model: "Path | Model | None" = None,
    ai: bool = True,
    home: Home | None = None,
) -> Planned:
    """The plan of an intent, judged as it would be run in `workspace` (default: the current folder).

    skills: further folders of skills, for sub-dispatches. model, ai: as of `run`, for step nodes.

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
    with preflight(home, workspace, skills, model=model, ai=ai) as walker:
        verdicts = walker.preflight(found.id)
    accepted = bool(found.view.accepted_plan_hash) and found.view.accepted_plan_hash == found.plan.hash
    return Planned(found.intent, found.plan, found.state, accepted, tuple(verdicts))


def _unfolded(node: PlanNode, below: Mapping[str, PlanNode]) -> PlanNode:
    children = (below[node.id],) if node.id in below else node.children
    if node.map is not None and node.map.members and len(node.children) == 1:  # each as it will be done
        children = tuple(member(node, number) for number in range(1, node.map.bound + 1))
    if not children:
        return node
    return node.model_copy(update={"children": tuple(_unfolded(child, below) for child in children)})
