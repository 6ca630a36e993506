"""Arguments against a schema that a stranger wrote: checked as far as that is safe, in bounded time.

A schema of another server may be wrong, refer to addresses on the network, refer to itself without end, or
hold patterns that take for ever. So nothing is fetched, patterns and formats are left to the server, a
keyword that makes no sense says nothing, and an argument that takes too many steps is refused. What passes
here may still be refused by the server, which is the judge of its own schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from executor.hashing import json_bytes

MAX_STEPS: Final = 200_000  # schemas laid against values, for one call; about a quarter of a second
_MOST: Final = 20  # flaws that are told
_SHOWN: Final = 60  # characters of a value
_FEW: Final = 5  # items of a list that is shown
_WHOLE: Final = frozenset({"integer"})

Path: TypeAlias = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Flaw:
    """What is wrong at one place; the fields are named as those of jsonschema's errors."""

    message: str
    absolute_path: Path = ()
    validator: str = ""


class ForeignChecker:
    """A schema of another server, as a validator. It has the one method that is asked of it."""

    def __init__(self, schema: Mapping[str, object]) -> None:
        self._schema = schema

    def iter_errors(self, instance: object) -> Iterator[Flaw]:
        """What is wrong with a value, at most twenty flaws."""
        look = _Look(self._schema)
        try:
            look.check(self._schema, instance, ())
        except (_StepsError, RecursionError):
            why = f"its server's schema asks for more than {MAX_STEPS:,} steps to check this: give less"
            return iter((Flaw(why),))
        return iter(look.flaws[:_MOST])


def kinds_of(schema: object, root: Mapping[str, object], depth: int = 8) -> frozenset[str] | None:
    """The JSON types that a schema lets through, as far as it says so at its top; None for any."""
    if not isinstance(schema, Mapping) or depth == 0:
        return None
    found: frozenset[str] | None = None
    parts: list[frozenset[str] | None] = []
    if isinstance(said := schema.get("type"), str | list):
        names = [said] if isinstance(said, str) else [one for one in said if isinstance(one, str)]
        parts.append(frozenset(names) | (_WHOLE if "number" in names else frozenset()))
    for keyword in ("anyOf", "oneOf"):
        if isinstance(some := schema.get(keyword), list) and some:
            each = [kinds_of(one, root, depth - 1) for one in some[:20]]
            known = [one for one in each if one is not None]
            parts.append(frozenset().union(*known) if len(known) == len(each) else None)
    if isinstance(reference := schema.get("$ref"), str):
        parts.append(kinds_of(_resolved(reference, root), root, depth - 1))
    if isinstance(values := schema.get("enum"), list) and values:
        parts.append(frozenset(kind_of(one) for one in values))
    for part in parts:
        found = part if found is None else found if part is None else found & part
    return found


def kind_of(value: object) -> str:
    """The JSON type of a value; of a whole number integer."""
    if value is None:
        return "null"
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    return kinds.get(type(value), "object")


class _StepsError(Exception):
    """The steps are used up."""


class _Look:
    """One value looked at."""

    def __init__(self, root: Mapping[str, object]) -> None:
        self.flaws: list[Flaw] = []
        self._root = root
        self._steps = MAX_STEPS

    def check(self, schema: object, value: object, path: Path) -> None:
        """Note what is wrong with a value."""
        self.step(1 + (len(schema) >> 3 if isinstance(schema, dict) else 0))
        if schema is False:
            self._flaw("is not taken", path, "false")
        if not isinstance(schema, dict) or len(self.flaws) > _MOST:
            return
        kind = type(value)
        for keyword, said in schema.items():
            test = _TESTS.get(keyword)
            if test is not None:
                test(self, said, value, path, schema)
            elif kind is dict and keyword in _OF_OBJECTS:
                _OF_OBJECTS[keyword](self, said, value, path, schema)
            elif kind is list and keyword in _OF_LISTS:
                _OF_LISTS[keyword](self, said, value, path, schema)
            elif keyword in _BOUNDS:
                self._bound(keyword, said, value, path)

    def fits(self, schema: object, value: object) -> bool:
        """Whether a value fits, with nothing noted."""
        noted, self.flaws = self.flaws, []
        try:
            self.check(schema, value, ())
            return not self.flaws
        finally:
            self.flaws = noted

    def step(self, many: int) -> None:
        """Count work done."""
        self._steps -= many
        if self._steps < 0:
            raise _StepsError

    def _flaw(self, message: str, path: Path, validator: str) -> None:
        self.flaws.append(Flaw(message, path, validator))

    def _bound(self, keyword: str, said: object, value: object, path: Path) -> None:
        kinds, size, fits, words = _BOUNDS[keyword]
        if type(value) not in kinds or isinstance(said, bool) or not isinstance(said, int | float):
            return
        if not fits(size(value), said):
            self._flaw(f"{_shown(value)} {words} {said}", path, keyword)

    # ---- keywords of every value ----

    def _type(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        names = [said] if isinstance(said, str) else said if isinstance(said, list) else []
        known = [name for name in names if isinstance(name, str) and name in _TYPES]
        if known and len(known) == len(names) and not any(_TYPES[name](value) for name in known):
            self._flaw(f"{_shown(value)} is not of type {' or '.join(known)}", path, "type")

    def _enum(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        if not isinstance(said, list):
            return
        self.step(len(said))
        if not any(_same(value, one) for one in said):
            values = ", ".join(_shown(one) for one in said[:10])
            self._flaw(
                f"{_shown(value)} is not one of {values}{', …' if len(said) > 10 else ''}", path, "enum"
            )

    def _const(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        if not _same(value, said):
            self._flaw(f"{_shown(value)} is not {_shown(said)}", path, "const")

    def _ref(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        if isinstance(said, str) and (target := _resolved(said, self._root)) is not None:
            self.check(target, value, path)

    def _all_of(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        for one in said if isinstance(said, list) else ():
            self.check(one, value, path)

    def _any_of(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        if isinstance(said, list) and said and not any(self.fits(one, value) for one in said):
            self._flaw(self._none_of(value, schema), path, "anyOf")

    def _one_of(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        if not isinstance(said, list) or not said:
            return
        fitting = sum(self.fits(one, value) for one in said)
        if not fitting:
            self._flaw(self._none_of(value, schema), path, "oneOf")
        elif fitting > 1:
            self._flaw(
                f"{_shown(value)} fits {fitting} of the forms it may have, and must fit one", path, "oneOf"
            )

    def _none_of(self, value: object, schema: Mapping[str, object]) -> str:
        kinds = kinds_of(schema, self._root)
        forms = f" ({', '.join(sorted(kinds))})" if kinds else ""
        return f"{_shown(value)} has none of the forms it may have{forms}"

    def _not(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        if isinstance(said, dict | bool) and self.fits(said, value):
            self._flaw(f"{_shown(value)} has a form that is not taken", path, "not")

    def _if(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        if isinstance(said, dict | bool):
            self.check(schema.get("then" if self.fits(said, value) else "else", True), value, path)

    # ---- keywords of objects ----

    def _properties(self, said: object, value: Any, path: Path, schema: Mapping[str, object]) -> None:
        if isinstance(said, dict):
            fewer, more = (said, value) if len(said) < len(value) else (value, said)
            self.step(len(fewer) >> 3)
            for name in fewer:
                if name in more:
                    self.check(said[name], value[name], (*path, name))

    def _required(self, said: object, value: Any, path: Path, schema: Mapping[str, object]) -> None:
        if not isinstance(said, list):
            return
        self.step(len(said) >> 3)
        for name in said:
            if isinstance(name, str) and name not in value:
                self._flaw(f"{_shown(name)} is missing", path, "required")

    def _additional(self, said: object, value: Any, path: Path, schema: Mapping[str, object]) -> None:
        if "patternProperties" in schema:  # which names it leaves is not looked at
            return
        named = schema.get("properties", {})
        for name in value:
            if isinstance(named, dict) and name in named:
                continue
            if said is False:
                self._flaw(f"there is no argument {_shown(name)}", path, "additionalProperties")
            else:
                self.check(said, value[name], (*path, name))

    def _dependent(self, said: object, value: Any, path: Path, schema: Mapping[str, object]) -> None:
        for name, needed in said.items() if isinstance(said, dict) else ():
            for other in needed if name in value and isinstance(needed, list) else ():
                if isinstance(other, str) and other not in value:
                    self._flaw(f"{_shown(other)} is missing beside {_shown(name)}", path, "dependentRequired")

    # ---- keywords of lists ----

    def _items(self, said: object, value: Any, path: Path, schema: Mapping[str, object]) -> None:
        if isinstance(said, list):  # of the older drafts
            self._prefix(said, value, path, schema)
            return
        before = schema.get("prefixItems")
        for place in range(len(before) if isinstance(before, list) else 0, len(value)):
            self.check(said, value[place], (*path, place))

    def _more_items(self, said: object, value: Any, path: Path, schema: Mapping[str, object]) -> None:
        before = schema.get("items")
        for place in range(len(before), len(value)) if isinstance(before, list) else ():
            self.check(said, value[place], (*path, place))

    def _prefix(self, said: object, value: Any, path: Path, schema: Mapping[str, object]) -> None:
        for place, one in enumerate(said if isinstance(said, list) else ()):
            if place < len(value):
                self.check(one, value[place], (*path, place))

    def _unique(self, said: object, value: Any, path: Path, schema: Mapping[str, object]) -> None:
        met: set[bytes] = set()
        for one in value if said is True else ():
            written = json_bytes(_plain(one))
            self.step(1 + (len(written) >> 6))
            if written in met:
                self._flaw("holds something twice", path, "uniqueItems")
                return
            met.add(written)


_Test: TypeAlias = Callable[[_Look, object, Any, Path, Mapping[str, object]], None]

_TESTS: Final[Mapping[str, _Test]] = {
    "type": _Look._type,
    "enum": _Look._enum,
    "const": _Look._const,
    "$ref": _Look._ref,
    "allOf": _Look._all_of,
    "anyOf": _Look._any_of,
    "oneOf": _Look._one_of,
    "not": _Look._not,
    "if": _Look._if,
}
_OF_OBJECTS: Final[Mapping[str, _Test]] = {
    "properties": _Look._properties,
    "required": _Look._required,
    "additionalProperties": _Look._additional,
    "dependentRequired": _Look._dependent,
}
_OF_LISTS: Final[Mapping[str, _Test]] = {
    "items": _Look._items,
    "additionalItems": _Look._more_items,
    "prefixItems": _Look._prefix,
    "uniqueItems": _Look._unique,
}


def _least(size: Any, bound: Any) -> bool:
    return bool(size >= bound)


def _most(size: Any, bound: Any) -> bool:
    return bool(size <= bound)


def _itself(value: Any) -> Any:
    return value


_NUMBERS: Final = (int, float)
_BOUNDS: Final[
    Mapping[str, tuple[tuple[type, ...], Callable[[Any], Any], Callable[[Any, Any], bool], str]]
] = {
    "minimum": (_NUMBERS, _itself, _least, "is less than"),
    "maximum": (_NUMBERS, _itself, _most, "is more than"),
    "exclusiveMinimum": (_NUMBERS, _itself, lambda size, bound: bool(size > bound), "is not more than"),
    "exclusiveMaximum": (_NUMBERS, _itself, lambda size, bound: bool(size < bound), "is not less than"),
    "minLength": ((str,), len, _least, "has fewer characters than"),
    "maxLength": ((str,), len, _most, "has more characters than"),
    "minItems": ((list,), len, _least, "has fewer items than"),
    "maxItems": ((list,), len, _most, "has more items than"),
    "minProperties": ((dict,), len, _least, "has fewer fields than"),
    "maxProperties": ((dict,), len, _most, "has more fields than"),
}
_TYPES: Final[Mapping[str, Callable[[object], bool]]] = {
    "string": lambda value: type(value) is str,
    "integer": lambda value: type(value) is int or (type(value) is float and value.is_integer()),
    "number": lambda value: type(value) in _NUMBERS,
    "boolean": lambda value: type(value) is bool,
    "array": lambda value: type(value) is list,
    "object": lambda value: type(value) is dict,
    "null": lambda value: value is None,
}


def _resolved(reference: str, root: Mapping[str, object]) -> object:
    """The part of the schema that a reference means; None for what lies elsewhere, or nowhere."""
    if not reference.startswith("#"):
        return None
    found: Any = root
    for step in reference[1:].split("/")[1:]:
        name = unquote(step).replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isascii() and name.isdigit() and int(name[:9]) < len(found):
            found = found[int(name[:9])]
        else:
            return None
    return found if reference[1:2] in ("", "/") else None


def _same(one: Any, other: Any) -> bool:
    """JSON's equality: 1 is 1.0, and not true."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    return bool(one == other) and isinstance(one, bool) == isinstance(other, bool)


def _plain(value: Any) -> Any:
    """The value with whole numbers written as such."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _shown(value: object) -> str:
    if isinstance(value, list | dict) and len(value) > _FEW:
        return (
            f"a list of {len(value):,}" if isinstance(value, list) else f"an object of {len(value):,} fields"
        )
    if isinstance(value, str):
        value = value[: _SHOWN + 1]
    try:
        text = json_bytes(value).decode()
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
