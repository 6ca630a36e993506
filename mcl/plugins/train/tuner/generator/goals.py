"""What goals are about: noun phrases by kind of work, composed so that few repeat."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

from mcl.plugins.train.tuner.generator import fillers
from mcl.plugins.train.tuner.generator.phrases import TABLES, Filler, Phrase, capital, clause, clauses, expand
from mcl.plugins.train.tuner.utterances import LabelMark, Utterance

# ---- What goals are about: noun phrases by kind of work, composed so that few repeat.

# ruff: noqa: E501  -- tables of phrases: a line a meaning


GOODS = TABLES["goods"]
ADJECTIVES = TABLES["adjectives"]
WORKS = TABLES["works"]
TOPICS = TABLES["topics"]
EXISTING = TABLES["existing"]
PARCELS = TABLES["parcels"]
QUESTIONS = TABLES["questions"]
AFFAIRS = TABLES["affairs"]
OCCASIONS = TABLES["occasions"]
GAUGES = TABLES["gauges"]
CHORES = TABLES["chores"]
HUNTED = TABLES["hunted"]

NOUNS = {
    "acquire": GOODS, "build": WORKS, "modify": EXISTING, "deliver": PARCELS, "negotiate": AFFAIRS,
    "schedule": OCCASIONS, "monitor": GAUGES, "delegate": CHORES, "find": HUNTED,
}  # fmt: skip
_PLURAL = ("s", "data", "paper", "wood", "steel", "water", "equipment", "catering", "hosting", "translation")


def host(r: random.Random) -> str:
    """A machine's or site's name."""
    return r.choice([f"db-{r.randint(1, 30)}", f"web{r.randint(1, 9)}", "the main site", f"shop.{r.choice(['example.org', 'acme.com'])}", "the mail server",
                     "our API", "the payment gateway", f"node {r.randint(1, 20)}", "production", "staging"])  # fmt: skip


def filled(noun: str, r: random.Random) -> str:
    """With the places of a noun phrase filled: {h} host, {g} goods, {c} city, {p} person, {m} month, {d} day."""
    places: dict[str, Filler] = {"{h}": host, "{g}": lambda r: r.choice(GOODS) + "s", "{c}": fillers.city, "{p}": fillers.person,
              "{m}": lambda r: r.choice(fillers.MONTHS), "{d}": lambda r: r.choice(fillers.DAYS)}  # fmt: skip
    for place, filler in places.items():
        if place in noun:
            noun = noun.replace(place, filler(r))
    return noun


def _tail(verb: str, r: random.Random) -> str:
    """What follows the noun: for whom, about what."""
    k = r.random()
    if k < 0.5:
        return ""
    if verb in ("build", "find", "deliver") and k < 0.75:
        return f" {r.choice(['on', 'about', 'for', 'of', 'for'])} {r.choice(TOPICS)}"
    if verb in ("schedule", "negotiate") and k < 0.85:
        return f" with {r.choice([fillers.person(r), fillers.approver(r), 'the ' + fillers.city(r) + ' team', 'our suppliers', 'the client', 'the team', 'the union', 'the printers'])}"
    if verb == "acquire" and k < 0.75:
        return f" for {r.choice([fillers.person(r), 'the kitchen', 'the ' + fillers.city(r) + ' office', 'the new hires', 'the team', r.choice(TOPICS)])}"
    if verb == "modify" and k < 0.85:
        return r.choice(
            [
                " of the " + r.choice(WORKS),
                " in " + fillers.path(r),
                " on the intranet",
                " of " + r.choice(TOPICS),
                " in the shop",
            ]
        )
    return ""


def thing(verb: str, r: random.Random) -> str:
    """A noun phrase that fits the verb; for analyze now and then an indirect question."""
    if verb == "analyze":
        if r.random() < 0.45:
            return filled(r.choice(QUESTIONS), r)
        pool = [*(f"the {n}" for n in WORKS + EXISTING + PARCELS), *TOPICS]
        return r.choice(pool) + (f" of {r.choice(TOPICS)}" if r.random() < 0.15 else "")
    noun = filled(r.choice(NOUNS[verb]), r)
    if r.random() < 0.3:
        noun = f"{r.choice(ADJECTIVES)} {noun}"
    k = r.random()
    if verb == "acquire" and k < 0.45:
        number = fillers.count(r)
        noun = f"{number} {noun}" if noun.endswith(_PLURAL) else f"{number} {noun}s"
    elif k < 0.75:
        article = "an" if noun[0] in "aeiou" else "a"
        definite = verb in ("modify", "deliver", "negotiate", "monitor", "delegate")
        noun = (
            f"{r.choice(['the', 'the', 'our', 'my', 'all', 'the'])} {noun}"
            if definite or noun.endswith("s")
            else f"{article} {noun}"
        )
    return noun + _tail(verb, r)


# ---- Goals about them.

# ruff: noqa: E501  -- tables of phrases: a line a meaning


PHRASES: Mapping[str, list[str]] = TABLES["phrases"]
NOTES = TABLES["notes"]
NOTED = TABLES["noted"]
OPENINGS = TABLES["openings"]
_BEFORE_ORDERS = frozenset(["please ", "could you please ", "kindly ", "now ", "also, ", "let's "])
_NO_ORDER = re.compile(
    r"(?:i|i'm|i'd|we|we're|we'd|who|where|what|when|which|how|is|are|do|have|can|could|please|let's|for|remember"
    r"|the|our|my|all|a|an)\b",
    re.IGNORECASE,
)
CONTEXTS = TABLES["contexts"]
ENDINGS = TABLES["endings"]


def who(r: random.Random) -> str:
    """Somebody who may be asked or bargained with."""
    return fillers.approver(r) if r.random() < 0.6 else r.choice(
        ["the supplier", "the landlord", "our vendor", "the bank", "the design team", "the night shift", "an agency", "a contractor", "the interns", "the union", "Brightline", "Contoso",
         "the carrier", "the support team", "the sales people", "the new colleague", "a freelancer", "the neighbours", "the insurance company", "the printers", "Northwind", "a student", "the agent"])  # fmt: skip


def general(r: random.Random, field: str = "slot.object") -> Utterance:
    """A goal for the general skill: verb phrase around one object, then 0 to 4 constraints."""
    verb = r.choice(tuple(PHRASES))
    if r.random() < 0.04:
        return _note(r, field)
    phrase = expand(r.choice(PHRASES[verb]), {"o": (field, lambda s: thing(verb, s)), "who": ("", who)}, r)
    number = r.choices((0, 1, 2, 3, 4), (28, 36, 22, 10, 4))[0]
    if number and r.random() < 0.06:  # a constraint in front
        front = clause(r.choice(("deadline", "budget", "jurisdiction_allow")), r)
        if front.text.startswith(" ") and front.marks:
            phrase = front + Phrase(", ") + phrase
            number -= 1
    whole = dressed(phrase, clauses(r, number), r)
    return Utterance(whole.text, ("own", "general"), whole.marks, verb)


def _note(r: random.Random, field: str) -> Utterance:
    """Something to keep in mind: a thing or person and what about it."""

    def subject(s: random.Random) -> str:
        kind = s.random()
        if kind < 0.3:
            return fillers.person(s)
        return thing(s.choice(("modify", "deliver", "delegate")), s)

    places = {"s": (field, subject), "does": ("", lambda s: filled(s.choice(NOTED), s))}
    phrase = expand(r.choice(NOTES), places, r)
    whole = dressed(phrase, Phrase(""), r)
    return Utterance(whole.text, ("own", "general"), whole.marks, "build")


def dressed(phrase: Phrase, tail: Phrase, r: random.Random) -> Phrase:
    """Opening, context sentences, ending and full stop around a goal."""
    whole = phrase + tail
    if whole.text[:1] == " ":
        whole = _without_first_blank(whole)
    k = r.random()
    if k < 0.12:
        opening = r.choice(OPENINGS)
        if opening not in _BEFORE_ORDERS or not _NO_ORDER.match(whole.text):
            whole = Phrase(opening) + whole
    if r.random() < 0.6:
        whole = capital(whole)
    if r.random() < 0.07:
        whole = Phrase(r.choice(CONTEXTS)) + whole
    if r.random() < 0.1:
        whole = whole + Phrase(r.choice(ENDINGS))
    elif r.random() < 0.35:
        whole = whole + Phrase(r.choice((".", ".", ".", "!", "?")))
    if r.random() < 0.04:
        whole = whole + Phrase(" " + r.choice(CONTEXTS).strip())
    return whole


def _without_first_blank(phrase: Phrase) -> Phrase:
    marks = tuple(
        LabelMark(
            m.field, m.value, None if m.start is None else m.start - 1, None if m.end is None else m.end - 1
        )
        for m in phrase.marks
    )
    return Phrase(phrase.text[1:], marks)
