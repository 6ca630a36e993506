"""The tree as JSON for programs, and as a short form for the cache; both for any depth of blocks."""

import json

import pytest
from hypothesis import given, settings
from mtx_writing import EXAMPLE, files

from mcl.language.mtx.ast import AnyUnknown, File, Node, On, Section
from mcl.language.mtx.codec import packed, tree_json, tree_text, unpacked
from mcl.language.mtx.parser import parse


def deep(levels: int) -> File:
    body: tuple[On, ...] = ()
    for _ in range(levels):
        body = (On(AnyUnknown(), body),)
    return File((Section("PROCEDURE", body),))


def test_the_tree_of_a_file_names_kind_line_and_column_of_each_node() -> None:
    tree = tree_json(parse(EXAMPLE.encode()).file)
    assert list(tree) == ["node", "line", "column", "sections"]
    assert [section["name"] for section in tree["sections"]][:2] == ["SKILL", "INPUTS"]
    slot = tree["sections"][1]["entries"][1]
    assert slot == {
        "node": "Slot",
        "line": 15,
        "column": 6,
        "name": "cabin",
        "type": {
            "node": "SlotType",
            "line": 15,
            "column": 18,
            "name": "enum",
            "members": ["economy", "premium", "business"],
            "many": False,
        },
        "optional": True,
        "default": {"node": "Text", "line": 17, "column": 11, "value": "economy"},
        "hint": None,
        "max": None,
    }


@given(files())
@settings(max_examples=40, deadline=None)
def test_the_text_of_a_tree_is_what_json_would_write(file: File) -> None:
    assert tree_text(file) == json.dumps(tree_json(file), indent=2, ensure_ascii=False)
    assert tree_text(file, places=False) == json.dumps(
        tree_json(file, places=False), indent=2, ensure_ascii=False
    )


@given(files())
@settings(max_examples=40, deadline=None)
def test_a_tree_survives_the_short_form_through_json(file: File) -> None:
    again = unpacked(json.loads(json.dumps(packed(file))))
    assert again == file
    assert tree_json(again) == tree_json(file)
    assert eval(repr(file), vars(__import__("mcl.language.mtx.ast", fromlist=["File"]))) == file


def test_a_thousand_nested_blocks_can_be_written_compared_kept_and_shown() -> None:
    file = deep(1000)
    again = unpacked(json.loads(json.dumps(packed(file))))
    assert again == file
    assert again != deep(999)
    assert hash(again) == hash(file)
    assert repr(file).count("On(") == 1000
    assert tree_text(file, indent=0).count('"node": "On"') == 1000


@pytest.mark.parametrize(
    "value",
    [
        ["Section", 1, 1],
        ["File", 1],
        ["File", 1, 1, ["Section", 1, 1, "PROCEDURE", [None, ["On", 1, 1, ["AnyUnknown", 1, 1], 2]]]],
        ["File", 1, 1, ["Section", 1, 1, "SKILL"]],
        ["File", 1, 1, ["Nothing", 1, 1]],
        ["File", 1, 1, []],
        7,
        None,
    ],
)
def test_another_value_is_refused_as_a_short_form(value: object) -> None:
    with pytest.raises((LookupError, TypeError, ValueError)):
        unpacked(value)


def test_nodes_of_other_kinds_are_never_equal() -> None:
    assert Node() != File()
    assert File() != 1
