"""Texts to pieces, as the model that is exported reads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from mcl.model import form
from training.base import MINILM, base_of
from training.unigram import BEGIN, END, UnigramVocabulary

MOST_PIECES = 256
VOCABULARY = "vocabulary.json"
"""In the folder of a base whose vocabulary is cut: what is kept of it (training/vocabulary.py)."""
_CLS, _SEP = 101, 102


class Pieces:
    """Units to pieces, each by itself: the pieces of a text are those of its units in a row.

    begin, end: what stands around a text; tokens: the pieces of a unit with a blank before it or none.
    """

    def __init__(self, begin: int, end: int, tokens: Callable[[str], list[int]]) -> None:
        self._begin, self._end, self._tokens = begin, end, tokens
        self._units: dict[str, list[int]] = {}

    def of_units(self, units: list[str]) -> tuple[list[int], list[int]]:
        """Pieces with begin and end around them, and of each piece the index of its unit (-1: none). units:
        as form.spaced gives them."""
        ids, places = [self._begin], [-1]
        for place, unit in enumerate(units):
            pieces = self._pieces(unit)
            if len(ids) + len(pieces) >= MOST_PIECES:
                break
            ids += pieces
            places += [place] * len(pieces)
        return [*ids, self._end], [*places, -1]

    def of_text(self, text: str) -> list[int]:
        """Pieces of a name, hint or description."""
        return self.of_units(form.spaced(form.words(text)))[0]

    def _pieces(self, unit: str) -> list[int]:
        known = self._units.get(unit)
        if known is None:
            known = self._units[unit] = self._tokens(unit)[: form.UNIT_PIECES]
        return known


def pieces_of(package: Path) -> Pieces:
    """Those of a base. package: the folder that it was unpacked in."""
    if base_of(package) is not MINILM:
        return Pieces(BEGIN, END, UnigramVocabulary.load(package / VOCABULARY).tokens)
    from tokenizers import Tokenizer

    tokenizer: Tokenizer = Tokenizer.from_file(str(next(package.rglob("tokenizer.json"))))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return Pieces(_CLS, _SEP, lambda unit: list(tokenizer.encode(unit, add_special_tokens=False).ids))
