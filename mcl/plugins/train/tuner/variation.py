"""One labelled utterance made into many: names, hints, order of slots; values, letters, clauses."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mcl.model import form
from mcl.model.protocol import ExtractForm, SlotForm
from mcl.plugins.train.tuner import handwritten
from mcl.plugins.train.tuner.generator import fillers
from mcl.plugins.train.tuner.generator.goals import CONTEXTS
from mcl.plugins.train.tuner.generator.phrases import Filler, Phrase, clauses
from mcl.plugins.train.tuner.generator.skills import (
    FAMILIES,
    GENERAL_DESCRIPTIONS,
    GENERAL_HINTS,
    GENERAL_NAMES,
)
from mcl.plugins.train.tuner.utterances import CorpusSkill, LabelMark, Utterance

_FAMILY_WORDS = {
    "time": "time date day when year timeofday duration length schedule period frequency interval start stay",
    "place": "city location place area country state poi where from to origin destination room house address",
    "number": "number count size people amount price rating score value passengers travelers group quantity",
    "name": "name title person who artist owner director actors relation first last recipient entity object",
    "kind": "type kind category genre sort item class descriptor setting list",
}
_FAMILY = {word: family for family, words in _FAMILY_WORDS.items() for word in words.split()}
_CONSTRAINTS_FOR_ALL = frozenset({"deadline", "jurisdiction_allow", "delivered", "preference"})
_DESCRIPTIONS = {family.name: family.descriptions for family in FAMILIES} | {"general": GENERAL_DESCRIPTIONS}
_FILLERS: dict[str, Filler] = {  # for values of written goals that any other of their kind can stand for
    "budget": fillers.money, "jurisdiction_allow": fillers.region, "jurisdiction_deny": fillers.region,
    "signed_off": fillers.approver, "slot.folder": fillers.folder, "slot.report": fillers.path,
    "slot.pattern": fillers.pattern, "slot.text": fillers.needle, "slot.branch": fillers.branch,
    "slot.url": fillers.url, "slot.path": fillers.path,
}  # fmt: skip
_SWAPPED = frozenset(
    {*_FILLERS, "attestation", "slot.code", "slot.language", "slot.column", "slot.chart", "slot.assignee"}
)
"""Fields of written goals whose value may be another goal's: the rest is bound to its sentence."""
_GREETINGS = ("hi, ", "hello, ", "hey, ", "ok, ", "so, ", "Good morning. ", "One more thing: ")


def synonyms() -> dict[str, tuple[str, ...]]:
    """Other names of slots (synonyms.tsv)."""
    lines = (Path(__file__).parent / "synonyms.tsv").read_text().splitlines()
    rows = (line.split("\t") for line in lines if line[:1] != "#")
    return {row[0]: tuple(row[1:]) for row in rows}


def families(name: str) -> frozenset[str]:
    """Kinds of thing a slot's name speaks of."""
    return frozenset(_FAMILY[w] for w in form.plain(name).split() if w in _FAMILY)


@dataclass(frozen=True)
class Variant:
    """A form as it is shown now: slot forms in order, and which slots stand behind the shown names."""

    shown: ExtractForm
    original: tuple[str, ...]  # field of the utterance's marks a shown slot stands for, "" for a distractor


class Variation:
    """Random variants of skills and utterances. `values`: known values of (source, slot)."""

    def __init__(
        self, utterances: Sequence[Utterance], skills: Sequence[CorpusSkill], source: random.Random
    ) -> None:
        self.random = source
        self.synonyms, self.written_names = synonyms(), handwritten.names()
        self.descriptions = _DESCRIPTIONS | handwritten.descriptions()
        pools: dict[tuple[str, str], set[str]] = defaultdict(set)
        for utterance in utterances:
            for mark in utterance.marks:
                if mark.start is not None:
                    pools[self._pool(utterance), mark.field].add(mark.value)
        self.values = {key: sorted(pool) for key, pool in pools.items() if len(pool) > 3}
        self.slots = [slot for skill in skills for slot in skill.slots if not slot.options]

    # -- forms ---------------------------------------------------------------------------------------------

    def shown(self, skill: CorpusSkill) -> Variant:
        """A variant of a skill's form: order, names, hints, options, dropped slots, distractors."""
        r = self.random
        style = r.random()
        rows: list[tuple[SlotForm, str]] = []
        for slot in skill.slots:
            if r.random() < 0.07 and len(skill.slots) > 2:
                continue
            rows.append((self._slot(skill, slot, style), f"slot.{slot.name}"))
        if r.random() < 0.3 and skill.name != "general":  # whose one slot takes what any other would take
            taken = frozenset(f for slot in skill.slots for f in families(slot.name)) | {"kind"}
            for slot in r.sample(self.slots, min(len(self.slots), r.choice((1, 2, 3)))):
                kinds = families(slot.name)
                if kinds and not kinds & taken:
                    rows.append((self._slot(skill, slot, style), ""))
        if r.random() < 0.7:
            r.shuffle(rows)
        rows = rows[: form.MAX_SLOTS]
        description = skill.description
        if skill.source in ("own", "written"):
            description = r.choice(self.descriptions[skill.name])
        elif r.random() < 0.2:
            description = form.plain(skill.name)
        return Variant(
            ExtractForm(skill.name, description, tuple(slot for slot, _ in rows), "", ""),
            tuple(field for _, field in rows),
        )

    def _slot(self, skill: CorpusSkill, slot: SlotForm, style: float) -> SlotForm:
        r = self.random
        name, hint = slot.name, slot.hint
        if skill.source == "own" and skill.name == "general":
            name, hint = r.choice(GENERAL_NAMES), r.choice(GENERAL_HINTS)
        others = self.synonyms.get(slot.name, ())
        if skill.source == "written":
            others = self.written_names.get((skill.name, slot.name), ())
        if form.plain(hint) == form.plain(name):
            hint = r.choice(others) if others and r.random() < 0.4 else ""
        if others and r.random() < 0.4:
            name = r.choice(others)
        if style < 0.3:
            hint = ""
        elif style < 0.42 and hint:
            name, hint = hint, ""
        options = list(slot.options)
        if options and set(options) == {"True", "False"} and r.random() < 0.6:
            options = ["yes", "no"] if options[0] == "True" else ["no", "yes"]
        if options and r.random() < 0.5:
            r.shuffle(options)
        return replace(slot, name=name, hint=hint, options=tuple(options))

    # -- utterances ----------------------------------------------------------------------------------------

    def utterance(self, utterance: Utterance) -> Utterance:
        """A variant of an utterance: other values, a constraint behind it."""
        r = self.random
        if utterance.skill[0] == "own":
            return utterance
        if r.random() < 0.3:
            utterance = self._other_values(utterance)
        if r.random() < 0.1 and utterance.skill[0] in ("sgd", "snips", "hwu64"):
            tail = clauses(r, r.choice((1, 1, 2)), _CONSTRAINTS_FOR_ALL)
            if not any(families(mark.field[5:]) & {"number"} for mark in utterance.marks):
                stem = utterance.text.rstrip(" .!?")
                if all(m.end is None or m.end <= len(stem) for m in utterance.marks):
                    shift = len(stem)
                    moved = tuple(
                        LabelMark(m.field, m.value, (m.start or 0) + shift, (m.end or 0) + shift)
                        for m in tail.marks
                    )
                    utterance = replace(utterance, text=stem + tail.text, marks=utterance.marks + moved)
        return utterance

    def written(self, utterance: Utterance) -> Utterance:
        """A variant of a goal written by hand: another value, a clause behind it, a sentence around it."""
        r = self.random
        if r.random() < 0.35:
            utterance = self._other_values(utterance)
        whole = Phrase(utterance.text, utterance.marks)
        stated = {mark.field for mark in utterance.marks if mark.field in form.FIELDS}
        if r.random() < 0.12 and len(stated) < 3:
            leave = stated if utterance.skill[0] == "own" else stated | _CONSTRAINTS_FOR_ALL
            whole = self.with_clause(utterance, clauses(r, 1, frozenset(leave)))
        k = r.random()
        if k < 0.06:
            whole = Phrase(r.choice(_GREETINGS)) + whole
        elif k < 0.12:
            whole = Phrase(r.choice(CONTEXTS)) + whole
        elif k < 0.15 and whole.text[-1] in ".!?":
            whole = whole + Phrase(" " + r.choice(CONTEXTS).strip())
        return replace(utterance, text=whole.text, marks=whole.marks)

    def with_clause(self, utterance: Utterance, clause: Phrase) -> Phrase:
        """With a clause behind it, where no value ends in the punctuation that has to go for it."""
        stem = utterance.text.rstrip(" .!?")
        if any(m.end is not None and m.end > len(stem) for m in utterance.marks):
            return Phrase(utterance.text, utterance.marks)
        return Phrase(stem, utterance.marks) + clause

    def _pool(self, utterance: Utterance) -> str:
        """Whose values are known together: a source's, and those of each skill that goals are written for."""
        return utterance.skill[1] if utterance.skill[0] in ("own", "written") else utterance.skill[0]

    def _other_values(self, utterance: Utterance) -> Utterance:
        """With one span's value changed for another one known for this slot."""
        pool, ours = self._pool(utterance), utterance.skill[0] in ("own", "written")
        spans = [
            m
            for m in utterance.marks
            if m.start is not None
            and (m.field in _SWAPPED if ours else (pool, m.field) in self.values)
            and ((pool, m.field) in self.values or m.field in _FILLERS)
        ]
        if not spans:
            return utterance
        mark = self.random.choice(spans)
        known = self.values.get((pool, mark.field), ())
        if ours and mark.field in _FILLERS and (not known or self.random.random() < 0.6):
            value = _FILLERS[mark.field](self.random)
        else:
            value = self.random.choice(known)
        if utterance.text.islower():
            value = value.lower()
        assert mark.start is not None
        assert mark.end is not None
        shift = len(value) - (mark.end - mark.start)
        text = utterance.text[: mark.start] + value + utterance.text[mark.end :]
        marks = []
        for other in utterance.marks:
            if other is mark:
                marks.append(LabelMark(mark.field, value, mark.start, mark.start + len(value)))
            elif other.start is not None and other.end is not None and other.start >= mark.end:
                marks.append(LabelMark(other.field, other.value, other.start + shift, other.end + shift))
            else:
                marks.append(other)
        return replace(utterance, text=text, marks=tuple(marks))

    def noisy(self, pieces: list[form.Piece], tags: Sequence[str]) -> list[form.Piece]:
        """Letters changed: all small, typos outside of values. Pieces keep their number."""
        r = self.random
        lower = r.random() < 0.25
        typos = r.random() < 0.15
        out: list[form.Piece] = []
        for i, piece in enumerate(pieces):
            text = piece.text
            if piece.special:
                out.append(piece)
                continue
            if lower:
                text = text.lower() or text
            if typos and r.random() < 0.2 and i - 1 < len(tags) and tags[i - 1] == "none":
                text = typo(text, r)
            out.append(form.Piece(text, special=False))
        return out


def typo(text: str, r: random.Random) -> str:
    """One slip of the fingers inside a word of four letters or more."""
    if len(text) < 5 or not re.fullmatch(r" ?[A-Za-z]+", text):
        return text
    i = r.randrange(2, len(text) - 1)
    return r.choice(
        (
            text[:i] + text[i + 1] + text[i] + text[i + 2 :],
            text[:i] + text[i + 1 :],
            text[:i] + text[i] + text[i:],
            text[:i] + r.choice("etaoinshrdlu") + text[i + 1 :],
        )
    )
