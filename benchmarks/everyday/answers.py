"""How questions are answered: from the writer's facts, by one rule (README.md), once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from benchmarks.everyday.goals import vocabulary


class Question(Protocol):
    """A question of the product."""

    unknown_id: str
    field: str
    options: tuple[str, ...]


def topics_of(field: str) -> tuple[str, ...]:
    """The topics that a question about a field is about: `slot.new_name` by its slot, else the slot's last
    word."""
    slot = field.partition(".")[2].casefold() if field.startswith("slot.") else ""
    if not slot:
        return ()
    topics: Mapping[str, Sequence[str]] = vocabulary()["topics"]
    whole = [name for name, slots in topics.items() if slot in slots or slot == name]
    last = slot.replace("-", "_").rpartition("_")[2]
    return tuple(whole) or tuple(name for name, slots in topics.items() if last in slots or last == name)


def answer_to(question: Question, facts: Mapping[str, str]) -> str | None:
    """What the person says to a question, or None where the person has nothing to say."""
    for topic in topics_of(question.field):
        if topic in facts:
            return facts[topic]
    said = {fact.casefold() for fact in facts.values()}
    offered = [option for option in question.options if option.casefold() in said]
    return offered[0] if len(offered) == 1 else None
