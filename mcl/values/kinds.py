"""Kinds of files: pictures, documents and the like, by what people call them and by their endings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from executor.core.tables import table_beside


@cache
def _kinds() -> Mapping[str, tuple[tuple[str, ...], frozenset[str]]]:
    table = table_beside(__file__)
    return {
        name: (tuple(one["endings"].split()), frozenset(one["words"].split())) for name, one in table.items()
    }


@cache
def _by_ending() -> Mapping[str, str]:
    return {ending: name for name, (endings, _) in _kinds().items() for ending in endings}


def kind_of_ending(ending: str) -> str:
    """The kind of files whose names end so (``.jpg``), "" where it is of none."""
    return _by_ending().get(ending.lower().rpartition(".")[2], "")


def endings_called(word: str) -> tuple[str, ...]:
    """The endings of what people call so ("photos", "bilder"); none where it is no kind."""
    return next((endings for endings, words in _kinds().values() if word in words), ())
