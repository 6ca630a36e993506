"""Which files a path means, and how one of them is replaced."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from executor.core.files import whole_file
from mcl.core.errors import SkillError
from mcl.language.mtx.files import invalid, read_bytes

if TYPE_CHECKING:
    from mcl.language.mtx.parser import Parsed
    from mcl.language.mtx.source import Finding

SKILL_FILE, PLAN_FILE = "SKILL.mtx", "plan.yaml"


@dataclass(frozen=True)
class SkillFile:
    """A .mtx file. `shown`: its path as the user gave it. `whole`: its folder was meant, not it alone."""

    shown: str
    whole: bool = False

    @property
    def path(self) -> Path:
        """Where it is."""
        return Path(self.shown)

    @property
    def id(self) -> str:
        """The id that it should carry: its folder's name; "" for a file that is called something else than
        SKILL.mtx, which is in no folder of its own.
        """
        return self.path.absolute().parent.name if self.path.name == SKILL_FILE else ""


def skill_files(given: Path | str) -> tuple[SkillFile, ...]:
    """The .mtx files that a path means.

    A file is itself; a folder its SKILL.mtx and those of the folders in it, else its .mtx files. Raises
    SkillError: NO_FILE where there is nothing, NO_SKILL for a folder without any.
    """
    path, shown = Path(given), str(given)
    if not path.is_dir() or not shown:
        if not os.path.lexists(path) or not shown:
            raise SkillError("NO_FILE", "there is no such file", place=shown, fix="check the path")
        return (SkillFile(shown),)
    try:
        found = tuple(_in_folder(path, "" if shown == "." else shown.rstrip("/") + "/"))
    except OSError as error:
        message = f"cannot list it: {error.strerror or error}"
        raise SkillError("NO_FILE", message, place=shown, fix="check the path") from error
    if not found:
        fix = "name a folder with a SKILL.mtx, or a folder of such folders"
        raise SkillError("NO_SKILL", "no skill is in this folder", place=shown, fix=fix)
    return found


def _in_folder(folder: Path, before: str) -> Iterator[SkillFile]:
    entries = sorted(folder.iterdir())
    skills = [path for path in entries if (path / SKILL_FILE).is_file()]
    if (folder / SKILL_FILE).is_file():
        yield SkillFile(before + SKILL_FILE, whole=True)
    for path in skills:
        yield SkillFile(f"{before}{path.name}/{SKILL_FILE}", whole=True)
    if not skills and not (folder / SKILL_FILE).is_file():
        for path in entries:
            if path.suffix == ".mtx" and path.is_file():
                yield SkillFile(before + path.name)


def replace_file(path: Path, data: bytes) -> None:
    """Put `data` in the place of a file, whole or not at all; its mode and owner stay, a link stays a link.

    Raises SkillError NOT_WRITTEN.
    """
    try:
        path = path.resolve(strict=True)
        with whole_file(path, like=path.stat()) as file:
            file.write(data)
    except OSError as error:
        message = f"cannot write it: {error.strerror or error}"
        raise SkillError("NOT_WRITTEN", message, place=str(path), fix="check who may write there") from error


# ---- A .mtx file as its commands need it: read, parsed, and well formed.


@dataclass(frozen=True)
class ReadFile:
    """A file, its bytes, and what they say."""

    file: SkillFile
    data: bytes
    parsed: Parsed

    @property
    def errors(self) -> tuple[Finding, ...]:
        """What is wrong with the text itself (checks of meaning come after)."""
        return tuple(finding for finding in self.parsed.findings if finding.severity == "error")

    def well_formed(self) -> ReadFile:
        """This file. Raises SkillError SKILL_INVALID where its text cannot be read as it was meant."""
        if not self.parsed.ok:
            raise invalid(self.file.path, self.parsed.findings)
        return self


def read_skill_file(file: SkillFile) -> ReadFile:
    """Read and parse a .mtx file, whatever is wrong with it. Raises SkillError NO_FILE."""
    from mcl.language.mtx.parser import parse

    data = read_bytes(file.path)
    return ReadFile(file, data, parse(data))
