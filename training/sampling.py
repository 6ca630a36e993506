"""Rows of choices among candidates: goals for one of them, and what none of them takes."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from mcl.model import form
from mcl.model.protocol import Candidate
from mcl.plugins.train.tuner import handwritten
from mcl.plugins.train.tuner.generator.goals import general
from mcl.plugins.train.tuner.generator.shelf import SHIPPED
from mcl.plugins.train.tuner.generator.skills import (
    GENERAL_DESCRIPTIONS,
    OTHERS,
)
from mcl.plugins.train.tuner.rows import (
    THEIR_VERB_WEIGHT,
    VERB_WEIGHT,
    TokenVocabulary,
    TrainingRow,
    choose_body,
    extract_body,
    tokens_of,
)
from mcl.plugins.train.tuner.utterances import CorpusSkill, Utterance
from training.corpora import Corpus
from training.stock import COMMON, Stock, alike

CHOOSE_SOURCES = {
    "clinc": 27, "banking77": 20, "hwu64": 19, "snips": 5, "sgd": 11, "own": 24, "mixed": 4, "written": 44,
}  # fmt: skip
WIDE_SOURCES = {"clinc": 10, "banking77": 6, "hwu64": 8, "snips": 2, "sgd": 5, "own": 8, "written": 61}
"""In rows so long that all candidates have their descriptions and examples, as a compile shows them."""
TAKEN = {
    "delegate-task": {"delegate", "negotiate"}, "schedule-reminder": {"schedule"}, "purchase": {"acquire"},
    "meeting": {"schedule"}, "alert": {"monitor"}, "assign_task": {"delegate"}, "report": {"build"},
    "supplier_deal": {"negotiate"}, "send_message": {"deliver"},
}  # fmt: skip
"""Verbs of which the general skill is not asked where a skill made for them is offered."""
FOUR = ("build", "acquire", "modify", "deliver")
"""Verbs of the general skill as it is shipped; it is also shown with all ten."""
_ANOTHERS = re.compile(
    r"\b(files?|folders?|director|commit|branch|repo|code|csv|tables?|tests?|notes?|calendar|remind|alarm|lists?"
    r"|meeting|appointment|function|web|url|https?|page|task)",
    re.IGNORECASE,
)
"""Words of what may be for a shipped skill after all."""
STRANGERS = {  # whose utterances are surely none of this source's skills
    "clinc": ("own",), "banking77": ("snips", "hwu64", "own"), "hwu64": ("banking77", "own"),
    "snips": ("banking77", "own"), "sgd": ("banking77", "own"), "mixed": ("open",),
    "own": ("clinc", "hwu64", "banking77", "snips"),
}  # fmt: skip


GENERAL_DISPLAYS = (
    "general",
    "any other goal",
    "everything else",
    "other goals",
    "general goal",
    "anything else",
    "other errands",
)


GENERAL_OF_FOUR = (
    "Takes orders, purchases, bookings, projects and changes that no other skill fits; keeps them as a note "
    "when you agree.",
    "orders, purchases, bookings, projects and changes that no other skill fits",
    "to get, make, change or send something that no other skill can",
    "buys, books, builds, changes or sends what no program here can",
    "purchases, bookings, things to be made, changed or sent",
    "orders and projects: get it, make it, change it, deliver it",
)
"""Of a general skill that finds, watches, judges, plans and delegates nothing."""


class Choosing:
    """Draws rows of choices."""

    def __init__(self, stock: Stock) -> None:
        self.stock = stock
        self.ease = 0.0  # 1: few candidates, few refusals; 0: full difficulty (the trainer lowers it)

    def row(self, wide: int = 0) -> TrainingRow:
        """The next row; without bodies where none fitted.

        wide: tokens of a row that shows descriptions and examples, 0 for an ordinary one.
        """
        r, width = self.stock.random, wide or self.stock.width
        sources = WIDE_SOURCES if wide else CHOOSE_SOURCES
        source = r.choices(list(sources), list(sources.values()))[0]
        number = r.choices((16, 8, 0), (40, 20, 40))[0] or r.randint(2, 16)
        if r.random() < self.ease:
            number = r.randint(2, 4)
        pool = (
            [
                k
                for s in ("banking77", "snips", "own", "hwu64")[: r.choice((3, 4))]
                for k in self.stock.catalogue[s]
                if k[1] not in COMMON
            ]
            if source == "mixed"
            else self.stock.catalogue[source]
        )
        keys = self._candidates(pool, min(number, len(pool)))
        if wide and source == "written":  # the shelf as it is installed
            keys = r.sample(pool, r.choice((7, len(pool))))
        with_general = source in ("own", "written") and r.random() < (0.9 if wide else 0.75)
        four = with_general and r.random() < 0.7
        if with_general:
            keys = [*keys[: form.MAX_CANDIDATES - 1], ("own", "general")]
        r.shuffle(keys)
        style, examples = r.random(), len(keys) <= 8 and r.random() < 0.3
        if wide:
            style, examples = r.uniform(0.4, 1), len(keys) <= 8 or source != "written" or r.random() < 0.3
        candidates = [self._candidate(self.stock.skills[k], style, examples, four) for k in keys]
        row = TrainingRow(tokens_of(form.choose_header(candidates), self.stock.vocabulary))
        while len(row.header) > width * (0.8 if wide else 0.6) and len(keys) > 2:  # keep room for bodies
            del keys[-1], candidates[-1]
            row = TrainingRow(tokens_of(form.choose_header(candidates), self.stock.vocabulary))
        with_general = ("own", "general") in keys
        for _ in range(60):
            text, answer, verb = self._choice(source, pool, keys, with_general, four)
            weight = VERB_WEIGHT if source in ("own", "written") else THEIR_VERB_WEIGHT
            body = choose_body(
                text, answer, verb, candidates, self.stock.vocabulary, self.stock.variation, weight
            )
            if not row.fits(body, width):
                break
            row.add(body)
        return row

    def _candidates(self, pool: list[tuple[str, str]], wide: int) -> list[tuple[str, str]]:
        r = self.stock.random
        keys: dict[tuple[str, str], None] = {}
        for _ in range(4 * wide):
            anchor = r.choice(pool)
            group = [anchor]
            if r.random() < 0.6:
                near = [k for k in self.stock.near[anchor] if k in pool]
                group += r.sample(near, min(len(near), r.randint(1, 4)))
            for key in group:
                apart = key[0] in ("sgd", "own")  # the shipped skills are always offered together
                if key not in keys and not (apart and any(alike(key, other) for other in keys)):
                    keys[key] = None
            if len(keys) >= wide:
                break
        return list(keys)[:wide]

    def _candidate(self, skill: CorpusSkill, style: float, examples: bool, four: bool) -> Candidate:
        r = self.stock.random
        name, description = form.plain(skill.name), skill.description
        if skill.source in ("own", "written"):
            variant = self.stock.variation.shown(skill).shown
            description = variant.description
            if skill.name == "general":
                name = r.choice(GENERAL_DISPLAYS)
                description = r.choice(GENERAL_OF_FOUR if four else GENERAL_DESCRIPTIONS)
                style = max(style, 0.45) if four else style
        if style < 0.25:
            description = ""
        elif style < 0.45:
            name = description
            description = ""
        shown: tuple[str, ...] = ()
        if examples:
            key = (skill.source, skill.name)
            known = self.stock.opening.get(key) or self.stock.written.get(key)
            if skill.name == "general" and four and known:
                known = [u for u in known if u.verb in FOUR]
            elif skill.name == "general" and r.random() < 0.5:
                known = None
            shown = (
                tuple(u.text for u in r.sample(known, 2))
                if known
                else tuple(self.stock.own(skill.name).text for _ in range(2))
            )
        return Candidate(skill.name, name, description, skill.verbs, shown)

    def _said(
        self, source: str, key: tuple[str, str], offered: Sequence[tuple[str, str]], four: bool
    ) -> Utterance:
        """Something said for a skill; of the general one nothing that an offered skill was made for."""
        if key == ("own", "general"):
            taken = {verb for _, name in offered for verb in TAKEN.get(name, ())}
            return self._general_but(taken | (set(form.VERBS) - set(FOUR) if four else set()), source)
        if source == "written":
            return self.stock.variation.written(self.stock.random.choice(self.stock.written[key]))
        if key[0] == "own":
            return self.stock.own(key[1])
        return self.stock.variation.utterance(self.stock.random.choice(self.stock.opening[key]))

    def _nobodys(self, offered: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """What none of the offered skills takes, where no general one is offered, and its verb."""
        k = self.stock.random.random()
        if k < 0.4:
            return self.stock.random.choice(self.stock.written[handwritten.NOBODY]).text, ""
        if k < 0.7:
            taken = {verb for _, name in offered for verb in TAKEN.get(name, ())} | {"find"}
            utterance = self._general_but(taken, "written")
            return utterance.text, utterance.verb
        return self.stock.random.choice(self.stock.talk), ""

    def _beside_four(self, offered: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """What neither the offered skills take nor a general one of four verbs, and its verb."""
        r, k = self.stock.random, self.stock.random.random()
        if k < 0.25:
            return r.choice(self.stock.written[handwritten.NOBODY]).text, ""
        if k < 0.35:
            return r.choice(self.stock.talk), ""
        taken = {verb for _, name in offered for verb in TAKEN.get(name, ())} | set(FOUR)
        while True:
            utterance = (
                self._general_but(taken, "written" if r.random() < 0.8 else "own")
                if k < 0.85
                else r.choice(self.stock.opening[r.choice(self.stock.catalogue[r.choice(STRANGERS["own"])])])
            )
            if utterance.verb not in taken and not _ANOTHERS.search(utterance.text):
                return utterance.text, utterance.verb

    def _general_but(self, taken: Collection[str], source: str) -> Utterance:
        """A goal for the general skill with none of these verbs, written or generated."""
        while True:
            utterance = (
                self.stock.variation.written(self.stock.random.choice(self.stock.written["own", "general"]))
                if source == "written"
                else self.stock.own("general")
            )
            if utterance.verb not in taken:
                return utterance

    def _choice(
        self,
        source: str,
        pool: Sequence[tuple[str, str]],
        keys: Sequence[tuple[str, str]],
        with_general: bool,
        four: bool,
    ) -> tuple[str, str, str]:
        """(text, answer, verb)."""
        r = self.stock.random
        if r.random() < 0.72 + 0.2 * self.ease:
            at = r.randrange(len(keys))
            if with_general and r.random() < 0.3:
                at = keys.index(("own", "general"))
            key = keys[at]
            if key == ("own", "general") and r.random() < 0.15 and source == "own" and not four:
                return r.choice(self.stock.requests), f"c{at}", ""
            utterance = self._said(source, key, keys, four)
            return utterance.text, f"c{at}", utterance.verb
        if with_general and four and r.random() < 0.7:
            text, verb = self._beside_four(keys)
            return text, "none", verb
        kind = r.random()
        if kind < 0.5 and len(pool) > len(keys) + 1:  # a skill of the same catalogue that is not offered
            key = r.choice(pool)
            if r.random() < 0.5:
                key = r.choice(
                    self.stock.near[r.choice([k for k in keys if k[1] != "general"])] or list(pool)
                )
            if any(alike(key, other) for other in keys):
                pass
            elif key not in keys and key[0] not in ("own", "written"):
                utterance = r.choice(self.stock.opening[key])
                return utterance.text, "none", utterance.verb
            elif key not in keys:
                utterance = self._said(source, key, keys, four)
                taken = with_general and (not four or utterance.verb in FOUR)
                return (
                    utterance.text,
                    f"c{keys.index(('own', 'general'))}" if taken else "none",
                    utterance.verb,
                )
        if with_general:  # beside a skill for any goal only small talk is nobody's
            return r.choice(self.stock.talk), "none", ""
        if source == "clinc" or (kind > 0.9 and source in ("own", "snips")):
            return r.choice(self.stock.outside), "none", ""
        if source == "written":
            text, verb = self._nobodys(keys)
            return text, "none", verb
        stranger = r.choice((*STRANGERS[source], "open"))
        if stranger == "open":
            return r.choice(self.stock.texts), "none", ""
        utterance = self._stranger(stranger)
        while source == "own" and _ANOTHERS.search(utterance.text):
            utterance = self._stranger(stranger)
        return utterance.text, "none", utterance.verb

    def _stranger(self, source: str) -> Utterance:
        """What is said for a skill of another source."""
        r = self.stock.random
        if source != "own":
            return r.choice(self.stock.opening[r.choice(self.stock.catalogue[source])])
        names = [name for _, name in self.stock.catalogue["own"] if name not in COMMON]
        return self.stock.own(r.choice(names)) if r.random() < 0.6 else general(r)


# ---- Rows of extractions: goals of one skill under its form, in one of the ways that it may be shown.

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

    def row(self) -> TrainingRow:
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
        row = TrainingRow(tokens_of(form.extract_header(variant.shown), self.stock.vocabulary))
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


CHOOSE_SHARE = 0.38


class Sampler:
    """Draws rows. Everything random comes from one seed."""

    def __init__(
        self, corpus: Corpus, texts: Sequence[str], vocabulary: TokenVocabulary, seed: int, width: int
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

    def row(self) -> TrainingRow:
        """The next row."""
        while True:
            row = self._choosing.row() if self.random.random() < CHOOSE_SHARE else self._extracting.row()
            if row.bodies:
                return row

    def wide_row(self, width: int) -> TrainingRow:
        """A row of more tokens: a choice among many skills with their descriptions, or some with examples."""
        while True:
            row = self._choosing.row(width)
            if row.bodies:
                return row
