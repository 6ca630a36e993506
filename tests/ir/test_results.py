"""How a value becomes JSON: by the fields of a dataclass, and never by chance."""

import json
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar

import pytest

from ir import DocumentError, Frame
from ir.results import UNTOLD, WHERE_SAID, JsonResult, as_json, called, fields_json


class Colour(Enum):
    RED = "red"


@dataclass(frozen=True, slots=True)
class Part:
    seen: frozenset[str]
    digest: bytes


@dataclass(frozen=True, slots=True)
class Found(JsonResult):
    node_id: str = field(metadata=called("node"))
    place: Path
    colour: Colour
    parts: tuple[Part, ...] = ()
    secret: str = field(default="", metadata=UNTOLD)
    example: str = field(default="", metadata=WHERE_SAID)


FOUND = Found("n1", Path("a/b"), Colour.RED, (Part(frozenset("ba"), b"\x01"),), "never told")


def test_a_result_is_told_by_its_fields_in_their_order() -> None:
    said = {"node": "n1", "place": "a/b", "colour": "red", "parts": [{"seen": ["a", "b"], "digest": "01"}]}
    assert json.dumps(FOUND.to_json()) == json.dumps(said)
    assert Found("n1", Path("a"), Colour.RED, example="such").to_json()["example"] == "such"


def test_a_result_that_lists_what_it_tells_is_told_by_its_list() -> None:
    @dataclass(frozen=True, slots=True)
    class Report(JsonResult):
        JSON: ClassVar = "ok place=found.place flaws fix"
        found: Found
        flaws: tuple[str, ...] = ()
        fix: str = field(default="", metadata=WHERE_SAID)

        @property
        def ok(self) -> bool:
            return not self.flaws

    assert json.dumps(Report(FOUND).to_json()) == '{"ok": true, "place": "a/b", "flaws": []}'
    assert Report(FOUND, fix="such").to_json()["fix"] == "such"


def test_values_within_others_are_told_alike() -> None:
    assert as_json(MappingProxyType({"found": [FOUND, None, 1, 0.5, True]})) == {
        "found": [FOUND.to_json(), None, 1, 0.5, True]
    }
    assert as_json(DocumentError("CODE", "why"))["code"] == "CODE"


def test_what_says_otherwise_of_itself_is_believed() -> None:
    @dataclass(frozen=True)
    class Report:
        flaws: tuple[str, ...]

        def to_json(self) -> dict[str, object]:
            return {"ok": not self.flaws, **fields_json(self)}

    assert as_json([Report(())]) == [{"ok": True, "flaws": []}]


def test_a_signed_document_is_told_in_its_canonical_form() -> None:
    assert as_json(Frame(verb="find")) == {"verb": "find"}


def test_what_is_no_json_is_a_fault() -> None:
    with pytest.raises(TypeError, match="no JSON stands for object"):
        as_json({"a": [object()]})
