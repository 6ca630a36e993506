"""What of a tool's schema becomes an input that words can fill, and what never does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcl.plugins.derived.inputs import ALL_OPTIONS, MOST_INPUTS, MOST_OPTIONS, inputs_of


def schema(required: tuple[str, ...] = (), **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


@pytest.mark.parametrize(
    ("said", "slot"),
    [
        ({"type": "string"}, "x: string"),
        ({"type": ["string", "null"]}, "x: string"),
        ({"anyOf": [{"type": "null"}, {"type": "integer"}]}, "x: uint"),
        ({"type": "number"}, "x: float"),
        ({"type": "boolean"}, "x: bool"),
        ({"enum": ["open", "closed"]}, "x: enum<open|closed>"),
        ({"oneOf": [{"const": "asc"}, {"const": "desc"}]}, "x: enum<asc|desc>"),
        ({"enum": [1, 2, 3]}, "x: enum<1|2|3>"),
        ({"type": "string", "format": "date-time"}, "x: iso8601"),
        ({"type": "string", "format": "date"}, "x_date: iso8601"),
        ({"type": "array", "items": {"type": "string"}}, "x: string[]"),
        ({"type": "array", "items": {"$ref": "#/$defs/color"}}, "x: enum<red|blue>[]"),
        ({"$ref": "#/$defs/color"}, "x: enum<red|blue>"),
        ({"allOf": [{"$ref": "#/$defs/color"}]}, "x: enum<red|blue>"),
        ({"enum": [f"e{n}" for n in range(MOST_OPTIONS + 1)]}, "x: string"),  # a huge list is a text
    ],
)
def test_each_plain_type_is_a_slot(said: dict[str, Any], slot: str) -> None:
    made = inputs_of({**schema(x=said), "$defs": {"color": {"enum": ["red", "blue"]}}})
    assert [f"{one.slot.name}: {one.slot.type}" for one in made.inputs] == [slot]


def test_what_is_required_stays_so_and_an_object_is_taken_apart() -> None:
    inner = schema(
        ("owner", "mode"), owner={"type": "string"}, mode={"const": "fast"}, depth={"type": "integer"}
    )
    made = inputs_of(schema(("repo",), repo=inner, draft={"type": "boolean"}))
    assert [(one.slot.name, one.path, one.slot.optional) for one in made.inputs] == [
        ("repo_owner", ("repo", "owner"), False),
        ("draft", ("draft",), True),
    ]
    assert made.fixed == {("repo", "mode"): "fast"}


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"type": "array", "items": {"type": "object", "properties": {"a": {}}}}, "a list of objects"),
        ({"type": "object"}, "an object"),
        ({"$ref": "#"}, "x"),  # the schema itself, without end
        ({"$ref": "#/properties/x"}, "no plain type"),
        ({"$ref": "https://example.org/schema"}, "no plain type"),
    ],
)
def test_a_tool_that_requires_what_no_words_fill_says_so(said: dict[str, Any], why: str) -> None:
    assert why in inputs_of(schema(("x",), x=said)).flaw
    assert inputs_of(schema(x=said)).flaw == ""


@pytest.mark.parametrize("name", ["password", "apiKey", "client_secret", "token"])
def test_no_secret_is_ever_asked_of_a_goal(name: str) -> None:
    assert "looks like a secret" in inputs_of(schema((name,), **{name: {"type": "string"}})).flaw
    assert inputs_of(schema(**{name: {"type": "string"}})).inputs == ()


def test_two_hundred_properties_are_no_more_than_a_model_can_compare() -> None:
    many = {f"p{n}": {"enum": [f"v{n}-{m}" for m in range(30)]} for n in range(200)}
    made = inputs_of(schema(("p150",), **many))
    assert len(made.inputs) <= MOST_INPUTS
    assert made.inputs[0].path == ("p150",)  # what is required first
    assert sum(len(one.slot.type.members) for one in made.inputs) <= ALL_OPTIONS
    assert "more than" in inputs_of(schema(tuple(many), **many)).flaw


def test_names_are_those_of_slots_and_never_twice_the_same() -> None:
    odd = {
        "$filter": {"type": "string"},
        "filter": {"type": "string"},
        "größe": {"type": "string"},
        "9": {"type": "string"},
    }
    names = [one.slot.name for one in inputs_of(schema(**odd)).inputs]
    assert len(set(names)) == 4
    assert all(name.isascii() and name.replace("_", "a").isalnum() and name[0].isalpha() for name in names)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "properties", "items", "$ref", "anyOf", "enum", "required", "a", "const"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


@given(_JSON)
def test_no_schema_raises(said: Any) -> None:
    inputs_of(schema(("a",), a=said, b=said))
    if isinstance(said, dict):
        inputs_of(said)
