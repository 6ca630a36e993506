"""`mcl skill check` and `mcl skill publish`: all that is wrong with the files of a skill, and its digest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from executor.store.home import Home
from ir.errors import UNVERIFIED
from mcl.core.errors import SkillError
from mcl.language.mtx.codec import file_digest
from mcl.language.mtx.files import invalid
from mcl.language.mtx.source import MtxFinding
from mcl.plugins.authoring.files import (
    PLAN_FILE,
    SKILL_FILE,
    ReadFile,
    SkillFile,
    formatted,
    read_skill_file,
    replace_file,
    skill_files,
)

if TYPE_CHECKING:
    from mcl.language.mtx.parser import Parsed
    from mcl.language.plans.checks import CheckedTools
    from mcl.language.skills import Skill, Skills
    from mcl.model import Model
    from mcl.plugins.authoring.examples import TriedSkill


@dataclass(frozen=True)
class CheckedFile:
    """What was found in one file. `path`: as it was given. `source`: the text that the findings point
    into."""

    path: str
    findings: tuple[MtxFinding, ...]
    source: str = ""

    @property
    def errors(self) -> tuple[MtxFinding, ...]:
        """What must be put right before the file can be used."""
        return tuple(finding for finding in self.findings if finding.severity == "error")

    @property
    def warnings(self) -> tuple[MtxFinding, ...]:
        return tuple(finding for finding in self.findings if finding.severity == "warning")

    @property
    def ok(self) -> bool:
        return not self.errors


def validate_skill(
    path: Path | str, *, strict: bool = False, tools: CheckedTools | None = None
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
        return (CheckedFile(str(path), (MtxFinding(0, 0, error.code, error.message, "", error.fix),)),)
    return tuple(checked for file in files for checked in _checked(file, strict=strict, tools=tools))


def check_text(data: bytes, id: str, *, strict: bool = False) -> tuple[Parsed, tuple[MtxFinding, ...]]:
    """Parse and check the bytes of a .mtx file; `id` is the one that it should carry ("": any)."""
    from mcl.language.mtx.parser import findings_of, parse

    parsed = parse(data)
    return parsed, findings_of(parsed, name=id, strict=strict)


def _checked(file: SkillFile, *, strict: bool, tools: CheckedTools) -> Iterator[CheckedFile]:
    data = _read(file.shown)
    if isinstance(data, MtxFinding):
        yield CheckedFile(file.shown, (data,))
        return
    from mcl.language.plans.checks import scope_of

    parsed, findings = check_text(data, file.id, strict=strict)
    plan = file.path.parent / PLAN_FILE
    if not (file.whole and plan.exists()):
        yield CheckedFile(file.shown, findings, parsed.text)
        return
    shown = file.shown.removesuffix(SKILL_FILE) + PLAN_FILE
    checked, unused = _plan(shown, scope_of(file.path.parent, parsed, findings), tools)
    yield CheckedFile(file.shown, tuple(sorted((*findings, *unused))), parsed.text)
    yield checked


def _lone_plan(shown: str, tools: CheckedTools) -> CheckedFile:
    """A plan.yaml by itself, with the SKILL.mtx beside it."""
    from mcl.language.plans.checks import scope_of

    skill = Path(shown).parent / SKILL_FILE
    data = _read(str(skill))
    if isinstance(data, MtxFinding):
        message, hint = "there is no readable SKILL.mtx beside this plan", "put both into one folder"
        return CheckedFile(shown, (MtxFinding(0, 0, "NO_SKILL", message, "", hint),))
    return _plan(shown, scope_of(skill.parent, *check_text(data, "")), tools)[0]


def _plan(shown: str, scope: Skill | None, tools: CheckedTools) -> tuple[CheckedFile, Iterable[MtxFinding]]:
    """What is wrong with a plan, and what its skill declares in vain; without a skill, what is wrong with
    the form of the plan.
    """
    from mcl.language.plans.binding import check_below
    from mcl.language.plans.checks import check_plan_file

    data = _read(shown)
    if isinstance(data, MtxFinding):
        return CheckedFile(shown, (data,)), ()
    findings, idle = check_plan_file(data, scope, tools)
    findings = tuple(sorted({*findings, *check_below(data, lambda: _skills_around(Path(shown).parent))}))
    return CheckedFile(shown, findings, data.decode("utf-8", "replace").replace("\r\n", "\n")), idle


def _skills_around(folder: Path) -> Skills:
    """The installed skills, and those that lie beside a skill's folder."""
    from mcl.core.home import locate
    from mcl.usecases.installed import installed

    return installed(locate(), [folder.absolute().parent])


def _read(shown: str) -> bytes | MtxFinding:
    from mcl.language.mtx.files import read_bytes

    try:
        return read_bytes(Path(shown))
    except SkillError as error:
        return MtxFinding(0, 0, error.code, error.message, "", error.fix)


# ---- `mcl skill publish`: the digest of a skill, written into it.


@dataclass(frozen=True)
class Published:
    """A file with its digest in §HASH. changed: whether it had to be written. tried: its examples."""

    path: str
    digest: str
    changed: bool
    tried: TriedSkill | None = None


def publish_skill(
    path: Path | str,
    *,
    test: bool = True,
    model: Path | Model | None = None,
    ai: bool = True,
    folders: Sequence[Path] = (),
    home: Home | None = None,
) -> Published:
    """Write the digest of one .mtx file, or of the SKILL.mtx in a folder, into its §HASH; it gets its
    canonical layout.

    Only a skill without errors (V13 to V15 included) whose examples are understood is published; test: False
    asks for no examples. model, ai, folders: as of try_examples. What is published already stays as it is, to
    the byte. Raises SkillError: NO_FILE, NO_SKILL, SKILL_INVALID, EXAMPLES_FAILED (`data["tried"]`: the
    examples), NOT_WRITTEN; and what try_examples raises.
    """
    return publish_file(skill_files(path)[0], test=test, model=model, ai=ai, folders=folders, home=home)


def publish_file(
    file: SkillFile,
    *,
    test: bool,
    model: Path | Model | None,
    ai: bool,
    folders: Sequence[Path],
    home: Home | None,
) -> Published:
    """As publish_skill, for a file that was found."""
    read = read_skill_file(file).well_formed()
    digest = file_digest(read.parsed.file)
    data = with_hash(read.parsed, digest).encode()
    parsed, findings = check_text(data, file.id, strict=True)
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        raise _refused(file.path, errors)
    if file.path.name == SKILL_FILE:
        for checked in validate_skill(file.path.parent):
            if checked.path.endswith("plan.yaml") and not checked.ok:
                raise _refused(Path(checked.path), checked.errors)
    after = formatted(ReadFile(file, data, parsed)).after.encode()
    tried = None
    if test and file.path.name == SKILL_FILE:
        tried = _tried(file, model=model, ai=ai, folders=folders, home=home)
    if after != read.data:
        replace_file(file.path, after)
    return Published(file.shown, digest, after != read.data, tried)


def with_hash(parsed: Parsed, digest: str) -> str:
    """A well-formed text with this digest in its §HASH, in place of what stood there; comments stay."""
    lines = parsed.text.removesuffix("\n").split("\n")
    recorded = ["v=1", "algo=sha256_ast", f"digest={digest}"]
    heads = [section.at.line for section in parsed.file.sections]
    section = parsed.file.section("HASH")
    if section is None:
        return "\n".join([*lines, "", "§HASH", *recorded]) + "\n"
    start = section.at.line
    end = min((line for line in heads if line > start), default=len(lines) + 1)
    kept = [lines[number - 1] for number in range(start + 1, end) if number not in parsed.rows]
    return "\n".join([*lines[:start], *recorded, *kept, *lines[end - 1 :]]) + "\n"


def _refused(path: Path, errors: Sequence[MtxFinding]) -> SkillError:
    told = invalid(path, errors)
    return SkillError(
        told.code, told.message, place=told.place, fix=told.fix, exit=UNVERIFIED, data=told.data
    )


def _tried(
    file: SkillFile,
    *,
    model: Path | Model | None,
    ai: bool,
    folders: Sequence[Path],
    home: Home | None,
) -> TriedSkill:
    from mcl.plugins.authoring.examples import try_examples

    folder = file.path.parent
    [tried] = try_examples([folder], model=model, ai=ai, folders=folders, home=home)
    if not tried.ok:
        failed = [example.text for example in tried.failed]
        first = f", the first: {failed[0]!r}" if failed else ""
        raise SkillError(
            "EXAMPLES_FAILED",
            f"{len(failed)} of {len(tried.examples) + len(tried.not_for)} examples are not understood{first}",
            place=file.shown,
            fix=f"mcl skill test {folder}; --no-test publishes it all the same",
            exit=UNVERIFIED,
            data={"failed": failed},
        )
    return tried
