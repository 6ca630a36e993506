"""What is open in an editor: one state of each text, read once.

Nothing here knows the wire; `server` turns it into the protocol.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from mcl.plugins.editor.catalogue import Catalogue
from mcl.plugins.editor.completion import Completion, complete
from mcl.plugins.editor.definition import Target, define, define_in_plan
from mcl.plugins.editor.diagnostics import Problem, Reading, problem_of, read
from mcl.plugins.editor.document import Document, Encoding
from mcl.plugins.editor.fixes import Fix, fixes
from mcl.plugins.editor.hover import Hover, hover
from mcl.plugins.editor.layout import Edit, layout
from mcl.plugins.editor.symbols import Symbol, symbols

if TYPE_CHECKING:
    from mcl.language.plans.checks import Tools

SKILL, PLAN = "SKILL.mtx", "plan.yaml"
MAX_PLAN = 1 << 20  # bytes of a plan.yaml that are read


@dataclass(frozen=True)
class Open:
    """One state of an open text. path: where it is kept, None for one that was never saved."""

    document: Document
    path: Path | None

    @property
    def is_plan(self) -> bool:
        """Whether it is a plan.yaml."""
        return self.path is not None and self.path.name == PLAN

    @cached_property
    def reading(self) -> Reading:
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
class Session:
    """The open texts by path, or by address where they have none."""

    catalogue: Catalogue
    encoding: Encoding = "utf-16"
    texts: dict[str, Open] = field(default_factory=dict)

    @cached_property
    def tools(self) -> Tools:
        """What a plan may call: the tools of this build."""
        from mcl.catalog.tools import registry

        return registry()

    def put(self, address: str, text: str, path: Path | None) -> None:
        """Take a new state of a text."""
        self.texts[address] = Open(Document(text, self.encoding), path)

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
        return Open(Document(data.decode("utf-8", "replace"), self.encoding), path)

    def problems(self, one: Open) -> Iterator[tuple[Open, Sequence[Problem]]]:
        """What is wrong with a text and with the plan.yaml (or SKILL.mtx) beside it."""
        skill, plan = (self.beside(one), one) if one.is_plan else (one, self.beside(one))
        if skill is None:
            yield one, ()  # a plan without a skill, of which nothing is known
            return
        found: tuple[Problem, ...] = skill.reading.problems
        if plan is not None and plan.path is not None:
            from mcl.language.plans.beside import check_plan, scope_of

            scope = scope_of(plan.path.parent, skill.reading.parsed, skill.reading.findings)
            wrong, unused = check_plan(plan.document.data, scope, self.tools)
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
        """The outline."""
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
