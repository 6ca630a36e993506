"""A step node: a question to the model, and an answer that is held to what was expected."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from executor.core.errors import WalkError
from executor.core.hashing import is_json
from executor.gate.references import as_text, resolve
from executor.walker.engine.protocol import Failure
from executor.walker.reasoner import Reasoner
from executor.walker.run import Run
from executor.walker.tree import Place
from ir import MclError

_MAX_ANSWER = 1 << 20  # bytes of JSON, as the largest output of a tool
_DEFAULT_PROMPT = "Answer the question from what is given. Say only what follows from it."


async def attempt(place: Place, run: Run) -> Failure | None:
    """Ask the model once."""
    step, scope = place.node.step, place.scope
    assert step is not None
    if run.reasoner is None:
        return Failure("NO_MODEL", "this step needs a model", "give one with --model", place.id)
    wanted = step.expected_outputs or ("text",)
    try:
        given = {name: as_text(resolve(text, run.outputs)) for name, text in step.inputs.items()}
        system = user = ""
        if scope.prompts is not None:
            system, user = scope.prompts.prompt(scope.mandate.plan.skill_ref, step.prompt_name, given)
        elif step.prompt_name:
            message = f"no prompt {step.prompt_name!r}"
            return Failure("NO_PROMPT", message, "name one of the skill's", place.id)
    except MclError as problem:
        return run.failure(problem, place)
    run.begin_call(place)
    user = user or "\n".join(f"{name}: {text}" for name, text in given.items())
    spending = scope.context.spending
    try:
        with anyio.fail_after(spending.seconds_left() if spending else None):
            answer = await _ask(run.reasoner, system or _DEFAULT_PROMPT, user, wanted, step.kind or "reason")
    except TimeoutError:
        return Failure("TIMEOUT", "the model gave no answer in time", "allow more time", place.id)
    except MclError as problem:
        return run.failure(problem, place)
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


async def _ask(reasoner: Reasoner, system: str, user: str, outputs: Sequence[str], kind: str) -> object:
    """The model's answer, which may be anything. Raises WalkError MODEL_CRASHED, and its own."""
    try:
        return await reasoner.reason(system=system, user=user, outputs=outputs, kind=kind)
    except (MclError, TimeoutError):
        raise
    except Exception as problem:  # a model is foreign code: its mistakes fail its node only
        raise WalkError(
            "MODEL_CRASHED",
            f"the model crashed: {type(problem).__name__}: {problem}",
            fix="try again, or use another model",
        ) from problem
