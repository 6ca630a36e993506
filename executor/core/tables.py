"""Tables of words and rules, which lie as TOML beside the modules that read them."""

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any


@cache
def table_beside(module: str, name: str = "") -> dict[str, Any]:
    """The table of a module, by its ``__file__``: of its own name, or another in its folder. It is read once,
    and nobody changes it."""
    place = Path(module)
    return tomllib.loads((place.parent / f"{name or place.stem}.toml").read_text(encoding="utf-8"))


def by_word(words_of: Mapping[str, Iterable[str]]) -> dict[str, str]:
    """Of each word what it stands for, of a table that has the words of each thing."""
    return {word: thing for thing, words in words_of.items() for word in words}
