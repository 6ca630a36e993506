"""Where a file lies: places.toml. In tests and examples a danger is no danger to who uses the program."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Literal

Place = Literal["product", "tests", "examples"]


def place_of(path: str) -> Place:
    """What a file is for, by its path alone."""
    *folders, name = path.lower().split("/")
    for place, inside, names in _table():
        if any(one in inside for one in folders) or any(fnmatchcase(name, one) for one in names):
            return place
    return "product"


@cache
def _table() -> tuple[tuple[Place, frozenset[str], tuple[str, ...]], ...]:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    places: tuple[Place, ...] = ("tests", "examples")
    return tuple((one, frozenset(table[one]["folders"]), tuple(table[one]["names"])) for one in places)
