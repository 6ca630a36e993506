"""`mcl skill publish`: the digest of a skill, written into it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from executor.store.home import Home
from ir.errors import UNVERIFIED
from mcl.core.errors import SkillError
from mcl.language.mtx.codec import file_digest
from mcl.language.mtx.files import invalid
from mcl.language.mtx.source import Finding
from mcl.usecases.skill.files import (
    SKILL_FILE,
    ReadFile,
    SkillFile,
    read_skill_file,
    replace_file,
    skill_files,
)
from mcl.usecases.skill.format import formatted
from mcl.usecases.skill.validate import check_text, validate_skill

if TYPE_CHECKING:
    from mcl.language.mtx.parser import Parsed
    from mcl.model import Model
    from mcl.usecases.skill.examples import TriedSkill


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


def _refused(path: Path, errors: Sequence[Finding]) -> SkillError:
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
    from mcl.usecases.skill.examples import try_examples

    folder = file.path.parent
    [tried] = try_examples([folder], model=model, ai=ai, folders=folders, home=home)
    if not tried.ok:
        failed = [example.text for example in tried.examples if not example.ok]
        first = f", the first: {failed[0]!r}" if failed else ""
        raise SkillError(
            "EXAMPLES_FAILED",
            f"{len(failed)} of {len(tried.examples)} examples are not understood{first}",
            place=file.shown,
            fix=f"mcl skill test {folder}; --no-test publishes it all the same",
            exit=UNVERIFIED,
            data={"failed": failed},
        )
    return tried
