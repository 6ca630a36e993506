"""`mcl skill check`: everything that is wrong with the files of a skill."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcl.core.errors import SkillError
from mcl.language.mtx.source import Finding
from mcl.usecases.skill.files import PLAN_FILE, SKILL_FILE, SkillFile, skill_files

if TYPE_CHECKING:
    from mcl.language.mtx.parser import Parsed
    from mcl.language.plans.checks import Tools
    from mcl.language.skills import Skill, Skills


@dataclass(frozen=True)
class CheckedFile:
    """What was found in one file. `path`: as it was given. `source`: the text that the findings point
    into."""

    path: str
    findings: tuple[Finding, ...]
    source: str = ""

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What must be put right before the file can be used."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """What is doubtful."""
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    @property
    def ok(self) -> bool:
        """Whether there are no errors."""
        return not self.errors


def validate_skill(
    path: Path | str, *, strict: bool = False, tools: Tools | None = None
) -> tuple[CheckedFile, ...]:
    """Check what a path means: one .mtx file of any name, one plan.yaml (against the SKILL.mtx beside it), a
    folder with a skill (its SKILL.mtx and its plan.yaml), or a folder of such folders.

    strict: findings of V13, V14 and V15 are errors. tools: what a plan may call (default: the tools of this
    build, the commands that the home declares, and what it knows of other servers; raises ManifestError where
    its file of commands cannot be read). Never raises for what is in a skill's file, nor for a path that
    cannot be read: that is a finding.
    """
    if tools is None:
        from mcl.catalog.tools.foreign import tools_at
        from mcl.core.home import locate

        with tools_at(locate()) as known:
            return validate_skill(path, strict=strict, tools=known)
    if Path(path).name == PLAN_FILE and not Path(path).is_dir():
        return (_lone_plan(str(path), tools),)
    try:
        files = skill_files(path)
    except SkillError as error:
        return (CheckedFile(str(path), (Finding(0, 0, error.code, error.message, "", error.fix),)),)
    return tuple(checked for file in files for checked in _checked(file, strict=strict, tools=tools))


def check_text(data: bytes, id: str, *, strict: bool = False) -> tuple[Parsed, tuple[Finding, ...]]:
    """Parse and check the bytes of a .mtx file; `id` is the one that it should carry ("": any)."""
    from mcl.language.mtx.parser import findings_of, parse

    parsed = parse(data)
    return parsed, findings_of(parsed, name=id, strict=strict)


def _checked(file: SkillFile, *, strict: bool, tools: Tools) -> Iterator[CheckedFile]:
    data = _read(file.shown)
    if isinstance(data, Finding):
        yield CheckedFile(file.shown, (data,))
        return
    from mcl.language.plans.below import scope_of

    parsed, findings = check_text(data, file.id, strict=strict)
    plan = file.path.parent / PLAN_FILE
    if not (file.whole and plan.exists()):
        yield CheckedFile(file.shown, findings, parsed.text)
        return
    shown = file.shown.removesuffix(SKILL_FILE) + PLAN_FILE
    checked, unused = _plan(shown, scope_of(file.path.parent, parsed, findings), tools)
    yield CheckedFile(file.shown, tuple(sorted((*findings, *unused))), parsed.text)
    yield checked


def _lone_plan(shown: str, tools: Tools) -> CheckedFile:
    """A plan.yaml by itself, with the SKILL.mtx beside it."""
    from mcl.language.plans.below import scope_of

    skill = Path(shown).parent / SKILL_FILE
    data = _read(str(skill))
    if isinstance(data, Finding):
        message, hint = "there is no readable SKILL.mtx beside this plan", "put both into one folder"
        return CheckedFile(shown, (Finding(0, 0, "NO_SKILL", message, "", hint),))
    return _plan(shown, scope_of(skill.parent, *check_text(data, "")), tools)[0]


def _plan(shown: str, scope: Skill | None, tools: Tools) -> tuple[CheckedFile, Iterable[Finding]]:
    """What is wrong with a plan, and what its skill declares in vain; without a skill, what is wrong with
    the form of the plan.
    """
    from mcl.language.plans.below import check_below, check_plan

    data = _read(shown)
    if isinstance(data, Finding):
        return CheckedFile(shown, (data,)), ()
    findings, idle = check_plan(data, scope, tools)
    findings = tuple(sorted({*findings, *check_below(data, lambda: _skills_around(Path(shown).parent))}))
    return CheckedFile(shown, findings, data.decode("utf-8", "replace").replace("\r\n", "\n")), idle


def _skills_around(folder: Path) -> Skills:
    """The installed skills, and those that lie beside a skill's folder."""
    from mcl.core.home import locate
    from mcl.usecases.skills import installed

    return installed(locate(), [folder.absolute().parent])


def _read(shown: str) -> bytes | Finding:
    from mcl.language.mtx.files import read_bytes

    try:
        return read_bytes(Path(shown))
    except SkillError as error:
        return Finding(0, 0, error.code, error.message, "", error.fix)
