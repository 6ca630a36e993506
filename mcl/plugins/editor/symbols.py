"""The outline of a text: sections, slots, blocks, references, failures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mcl.plugins.editor.document import Span
from mcl.plugins.editor.outline import Part, outline

_SHOWN = ("section", "slot", "reference", "setting", "block", "failure")


@dataclass(frozen=True)
class Symbol:
    """One entry. span: its name; last: the last line that belongs to it, and its length."""

    name: str
    detail: str
    kind: str
    span: Span
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
    span = Span(part.line, start, start + len(part.name) + (part.kind == "section"))
    inner = tuple(_symbol(one, lines) for one in part.parts if one.kind in _SHOWN)
    return Symbol(name, detail, part.kind, span, max(part.last, part.line), inner)
