"""What is open in an editor: one state of each text, read once.

Nothing here knows the wire; `server` turns it into the protocol.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mcl.language.mtx.ast import File
from mcl.language.mtx.layout import format_file
from mcl.language.mtx.parser import Parsed
from mcl.plugins.editor.completion import Completion, complete
from mcl.plugins.editor.document import (
    BOM,
    EditorSpan,
    Encoding,
    OpenDocument,
    Point,
    Problem,
    TextReading,
    problem_of,
    read,
    rows,
)
from mcl.plugins.editor.names import Hover, NameCatalogue, hover, name_at, slot_named
from mcl.plugins.editor.outline import Part, outline

if TYPE_CHECKING:
    from mcl.language.plans.checks import CheckedTools


# ---- The outline of a text: sections, slots, blocks, references, failures.

_SHOWN = ("section", "slot", "reference", "setting", "block", "failure")


@dataclass(frozen=True)
class Symbol:
    """One entry. span: its name; last: the last line that belongs to it, and its length."""

    name: str
    detail: str
    kind: str
    span: EditorSpan
    last: int
    parts: tuple[Symbol, ...] = ()


def symbols(lines: Sequence[str]) -> list[Symbol]:
    """The sections with what is in them."""
    return [_symbol(part, lines) for part in outline(lines)]


def _symbol(part: Part, lines: Sequence[str]) -> Symbol:
    line = lines[part.line - 1]
    name = f"§{part.name}" if part.kind == "section" else part.name
    found = line.find(name, part.column - 1)
    start = found + 1 if found >= 0 else part.column
    detail = part.detail
    if part.kind == "block" and detail:
        name, detail = f"{part.name} {detail}", ""
    span = EditorSpan(part.line, start, start + len(part.name) + (part.kind == "section"))
    inner = tuple(_symbol(one, lines) for one in part.parts if one.kind in _SHOWN)
    return Symbol(name, detail, part.kind, span, max(part.last, part.line), inner)


# ---- The canonical layout of a document as an edit of whole lines.


class Edit(NamedTuple):
    """Write `text` from `start` up to `end`, both in the editor's count."""

    start: Point
    end: Point
    text: str


def layout(document: OpenDocument, parsed: Parsed) -> Edit | None:
    """The edit that gives a well-formed text its canonical layout, as small as whole lines allow; None where
    it has it. The document's own line ends and BOM stay. Raises ValueError for a text with errors.
    """
    ending = "\r\n" if document.text.count("\r\n") * 2 > document.text.count("\n") else "\n"
    bom = BOM if document.text.startswith(BOM) else ""
    old, new = rows(document.text), rows((bom + format_file(parsed)).replace("\n", ending))
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    if head == len(old) == len(new):
        return None
    end = Point(len(old) - tail, 0) if tail else document.end()
    return Edit(Point(head, 0), end, "".join(new[head : len(new) - tail]))


# ---- Quick fixes: what a hint says, done.

_MEANT = re.compile(r'did you mean "([^"]+)"\?')
_PROSE = ".prose"
_DIGEST = re.compile(r"digest=([0-9a-f]{64})")


class Fix(NamedTuple):
    """Write `text` instead of `span`; mends `problem`."""

    title: str
    span: EditorSpan
    text: str
    problem: Problem


def fixes(problems: Iterable[Problem], lines: Sequence[str], first: int, last: int) -> Iterator[Fix]:
    """The fixes for what is wrong in these lines (from 1, both included)."""
    for problem in problems:
        if not first <= problem.span.line <= last:
            continue
        line, start, stop = problem.span
        offending = lines[line - 1][start - 1 : stop - 1] if 0 < line <= len(lines) else ""
        if meant := _MEANT.search(problem.hint):
            span, text = _part(problem.span, offending, meant[1])
            yield Fix(f"Write {text}", span, text, problem)
        elif (digest := _DIGEST.search(problem.hint)) and offending:
            yield Fix("Write the digest of this file", problem.span, digest[1], problem)


def _part(span: EditorSpan, offending: str, meant: str) -> tuple[EditorSpan, str]:
    """What of the offending text is meant: less braces and `.prose`, and of `cortex.fnd` the last word
    only.
    """
    line, start, stop = span
    if offending.startswith("{") and offending.endswith("}"):
        start, stop, offending = start + 1, stop - 1, offending[1:-1]
        if offending.endswith(_PROSE) and not meant.endswith(_PROSE):
            stop, offending = stop - len(_PROSE), offending.removesuffix(_PROSE)
    head, dot, _ = offending.rpartition(".")
    if dot and "." not in meant:
        start += len(head) + 1
    if offending.endswith("[]") and not meant.endswith("[]"):
        stop -= 2
    return EditorSpan(line, start, stop), meant


# ---- Where the name at a place is declared.

_PLAN_NAMES = re.compile(r"\$\{slot\.(?P<slot>[A-Za-z_][\w-]*)[^{}]*\}|(?P<uri>matrix://[^\s\"'}]+)")


class Target(NamedTuple):
    """Where something is declared. path: the file, None for the same one."""

    path: Path | None
    span: EditorSpan


def define(
    lines: Sequence[str], file: File, catalogue: NameCatalogue, line: int, column: int
) -> Target | None:
    """Where the slot at a place is declared, or the file of the skill that is named there."""
    name = name_at(lines, line, column)
    if name is None:
        return None
    if name.kind == "slot":
        return _slot(file, name.text, name.key or "INPUTS")
    if name.kind == "reference" and name.text.startswith("matrix://skill/"):
        offer = catalogue.skills().get(name.text)
        return Target(offer.path, EditorSpan(1, 1, 1)) if offer and offer.path else None
    return None


def define_in_plan(line: str, column: int, file: File) -> Target | None:
    """Where a place or an address in a line of plan.yaml is declared in the skill beside it."""
    for match in _PLAN_NAMES.finditer(line):
        if match.start() < column <= match.end():
            if match["slot"]:
                return _slot(file, match["slot"], "INPUTS")
            return _reference(file, match["uri"])
    for match in re.finditer(r"slot\.([A-Za-z_][\w-]*)(?=[\"']?\s*:)", line):
        if match.start() < column <= match.end():
            return _slot(file, match[1], "INPUTS")
    return None


def _slot(file: File, name: str, section: str) -> Target | None:
    slot = slot_named(file, name, section)
    return (
        Target(None, EditorSpan(slot.at.line, slot.at.column, slot.at.column + len(name))) if slot else None
    )


def _reference(file: File, uri: str) -> Target | None:
    for section in ("TOOLS", "SUB_SKILLS"):
        for reference in file.references(section):
            if reference.uri == uri:
                line, column = reference.at
                return Target(None, EditorSpan(line, column, column + len(uri)))
    return None


SKILL, PLAN = "SKILL.mtx", "plan.yaml"
MAX_PLAN = 1 << 20  # bytes of a plan.yaml that are read


@dataclass(frozen=True)
class Open:
    """One state of an open text. path: where it is kept, None for one that was never saved."""

    document: OpenDocument
    path: Path | None

    @property
    def is_plan(self) -> bool:
        return self.path is not None and self.path.name == PLAN

    @cached_property
    def reading(self) -> TextReading:
        """The text as MatrixScript; the id that it should carry is that of its folder or file."""
        name = ""
        if self.path is not None:
            name = self.path.parent.name if self.path.name == SKILL else self.path.stem
        return read(self.document, name)


def sibling(one: Open) -> Path | None:
    """The other file of the skill that a text belongs to; None where it belongs to none."""
    if one.path is None or one.path.name not in (SKILL, PLAN):
        return None
    return one.path.with_name(SKILL if one.is_plan else PLAN)


@dataclass
class EditorSession:
    """The open texts by path, or by address where they have none."""

    catalogue: NameCatalogue
    encoding: Encoding = "utf-16"
    texts: dict[str, Open] = field(default_factory=dict)

    @cached_property
    def tools(self) -> CheckedTools:
        """What a plan may call: the tools of this build."""
        from mcl.catalog.tools import registry

        return registry()

    def put(self, address: str, text: str, path: Path | None) -> None:
        """Take a new state of a text."""
        self.texts[address] = Open(OpenDocument(text, self.encoding), path)

    def drop(self, address: str) -> None:
        """Forget a text that was closed."""
        self.texts.pop(address, None)

    def beside(self, one: Open) -> Open | None:
        """The text of the other file of the same skill: as it is open here, else from the disk."""
        path = sibling(one)
        if path is None:
            return None
        for other in list(self.texts.values()):
            if other.path == path:
                return other
        try:
            with path.open("rb") as file:
                data = file.read(MAX_PLAN)
        except OSError:
            return None
        return Open(OpenDocument(data.decode("utf-8", "replace"), self.encoding), path)

    def problems(self, one: Open) -> Iterator[tuple[Open, Sequence[Problem]]]:
        """What is wrong with a text and with the plan.yaml (or SKILL.mtx) beside it."""
        skill, plan = (self.beside(one), one) if one.is_plan else (one, self.beside(one))
        if skill is None:
            yield one, ()  # a plan without a skill, of which nothing is known
            return
        found: tuple[Problem, ...] = skill.reading.problems
        if plan is not None and plan.path is not None:
            from mcl.language.plans.checks import check_plan_file, scope_of

            scope = scope_of(plan.path.parent, skill.reading.parsed, skill.reading.findings)
            wrong, unused = check_plan_file(plan.document.data, scope, self.tools)
            yield plan, [problem_of(finding, plan.document.lines) for finding in wrong]
            idle = (problem_of(finding, skill.document.lines) for finding in unused)
            found = tuple(sorted((*found, *idle), key=lambda problem: problem.span))
        yield skill, found

    def complete(self, one: Open, line: int, character: int) -> list[Completion]:
        """What can be written at an editor's place."""
        if one.is_plan:
            return []
        place = one.document.place(line, character)
        return complete(one.document.lines, one.reading.parsed.file, self.catalogue, *place)

    def hover(self, one: Open, line: int, character: int) -> Hover | None:
        """What is told at an editor's place."""
        if one.is_plan:
            return None
        lines, reading = one.document.lines, one.reading
        place = one.document.place(line, character)
        return hover(lines, reading.parsed.file, self.catalogue, reading.problems, *place)

    def define(self, one: Open, line: int, character: int) -> tuple[Open, Target] | None:
        """Where the name at an editor's place is declared, and the text that its span is in."""
        place = one.document.place(line, character)
        if one.is_plan:
            skill = self.beside(one)
            if skill is None:
                return None
            text = one.document.line(place.line)
            target = define_in_plan(text, place.column, skill.reading.parsed.file)
            return (skill, target) if target else None
        target = define(one.document.lines, one.reading.parsed.file, self.catalogue, *place)
        return (one, target) if target else None

    def symbols(self, one: Open) -> list[Symbol]:
        return [] if one.is_plan else symbols(one.document.lines)

    def fixes(self, one: Open, first: int, last: int) -> list[Fix]:
        """The quick fixes in an editor's lines (from 0, both included)."""
        if one.is_plan:
            return []
        lines = one.document
        start, stop = lines.place(first, 0).line, lines.place(last, 0).line
        return list(fixes(one.reading.problems, lines.lines, start, stop))

    def layout(self, one: Open) -> Edit | None:
        """The edit for the canonical layout. Raises ValueError for a text with errors."""
        return None if one.is_plan else layout(one.document, one.reading.parsed)
