"""`mcl replay --steps`: each step of a run is put to its model once more, and what it answers is compared
with what it answered then."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from executor import View
from executor.sandbox.redaction import Redactor, known_variables
from executor.store.home import Home
from executor.store.lifecycle.events import advance
from ir import Envelope, PlanStepBody
from ir.errors import MclError
from ir.plan import every_node
from mcl.compiler.execution import ModelReasoner, SkillPrompts
from mcl.core.event_loop import at_once
from mcl.language.mtx.core import core_of
from mcl.language.skills import Skill, Skills, as_compiled
from mcl.plugins.checking.replay_items import ReplayItem, compared, missing
from mcl.usecases.models import Models

if TYPE_CHECKING:
    from executor.walker.interfaces import StepAnswer
    from executor.walker.steps import StepQuestion
    from mcl.model import Model


class ReplayedSteps:
    """The steps of one intent. given: a model to ask where it is the one that answered."""

    def __init__(self, home: Home, skills: Skills, given: "Model | None" = None) -> None:
        self._home, self._skills, self._given = home, skills, given
        self._redactor = Redactor(known_variables())
        self._models: dict[str, Model | None] = {}

    def items(self, envelopes: Iterable[Envelope]) -> Iterator[ReplayItem]:
        """One for each answer that a model gave, in the order of the journal; asked under the Intent and the
        plan that counted then, with what the nodes before had given."""
        view, outputs = View(), dict[str, object]()
        for envelope in envelopes:
            view, body = advance(view, envelope), envelope.body
            if not isinstance(body, PlanStepBody) or body.status != "completed":
                continue
            if body.model or body.prompt:
                yield self._item(view, body, dict(outputs))
            outputs[body.node_id] = json.loads(body.result) if body.result else {}

    def _item(self, view: View, body: PlanStepBody, outputs: Mapping[str, object]) -> ReplayItem:
        name, then = f"step {body.node_id}", body.result
        then = then.decode(errors="replace") if isinstance(then, bytes) else then
        if not then:
            return missing(name, body.sha256, "what it answered was forgotten; its hash stands")
        if not body.model:
            return missing(name, then, "its row does not say which model answered")
        try:
            question = self._question(view, body, outputs)
            model = self._model(body.model)
        except MclError as error:
            return missing(name, then, f"{error.code}: {error.message}")
        if question is None:
            return missing(name, then, "it belongs to a plan below this one")
        if question.digest != body.prompt:
            return ReplayItem(name, "different", then, "", "it would be asked otherwise now")
        if model is None:
            where = (
                f"the model {body.model[:12]} is not here; mcl model add it, or name its file with --model"
            )
            return missing(name, then, where)
        try:
            answer = _asked(model, question)
        except MclError as error:
            return missing(name, then, f"{error.code}: {error.message}")
        if answer.grammar != body.grammar:
            return ReplayItem(name, "different", body.grammar, answer.grammar, "another grammar holds it now")
        now = self._redactor.value(answer.outputs)
        told = then if now == json.loads(then) else json.dumps(now, ensure_ascii=False)
        return compared(name, then, told, "it answers otherwise")

    def _question(
        self, view: View, body: PlanStepBody, outputs: Mapping[str, object]
    ) -> "StepQuestion | None":
        from executor.walker.maps import member_outputs
        from executor.walker.steps import step_question

        plan = view.plan or view.walked
        nodes = every_node(plan) if plan is not None else {}
        node = nodes.get(body.node_id)
        step = node.step if node is not None else None
        for one in nodes.values():  # what a node in a map may name is the member that it was done for
            if one.map is not None and body.node_id.startswith(f"{one.id}/"):
                outputs = {**outputs, **member_outputs(one, outputs)}
        if step is None or plan is None or view.intent is None:
            return None
        prompts = SkillPrompts(view.intent, self._skill(view))
        return step_question(step, plan.skill_ref, prompts, outputs)

    def _skill(self, view: View) -> Skill:
        """The skill whose prompts were used. Raises SkillError SKILL_CHANGED."""
        made = view.intent.compile_metadata if view.intent is not None else None
        skill = self._skills.get(made.skill_id) if made is not None else None
        return as_compiled(made, skill, core_of(self._home.path))

    def _model(self, digest: str) -> "Model | None":
        if self._given is not None and self._given.digest == digest:
            return self._given
        if digest not in self._models:
            self._models[digest] = Models(self._home).with_digest(digest)
        return self._models[digest]


def _asked(model: "Model", question: "StepQuestion") -> "StepAnswer":
    async def ask() -> "StepAnswer":
        return await ModelReasoner(lambda: model).reason(
            system=question.system, user=question.user, outputs=question.outputs, kind=question.kind
        )

    return at_once(ask)
