"""Arguments against schemas of strangers: as jsonschema judges them, never for long, nor by the network."""

from __future__ import annotations

import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from executor.tools import schemas as schemas_module
from executor.tools.schemas import ForeignChecker, kind_of, kinds_of


def flaws(schema: Any, value: object) -> list[str]:
    return [
        f"{'.'.join(map(str, one.absolute_path))}: {one.message}"
        for one in ForeignChecker(schema).iter_errors(value)
    ]


NAMES = st.sampled_from(["a", "b", "c"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([0.5, 1.0, -2.5])
    | st.text("xy", max_size=3),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=3),
    max_leaves=6,
)
SMALL = st.integers(0, 3)


def schemas(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    some = st.lists(below, min_size=1, max_size=3)
    types = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", "null"])
    return st.fixed_dictionaries(
        {},
        optional={
            "title": st.just("words"),
            "type": types | st.lists(types, min_size=1, max_size=2, unique=True),
            "enum": st.lists(VALUES, min_size=1, max_size=3),
            "const": VALUES,
            "properties": st.dictionaries(NAMES, below, max_size=3),
            "required": st.lists(NAMES, max_size=2, unique=True),
            "additionalProperties": below,
            "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=2, unique=True), max_size=2),
            "items": below,
            "prefixItems": some,
            "uniqueItems": st.booleans(),
            "anyOf": some,
            "oneOf": some,
            "allOf": some,
            "not": below,
            "if": below,
            "then": below,
            "else": below,
            "minimum": SMALL,
            "maximum": SMALL,
            "exclusiveMinimum": SMALL,
            "exclusiveMaximum": SMALL,
            "minLength": SMALL,
            "maxLength": SMALL,
            "minItems": SMALL,
            "maxItems": SMALL,
            "minProperties": SMALL,
            "maxProperties": SMALL,
            "$ref": st.sampled_from(["#/$defs/one", "#/$defs/two"]),
        },
    )


SCHEMAS = st.recursive(st.booleans() | schemas(st.booleans()), schemas, max_leaves=5)


@given(st.dictionaries(NAMES, SCHEMAS, max_size=3), SCHEMAS, SCHEMAS, VALUES)
def test_it_lets_through_what_jsonschema_lets_through(
    properties: dict[str, Any], one: Any, two: Any, value: object
) -> None:
    # What refers stands outside of what is referred to, so that nothing is endless.
    schema: dict[str, Any] = {
        "properties": properties,
        "$defs": {"one": unreferring(one), "two": unreferring(two)},
    }
    exact = Draft202012Validator(schema)
    for given_value in (value, {"a": value, "b": value}):
        expected = exact.is_valid(given_value)
        assert (flaws(schema, given_value) == []) == expected


def unreferring(schema: Any) -> Any:
    if isinstance(schema, dict):
        return {name: unreferring(one) for name, one in schema.items() if name != "$ref"}
    return [unreferring(one) for one in schema] if isinstance(schema, list) else schema


KEYWORDS = [
    *(
        "type",
        "properties",
        "required",
        "items",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "if",
        "then",
        "else",
        "enum",
    ),
    *("const", "$ref", "additionalProperties", "prefixItems", "minimum", "maxLength", "minItems", "pattern"),
    *("dependentRequired", "uniqueItems", "$defs", "a"),
]
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just("#"),
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.sampled_from(KEYWORDS), below, max_size=5),
    max_leaves=25,
)


@given(st.dictionaries(st.sampled_from(["type", "properties", "$ref", "allOf", "items", "a"]), JUNK), JUNK)
def test_whatever_a_stranger_calls_a_schema_it_gives_an_answer(schema: dict[str, Any], value: object) -> None:
    assert len(flaws(schema, value)) <= 20
    assert kinds_of(schema, schema) is None or kinds_of(schema, schema) is not None
    assert isinstance(kind_of(value), str)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {
            "$defs": {str(n): {"anyOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(60)}
            | {"60": False},
            "$ref": "#/$defs/0",
        },
        {"properties": {"a": {"$ref": "#"}}, "allOf": [{"properties": {"a": {"$ref": "#"}}}] * 9},
    ],
)
def test_a_schema_without_end_is_left_and_the_call_refused(schema: dict[str, Any]) -> None:
    value: object = "x"
    for _ in range(60):
        value = {"a": value}
    [said] = flaws(schema, value)
    assert "steps" in said


def test_a_long_list_of_plain_values_is_checked_whole() -> None:
    schema = {"properties": {"a": {"type": "array", "items": {"type": "number"}}}}
    assert flaws(schema, {"a": [0.5] * 1_000_000}) == []
    assert flaws(schema, {"a": [0.5] * 50_000 + ["x"]}) == ["a.50000: 'x' is not of type 'number'"]


def test_nothing_is_fetched_whatever_a_schema_refers_to() -> None:
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"type": "string"}')

        def log_message(self, format: str, *args: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/schema.json"
        for schema in (
            {"properties": {"a": {"$ref": address}}},
            {"$id": address, "properties": {"a": {"$ref": "other.json"}}},
            {"properties": {"a": {"$dynamicRef": address}}},
            {"$schema": address, "properties": {"a": {"$schema": address, "$ref": "file:///etc/passwd"}}},
        ):
            assert flaws(schema, {"a": 1}) == []
        server.shutdown()
    assert asked == []


def test_patterns_are_left_to_the_server_as_they_may_take_for_ever() -> None:
    slow = {
        "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}},
        "patternProperties": {"(b+)+$": False},
    }
    assert flaws(slow, {"a": "a" * 60 + "!", "b" * 60 + "!": 1}) == []
    assert flaws({**slow, "additionalProperties": False}, {"c": 1}) == []


def test_a_part_that_names_a_draft_is_bounded_all_the_same() -> None:
    draft = {"$schema": "http://json-schema.org/draft-07/schema#", "pattern": "^(a+)+$"}
    for schema in (draft, {"properties": {"a": draft}}, {"anyOf": [draft]}, {"not": {"not": draft}}):
        assert flaws(schema, "a" * 60 + "!") == flaws(schema, {"a": "a" * 60 + "!"}) == []


def test_a_large_value_that_fits_none_of_many_forms_takes_no_longer_than_is_allowed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(schemas_module, "MAX_SECONDS", 0.2)
    begun = time.monotonic()
    [said] = flaws({"anyOf": [{"type": "integer"}] * 20_000}, "x" * 5_000_000)
    assert "give less" in said
    assert time.monotonic() - begun < 10


def test_keywords_that_make_no_sense_say_nothing() -> None:
    for schema in (
        {"type": "text"},
        {"type": ["string", "text"]},
        {"type": 5},
        {"properties": [1], "required": "a", "enum": "x", "minimum": "1", "maxLength": True},
        {"anyOf": [], "oneOf": {}, "allOf": 3, "not": 5, "if": [], "$ref": 7, "items": "x"},
        {"$ref": "#/nowhere"},
        {"$ref": "#anchor"},
        {"$ref": "#/$defs/-1", "$defs": [1]},
    ):
        for value in ({"a": 1}, [1, 1], "x", 5, None, True):
            assert flaws(schema, value) == []


def test_the_older_drafts_way_to_describe_lists_is_known() -> None:
    schema = {"items": [{"type": "string"}, {"type": "integer"}], "additionalItems": {"type": "null"}}
    assert flaws(schema, ["a", 1, None]) == []
    assert flaws(schema, [1, 1, 1]) == ["0: 1 is not of type 'string'", "2: 1 is not of type 'null'"]


def test_flaws_are_said_so_that_a_model_can_correct_itself() -> None:
    schema = {
        "type": "object",
        "properties": {
            "state": {"enum": ["open", "closed"]},
            "labels": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
            "count": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]},
        },
        "required": ["repo"],
        "additionalProperties": False,
    }
    assert flaws(schema, {"state": "new", "labels": ["a", 5, "c"], "count": 0, "more": 1}) == [
        "state: 'new' is not one of ['open', 'closed']",
        "labels.1: 5 is not of type 'string'",
        "labels: ['a', 5, 'c'] is too long",
        "count: 0 is not valid under any of the given schemas (integer, null)",
        ": 'repo' is a required property",
        ": there is no argument 'more'",
    ]
    [said] = flaws({"properties": {"a": {"type": "integer"}}}, {"a": "x" * 5_000_000})
    assert len(said) < 200
    assert said.endswith("is not of type 'integer'")


@pytest.mark.parametrize(
    ("schema", "kinds"),
    [
        ({}, None),
        ({"type": "string"}, {"string"}),
        ({"type": ["string", "null"]}, {"string", "null"}),
        ({"type": "number"}, {"number", "integer"}),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, {"string", "null"}),
        ({"anyOf": [{"type": "string"}, {}]}, None),
        ({"$ref": "#/$defs/a"}, {"object"}),
        ({"enum": ["a", 1]}, {"string", "integer"}),
        ({"type": "string", "enum": ["a", 1]}, {"string"}),
    ],
)
def test_the_types_that_a_schema_lets_through(schema: dict[str, Any], kinds: set[str] | None) -> None:
    assert kinds_of(schema, {"$defs": {"a": {"type": "object"}}}) == kinds
