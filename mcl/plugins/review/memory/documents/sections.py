"""A document cut into sections of prose, each with the lines that it comes from."""

import configparser
import json
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from executor.core.errors import ScopeError
from executor.sandbox.paths import Workspace

LONGEST: Final = 1_200  # characters of one piece; a longer section becomes several
MOST: Final = 200  # pieces of one document
_FENCE: Final = re.compile(r"^ {0,3}(`{3,}|~{3,})")
_HEADING: Final = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$")
_UNDER: Final = re.compile(r"^(?:=+|-+|~+|\^+|\*+|\++)[ \t]*$")
_LEVELS: Final = "=-~^*+"  # of underlined headings
_DECOR: Final = re.compile(r"^\s*(?:\[?!\[|<[a-zA-Z/!]|\.\. |:[a-z-]+:|\[[^\]]+\]:\s|\|?[\s:|-]+\|?$)")
_ENDS: Final = re.compile(r"(?<=[.!?])\s")
_LONGEST_LINE: Final = 4_000  # characters of a line that is looked at for headings


@dataclass(frozen=True, slots=True)
class DocumentSection:
    """A piece of prose. headings: those above it, the outermost first. first, last: its lines, from 1. part:
    which piece of its section it is, from 0."""

    headings: tuple[str, ...]
    text: str
    first: int
    last: int
    part: int = 0


def sections(text: str) -> tuple[DocumentSection, ...]:
    """The prose of a document in Markdown, reStructuredText or plain text, at most 200 pieces.

    Blocks of code, pictures, badges, markup that stands on a line of its own and table rules are left out.
    """
    return tuple(piece for _, piece in zip(range(MOST), _pieces(text), strict=False))


def _pieces(text: str) -> Iterator[DocumentSection]:
    for headings, lines in _cut(text):
        part = 0
        held: list[tuple[int, str]] = []
        for paragraph in _paragraphs(lines):
            size = sum(len(line) + 1 for _, line in (*held, *paragraph))
            if held and size > LONGEST:
                yield _section(headings, held, part)
                part, held = part + 1, []
            held += paragraph
            while sum(len(line) + 1 for _, line in held) > LONGEST:
                now, held = _parted(held)
                yield _section(headings, now, part)
                part += 1
        if held:
            yield _section(headings, held, part)


def _section(headings: tuple[str, ...], held: list[tuple[int, str]], part: int) -> DocumentSection:
    text = "\n".join(line for _, line in held).strip()
    return DocumentSection(headings, text, held[0][0], held[-1][0], part)


def _parted(held: list[tuple[int, str]]) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Lines that are too long, cut after a line or, within a line, after a sentence or a word."""
    size = 0
    for place, (number, line) in enumerate(held):
        if size + len(line) > LONGEST:
            if place:
                return held[:place], held[place:]
            ends = [found.start() for found in _ENDS.finditer(line, 0, LONGEST)]
            at = ends[-1] if ends else line.rfind(" ", 1, LONGEST)
            at = at if at > 0 else LONGEST
            return [(number, line[:at])], [(number, line[at:].lstrip()), *held[1:]]
        size += len(line) + 1
    return held, []


def _paragraphs(lines: list[tuple[int, str]]) -> Iterator[list[tuple[int, str]]]:
    held: list[tuple[int, str]] = []
    for number, line in lines:
        if line.strip():
            held.append((number, line.rstrip()))
        elif held:
            yield held
            held = []
    if held:
        yield held


def _cut(text: str) -> Iterator[tuple[tuple[str, ...], list[tuple[int, str]]]]:
    """The lines of each section, without code and decoration, below the headings above it."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    path: list[tuple[int, str]] = []
    held: list[tuple[int, str]] = []
    closes = ""
    for number, line in enumerate(lines, 1):
        short = line[:_LONGEST_LINE]
        fence = _FENCE.match(short)
        if closes:
            if fence and fence[1].startswith(closes) and not short.strip().strip(closes[0]):
                closes = ""
            continue
        if fence:
            closes = fence[1]
            continue
        level, title = _heading(short)
        if not title and held and held[-1][0] == number - 1 and _UNDER.match(short) and len(short) < 200:
            title = held[-1][1].strip()
            if _is_title(title, short):
                held.pop()
                level = 1 + _LEVELS.index(short[0])
            else:
                title = ""
        if title:
            if held:
                yield tuple(one for _, one in path), held
            held = []
            path = [*(one for one in path if one[0] < level), (level, title)]
        elif line.strip() and _DECOR.match(short):
            continue
        else:
            held.append((number, line))
    if held:
        yield tuple(one for _, one in path), held


def _heading(line: str) -> tuple[int, str]:
    found = _HEADING.match(line)
    return (len(found[1]), _bare(found[2])) if found else (0, "")


def _is_title(above: str, line: str) -> bool:
    """Is the line above an underlined title? A rule below a paragraph is shorter, or stands alone."""
    return bool(above) and len(above) <= 120 and len(line.strip()) >= min(3, len(above))


def _bare(title: str) -> str:
    return re.sub(r"[`*_]+", "", title).strip()[:120]


# ---- What the settings of a repository say of how its code is written: a table of rules, no guess.

MAX_BYTES: Final = 256 << 10  # of one file of settings
_LONGEST: Final = 80  # characters of a value


@dataclass(frozen=True, slots=True)
class Convention:
    """One convention. id: of its rule. source: the file that says so."""

    id: str
    text: str
    source: str


def conventions(workspace: Workspace) -> tuple[Convention, ...]:
    """The conventions that the settings of a workspace name. A file that cannot be read says nothing."""
    return tuple(_found(workspace))


def _found(workspace: Workspace) -> Iterator[Convention]:
    read: dict[str, Any] = {}
    for rule in _rules():
        file = rule["file"]
        if file not in read:
            read[file] = _settings(workspace, file)
        value = read[file]
        for key in rule["keys"]:
            value = value.get(key) if isinstance(value, dict) else None
        if not isinstance(value, str | int | float) or (value != rule.get("only", value)):
            continue
        if isinstance(value, bool) and "only" not in rule:
            continue
        said = str(value).strip()
        if said and len(said) <= _LONGEST and said.isprintable():
            yield Convention(rule["id"], rule["says"].format(value=said), file)


def _settings(workspace: Workspace, file: str) -> dict[str, Any]:
    try:
        if workspace.check(file) is None:
            return {}
        data, size = workspace.read(file, MAX_BYTES + 1)
        text = data.decode("utf-8")
    except (ScopeError, UnicodeDecodeError):
        return {}
    if size > MAX_BYTES:
        return {}
    try:
        if file.endswith(".toml"):
            return tomllib.loads(text)
        if file.endswith(".json"):
            said = json.loads(text)
            return said if isinstance(said, dict) else {}
        return _ini(text)
    except (ValueError, RecursionError, configparser.Error):
        return {}


def _ini(text: str) -> dict[str, Any]:
    reader = configparser.RawConfigParser(strict=False, default_section="\0")
    reader.read_string(f"[\1]\n{text}")  # .editorconfig begins without a section
    return {name: dict(reader.items(name)) for name in reader.sections()}


@cache
def _rules() -> list[dict[str, Any]]:
    text = (Path(__file__).parent / "conventions.toml").read_text(encoding="utf-8")
    found: list[dict[str, Any]] = tomllib.loads(text)["rule"]
    return found
