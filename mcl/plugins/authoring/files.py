"""The files of skills: which ones a path means, their canonical layout and their digest."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from executor.core.files import whole_file
from mcl.core.errors import SkillError
from mcl.language.mtx.codec import file_digest
from mcl.language.mtx.files import invalid, read_bytes

if TYPE_CHECKING:
    from mcl.language.mtx.parser import Parsed
    from mcl.language.mtx.source import MtxFinding

SKILL_FILE, PLAN_FILE = "SKILL.mtx", "plan.yaml"


@dataclass(frozen=True)
class SkillFile:
    """A .mtx file. `shown`: its path as the user gave it. `whole`: its folder was meant, not it alone."""

    shown: str
    whole: bool = False

    @property
    def path(self) -> Path:
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
    def errors(self) -> tuple[MtxFinding, ...]:
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


# ---- `mcl skill fmt`: the canonical layout of a .mtx file.


@dataclass(frozen=True)
class FormattedFile:
    """A file and its canonical layout.

    before: the text as it was, less a BOM and carriage returns. after: the canonical text ("" with errors).
    changed: whether its bytes differ from the canonical ones. errors: why it has none.
    """

    path: str
    before: str
    after: str
    changed: bool
    errors: tuple[MtxFinding, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the text could be laid out."""
        return not self.errors

    def diff(self) -> str:
        """What changes, as a unified diff; "" where no line does (line ends, a BOM)."""
        lines = difflib.unified_diff(
            self.before.splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            self.path,
            f"{self.path} (formatted)",
        )
        return "".join(lines) if self.ok else ""


def format_skill(path: Path | str, *, write: bool = True) -> FormattedFile:
    """Give one .mtx file, or the SKILL.mtx in a folder, its canonical layout; what it means stays the same.

    write: False leaves the file as it is. A file with errors is left as it is. Raises SkillError: NO_FILE,
    NO_SKILL, NOT_WRITTEN, FORMAT_UNSOUND.
    """
    return format_file_at(skill_files(path)[0], write=write)


def format_file_at(file: SkillFile, *, write: bool) -> FormattedFile:
    """As format_skill, for a file that was found. It is replaced whole or not at all, and keeps its mode."""
    made = formatted(read_skill_file(file))
    if write and made.changed:
        replace_file(file.path, made.after.encode())
    return made


def format_bytes(data: bytes, shown: str) -> FormattedFile:
    """The canonical layout of a text that is in no file."""
    from mcl.language.mtx.parser import parse

    return formatted(ReadFile(SkillFile(shown), data, parse(data)))


def formatted(read: ReadFile) -> FormattedFile:
    """A file that was read, with its canonical layout; nothing is written."""
    from mcl.language.mtx.layout import format_file
    from mcl.language.mtx.source import MAX_BYTES, MtxFinding

    shown, text = read.file.shown, read.parsed.text
    if not read.parsed.ok:
        return FormattedFile(shown, text, "", False, read.parsed.findings)
    after = format_file(read.parsed)
    if len(after.encode()) >= MAX_BYTES > len(read.data):
        message = f"too long: its canonical layout would have more than the {MAX_BYTES - 1} bytes of a file"
        finding = MtxFinding(0, 0, "TOO_LONG", message, hint="make two skills of it")
        return FormattedFile(shown, text, "", False, (finding,))
    if after != text:
        _require_same(read, after)
    return FormattedFile(shown, text, after, after.encode() != read.data)


def _require_same(read: ReadFile, after: str) -> None:
    """Never write a layout that means something else, whatever is wrong with the formatter."""
    from mcl.language.mtx.parser import parse

    again, before = parse(after.encode()), read.parsed.file
    same = file_digest(again.file) == file_digest(before)
    if not (again.ok and same and again.file.settings("HASH") == before.settings("HASH")):
        message = "the canonical layout would mean something else: a fault of mcl itself; nothing was written"
        fix = "please report it with this file"
        raise SkillError("FORMAT_UNSOUND", message, place=read.file.shown, fix=fix)


# ---- `mcl skill hash`: the digest of what a .mtx file means.


def hash_skill(path: Path | str) -> str:
    """The digest of one .mtx file, or of the SKILL.mtx in a folder: hex sha256 of its tree, as §HASH records
    it. Comments, layout, the order of sections and §HASH do not count.

    Raises SkillError: NO_FILE, NO_SKILL, SKILL_INVALID with all that keeps the text from being read.
    """
    return hash_file(skill_files(path)[0])


def hash_file(file: SkillFile) -> str:
    """The digest of one file. Raises SkillError as hash_skill."""
    return file_digest(read_skill_file(file).well_formed().parsed.file)
