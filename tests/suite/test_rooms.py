"""The table of rooms is read as it is meant, and what opposes it only becomes less."""

from __future__ import annotations

from pathlib import Path

import pytest
from grimp import ImportGraph

from tests.suite.rooms import House

MOST = 12  # import lines that may go up; this number only becomes smaller


@pytest.fixture
def house(tmp_path: Path) -> House:
    place = tmp_path / "rooms.toml"
    place.write_text(
        'most = 1\nopposing = ["mcl.core -> mcl.cli.one"]\n'
        '[mcl]\nplugins = ["cli.review"]\ncli = ["cli"]\ncore = ["core"]\n'
    )
    return House.read(place)


@pytest.mark.parametrize(
    ("importer", "imported", "up"),
    [
        ("mcl.cli.one", "mcl.core.two", False),
        ("mcl.core", "mcl.cli.one", True),
        ("mcl.cli.one", "mcl.cli.other", False),
        ("mcl.cli.one", "mcl.plugins.review.cli.three", True),
        ("mcl.plugins.review.cli", "mcl.cli.reviews", False),
        ("mcl.cli.reviews", "mcl.plugins.review.cli", True),
        ("mcl.core", "ir.plan", False),
    ],
)
def test_an_import_goes_up_where_the_room_of_the_imported_stands_above(
    house: House, importer: str, imported: str, up: bool
) -> None:
    graph = ImportGraph()
    for module in (importer, imported):
        graph.add_module(module)
    graph.add_import(importer=importer, imported=imported)
    assert list(house.going_up(graph)) == ([f"{importer} -> {imported}"] if up else [])


def test_a_module_that_is_in_no_room_is_told(house: House) -> None:
    graph = ImportGraph()
    for module in ("mcl", "mcl.core", "mcl.attic", "ir.plan"):
        graph.add_module(module)
    assert list(house.homeless(graph)) == ["mcl.attic"]


def test_what_goes_up_only_becomes_less() -> None:
    house = House.read()
    assert len(house.opposing) == house.most <= MOST
