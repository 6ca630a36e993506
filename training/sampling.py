"""Endless rows for training: choices among candidates and extractions, drawn from corpora and generator."""

from __future__ import annotations

from collections.abc import Sequence

from mcl.plugins.train.tuner.corpora import Corpus
from mcl.plugins.train.tuner.rows import Row
from mcl.plugins.train.tuner.vocabulary import Vocabulary
from training.choosing import Choosing
from training.extracting import Extracting
from training.stock import Stock

CHOOSE_SHARE = 0.38


class Sampler:
    """Draws rows. Everything random comes from one seed."""

    def __init__(
        self, corpus: Corpus, texts: Sequence[str], vocabulary: Vocabulary, seed: int, width: int
    ) -> None:
        """texts: requests without labels. width: tokens of a row."""
        stock = Stock(corpus, texts, vocabulary, seed, width)
        self.vocabulary, self.random = vocabulary, stock.random
        self._choosing, self._extracting = Choosing(stock), Extracting(stock)

    @property
    def ease(self) -> float:
        """1: few candidates, few refusals; 0: full difficulty (the trainer lowers it)."""
        return self._choosing.ease

    @ease.setter
    def ease(self, ease: float) -> None:
        self._choosing.ease = ease

    def row(self) -> Row:
        """The next row."""
        while True:
            row = self._choosing.row() if self.random.random() < CHOOSE_SHARE else self._extracting.row()
            if row.bodies:
                return row

    def wide_row(self, width: int) -> Row:
        """A row of more tokens: a choice among many skills with their descriptions, or some with examples."""
        while True:
            row = self._choosing.row(width)
            if row.bodies:
                return row
