"""What models answered, kept so that nothing is asked twice: within an intent and of earlier compiles."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, astuple, dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypeVar

import grammars
from mcl.core.cache import read_own, write_own
from mcl.language.mtx.codec import value_digest
from mcl.model.protocol import (
    Acquainted,
    Candidate,
    Choice,
    ExtractForm,
    Model,
    PlanForm,
    Preparing,
    Span,
    plan_writer,
    takes_all,
)

if TYPE_CHECKING:
    from mcl.compiler.stages.request import GoalRequest
    from mcl.language.mtx.core import Core
    from mcl.language.skills import Skills


# ---- A tape: what a model answered in a compile.

Used = TypeVar("Used")
Question: TypeAlias = Sequence[Candidate] | ExtractForm | PlanForm


class NotRecordedError(LookupError):
    """The tape has no answer to this question: the model itself must be asked."""


class Apart(Protocol):
    """Does some work in its own time, which is not that of the goal."""

    def __call__(self, work: Callable[[], Used], /) -> Used:
        """What the work gives."""
        ...


class Recorder:
    """A model whose answers are written on a tape. apart: for what it reads before it sees a goal."""

    def __init__(self, model: Model, apart: Apart) -> None:
        self._model, self._apart = model, apart
        self._writer = plan_writer(model)
        self._asked: list[tuple[str, Question, Choice | tuple[Span, ...] | str]] = []
        self._learned: list[tuple[str, Sequence[Candidate], tuple[float | None, ...]]] = []
        self.digest, self.version, self.grammar = model.digest, model.version, model.grammar
        self.writes_plans = self._writer is not None
        self.plan_grammar = self._writer.plan_grammar if self._writer else ""
        self.takes_all = takes_all(model)

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        """Ask the model and keep its answer."""
        self._prepare(candidates)
        choice = self._model.choose(prose, candidates)
        self._asked.append((prose, candidates, choice))
        return choice

    def margins(self, prose: str, candidates: Sequence[Candidate]) -> tuple[float | None, ...]:
        """Ask a model that was taught skills by name, and keep its answer."""
        if not isinstance(self._model, Acquainted):
            return ()
        margins = self._model.margins(prose, candidates)
        self._learned.append((prose, candidates, margins))
        return margins

    def extract(self, prose: str, form: ExtractForm) -> tuple[Span, ...]:
        """Ask the model and keep its answer."""
        self._prepare(form)
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

    def _prepare(self, question: Sequence[Candidate] | ExtractForm) -> None:
        model = self._model
        if isinstance(model, Preparing):
            self._apart(lambda: model.prepare(question))

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
        for prose, candidates, margins in self._learned:
            answers[_names_key(prose, candidates)] = list(margins)
        said: dict[str, object] = {
            "digest": self.digest,
            "version": self.version,
            "grammar": self.grammar,
            "answers": answers,
        }
        if self.writes_plans:
            said["plan_grammar"] = self.plan_grammar
        if self.takes_all:
            said["takes_all"] = True
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
        self.takes_all: bool = said.get("takes_all", False)
        self._answers: dict[str, Any] = said["answers"]

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        """The recorded choice. Raises NotRecordedError."""
        skill, verb, sure, verb_sure, ranked, kind, begins = self._answer(_key(prose, candidates))
        shares = tuple((id, p) for id, p in ranked)
        return Choice(skill, verb, sure, verb_sure, shares, kind, tuple(begins))

    def margins(self, prose: str, candidates: Sequence[Candidate]) -> tuple[float | None, ...]:
        """The recorded margins; none where none were recorded, as of a model that was taught no skill."""
        return tuple(self._answers.get(_names_key(prose, candidates), ()))

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


def _names_key(prose: str, candidates: Sequence[Candidate]) -> str:
    names = [[one.skill_id, one.display, one.description] for one in candidates]
    return sha256(json.dumps(["margins", prose, names], ensure_ascii=False).encode()).hexdigest()


# ---- What models answered in earlier compiles, kept by all that an answer depends on.
#
# A second compile of the same goal asks no model then; all that code does (ids, times, dates, plans,
# signatures) is done anew. With the bundled model this saves a tenth of a second, with a chat model all that
# it writes. A home keeps at most 4,096 tapes in `cache/compile`: the first digits of a key name the file, and
# a later tape takes the place of an earlier one there. A file is the sha256 (32 bytes) of the rest, the key
# (64 hex digits) and the tape. What is damaged, another key's or not this user's own is a miss. Losing the
# folder costs time only.

_KEY: Final = 64  # digits of a key, before the tape
_DIGITS: Final = 3  # of them, in a file's name
MAX_TAPE: Final = 256 * 1024  # bytes


@dataclass(frozen=True)
class Unloaded:
    """A model that is loaded when it is asked. digest: sha256 (hex) of its file. manner: what else its
    answers depend on."""

    digest: str
    load: Callable[[], Model]
    manner: str = ""


@dataclass(frozen=True)
class About:
    """A compile. memories: the root of the snapshot that it is compiled with."""

    request: GoalRequest
    core: Core
    skills: Skills
    memories: str


class Tapes:
    """The tapes in a folder, which need not be there."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def of(cls, home: Path) -> Tapes:
        return cls(home / "cache" / "compile")

    def find(self, key: str) -> bytes | None:
        """The tape that was kept for a key (64 hex digits)."""
        try:
            data = read_own(str(self._file(key)))
        except (OSError, ValueError):
            return None
        return data[_KEY:] if data[:_KEY] == key.encode() else None

    def keep(self, key: str, tape: bytes) -> None:
        """Keep a tape, unless it is very long or the folder cannot be written."""
        if len(tape) > MAX_TAPE:
            return
        with contextlib.suppress(OSError):
            write_own(self._file(key), key.encode() + tape)

    def key(self, about: About, model: str, manner: str = "") -> str:
        """sha256 (hex) over all that the answers of a model in a compile depend on, and who asked.

        model: the digest of its file. manner: as of Unloaded. The moment is not among it: what is said of
        days is read anew each time.
        """
        request = about.request
        return value_digest(
            {
                "actor": request.actor,
                "prose": request.prose,
                "zone": request.zone,
                "fixed": [request.skill, request.verb, dict(request.slots)],
                "skills": {skill.id: skill.file_digest for skill in about.skills},
                "derived": [skill.file_digest for skill in about.skills.derived.by_id.values()],
                "core": about.core.digests,
                "model": [model, manner],
                # The root of all memories: what is remembered is put before the model, so an answer of before
                # counts only as long as nothing was added.
                "memories": about.memories,
                "code": self._code,
            }
        )

    def size(self) -> tuple[int, int]:
        """How many tapes there are, and how many bytes they take."""
        try:
            sizes = [
                entry.stat().st_size for entry in os.scandir(self.folder) if entry.name.endswith(".tape")
            ]
        except OSError:
            return 0, 0
        return len(sizes), sum(sizes)

    @cached_property
    def _code(self) -> list[str]:
        """Name, size and time of change of what makes an answer of a question: grammars, code of models."""
        places = (Path(grammars.__file__).parent, Path(__file__).parents[1] / "model")
        files = [entry for place in places for entry in os.scandir(place) if entry.is_file()]
        stats = [(entry.name, entry.stat()) for entry in files]
        return sorted(f"{name} {stat.st_size} {stat.st_mtime_ns}" for name, stat in stats)

    def _file(self, key: str) -> Path:
        return self.folder / f"{key[:_DIGITS]}.tape"


def with_tapes(
    tapes: Tapes | None,
    about: About,
    model: Model | Unloaded,
    use: Callable[[Recorder], Used],
    *,
    apart: Apart,
) -> tuple[Used, Recorder, bool]:
    """What `use` gives with the answers that were kept, or with the model's own, which are kept then; what
    was answered; and whether no model was asked. apart: for loading a model, and for what it reads before."""
    key = tapes.key(about, model.digest, getattr(model, "manner", "")) if tapes is not None else ""
    tape = tapes.find(key) if tapes is not None else None
    if tape is not None:
        try:
            recorder = Recorder(Player(tape), apart)
            return use(recorder), recorder, True
        except (LookupError, TypeError, ValueError):
            pass  # it lacks an answer (NotRecordedError), or has another form
    recorder = Recorder(apart(model.load) if isinstance(model, Unloaded) else model, apart)
    given = use(recorder)
    if tapes is not None:
        tapes.keep(key, recorder.tape())
    return given, recorder, False
