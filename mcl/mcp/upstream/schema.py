"""Whether a value fits a JSON Schema that a stranger wrote: an answer in bounded time, and nothing fetched.

A schema of a few lines can take hours: patterns that backtrack, references that double at each step. So the
steps are counted, and patterns are matched with a limit of time. unevaluatedProperties and unevaluatedItems
are not looked at.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from executor.hashing import is_shallow, json_bytes, json_size

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

MOST_STEPS: Final = 200_000  # keywords looked at, and patterns matched, for one value
MOST_BYTES: Final = 64 << 10  # of a schema
MATCHING_S: Final = 0.5  # seconds for all patterns together
_MATCH_S: Final = 0.05  # seconds for one pattern on one text
_LEVELS: Final = 64


class SchemaError(Exception):
    """A schema that is none, or a value that takes too long to check; the text says which."""


class Check:
    """The check of one schema.

    Raises:
        SchemaError: it is no schema, or too large.
    """

    def __init__(self, schema: Mapping[str, object]) -> None:
        size = json_size(schema)
        if size is None or size > MOST_BYTES or not is_shallow(schema, _LEVELS):
            raise SchemaError(f"it is larger than {MOST_BYTES >> 10} KiB, or deeper than {_LEVELS} levels")
        self._left, self._matched_s = MOST_STEPS, 0.0
        self._validator = self._made(dict(schema))

    def flaw(self, value: Any) -> str:
        """What does not fit, in words; "" where all of it does.

        Raises:
            SchemaError: it cannot be told in bounded time, or the schema refers to something else.
        """
        from referencing.exceptions import Unresolvable

        self._left, self._matched_s = MOST_STEPS, 0.0
        try:
            error = next(iter(self._validator.iter_errors(value)), None)
        except Unresolvable as problem:
            raise SchemaError("it refers to something outside of itself") from problem
        except RecursionError as problem:
            raise SchemaError("checking against it takes too long") from problem
        except SchemaError:
            raise
        except Exception as problem:  # parts of the wrong type, deep down
            raise SchemaError(f"it is no schema: {type(problem).__name__}") from problem
        return "" if error is None else f"{error.json_path}: {error.message[:200]}"

    def _made(self, schema: dict[str, Any]) -> Validator:
        from jsonschema import Draft202012Validator
        from jsonschema.exceptions import SchemaError as NoSchema
        from jsonschema.validators import extend, validator_for
        from referencing import Registry

        chosen = validator_for(schema, default=Draft202012Validator)
        try:
            chosen.check_schema(schema)
        except NoSchema as problem:
            raise SchemaError(f"it is no schema: {problem.message[:200]}") from problem
        except Exception as problem:
            raise SchemaError(f"it is no schema: {type(problem).__name__}") from problem
        own: dict[str, Callable[..., Any]] = {
            "pattern": self._pattern,
            "patternProperties": self._pattern_properties,
            "additionalProperties": self._additional_properties,
            "uniqueItems": _unique,
            "unevaluatedProperties": _unseen,
            "unevaluatedItems": _unseen,
        }
        known: Mapping[str, Any] = chosen.VALIDATORS
        words = {word: self._counted(own.get(word, does)) for word, does in known.items()}
        made: Validator = extend(chosen, validators=words)(schema, registry=Registry())  # type: ignore[no-untyped-call]
        return made

    def _counted(self, does: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        def word(validator: Validator, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
            self._step()
            yield from does(validator, value, instance, schema) or ()

        return word

    def _step(self) -> None:
        self._left -= 1
        if self._left < 0 or self._matched_s > MATCHING_S:
            raise SchemaError("checking against it takes too long")

    def _matches(self, pattern: str, text: str) -> bool:
        import regex

        self._step()
        begun = time.perf_counter()
        try:
            return regex.search(pattern, text, timeout=_MATCH_S) is not None
        except TimeoutError as problem:
            raise SchemaError(f"the pattern {pattern[:80]!r} in it takes too long") from problem
        except regex.error as problem:
            raise SchemaError(f"a pattern in it is none: {problem}") from problem
        finally:
            self._matched_s += time.perf_counter() - begun

    def _pattern(self, _: Validator, pattern: str, instance: Any, __: Any) -> Iterator[Any]:
        if isinstance(instance, str) and not self._matches(pattern, instance):
            yield _error(f"{instance[:80]!r} does not match {pattern[:80]!r}")

    def _pattern_properties(self, validator: Any, patterns: Any, instance: Any, _: Any) -> Iterator[Any]:
        if not isinstance(instance, dict):
            return
        for pattern, below in patterns.items():
            for name, value in instance.items():
                if self._matches(pattern, name):
                    yield from validator.descend(value, below, path=name, schema_path=pattern)

    def _additional_properties(self, validator: Any, below: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if not isinstance(instance, dict):
            return
        patterns, named = schema.get("patternProperties", {}), schema.get("properties", {})
        unnamed = [name for name in instance if name not in named]
        more = [name for name in unnamed if not any(self._matches(one, name) for one in patterns)]
        if isinstance(below, dict):
            for name in more:
                yield from validator.descend(instance[name], below, path=name)
        elif not below and more:
            yield _error(f"{more[0][:80]!r} is not one of its properties")


def _unique(_: Validator, wanted: Any, instance: Any, __: Any) -> Iterator[Any]:
    # By their bytes: comparing each with each would take a day for a long list.
    if wanted and isinstance(instance, list) and len({json_bytes(one) for one in instance}) < len(instance):
        yield _error("two of its items are the same")


def _unseen(*_: Any) -> Iterator[Any]:
    return iter(())


def _error(message: str) -> Any:
    from jsonschema.exceptions import ValidationError

    return ValidationError(message)
