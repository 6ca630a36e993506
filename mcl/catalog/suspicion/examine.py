"""All rules over one definition. Pure: the same definition among the same tools gives the same findings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from mcl.catalog.suspicion import content, identity, wording
from mcl.catalog.suspicion.finding import Finding, Mark, rules
from mcl.catalog.suspicion.neighbours import Neighbours
from mcl.catalog.suspicion.texts import Text, texts

MOST_FINDINGS: Final = 50
_NOBODY: Final = Neighbours()


def examine(server: str, definition: object, near: Neighbours = _NOBODY) -> tuple[Finding, ...]:
    """What is suspicious in the definition of a server's tool, warnings first.

    Args:
        definition: the tool as the server gave it: name, title, description, schemas, annotations, as JSON.
            Any JSON value will do. near: the other tools there are.
    """
    tool = definition if isinstance(definition, Mapping) else {"": definition}
    name, title, hints = (tool.get(part) for part in ("name", "title", "annotations"))
    hints = hints if isinstance(hints, Mapping) else {}
    title = title or hints.get("title")

    def found() -> Iterator[Mark]:
        if isinstance(name, str):
            yield from identity.of_name(server, name, near)
            yield from identity.of_hints(name, hints, title if isinstance(title, str) else "")
        yield from identity.of_server(server, near)
        yield from identity.of_arguments(tool.get("inputSchema"))
        yield from _of_texts(server, texts(dict(tool)), near)

    return _told(found())


def examine_server(server: str, instructions: str = "", near: Neighbours = _NOBODY) -> tuple[Finding, ...]:
    """The same of a server itself: its name, and the instructions that it gives to models."""

    def found() -> Iterator[Mark]:
        yield from identity.of_server(server, near)
        yield from _of_texts(server, [Text("instructions", instructions)], near)

    return _told(found())


def _of_texts(server: str, said: Iterable[Text], near: Neighbours) -> Iterator[Mark]:
    for one in said:
        yield from content.marks(one)
        yield from wording.marks(one)
        if one.place != "name":
            yield from identity.of_shadowing(server, one, near)


def _told(found: Iterable[Mark]) -> tuple[Finding, ...]:
    table = rules()
    order = {rule: place for place, rule in enumerate(table)}
    once = dict.fromkeys(found)
    ordered = sorted(once, key=lambda mark: (table[mark.rule].level != "warning", order[mark.rule]))
    return tuple(
        Finding(mark.rule, table[mark.rule].level, table[mark.rule].reason, mark.place, mark.excerpt)
        for mark in ordered[:MOST_FINDINGS]
    )
