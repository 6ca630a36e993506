"""A plan that a model wrote, written anew by a model that is told what went wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from executor.store.home import Home
from ir import PlanTree, canonical_bytes
from mcl.compiler.plan_writing import Attempt, PlanOrigin, write_plan
from mcl.compiler.stages.rules import Rules
from mcl.language.mtx.core import core_of
from mcl.language.plans.binding import Binder
from mcl.language.plans.checks import CheckedTools
from mcl.language.skills import Skill
from mcl.model.protocol import plan_writer

if TYPE_CHECKING:
    from mcl.model import Model
    from mcl.usecases.critic import Trouble


class PlanRewriter:
    """Writes another plan, held to the grammar and the skill's tools like the first.

    skill, model: open what the plan was written for and with, when they are needed. binder: names the skills
    of further wishes by their content.
    """

    def __init__(
        self,
        home: Home,
        tools: CheckedTools,
        skill: Callable[[], Skill],
        model: Callable[[], Model],
        binder: Callable[[], Binder],
    ) -> None:
        self._binder = binder
        self._home, self._tools, self._skill, self._model = home, tools, skill, model

    def __call__(self, trouble: Trouble) -> PlanTree | None:
        """Another plan; None for a plan that no model wrote, or another grammar than it has now, and where
        what was written is none or the same. Raises what opening the skill and the model raises."""
        plan = trouble.plan
        if not plan.grammar:
            return None
        writer, skill = plan_writer(self._model()), self._skill()
        if writer is None or writer.plan_grammar != plan.grammar or plan.skill_ref != skill.ref:
            return None
        rules = core_of(self._home.path).once(Rules.of)
        told = Attempt(canonical_bytes(plan.root).decode(), (f"it ran, and {trouble.says}",))
        origin = PlanOrigin(plan.id, plan.created_at, plan.created_by)
        made = write_plan(
            writer, skill, trouble.intent, origin, self._tools,
            nodes=rules.plan_nodes, repairs=rules.plan_repairs, earlier=(told,),
            binder=self._binder(),
        )  # fmt: skip
        return made.plan if made.plan is not None and made.plan.root != plan.root else None
