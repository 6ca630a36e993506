"""What a repository says of itself: its documents cut into sections, and the conventions of its settings.

They are the first memories of a workspace, each with its place. The same documents give the same memories;
what a document says no more is forgotten the next time.
"""

import configparser
import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from executor.core.errors import ScopeError
from executor.core.tables import table_beside
from executor.sandbox.paths import Workspace
from ir.inline_secrets import without_secrets
from mcl.plugins.review.memory.history import ReviewMemories
from mcl.plugins.review.memory.meanings import LONGEST, MEANINGS, Meaning, MeaningKind, plain_lines

# ---- A document cut into sections of prose, each with the lines that it comes from.

LONGEST_SECTION: Final = 1_200  # characters of one piece; a longer section becomes several
MOST_SECTIONS: Final = 200  # pieces of one document
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
    return tuple(piece for _, piece in zip(range(MOST_SECTIONS), _pieces(text), strict=False))


def _pieces(text: str) -> Iterator[DocumentSection]:
    for headings, lines in _sectioned(text):
        part = 0
        held: list[tuple[int, str]] = []
        for paragraph in _paragraphs(lines):
            size = sum(len(line) + 1 for _, line in (*held, *paragraph))
            if held and size > LONGEST_SECTION:
                yield _section(headings, held, part)
                part, held = part + 1, []
            held += paragraph
            while sum(len(line) + 1 for _, line in held) > LONGEST_SECTION:
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
        if size + len(line) > LONGEST_SECTION:
            if place:
                return held[:place], held[place:]
            ends = [found.start() for found in _ENDS.finditer(line, 0, LONGEST_SECTION)]
            at = ends[-1] if ends else line.rfind(" ", 1, LONGEST_SECTION)
            at = at if at > 0 else LONGEST_SECTION
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


def _sectioned(text: str) -> Iterator[tuple[tuple[str, ...], list[tuple[int, str]]]]:
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

MAX_SETTINGS: Final = 256 << 10  # of one file of settings
_LONGEST_VALUE: Final = 80  # characters of a value


@dataclass(frozen=True, slots=True)
class Convention:
    """One convention. id: of its rule. source: the file that says so."""

    id: str
    text: str
    source: str


def conventions(workspace: Workspace) -> tuple[Convention, ...]:
    """The conventions that the settings of a workspace name. A file that cannot be read says nothing."""
    return tuple(_conventions_found(workspace))


def _conventions_found(workspace: Workspace) -> Iterator[Convention]:
    read: dict[str, Any] = {}
    for rule in _conventions_asked():
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
        if said and len(said) <= _LONGEST_VALUE and said.isprintable():
            yield Convention(rule["id"], rule["says"].format(value=said), file)


def _settings(workspace: Workspace, file: str) -> dict[str, Any]:
    try:
        if workspace.check(file) is None:
            return {}
        data, size = workspace.read(file, MAX_SETTINGS + 1)
        text = data.decode("utf-8")
    except (ScopeError, UnicodeDecodeError):
        return {}
    if size > MAX_SETTINGS:
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


def _conventions_asked() -> list[dict[str, Any]]:
    return list(table_beside(__file__, "conventions")["rule"])


# ---- The memories that are made of them.

TAG: Final = "bootstrap"
MAX_BYTES: Final = 512 << 10  # of one document
MAX_DOCUMENTS: Final = 40
_CUT: Final = " … [cut]"
_WORD: Final = re.compile(r"[a-z]+")


@dataclass(frozen=True)
class Bootstrapped:
    """What a bootstrap did. documents: (path, pieces) of what was read. conventions: how many settings said
    one. skipped: (path, why) of what was not read. written, unchanged, forgotten: memories."""

    documents: tuple[tuple[str, int], ...]
    conventions: int
    skipped: tuple[tuple[str, str], ...]
    written: int
    unchanged: int
    forgotten: int

    def to_json(self) -> dict[str, object]:
        """The same as a JSON object."""
        return {
            "documents": [{"path": path, "sections": count} for path, count in self.documents],
            "conventions": self.conventions,
            "skipped": [{"path": path, "why": why} for path, why in self.skipped],
            "written": self.written,
            "unchanged": self.unchanged,
            "forgotten": self.forgotten,
        }


def bootstrap(memories: ReviewMemories, workspace: Workspace) -> Bootstrapped:
    """Remember what README, ROADMAP, contracts, safety documents and settings of a workspace say.

    All of it is remembered in one commit, or nothing. Raises ReviewError MEANING_SHAPE; HomeError.
    """
    skipped: list[tuple[str, str]] = []
    documents: list[tuple[str, int]] = []
    made: dict[str, Meaning] = {}
    for path, kind in _documents(workspace, skipped):
        text = _text(workspace, path, skipped)
        if text is None:
            continue
        cut = sections(text)
        if len(cut) == MOST_SECTIONS:
            skipped.append((path, f"only its first {MOST_SECTIONS} pieces were read"))
        documents.append((path, len(cut)))
        nth = Counter[tuple[str, ...]]()
        for section in cut:
            nth[section.headings] += not section.part
            one = _meaning(path, kind, section, nth[section.headings])
            made[one.id] = one
    settled = conventions(workspace)
    for found in settled:
        id = f"convention.{found.id}"
        made[id] = Meaning(id, found.text, "convention", (TAG,), found.source)
    written, forgotten = memories.meanings.replace_tagged(TAG, made.values())
    counts = {"written": written, "unchanged": len(made) - written, "forgotten": forgotten}
    return Bootstrapped(tuple(documents), len(settled), tuple(skipped), **counts)


def _documents(workspace: Workspace, skipped: list[tuple[str, str]]) -> Iterator[tuple[str, MeaningKind]]:
    found: list[tuple[str, MeaningKind]] = []
    for folder in _table()["folders"]:
        try:
            entries = list(workspace.walk(folder, check=lambda: None, recursive=False))
        except ScopeError as error:
            if error.code not in ("NOT_FOUND", "NOT_A_FOLDER"):
                skipped.append((folder, error.message))
            continue
        for entry in entries:
            name = entry.path.rpartition("/")[2].casefold()
            stem, dot, ending = name.rpartition(".")
            stem, ending = (stem, dot + ending) if dot else (name, "")
            kind = _kind_of(stem.replace("-", "_"))
            if kind is None or ending not in _table()["endings"] or entry.kind == "folder":
                continue
            if entry.kind != "file":
                skipped.append((entry.path, "it is no plain file (a link, device or FIFO)"))
            else:
                found.append((entry.path, kind))
    skipped += [(path, f"more than {MAX_DOCUMENTS} documents") for path, _ in found[MAX_DOCUMENTS:]]
    yield from found[:MAX_DOCUMENTS]


def _kind_of(stem: str) -> MeaningKind | None:
    """The kind of what a document of this name says; None of others."""
    for one in _table()["document"]:
        if stem in one["stems"] or stem.endswith(tuple(one.get("tails", ()))):
            kind: MeaningKind = one["kind"]
            return kind
    return None


def _text(workspace: Workspace, path: str, skipped: list[tuple[str, str]]) -> str | None:
    try:
        data, size = workspace.read(path, MAX_BYTES)
    except ScopeError as error:
        skipped.append((path, error.message))
        return None
    if size > MAX_BYTES:
        skipped.append((path, f"it is larger than {MAX_BYTES:,} bytes"))
        return None
    try:
        return data.decode("utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError:
        skipped.append((path, "it is not UTF-8 text"))
        return None


def _meaning(path: str, kind: MeaningKind, section: DocumentSection, nth: int) -> Meaning:
    """nth: which section of the document with these headings it is, from 1."""
    below = " > ".join(section.headings)
    id = sha256("\x1f".join((path, below, str(nth), str(section.part))).encode()).hexdigest()[:16]
    text = without_secrets(plain_lines(f"{below}: {section.text}" if below else section.text))
    if len(text) > LONGEST:  # what was taken out or written out may be longer than what was there
        text = text[: LONGEST - len(_CUT)] + _CUT
    lines = f"{section.first}-{section.last}" if section.last > section.first else str(section.first)
    return Meaning(f"document.{id}", text, _kind(kind, section), (TAG,), f"{path}:{lines}")


def _kind(kind: MeaningKind, section: DocumentSection) -> MeaningKind:
    """The kind that the innermost heading says, or else that of its document."""
    said = {one: kind for kind in MEANINGS for one in _table()["headings"].get(kind, ())}
    for heading in reversed(section.headings[1:]):
        for word in _WORD.findall(heading.casefold()):
            if word in said:
                return said[word]
    return kind


def _table() -> dict[str, Any]:
    return table_beside(__file__)
