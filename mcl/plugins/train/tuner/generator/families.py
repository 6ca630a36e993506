"""What a generated skill is: its slots, what stands in them, and its phrasings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcl.model.protocol import SlotForm
from mcl.plugins.train.tuner.generator.phrases import Filler

Template = tuple[str, str, tuple[tuple[str, str], ...]]
"""Verb, phrase, and the options that the phrase chooses, by slot."""


@dataclass(frozen=True)
class Family:
    """A skill and its phrasings.

    fillers: what stands at a place of a phrase; a place is a slot, or stands for the one that `places` names.
    blocked: constraints that could be mistaken for its slots.
    """

    name: str
    descriptions: tuple[str, ...]
    slots: tuple[SlotForm, ...]
    fillers: dict[str, Filler]
    templates: tuple[Template, ...]
    blocked: frozenset[str] = frozenset()
    places: Mapping[str, str] = field(default_factory=dict)


def slot(name: str, hint: str, *options: str) -> SlotForm:
    """A slot of texts, or of options."""
    return SlotForm(name=name, type="string", hint=hint, options=options)


def said(verb: str, *templates: str, **options: str) -> tuple[Template, ...]:
    """Phrasings with one verb that choose these options."""
    return tuple((verb, template, tuple(options.items())) for template in templates)
