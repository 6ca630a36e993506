"""A quick yes to what fits a JSON Schema; whatever it does not say yes to is for jsonschema to judge.

Nearly every call and answer fits its schema, and jsonschema takes as long to find nothing wrong as a
signature takes to be made. The keywords known here are those of plain schemas; a schema with any other gets
no quick yes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

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


class Checker:
    """A validator that says yes quickly. It has the one method that is asked of it."""

    def __init__(self, schema: Mapping[str, object], exact: Validator) -> None:
        """exact: the validator of the same schema, for everything else."""
        self._plain = plainly(schema)
        self._exact = exact

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
