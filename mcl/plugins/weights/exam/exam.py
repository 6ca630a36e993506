"""What a model is good for: a few dozen questions with known answers, and marks that must be reached."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from executor.core.tables import table_beside
from executor.store.home import Home
from mcl.catalog.tools import registry
from mcl.compiler.compiler import Compiled, GoalOptions, compile_goal
from mcl.compiler.stages.classify import candidate_of
from mcl.compiler.stages.extract import form_of
from mcl.core.errors import ModelError
from mcl.core.home import open_home
from mcl.language.skills import Skill, Skills, find_skills, skill_folders
from mcl.model.protocol import ExtractForm, Model, copies_only, plan_writer
from mcl.usecases.models import Models

if TYPE_CHECKING:
    from mcl.cli.progress import Told

PARTS: Final = ("choose", "fill", "write", "plan")
_HERE: Final = Path(__file__).parent
_AT: Final = "2026-01-01T12:00:00Z"
_REST: Final = "rest"


@dataclass(frozen=True)
class Answered:
    """One question. said: what the model answered, in words. seconds: it took."""

    part: str
    question: str
    wanted: str
    said: str
    right: bool
    seconds: float


@dataclass(frozen=True)
class PartMark:
    """One part of the exam. right of asked were right; needed: the share that makes it good for this.
    slowest: seconds of the slowest answer. able: whether a model of this kind does such a thing at all."""

    part: str
    right: int
    asked: int
    needed: float
    slowest: float
    able: bool = True

    @property
    def good(self) -> bool:
        """Whether the model may be used for it."""
        return self.able and self.asked > 0 and self.right >= self.needed * self.asked


@dataclass(frozen=True)
class Exam:
    """What came of it. model: its name. digest: of its file, sha256 (hex)."""

    model: str
    digest: str
    parts: tuple[PartMark, ...]
    answers: tuple[Answered, ...]

    @property
    def good_for(self) -> tuple[str, ...]:
        return tuple(one.part for one in self.parts if one.good)


def check_model(
    name: str, *, parts: Sequence[str] = PARTS, home: Home | None = None, progress: Told | None = None
) -> Exam:
    """Ask a model all questions of the given parts; nothing is signed, run, or kept.

    name: as `mcl model list` names it, or the path of a GGUF. Raises ModelError, MODEL_UNKNOWN among them.
    """
    home = home or open_home()
    models, path = Models(home), Path(name)
    known = None if path.is_file() else models.find(name)
    model = models.open(
        path=path if known is None else known.path, ai=known is None or known.path is not None
    )
    asked = list(_questions(model, home, parts))
    answers: list[Answered] = []
    for place, (part, question, wanted, ask) in enumerate(asked):
        if progress is not None:
            progress(place, len(asked), part)
        began = time.monotonic()
        try:
            said, right = ask()
        except ModelError as problem:
            said, right = f"{problem.code}: {problem.message}", False
        answers.append(Answered(part, question, wanted, said, right, time.monotonic() - began))
    needed = _document()["pass"]
    marks = tuple(
        PartMark(
            part,
            sum(one.right for one in answers if one.part == part),
            sum(one.part == part for one in answers),
            float(needed[part]),
            max((one.seconds for one in answers if one.part == part), default=0.0),
            _able(model, part),
        )
        for part in parts
    )
    return Exam(path.name if known is None else known.name, model.digest, marks, tuple(answers))


_Ask = Callable[[], tuple[str, bool]]


def _questions(model: Model, home: Home, parts: Sequence[str]) -> Iterator[tuple[str, str, str, _Ask]]:
    """Part, question, the answer that is wanted, and what asks it."""
    document = _document()
    skills = find_skills(skill_folders(None))
    if "choose" in parts:
        shown = [_skill(skills, id) for id in document["choose"]["skills"]]
        for goal, wanted in document["choose"]["goals"]:
            yield "choose", goal, wanted, _choosing(model, goal, wanted, shown)
    able = [part for part in PARTS[1:] if part in parts and _able(model, part)]
    for part, one in [(name, one) for name in able for one in document[name]]:
        if part == "fill":
            yield part, one["goal"], _listed(one["slots"]), _filling(model, _skill(skills, one["skill"]), one)
        elif part == "write":
            yield part, f"{one['system']} {one['user']}", ", ".join(one["must"]), _writing(model, one)
        else:
            yield part, one["goal"], ", ".join(one["tools"]), _planning(model, home, one)


def _able(model: Model, part: str) -> bool:
    if part == "plan":
        return plan_writer(model) is not None
    return part != "write" or not copies_only(model)


def _choosing(model: Model, goal: str, wanted: str, shown: Sequence[Skill]) -> _Ask:
    def ask() -> tuple[str, bool]:
        said = model.choose(goal, [candidate_of(one) for one in shown]).skill_id or ""
        return said, said == wanted

    return ask


def _filling(model: Model, skill: Skill, one: Mapping[str, Any]) -> _Ask:
    def ask() -> tuple[str, bool]:
        form = ExtractForm(skill.id, skill.description, tuple(map(form_of, skill.slots)))
        found = [span for span in model.extract(one["goal"], form) if span.field != _REST]
        said = {span.field.removeprefix("slot."): span.value for span in found}
        return _listed(said), said == one["slots"]

    return ask


def _writing(model: Model, one: Mapping[str, Any]) -> _Ask:
    def ask() -> tuple[str, bool]:
        said = str(model.reason(one["system"], one["user"], ["text"], one["kind"]).get("text", ""))
        low = said.casefold()
        right = all(word.casefold() in low for word in one["must"]) and one["user"].casefold() not in low
        return said, right and len(said) <= one["longest"]

    return ask


def _planning(model: Model, home: Home, one: Mapping[str, Any]) -> _Ask:
    def ask() -> tuple[str, bool]:
        skills, tools = find_skills([_HERE]), registry()
        options = GoalOptions(skill="keep-notes", at=_AT, zone="UTC")
        outcome = compile_goal(
            one["goal"], home=home, skills=skills, model=model, options=options, store=False,
            tools=lambda: tools, timer=lambda: 0.0,
        )  # fmt: skip
        if not isinstance(outcome, Compiled) or outcome.plan is None:
            return outcome.no_plan if isinstance(outcome, Compiled) else type(outcome).__name__, False
        calls = [node.tool_call for node, _ in outcome.plan.root.walk() if node.tool_call is not None]
        said = [call.tool_ref.removeprefix("matrix://tool/").partition("@")[0] for call in calls]
        return ", ".join(said), said == one["tools"]

    return ask


def _skill(skills: Skills, id: str) -> Skill:
    found = skills.get(id)
    assert found is not None, f"the exam names a skill that is not here: {id}"
    return found


def _listed(slots: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in sorted(slots.items()))


def _document() -> dict[str, Any]:
    return table_beside(__file__, "questions")
