"""What a model answered in a compile, kept so that answers to questions need no model the second time."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple
from hashlib import sha256
from typing import Any, TypeVar

from mcl.model.protocol import Candidate, Choice, ExtractForm, Model, Span

Used = TypeVar("Used")


class NotRecordedError(LookupError):
    """The tape has no answer to this question: the model itself must be asked."""


class Recorder:
    """A model whose answers are written on a tape."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._asked: list[tuple[str, Sequence[Candidate] | ExtractForm, Choice | tuple[Span, ...]]] = []
        self.digest, self.version, self.grammar = model.digest, model.version, model.grammar

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        """Ask the model and keep its answer."""
        choice = self._model.choose(prose, candidates)
        self._asked.append((prose, candidates, choice))
        return choice

    def extract(self, prose: str, form: ExtractForm) -> tuple[Span, ...]:
        """Ask the model and keep its answer."""
        spans = self._model.extract(prose, form)
        self._asked.append((prose, form, spans))
        return spans

    def reason(self, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        """Ask the model; steps are not recorded here."""
        return self._model.reason(system, user, outputs, kind)

    def tape(self) -> bytes:
        """Everything answered so far, as JSON."""
        answers = {
            _key(prose, question): astuple(answer)
            if isinstance(answer, Choice)
            else [astuple(one) for one in answer]
            for prose, question, answer in self._asked
        }
        said = {"digest": self.digest, "version": self.version, "grammar": self.grammar, "answers": answers}
        return json.dumps(said, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode()


class Player:
    """A model that gives the answers on a tape, and raises NotRecordedError for any other question."""

    def __init__(self, tape: bytes) -> None:
        said = json.loads(tape)
        self.digest: str = said["digest"]
        self.version: str = said["version"]
        self.grammar: str = said["grammar"]
        self._answers: dict[str, Any] = said["answers"]

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        """The recorded choice. Raises NotRecordedError."""
        skill, verb, sure, verb_sure, ranked = self._answer(_key(prose, candidates))
        return Choice(skill, verb, sure, verb_sure, tuple((id, p) for id, p in ranked))

    def extract(self, prose: str, form: ExtractForm) -> tuple[Span, ...]:
        """The recorded spans. Raises NotRecordedError."""
        return tuple(Span(*span) for span in self._answer(_key(prose, form)))

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


def _key(prose: str, question: Sequence[Candidate] | ExtractForm) -> str:
    plain = asdict(question) if isinstance(question, ExtractForm) else [asdict(one) for one in question]
    return sha256(json.dumps([prose, plain], ensure_ascii=False, sort_keys=True).encode()).hexdigest()
