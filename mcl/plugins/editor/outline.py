"""The parts of a text, line by line, and what stands at a place of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from mcl.language.mtx.lexer import lexer

# ---- The parts of a text, line by line: sections, slots, blocks, references, failures.
#
# It reads heads of lines alone, not the grammar, so that a text that is being typed has its outline too.

_SECTION = re.compile(r"§(\S*)")
_SLOT = re.compile(r"slot[ \t]+([A-Za-z_][\w-]*)[ \t]*:?[ \t]*([^#]*)")
_OPENER = re.compile(r"(on|unknown|clarify)(?=[ \t])[ \t]*([^#]*)|(prompt)[ \t]*(?=#|$)")
_END = re.compile(r"end(?![\w=.-])")
_KEY = re.compile(r"([A-Za-z_][\w.-]*)[ \t]*=[ \t]*(.*)")
_WORD = re.compile(r"[A-Za-z_][\w.:-]*(?=[ \t]*(?:#|$))")
_REFERENCE = re.compile(r"matrix://\S*")
_RESOLVE = re.compile(r"resolve(?=[ \t])[ \t]*([^#]*)")
MAX_LEVELS = 40  # of parts in parts; what is nested deeper is left out of the outline


@dataclass
class Part:
    """A section, slot, setting, reference, block, statement or failure.

    kind: one of those words. name, detail: as written. lines are counted from 1, `last` is in the part;
    column: of its first word, from 1. said: the keys and modifiers in it. parts: what is in it, in order.
    """

    kind: str
    name: str
    detail: str
    line: int
    column: int
    last: int = 0
    said: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)


@dataclass(frozen=True)
class Surroundings:
    """What a line stands in: the section's name without § ("" before the first), the words of the open
    blocks from the outside in, whether a slot or failure is above it, whether the section has an entry.

    said: the keys and modifiers that were said in the innermost of them.
    """

    section: str = ""
    blocks: tuple[str, ...] = ()
    item: str = ""
    filled: bool = False
    said: tuple[str, ...] = ()


def outline(lines: Sequence[str]) -> list[Part]:
    """The sections of a text with their parts."""
    reader = _Reader()
    for number, line in enumerate(lines, 1):
        reader.read(number, line)
    reader.close()
    return reader.sections


def surroundings(lines: Iterable[str]) -> Surroundings:
    """What the line after these lines stands in."""
    reader = _Reader()
    for number, line in enumerate(lines, 1):
        reader.read(number, line)
    if not reader.open:
        return Surroundings()
    section, *inner = reader.open
    innermost = reader.open[-1]
    item = innermost.name if innermost.kind in ("slot", "failure") else ""
    blocks = tuple(part.name for part in inner if part.kind == "block")
    return Surroundings(section.name, blocks, item, bool(section.parts), tuple(innermost.said))


def walk(parts: Sequence[Part]) -> Iterator[Part]:
    """All parts, outer ones first."""
    waiting = list(reversed(parts))
    while waiting:
        part = waiting.pop()
        yield part
        waiting += reversed(part.parts)


class _Reader:
    """Reads lines; `open` holds the section and what is open in it, from the outside in."""

    def __init__(self) -> None:
        self.sections: list[Part] = []
        self.open: list[Part] = []
        self.last = 0

    def read(self, number: int, line: str) -> None:
        text = line.strip(" \t")
        if not text or text.startswith("#"):
            return
        column = len(line) - len(line.lstrip(" \t")) + 1
        if head := _SECTION.match(text):
            self.close()
            section = Part("section", head[1], "", number, column, number)
            self.sections.append(section)
            self.open = [section]
        elif self.open:
            read = {"PROCEDURE": self._procedure, "FAILURE_MODES": self._failure}
            read |= {"INPUTS": self._slot, "OUTPUTS": self._slot}
            read.get(self.open[0].name, self._entry)(text, number, column)
        self.last = number

    def close(self, keep: int = 0) -> None:
        """End what is open, but for the outermost `keep` parts, with the last line that was read."""
        while len(self.open) > keep:
            self.open.pop().last = self.last

    def _entry(self, text: str, number: int, column: int) -> None:
        if reference := _REFERENCE.match(text):
            self._add(Part("reference", reference.group(), "", number, column, number))
        elif setting := _KEY.match(text):
            self.open[0].said.append(setting[1])
            self._add(Part("setting", setting[1], setting[2], number, column, number))

    def _slot(self, text: str, number: int, column: int) -> None:
        if slot := _SLOT.match(text):
            self._item(Part("slot", slot[1], slot[2].strip(), number, column, number))
        elif word := _KEY.match(text) or _WORD.match(text):
            self.open[-1].said.append(word[1] if word.re is _KEY else word.group())

    def _failure(self, text: str, number: int, column: int) -> None:
        if setting := _KEY.match(text):
            self.open[-1].said.append(setting[1])
        elif (word := _WORD.match(text)) and word.group() != "none":
            self._item(Part("failure", word.group(), "", number, column, number))

    def _procedure(self, text: str, number: int, column: int) -> None:
        if _END.match(text):
            self.last = number
            self.close(max(1, len(self.open) - 1))
        elif opener := _OPENER.match(text):
            block = Part("block", opener[1] or opener[3], (opener[2] or "").strip(), number, column, number)
            self._add(block)
            self.open.append(block)
        elif resolve := _RESOLVE.match(text):
            self._add(Part("statement", "resolve", resolve[1].strip(), number, column, number))
        elif setting := _KEY.match(text):
            self.open[-1].said.append(setting[1])
            if len(self.open) == 1 or self.open[-1].name == "on":
                self._add(Part("statement", setting[1], setting[2], number, column, number))

    def _item(self, part: Part) -> None:
        self.close(1)
        self._add(part)
        self.open.append(part)

    def _add(self, part: Part) -> None:
        if len(self.open) < MAX_LEVELS:
            self.open[-1].parts.append(part)


# ---- What stands at a place of a text, and what the grammar would take there.
#
# The lines above tell the section and the block; a short text that leads to the same state of the LALR parser
# stands in for them, and the parser is asked. So an error further up does not matter here.

_STRING_OR_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"?|(?:^|(?<=[ \t]))#.*')
_TOKEN = re.compile(r"(?:matrix://\S*|x:[\w.-]*|§?[\w.-]*)$")
_REST = re.compile(r"[\w.-]*")
_REST_OF_URI = re.compile(r"[^\s#]*")
_KEY_BEFORE = re.compile(r"[ \t]*([A-Za-z_][\w.-]*)[ \t]*=[ \t]*")
_OPENS = re.compile(r"\{\{|\{([^{}]*)$|\{[^{}]*\}")
_BLOCKS = {"on": "on unknown\n", "prompt": "prompt\n", "unknown": "unknown slot.x\n"}
_BLOCKS |= {"clarify": "clarify slot.x\n"}
_ENTRIES = {"INPUTS": "slot x: string\n", "OUTPUTS": "slot x: string\n", "FAILURE_MODES": "x\n"}
_ENTRIES |= {"CORTEX": "x=\n", "PROCEDURE": "kind=\n", "SKILL": "x=\n", "HASH": "x=\n"}
_ENTRIES |= {"TOOLS": "matrix://tool/x@1.0.0\n", "SUB_SKILLS": "matrix://skill/x@1.0.0\n"}


class Token(NamedTuple):
    """One word of a line: its terminal in the grammar, its text, and its first column from 1."""

    kind: str
    text: str
    column: int

    @property
    def stop(self) -> int:
        """The column behind it."""
        return self.column + len(self.text)


@dataclass(frozen=True)
class Here:
    """A place in a line.

    around: what the line stands in. word: what is typed of the word at the place, from column `start` up to
    the place; `stop`: the column where the word ends behind it. before: the tokens before the word. accepts:
    the terminals that the grammar takes instead of the word. key: the key whose value the place is in ("" for
    none), and `value` what of the value stands before the word. opened: where the place is in a place of a
    string (`{slot.`), the column of its name, else 0. in_string, in_comment: where else it is.
    """

    around: Surroundings
    word: str
    start: int
    stop: int
    before: tuple[Token, ...] = ()
    accepts: frozenset[str] = frozenset()
    key: str = ""
    value: str = ""
    opened: int = 0
    in_string: bool = False
    in_comment: bool = False


def here(lines: Sequence[str], line: int, column: int) -> Here:
    """What stands at a place (both from 1; one behind the text is its end)."""
    line = min(max(line, 1), len(lines))
    text = lines[line - 1]
    column = min(max(column, 1), len(text) + 1)
    around = surroundings(lines[: line - 1])
    typed = text[: column - 1]
    match = _TOKEN.search(typed)
    word = match.group() if match else ""
    start = column - len(word)
    uris = around.section in ("TOOLS", "SUB_SKILLS") and not word.startswith("§")
    rest = (_REST_OF_URI if uris else _REST).match(text, column - 1)
    stop = rest.end() + 1 if rest else column
    kind, at = _inside(text, column)
    if kind == "comment":
        return Here(around, word, start, stop, in_comment=True)
    key = _KEY_BEFORE.match(text) if not typed.lstrip().startswith("§") else None
    named = key is not None and key.end() < column
    if kind == "string":
        place = next((m for m in _OPENS.finditer(typed, at) if m[1] is not None), None)
        opened = place.start(1) + 1 if place else 0
        return Here(
            around,
            typed[opened - 1 :] if opened else word,
            opened or start,
            stop,
            key=key[1] if key and named else "",
            value=typed[at : start - 1],
            opened=opened,
            in_string=True,
        )
    before, accepts = accepted(around, typed[: start - 1])
    value = typed[key.end() : start - 1] if key and named else ""
    return Here(around, word, start, stop, before, accepts, key[1] if key and named else "", value)


def tokens(lines: Sequence[str], line: int) -> tuple[Token, ...]:
    """The words of a line as the grammar reads it, up to the first that does not fit."""
    if not 0 < line <= len(lines):
        return ()
    return accepted(surroundings(lines[: line - 1]), lines[line - 1] + "\n")[0]


def accepted(around: Surroundings, text: str) -> tuple[tuple[Token, ...], frozenset[str]]:
    """The words of the beginning of a line, and the terminals that may follow (none behind an error)."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    lead = "" if text.lstrip(" \t").startswith("§") else _lead(around)
    parser: Any = lexer().lark.parse_interactive(lead + text)  # Lark types none of its methods
    found: list[Token] = []
    try:
        for token in parser.lexer_thread.lex(parser.parser_state):
            parser.feed_token(token)
            if (token.start_pos or 0) >= len(lead) and token.type != "_NL":
                found.append(Token(token.type, str(token), (token.start_pos or 0) - len(lead) + 1))
        return tuple(found), frozenset(parser.accepts())
    except (UnexpectedCharacters, UnexpectedToken):
        return tuple(found), frozenset()


def _lead(around: Surroundings) -> str:
    """A short text after which the parser is in the state of the surroundings."""
    if around.section not in _ENTRIES:
        return ""
    head = f"§{around.section}\n"
    if around.blocks:
        return head + _BLOCKS[around.blocks[-1]]
    return head + (_ENTRIES[around.section] if around.item or around.filled else "")


def _inside(text: str, column: int) -> tuple[str, int]:
    """Whether a column is in a string or a comment, and the offset where that begins."""
    for match in _STRING_OR_COMMENT.finditer(text):
        if match.start() >= column - 1:
            break
        string = match.group().startswith('"')
        closed = string and len(match.group()) > 1 and _closed(match.group())
        if column - 1 < match.end() or (column - 1 == match.end() and not closed):
            return ("string" if string else "comment"), match.start() + string
    return "", 0


def _closed(text: str) -> bool:
    return re.fullmatch(r'"(?:[^"\\]|\\.)*"', text) is not None
