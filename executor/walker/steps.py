"""A step node: a question to a model, an answer that is held to what was expected, and the evidence of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import anyio

from executor.core.errors import WalkError
from executor.core.hashing import is_json, json_hash
from executor.gate.references import as_text, resolve
from executor.walker.engine import Failure
from executor.walker.interfaces import LiveReasoner, Prompts, Reasoner, StepAnswer
from executor.walker.run import Run
from executor.walker.streams import streaming
from executor.walker.tree import Place
from ir import Intent, IrError, MclError, Step
from ir.intent import seed_of
from ir.scalars import DIGEST_PATTERN, MAX_INTEGER

_MAX_ANSWER: Final = 1 << 20  # bytes of JSON, as the largest output of a tool
_DEFAULT_PROMPT: Final = "Answer the question from what is given. Say only what follows from it."
_DIGEST: Final = re.compile(DIGEST_PATTERN)


@dataclass(frozen=True)
class StepQuestion:
    """What a model is asked for a step. outputs: the names of the values that it is to give."""

    system: str
    user: str
    outputs: tuple[str, ...]
    kind: str

    @cached_property
    def digest(self) -> str:
        """sha256 (hex) of the four as one JSON list: `prompt` in the row of the step."""
        return json_hash([self.system, self.user, list(self.outputs), self.kind])


def step_question(
    step: Step, skill_ref: str, prompts: Prompts | None, outputs: Mapping[str, object]
) -> StepQuestion:
    """The question of a step; always the same for the same arguments.

    skill_ref: of the step's plan. prompts: where the skill's prompts are; None: there are none. outputs: what
    the nodes before gave, by their ids.

    Raises WalkError NO_PROMPT; UnresolvedError; and what `prompts` raises.
    """
    given = {name: as_text(resolve(text, outputs)) for name, text in step.inputs.items()}
    system = user = ""
    if prompts is not None:
        system, user = prompts.prompt(skill_ref, step.prompt_name, given)
    elif step.prompt_name:
        raise WalkError("NO_PROMPT", f"no prompt {step.prompt_name!r}", fix="name one of the skill's")
    return StepQuestion(
        system or _DEFAULT_PROMPT,
        user or "\n".join(f"{name}: {text}" for name, text in given.items()),
        step.expected_outputs or ("text",),
        step.kind or "reason",
    )


@dataclass(frozen=True, slots=True)
class StepEvidence:
    """Who answered a step, and to what: the fields of its plan.step."""

    prompt: str
    model: str = ""
    grammar: str = ""
    seed: str = ""
    tokens: int = 0


async def ask_model(place: Place, run: Run) -> Failure | None:
    """Ask the model once."""
    step, scope = place.node.step, place.scope
    assert step is not None
    if run.reasoner is None:
        return Failure("NO_MODEL", "this step needs a model", "give one with --model", place.id)
    try:
        question = step_question(step, scope.mandate.plan.skill_ref, scope.prompts, run.outputs)
    except MclError as problem:
        return run.failure(problem, place)
    run.begin_call(place)
    spending = scope.context.spending
    try:
        with (
            anyio.fail_after(spending.seconds_left() if spending else None),
            streaming(run, place.id, "answer") as stream,
        ):
            answer = await _ask(run.reasoner, question, stream.take)
    except TimeoutError:
        return Failure("TIMEOUT", "the model gave no answer in time", "allow more time", place.id)
    except MclError as problem:
        return run.failure(problem, place)
    if isinstance(answer, StepAnswer):
        run.evidence[place.id] = _evidence(question, answer, scope.mandate.intent)
        answer = answer.outputs
    wanted = question.outputs
    if not isinstance(answer, dict):
        said = f"with a {type(answer).__name__}, not {', '.join(wanted)}"
    elif set(answer) != set(wanted) or any(value is None for value in answer.values()):
        said = f"with {', '.join(sorted(answer))!r}, not {', '.join(wanted)}"
    elif not is_json(answer, _MAX_ANSWER):
        said = f"with what is no JSON of at most {_MAX_ANSWER} bytes"
    else:
        run.outputs[place.id] = run.redactor.value(dict(answer))
        return None
    return Failure("BAD_ANSWER", f"the model answered {said}", "try again", place.id)


async def _ask(reasoner: Reasoner, question: StepQuestion, tell: Callable[[bytes], None]) -> object:
    """The model's answer, which may be anything. Raises WalkError MODEL_CRASHED, and its own."""
    system, user, outputs, kind = question.system, question.user, question.outputs, question.kind
    try:
        if isinstance(reasoner, LiveReasoner):
            return await reasoner.reason_live(system=system, user=user, outputs=outputs, kind=kind, tell=tell)
        return await reasoner.reason(system=system, user=user, outputs=outputs, kind=kind)
    except (MclError, TimeoutError):
        raise
    except Exception as problem:  # a model is foreign code: its mistakes fail its node only
        raise WalkError(
            "MODEL_CRASHED",
            f"the model crashed: {type(problem).__name__}: {problem}",
            fix="try again, or use another model",
        ) from problem


def _evidence(question: StepQuestion, answer: StepAnswer, intent: Intent) -> StepEvidence:
    """What a row can hold of what a model says of itself: foreign code may say anything."""
    model = answer.model if isinstance(answer.model, str) and _DIGEST.fullmatch(answer.model) else ""
    tokens = answer.tokens if type(answer.tokens) is int and 0 <= answer.tokens <= MAX_INTEGER else 0
    return StepEvidence(question.digest, model, str(answer.grammar), _seed(intent, model), tokens)


def _seed(intent: Intent, model: str) -> str:
    """The seed of an Intent as compiling derives it, with the model that answered; "" where the Intent does
    not say what it follows from."""
    try:
        seed = seed_of(intent, model)
    except IrError:
        return ""
    return seed.hex if seed is not None else ""
