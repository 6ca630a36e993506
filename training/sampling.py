"""Endless rows for training: choices among candidates and extractions, drawn from corpora and generator."""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Sequence

from mcl.model import form
from mcl.model.protocol import Candidate
from training import written
from training.corpora import Corpus, Skill, Utterance
from training.generator.goals import general
from training.generator.skills import (
    FAMILIES,
    GENERAL_DESCRIPTIONS,
    GENERAL_DISPLAYS,
    GENERAL_OF_FOUR,
    SKILLS,
    utter,
)
from training.rows import Body, Row, body_of, tokens_of
from training.variation import Variant, Variation
from training.vocabulary import Vocabulary

CHOOSE_SHARE = 0.38
CHOOSE_SOURCES = {
    "clinc": 27, "banking77": 20, "hwu64": 19, "snips": 5, "sgd": 11, "own": 24, "mixed": 4, "written": 44,
}  # fmt: skip
WIDE_SOURCES = {"clinc": 10, "banking77": 6, "hwu64": 8, "snips": 2, "sgd": 5, "own": 8, "written": 61}
"""In rows so long that all candidates have their descriptions and examples, as a compile shows them."""
EXTRACT_SOURCES = {
    "snips": 16, "hwu64": 15, "restaurant8k": 10, "sgd": 24, "families": 14, "general": 20, "written": 36,
}  # fmt: skip
WRITTEN_GENERAL = 0.6
"""Share of goals for the general skill among the written ones that values are read from."""
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
LIKE = (
    {"files-find", "code-search"}, {"files-find", "files-report"}, {"files-find", "monitor-path"},
    {"repo-status", "repo-branch"},
)  # fmt: skip
"""Skills of written goals of which each would do for some goals of the other."""
STRANGERS = {  # whose utterances are surely none of this source's skills
    "clinc": ("own",), "banking77": ("snips", "hwu64", "own"), "hwu64": ("banking77", "own"),
    "snips": ("banking77", "own"), "sgd": ("banking77", "own"), "mixed": ("open",),
    "own": ("clinc", "hwu64", "banking77", "snips"),
}  # fmt: skip
TAG_WEIGHT, PICK_WEIGHT, OPTION_WEIGHT = 0.3, 1.01, 1.0
VERB_WEIGHT, THEIR_VERB_WEIGHT = 0.6, 0.2
"""Of a goal of our own domain, and of another set's utterance, whose verb is nearly always find or modify."""
_STOP = frozenset(
    [
        "i",
        "a",
        "the",
        "to",
        "my",
        "is",
        "of",
        "for",
        "on",
        "in",
        "me",
        "do",
        "you",
        "what",
        "can",
        "and",
        "it",
        "please",
        "how",
        "that",
        "this",
        "be",
        "have",
        "with",
    ]
)


def tags_of(
    utterance: Utterance, units: Sequence[form.Unit], variant: Variant
) -> tuple[list[str], dict[int, str]] | None:
    """Tags of the units and options of the slots that have some, or None where labels cannot be told so."""
    tags = ["none"] * len(units)
    options: dict[int, str] = {}
    place = {field: i for i, field in enumerate(variant.original) if field}
    first_option = [0]
    for slot in variant.shown.slots:
        first_option.append(first_option[-1] + len(slot.options))
    for mark in utterance.marks:
        at = place.get(mark.field)
        if at is not None and variant.shown.slots[at].options:
            values = [v.lower() for v in variant.shown.slots[at].options]
            wanted = {"true": "yes", "false": "no"}.get(mark.value.lower(), "") if "yes" in values else ""
            wanted = wanted or mark.value.lower()
            if wanted in values:
                options[at] = f"e{first_option[at] + values.index(wanted)}"
            continue
        if mark.start is None or (at is None and mark.field not in form.FIELDS):
            continue
        inside = [
            i for i, unit in enumerate(units) if mark.start <= unit.start and unit.end <= (mark.end or 0)
        ]
        if not inside or units[inside[0]].start != mark.start or units[inside[-1]].end != mark.end:
            return None
        for i in inside:
            tags[i] = "in"
        tags[inside[0]] = mark.field if at is None else f"s{at}"
    return tags, options


def extract_body(
    utterance: Utterance, variant: Variant, vocabulary: Vocabulary, variation: Variation | None
) -> Body | None:
    """The body of one utterance under a form, with answers."""
    units = form.windows(form.words(utterance.text))[0]
    told = tags_of(utterance, units, variant)
    if told is None or not units:
        return None
    tags, options = told
    prompt = form.extract_prompt(utterance.text, units, variant.shown)
    pieces = list(prompt.body)
    if variation is not None:
        pieces = variation.noisy(pieces, tags)
    asked = [i for i, slot in enumerate(variant.shown.slots) if slot.options]
    answers = [*tags, *(options.get(i, "none") for i in asked)]
    weights = [TAG_WEIGHT] * len(tags) + [OPTION_WEIGHT] * len(asked)
    return body_of(
        pieces,
        list(zip(prompt.reads, answers, weights, strict=True)),
        vocabulary,
    )


def choose_body(
    text: str,
    answer: str,
    verb: str,
    candidates: Sequence[Candidate],
    vocabulary: Vocabulary,
    variation: Variation | None,
    verb_weight: float = VERB_WEIGHT,
) -> Body:
    """The body of one choice, with answers (verb "" = unknown)."""
    prompt = form.choose_prompt(text, candidates)
    pieces = list(prompt.body)
    if variation is not None:
        pieces = variation.noisy(pieces, ["none"] * len(pieces))
    pick, verbs = prompt.reads
    reads = [
        (pick, answer, PICK_WEIGHT),
        (verbs, verb or None, verb_weight if verb else 0.0),
    ]
    return body_of(pieces, reads, vocabulary)


def alike(a: tuple[str, str], b: tuple[str, str]) -> bool:
    """Whether two different skills would do for the same goal (Buses_1 and Buses_2 of sgd, those of LIKE)."""
    if a[0] == b[0] == "written" and {a[1], b[1]} in LIKE:
        return True
    if a == b or a[0] != "sgd" or b[0] != "sgd" or a[1].startswith("Services"):
        return False
    return form.plain(a[1]) == form.plain(b[1])


class Sampler:
    """Draws rows. Everything random comes from one seed."""

    def __init__(
        self, corpus: Corpus, texts: Sequence[str], vocabulary: Vocabulary, seed: int, width: int
    ) -> None:
        goals = written.load()
        self.random = random.Random(seed)
        self.ease = 0.0  # 1: few candidates, few refusals; 0: full difficulty (the trainer lowers it)
        self.vocabulary, self.width, self.texts = vocabulary, width, list(texts)
        self.skills: dict[tuple[str, str], Skill] = (
            {k: s for k, s in corpus.skills.items() if s.name != "oos"} | SKILLS | written.skills()
        )
        self.variation = Variation(
            [*corpus.train, *goals], [s for s in self.skills.values() if s.source != "banking77"], self.random
        )
        self.written: dict[tuple[str, str], list[Utterance]] = defaultdict(list)
        for utterance in goals:
            self.written[utterance.skill].append(utterance)
        self.by_skill: dict[tuple[str, str], list[Utterance]] = defaultdict(list)
        self.opening: dict[tuple[str, str], list[Utterance]] = defaultdict(list)
        self.outside = [u.text for u in corpus.train if u.skill == ("clinc", "oos")]
        for utterance in corpus.train:
            if utterance.skill in self.skills:
                self.by_skill[utterance.skill].append(utterance)
                if utterance.opens:
                    self.opening[utterance.skill].append(utterance)
        # Requests to a shell are about files: beside the skill `files` they are not for a general skill.
        self.requests = [text for text in texts if "file" not in text and "director" not in text]
        self.talk = [u.text for u in corpus.train if not u.verb and u.skill[1] != "oos"] + self.outside
        self.talk += [u.text for u in self.written[written.NOBODY]] * 2
        self.catalogue: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for key in self.opening:
            self.catalogue[key[0]].append(key)
        self.catalogue["own"] = [("own", family.name) for family in FAMILIES]
        self.catalogue["written"] = [
            key for key in self.written if key[0] == "written" and key != written.NOBODY
        ]
        self.near = {key: self._neighbours(key) for keys in self.catalogue.values() for key in keys}

    def _neighbours(self, key: tuple[str, str], limit: int = 14) -> list[tuple[str, str]]:
        """Skills of the same source whose utterances share most rare words."""
        if key[0] in ("own", "written"):
            return [k for k in self.catalogue[key[0]] if k != key]
        if not hasattr(self, "_words"):
            self._words = {
                k: Counter(w for u in us[:150] for w in set(u.text.lower().split()) - _STOP)
                for k, us in self.opening.items()
            }
            self._spread = Counter(w for words in self._words.values() for w in words)
        mine = self._words[key]
        scores = {
            other: sum(min(n, words[w]) / self._spread[w] for w, n in mine.items() if w in words)
            for other, words in self._words.items()
            if other[0] == key[0] and other != key
        }
        return sorted(scores, key=scores.__getitem__, reverse=True)[:limit]

    def row(self) -> Row:
        """The next row."""
        while True:
            row = self._choose() if self.random.random() < CHOOSE_SHARE else self._extract()
            if row.bodies:
                return row

    def wide_row(self, width: int) -> Row:
        """A row of more tokens: a choice among many skills with their descriptions, or some with examples."""
        while True:
            row = self._choose(width)
            if row.bodies:
                return row

    # -- choosing ------------------------------------------------------------------------------------------

    def _choose(self, wide: int = 0) -> Row:
        """wide: tokens of a row that shows descriptions and examples, 0 for an ordinary one."""
        r, width = self.random, wide or self.width
        sources = WIDE_SOURCES if wide else CHOOSE_SOURCES
        source = r.choices(list(sources), list(sources.values()))[0]
        number = r.choices((16, 8, 0), (40, 20, 40))[0] or r.randint(2, 16)
        if r.random() < self.ease:
            number = r.randint(2, 4)
        pool = (
            [k for s in ("banking77", "snips", "own", "hwu64")[: r.choice((3, 4))] for k in self.catalogue[s]]
            if source == "mixed"
            else self.catalogue[source]
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
        candidates = [self._candidate(self.skills[k], style, examples, four) for k in keys]
        row = Row(tokens_of(form.choose_header(candidates), self.vocabulary))
        while len(row.header) > width * (0.8 if wide else 0.6) and len(keys) > 2:  # keep room for bodies
            del keys[-1], candidates[-1]
            row = Row(tokens_of(form.choose_header(candidates), self.vocabulary))
        with_general = ("own", "general") in keys
        for _ in range(60):
            text, answer, verb = self._choice(source, pool, keys, with_general, four)
            weight = VERB_WEIGHT if source in ("own", "written") else THEIR_VERB_WEIGHT
            body = choose_body(text, answer, verb, candidates, self.vocabulary, self.variation, weight)
            if not row.fits(body, width):
                break
            row.add(body)
        return row

    def _candidates(self, pool: list[tuple[str, str]], wide: int) -> list[tuple[str, str]]:
        r = self.random
        keys: dict[tuple[str, str], None] = {}
        for _ in range(4 * wide):
            anchor = r.choice(pool)
            group = [anchor]
            if r.random() < 0.6:
                near = [k for k in self.near[anchor] if k in pool]
                group += r.sample(near, min(len(near), r.randint(1, 4)))
            for key in group:
                if key not in keys and not any(key[0] == "sgd" and alike(key, other) for other in keys):
                    keys[key] = None
            if len(keys) >= wide:
                break
        return list(keys)[:wide]

    def _candidate(self, skill: Skill, style: float, examples: bool, four: bool) -> Candidate:
        r = self.random
        name, description = form.plain(skill.name), skill.description
        if skill.source in ("own", "written"):
            variant = self.variation.shown(skill).shown
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
            known = self.opening.get(key) or self.written.get(key)
            if skill.name == "general" and four and known:
                known = [u for u in known if u.verb in FOUR]
            elif skill.name == "general" and r.random() < 0.5:
                known = None
            shown = (
                tuple(u.text for u in r.sample(known, 2))
                if known
                else tuple(self._own(skill.name).text for _ in range(2))
            )
        return Candidate(skill.name, name, description, skill.verbs, shown)

    def _own(self, name: str) -> Utterance:
        if name == "general":
            return self.variation.ruled(general(self.random))
        return utter(next(f for f in FAMILIES if f.name == name), self.random)

    def _said(
        self, source: str, key: tuple[str, str], offered: Sequence[tuple[str, str]], four: bool
    ) -> Utterance:
        """Something said for a skill; of the general one nothing that an offered skill was made for."""
        if key == ("own", "general"):
            taken = {verb for _, name in offered for verb in TAKEN.get(name, ())}
            return self._general_but(taken | (set(form.VERBS) - set(FOUR) if four else set()), source)
        if source == "written":
            return self.variation.written(self.random.choice(self.written[key]))
        if key[0] == "own":
            return self._own(key[1])
        return self.variation.utterance(self.random.choice(self.opening[key]))

    def _nobodys(self, offered: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """What none of the offered skills takes, where no general one is offered, and its verb."""
        k = self.random.random()
        if k < 0.4:
            return self.random.choice(self.written[written.NOBODY]).text, ""
        if k < 0.7:
            taken = {verb for _, name in offered for verb in TAKEN.get(name, ())} | {"find"}
            utterance = self._general_but(taken, "written")
            return utterance.text, utterance.verb
        return self.random.choice(self.talk), ""

    def _beside_four(self, offered: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """What neither the offered skills take nor a general one of four verbs, and its verb."""
        r, k = self.random, self.random.random()
        if k < 0.25:
            return r.choice(self.written[written.NOBODY]).text, ""
        if k < 0.35:
            return r.choice(self.talk), ""
        taken = {verb for _, name in offered for verb in TAKEN.get(name, ())} | set(FOUR)
        while True:
            utterance = (
                self._general_but(taken, "written" if r.random() < 0.8 else "own")
                if k < 0.85
                else r.choice(self.opening[r.choice(self.catalogue[r.choice(STRANGERS["own"])])])
            )
            if utterance.verb not in taken and not _ANOTHERS.search(utterance.text):
                return utterance.text, utterance.verb

    def _general_but(self, taken: Collection[str], source: str) -> Utterance:
        """A goal for the general skill with none of these verbs, written or generated."""
        while True:
            utterance = (
                self.variation.written(self.random.choice(self.written["own", "general"]))
                if source == "written"
                else self._own("general")
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
        r = self.random
        if r.random() < 0.72 + 0.2 * self.ease:
            at = r.randrange(len(keys))
            if with_general and r.random() < 0.3:
                at = keys.index(("own", "general"))
            key = keys[at]
            if key == ("own", "general") and r.random() < 0.15 and source == "own":
                return r.choice(self.requests), f"c{at}", ""
            utterance = self._said(source, key, keys, four)
            return utterance.text, f"c{at}", utterance.verb
        if with_general and four and r.random() < 0.7:
            text, verb = self._beside_four(keys)
            return text, "none", verb
        kind = r.random()
        if kind < 0.5 and len(pool) > len(keys) + 1:  # a skill of the same catalogue that is not offered
            key = r.choice(pool)
            if r.random() < 0.5:
                key = r.choice(self.near[r.choice([k for k in keys if k[1] != "general"])] or list(pool))
            if any(alike(key, other) for other in keys):
                pass
            elif key not in keys and key[0] not in ("own", "written"):
                utterance = r.choice(self.opening[key])
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
            return r.choice(self.talk), "none", ""
        if source == "clinc" or (kind > 0.9 and source in ("own", "snips")):
            return r.choice(self.outside), "none", ""
        if source == "written":
            text, verb = self._nobodys(keys)
            return text, "none", verb
        stranger = r.choice((*STRANGERS[source], "open"))
        if stranger == "open":
            return r.choice(self.texts), "none", ""
        if stranger == "own":
            utterance = self._own(r.choice(self.catalogue["own"])[1]) if r.random() < 0.6 else general(r)
        else:
            utterance = r.choice(self.opening[r.choice(self.catalogue[stranger])])
        return utterance.text, "none", utterance.verb

    # -- extracting ----------------------------------------------------------------------------------------

    def _extract(self) -> Row:
        r = self.random
        source = r.choices(list(EXTRACT_SOURCES), list(EXTRACT_SOURCES.values()))[0]
        if source == "families":
            key = ("own", r.choices(FAMILIES, [8, 8] + [1] * (len(FAMILIES) - 2))[0].name)
        elif source == "general" or (source == "written" and r.random() < WRITTEN_GENERAL):
            key = ("own", "general")
        elif source == "written":
            keys = self.catalogue["written"]
            key = r.choices(keys, [len(self.written[k]) ** 0.6 for k in keys])[0]
        else:
            keys = [k for k in self.by_skill if k[0] == source and self.skills[k].slots]
            key = r.choices(keys, [len(self.by_skill[k]) ** 0.6 for k in keys])[0]
        variant = self.variation.shown(self.skills[key])
        row = Row(tokens_of(form.extract_header(variant.shown), self.vocabulary))
        for _ in range(60):
            if source == "written":
                utterance = self.variation.written(r.choice(self.written[key]))
            elif key[0] == "own":
                utterance = self._own(key[1])
            else:
                utterance = self.variation.utterance(r.choice(self.by_skill[key]))
            body = extract_body(utterance, variant, self.vocabulary, self.variation)
            if body is None:
                continue
            if not row.fits(body, self.width):
                break
            row.add(body)
        return row
