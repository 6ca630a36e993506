"""Skills: folders with a SKILL.mtx and, where something can be run, a plan.yaml. Found, read, checked."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import skills as shipped
from ir import VERBS, CompileMetadata
from ir.errors import REFUSED
from mcl.core.errors import SkillError
from mcl.core.words import TRUTH
from mcl.language.mtx import ast
from mcl.language.mtx.checks import skill_id, skill_version
from mcl.language.mtx.codec import value_digest
from mcl.language.mtx.core import Core
from mcl.language.mtx.files import Cache, FileHead, head_of, load_file, read_bytes
from mcl.language.mtx.procedure import texts
from mcl.language.plans.template import PlanTemplate, is_kept, read_template
from mcl.plugins.hooks import plugins

if TYPE_CHECKING:
    from collections import Counter

    from mcl.language.bm25 import Bm25, Gram, Likeness

_MEMBER = re.compile(r"\{(\w+)=([\w.-]+)\}")
MOST = 16  # entries of a list slot that names no max=
GOAL_SLOT = "question"  # what takes a goal as it was said (`Skill.takes_goal`)


@dataclass(frozen=True)
class Slot:
    """One input. type: that of one entry ("string", "enum", …). options: an enum's members. most: 1, or how
    many entries a list takes."""

    name: str
    type: str
    options: tuple[str, ...] = ()
    required: bool = True
    default: tuple[str, ...] = ()
    hint: str = ""
    most: int = 1


@dataclass(frozen=True)
class Skill:
    """A checked skill. `path` is its folder; `digest` covers both of its files.

    head: what its file says of itself. tree, plan: read the rest when `file` and `template` are first asked
    for, which a list of skills never does.
    """

    path: Path
    file_digest: str
    head: FileHead = field(repr=False, compare=False)
    tree: Callable[[], ast.File] = field(repr=False, compare=False)
    plan: Callable[[], PlanTemplate | None] = field(default=lambda: None, repr=False, compare=False)

    @classmethod
    def of(cls, path: Path, file: ast.File) -> Skill:
        """What a tree alone says of a skill, for checks."""
        return cls(path, "", head_of(file), lambda: file)

    @cached_property
    def file(self) -> ast.File:
        return self.tree()

    @cached_property
    def template(self) -> PlanTemplate | None:
        """What plan.yaml says; None where there is none."""
        return self.plan()

    @property
    def _settings(self) -> Mapping[str, str]:
        return self.head.settings

    @cached_property
    def id(self) -> str:
        """The skill's id; its folder's name where the file names none that can be used."""
        return skill_id(self._settings, self.path)

    @cached_property
    def version(self) -> str:
        """Its semantic version; 0.0.0 where the file names none."""
        return skill_version(self._settings)

    @cached_property
    def ref(self) -> str:
        """Its pinned address."""
        return f"matrix://skill/{self.id}@{self.version}"

    @cached_property
    def display(self) -> str:
        """Its name for people."""
        return self._settings.get("display") or self.id

    @cached_property
    def description(self) -> str:
        """What it does, in a sentence."""
        return self._settings.get("description", "")

    @cached_property
    def verbs(self) -> tuple[str, ...]:
        """The verbs it may be chosen with; any of the ten where its file names none."""
        return tuple(self._settings.get("mcl.verbs", "").split()) or VERBS

    @cached_property
    def takes_any(self) -> bool:
        """Whether it is for every goal that no other skill takes (`mcl.takes=any`)."""
        return self._settings.get("mcl.takes") == "any"

    @cached_property
    def tells_goal(self) -> bool:
        """Whether a model that does its work is told the whole goal: a prompt for steps alone has it."""
        blocks = [one for one in self.file.procedure if isinstance(one, ast.On)]
        steps = ((one.condition, one.body) for one in blocks)
        own = (
            entry
            for said, body in steps
            if isinstance(said, ast.VerbIs) and said.verb.startswith("x:")
            for entry in body
        )
        prompts = (one.user for one in own if isinstance(one, ast.PromptNode))
        return any(user is not None and "{prose}" in user.value for user in prompts)

    @property
    def takes_goal(self) -> bool:
        """Whether its input `question` is the goal as it was said (`mcl.takes=goal`): its tool reads it."""
        return self._settings.get("mcl.takes") == "goal"

    @property
    def gives_way(self) -> bool:
        """Whether it is not meant where what a file here holds answers the goal (`mcl.unless=answered`)."""
        return self._settings.get("mcl.unless") == "answered"

    @property
    def does_goals(self) -> bool:
        """Whether a plan of its own does a goal: without a plan.yaml it has none, and one for any goal keeps
        the goal's words."""
        return self.template is not None and not self.takes_any

    @cached_property
    def examples(self) -> tuple[str, ...]:
        """Goals that it must be chosen for (`example.N` lines)."""
        return tuple(value for key, value in self._settings.items() if key.startswith("example."))

    @cached_property
    def phrases(self) -> tuple[str, ...]:
        """Fixed phrases that choose it, with places of its slots (`phrase.N` lines; mcl.language.phrases)."""
        return tuple(value for key, value in self._settings.items() if key.startswith("phrase."))

    @cached_property
    def covers(self) -> tuple[str, ...]:
        """Words of goals that say what its plans do in any case (`covers.N` lines, between |)."""
        return tuple(self.sets)

    @cached_property
    def sets(self) -> Mapping[str, tuple[str, str]]:
        """The words of `covers.N` lines, each with the closed list and its member that they say, where the
        line begins with one (`{what=tracked} not the new files`); else two empty texts."""
        lines = (value for key, value in self._settings.items() if key.startswith("covers."))
        found: dict[str, tuple[str, str]] = {}
        for line in lines:
            member = _MEMBER.match(line)
            names = (member[1], member[2]) if member else ("", "")
            said = (" ".join(one.split()) for one in line[member.end() if member else 0 :].split("|"))
            found |= {words: names for words in said if words}
        return found

    @cached_property
    def not_for(self) -> tuple[str, ...]:
        """Goals that it must not be chosen for (`not.N` lines)."""
        return tuple(value for key, value in self._settings.items() if key.startswith("not."))

    @cached_property
    def slots(self) -> tuple[Slot, ...]:
        """Its inputs, in order of declaration."""
        return tuple(_slot(slot) for slot in self.head.slots)

    @cached_property
    def given(self) -> tuple[tuple[str, str], ...]:
        """Its inputs that an earlier wish of a goal may fill, each with what that must give (`mcl.given`)."""
        pairs = (one.partition(":") for one in self._settings.get("mcl.given", "").split())
        return tuple((slot, kind) for slot, _, kind in pairs)

    @cached_property
    def outputs(self) -> dict[str, str]:
        """What it gives, by name, each with what that is: one of `GIVEN_KINDS`."""
        return {slot.name: _kind_of(slot) for slot in self.file.slots("OUTPUTS")}

    @property
    def tools(self) -> tuple[str, ...]:
        """The pinned tools that its plans may call."""
        return self.head.references("TOOLS")

    @property
    def sub_skills(self) -> tuple[str, ...]:
        """The pinned skills that its plans may dispatch to."""
        return self.head.references("SUB_SKILLS")

    @property
    def reads(self) -> tuple[str, ...]:
        """The types of memories that it reads."""
        return tuple(self.head.cortex.get("reads", "").split())

    @property
    def tags(self) -> tuple[str, ...]:
        """The tags of the memories that it reads."""
        return tuple(self.head.cortex.get("tags", "").split())

    @property
    def writes(self) -> tuple[str, ...]:
        """The types of memories that its intents leave behind."""
        return tuple(self.head.cortex.get("writes", "").split())

    @property
    def budget(self) -> int:
        """The most tokens of memories that it is told; 0 where it does not say."""
        said = self.head.cortex.get("budget", "")
        return int(said) if said.isascii() and said.isdigit() else 0

    @cached_property
    def digest(self) -> str:
        """sha256 (hex) over the meaning of SKILL.mtx and plan.yaml."""
        plan = self.template.digest if self.template else None
        return value_digest({"file": self.file_digest, "plan": plan})

    @cached_property
    def stems(self) -> Counter[str]:
        """How often each stem is in what says what it is for: id, display, description, tags, hints and
        examples.
        """
        from collections import Counter

        from mcl.language.bm25 import stems  # here, as a list of skills needs no word search

        hints = (slot.hint for slot in self.slots)
        words = (self.id, self.display, self.description, *self.tags, *hints, *self.examples)
        return Counter(stems(" ".join(words)))

    @cached_property
    def example_grams(self) -> tuple[Counter[Gram], ...]:
        """The words and pairs of words of each example."""
        from mcl.language.bm25 import grams

        return tuple(grams(example) for example in self.examples)


@dataclass(frozen=True)
class Shadowed:
    """A skill that cannot be reached, as a later one has its id. path: its folder. by: that of the later."""

    id: str
    path: Path
    by: Path


@dataclass(frozen=True)
class Derived:
    """Skills that nobody wrote: made of tools that are there, by plug-ins. flaws: why no goal can ask for
    some tools, by the id that their skill would have."""

    by_id: Mapping[str, Skill] = field(default_factory=dict)
    flaws: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def words(self) -> Bm25:
        """An index over what they say of themselves, in their order."""
        from mcl.language.bm25 import Bm25

        return Bm25([skill.stems for skill in self.by_id.values()])


@dataclass(frozen=True)
class Skills:
    """The installed skills by id, in id order. A later folder's skill hides an earlier one of the same id.

    shadowed: what is hidden, in the order in which it was found; where three have one id, the second hides
    the first and the third the second. broken: what is wrong with the skills that cannot be used, by id.
    derived: further ones, which are chosen where none of these does what is wanted; never one of their ids.
    """

    by_id: Mapping[str, Skill]
    shadowed: tuple[Shadowed, ...] = ()
    broken: Mapping[str, SkillError] | None = None
    derived: Derived = field(default_factory=Derived)

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(self.by_id)

    def get(self, id: str) -> Skill | None:
        """The skill with this id; None where there is none.

        Raises SkillError SKILL_INVALID and the like when it is installed and broken.
        """
        if id not in self.by_id and self.broken and id in self.broken:
            raise self.broken[id]
        return self.by_id.get(id) or self.derived.by_id.get(id)

    def beside(self, derived: Iterable[Derived]) -> Skills:
        """These, with skills that were derived; what is installed under an id stays what that id means."""
        made: dict[str, Skill] = {}
        flaws: dict[str, str] = {}
        for one in derived:
            flaws.update(one.flaws)
            for id, skill in one.by_id.items():
                if id in self.by_id or id in made or (self.broken and id in self.broken):
                    flaws[id] = "a skill of this name is there already"
                else:
                    made[id] = skill
        return replace(self, derived=Derived(made, flaws)) if made or flaws else self

    @cached_property
    def likeness(self) -> Likeness:
        """An index over their words and examples, in their order."""
        from mcl.language.bm25 import Likeness

        return Likeness((skill.stems, skill.example_grams) for skill in self)

    def __iter__(self) -> Iterator[Skill]:
        return iter(self.by_id.values())

    def __len__(self) -> int:
        return len(self.by_id)


def skill_folders(home: Path | None, *, here: Path | None = None, extra: Sequence[Path] = ()) -> list[Path]:
    """Where skills are looked for, later ones win: the package, plug-ins, the home, ./skills (of `here`),
    `extra`."""
    places = [Path(shipped.__file__).parent]
    places += [Path(one.folder, "skills") for one in plugins() if one.skills]
    places += [home / "skills"] if home is not None else []
    places += [here / "skills"] if here is not None else []
    places += extra
    named: dict[Path, Path] = {}
    for place in places:  # a folder that is named twice counts where it is named last
        named.pop(place.resolve(), None)
        named[place.resolve()] = place
    return list(named.values())


def find_skills(folders: Sequence[Path], *, cache: Path | None = None) -> Skills:
    """Read the skills in these folders: each sub-folder with a SKILL.mtx, and a folder that has one itself.

    cache: where parsed files are kept by digest (None: parse them anew). A broken skill is left out and told
    of in `Skills.broken`; it also hides an earlier one of its name, which nobody meant to run instead.
    """
    store = Cache(cache)
    found: dict[str, Skill] = {}
    broken: dict[str, SkillError] = {}
    holders: dict[str, Path] = {}  # the folder that has an id now, whether its skill is broken or not
    shadowed: list[Shadowed] = []
    for folder in folders:
        for path in _skills_in(folder):
            try:
                skill = load_skill(path, store)
                id, error = skill.id, None
            except SkillError as told:
                skill, id, error = None, skill_id({}, path), told
            if id in holders:
                shadowed.append(Shadowed(id, holders[id], path))
            # Also where it is broken: an earlier skill of this name is another program than the one that
            # somebody put here on purpose.
            holders[id] = path
            found.pop(id, None)
            broken.pop(id, None)
            if skill is not None:
                found[id] = skill
            elif error is not None:
                broken[id] = error
    return Skills({id: found[id] for id in sorted(found)}, tuple(shadowed), broken)


def load_skill(folder: Path, store: Cache | None = None) -> Skill:
    """Read one skill's folder. Raises SkillError with every error of the file that is wrong first."""
    plan = folder / "plan.yaml"
    source = read_bytes(folder / "SKILL.mtx")
    name = folder.name or folder.absolute().name
    planned = read_bytes(plan) if os.path.lexists(plan) else None
    return _skill(folder, name, source, planned, store or Cache(None))


@lru_cache(maxsize=512)
def _skill(folder: Path, name: str, source: bytes, plan: bytes | None, store: Cache) -> Skill:
    """The same for the same bytes: a process that compiles and runs reads its skills once."""
    loaded = load_file(folder / "SKILL.mtx", store, name=name, source=source)
    skill = Skill(folder, loaded.digest, loaded.head, loaded.tree)
    if plan is None:
        return skill

    def template() -> PlanTemplate:
        return read_template(folder / "plan.yaml", plan, skill_digest=loaded.digest, scope=skill, store=store)

    # A plan that was found good with this very skill is read when it is asked for; any other is checked now,
    # so that a list of skills tells what is broken.
    if is_kept(plan, skill_digest=loaded.digest, store=store):
        return replace(skill, plan=template)
    made = template()
    return replace(skill, plan=lambda: made)


def mtx_digest(skill: Skill, core: Core) -> str:
    """sha256 (hex) over the skill, its plan template and all core modules: what an Intent records."""
    return value_digest({"skill": skill.digest, "core": core.digests})


def as_compiled(made: CompileMetadata | None, skill: Skill | None, core: Core) -> Skill:
    """The skill, where it and the core modules are what a goal was compiled with. made: what the Intent says
    of that. Raises SkillError SKILL_CHANGED: what its plan and its prompts say is part of what was signed."""
    if made is not None and skill is not None and mtx_digest(skill, core) == made.mtx_digest:
        return skill
    name = made.skill_id if made is not None else "of this goal"
    now = "(or a core module) is not what this goal was compiled with" if skill else "is not installed"
    raise SkillError(
        "SKILL_CHANGED",
        f"the skill {name} {now}",
        place=str(skill.path) if skill else name,
        fix="put it back as it was, name its folder with --skills, or compile the goal again",
        exit=REFUSED,
    )


def _skills_in(folder: Path) -> list[Path]:
    """The folders in a folder that have a SKILL.mtx, in order of their names, and itself if it has one."""
    try:
        names = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
    except OSError:  # no such folder, or a file
        names = []
    found = [folder / name for name in names if os.path.lexists(f"{folder}/{name}/SKILL.mtx")]
    return found + [folder] * os.path.lexists(folder / "SKILL.mtx")


def _kind_of(slot: ast.Slot) -> str:
    if slot.name == "rows":
        return "rows"
    if slot.type.name == "ArtifactRef":
        return "files" if slot.type.many else "file"
    if slot.type.name in ("uint", "float"):
        return "number"
    if slot.type.name == "bool":
        return TRUTH
    return "list" if slot.type.many else "text"


def _slot(slot: ast.Slot) -> Slot:
    most = int(slot.max.value) if slot.max else MOST
    return Slot(
        slot.name,
        slot.type.name,
        slot.type.members,
        not slot.optional,
        texts(slot.default),
        slot.hint.value if slot.hint else "",
        most if slot.type.many else 1,
    )
