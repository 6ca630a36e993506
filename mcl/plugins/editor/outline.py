"""The parts of a text, line by line: sections, slots, blocks, references, failures.

It reads heads of lines alone, not the grammar, so that a text that is being typed has its outline too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

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
