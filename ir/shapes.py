"""The shapes of values in a body: each a function that takes a decoded value and gives it back typed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from ir.errors import EnvelopeError
from ir.scalars import DIGEST_PATTERN, MAX_INTEGER, FrozenMap, is_instant

Shape: TypeAlias = Callable[[Any, str], Any]
_DIGEST: Final = re.compile(DIGEST_PATTERN)


def flaw(place: str, message: str) -> EnvelopeError:
    """A BODY_SHAPE error at this place."""
    return EnvelopeError("BODY_SHAPE", message, place=place)


def _shape(kind: type, what: str, test: Callable[[Any], bool] = lambda _: True) -> Shape:
    def check(value: Any, place: str) -> Any:
        if type(value) is not kind or not test(value):
            raise flaw(place, f"is not {what}")
        return value

    return check


TEXT: Final = _shape(str, "text")
NAME: Final = _shape(str, "text that is not empty", bool)
INSTANT: Final = _shape(str, "a moment in UTC such as 2026-11-21T10:00:00.000Z", is_instant)
DIGEST: Final = _shape(str, "64 lowercase hex digits", lambda text: _DIGEST.fullmatch(text) is not None)
NATURAL: Final = _shape(int, "an integer from 0 to 2^53", lambda number: 0 <= number <= MAX_INTEGER)
FLAG: Final = _shape(bool, "true or false")
DATA: Final = _shape(bytes, "bytes that are not empty", bool)


def data_or_text(value: Any, place: str) -> bytes | str:
    """Bytes; in rows of old journals text, given back as it was read."""
    if type(value) is not bytes and type(value) is not str:
        raise flaw(place, "is not bytes")
    return value


def one_of(words: tuple[str, ...]) -> Shape:
    """The shape of a closed set of words."""
    return _shape(str, f"one of {', '.join(words)}", words.__contains__)


def texts(value: Any, place: str) -> tuple[str, ...]:
    """A list of texts."""
    if type(value) is not list or not all(type(item) is str for item in value):
        raise flaw(place, "is not a list of texts")
    return tuple(value)


def text_map(value: Any, place: str) -> FrozenMap:
    """A map from text to text."""
    if not isinstance(value, dict) or not all(type(k) is str and type(v) is str for k, v in value.items()):
        raise flaw(place, "is not a map from text to text")
    return FrozenMap(value)
