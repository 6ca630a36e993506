"""What the walker needs for the step nodes of a review: their prompts, and a model that answers in form."""

from collections.abc import Callable, Mapping, Sequence
from threading import Event, Lock

from anyio import to_thread

from mcl.core.errors import ReviewError
from mcl.model.form import FORM
from mcl.model.protocol import Model, Writer
from mcl.plugins.review.passes.question import ReviewQuestion, read_question

_CHOOSES = f"{FORM} "  # the grammar of models of the bundled one's form
OUTPUT = "text"
"""The one output of a review's step."""


class Reviewing:
    """Prompts and answers of the steps `structure`, `review` and `consistency` of a review's plan.

    A step's inputs are texts: mode, contract (the digest of `contract(mode)`), pieces (those of what is
    looked at, as JSON), and where there are any: context, scan and review (findings as text), structure.
    Its output is `text`: for review and consistency the findings as `read_findings` reads them, or
    "No findings."; what a model said that cannot be read so is given as it was said, and blocks.

    The model is opened at the first step that asks it, and asked one thing at a time.
    """

    def __init__(self, load: Callable[[], Model]) -> None:
        self._load = load
        self._model: Model | None = None
        # A model is not for several threads; a step that was given up may still be in it.
        self._turn = Lock()
        self._questions: dict[tuple[str, str], ReviewQuestion] = {}

    def prompt(self, skill_ref: str, name: str, inputs: Mapping[str, str]) -> tuple[str, str]:
        """What binds the model, and what it is asked about. name: of the pass; inputs: see the class.

        Whichever skill the plan is of: the contract that it names is what counts.

        Raises SkillError NO_PROMPT, SKILL_CHANGED; ReviewError UNKNOWN_MODE, BAD_STEP, CONTRACT_INVALID.
        """
        from mcl.plugins.review.passes.prompts import system_of, whole

        question = read_question(name, inputs)
        texts = system_of(question), whole(question)
        self._questions[texts] = question
        return texts

    async def reason(self, *, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        """The answer to what was prompted. Raises ModelError; ReviewError BAD_STEP, NO_REVIEWER."""
        question = self._questions.pop((system, user), None)
        if question is None or tuple(outputs) != (OUTPUT,):
            raise ReviewError(
                "BAD_STEP",
                f"a step of a review has one output, {OUTPUT}, and asks what it prompted",
                place="step",
                fix="this is a fault of the review's plan: please report it",
            )
        given_up = Event()

        def ask() -> str:
            with self._turn:
                if given_up.is_set():
                    return ""
                self._model = self._model or self._load()
                return answered(self._model, question, goes_on=lambda: not given_up.is_set())

        try:
            return {OUTPUT: await to_thread.run_sync(ask, abandon_on_cancel=True)}
        finally:
            given_up.set()


def answered(model: Model, question: ReviewQuestion, goes_on: Callable[[], bool] = lambda: True) -> str:
    """What a model answers, whichever it is. Raises ModelError; ReviewError NO_REVIEWER.

    A model that writes is held to the form by a grammar. One that only chooses marks places in a review, and
    has nothing to say in the other passes.
    """
    if isinstance(model, Writer):
        from mcl.plugins.review.passes.asking import written

        return written(model, question, goes_on)
    if model.grammar.startswith(_CHOOSES):
        from mcl.plugins.review.passes.marks import marked

        return marked(model, question, goes_on)
    raise ReviewError(
        "NO_REVIEWER",
        f"{model.version} cannot review code",
        place="model",
        fix="name a GGUF with --model, or review without one: --no-ai",
    )
