"""What is told about the name at a place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from mcl.language.mtx.ast import File, Items, Slot
from mcl.plugins.editor import words
from mcl.plugins.editor.catalogue import Catalogue
from mcl.plugins.editor.document import Problem, Span
from mcl.plugins.editor.name import Name, name_at
from mcl.plugins.editor.place import here
from mcl.plugins.editor.values import slot_named, values


class Hover(NamedTuple):
    """Markdown about a part of a line."""

    text: str
    span: Span


def hover(
    lines: Sequence[str],
    file: File,
    catalogue: Catalogue,
    problems: Iterable[Problem],
    line: int,
    column: int,
) -> Hover | None:
    """What is told at a place (line and column from 1): what the name there means, and how to mend what is
    wrong there. None where there is nothing to tell.
    """
    name = name_at(lines, line, column)
    told = _meaning(name, lines, file, catalogue) if name else ""
    parts, span = ([told], name.span) if told and name else ([], None)
    for problem in problems:
        if problem.span.line == line and problem.span.start <= column <= problem.span.stop and problem.hint:
            parts.append(f"{problem.code}: {problem.hint}")
            span = span or problem.span
    return Hover("\n\n".join(parts), span) if span else None


def _meaning(name: Name, lines: Sequence[str], file: File, catalogue: Catalogue) -> str:
    kind, text = name.kind, name.text
    if kind == "slot":
        slot = slot_named(file, text, name.key or "INPUTS")
        return about_slot(slot) if slot else ""
    if kind == "reference":
        offer = (catalogue.skills() if text.startswith("matrix://skill/") else catalogue.tools()).get(text)
        return "\n\n".join((f"`{offer.uri}`", offer.summary, "\n".join(offer.more))) if offer else ""
    around = here(lines, name.span.line, name.span.start).around
    told = {
        "section": lambda: words.SECTIONS.get(text, ""),
        "place": lambda: words.PLACES.get(text, ""),
        "setting": lambda: words.setting(around.section, text),
        "type": lambda: words.TYPES.get(text, ""),
        "verb": lambda: words.VERBS.get(text, ""),
        "call": lambda: words.CALLS.get(text.removeprefix("cortex."), ""),
        "argument": lambda: words.ARGUMENTS.get(text, ""),
        "value": lambda: values(
            file, around.section, around.blocks[-1] if around.blocks else "", around.item, name.key
        ).get(text, ""),
    }.get(kind, lambda: words.TERMINALS.get(kind, ""))()
    label = f"§{text}" if kind == "section" else text
    return f"**{label}**: {told}" if told else ""


def about_slot(slot: Slot) -> str:
    """A slot's type, hint, default and bound, as Markdown."""
    need = "optional" if slot.optional else "required"
    lines = [f"**slot {slot.name}**: `{slot.type}`, {need}"]
    if slot.hint is not None and slot.hint.value:
        lines.append(slot.hint.value)
    if slot.default is not None:
        texts = slot.default.items if isinstance(slot.default, Items) else (slot.default,)
        lines.append(f"default: `{' '.join(text.value for text in texts)}`")
    if slot.max is not None:
        lines.append(f"at most {slot.max.value} entries")
    return "\n\n".join(lines)
