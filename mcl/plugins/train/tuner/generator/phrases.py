"""Phrasings: a tiny language of choices, what a generated skill is made of, and clauses for any goal."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from executor.core.tables import table_beside
from mcl.model.protocol import SlotForm
from mcl.plugins.train.tuner.generator import fillers
from mcl.plugins.train.tuner.utterances import LabelMark

# ---- A tiny phrase language: `(a|b|)` is a choice, `{name}` a place; expansion keeps the offsets of the
# places.

# ruff: noqa: E501  -- tables of phrases: a line a meaning


Filler = Callable[[random.Random], str]
TABLES = table_beside(__file__)


def one_of(name: str) -> Filler:
    """A filler that chooses from the table of this name."""
    words: list[str] = TABLES[name]
    return lambda r: r.choice(words)


@dataclass(frozen=True)
class Phrase:
    """Text with marks (offsets within the text)."""

    text: str
    marks: tuple[LabelMark, ...] = ()

    def __add__(self, other: Phrase) -> Phrase:
        shift = len(self.text)
        moved = tuple(
            LabelMark(
                m.field,
                m.value,
                None if m.start is None else m.start + shift,
                None if m.end is None else m.end + shift,
            )
            for m in other.marks
        )
        return Phrase(self.text + other.text, self.marks + moved)


def choose_parts(template: str, source: random.Random) -> str:
    """Resolve the choices of a template, innermost first. Raises ValueError for unbalanced brackets."""
    while (close := template.find(")")) >= 0:
        start = template.rfind("(", 0, close)
        if start < 0:
            raise ValueError(f"unbalanced: {template}")
        template = (
            template[:start] + source.choice(template[start + 1 : close].split("|")) + template[close + 1 :]
        )
    return template


def expand(template: str, fillers: Mapping[str, tuple[str, Filler]], source: random.Random) -> Phrase:
    """Fill a template. `fillers`: place -> (field, filler); field "" leaves the value unmarked."""
    rest = " ".join(choose_parts(template, source).split())
    phrase = Phrase("")
    while (start := rest.find("{")) >= 0:
        end = rest.index("}", start)
        field, filler = fillers[rest[start + 1 : end]]
        value = filler(source)
        marks = (LabelMark(field, value, 0, len(value)),) if field else ()
        phrase = phrase + Phrase(rest[:start]) + Phrase(value, marks)
        rest = rest[end + 1 :]
    return phrase + Phrase(rest)


def capital(phrase: Phrase) -> Phrase:
    """With a capital letter in front (values keep their offsets; a value at the front keeps its case)."""
    if not phrase.text or any(m.start == 0 for m in phrase.marks):
        return phrase
    return Phrase(phrase.text[0].upper() + phrase.text[1:], phrase.marks)


# ---- What a generated skill is: its slots, what stands in them, and its phrasings.

Template = tuple[str, str, tuple[tuple[str, str], ...]]
"""Verb, phrase, and the options that the phrase chooses, by slot."""


@dataclass(frozen=True)
class Family:
    """A skill and its phrasings.

    fillers: what stands at a place of a phrase; a place is a slot, or stands for the one that `places` names.
    blocked: constraints that could be mistaken for its slots.
    """

    name: str
    descriptions: tuple[str, ...]
    slots: tuple[SlotForm, ...]
    fillers: dict[str, Filler]
    templates: tuple[Template, ...]
    blocked: frozenset[str] = frozenset()
    places: Mapping[str, str] = field(default_factory=dict)


def slot(name: str, hint: str, *options: str) -> SlotForm:
    """A slot of texts, or of options."""
    return SlotForm(name=name, type="string", hint=hint, options=options)


def said(verb: str, *templates: str, **options: str) -> tuple[Template, ...]:
    """Phrasings with one verb that choose these options."""
    return tuple((verb, template, tuple(options.items())) for template in templates)


# ---- Constraints, predicates and preferences as clauses that can follow any goal, each with many phrasings.

# ruff: noqa: E501  -- tables of phrases: a line a meaning


def _percent(r: random.Random) -> str:
    n = r.choice(
        ["95", "99", "99.9", "97", "90", "85", "80", "98.5", "0.5", "1", "2", "5", "10", "99.95", "75", "100"]
    )
    return n + r.choice([" %", "%", " percent", " per cent", "%"])


def _quality(r: random.Random) -> str:
    k = r.random()
    if k < 0.45:
        return r.choice(
            ["", "at least ", "over ", "above ", "no less than ", "", "more than ", ""]
        ) + _percent(r)
    if k < 0.6:
        return r.choice(["under ", "below ", "at most ", "less than ", "within ", ""]) + r.choice(
            TABLES["limits"]
        )
    return r.choice(["four stars or better", "print quality", "full HD", "ISO 9001 grade", "grade A", "a score of 8 or more", "300 dpi", "zero warnings",
                     "no known defects", "production quality", "at least 4.5 stars", "energy class A", "medical grade", "five decimals", "4K",
                     "a readability score above 60", "a rating of at least 4", "p95 below 100 ms", "no critical findings", "RAID 1 or better"])  # fmt: skip


RULES = TABLES["rules"]
PREFERENCES = TABLES["preferences"]
DELIVERED_PLACES = TABLES["delivered_places"]
ATTESTATIONS = TABLES["attestations"]
EXTERNALS = TABLES["externals"]


def _attestation(r: random.Random) -> str:
    return r.choice(ATTESTATIONS).replace("{a}", fillers.approver(r)).replace("{p}", fillers.path(r))


def _external(r: random.Random) -> str:
    return r.choice(EXTERNALS).replace("{u}", fillers.url(r))


def _place(r: random.Random) -> str:
    k = r.random()
    if k < 0.45:
        return fillers.path(r) if r.random() < 0.75 else fillers.folder(r)
    if k < 0.55:
        return r.choice([f"s3://{r.choice(fillers.DIRS)}/{r.choice(fillers.FILES)}/", fillers.url(r)])
    if k < 0.75:
        return r.choice([f"the {fillers.city(r)} office", fillers.city(r), f"our {fillers.city(r)} site", f"the {fillers.city(r)} warehouse",
                         f"the {fillers.city(r)} region", f"the client in {fillers.city(r)}"])  # fmt: skip
    return fillers.person(r) if r.random() < 0.25 else r.choice(DELIVERED_PLACES)


def _exclusive(r: random.Random) -> str:
    return "" if r.random() < 0.5 else " " + r.choice(["only", "and nowhere else", "exclusively", "please"])


FILLERS: Mapping[str, tuple[str, Filler]] = {
    "m": ("budget", fillers.money), "t": ("deadline", fillers.when), "w": ("deadline", fillers.within),
    "ja": ("jurisdiction_allow", fillers.region), "jd": ("jurisdiction_deny", fillers.region),
    "q": ("quality", _quality), "r": ("rule", lambda r: r.choice(RULES)),
    "to": ("delivered", _place), "a": ("signed_off", fillers.approver), "x": ("external", _external),
    "y": ("attestation", _attestation), "p": ("preference", lambda r: r.choice(PREFERENCES)), "only": ("", _exclusive),
}  # fmt: skip

CLAUSES: Mapping[str, list[str]] = TABLES["clauses"]
WEIGHTS = {"budget": 5, "deadline": 5, "jurisdiction_allow": 3, "jurisdiction_deny": 2, "quality": 3, "rule": 4,
           "delivered": 3, "signed_off": 3, "external": 2, "attestation": 2, "preference": 3}  # fmt: skip


def clause(kind: str, r: random.Random) -> Phrase:
    """One clause of a kind, beginning with its joint (", ", "; ", " by ...")."""
    phrase = expand(r.choice(CLAUSES[kind]), FILLERS, r)
    joined = phrase if phrase.text[0] in ",;." else Phrase(" ") + phrase
    if joined.text.startswith((", ", "; ")) and r.random() < 0.12:
        first = joined.text[2]
        if joined.marks and min(m.start or 0 for m in joined.marks) == 2:
            return Phrase(". ") + Phrase(joined.text[2:], _shift(joined, -2))
        return Phrase(". " + first.upper() + joined.text[3:], joined.marks)
    return joined


def _shift(phrase: Phrase, by: int) -> tuple[LabelMark, ...]:
    return tuple(LabelMark(m.field, m.value, (m.start or 0) + by, (m.end or 0) + by) for m in phrase.marks)


def clauses(r: random.Random, number: int, leave: frozenset[str] = frozenset()) -> Phrase:
    """Several clauses of different kinds, `leave` left out."""
    kinds = [k for k in WEIGHTS if k not in leave]
    phrase = Phrase("")
    for _ in range(min(number, len(kinds))):
        kind = r.choices(kinds, [WEIGHTS[k] for k in kinds])[0]
        kinds.remove(kind)
        phrase = phrase + clause(kind, r)
    return phrase
