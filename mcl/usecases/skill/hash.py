"""`mcl skill hash`: the digest of what a .mtx file means."""

from __future__ import annotations

from pathlib import Path

from mcl.language.mtx.codec import file_digest
from mcl.usecases.skill.files import SkillFile, read_skill_file, skill_files


def hash_skill(path: Path | str) -> str:
    """The digest of one .mtx file, or of the SKILL.mtx in a folder: hex sha256 of its tree, as §HASH records
    it. Comments, layout, the order of sections and §HASH do not count.

    Raises SkillError: NO_FILE, NO_SKILL, SKILL_INVALID with all that keeps the text from being read.
    """
    return hash_file(skill_files(path)[0])


def hash_file(file: SkillFile) -> str:
    """The digest of one file. Raises SkillError as hash_skill."""
    return file_digest(read_skill_file(file).well_formed().parsed.file)
