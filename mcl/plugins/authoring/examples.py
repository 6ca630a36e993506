"""`mcl skill test`: whether goals that a skill was made for are understood as that skill."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from executor.store.home import Home
from ir import ClarifyQuestion, Intent, PlanTree
from mcl.core.errors import InputError, SkillError
from mcl.core.home import open_home
from mcl.language.mtx.core import Core, load_core
from mcl.language.mtx.files import head_of
from mcl.language.skills import Skill, Skills, load_skill
from mcl.plugins.authoring.files import SKILL_FILE, skill_files
from mcl.usecases.installed import installed, the_skill

# The compiler and the tools are imported where examples are tried: the other verbs of skills need neither.
if TYPE_CHECKING:
    from executor.tools.registry import Registry
    from mcl.compiler.compiler import Outcome
    from mcl.model import Model


@dataclass(frozen=True)
class TriedExample:
    """One example line, or one of the goals that are not for the skill, and what the compiler makes of it.

    ok: this skill was chosen, and the plan (where there is one) can be walked; of a goal that is not for it:
    another was chosen, or none. chosen: the id of the skill
    that was chosen, or "". slots: what the goal says of each input. message: why it was refused or failed.
    """

    text: str
    ok: bool
    outcome: Literal["compiled", "clarify", "refused", "failed"]
    chosen: str = ""
    verb: str = ""
    slots: Mapping[str, tuple[str, ...]] | None = None
    questions: tuple[ClarifyQuestion, ...] = ()
    plan: PlanTree | None = None
    message: str = ""

    @property
    def asked(self) -> bool:
        """Whether it is this skill's, and something has to be asked: it is not understood by itself."""
        return self.ok and self.outcome == "clarify"

    @property
    def understood(self) -> bool:
        """Whether it is this skill's, with nothing left to ask."""
        return self.ok and not self.asked


@dataclass(frozen=True)
class TriedSkill:
    """A skill, its examples, and the goals that are not for it. error: why it could not be read, so that
    nothing was tried."""

    id: str
    path: Path
    examples: tuple[TriedExample, ...] = ()
    not_for: tuple[TriedExample, ...] = ()
    error: SkillError | None = None

    @property
    def ok(self) -> bool:
        """Whether every example is this skill's, asked about or not (one without examples has none that is
        not), and no goal that is not for it."""
        return self.error is None and not self.failed

    @property
    def failed(self) -> tuple[TriedExample, ...]:
        """What went to the wrong skill, was refused, or has a plan that cannot be walked."""
        return tuple(one for one in (*self.examples, *self.not_for) if not one.ok)


def try_examples(
    skills: Sequence[str | Path] = (),
    *,
    held_out: bool = False,
    model: Path | Model | None = None,
    ai: bool = True,
    at: str | None = None,
    folders: Sequence[Path] = (),
    home: Home | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Iterator[TriedSkill]:
    """Compile every example line of skills, and every goal that they say is not for them, with all installed
    skills to choose from; nothing is stored.

    skills: ids, folders of skills, or folders of such folders (none: every skill that is found). A folder
    takes part in the choice like one given with `folders`. held_out: the example that is tried is hidden
    from its skill meanwhile, which shows how other wordings fare. model, ai: as of compile_goal. at: the
    moment of the compile (ISO 8601). progress: told after each example how many of how many are done.

    Raises SkillError (SKILL_UNKNOWN, NO_SKILL, NO_FOLDER), ModelError, HomeError, InputError TIME_INVALID.
    """
    from mcl.catalog.tools import registry
    from mcl.usecases.compile import open_model

    home = home or open_home()
    folders_of = {str(one): _folders(one) for one in skills}
    found = installed(home.path, [*folders, *(path for paths in folders_of.values() for path in paths)])
    wanted = list(_wanted(folders_of, found))
    bench = _Bench(
        home,
        open_model(home, model, ai=ai),
        load_core(cache=home.path / "cache"),
        registry(lambda: home, commands=home.path),
        at,
    )
    total = sum(len(one.examples) + len(one.not_for) for one in wanted if isinstance(one, Skill))
    done = 0
    for one in wanted:
        if isinstance(one, TriedSkill):
            yield one
            continue
        tried = []
        for number, text in enumerate((*one.examples, *one.not_for)):
            own = number < len(one.examples)
            less = _without(found, one, number) if own and held_out else found
            tried.append(bench.tried(one, text, less, own=own))
            done += 1
            if progress is not None:
                progress(done, total)
        many = len(one.examples)
        yield TriedSkill(one.id, one.path, tuple(tried[:many]), tuple(tried[many:]))


def _folders(given: str | Path) -> list[Path]:
    """The folders of the skills that a path means; none for what can only be an id."""
    try:
        files = skill_files(given)
    except SkillError:
        if isinstance(given, Path) or "/" in given:
            raise
        return []
    folders = [file.path.parent for file in files if file.path.name == SKILL_FILE]
    if not folders:
        fix = "name a folder with a SKILL.mtx"
        raise SkillError("NO_SKILL", "this is no skill", place=str(given), fix=fix)
    return folders


def _wanted(folders_of: Mapping[str, Sequence[Path]], found: Skills) -> Iterator[Skill | TriedSkill]:
    """The skills that are named, in that order, each once; all of them where none is."""
    broken = found.broken or {}
    ids: dict[str, None] = {}
    for given, folders in folders_of.items():
        for folder in folders:
            try:
                ids[load_skill(folder).id] = None
            except SkillError:
                ids[folder.absolute().name] = None
        if not folders:
            ids[given if given in broken else the_skill(found, given).id] = None
    for id in ids or sorted({*found.ids, *broken}):
        skill = found.by_id.get(id)
        if skill is None:
            yield TriedSkill(id, Path(str(broken[id].data.get("path", ""))), error=broken[id])
        else:
            yield skill


@dataclass(frozen=True)
class _Bench:
    """What every example is compiled with."""

    home: Home
    model: Model
    core: Core
    registry: Registry
    at: str | None

    def tried(self, skill: Skill, text: str, skills: Skills, *, own: bool) -> TriedExample:
        """What the compiler makes of a goal that is this skill's own, or not for it, beside these skills."""
        from mcl.compiler import compiler

        try:
            outcome = compiler.compile_goal(
                text,
                home=self.home,
                skills=skills,
                model=self.model,
                options=compiler.GoalOptions(at=self.at or ""),
                store=False,
                core=self.core,
                registry=self.registry,
                tools=lambda: self.registry,
                timer=lambda: 0.0,  # a busy machine is no reason to refuse an example
            )
        except (InputError, SkillError) as error:
            if error.code == "TIME_INVALID":
                raise
            return TriedExample(text, False, "failed", message=f"{error.message} [{error.code}]")
        tried = self.judged(skill, text, outcome)
        return tried if own else replace(tried, ok=tried.chosen != skill.id, message="")

    def judged(self, skill: Skill, text: str, outcome: Outcome) -> TriedExample:
        """Whether an outcome is the skill's."""
        from mcl.compiler.outcome import Clarify, Refused

        if isinstance(outcome, Refused):
            return TriedExample(text, False, "refused", message=outcome.message)
        intent = outcome.intent
        chosen = intent.compile_metadata.skill_id if intent.compile_metadata else ""
        tried = TriedExample(text, chosen == skill.id, "clarify", chosen, intent.frame.verb, _slots(intent))
        if isinstance(outcome, Clarify):
            return replace(tried, questions=outcome.questions)
        flaw = self.flaw(outcome.plan) if outcome.plan else ""
        return replace(
            tried,
            outcome="compiled",
            ok=tried.ok and not flaw,
            plan=outcome.plan,
            message=flaw or outcome.no_plan,
        )

    def flaw(self, plan: PlanTree) -> str:
        """The first argument of a plan that its tool would refuse, or ""."""
        from executor.call import Deferred
        from executor.gate.references import typed_args

        for node, _ in plan.root.walk():
            manifest = self.registry.find(node.tool_call.tool_ref) if node.tool_call else None
            if manifest is None or node.tool_call is None:
                continue
            args = typed_args(node.tool_call.args, manifest, None, node.tool_call.documents)
            known: Any = {name: value for name, value in args.items() if not isinstance(value, Deferred)}
            needed = manifest.args.get("required", [])
            for name in needed if isinstance(needed, list) else ():
                if name not in args:
                    return f"node {node.id}: {manifest.uri} needs {name!r}, which nothing fills"
            for error in self.registry.args_checker(node.tool_call.tool_ref).iter_errors(known):
                if error.validator != "required":
                    return f"node {node.id}: {error.message[:200]}"
        return ""


def _slots(intent: Intent) -> dict[str, tuple[str, ...]]:
    slots: dict[str, tuple[str, ...]] = {}
    for entry in intent.frame.objects:
        slots[entry.name] = (*slots.get(entry.name, ()), entry.value)
    return slots


def _without(skills: Skills, skill: Skill, number: int) -> Skills:
    """The skills, but that one of them does not know one of its examples."""
    text, seen = skill.examples[number], -1
    sections = []
    for section in skill.file.sections:
        kept = []
        for entry in section.entries:
            key = getattr(entry, "key", "")
            seen += section.name == "SKILL" and key.startswith("example.")
            if not (section.name == "SKILL" and key.startswith("example.") and seen == number):
                kept.append(entry)
        sections.append(replace(section, entries=tuple(kept)))
    file = replace(skill.file, sections=tuple(sections))
    less = replace(skill, head=head_of(file), tree=lambda: file)
    assert text not in less.examples or skill.examples.count(text) > 1, "an example is left out by its place"
    return replace(skills, by_id={**skills.by_id, skill.id: less})
