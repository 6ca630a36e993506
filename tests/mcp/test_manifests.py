"""Tools of other servers as the gate knows them: what is believed, what is kept, what is refused."""

from __future__ import annotations

from typing import Any

import pytest
from declaring import nothing
from hypothesis import given
from hypothesis import strategies as st

from executor import Manifest
from executor.gate.references import typed_args
from executor.tools.tool import Tool
from mcl.catalog.manifests import OUTPUT, Hints, judge, manifest_of, read_hints
from mcl.catalog.tools import registry
from mcl.cli.tool import example_call
from mcl.core.errors import McpError
from mcl.plugins.mcp.offered.search import sample_args

ISSUE: dict[str, Any] = {
    "name": "create_issue",
    "title": "Create an issue",
    "description": "Creates an issue.",
    "inputSchema": {
        "type": "object",
        "properties": {"title": {"type": "string"}, "labels": {"type": "array", "items": {"type": "string"}}},
        "required": ["title"],
    },
    "outputSchema": {"type": "object", "properties": {"number": {"type": "integer"}}},
    "annotations": {"readOnlyHint": False, "destructiveHint": False},
}


def made(trusted: bool = True, **more: Any) -> Manifest:
    return manifest_of("github", {**ISSUE, **more}, trusted=trusted)


def test_a_manifest_keeps_the_definition_and_nothing_else() -> None:
    icons = {"icons": [{"src": "https://tracker.example/pixel.png"}], "_meta": {"x": 1}, "execution": {}}
    manifest = made(**icons, more="x", title=None)
    assert manifest.outside is not None
    assert manifest.outside.definition == {name: value for name, value in ISSUE.items() if name != "title"}
    assert (manifest.outside.server, manifest.outside.tool) == ("github", "create_issue")
    assert (manifest.uri, manifest.name) == (
        "matrix://tool/mcp-github/create_issue@1.0.0",
        "github:create_issue",
    )
    assert manifest.args == ISSUE["inputSchema"]
    assert manifest.output == OUTPUT
    assert manifest.meaning == {"server": "github", "definition": manifest.outside.definition}


def test_the_pin_is_that_of_server_and_definition_whoever_is_trusted() -> None:
    assert made(trusted=True).pin == made(trusted=False).pin
    assert made(icons=[1]).pin == made().pin
    assert manifest_of("gitlab", ISSUE, trusted=True).pin != made().pin
    for field, value in [
        ("title", "Other"),
        ("description", "Creates an issue!"),
        ("inputSchema", {"type": "object"}),
        ("outputSchema", {"type": "object"}),
        ("annotations", {"readOnlyHint": True}),
    ]:
        assert made(**{field: value}).pin != made().pin
        assert made(**{field: value}).uri == made().uri


def test_a_tool_without_a_description_is_named_and_a_long_one_is_cut_where_it_is_shown() -> None:
    for nothing_said in (None, "", "  \n"):
        assert made(description=nothing_said, title=None).description == "create_issue of github"
        assert made(description=nothing_said).description == "Create an issue"
    long = made(description="x" * 5000)
    assert len(long.description) == 1000
    assert long.outside is not None
    assert long.outside.definition["description"] == "x" * 5000


@pytest.mark.parametrize(
    "more",
    [
        {"name": None},
        {"name": ""},
        {"name": 5},
        {"name": "a" * 129},
        {"name": "a\u200bb"},
        {"name": " a"},
        {"name": "\ud800"},
        {"title": 5},
        {"description": ["x"]},
        {"description": "\ud800"},
        {"inputSchema": None},
        {"inputSchema": True},
        {"inputSchema": []},
        {"inputSchema": {"type": "array"}},
        {"inputSchema": {"type": ["object"]}},
        {"inputSchema": {"type": "object", "properties": []}},
        {"inputSchema": {"type": "object", "required": "a"}},
        {"inputSchema": {"type": "object", "required": [1]}},
        {"inputSchema": {"type": "object", "x": float("nan")}},
        {"inputSchema": {"type": "object", "x": {1, 2}}},
        {"inputSchema": {"type": "object", "x": "y" * (256 << 10)}},
        {"outputSchema": 5},
        {"outputSchema": {"type": "string"}},
        {"annotations": []},
        {"annotations": {"readOnlyHint": "yes"}},
        {"annotations": {"destructiveHint": 0}},
        {"annotations": {"idempotentHint": []}},
        {"annotations": {"openWorldHint": "false"}},
        {"annotations": {"title": 5}},
    ],
)
def test_what_is_no_definition_of_a_tool_is_refused(more: dict[str, Any]) -> None:
    for trusted in (True, False):
        with pytest.raises(McpError) as raised:
            made(trusted, **more)
        assert raised.value.code == "BAD_DEFINITION"
        assert len(raised.value.message) < 300
        assert raised.value.place.isprintable()


@pytest.mark.parametrize("server", ["mcl", "", "GitHub", "git hub", "a" * 33])
def test_a_server_that_could_not_be_entered_under_its_name_has_no_tools(server: str) -> None:
    with pytest.raises(McpError) as raised:
        manifest_of(server, ISSUE, trusted=True)
    assert raised.value.code == "BAD_DEFINITION"


def test_a_definition_that_is_too_deep_is_refused_before_anything_walks_it() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"properties": {"a": deep}}
    with pytest.raises(McpError, match="levels"):
        made(inputSchema={"type": "object", **deep})


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=6),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=4), below, max_size=3),
    max_leaves=10,
)
FIELDS = st.sampled_from(
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "icons"]
)
HINTS = st.dictionaries(
    st.sampled_from(["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"]),
    st.none() | st.booleans(),
)


@given(st.dictionaries(FIELDS, JUNK | HINTS), st.booleans())
def test_whatever_a_server_lists_it_is_a_tool_or_refused_by_a_code(
    more: dict[str, Any], trusted: bool
) -> None:
    try:
        manifest = made(trusted, **more)
    except McpError as problem:
        assert problem.code == "BAD_DEFINITION"  # noqa: PT017
    else:
        assert manifest.outside is not None
        assert len(manifest.pin) == 64


KEYWORDS = st.sampled_from(
    ["type", "enum", "default", "examples", "minimum", "items", "properties", "required", "$ref"]
)
SCHEMAS = st.recursive(JUNK, lambda below: st.dictionaries(KEYWORDS, below, max_size=4), max_leaves=12)


@given(st.dictionaries(st.sampled_from(["a", "path"]), SCHEMAS), SCHEMAS)
def test_an_example_is_made_for_whatever_a_stranger_calls_a_schema(
    properties: dict[str, Any], one: Any
) -> None:
    schema = {
        "type": "object",
        "properties": properties,
        "required": ["a", "path", "z"],
        "$defs": {"one": one},
    }
    try:
        manifest = made(inputSchema=schema)
    except McpError:
        return
    assert set(example_call(manifest)) == set(sample_args(manifest.args)) == {"a", "path", "z"}


@given(HINTS)
def test_a_server_that_nobody_trusts_never_lowers_what_its_tool_counts_as(
    hints: dict[str, bool | None],
) -> None:
    found = judge(read_hints(hints), trusted=False)
    assert (found.operation, found.effects, found.idempotent) == ("destructive", ("network",), False)
    assert found.annotated == (hints.get("destructiveHint") is True)


@given(HINTS)
def test_what_is_said_to_be_destructive_is_so_whoever_says_it(hints: dict[str, bool | None]) -> None:
    for trusted in (True, False):
        assert (
            judge(read_hints({**hints, "destructiveHint": True}), trusted=trusted).operation == "destructive"
        )


def test_hints_are_read_as_the_protocol_names_them() -> None:
    assert read_hints(None) == read_hints({}) == read_hints({"unknownHint": "x"}) == Hints()
    given_all = {"title": "T", "readOnlyHint": True, "destructiveHint": False, "idempotentHint": True}
    assert read_hints({**given_all, "openWorldHint": False}) == Hints("T", True, False, True, False)


def test_only_a_tool_of_another_server_may_lie_where_these_lie() -> None:
    own = a_manifest_of_our_own()
    with pytest.raises(ValueError, match="tools of other servers"):
        Manifest.model_validate({**own, "uri": "matrix://tool/mcp-github/read@1.0.0"})
    with pytest.raises(ValueError, match="tools of other servers"):
        Manifest.model_validate({**made().model_dump(), "uri": "matrix://tool/fs/write@1.0.0"})


def a_manifest_of_our_own() -> dict[str, Any]:
    found = registry().find("matrix://tool/fs/read@1.0.0")
    assert found is not None
    return found.model_dump()


def test_another_server_gets_the_arguments_as_they_were_given() -> None:
    schema = {"type": "object", "properties": {"count": {"type": "integer", "default": 5}}}
    manifest = made(inputSchema=schema)
    assert manifest.complete({}) == {}
    assert manifest.complete({"count": 2.0, "more": 1}) == {"count": 2.0, "more": 1}


def test_the_answer_of_another_server_has_one_form() -> None:
    checker = Tool(made(), nothing).output
    whole: dict[str, Any] = {
        "content": [{"type": "text", "text": "x"}],
        "structured": {"n": 1},
        "is_error": False,
    }
    for answer in (
        whole,
        {**whole, "structured": None},
        {**whole, "structured": [1]},
        {**whole, "content": []},
    ):
        assert list(checker.iter_errors(answer)) == []
    for answer in ({}, {**whole, "more": 1}, {**whole, "content": None}, {**whole, "is_error": "no"}):
        assert list(checker.iter_errors(answer)) != []


OPEN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "any": {},
        "true": True,
        "text": {"type": "string"},
        "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "either": {"type": ["integer", "boolean"]},
        "label": {"$ref": "#/$defs/Label"},
    },
    "$defs": {"Label": {"type": "object"}},
}


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("any", "5", 5),
        ("any", '"5"', "5"),
        ("any", "hello", "hello"),
        ("any", '{"a": [1]}', {"a": [1]}),
        ("true", "null", None),
        ("unnamed", "[1]", [1]),
        ("text", "5", "5"),
        ("text", "null", "null"),
        ("maybe", "null", None),
        ("maybe", "5", "5"),
        ("maybe", '"5"', "5"),
        ("maybe", "[1]", "[1]"),
        ("either", "true", True),
        ("either", "7", 7),
        ("either", "x", "x"),
        ("label", '{"name": "office"}', {"name": "office"}),
        ("any", "${n1.output.text}", "5"),
        ("any", '{"a": "${n1.output.text}"}', {"a": "5"}),
        ("maybe", "see ${n1.output.text}", "see 5"),
        ("any", "$${n1}", "${n1}"),
    ],
)
def test_a_plans_text_for_an_argument_of_an_open_type_is_json_where_that_can_be(
    name: str, text: str, value: object
) -> None:
    manifest = made(inputSchema=OPEN)
    found = typed_args({name: text}, manifest, {"n1": {"text": "5"}})
    assert found == {name: value}
    assert type(found[name]) is type(value)
