"""The house: no circles of rooms or modules, and a class name means one thing."""

from __future__ import annotations

import ast
from typing import Any

import pytest

from benchmarks.house import ROOT, figures, measured


@pytest.fixture(scope="module")
def house() -> dict[str, Any]:
    return figures(measured())


@pytest.mark.parametrize("kind", ["circles", "module_circles"])
def test_nothing_stands_in_a_circle(house: dict[str, Any], kind: str) -> None:
    assert house[kind] == []


def test_a_class_name_stands_in_one_room(house: dict[str, Any]) -> None:
    assert house["names"] == {}


def test_the_glossary_has_at_most_sixty_words() -> None:
    rows = [line for line in (ROOT / "docs/glossary.md").read_text().splitlines() if line.startswith("| ")]
    words = [row for row in rows if not row.startswith("| word |")]
    assert 40 <= len(words) <= 60
    assert len({row.split("|")[1] for row in words}) == len(words)


def test_each_room_says_what_it_is_for_and_what_it_may_touch() -> None:
    rooms = [
        one for under in ("executor", "mcl", "mcl/plugins") for one in (ROOT / under).glob("*/__init__.py")
    ]
    said = {str(one.parent): ast.get_docstring(ast.parse(one.read_text())) or "" for one in rooms}
    assert len(said) > 20
    assert [room for room, text in said.items() if len(text.splitlines()) < 3] == []
