"""Rows of extractions: goals of one skill under its form, in one of the ways that it may be shown."""

from __future__ import annotations

from mcl.model import form
from mcl.plugins.train.tuner.bodies import extract_body
from mcl.plugins.train.tuner.generator.shelf import SHIPPED
from mcl.plugins.train.tuner.generator.skills import OTHERS
from mcl.plugins.train.tuner.rows import Row, tokens_of
from training.stock import Stock

EXTRACT_SOURCES = {
    "snips": 16, "hwu64": 15, "restaurant8k": 10, "sgd": 24, "families": 14, "general": 20, "written": 36,
}  # fmt: skip
WRITTEN_GENERAL = 0.6
"""Share of goals for the general skill among the written ones that values are read from."""
SHIPPED_WEIGHT = 1.5
"""How much more often a shipped skill of the generator is drawn than another one."""


class Extracting:
    """Draws rows of extractions."""

    def __init__(self, stock: Stock) -> None:
        self.stock = stock

    def row(self) -> Row:
        """The next row; without bodies where none fitted."""
        r = self.stock.random
        source = r.choices(list(EXTRACT_SOURCES), list(EXTRACT_SOURCES.values()))[0]
        if source == "families":
            weights = [SHIPPED_WEIGHT] * len(SHIPPED) + [1.0] * len(OTHERS)
            key = ("own", r.choices((*SHIPPED, *OTHERS), weights)[0].name)
        elif source == "general" or (source == "written" and r.random() < WRITTEN_GENERAL):
            key = ("own", "general")
        elif source == "written":
            keys = self.stock.catalogue["written"]
            key = r.choices(keys, [len(self.stock.written[k]) ** 0.6 for k in keys])[0]
        else:
            keys = [k for k in self.stock.by_skill if k[0] == source and self.stock.skills[k].slots]
            key = r.choices(keys, [len(self.stock.by_skill[k]) ** 0.6 for k in keys])[0]
        variant = self.stock.variation.shown(self.stock.skills[key])
        row = Row(tokens_of(form.extract_header(variant.shown), self.stock.vocabulary))
        for _ in range(60):
            if source == "written":
                utterance = self.stock.variation.written(r.choice(self.stock.written[key]))
            elif key[0] == "own":
                utterance = self.stock.own(key[1])
            else:
                utterance = self.stock.variation.utterance(r.choice(self.stock.by_skill[key]))
            body = extract_body(utterance, variant, self.stock.vocabulary, self.stock.variation)
            if body is None:
                continue
            if not row.fits(body, self.stock.width):
                break
            row.add(body)
        return row
