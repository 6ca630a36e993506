"""What led to an Intent, compiled once more: to compare it, or with what was corrected since. Stores nothing.

recompile(intent, draft, answers=…, home=…, skills=…, model=…)       → Intent
compile_corrected(intent, draft, changes, answers=…, home=…, …)      → Outcome
"""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from executor.store.home import Home
from executor.store.lifecycle.view import View
from ir import Intent, IntentAnswerBody, IntentDraftBody
from mcl.compiler.outcome import CompileReasons, Outcome, Refused
from mcl.compiler.pipeline import Pipeline
from mcl.compiler.stages.classify import offered_skills
from mcl.compiler.stages.extract import read_answer
from mcl.compiler.stages.request import GoalChange, GoalRequest
from mcl.core.errors import InputError, MemoryStoreError
from mcl.language.mtx.core import Core, core_of
from mcl.language.skills import Skills
from mcl.model.protocol import Model

if TYPE_CHECKING:
    from executor.tools.registry import Registry


def recompile(
    intent: Intent,
    draft: IntentDraftBody,
    *,
    answers: Sequence[IntentAnswerBody] = (),
    home: Home,
    skills: Skills,
    model: Model,
    core: Core | None = None,
    tools: "Callable[[], Registry] | None" = None,
) -> Intent:
    """Compile again what led to `intent`: same id, time and memories; equal inputs give equal bytes.

    tools: makes those that it may name. Stores nothing, and has no time limit. Raises MemoryStoreError
    SNAPSHOT_UNKNOWN where this home never had the memories of then; InputError OUT_OF_SCOPE where it is
    refused now; and what compile_goal raises.
    """
    pipeline = Pipeline(home, skills, core or core_of(home.path), None, lambda: 0.0, again=True)
    pipeline.known = tools
    outcome = _again(pipeline, intent, draft, answers, (), model)
    if isinstance(outcome, Refused):
        fix = "install the skill that it was compiled with"
        raise InputError("OUT_OF_SCOPE", outcome.message, place="goal", fix=fix)
    return outcome.intent


def compile_corrected(
    intent: Intent,
    draft: IntentDraftBody,
    changes: Sequence[GoalChange],
    *,
    answers: Sequence[IntentAnswerBody] = (),
    home: Home,
    skills: Skills,
    model: Model,
    core: Core | None = None,
    tools: "Callable[[], Registry] | None" = None,
    again: bool = False,
) -> Outcome:
    """Compile the goal of an Intent with all corrections of it, as of the same moment and memories.

    changes: every one so far, in the order in which they were said. again: for a replay, which asks nothing
    about promises. Stores nothing, and has no time limit. Raises InputError GOAL_TOO_LONG, SLOT_UNKNOWN,
    ANSWER_UNREADABLE, and as `recompile`.
    """
    pipeline = Pipeline(home, skills, core or core_of(home.path), None, lambda: 0.0, tools, again=again)
    return _again(pipeline, intent, draft, answers, changes, model)


def reasons_again(
    id: str,
    view: View,
    changes: Sequence[GoalChange],
    *,
    at: str,
    home: Home,
    skills: Skills,
    model: Model,
) -> tuple[CompileReasons | None, bool]:
    """What a goal was decided by, with all corrections of it, and whether it still comes to the same Frame.

    at: when it was drafted. Stores nothing, and has no time limit. Raises as `compile_corrected`; InputError
    NOT_COMPILED where nobody said a goal.
    """
    pipeline = Pipeline(home, skills, core_of(home.path), None, lambda: 0.0, again=True)
    draft, intent = view.draft, view.intent
    if draft is None or (intent is not None and intent.compile_metadata is None):
        message = "this was not compiled from words, so nothing was chosen or read"
        raise InputError("NOT_COMPILED", message, place=id, fix=f"mcl show {id}")
    if intent is not None:
        outcome = _again(pipeline, intent, draft, view.answers, changes, model)
        same = not isinstance(outcome, Refused) and outcome.intent.frame.objects == intent.frame.objects
        return outcome.reasons, same
    user, agent = home.keyring.user.did, home.keyring.agent.did
    request = GoalRequest.of_draft(draft, view.answers, id=id, at=at, actor=user, agent=agent)
    outcome = pipeline.run(request, model)
    return outcome.reasons, isinstance(outcome, Refused) or bool(view.questions)


def _again(
    pipeline: Pipeline,
    intent: Intent,
    draft: IntentDraftBody,
    answers: Sequence[IntentAnswerBody],
    changes: Sequence[GoalChange],
    model: Model,
) -> Outcome:
    request = GoalRequest.of_draft(
        draft, answers, id=intent.id, at=intent.created_at, actor=intent.actor, agent=intent.agent
    )
    if changes:
        request = _corrected(request, changes, intent, pipeline)
    root = intent.compile_metadata.cortex_snapshot_hash if intent.compile_metadata else ""
    snapshot = pipeline.memory.snapshot_of(root)
    if snapshot is None:
        raise MemoryStoreError(
            "SNAPSHOT_UNKNOWN",
            "this home never had the memories that the intent was compiled with",
            place=root,
            fix="replay it in the home that compiled it",
        )
    return pipeline.run(request, model, snapshot)


def _corrected(
    request: GoalRequest, changes: Sequence[GoalChange], intent: Intent, pipeline: Pipeline
) -> GoalRequest:
    """The request with the corrections of it, each field of the last found to be what it must be."""
    request = request.corrected(changes)
    if len(request.told) > pipeline.rules.longest_prose:
        raise InputError(
            "GOAL_TOO_LONG",
            f"the goal and its corrections have {len(request.told)} characters; at most "
            f"{pipeline.rules.longest_prose} are read",
            place="correction",
            fix="say it in fewer words, or by slot: --set slot.NAME=…",
        )
    offered_skills(request, pipeline.skills)
    skill = pipeline.skills.get(intent.compile_metadata.skill_id) if intent.compile_metadata else None
    for field, text in changes[-1].fields.items():
        if skill is None:
            continue
        names = [slot.name for slot in skill.slots]
        if field.startswith("slot.") and field.removeprefix("slot.") not in names:
            raise InputError(
                "SLOT_UNKNOWN",
                f"the skill {skill.id} has no slot {field.removeprefix('slot.')!r}",
                place=field,
                fix=f"its slots: {', '.join(names) or 'none'}",
            )
        read_answer(request, skill, field, text, pipeline.rules)
    return request
