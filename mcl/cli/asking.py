"""Questions asked on a terminal, one by one, until the goal is clear or the person leaves.

What is typed goes the way of `mcl answer`: the same checks, the same envelopes.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from executor.store.home import Home
from ir import ClarifyQuestion, MclError
from mcl.cli.output import Output, tell_result
from mcl.cli.views.layout import DIM, STRONG, WARN, commands, joined, plain, rows
from mcl.compiler.compiler import Clarify, Compiled, Refused
from mcl.compiler.stages.gaps import sentence
from mcl.core.text import one_line, safe
from mcl.usecases.compile import answer, check_answer
from mcl.usecases.intents import Shown

if TYPE_CHECKING:
    from rich.console import RenderableType

DROP = "-"  # typed where Enter alone takes what is offered
_CHOICES = ("skill", "frame.verb")  # what a goal cannot be without


@dataclass(frozen=True)
class Asking:
    """Puts questions on a terminal. model, ai, skills: as they were given to the command."""

    home: Home
    out: Output
    model: Path | None
    ai: bool
    skills: tuple[Path, ...]

    def settle(self, result: Compiled | Clarify | Refused, *, why: bool = False) -> int:
        """Show a stored result; where it has questions, ask them first. The exit code. why: also
        show what it was decided by."""
        if not isinstance(result, Clarify):
            return tell_result(result, self.out, self.home, stored=True, why=why)
        return self._told(self.cleared(result, why=why))

    def resume(self, waiting: Shown) -> int:
        """Ask the open questions of an intent. The exit code."""
        self.out.tell([plain(waiting.prose)])
        return self._told(self._until_clear(waiting.id, waiting.questions))

    def cleared(self, result: Clarify, *, why: bool = False) -> Compiled | Refused | None:
        """What becomes of a goal whose questions the person answers, not shown yet; None where they end the
        input."""
        from mcl.cli.views.intent import intent_view

        self.out.tell(intent_view(result.intent, self.out.people, gaps=False))
        if why and result.reasons is not None:
            from mcl.cli.views.reasons import reasons_view

            self.out.tell(reasons_view(result.reasons))
        return self._until_clear(result.intent.id, result.questions)

    def _told(self, result: Compiled | Refused | None) -> int:
        from ir.errors import CLARIFY

        return CLARIFY if result is None else tell_result(result, self.out, self.home, stored=True)

    def _until_clear(self, id: str, questions: Sequence[ClarifyQuestion]) -> Compiled | Refused | None:
        """Ask, compile again with all answers of a round, and go on with the questions that follow.

        Gives None where the person ends the input (Ctrl-D), after saying how to go on later; Ctrl-C
        (KeyboardInterrupt) passes on after saying the same.
        """
        with suppress(ImportError):
            import readline  # noqa: F401  # arrow keys and the like while a person types

        while True:
            given: dict[str, str] = {}
            try:
                for place, question in enumerate(questions, 1):
                    self.out.tell(["", *question_view(question, f"{place}/{len(questions)}")])
                    given[question.unknown_id] = text = self._typed(id, question)
                    if question.field in _CHOICES and text != question.default:
                        break  # the other questions may not arise with what is meant
            except (EOFError, KeyboardInterrupt) as end:
                self.out.tell(_later(id, questions, given))
                if isinstance(end, EOFError):
                    return None
                raise
            result = answer(id, given, model=self.model, ai=self.ai, skills=self.skills, home=self.home)
            self.out.tell([""])
            if not isinstance(result, Clarify):
                return result
            questions = result.questions
            self.out.tell(["It is not clear yet."])

    def _typed(self, id: str, question: ClarifyQuestion) -> str:
        """What the person answers, asked again with the reason while it cannot be used. Raises EOFError,
        KeyboardInterrupt."""
        while True:
            text, why = self._tried(id, question)
            if not why:
                return text
            self.out.tell([plain(f"  {why}", WARN)])

    def _tried(self, id: str, question: ClarifyQuestion) -> tuple[str, str]:
        """An answer, and why it cannot be used or ""."""
        text, why = typed_answer(question)
        if why:
            return "", why
        try:
            check_answer(id, question.unknown_id, text, skills=self.skills, home=self.home)
        except MclError as error:
            fix = f" ({error.fix})" if error.fix else ""
            return "", f"{sentence(error.message)}{fix}."
        return text, ""


def typed_answer(question: ClarifyQuestion) -> tuple[str, str]:
    """An answer that is typed, and why it is none or "". Raises EOFError, KeyboardInterrupt."""
    try:
        typed = input(_invitation(question)).encode(errors="surrogateescape").decode().strip()
    except UnicodeError:
        return "", "That is not UTF-8 text."
    text = _meant(question, typed)
    if not text and not may_drop(question):
        return "", "An answer is needed here; Ctrl-D leaves it for later."
    if not typed and not text and question.required:  # no limit is lost by a key pressed too early
        return "", f"An answer is needed here, or {DROP} to leave it out."
    return text, ""


def _meant(question: ClarifyQuestion, typed: str) -> str:
    """The answer that a line says: an option by its number, what is offered for nothing, else itself."""
    if not typed:
        return question.default
    if typed == DROP and may_drop(question):
        return ""
    if typed not in question.options and typed.isascii() and typed.isdigit():
        place = int(typed)
        if 1 <= place <= len(question.options):
            return question.options[place - 1]
    return typed


def may_drop(question: ClarifyQuestion) -> bool:
    """Whether a goal can do without this field: a limit, a wish, or a slot that may stay empty."""
    if question.field in _CHOICES:
        return False
    return not question.required or question.field.startswith(("frame.constraints.", "promise."))


def _invitation(question: ClarifyQuestion) -> str:
    """The words before the cursor: what Enter does."""
    hints = ["number or text"] if question.options else []
    if question.default:
        hints.append(f"Enter: {one_line(question.default, 40)}")
    if may_drop(question):
        alone = not question.default and not question.required
        hints.append(f"{'Enter' if alone else DROP}: leave it out")
    return f"  {'; '.join(hints)} > " if hints else "  > "


def question_view(question: ClarifyQuestion, place: str) -> Iterable["RenderableType"]:
    """A question with its options. place: which of how many."""
    yield joined(((place, DIM), (question.prompt, STRONG)))
    if question.options:
        yield rows([(str(n), plain(text)) for n, text in enumerate(question.options, 1)], label=4)


def _later(
    id: str, questions: Sequence[ClarifyQuestion], given: Mapping[str, str]
) -> Iterable["RenderableType"]:
    """The command that goes on where the person left, with what was answered so far."""
    words = " ".join(
        shlex.quote(safe(f"{one.unknown_id}={given[one.unknown_id]}"))
        if one.unknown_id in given
        else f"{one.unknown_id}=…"
        for one in questions
    )
    yield ""
    yield plain("Nothing is lost: the goal waits for its answers.")
    yield commands(
        [(f"mcl answer {id}", "be asked again"), (f"mcl answer {id} {words}", "answer in one command")]
    )
