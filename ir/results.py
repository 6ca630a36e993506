"""How a value becomes JSON: decided here once, for every document that `--json`, a tool or a file gives.

A result is a frozen dataclass, and its JSON object has its fields in their order, by their names. A field's
metadata says where that is otherwise: `called("node")` gives another name, `UNTOLD` leaves the field out,
`WHERE_SAID` leaves it out where it is empty. A class that tells properties too, or fields of its fields,
lists in `JSON` what it tells: "ok size id=intent.id". Only what is neither (an error whose data comes first)
writes a `to_json` of its own.

A document that is signed is told in its canonical form, bytes as hexadecimal digits, a path as its text, a
member of an enumeration as its value, a set sorted. What is none of these is a fault of ours and raises
TypeError: nobody shall read `<object at 0x…>` in a document.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Set
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from typing import Any, ClassVar, Final

from ir.canonical import canonical_bytes
from ir.document import Document

_NAME, _WHERE_SAID = "json", "json where said"
UNTOLD: Final = {_NAME: ""}
WHERE_SAID: Final = {_WHERE_SAID: True}


def called(name: str) -> dict[str, object]:
    """The metadata of a field that JSON calls otherwise."""
    return {_NAME: name}


class JsonResult:
    """A dataclass whose JSON is its fields, or what `JSON` lists: names, or `name=attribute.of.it`."""

    __slots__ = ()
    JSON: ClassVar[str] = ""

    def to_json(self) -> dict[str, Any]:
        return fields_json(self)


def fields_json(result: Any) -> dict[str, Any]:
    """The JSON object of a dataclass by its fields, whatever `to_json` it has."""
    told: dict[str, Any] = {}
    kind: Any = type(result)
    for value_of, name, where_said in _told(kind):
        value = value_of(result)
        if value or not where_said:
            told[name] = as_json(value)
    return told


@cache
def _told(kind: Any) -> tuple[tuple[Callable[[Any], object], str, bool], ...]:
    """What is told of a dataclass: how to get it, its name, and whether it is told only where said."""
    known = {one.name: one.metadata for one in fields(kind)}
    named = [(said.get(_NAME, field), field) for field, said in known.items()]
    if listed := getattr(kind, "JSON", ""):
        named = [(name, path or name) for name, _, path in (one.partition("=") for one in listed.split())]
    return tuple((_getter(path), name, _WHERE_SAID in known.get(path, ())) for name, path in named if name)


def _getter(path: str) -> Callable[[Any], object]:
    """Gives a property, or that of a property (`plan.hash`). It is no `operator.attrgetter`, which could lead
    round the one gate to a tool, and is looked for by that one's test."""

    def get(value: Any) -> object:
        for step in path.split("."):
            value = getattr(value, step)
        return value

    return get


def as_json(value: object) -> Any:
    """Any value of ours as what `json.dumps` writes. Raises TypeError."""
    if value is None or isinstance(value, bool | int | float) or type(value) is str:
        return value
    if isinstance(value, Mapping):
        return {str(name): as_json(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(one) for one in value]
    if hasattr(value, "to_json"):
        return as_json(value.to_json())
    if is_dataclass(value) and not isinstance(value, type):
        return fields_json(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, str) or hasattr(value, "__fspath__"):
        return str(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Set):
        return sorted(as_json(one) for one in value)
    if isinstance(value, Document):
        return json.loads(canonical_bytes(value))
    raise TypeError(f"no JSON stands for {type(value).__name__}")
