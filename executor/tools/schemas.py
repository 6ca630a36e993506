"""Values against JSON Schemas: those of our own manifests, and those that strangers wrote."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final, TypeAlias
from urllib.parse import unquote

from executor.core.hashing import json_bytes

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

# ---- Schemas of our own: a quick yes to what fits; whatever else there is, is for jsonschema to judge.
# Nearly every call and answer fits, and jsonschema takes sixteen times as long to find nothing wrong with
# thousands of matches. The keywords known here are those of plain schemas; others get no quick yes.

Test: TypeAlias = Callable[[Any], bool]

_REMARKS: Final = frozenset({"title", "description", "default", "examples", "$comment"})
_BOUNDS: Final[Mapping[str, Callable[[Any], Test]]] = {
    "minLength": lambda least: lambda value: len(value) >= least,
    "maxLength": lambda most: lambda value: len(value) <= most,
    "pattern": lambda text: _searched(re.compile(text)),
    "minimum": lambda least: lambda value: value >= least,
    "maximum": lambda most: lambda value: value <= most,
    "minItems": lambda least: lambda value: len(value) >= least,
    "maxItems": lambda most: lambda value: len(value) <= most,
}
# For each type its keywords, and the Python types that surely are of it (1.0 is an integer to jsonschema).
_TYPES: Final[Mapping[str, tuple[tuple[type, ...], tuple[str, ...]]]] = {
    "string": ((str,), ("minLength", "maxLength", "pattern", "enum")),
    "integer": ((int,), ("minimum", "maximum")),
    "number": ((int, float), ("minimum", "maximum")),
    "boolean": ((bool,), ()),
    "array": ((list,), ("minItems", "maxItems", "items")),
    "object": ((dict,), ("properties", "required", "additionalProperties")),
}


class SchemaChecker:
    """A validator that says yes quickly. It has the one method that is asked of it."""

    def __init__(self, schema: Mapping[str, object]) -> None:
        self._known = _as_python(schema)
        self._plain = plainly(self._known)

    @cached_property
    def _exact(self) -> Validator:
        from jsonschema import Draft202012Validator  # its imports take longer than most calls

        return Draft202012Validator(self._known)

    def iter_errors(self, instance: Any) -> Iterator[ValidationError]:
        """What is wrong, as jsonschema tells it."""
        if self._plain is not None and self._plain(instance):
            return iter(())
        return self._exact.iter_errors(instance)


def plainly(schema: Mapping[str, object]) -> Test | None:
    """A test that holds only for values that fit; None where the schema is not one of the plain ones."""
    if schema.keys() <= _REMARKS:
        return lambda value: True
    kinds, keywords = _TYPES.get(str(schema.get("type")), ((), ()))
    if not kinds or schema.keys() - _REMARKS - {"type"} - set(keywords):
        return None
    if dict in kinds:
        return _object(schema)
    tests: list[Test] = []
    for keyword, value in schema.items():
        if keyword in _BOUNDS:
            tests.append(_BOUNDS[keyword](value))
        elif keyword == "items":
            each = plainly(value) if isinstance(value, dict) else None
            if each is None:
                return None
            tests.append(_each(each))
        elif keyword == "enum":
            if not isinstance(value, list) or not all(type(one) is str for one in value):
                return None
            tests.append(frozenset(value).__contains__)
    if not tests:
        return lambda value: type(value) in kinds
    return lambda value: type(value) in kinds and all(test(value) for test in tests)


def _searched(pattern: re.Pattern[str]) -> Test:
    return lambda value: pattern.search(value) is not None


def _each(test: Test) -> Test:
    return lambda values: all(map(test, values))


def _object(schema: Mapping[str, object]) -> Test | None:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, dict) or not isinstance(required, list):
        return None
    if schema.get("additionalProperties") is not False:
        return None
    tests = {name: plainly(one) if isinstance(one, dict) else None for name, one in properties.items()}
    known = {name: test for name, test in tests.items() if test is not None}
    needed = frozenset(required)

    def fits(value: Any) -> bool:
        if type(value) is not dict or not value.keys() >= needed:
            return False
        for name, item in value.items():
            test = known.get(name)
            if test is None or not test(item):
                return False
        return True

    return fits


def _as_python(schema: Any) -> Any:
    """The schema with patterns that mean in Python what they mean in JSON Schema: `$` is the end of a text,
    and not also the place before a last line end."""
    if isinstance(schema, list):
        return [_as_python(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        name: f"{value[:-1]}\\Z"
        if name == "pattern" and isinstance(value, str) and value.endswith("$") and value[-2:] != "\\$"
        else _as_python(value)
        for name, value in schema.items()
    }


# ---- Schemas of strangers: checked as far as that is safe, in bounded time.
# Such a schema may be wrong, refer to addresses on the network, refer to itself without end, or hold patterns
# that take for ever. So nothing is fetched, patterns and formats are left to the server, a keyword that makes
# no sense says nothing, and what takes too long is refused. What passes here may still be refused by the
# server, which is the judge of its own schema.

MAX_STEPS: Final = 100_000  # keywords laid against values, for one call
MAX_SECONDS: Final = 5.0  # a message of jsonschema quotes the value, which may be large
_MOST: Final = 20  # flaws that are told
_SAID: Final = 200  # characters of one
_SHOWN: Final = 60  # characters of a value
_NUMBER: Final = (int, float)
_SCHEMA: Final = (dict, bool)
# The keywords that are looked at, and what each says where it makes sense; None: anything does.
_KEYWORDS: Final[Mapping[str, tuple[type, ...] | None]] = {
    "type": (str, list),
    "const": None,
    "$ref": (str,),
    "properties": (dict,),
    "dependentRequired": (dict,),
    "additionalProperties": _SCHEMA,
    "not": _SCHEMA,
    "if": _SCHEMA,
    "items": (*_SCHEMA, list),
    "additionalItems": _SCHEMA,
    "uniqueItems": (bool,),
    **dict.fromkeys(("enum", "allOf", "anyOf", "oneOf", "required", "prefixItems"), (list,)),
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), _NUMBER),
    **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems"), _NUMBER),
    **dict.fromkeys(("minProperties", "maxProperties"), _NUMBER),
}
_budget: ContextVar[_Budget] = ContextVar("_budget")


class ForeignChecker:
    """A schema of another server, as a validator. It has the one method that is asked of it."""

    def __init__(self, schema: Mapping[str, object]) -> None:
        self._schema = schema

    def iter_errors(self, instance: Any) -> Iterator[ValidationError]:
        """What is wrong with a value, at most twenty flaws."""
        from jsonschema import ValidationError
        from referencing import Registry

        spent = _budget.set(_Budget())
        flaws: list[ValidationError] = []
        try:
            # A registry of its own knows no address, and fetches none.
            for flaw in _bounded()(self._schema, registry=Registry()).iter_errors(instance):
                flaw.message = _message(flaw, self._schema)
                flaws.append(flaw)
                if len(flaws) == _MOST:
                    break
        except (_SpentError, RecursionError):
            limit = f"{MAX_STEPS:,} steps or {MAX_SECONDS:g} s"
            why = f"its server's schema takes more than {limit} to check this: give less"
            flaws = [ValidationError(why)]
        finally:
            _budget.reset(spent)
        return iter(flaws)


def _message(flaw: ValidationError, root: Mapping[str, object]) -> str:
    """What jsonschema says, without most of a long value, and with the types that would be taken."""
    said, quoted = flaw.message, repr(flaw.instance)
    if len(quoted) > _SHOWN and said.startswith(quoted):
        said = f"{quoted[:_SHOWN]}…{said[len(quoted) :]}"
    if flaw.validator in ("anyOf", "oneOf") and (kinds := kinds_of(flaw.schema, root)):
        said += f" ({', '.join(sorted(kinds))})"
    return said[:_SAID]


class _SpentError(Exception):
    """The steps or the seconds are used up."""


class _Budget:
    def __init__(self) -> None:
        self._steps, self._until = MAX_STEPS, time.monotonic() + MAX_SECONDS

    def spend(self, many: int) -> None:
        self._steps -= many
        if self._steps < 0 or time.monotonic() > self._until:
            raise _SpentError


@cache
def _bounded() -> Any:
    """The class of jsonschema's validators with these keywords alone, each bounded."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import create

    tests: dict[str, Any] = {
        **Draft202012Validator.VALIDATORS,
        "items": _items,
        "additionalItems": _more_items,
        "additionalProperties": _more_fields,
        "uniqueItems": _unique,
    }
    made = create(
        meta_schema={},
        validators={name: _guarded(tests[name], kinds) for name, kinds in _KEYWORDS.items()},
        type_checker=Draft202012Validator.TYPE_CHECKER,
        id_of=lambda schema: "",  # what a schema calls itself is of no interest: nothing is looked up by it
        applicable_validators=lambda schema: schema.items() if isinstance(schema, dict) else (),
    )
    # jsonschema's own goes over to another class where a part of the schema names a draft (`$schema`).
    setattr(made, "evolve", lambda self, **changes: _evolved(self, changes))  # noqa: B010
    return made


def _evolved(validator: Any, changes: dict[str, Any]) -> Any:
    kept = {"schema": validator.schema, "registry": validator._registry, "_resolver": validator._resolver}
    return type(validator)(**kept | changes)


def _guarded(test: Any, kinds: tuple[type, ...] | None) -> Any:
    """The test of a keyword, where what the schema says makes sense; each costs steps."""
    from jsonschema.exceptions import UnknownType
    from referencing.exceptions import Unresolvable

    def guarded(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
        size = len(said) if type(said) in (dict, list) else len(value) if type(value) is dict else 0
        _budget.get().spend(1 + (size >> 3))
        if kinds is not None and (type(said) not in kinds or said == []):
            return
        try:
            yield from test(validator, said, value, schema) or ()
        except (UnknownType, Unresolvable, TypeError, ValueError, AttributeError, LookupError):
            return  # what makes no sense, and what lies elsewhere, says nothing

    return guarded


def _items(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    if not isinstance(value, list):
        return
    before: Any = schema.get("prefixItems", [])
    if isinstance(said, list):  # of the older drafts
        for place, (one, item) in enumerate(zip(said, value, strict=False)):
            yield from validator.descend(item, one, path=place)
        return
    if isinstance(said, dict) and said.keys() == {"type"} and type(said["type"]) is str:
        _budget.get().spend(len(value) >> 4)
        fits = _TYPES.get(said["type"], ((),))[0]  # long lists of plain values are no work
        if fits and all(type(one) in fits for one in value):
            return
    for place in range(len(before) if isinstance(before, list) else 0, len(value)):
        yield from validator.descend(value[place], said, path=place)


def _more_items(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    before = schema.get("items")
    if isinstance(value, list) and isinstance(before, list):
        for place in range(len(before), len(value)):
            yield from validator.descend(value[place], said, path=place)


def _more_fields(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    from jsonschema import ValidationError

    if not isinstance(value, dict) or "patternProperties" in schema:  # which names it leaves is not looked at
        return
    named = schema.get("properties", {})
    for name in value:
        if isinstance(named, dict) and name in named:
            continue
        if said is False:
            yield ValidationError(f"there is no argument {name!r}"[:_SAID])
        else:
            yield from validator.descend(value[name], said, path=name)


def _unique(validator: Any, said: Any, value: Any, schema: Any) -> Iterator[ValidationError]:
    from jsonschema import ValidationError

    met: set[bytes] = set()  # jsonschema compares each with each
    for one in value if said and isinstance(value, list) else ():
        written = json_bytes(_plain(one))
        _budget.get().spend(1 + (len(written) >> 6))
        if written in met:
            yield ValidationError("holds something twice")
            return
        met.add(written)


def _plain(value: Any) -> Any:
    """The value with whole numbers written as such: to JSON 1.0 is 1."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


# ---- What a schema lets through, as far as that can be told without a value.


def kinds_of(schema: object, root: Mapping[str, object], depth: int = 4) -> frozenset[str] | None:
    """The JSON types that a schema lets through, as far as it says so near its top; None for any."""
    if not isinstance(schema, Mapping) or depth == 0:
        return None
    found: frozenset[str] | None = None
    parts: list[frozenset[str] | None] = []
    if isinstance(said := schema.get("type"), str | list):
        names = [said] if isinstance(said, str) else [one for one in said if isinstance(one, str)]
        parts.append(frozenset(names) | (frozenset({"integer"}) if "number" in names else frozenset()))
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
