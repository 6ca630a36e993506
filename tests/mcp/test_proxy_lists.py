"""What is passed on of the lists of strangers."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.types import Prompt, Resource, ResourceTemplate

from executor.sandbox.redaction import Redactor
from mcl.plugins.mcp.proxy.lists import fitting, parse_prompt, parse_uri

MODELS = {
    "resources": (Resource, "uri"),
    "templates": (ResourceTemplate, "uriTemplate"),
    "prompts": (Prompt, "name"),
}
NOBODY = Redactor({})
KEYS = st.sampled_from(
    [
        "uri",
        "uriTemplate",
        "name",
        "title",
        "description",
        "mimeType",
        "size",
        "annotations",
        "arguments",
        "icons",
        "_meta",
    ]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(KEYS | st.just("audience"), inner, max_size=4)
    ),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(KEYS, JSON), max_size=6), st.sampled_from(sorted(MODELS)))
def test_whatever_a_server_lists_what_is_told_is_of_the_protocol(
    items: list[dict[str, Any]], kind: Any
) -> None:
    model, key = MODELS[kind]
    told, broken = fitting("notes", kind, items, NOBODY)
    assert len(told) + broken == len(items)
    for own, item in told.items():
        model.model_validate(item, by_name=False)
        assert (parse_prompt if kind == "prompts" else parse_uri)(item[key]) == ("notes", own)
        assert not {"icons", "_meta"} & item.keys()


@pytest.mark.parametrize(
    "item",
    [
        {"name": "no address"},
        {"uri": "notes://\u202eevil", "name": "hidden"},
        {"uri": "notes://x\x1b[2J", "name": "control"},
        {"uri": "postgres://ada:secretword@db/x", "name": "a secret"},
        {"uri": "notes://x", "name": 7},
        {"uri": "notes://x", "name": "large", "annotations": {"audience": ["user"], "x": "y" * 70_000}},
        {"uri": "x" * 9_000, "name": "long"},
    ],
)
def test_what_cannot_be_told_is_counted(item: dict[str, Any]) -> None:
    good = {"uri": "notes://good", "name": "good"}
    told, broken = fitting("notes", "resources", [item, good, good], NOBODY)
    assert list(told) == ["notes://good"]
    assert broken == 2


def test_what_is_told_hides_nothing_and_gives_nothing_away() -> None:
    token = "ghp_" + "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7aB3dE6gH9"
    item = {
        "name": "p",
        "description": f"use {token}\u200b \U000e0041",
        "arguments": [{"name": "a", "description": "\x1b[2J"}],
    }
    told, _ = fitting("notes", "prompts", [item], NOBODY)
    said = told["p"]
    assert token not in said["description"]
    assert said["description"].isascii()
    assert said["arguments"][0]["description"] == "\\x1b[2J"
