"""One line of a batch compiled: a GoalLine in, the result as a JSON object out."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from executor.store.home import Home
from ir.errors import DocumentError, MclError
from ir.results import JsonResult, as_json
from mcl.compiler.compiler import Clarify, Compiled, GoalOptions, Outcome, compile_goal
from mcl.compiler.tape import Tapes, Unloaded
from mcl.core.errors import InputError, MemoryStoreError, ModelError, SkillError
from mcl.core.home import open_home
from mcl.core.settings import zone_here
from mcl.language.mtx.codec import value_digest
from mcl.language.mtx.core import Core, core_of
from mcl.language.skills import Skill, Skills, find_skills
from mcl.model.protocol import Model
from mcl.usecases.batch.lines import GoalLine, Id, fingerprint, id_of, read_goal
from mcl.usecases.compile import tools_of
from mcl.usecases.installed import installed
from mcl.usecases.models import Models

_OF_THE_LINE = (DocumentError, InputError, SkillError, ModelError, MemoryStoreError)
_NUMBERS: dict[str, Callable[[str], Any]] = {"uint": int, "float": float, "bool": json.loads}


@dataclass(frozen=True)
class Goals:
    """Compiles the lines of one batch. zone: IANA name. at: when goals were said that do not say it
    (ISO 8601; "": now). store: whether the journal keeps them. truncate: whether a goal that is too long
    is cut. tapes: answers of earlier compiles, None for none; manner: what they depend on (see Unloaded)."""

    home: Home
    skills: Skills
    core: Core
    model: Model
    zone: str = "UTC"
    at: str = ""
    store: bool = True
    truncate: bool = False
    tapes: Tapes | None = None
    manner: str = ""

    @property
    def _loaded(self) -> Unloaded:
        return Unloaded(self.model.digest, lambda: self.model, self.manner)

    @property
    def settings(self) -> str:
        """sha256 (hex) over all that a result depends on beside its line and the memories."""
        return value_digest(
            {
                "model": [self.model.digest, self.model.grammar],
                "core": self.core.digests,
                "skills": {skill.id: skill.digest for skill in self.skills},
                "said": [self.zone, self.at, self.truncate],
            }
        )

    def result(self, line: GoalLine, settings: str) -> dict[str, Any]:
        """What came of a line; what is wrong with it, or with its goal, is told as an outcome of its own.

        Raises executor.core.errors.ExecutorError where the home cannot be used: that is not the line's fault.
        """
        started = time.monotonic()
        told: dict[str, Any]
        id: Id = None
        try:
            goal = read_goal(line)
            id = goal.id
            outcome = compile_goal(
                goal.prose,
                home=self.home,
                skills=self.skills,
                model=self.model if self.tapes is None else self._loaded,
                tapes=self.tapes,
                options=GoalOptions(
                    skill=goal.skill,
                    verb=goal.verb,
                    slots=goal.slots,
                    at=goal.at or self.at,
                    zone=self.zone,
                    truncate=self.truncate,
                ),
                store=self.store,
                core=self.core,
                tools=tools_of(self.home),
            )
            told = _told(outcome, self.skills)
            if outcome.cached:
                told["cached"] = True
            if self.store:
                told["intent"] = (
                    outcome.id if not isinstance(outcome, Compiled | Clarify) else outcome.intent.id
                )
        except _OF_THE_LINE as error:
            told = _error(error, line)
        except MclError:
            raise
        except Exception as error:  # noqa: BLE001 - one goal that mcl stumbles over must not cost the others
            why = f"a fault of mcl itself: {type(error).__name__}: {error}"
            told = _error(MclError("INTERNAL", why, fix="please report this goal"), line)
        told["ms"] = round((time.monotonic() - started) * 1000, 3)
        id = id_of(line) if id is None else id
        return {"id": id, **told, "of": fingerprint(line, settings)}


def failed(line: GoalLine, error: MclError, settings: str) -> dict[str, Any]:
    """The result of a line whose goal could not be compiled at all."""
    return {"id": id_of(line), **_error(error, line), "ms": 0.0, "of": fingerprint(line, settings)}


def _told(outcome: Outcome, skills: Skills) -> dict[str, Any]:
    if not isinstance(outcome, Compiled | Clarify):
        nothing = _fields("refused")
        return {**nothing, "nearest": outcome.nearest, "reason": outcome.reason, "message": outcome.message}
    intent = outcome.intent
    id = intent.compile_metadata.skill_id if intent.compile_metadata else ""
    return {
        **_fields("compiled" if isinstance(outcome, Compiled) else "clarify"),
        "skill": id,
        "verb": intent.frame.verb,
        "slots": slot_values(intent.frame.objects, skills.by_id.get(id)),
        "frame": as_json(intent.frame),
        "unknowns": as_json(intent.unknowns),
        "confidence": intent.confidence,
        "review": isinstance(outcome, Compiled) and outcome.review,
    }


def slot_values(objects: Any, skill: Skill | None) -> dict[str, Any]:
    """What fills each slot: a text, a number or truth value where the slot's type is one, and for a slot that
    takes several an array."""
    slots = {slot.name: slot for slot in skill.slots} if skill else {}
    values: dict[str, Any] = {}
    for one in objects:
        slot = slots.get(one.name)
        value = _typed(one.value, slot.type if slot else "")
        if slot is not None and slot.most > 1:
            values.setdefault(one.name, []).append(value)
        else:
            values[one.name] = value
    return values


def _typed(text: str, type_: str) -> Any:
    read = _NUMBERS.get(type_)
    try:
        return read(text) if read else text
    except ValueError:  # a default that is no number
        return text


def _fields(outcome: str) -> dict[str, Any]:
    """What every result has, in this order, with nothing in it yet."""
    return {
        "outcome": outcome,
        "skill": "",
        "verb": "",
        "slots": {},
        "frame": None,
        "unknowns": [],
        "confidence": 0.0,
        "ms": 0.0,
    }


def _error(error: MclError, line: GoalLine) -> dict[str, Any]:
    said = error.to_json()
    here = f"line {line.number}"
    place = error.place if error.place.startswith(here) else f"{here}: {error.place}" if error.place else here
    return {**_fields("error"), "error": {**said, "place": place}}


# ---- What a batch is compiled with, as plain values that another process can be told, and opened from
# them.


@dataclass(frozen=True)
class Settings(JsonResult):
    """home: its folder. skills: folders; where any is given, only their skills are choices. model: a GGUF, ""
    for the one in use. zone: "" for the home's. passphrase: of sealed keys. The rest as in `Goals`."""

    home: str
    skills: tuple[str, ...] = ()
    model: str = ""
    ai: bool = True
    zone: str = ""
    at: str = ""
    store: bool = True
    cache: bool = True
    truncate: bool = False
    passphrase: str = ""

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> Self:
        return cls(**{**said, "skills": tuple(said["skills"])})


@contextmanager
def open_goals(
    settings: Settings, *, home: Home | None = None, model: Model | None = None
) -> Iterator[Goals]:
    """Open what is not open yet: home, skills, model. Raises HomeError, SkillError, ModelError."""
    path = Path(settings.home)
    opened = home or open_home(path, passphrase=settings.passphrase.encode() or None)
    try:
        skills, core = choices(path, [Path(one) for one in settings.skills]), core_of(path)
        tapes, manner = None, ""
        if model is None:
            file = Path(settings.model) if settings.model else None
            asked = Models(opened).unloaded(file) if settings.ai else Models(opened).open(ai=False, core=core)
            model = asked.load() if isinstance(asked, Unloaded) else asked
            if settings.cache and isinstance(asked, Unloaded):
                tapes, manner = Tapes.of(path), asked.manner
        yield Goals(
            opened,
            skills,
            core,
            model,
            settings.zone or zone_here(opened),
            settings.at,
            settings.store,
            settings.truncate,
            tapes,
            manner,
        )
    finally:
        if home is None:
            opened.close()


def choices(home: Path, folders: list[Path]) -> Skills:
    """The skills of these folders alone; where none are named, those installed.

    Raises SkillError NO_FOLDER, NO_SKILLS; for a broken skill in a named folder what is wrong with it, since
    its goals would be taken for those of others.
    """
    if not folders:
        return installed(home)
    for folder in folders:
        if not folder.is_dir():
            fix = "give a folder of skills"
            raise SkillError("NO_FOLDER", "this is no folder", place=str(folder), fix=fix)
    found = find_skills(folders, cache=home / "cache")
    for error in (found.broken or {}).values():
        raise error
    if not len(found):
        named = ", ".join(map(str, folders))
        raise SkillError(
            "NO_SKILLS", "there is no skill here", place=named, fix="one folder a skill, each with SKILL.mtx"
        )
    return found
