"""From the JSON Schema of a tool's arguments to the inputs of a skill: what words of a goal can fill.

Only what a typed slot can hold becomes one: texts, numbers, yes and no, moments, closed lists, and lists
of these. An object that is required is taken apart, its required parts become slots of their own. What
needs more (a list of objects, say) cannot be asked for in words, and a tool that requires it says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from mcl.language.mtx.ast import Slot, SlotType, Text
from mcl.plugins.derived.saying import MOST_HINT, first_sentence, plain, wants_secret, words_of

MOST_INPUTS: Final = 12  # slots; those that are required may be more
MOST_REQUIRED: Final = 20
MOST_OPTIONS: Final = 40  # of one closed list; a longer one is a text, which the tool's schema judges
ALL_OPTIONS: Final = 120
_LONGEST_OPTION: Final = 80
_HOPS: Final = 8  # references in one another
_DEPTH: Final = 2  # objects in one another
_PROPERTIES: Final = 400  # that are looked at
_NOT_NAME: Final = re.compile(r"[^A-Za-z0-9]+")
_DAY: Final = re.compile(r"YYYY-MM-DD(?!T)|\bISO (?:8601 )?date\b(?! ?-?time)", re.IGNORECASE)
_MOMENTS: Final = {"date-time": "iso8601", "date": "day"}


@dataclass(frozen=True)
class Input:
    """One argument that a slot fills. path: where it stands among the arguments."""

    slot: Slot
    path: tuple[str, ...]


@dataclass(frozen=True)
class Inputs:
    """What a goal can fill. fixed: arguments that can only be one thing, by path, as the text of a plan.
    flaw: why no words can fill what is required, "" where they can."""

    inputs: tuple[Input, ...] = ()
    fixed: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    flaw: str = ""


def inputs_of(schema: Mapping[str, Any]) -> Inputs:
    """The inputs of a tool with this schema of its arguments. Never raises for what is in it."""
    return _Reader(schema).read()


class _UnfitError(Exception):
    """What is required and no slot can hold; says why."""


class _Reader:
    def __init__(self, schema: Mapping[str, Any]) -> None:
        self._root = schema
        self._names: set[str] = set()
        self._options = 0
        self._fixed: dict[tuple[str, ...], str] = {}
        self._inputs: list[Input] = []

    def read(self) -> Inputs:
        try:
            for path, schema, required in self._properties(self._root, (), required=True):
                self._take(path, schema, required=required)
        except _UnfitError as problem:
            return Inputs(flaw=str(problem))
        if sum(not one.slot.optional for one in self._inputs) > MOST_REQUIRED:
            return Inputs(flaw=f"it requires more than {MOST_REQUIRED} arguments")
        return Inputs(tuple(self._inputs), self._fixed)

    def _properties(
        self, schema: Mapping[str, Any], path: tuple[str, ...], *, required: bool
    ) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any], bool]]:
        """The properties of an object, those that it requires first."""
        told = schema.get("properties")
        properties = told if isinstance(told, Mapping) else {}
        said = schema.get("required")
        needed = [name for name in said if isinstance(name, str)] if isinstance(said, list) else []
        for name in dict.fromkeys(needed):
            if name not in properties:
                raise _UnfitError(f"it requires “{plain(name)[:40]}” and does not say what that is")
            yield (*path, name), self._resolved(properties[name]), required
        for name in list(properties)[:_PROPERTIES]:
            if name not in needed and len(self._inputs) < MOST_INPUTS:
                yield (*path, str(name)), self._resolved(properties[name]), False

    def _take(self, path: tuple[str, ...], schema: Mapping[str, Any], *, required: bool) -> None:
        """Make slots of one property, or leave it out where it may be."""
        name = plain(path[-1])
        if "const" in schema:
            if required and (text := _text(schema["const"])) is not None:
                self._fixed[path] = text
            return
        if wants_secret(name):
            if required:
                raise _UnfitError(f"it requires “{name[:40]}”, which looks like a secret: no goal says one")
            return
        found = self._type(schema, name)
        if found is not None:
            kind, many, hint = found
            self._add(path, kind, schema, hint, many=many, required=required)
        elif required and _is_object(schema) and len(path) <= _DEPTH:
            for below, one, needed in self._properties(schema, path, required=True):
                if needed:  # what else it takes would be too many slots
                    self._take(below, one, required=True)
        elif required:
            raise _UnfitError(f"it requires “{name[:40]}”, {_shape(schema)}, which no words of a goal fill")

    def _type(self, schema: Mapping[str, Any], name: str) -> tuple[SlotType, bool, str] | None:
        """What a slot for it is, whether it takes several, and which of the names of slots it must have."""
        if (options := _options(schema)) is not None:
            if len(options) > MOST_OPTIONS or self._options + len(options) > ALL_OPTIONS:
                return (SlotType("string"), False, "")
            self._options += len(options)
            return (SlotType("enum", options), False, "")
        kind = _kind(schema)
        if kind == "array":
            one = self._resolved(schema.get("items") if isinstance(schema.get("items"), Mapping) else {})
            if not one or _kind(one) in ("array", "object"):
                return None if one else (SlotType("string", many=True), True, "")
            below = self._type(one, name)
            if below is None or below[1]:
                return None
            return (SlotType(below[0].name, below[0].members, many=True), True, below[2])
        if kind == "boolean":
            return (SlotType("bool"), False, "")
        if kind in ("integer", "number"):
            return (SlotType("uint" if kind == "integer" else "float"), False, "")
        if kind != "string":
            return None
        moment = _MOMENTS.get(str(schema.get("format", "")))
        said = str(schema.get("description", ""))[:2000]
        if moment is None and re.search(r"date|day|since|until", name, re.IGNORECASE) and _DAY.search(said):
            moment = "day"
        return (SlotType("iso8601" if moment else "string"), False, "_date" if moment == "day" else "")

    def _add(
        self,
        path: tuple[str, ...],
        kind: SlotType,
        schema: Mapping[str, Any],
        ending: str,
        *,
        many: bool,
        required: bool,
    ) -> None:
        if not required and len(self._inputs) >= MOST_INPUTS:
            return
        most = schema.get("maxItems")
        limit = min(most, 16) if isinstance(most, int) and not isinstance(most, bool) and most > 0 else 16
        said = first_sentence(str(schema.get("description") or ""), MOST_HINT)
        name = words_of(path[-1]) or "value"
        hint = f"{name} (“{said}”)" if said and said.lower().rstrip(".") != name else name
        self._inputs.append(
            Input(
                Slot(
                    self._name(path, ending),
                    kind,
                    optional=not required,
                    hint=Text(hint),
                    max=Text(str(limit)) if many else None,
                ),
                path,
            )
        )

    def _name(self, path: tuple[str, ...], ending: str) -> str:
        """A name of a slot, like that of the argument. A day has one that says so: by it a moment is read
        as one."""
        plain_name = _NOT_NAME.sub("_", words_of(" ".join(path)).replace(" ", "_")).strip("_")[:40]
        name = plain_name if plain_name[:1].isalpha() else f"value_{plain_name}".rstrip("_")
        if ending:
            name = name if name == "date" or name.endswith(ending) else f"{name}{ending}"
        elif name == "date" or name.endswith("_date"):
            name = f"{name}_time"
        number, first = 2, name
        while name in self._names:
            name, number = f"{first}_{number}", number + 1
        self._names.add(name)
        return name

    def _resolved(self, schema: object) -> Mapping[str, Any]:
        """The schema behind references and alternatives: of several the first that a slot can hold."""
        found: Any = schema
        for _ in range(_HOPS):
            if not isinstance(found, Mapping):
                return {}
            if isinstance(reference := found.get("$ref"), str):
                found = {**_target(self._root, reference), **{k: v for k, v in found.items() if k != "$ref"}}
                continue
            word = next((one for one in ("anyOf", "oneOf", "allOf") if _branches(found, one)), "")
            if not word:
                return found
            rest = {key: value for key, value in found.items() if key != word}
            found = {**_chosen(_branches(found, word), self._root), **rest}
        return {}  # it refers to itself without end


def _branches(schema: Mapping[str, Any], word: str) -> list[Mapping[str, Any]]:
    said = schema.get(word)
    branches = [one for one in said if isinstance(one, Mapping)] if isinstance(said, list) else []
    return [one for one in branches[:50] if one.get("type") != "null"]


def _chosen(branches: list[Mapping[str, Any]], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of alternatives: all their members as one list where each is one, else the first that a slot can
    hold."""
    members = [_options(one) for one in branches]
    if all(one is not None for one in members):
        return {"enum": [member for one in members if one for member in one]}
    read = [_target(root, str(one["$ref"])) if "$ref" in one else one for one in branches]
    fit = [one for one in read if _kind(one) in ("string", "integer", "number", "boolean")]
    return (fit or read)[0]


def _target(root: Mapping[str, Any], reference: str) -> Mapping[str, Any]:
    """What a reference within the same schema names; nothing is fetched."""
    found: object = root
    for part in reference.removeprefix("#/").split("/") if reference.startswith("#/") else ("",):
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _kind(schema: Mapping[str, Any]) -> str:
    said = schema.get("type")
    kinds = [one for one in said if one != "null"] if isinstance(said, list) else [said]
    if kinds and isinstance(kinds[0], str):
        return "string" if "string" in kinds else kinds[0]
    if isinstance(schema.get("properties"), Mapping):
        return "object"
    return "array" if "items" in schema else "" if said is not None else "string" if schema else ""


def _is_object(schema: Mapping[str, Any]) -> bool:
    return _kind(schema) == "object" and isinstance(schema.get("properties"), Mapping)


def _options(schema: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The members of a closed list as texts; None where it is none."""
    said = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(said, list) or not said:
        return None
    texts = [_text(one) for one in said[: 10 * MOST_OPTIONS] if one is not None]
    fit = [one for one in texts if one and one == plain(one) and len(one) <= _LONGEST_OPTION]
    return tuple(dict.fromkeys(fit)) if fit and len(fit) == len(texts) else None


def _text(value: object) -> str | None:
    """A single value as the text that a plan has for it."""
    if isinstance(value, str):
        return value
    return json.dumps(value) if isinstance(value, bool | int | float) else None


def _shape(schema: Mapping[str, Any]) -> str:
    kind = _kind(schema)
    if kind == "array":
        return "a list of objects"
    return "an object" if kind == "object" else "of no plain type"
