"""A text that a model writes under a grammar of the one who asks."""

import json
from dataclasses import dataclass
from typing import Protocol, runtime_checkable


def literal(text: str) -> str:
    """`text` as a literal of llguidance's Lark: as in JSON, and with DEL escaped too."""
    return json.dumps(text).replace("\x7f", "\\u007f")


@dataclass(frozen=True)
class Request:
    """What is to be written. grammar: an id of `grammars`; rules: what this request adds to it.

    system, fixed: the same for many requests; user: this one's. most: tokens of the longest answer that the
    grammar allows; where it counts none, its bytes: no token has less than one.
    """

    grammar: str
    rules: str
    system: str
    fixed: str
    user: str
    most: int


@dataclass(frozen=True)
class Written:
    """text: what was written. parts: of each token the bytes, and its probability over what was allowed."""

    text: str
    parts: tuple[tuple[bytes, float], ...]

    def probability(self, start: int, end: int) -> float:
        """Of the bytes from `start` to `end` (exclusive): the product over the tokens that touch them."""
        product, at = 1.0, 0
        for piece, chance in self.parts:
            if at < end and at + len(piece) > start:
                product *= chance
            at += len(piece)
        return product


@runtime_checkable
class Writer(Protocol):
    """A model that can write under a grammar."""

    def write(self, request: Request) -> Written:
        """Write what is asked for. Raises ModelError MODEL_CONTEXT where it does not fit."""
        ...
