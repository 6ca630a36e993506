"""Typed functions with a call each: declared arguments, values of their types, texts from the sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from training.written import FOLDER

FUNCTIONS = FOLDER / "development" / "functions.jsonl"
FORMS = {
    "integer": r"-?\d+", "number": r"-?\d+(\.\d+)?", "boolean": r"True|False", "date": r"\d{4}-\d\d-\d\d",
    "time": r"\d\d:\d\d", "duration": r"P.+", "url": r"\S+\.\S+", "email": r"\S+@\S+",
}  # fmt: skip


def values(function: Mapping[str, Any]) -> Iterator[tuple[str, object, Mapping[str, Any]]]:
    """Kind, value and declaration of each argument of the call; those of a list one by one."""
    for name, value in function["call"].items():
        told = function["arguments"][name]
        for one in value if told["type"] == "list" else [value]:
            yield told.get("of", told["type"]), one, told


def test_every_call_is_what_its_function_declares_and_its_sentence_says() -> None:
    functions = [json.loads(line) for line in FUNCTIONS.read_text(encoding="utf-8").splitlines()]
    assert len(functions) == 200
    assert len({one["name"] for one in functions}) == len({one["said"] for one in functions}) == 200
    for function in functions:
        assert set(function["required"]) <= set(function["call"]) <= set(function["arguments"])
        for kind, value, told in values(function):
            if kind == "enum":
                assert value in told["options"], function["name"]
            elif kind == "money":
                assert isinstance(value, dict)
                assert re.fullmatch(r"[A-Z]{3}", value["currency"]), function["name"]
            elif kind == "string":
                assert str(value).casefold() in function["said"].casefold(), function["name"]
            else:
                assert re.fullmatch(FORMS[kind], str(value)), (function["name"], value)
