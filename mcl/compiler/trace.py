"""What a model answered in a compile, kept so that answers to questions need no model the second time."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple
from hashlib import sha256
from typing import Any, TypeAlias, TypeVar

from mcl.model.protocol import Acquainted, Candidate, Choice, ExtractForm, Model, PlanForm, Span, plan_writer

Used = TypeVar("Used")
Question: TypeAlias = Sequence[Candidate] | ExtractForm | PlanForm


class NotRecordedError(LookupError):
    """The tape has no answer to this question: the model itself must be asked."""


class Recorder:
    """A model whose answers are written on a tape."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._writer = plan_writer(model)
        self._asked: list[tuple[str, Question, Choice | tuple[Span, ...] | str]] = []
        self._learned: list[tuple[str, str, Sequence[Candidate], tuple[float | None, ...]]] = []
        self.digest, self.version, self.grammar = model.digest, model.version, model.grammar
        self.writes_plans = self._writer is not None
        self.plan_grammar = self._writer.plan_grammar if self._writer else ""

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        """Ask the model and keep its answer."""
        choice = self._model.choose(prose, candidates)
        self._asked.append((prose, candidates, choice))
        return choice

    def margins(self, prose: str, candidates: Sequence[Candidate]) -> tuple[float | None, ...]:
        """Ask a model that was taught skills by name, and keep its answer."""
        if not isinstance(self._model, Acquainted):
            return ()
        margins = self._model.margins(prose, candidates)
        self._learned.append(("margins", prose, candidates, margins))
        return margins

    def kinship(self, prose: str, candidates: Sequence[Candidate]) -> tuple[float, ...]:
        """Ask a model that was taught skills by name, and keep its answer."""
        if not isinstance(self._model, Acquainted):
            return ()
        kinship = self._model.kinship(prose, candidates)
        self._learned.append(("kinship", prose, candidates, kinship))
        return kinship

    def extract(self, prose: str, form: ExtractForm) -> tuple[Span, ...]:
        """Ask the model and keep its answer."""
        spans = self._model.extract(prose, form)
        self._asked.append((prose, form, spans))
        return spans

    def reason(self, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        """Ask the model; steps are not recorded here."""
        return self._model.reason(system, user, outputs, kind)

    def write_plan(self, prose: str, form: PlanForm) -> str:
        """Ask a model that writes plans, and keep its answer."""
        assert self._writer is not None, "asked for a plan is only what writes plans"
        text = self._writer.write_plan(prose, form)
        self._asked.append((prose, form, text))
        return text

    def tape(self) -> bytes:
        """Everything answered so far, as JSON."""
        answers: dict[str, object] = {
            _key(prose, question): astuple(answer)
            if isinstance(answer, Choice)
            else answer
            if isinstance(answer, str)
            else [astuple(one) for one in answer]
            for prose, question, answer in self._asked
        }
        for kind, prose, candidates, numbers in self._learned:
            answers[_names_key(kind, prose, candidates)] = list(numbers)
        said = {"digest": self.digest, "version": self.version, "grammar": self.grammar, "answers": answers}
        if self.writes_plans:
            said["plan_grammar"] = self.plan_grammar
        return json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


class Player:
    """A model that gives the answers on a tape, and raises NotRecordedError for any other question."""

    def __init__(self, tape: bytes) -> None:
        said = json.loads(tape)
        self.digest: str = said["digest"]
        self.version: str = said["version"]
        self.grammar: str = said["grammar"]
        self.plan_grammar: str = said.get("plan_grammar", "")
        self.writes_plans = bool(self.plan_grammar)
        self._answers: dict[str, Any] = said["answers"]

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        """The recorded choice. Raises NotRecordedError."""
        skill, verb, sure, verb_sure, ranked = self._answer(_key(prose, candidates))
        return Choice(skill, verb, sure, verb_sure, tuple((id, p) for id, p in ranked))

    def margins(self, prose: str, candidates: Sequence[Candidate]) -> tuple[float | None, ...]:
        """The recorded margins; none where none were recorded, as of a model that was taught no skill."""
        return tuple(self._answers.get(_names_key("margins", prose, candidates), ()))

    def kinship(self, prose: str, candidates: Sequence[Candidate]) -> tuple[float, ...]:
        """The recorded kinship; none where none was recorded, as of a model that was taught no skill."""
        return tuple(self._answers.get(_names_key("kinship", prose, candidates), ()))

    def extract(self, prose: str, form: ExtractForm) -> tuple[Span, ...]:
        """The recorded spans. Raises NotRecordedError."""
        return tuple(Span(*span) for span in self._answer(_key(prose, form)))

    def write_plan(self, prose: str, form: PlanForm) -> str:
        """The recorded plan. Raises NotRecordedError."""
        return str(self._answer(_key(prose, form)))

    def reason(self, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        """Raises NotRecordedError: steps are not recorded here."""
        raise NotRecordedError(kind)

    def _answer(self, key: str) -> Any:
        if key not in self._answers:
            raise NotRecordedError(key)
        return self._answers[key]


def with_tape(tape: bytes | None, load: Callable[[], Model], use: Callable[[Model], Used]) -> Used:
    """`use` with the answers on the tape, or with the model itself where there is no tape or it lacks an
    answer."""
    if tape is not None:
        try:
            return use(Player(tape))
        except NotRecordedError:
            pass
    return use(load())


def _key(prose: str, question: Question) -> str:
    plain = (
        asdict(question)
        if isinstance(question, ExtractForm | PlanForm)
        else [asdict(one) for one in question]
    )
    return sha256(json.dumps([prose, plain], ensure_ascii=False, sort_keys=True).encode()).hexdigest()


def _names_key(kind: str, prose: str, candidates: Sequence[Candidate]) -> str:
    names = [[one.skill_id, one.display, one.description] for one in candidates]
    return sha256(json.dumps([kind, prose, names], ensure_ascii=False).encode()).hexdigest()
