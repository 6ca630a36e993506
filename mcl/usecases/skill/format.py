"""`mcl skill fmt`: the canonical layout of a .mtx file."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from mcl.core.errors import SkillError
from mcl.language.mtx.codec import file_digest
from mcl.usecases.skill.files import ReadFile, SkillFile, read_skill_file, replace_file, skill_files

if TYPE_CHECKING:
    from mcl.language.mtx.source import Finding


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
    errors: tuple[Finding, ...] = ()

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
    from mcl.language.mtx.source import MAX_BYTES, Finding

    shown, text = read.file.shown, read.parsed.text
    if not read.parsed.ok:
        return FormattedFile(shown, text, "", False, read.parsed.findings)
    after = format_file(read.parsed)
    if len(after.encode()) >= MAX_BYTES > len(read.data):
        message = f"too long: its canonical layout would have more than the {MAX_BYTES - 1} bytes of a file"
        finding = Finding(0, 0, "TOO_LONG", message, hint="make two skills of it")
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
