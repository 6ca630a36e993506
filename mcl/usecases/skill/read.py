"""A .mtx file as its commands need it: read, parsed, and well formed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mcl.language.mtx.load import invalid, read_bytes
from mcl.usecases.skill.files import SkillFile

if TYPE_CHECKING:
    from mcl.language.mtx.finding import Finding
    from mcl.language.mtx.parse import Parsed


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
    from mcl.language.mtx.parse import parse

    data = read_bytes(file.path)
    return ReadFile(file, data, parse(data))
