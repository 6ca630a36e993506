"""Arguments against a schema that a stranger wrote: checked as far as that is safe, in bounded time.

A schema of another server may be wrong, refer to addresses on the network, refer to itself without end, or
hold patterns that take for ever. So nothing is fetched, patterns and formats are left to the server, a
keyword that makes no sense says nothing, and an argument that takes too many steps is refused. What passes
here may still be refused by the server, which is the judge of its own schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from operator import ge, gt, le, lt
from typing import Any, Final, TypeAlias
from urllib.parse import unquote

from executor.core.hashing import json_bytes

MAX_STEPS: Final = 100_000  # schemas laid against values, for one call: half a second at worst
_MOST: Final = 20  # flaws that are told
_SHOWN: Final = 60  # characters of a value
_FEW: Final = 5  # items of a list that is shown
_WHOLE: Final = frozenset({"integer"})

_NUMBERS: Final = (int, float)

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


def kinds_of(schema: object, root: Mapping[str, object], depth: int = 4) -> frozenset[str] | None:
    """The JSON types that a schema lets through, as far as it says so near its top; None for any."""
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


def _itself(value: Any) -> Any:
    return value


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
        if schema is False:
            self.flaw("is not taken", path, "false")
        if not isinstance(schema, dict) or len(self.flaws) > _MOST:
            self.step(1)
            return
        self.step(1 + (len(schema) >> 3))
        kind = type(value)
        for keyword, said in schema.items():
            test = _KEYWORDS.get(keyword)
            if test is not None and (test[0] is None or test[0] is kind):
                test[1](self, said, value, path, schema)

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

    def flaw(self, message: str, path: Path, validator: str) -> None:
        """Note a flaw."""
        self.flaws.append(Flaw(message, path, validator))

    # ---- keywords of every value ----

    def _type(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        if type(said) is str and ((test := _TYPES.get(said)) is None or test(value)):
            return  # as nearly always
        names = [said] if isinstance(said, str) else said if isinstance(said, list) else []
        known = [name for name in names if isinstance(name, str) and name in _TYPES]
        if known and len(known) == len(names) and not any(_TYPES[name](value) for name in known):
            self.flaw(f"{_shown(value)} is not of type {' or '.join(known)}", path, "type")

    def _enum(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        if not isinstance(said, list):
            return
        self.step(len(said))
        if not any(_same(value, one) for one in said):
            values = ", ".join(_shown(one) for one in said[:10])
            self.flaw(
                f"{_shown(value)} is not one of {values}{', …' if len(said) > 10 else ''}", path, "enum"
            )

    def _const(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        if not _same(value, said):
            self.flaw(f"{_shown(value)} is not {_shown(said)}", path, "const")

    def _ref(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        if isinstance(said, str) and (target := _resolved(said, self._root)) is not None:
            self.check(target, value, path)

    def _all_of(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        for one in said if isinstance(said, list) else ():
            self.check(one, value, path)

    def _any_of(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        if isinstance(said, list) and said and not any(self.fits(one, value) for one in said):
            self.flaw(self._none_of(value, schema), path, "anyOf")

    def _one_of(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        if not isinstance(said, list) or not said:
            return
        fitting = sum(self.fits(one, value) for one in said)
        if not fitting:
            self.flaw(self._none_of(value, schema), path, "oneOf")
        elif fitting > 1:
            self.flaw(
                f"{_shown(value)} fits {fitting} of the forms it may have, and must fit one", path, "oneOf"
            )

    def _none_of(self, value: object, schema: Mapping[str, object]) -> str:
        kinds = kinds_of(schema, self._root)
        forms = f" ({', '.join(sorted(kinds))})" if kinds else ""
        return f"{_shown(value)} has none of the forms it may have{forms}"

    def _not(self, said: object, value: object, path: Path, schema: Mapping[str, object]) -> None:
        if isinstance(said, dict | bool) and self.fits(said, value):
            self.flaw(f"{_shown(value)} has a form that is not taken", path, "not")

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
                self.flaw(f"{_shown(name)} is missing", path, "required")

    def _additional(self, said: object, value: Any, path: Path, schema: Mapping[str, object]) -> None:
        if "patternProperties" in schema:  # which names it leaves is not looked at
            return
        named = schema.get("properties", {})
        for name in value:
            if isinstance(named, dict) and name in named:
                continue
            if said is False:
                self.flaw(f"there is no argument {_shown(name)}", path, "additionalProperties")
            else:
                self.check(said, value[name], (*path, name))

    def _dependent(self, said: object, value: Any, path: Path, schema: Mapping[str, object]) -> None:
        for name, needed in said.items() if isinstance(said, dict) else ():
            for other in needed if name in value and isinstance(needed, list) else ():
                if isinstance(other, str) and other not in value:
                    self.flaw(f"{_shown(other)} is missing beside {_shown(name)}", path, "dependentRequired")

    # ---- keywords of lists ----

    def _items(self, said: object, value: Any, path: Path, schema: Mapping[str, object]) -> None:
        if isinstance(said, list):  # of the older drafts
            self._prefix(said, value, path, schema)
            return
        before = schema.get("prefixItems")
        if before is None and isinstance(said, dict) and said.keys() == {"type"}:
            self.step(len(value) >> 4)  # long lists of plain values are no work
            test = _TYPES.get(said["type"]) if isinstance(said["type"], str) else None
            if test is not None and all(map(test, value)):
                return
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
                self.flaw("holds something twice", path, "uniqueItems")
                return
            met.add(written)


_Test: TypeAlias = Callable[[_Look, object, Any, Path, Mapping[str, object]], None]


def _bounded(
    keyword: str,
    kinds: tuple[type, ...],
    size: Callable[[Any], Any],
    fits: Callable[[Any, Any], Any],
    words: str,
) -> _Test:
    def test(look: _Look, said: object, value: Any, path: Path, schema: Mapping[str, object]) -> None:
        if type(value) in kinds and type(said) in _NUMBERS and not fits(size(value), said):
            look.flaw(f"{_shown(value)} {words} {said}", path, keyword)

    return test


_KEYWORDS: Final[Mapping[str, tuple[type | None, _Test]]] = {
    "type": (None, _Look._type),
    "enum": (None, _Look._enum),
    "const": (None, _Look._const),
    "$ref": (None, _Look._ref),
    "allOf": (None, _Look._all_of),
    "anyOf": (None, _Look._any_of),
    "oneOf": (None, _Look._one_of),
    "not": (None, _Look._not),
    "if": (None, _Look._if),
    "properties": (dict, _Look._properties),
    "required": (dict, _Look._required),
    "additionalProperties": (dict, _Look._additional),
    "dependentRequired": (dict, _Look._dependent),
    "items": (list, _Look._items),
    "additionalItems": (list, _Look._more_items),
    "prefixItems": (list, _Look._prefix),
    "uniqueItems": (list, _Look._unique),
    **{
        name: (None, _bounded(name, kinds, size, fits, words))
        for name, kinds, size, fits, words in (
            ("minimum", _NUMBERS, _itself, ge, "is less than"),
            ("maximum", _NUMBERS, _itself, le, "is more than"),
            ("exclusiveMinimum", _NUMBERS, _itself, gt, "is not more than"),
            ("exclusiveMaximum", _NUMBERS, _itself, lt, "is not less than"),
            ("minLength", (str,), len, ge, "has fewer characters than"),
            ("maxLength", (str,), len, le, "has more characters than"),
            ("minItems", (list,), len, ge, "has fewer items than"),
            ("maxItems", (list,), len, le, "has more items than"),
            ("minProperties", (dict,), len, ge, "has fewer fields than"),
            ("maxProperties", (dict,), len, le, "has more fields than"),
        )
    },
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
