"""A model that encodes (form enc@1): a goal is read once, all else is looked up in its vectors."""

import functools
import hashlib
import itertools
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mcl.core.errors import ModelError
from mcl.model import form as shape
from mcl.model.heads import (
    CHANGES,
    KINDS,
    OPTION,
    OPTIONS,
    PICK,
    SIZE_KEY,
    SLOT,
    TAG,
    VERB,
    CardForm,
    MarkForm,
    Vectors,
    probabilities,
    read_heads,
    unit_length,
)
from mcl.model.llama.embedding import EmbeddingContext
from mcl.model.llama.weights import NO_AI, Weights
from mcl.model.protocol import Candidate, Choice, ExtractForm, SlotForm, Span
from mcl.model.skill_classifier import SIZE_KEY as FAMILIAR_KEY
from mcl.model.skill_classifier import SkillClassifier
from mcl.model.text_vectors import TextVectors, option_text, skill_text, slot_text

MOST_ITEMS = 256
"""Slots and options that the words of a goal are compared with at once."""
KINDS_OF_ANSWERS = ("pick", "verb", "kind", "wish", "tag", "option")
"""What has a temperature of its own."""
_GOALS_KEPT, _SHELVES_KEPT, _UNITS_KEPT = 8, 3, 20_000
_SHOWN_EXAMPLES = 16
_TAKEN_BY_ANY = 0.3
"""What a share of none of these counts where one takes any goal: with it most development goals are given to
the skill that they were written for."""
_PLACES = 6  # of a margin: what comes behind them differs between machines


@dataclass(frozen=True)
class GoalVectors:
    """A goal as it was read: units, and of each the sum of the vectors of its pieces and their number; the
    same of the marks around all of it."""

    units: tuple[shape.Unit, ...]
    sums: Vectors
    counts: Vectors
    edges: tuple[Vectors, float]

    @property
    def words(self) -> Vectors:
        """A vector of each unit, [n, width]."""
        found: Vectors = self.sums / np.maximum(self.counts, 1).astype(np.float32)[:, None]
        return found

    def mean(self, first: int = 0, last: int | None = None) -> Vectors:
        """The mean over the pieces of the units [first, last) and the marks around the goal, [width]."""
        sums, counts = self.sums[first:last], self.counts[first:last]
        count = np.float32(max(1.0, self.edges[1] + float(counts.sum())))
        total: Vectors = np.asarray(self.edges[0] + sums.sum(0), np.float32)
        total /= count
        return total


@dataclass(frozen=True)
class GoalMarks:
    """Words of a goal beside the slots of a skill. seen: their vectors then, of length one or so; tags:
    scores of `labels`, a row a word; options: of each slot with options, scores of "" (not said) and of
    these."""

    units: Sequence[shape.Unit]
    seen: Vectors
    labels: tuple[str, ...]
    tags: Vectors
    options: Mapping[str, Vectors]


class EncoderModel:
    """A GGUF whose key `mcl.form` is `enc@1`."""

    takes_all = copies_only = True

    def __init__(self, weights: Weights, *, digest: str, cache: Path | None, shipped: bytes = b"") -> None:
        """cache: folder for vectors of skills, None for memory only. shipped: those of the skills that come
        with it. Raises ModelError MODEL_FORM, MODEL_BROKEN."""
        self.digest = digest
        self.version = f"{weights.meta('general.name') or 'encoder'}/{weights.meta('general.version') or '0'}"
        self.grammar = f"{shape.FORM} sha256:{hashlib.sha256(shape.FORM.encode()).hexdigest()}"
        self._weights = weights
        size, self._familiar = _number(weights, SIZE_KEY), _number(weights, FAMILIAR_KEY)
        start = weights.path.stat().st_size - size - self._familiar
        self.heads, self.told = read_heads(weights.path, start, size)
        self.temperatures = {kind: _temperature(self.told, kind, weights.path) for kind in KINDS_OF_ANSWERS}
        self.verb_weight = _between(0, self.told.get("verb_weight", 0.0), 20, "weight of verbs", weights.path)
        self._begin, self._end = weights.around
        self._context = EmbeddingContext(weights)
        if self._context.width != self.heads.width:
            message = f"its heads are for vectors of {self.heads.width}, not of {self._context.width}"
            raise ModelError("MODEL_BROKEN", message, place=str(weights.path), fix=NO_AI)
        kept = cache / f"vectors-{digest[:16]}" if cache else None
        self.texts = TextVectors(lambda text: self._read(text).mean(), self.heads.width, kept, shipped)
        self._cards: list[tuple[tuple[Candidate, ...], CardForm]] = []
        self._goals: OrderedDict[str, GoalVectors] = OrderedDict()
        self.goals_kept = _GOALS_KEPT
        self._pieces: dict[str, list[int]] = {}

    # ---- what is asked

    def prepare(self, question: Sequence[Candidate] | ExtractForm) -> None:
        """Read what skills or slots say of themselves; what was read before is not read again."""
        if isinstance(question, ExtractForm):
            self._form(question)
        else:
            self._cards_of(question)
        self.texts.keep()

    def choose(self, prose: str, candidates: Sequence[Candidate]) -> Choice:
        """Choose among any number of skills, or none of them."""
        if not candidates:
            return Choice(None, "", 1.0, 1.0, (("", 1.0),))
        goal = self.goal(prose)
        begins = self._begins(goal)
        kinds = probabilities(self.heads.kinds(goal.mean()), self.temperatures["kind"])
        wish = self.wish(goal)
        shares = self._shares(wish, kinds, candidates)
        best = int(shares.argmax())
        chosen = candidates[best - 1] if best else None
        asked = chosen or (candidates[0] if len(candidates) == 1 else None)
        allowed = (asked.verbs if asked else ()) or shape.VERBS
        said = self.verbs(wish, asked.skill_id if asked else "") + self.verb_weight * self.verb_margins(prose)
        scores = probabilities(said, self.temperatures["verb"])
        weights = {v: float(p) for v, p in zip(shape.VERBS, scores, strict=True) if v in allowed}
        # A skill may declare only verbs of its own (`x:...`): the model knows none of them.
        verb = max(weights, key=weights.__getitem__) if weights else allowed[0]
        self.texts.keep()
        return Choice(
            skill_id=chosen.skill_id if chosen else None,
            verb=verb,
            skill_probability=float(shares[best]),
            verb_probability=weights[verb] / sum(weights.values()) if weights else 1 / len(allowed),
            probabilities=(
                *((one.skill_id, float(p)) for one, p in zip(candidates, shares[1:], strict=True)),
                ("", float(shares[0])),
            ),
            kind=KINDS[int(kinds.argmax())],
            begins=tuple(goal.units[place].start for place in begins),
        )

    def margins(self, prose: str, candidates: Sequence[Candidate]) -> tuple[float | None, ...]:
        """How clearly a goal is for each candidate that was taught by name; empty where none of them was.

        Raises ModelError MODEL_BROKEN where that part of the file is damaged.
        """
        if self._skills is None:
            return ()
        margins = self._skills.margins(*self._first(prose), candidates)
        if all(margin is None for margin in margins):
            return ()
        return tuple(margin if margin is None else round(margin, _PLACES) for margin in margins)

    def extract(self, prose: str, form: ExtractForm) -> tuple[Span, ...]:
        """Values of the form's slots, limits and signs of success; words that may be part of one and were
        read as of none follow as spans of the field "rest".

        Raises ModelError MODEL_SLOTS where the skill has more slots and options than can be compared at once.
        """
        goal = self.goal(prose)
        spans: list[Span] = []
        rest: list[Span] = []
        for marks in self.marks(goal, form):
            rows = probabilities(marks.tags, self.temperatures["tag"]).tolist()
            asked = [
                probabilities(one, self.temperatures["option"]).tolist() for one in marks.options.values()
            ]
            spans += (Span(*one) for one in shape.found(prose, marks.units, form, [*rows, *asked]))
            rest += (Span(*one) for one in shape.doubts(prose, marks.units, rows))
        self.texts.keep()
        return (*best_of_each(spans, {slot.name: slot.many for slot in form.slots}), *rest)

    def reason(self, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        """What of `user` answers each output, word for word; "" where nothing does."""
        slots = tuple(SlotForm(name=name, type="text", hint=shape.plain(name)) for name in outputs)
        answer: dict[str, object] = dict.fromkeys(outputs, "")
        spans = self.extract(user, ExtractForm(skill_id=kind, description=system, slots=slots))
        answer.update((s.field.removeprefix("slot."), s.value) for s in spans if s.field[:5] == "slot.")
        return answer

    # ---- scores, as they are before anything is made of them

    def goal(self, prose: str) -> GoalVectors:
        """A goal, read; the last ones are kept."""
        known = self._goals.get(prose)
        if known is None:
            known = self._goals[prose] = self._read(prose)
            if len(self._goals) > self.goals_kept:
                self._goals.popitem(last=False)
        return known

    def share(self, other: "EncoderModel") -> None:
        """Read no more than both together have to: the other's tensors are the same."""
        self.texts, self._goals, self.goals_kept = other.texts, other._goals, other.goals_kept

    def wish(self, goal: GoalVectors) -> Vectors:
        """What is chosen for: the first wish; the others are told beside it."""
        begins = self._begins(goal)
        return goal.mean(0, begins[0]) if begins else goal.mean()

    def choices(self, wish: Vectors, candidates: Sequence[Candidate]) -> Vectors:
        """Scores of none of these, and of each candidate."""
        scores = self.heads.choices(wish, self._cards_of(candidates))
        for place, one in enumerate(candidates, 1):
            if one.skill_id in self.heads.taught:
                scores[place] += self.heads.taught[one.skill_id].added(PICK, (PICK,), unit_length(wish))[0]
        return scores

    def verbs(self, wish: Vectors, skill_id: str) -> Vectors:
        """Scores of the verbs, where this skill is chosen."""
        scores = self.heads.verbs(wish)
        if skill_id in self.heads.taught:
            scores = scores + self.heads.taught[skill_id].added(VERB, shape.VERBS, unit_length(wish))
        return scores

    def verb_margins(self, prose: str) -> Vectors:
        """How clearly the first wish says each verb, by what the file knows of verbs by name; 0 where that is
        nothing. Raises as `margins`."""
        said = self._skills.verbs(*self._first(prose)) if self._skills is not None else {}
        return np.array([round(said.get(verb, 0.0), _PLACES) for verb in shape.VERBS], np.float32)

    def marks(self, goal: GoalVectors, form: ExtractForm) -> Iterator[GoalMarks]:
        """The goal beside the form's slots, in windows. Raises as `extract`."""
        slots, items = self._form(form)
        taught = self.heads.taught.get(form.skill_id)
        words, whole, at = goal.words, unit_length(goal.mean()), 0
        labels = (
            *("none", "in"),
            *(f"slot.{slot.name}" for _, slot in slots if not slot.options),
            *shape.FIELDS,
        )
        asked = [slot for _, slot in slots if slot.options]
        for units in shape.windows(goal.units):
            seen, tags, scores = self._marked(words[at : at + len(units)], slots, items)
            at += len(units)
            options = {slot.name: one for slot, one in zip(asked, scores, strict=True)}
            if taught is not None:
                tags = tags + taught.added(TAG, labels, seen)
                for slot in asked:
                    more = taught.added(OPTIONS + slot.name, ("", *slot.options), whole)
                    options[slot.name] = options[slot.name] + more
            yield GoalMarks(units, seen, labels, tags, options)

    @functools.cached_property
    def _skills(self) -> SkillClassifier | None:
        """What the file knows of skills by name, opened when first asked for."""
        path = self._weights.path
        if not self._familiar:
            return None
        found = SkillClassifier(path, self._familiar)
        if found.width != self.heads.width:
            message = f"it knows skills by vectors of {found.width}, not of {self.heads.width}"
            raise ModelError("MODEL_BROKEN", message, place=str(path), fix=NO_AI)
        return found

    def changes(self, prose: str) -> dict[str, float]:
        """As Correcting.changes."""
        scores = self.heads.changes(self.goal(prose).mean())
        return dict(zip(CHANGES, map(float, probabilities(scores)), strict=True))

    def vector(self, prose: str) -> Vectors:
        """The mean of the vectors of a goal's pieces, [width]."""
        return self.goal(prose).mean()

    # ---- how it is answered

    def _first(self, prose: str) -> tuple[str, Vectors]:
        """The words of the first wish, and their vector, of length one."""
        goal = self.goal(prose)
        begins = self._begins(goal)[:1]
        return prose[: goal.units[begins[0]].start] if begins else prose, unit_length(goal.mean(0, *begins))

    def _begins(self, goal: GoalVectors) -> list[int]:
        """The units at which further wishes begin."""
        if len(goal.units) < 2:
            return []
        shares = probabilities(self.heads.begins(goal.words), self.temperatures["wish"])[:, 1]
        return [place for place, share in enumerate(shares) if place and share > 0.5]

    def _shares(self, wish: Vectors, kinds: Vectors, candidates: Sequence[Candidate]) -> Vectors:
        """Of none of these, and of each candidate. What is for none of them goes to the one that takes any
        goal, as far as it is a goal."""
        scores = self.choices(wish, candidates)
        places = [place for place, one in enumerate(candidates, 1) if one.takes_any]
        scores[places] = -np.inf  # what it says of itself is like every goal and like none
        shares = probabilities(scores, self.temperatures["pick"])
        if places:
            shares[0] *= _TAKEN_BY_ANY
            shares /= shares.sum()
            meant = float(kinds[KINDS.index("goal")] + kinds[KINDS.index("correction")])
            shares[places] = shares[0] * meant / len(places)
            shares[0] *= 1 - meant
        return shares

    def _cards_of(self, candidates: Sequence[Candidate]) -> CardForm:
        """The same skills are asked about for goal after goal: what they say of themselves is kept."""
        asked = tuple(candidates)
        known = next((one for one in self._cards if one[0] == asked), None)
        if known is None:
            texts = [
                [skill_text(one.skill_id, one.description), *one.examples[:_SHOWN_EXAMPLES]] for one in asked
            ]
            known = asked, CardForm.of([self.texts.of(own) for own in texts])
        self._cards = [known, *(one for one in self._cards if one is not known)][:_SHELVES_KEPT]
        return known[1]

    def _marked(
        self, words: Vectors, slots: Sequence[tuple[int, SlotForm]], items: MarkForm
    ) -> tuple[Vectors, Vectors, list[Vectors]]:
        """Vectors of the words beside the slots, of length one or so; scores of the tags of each, and of the
        options of each slot that has some."""
        seen, met = self.heads.joined(words, items)
        open_ = [2 + place for place, slot in slots if not slot.options]
        fields = range(2 + len(items.kinds), 2 + len(items.kinds) + len(shape.FIELDS))
        scores = self.heads.tags(seen, met)[:, [0, 1, *open_, *fields]]
        asked = []
        for place, slot in slots:
            if slot.options:
                own = slice(place + 1, place + 1 + len(slot.options))
                named = unit_length(items.vectors[own]) @ unit_length(words).T
                nearest = named.max(1) if len(words) else np.full(len(slot.options), -1, np.float32)
                asked.append(self.heads.options(met[place], met[own], nearest))
        return seen * np.float32(self.heads.width**-0.5), scores, asked

    def _form(self, form: ExtractForm) -> tuple[list[tuple[int, SlotForm]], MarkForm]:
        """Slots with their places among the items, options right behind their slot."""
        texts: list[str] = []
        kinds: list[int] = []
        places: list[tuple[int, SlotForm]] = []
        for slot in form.slots:
            places.append((len(texts), slot))
            texts.append(slot_text(form.skill_id, slot))
            kinds.append(SLOT)
            for option in slot.options:
                texts.append(option_text(slot, option))
                kinds.append(OPTION)
        if len(texts) > MOST_ITEMS:
            raise ModelError(
                "MODEL_SLOTS",
                f"at most {MOST_ITEMS} slots and options together, not {len(texts)}",
                place=form.skill_id,
                fix="split the skill, or use sub-skills",
            )
        return places, MarkForm(self.texts.of(texts), tuple(kinds))

    def _read(self, text: str) -> GoalVectors:
        """Read a text, in as many passes as its length takes, each up to the end of a sentence."""
        units = shape.words(text)
        sums = np.zeros((len(units), self.heads.width), np.float32)
        counts = np.zeros(len(units), np.float32)
        edges, marks, at = np.zeros(self.heads.width, np.float32), 0.0, 0
        pieces = [self._of_unit(unit) for unit in shape.spaced(units)]
        for run in self._runs(units, [len(one) for one in pieces]):
            own = range(at, at + len(run))
            tokens = [self._begin, *(token for place in own for token in pieces[place]), self._end]
            places = [-1, *(place for place in own for _ in pieces[place])]
            vectors = self._context.vectors(tokens)
            edges += vectors[0] + vectors[-1]
            marks += 2
            np.add.at(sums, places[1:], vectors[1:-1])
            np.add.at(counts, places[1:], 1)
            at += len(run)
        return GoalVectors(tuple(units), sums, counts, (edges, marks))

    def _runs(self, units: Sequence[shape.Unit], lengths: Sequence[int]) -> Iterable[Sequence[shape.Unit]]:
        """Runs of units, each short enough for one pass. lengths: of each its number of pieces."""
        size, room = shape.WINDOW_UNITS, self._context.longest - 2
        while size > 1:
            runs = shape.windows(units, size)
            rest = iter(lengths)
            if all(sum(itertools.islice(rest, len(run))) <= room for run in runs):
                return runs
            size //= 2
        return shape.windows(units, 1)

    def _of_unit(self, unit: str) -> list[int]:
        known = self._pieces.get(unit)
        if known is None:
            if len(self._pieces) > _UNITS_KEPT:
                self._pieces.clear()
            known = self._pieces[unit] = self._weights.tokens(unit)[: shape.UNIT_PIECES]
        return known


def best_of_each(spans: Sequence[Span], many: Mapping[str, int]) -> tuple[Span, ...]:
    """Keep of each slot its `many` most probable different values, and every constraint; in the order
    given."""
    kept: set[int] = set()
    taken: dict[str, set[str]] = {}
    for index in sorted(range(len(spans)), key=lambda index: -spans[index].probability):
        span = spans[index]
        values = taken.setdefault(span.field, set())
        limit = many.get(span.field.removeprefix("slot."), 0) if span.field.startswith("slot.") else None
        if (limit is None or len(values) < limit) and span.value not in values:
            values.add(span.value)
            kept.add(index)
    return tuple(span for index, span in enumerate(spans) if index in kept)


def _temperature(told: Mapping[str, Any], kind: str, path: Path) -> float:
    """What the scores of a kind of answer are divided by: 1 where the file does not say."""
    said = told.get("temperatures", {}).get(kind, 1.0)
    return _between(0.1, said, 10, f"temperature ({kind})", path)


def _between(least: float, said: object, most: float, what: str, path: Path) -> float:
    if not isinstance(said, float | int) or not least <= said <= most:
        raise ModelError("MODEL_BROKEN", f"{said!r} is no {what}", place=str(path), fix=NO_AI)
    return float(said)


def _number(weights: Weights, key: str) -> int:
    said = weights.meta(key)
    if said is None:
        return 0
    if not said.isdecimal():
        raise ModelError(
            "MODEL_BROKEN", f"{key} is no number of bytes: {said!r}", place=str(weights.path), fix=NO_AI
        )
    return int(said)
