"""The newest entry of a changelog, whatever form it has."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from mcl.plugins.review.drift.tree import Tree
from mcl.plugins.review.drift.version import VERSION, Version, version_of

_NAMES: Final = ("changelog", "changes", "history", "news", "release_notes", "releases")
_ENDINGS: Final = ("", ".md", ".rst", ".txt", ".markdown")
_LINES: Final = 2000  # of a changelog that are looked at: the newest entry stands near the top
_WIDE: Final = 300  # characters of a line
_UNDERLINE = re.compile(r"([=\-~^*+#\"'`.:_])\1{2,}\s*$")
_HEADING = re.compile(r"#{1,4}\s+(?P<said>.+)$")
# A version that stands for itself in a heading: not a part of a date, a name or an address.
_FOUND = re.compile(rf"(?:^|(?<=[\s\[(`*]))(?P<version>{VERSION})(?=$|[\s\])`,:;*])", re.IGNORECASE)
_DATE = re.compile(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}")
_UNRELEASED = re.compile(
    r"\b(?:unreleased|upcoming|development version)\b|^next(?: release)?$", re.IGNORECASE
)
_FEW: Final = 2  # characters of a list item that says something


@dataclass(frozen=True, slots=True)
class Entry:
    """The newest entry that names a version, at a line counted from 1.

    version: None where no entry names one, and all is unreleased. pending: the line of a heading above it
    that says "unreleased" and has something below it; 0 where none. open: does the entry's own heading say
    that it is not released yet?
    """

    path: str
    line: int
    version: Version | None
    pending: int = 0
    open: bool = False


def newest_entry(tree: Tree) -> Entry | None:
    """The newest entry of the repository's changelog; None where there is none."""
    for path in _places(tree):
        text = tree.text(path)
        if text is not None and (found := entry_in(path, text)):
            return found
    return None


def _places(tree: Tree) -> list[str]:
    names = [f"{name}{ending}" for name in _NAMES for ending in _ENDINGS]
    found = [tree.folded[name] for name in names if name in tree.folded]
    folded = {path.casefold(): path for path in tree.files if path.count("/") == 1}
    return found + [folded[f"docs/{name}"] for name in names if f"docs/{name}" in folded]


def entry_in(path: str, text: str) -> Entry | None:
    """The newest entry of one changelog; None where it has none."""
    lines = [line[:_WIDE].rstrip() for line in text.splitlines()[:_LINES]]
    pending = 0
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        heading = _heading(line, below)
        if not heading:
            continue
        version = _version_in(heading)
        unreleased = bool(_UNRELEASED.search(heading))
        if version is not None:
            return Entry(path, number + 1, version, pending, unreleased)
        if unreleased and not pending and _says_something(lines[number + 1 :]):
            pending = number + 1
    return Entry(path, pending, None, pending, True) if pending else None


def _heading(line: str, below: str) -> str:
    """What a line says as a heading; "" where it is none."""
    if found := _HEADING.match(line):
        return found["said"].strip()
    if line[:1].strip() and _UNDERLINE.fullmatch(below) and len(below.strip()) >= min(3, len(line)):
        return line.strip()
    # Plain texts: a version alone at the beginning of a line, with a date or nothing behind it.
    if line[:1].strip() and (found := _FOUND.match(line)) and "." in found["version"]:
        after = _DATE.sub("", line[found.end() :]).strip(" ()[]:-–—,*")
        return line.strip() if not after or after.casefold() in ("unreleased", "released") else ""
    return ""


def _version_in(heading: str) -> Version | None:
    plain = _DATE.sub(" ", heading)
    for found in _FOUND.finditer(plain):
        if "." in found["version"] or found["version"][:1] in "vV":
            return version_of(found["version"])
    return None


def _says_something(lines: list[str]) -> bool:
    """Is there an item or a sentence before the next version?"""
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        heading = _heading(line, below)
        if heading and _version_in(heading):
            return False
        if not heading and len(line.strip("-*+ ")) > _FEW and not _UNDERLINE.fullmatch(line):
            return True
    return False
