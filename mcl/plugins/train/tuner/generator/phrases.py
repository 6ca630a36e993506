# ruff: noqa: E501  -- tables of phrases: a line a meaning
"""A tiny phrase language: `(a|b|)` is a choice, `{name}` a place; expansion keeps the offsets of the places."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mcl.plugins.train.tuner.corpora import Mark

Filler = Callable[[random.Random], str]


@dataclass(frozen=True)
class Phrase:
    """Text with marks (offsets within the text)."""

    text: str
    marks: tuple[Mark, ...] = ()

    def __add__(self, other: Phrase) -> Phrase:
        shift = len(self.text)
        moved = tuple(
            Mark(
                m.field,
                m.value,
                None if m.start is None else m.start + shift,
                None if m.end is None else m.end + shift,
            )
            for m in other.marks
        )
        return Phrase(self.text + other.text, self.marks + moved)


def choose_parts(template: str, source: random.Random) -> str:
    """Resolve the choices of a template, innermost first. Raises ValueError for unbalanced brackets."""
    while (close := template.find(")")) >= 0:
        start = template.rfind("(", 0, close)
        if start < 0:
            raise ValueError(f"unbalanced: {template}")
        template = (
            template[:start] + source.choice(template[start + 1 : close].split("|")) + template[close + 1 :]
        )
    return template


def expand(template: str, fillers: Mapping[str, tuple[str, Filler]], source: random.Random) -> Phrase:
    """Fill a template. `fillers`: place -> (field, filler); field "" leaves the value unmarked."""
    rest = " ".join(choose_parts(template, source).split())
    phrase = Phrase("")
    while (start := rest.find("{")) >= 0:
        end = rest.index("}", start)
        field, filler = fillers[rest[start + 1 : end]]
        value = filler(source)
        marks = (Mark(field, value, 0, len(value)),) if field else ()
        phrase = phrase + Phrase(rest[:start]) + Phrase(value, marks)
        rest = rest[end + 1 :]
    return phrase + Phrase(rest)


def capital(phrase: Phrase) -> Phrase:
    """With a capital letter in front (values keep their offsets; a value at the front keeps its case)."""
    if not phrase.text or any(m.start == 0 for m in phrase.marks):
        return phrase
    return Phrase(phrase.text[0].upper() + phrase.text[1:], phrase.marks)
