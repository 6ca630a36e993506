"""`mcl model tune`: the model in use learns a user's skills from their examples, or stays as it is.

Held out in turn, each part of the examples is asked of a model that learned the others; one more model
learns all of them, and is asked what the old one knew. It is kept beside the old one where it does better on
the first and no worse on the second, else refused.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Final

from executor.store.home import Home
from executor.store.journal.record import seal_record
from ir.errors import REFUSED
from mcl.core.errors import InputError, ModelError
from mcl.core.home import open_home
from mcl.language.mtx.codec import value_digest
from mcl.language.mtx.core import Core, core_of
from mcl.language.skills import Skill, Skills, find_skills, skill_folders
from mcl.model.files import file_digest, publish_digest, read_header
from mcl.model.form import FORM
from mcl.model.loader import load_model
from mcl.plugins.train.lessons import Figures, Lesson, lessons_of, measure, without
from mcl.plugins.train.tuner.tune import Teacher, known
from mcl.usecases.installed import installed
from mcl.usecases.models import KnownModel, Models

# ---- What lies beside a tuned model: where it comes from and how it does, for people.


def card(name: str, told: Mapping[str, Any], base: str, digest: str) -> str:
    """The text of the card. told: what the journal keeps of the tuning; digest: sha256 (hex) of the file."""
    skills = "\n".join(f"- {id} (sha256 `{skill}`)" for id, skill in told["skills"].items())
    return f"""# {name}

The model {base} (sha256 `{told["base"]}`), taught these skills by `mcl model tune`:

{skills}

- file: `{name}.gguf`, sha256 `{digest}`
- examples: {told["lessons"]}, {told["marked"]} of them with their values; sha256 of the data
  `{told["data"]}`
- training: {told["steps"]} steps, seed {told["seed"]}; {told["seconds"]} seconds in all
- the tensors are those of {base}, byte for byte; what was learned lies behind them, and counts where one of
  these skills is asked about
- rehearsed beside them: goals of mcl/plugins/train/tuner/written

| asked | before | after |
|---|---|---|
| held-out examples ({told["folds"]} parts in turn, each by a model that learned the others) \
| {told["before"]} | {told["after"]} |
| what it knew, these skills beside the shipped ones: examples of these, goals of the development set \
| {told["known before"]} | {told["known after"]} |
"""


STEPS, FOLDS, SEED = 60, 3, 7
LEAST: Final = 3  # examples of a skill
SLACK: Final = (
    0.01  # share of what was known that may be lost: figures of a few hundred goals waver by as much
)
_RECORD: Final = "record.tune"


@dataclass(frozen=True)
class Tuned:
    """What came of it. before, after: on held-out examples; known_before, known_after: on what was known
    before. seconds: in all."""

    model: KnownModel
    base: KnownModel
    skills: tuple[str, ...]
    lessons: int
    before: Figures
    after: Figures
    known_before: Figures
    known_after: Figures
    seconds: float

    def to_json(self) -> dict[str, object]:
        """As `--json` tells it."""
        names = ("before", "after", "known_before", "known_after")
        figures = {name: asdict(getattr(self, name)) | {"f1": getattr(self, name).f1} for name in names}
        model = {"name": self.model.name, "digest": self.model.digest, "path": str(self.model.path)}
        base = {"name": self.base.name, "digest": self.base.digest}
        told = {"skills": list(self.skills), "lessons": self.lessons, "seconds": round(self.seconds, 1)}
        return {**model, "in_use": self.model.in_use, "base": base, **told, **figures}


def tune(
    folders: Sequence[Path],
    *,
    examples: Path | None = None,
    name: str = "",
    steps: int = STEPS,
    folds: int = FOLDS,
    seed: int = SEED,
    use: bool = False,
    home: Home | None = None,
    progress: Callable[[int, int, str], None] = lambda done, total, what: None,
) -> Tuned:
    """Teach the model in use the skills of `folders`; nothing is kept unless it is better.

    examples: a file of JSON lines beside the skills' own example lines (see lessons). name: of the new model
    (default: from its data). steps: of each training. folds: parts that are held out in turn. use: compile
    with it from now on. progress: told how much of how much is done, and what now.

    Raises ModelError MODEL_FORM, MODEL_NAME, TUNE_NO_BETTER (the old one stays; figures in
    its data); InputError TUNE_NO_SKILLS, TUNE_TOO_FEW, EXAMPLES_MISSING, EXAMPLES_INVALID; SkillError for a
    broken skill.
    """
    started = time.monotonic()
    home = home or open_home()
    models = Models(home)
    base = _base(models)
    mine = _skills(folders)
    lessons = lessons_of(mine, examples)
    _enough(lessons, mine)
    name = name or f"tuned-{_data_digest(lessons, mine)[:8]}"
    _free_name(models, name)
    assert base.path is not None, "a model of weights has a file"
    job = _Job(
        home,
        Teacher(base.path),
        base,
        mine,
        installed(home.path, folders),
        lessons,
        steps,
        folds,
        seed,
        progress,
    )
    with tempfile.TemporaryDirectory(dir=_folder(home), prefix=".tuning-") as scratch:
        made = job.run(Path(scratch))
        seconds = time.monotonic() - started
        verdict = made.flaw()
        told = job.told(made, seconds)
        _record(home, told | {"accepted": not verdict, "model": "" if verdict else file_digest(made.path)})
        if verdict:
            raise ModelError(
                "TUNE_NO_BETTER",
                f"{verdict}; {base.name} stays as it is",
                place=name,
                fix="give more examples, or others: 15 a skill, in the words that people use",
                data=told,
                exit=REFUSED,
            )
        target = _folder(home) / f"{name}.gguf"
        text = card(name, told, base.name, file_digest(made.path))
        target.with_suffix(".md").write_text(text, encoding="utf-8")
        publish_digest(target, file_digest(made.path))
        made.path.replace(target)
    known = models.add(target, name=name)
    if use:
        known = models.use(name)
    ids = tuple(skill.id for skill in mine)
    return Tuned(
        known, base, ids, len(lessons), made.before, made.after, made.known_before, made.known_after, seconds
    )


@dataclass(frozen=True)
class _Made:
    """A model that was trained, and how it does beside the old one."""

    path: Path
    before: Figures
    after: Figures
    known_before: Figures
    known_after: Figures

    def flaw(self) -> str:
        """Why the old one is kept; "" where the new one is better."""
        if self.known_before.whole - self.known_after.whole > SLACK * self.known_before.lessons:
            was, now = self.known_before.said(), self.known_after.said()
            return f"it would forget: of what the model knew, {was} before and {now} after"
        before, after = self.before, self.after
        if (after.whole, after.skills + after.f1) <= (before.whole, before.skills + before.f1):
            return f"it does no better: on held-out examples {before.said()} before and {after.said()} after"
        return ""


@dataclass
class _Job:
    home: Home
    teacher: Teacher
    base: KnownModel
    mine: Sequence[Skill]
    shelf: Skills
    lessons: Sequence[Lesson]
    steps: int
    folds: int
    seed: int
    progress: Callable[[int, int, str], None]
    done: int = 0

    def run(self, scratch: Path) -> _Made:
        """Train and measure all that there is to."""
        shipped = find_skills(skill_folders(None))
        old_goals = known(shipped)
        self.total = (self.folds + 1) * self.steps + 2 * len(self.lessons) + 2 * len(old_goals)
        core = core_of(self.home.path)
        assert self.base.path is not None, "a model of weights has a file"
        old = self._measured(self.base.path, core, self.shelf)
        before = after = Figures()
        parts = _parts(self.lessons, self.folds, self.seed)
        for number, held in enumerate(parts, 1):
            what = f"part {number} of {len(parts)}"
            before += old(held, f"{what}: before")
            others = [lesson for part in parts if part is not held for lesson in part]
            shelf = without(self.shelf, {lesson.prose for lesson in held})
            path = self._trained(scratch, f"part{number}", others, shelf, f"{what}: learning the others")
            after += self._measured(path, core, self.shelf)(held, f"{what}: after")
            path.unlink()
        path = self._trained(scratch, "all", self.lessons, self.shelf, "learning all")
        # What was taught speaks only where its skills are offered: so they lie beside the shipped ones here.
        both = {**shipped.by_id, **{skill.id: skill for skill in self.mine}}
        beside = replace(shipped, by_id=dict(sorted(both.items())))
        known_before = self._measured(self.base.path, core, beside)(old_goals, "what it knew: before")
        known_after = self._measured(path, core, beside)(old_goals, "what it knew: after")
        return _Made(path, before, after, known_before, known_after)

    def told(self, made: _Made, seconds: float) -> dict[str, Any]:
        """What is written down of it."""
        assert self.base.path is not None
        return {
            "base": self.base.digest,
            "data": _data_digest(self.lessons, self.mine),
            "skills": {skill.id: skill.digest for skill in self.mine},
            "lessons": len(self.lessons),
            "marked": sum(lesson.values is not None for lesson in self.lessons),
            "steps": self.steps,
            "folds": self.folds,
            "seed": self.seed,
            "seconds": f"{seconds:.1f}",
            "before": made.before.said(),
            "after": made.after.said(),
            "known before": made.known_before.said(),
            "known after": made.known_after.said(),
        }

    def _trained(self, scratch: Path, name: str, lessons: Sequence[Lesson], shelf: Skills, what: str) -> Path:
        """A model that learned these lessons, told of skills beside each other as they are in `shelf`."""
        base = self.base.path
        assert base is not None
        path, data = scratch / f"{name}.gguf", _data_digest(lessons, self.mine)
        version = read_header(base).metadata.get("general.version", "0")
        said = {
            "general.version": f"{version}+{data[:8]}",
            "mcl.tuned.base": self.base.digest,
            "mcl.tuned.data": data,
            "mcl.tuned.skills": " ".join(skill.id for skill in self.mine),
            "mcl.tuned.recipe": f"seed {self.seed}, steps {self.steps}",
        }
        self.teacher.teach(
            path,
            skills=self.mine,
            shelf=shelf,
            lessons=lessons,
            steps=self.steps,
            seed=self.seed,
            said=said,
            progress=lambda: self._tick(what),
        )
        return path

    def _measured(self, path: Path, core: Core, skills: Skills) -> Callable[[Sequence[Lesson], str], Figures]:
        if path != self.base.path:  # its bytes are ours: no need to try them out in a process of their own
            publish_digest(path, file_digest(path))
        model = load_model(path, home_path=None)
        self.teacher.lend(model)
        return lambda lessons, what: measure(
            lessons, home=self.home, skills=skills, model=model, core=core, progress=lambda: self._tick(what)
        )

    def _tick(self, what: str) -> None:
        self.done += 1
        self.progress(self.done, self.total, what)


def _base(models: Models) -> KnownModel:
    """The model in use. Raises ModelError MODEL_FORM where it is none that can be taught."""
    used = next(model for model in models.list() if model.in_use)
    spoken = None if used.path is None else read_header(used.path).metadata.get("mcl.form")
    if spoken != FORM:
        raise ModelError(
            "MODEL_FORM",
            f"{used.name} cannot be taught: only models of the form {FORM} can",
            place=used.name,
            fix="mcl model use bundled",
        )
    return used


def _skills(folders: Sequence[Path]) -> list[Skill]:
    """The skills to teach. Raises InputError TUNE_NO_SKILLS; SkillError for the first broken one."""
    found = find_skills(folders)
    if found.broken:
        raise next(iter(found.broken.values()))
    if not found:
        named = ", ".join(map(str, folders)) or "no folder"
        fix = "name a folder that holds folders with a SKILL.mtx"
        raise InputError("TUNE_NO_SKILLS", f"there is no skill in {named}", place="--skills", fix=fix)
    return list(found)


def _enough(lessons: Sequence[Lesson], mine: Sequence[Skill]) -> None:
    counts = Counter(lesson.skill for lesson in lessons)
    few = [f"{skill.id} has {counts[skill.id]}" for skill in mine if counts[skill.id] < LEAST]
    if few:
        raise InputError(
            "TUNE_TOO_FEW",
            f"at least {LEAST} examples of a skill are needed: {', '.join(few)}",
            place="--examples",
            fix="write example.N lines into SKILL.mtx, or lines into the file; 15 a skill are a good number",
        )


def _parts(lessons: Sequence[Lesson], folds: int, seed: int) -> list[list[Lesson]]:
    """The lessons in `folds` parts, those of each skill dealt out in turn."""
    by_skill: Mapping[str, list[Lesson]] = defaultdict(list)
    for lesson in lessons:
        by_skill[lesson.skill].append(lesson)
    parts: list[list[Lesson]] = [[] for _ in range(folds)]
    for id in sorted(by_skill):
        random.Random(f"{seed} {id}").shuffle(by_skill[id])  # noqa: S311 - nothing is kept secret by it
        for place, lesson in enumerate(by_skill[id]):
            parts[place % folds].append(lesson)
    return parts


def _data_digest(lessons: Sequence[Lesson], mine: Sequence[Skill]) -> str:
    """sha256 (hex) of all that is taught."""
    plain = [asdict(replace(lesson, values=tuple(lesson.values or ()))) for lesson in lessons]
    return value_digest({"lessons": plain, "skills": {skill.id: skill.digest for skill in mine}})


def _free_name(models: Models, name: str) -> None:
    """Raise ModelError MODEL_NAME for a name that cannot be a file's, or that another kind of model has."""
    plain = name.replace("-", "").replace("_", "").replace(".", "")
    if not plain.isalnum() or not plain.isascii() or name.startswith("."):
        fix = "use letters, digits, - and _"
        raise ModelError("MODEL_NAME", f"{name!r} cannot name a model", place="--name", fix=fix)
    for model in models.list():
        if model.name == name and not name.startswith("tuned-"):
            raise ModelError(
                "MODEL_NAME", f"there is a model {name} already", place="--name", fix="give another --name"
            )


def _folder(home: Home) -> Path:
    folder = home.path / "models"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder


def _record(home: Home, told: Mapping[str, Any]) -> None:
    home.journal.append(
        seal_record(_RECORD, told, id=home.clock.new_id(), at=home.clock.now(), signer=home.keyring.agent)
    )
