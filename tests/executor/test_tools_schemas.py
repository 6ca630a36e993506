"""The quick yes of a checker never says yes where jsonschema says no."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from executor.tools.schemas import SchemaChecker, plainly
from mcl.catalog.tools import registry

NUMBERS = st.integers(-3, 3)
WORDS = st.text("ab1 ", max_size=4)


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({}, optional=fields)


def schema_of(kind: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return optional(description=WORDS, **fields).map(lambda found: {"type": kind, **found})


SIMPLE = st.one_of(
    schema_of(
        "string",
        minLength=st.integers(0, 3),
        maxLength=st.integers(0, 4),
        pattern=st.sampled_from(["a", "^a", "b$", "^[ab]*$", "1|2"]),
        enum=st.lists(WORDS, min_size=1, max_size=3),
    ),
    schema_of("integer", minimum=NUMBERS, maximum=NUMBERS),
    schema_of("number", minimum=NUMBERS, maximum=NUMBERS),
    schema_of("boolean"),
    schema_of("null"),
    schema_of("string", format=st.just("uri")),
    st.just({}),
    optional(enum=st.lists(st.one_of(WORDS, st.booleans(), NUMBERS), min_size=1, max_size=3)),
)


def objects(inside: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return schema_of(
        "object",
        properties=st.dictionaries(st.sampled_from("xyz"), inside, max_size=3),
        required=st.lists(st.sampled_from("xyz"), max_size=2, unique=True),
        additionalProperties=st.booleans(),
        maxProperties=st.integers(0, 3),
    )


SCHEMAS = st.recursive(
    SIMPLE,
    lambda inside: st.one_of(
        objects(inside),
        schema_of("array", items=inside, minItems=st.integers(0, 2), maxItems=st.integers(0, 3)),
    ),
    max_leaves=6,
)
VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.sampled_from([1.0, 0.5, -2.0]), WORDS),
    lambda inside: st.one_of(
        st.lists(inside, max_size=3), st.dictionaries(st.sampled_from("xyzw"), inside, max_size=3)
    ),
    max_leaves=6,
)


@given(SCHEMAS, VALUES)
def test_what_is_plainly_right_has_no_errors(schema: dict[str, Any], value: Any) -> None:
    fits = plainly(schema)
    exact = Draft202012Validator(schema)
    if fits is not None and fits(value):
        assert list(exact.iter_errors(value)) == []


@given(objects(SCHEMAS), VALUES)
def test_a_checker_tells_the_errors_that_jsonschema_tells(schema: dict[str, Any], value: Any) -> None:
    exact = Draft202012Validator(schema)
    told = [error.message for error in SchemaChecker(schema).iter_errors(value)]
    assert told == [error.message for error in exact.iter_errors(value)]


def test_plain_values_of_the_tools_that_come_with_it_get_the_quick_yes() -> None:
    manifests = {one.uri.partition("@")[0]: one for one in registry().manifests}
    read = plainly(manifests["matrix://tool/fs/read"].args)
    assert read is not None
    assert read({"path": "notes.md"})
    assert not read({"path": 1})
    assert not read({})
    assert not read({"path": "notes.md", "more": True})
    now = plainly(manifests["matrix://tool/time/now"].args)
    assert now is not None
    assert now({})
