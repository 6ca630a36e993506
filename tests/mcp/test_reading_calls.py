"""The arguments of call_tool_*: read wholly, or refused by the name of what is wrong."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor import Declaration
from executor.gate.guards.call import VARIANTS
from mcl.core.errors import McpError
from mcl.plugins.mcp.call_texts import read_call

NAME = {"name": "github:create_issue"}
TEXTS = st.text(max_size=8)
NUMBERS = st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=5), below, max_size=4),
    max_leaves=12,
)


def code(arguments: dict[str, Any], variant: str = "call_tool_read") -> str:
    """The code that a call is refused with."""
    with pytest.raises(McpError) as raised:
        read_call(variant, arguments)
    assert raised.value.fix
    assert raised.value.example
    assert raised.value.place
    return raised.value.code


@given(st.dictionaries(st.text(max_size=5), JSON, max_size=4), st.sampled_from(list(VARIANTS)))
def test_arguments_come_through_as_an_object_and_as_a_text(args: dict[str, Any], variant: str) -> None:
    whole = read_call(variant, {**NAME, "args": args, "intent": {}})
    assert whole.args == args
    assert whole.args is not args
    text = read_call(variant, {**NAME, "args_json": json.dumps(args), "intent": {}})
    assert json.dumps(text.args) == json.dumps(args)
    assert text.declaration == whole.declaration == Declaration(
        VARIANTS[variant], "unknown", "", variant, True, "github:create_issue"
    )  # fmt: skip


FIELDS = st.sampled_from(
    ["name", "args", "args_json", "intent", "operation_type", "data_sensitivity", "reason", "x"]
)
SAID = st.sampled_from(["read", "write", "", "a:b", "{}", '{"a": 1}', "[1]", "{", "private"])


@given(st.dictionaries(FIELDS, JSON | SAID | st.dictionaries(FIELDS, JSON | SAID, max_size=4), max_size=6))
def test_whatever_is_given_it_is_read_or_refused_by_a_code(arguments: dict[str, Any]) -> None:
    before = json.dumps(arguments)
    try:
        request = read_call("call_tool_write", arguments)
    except McpError as problem:
        assert problem.code in {  # noqa: PT017
            "BAD_TOOL_NAME", "UNKNOWN_ARGUMENT", "ARGS_TWICE", "BAD_ARGS", "BAD_ARGS_JSON", "BAD_INTENT",
            "INTENT_TWICE",
        }  # fmt: skip
        assert len(json.dumps(problem.to_json())) < 3000  # noqa: PT017
    else:
        assert str(request.name) == arguments["name"]
        assert set(arguments) <= {
            "name",
            "args",
            "args_json",
            "intent",
            "operation_type",
            "data_sensitivity",
            "reason",
        }
    assert json.dumps(arguments) == before


def test_an_intent_is_said_in_an_object_or_flat_and_means_the_same() -> None:
    said = {"operation_type": "write", "data_sensitivity": "private", "reason": "Ada asked for it"}
    expected = Declaration(
        "write", "private", "Ada asked for it", "call_tool_write", True, "github:create_issue"
    )
    for arguments in (
        {"intent": said},
        said,
        {"intent": said, **said},
        {"intent": {"operation_type": "write"}, "data_sensitivity": "private", "reason": "Ada asked for it"},
        {"intent": {**said, "reason": None}, "reason": "Ada asked for it"},
    ):
        assert read_call("call_tool_write", {**NAME, **arguments}).declaration == expected


def test_what_is_null_was_not_given() -> None:
    nothing = dict.fromkeys(("args", "args_json", "intent", "operation_type", "data_sensitivity", "reason"))
    request = read_call("call_tool_read", {**NAME, **nothing})
    assert request.args == {}
    assert not request.declaration.given
    assert read_call("call_tool_read", {**NAME, "intent": {"reason": None}}).declaration.given
    assert read_call("call_tool_read", {**NAME, "reason": ""}).declaration.given


def test_an_operation_that_is_left_out_is_the_variants_and_an_empty_one_is_none() -> None:
    for variant, operation in VARIANTS.items():
        assert read_call(variant, {**NAME, "intent": {"reason": "x"}}).declaration.operation_type == operation
        assert read_call(variant, {**NAME, "operation_type": ""}).declaration.operation_type == ""
        assert read_call(variant, {**NAME, "operation_type": None}).declaration.given is False


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"args": {}, "args_json": "{}"}, "ARGS_TWICE"),
        ({"args": {}, "args_json": 5}, "ARGS_TWICE"),
        ({"args": []}, "BAD_ARGS"),
        ({"args": '{"a": 1}'}, "BAD_ARGS"),
        ({"args": 0}, "BAD_ARGS"),
        ({"args": {1: 2}}, "BAD_ARGS"),
        ({"args_json": {"a": 1}}, "BAD_ARGS_JSON"),
        ({"args_json": "{"}, "BAD_ARGS_JSON"),
        ({"args_json": "[]"}, "BAD_ARGS_JSON"),
        ({"args_json": "null"}, "BAD_ARGS_JSON"),
        ({"args_json": '{"a": NaN}'}, "BAD_ARGS_JSON"),
        ({"args_json": '{"a": 1e999}'}, "BAD_ARGS_JSON"),
        ({"args_json": '{"a": 1, "a": 2}'}, "BAD_ARGS_JSON"),
        ({"args_json": '{"a": "\\ud800"}'}, "BAD_ARGS_JSON"),
        ({"args_json": '{"a": ' * 80 + "1" + "}" * 80}, "BAD_ARGS_JSON"),
        ({"args_json": "[" * 100_000}, "BAD_ARGS_JSON"),
        ({"intent": "read"}, "BAD_INTENT"),
        ({"intent": []}, "BAD_INTENT"),
        ({"intent": '{"operation_type": "read"}'}, "BAD_INTENT"),
        ({"intent": {"reason": 5}}, "BAD_INTENT"),
        ({"reason": ["x"]}, "BAD_INTENT"),
        ({"intent": {"why": "x"}}, "UNKNOWN_ARGUMENT"),
        ({"why": "x"}, "UNKNOWN_ARGUMENT"),
        ({"arguments": {"a": 1}}, "UNKNOWN_ARGUMENT"),
        ({"intent": {"operation_type": "read"}, "operation_type": "write"}, "INTENT_TWICE"),
        ({"intent": {"reason": "a"}, "reason": "b"}, "INTENT_TWICE"),
        ({"intent": {"data_sensitivity": "public"}, "data_sensitivity": "private"}, "INTENT_TWICE"),
        ({"name": None}, "BAD_TOOL_NAME"),
        ({"name": "create_issue"}, "BAD_TOOL_NAME"),
    ],
)
def test_what_cannot_be_understood_is_refused_by_a_code_with_an_example(
    more: dict[str, Any], expected: str
) -> None:
    assert code({**NAME, "intent": {}, **more}) == expected


def test_an_empty_text_of_arguments_counts_as_none() -> None:
    assert read_call("call_tool_read", {**NAME, "args_json": ""}).args == {}
    assert read_call("call_tool_read", {**NAME, "args_json": "", "args": {"a": 1}}).args == {"a": 1}


def test_arguments_too_deep_are_refused_before_anything_walks_them() -> None:
    deep: Any = {}
    for _ in range(100_000):
        deep = {"a": deep}
    assert code({**NAME, "args": deep}) == "BAD_ARGS"
    assert code({**NAME, "args": {"a": [[deep]]}}) == "BAD_ARGS"


def test_the_place_in_a_broken_text_is_told() -> None:
    with pytest.raises(McpError) as raised:
        read_call("call_tool_read", {**NAME, "args_json": '{"title": "Printer", "labels": [office]}'})
    assert "1:33" in raised.value.message


MALFORMED: dict[str, dict[str, object]] = {
    "ARGS_TWICE": {"args": {}, "args_json": "{}"},
    "BAD_ARGS": {"args": []},
    "BAD_ARGS_JSON": {"args_json": "{"},
    "BAD_INTENT": {"intent": "to see"},
    "INTENT_TWICE": {"intent": {"reason": "a"}, "reason": "b"},
    "UNKNOWN_ARGUMENT": {"arguments": {}},
    "BAD_TOOL_NAME": {},
}


@pytest.mark.parametrize("wrong", MALFORMED)
@pytest.mark.parametrize("variant", ["call_tool_read", "call_tool_write", "call_tool_destructive"])
def test_a_malformed_call_is_kept_and_told_under_the_tool_that_was_called(variant: str, wrong: str) -> None:
    from types import SimpleNamespace

    import anyio

    from mcl.plugins.mcp.calls import call as make_call
    from mcl.plugins.mcp.upstream.channels import SILENT
    from mcl.serve.exchange import Caller, error_text

    kept: list[Any] = []

    async def keep(entry: Any) -> None:
        kept.append(entry)

    session: Any = SimpleNamespace(activity=SimpleNamespace(keep=keep))
    caller = Caller("tester", "1", "modern", "7", can_elicit=False, channel=SILENT)
    name = "no name" if wrong == "BAD_TOOL_NAME" else "github:get_issue"

    async def whole() -> Any:
        return await make_call(session, variant, {"name": name, **MALFORMED[wrong]}, caller)

    reply = anyio.run(whole)
    (entry,) = kept
    named = variant if wrong == "BAD_TOOL_NAME" else name
    server, tool = ("mcl", variant) if wrong == "BAD_TOOL_NAME" else ("github", "get_issue")
    assert (entry.server, entry.tool, entry.variant, entry.code) == (server, tool, variant, wrong)
    assert error_text(reply, variant).startswith(f"{named} failed: ")


def test_of_what_a_crashed_server_said_the_end_is_told() -> None:
    from executor.sandbox.redaction import Redactor
    from mcl.plugins.mcp.upstream.answers import last_words

    said = (
        "Traceback (most recent call last):\n" + '  File "x.py", line 1, in y\n' * 40 + "AttributeError: no z"
    )
    for words in (said, said[-400:], "AttributeError: no z"):
        told = last_words(words, Redactor({}))
        assert told.endswith("AttributeError: no z")
        assert len(told) <= 401
