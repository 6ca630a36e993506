"""Counting values that were found against those that were wanted."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Value = tuple[str, Hashable]  # (field, value)


@dataclass
class ValueCount:
    """right, found, wanted: numbers of values."""

    right: int = 0
    found: int = 0
    wanted: int = 0

    def add(self, want: set[Value], got: set[Value]) -> None:
        """Count one frame."""
        self.right += len(want & got)
        self.found += len(got)
        self.wanted += len(want)

    @property
    def precision(self) -> float:
        """Share of the found that is right."""
        return self.right / max(1, self.found)

    @property
    def recall(self) -> float:
        """Share of the wanted that was found."""
        return self.right / max(1, self.wanted)

    @property
    def f1(self) -> float:
        """Harmonic mean of both."""
        return 2 * self.right / max(1, self.found + self.wanted)


@dataclass
class Scores:
    """Over all values, by field, and how many frames were wholly right."""

    total: ValueCount = field(default_factory=ValueCount)
    fields: dict[str, ValueCount] = field(default_factory=lambda: defaultdict(ValueCount))
    frames: int = 0
    exact: int = 0

    def add(self, want: set[Value], got: set[Value]) -> None:
        """Count one frame."""
        self.total.add(want, got)
        for name in {name for name, _ in want | got}:
            self.fields[name].add({v for v in want if v[0] == name}, {v for v in got if v[0] == name})
        self.frames += 1
        self.exact += want == got

    @property
    def macro(self) -> float:
        """Mean F1 of the fields."""
        return sum(count.f1 for count in self.fields.values()) / max(1, len(self.fields))


Figures = dict[str, Any]
SURE = 0.9
WORST, PAIRS = 50, 12
NONE = "none"
"""The skill of what no skill takes, and of a refusal."""


class FoundValue(NamedTuple):
    """A value of a field: `slot.<name>` or a constraint; the text as the prose has it, or an option."""

    field: str
    text: str


@dataclass(frozen=True)
class GoalAnswer:
    """One goal: what was wanted and what came.

    confidence: of the whole answer, 0 to 1; 0 where it does not say one. skill_probability: of the chosen
    skill, or of none, where that is known. invented:
    texts that came and stand neither in the prose nor among the options and defaults of their slot.
    alarms: constraints that came in a set which labels none; they are not in `found`.
    chooses, marks: whether a skill was to be chosen, and whether there were values to find.
    """

    text: str
    wanted_skill: str
    wanted_verb: str
    wanted: frozenset[FoundValue]
    skill: str
    verb: str
    found: frozenset[FoundValue]
    confidence: float
    skill_probability: float = 0.0
    outcome: str = ""
    invented: tuple[str, ...] = ()
    alarms: int = 0
    chooses: bool = True
    marks: bool = True

    @property
    def right_skill(self) -> bool:
        """Whether the skill is the wanted one, or none was to be chosen."""
        return not self.chooses or self.skill == self.wanted_skill

    @property
    def right_verb(self) -> bool:
        """Whether the verb is the wanted one, as far as one is wanted."""
        return not self.chooses or not self.wanted_verb or self.verb == self.wanted_verb

    @property
    def right(self) -> bool:
        """Whether all that was asked is right; of nobody's goal that is the skill alone."""
        if self.wanted_skill == NONE:
            return self.right_skill
        return self.right_skill and self.right_verb and (not self.marks or self.wanted == self.found)

    @property
    def fields(self) -> tuple[int, int]:
        """(right, all) of its fields: the skill, the verb, and each value that was wanted or found."""
        if NONE in (self.wanted_skill, self.skill):
            return int(self.right_skill), 1
        asked = [self.skill == self.wanted_skill] if self.chooses else []
        asked += [self.right_verb] if self.chooses and self.wanted_verb else []
        values = len(self.wanted | self.found) if self.marks else 0
        return sum(asked) + (len(self.wanted & self.found) if self.marks else 0), len(asked) + values


def figures_of(answers: Sequence[GoalAnswer]) -> Figures:
    """Skill, verb, values, exactness, refusals, calibration. Shares from 0 to 1; keys of what was asked only.

    Values are counted of goals that some skill takes, whichever was chosen: those of a wrong skill are wrong
    unless field and text agree.
    """
    meant = [a for a in answers if a.wanted_skill != NONE]
    figures: Figures = {"n": len(meant)}
    chosen = [a for a in meant if a.chooses]
    if chosen:
        figures["chosen n"] = len(chosen)
        figures["skill"] = share(a.right_skill for a in chosen)
        figures["verb"] = share(a.right_verb for a in chosen if a.wanted_verb)
        figures |= _certainty([a for a in answers if a.chooses])
    if strange := [a for a in answers if a.wanted_skill == NONE]:
        figures["none n"] = len(strange)
        figures["none recall"] = share(a.right_skill for a in strange)
    if any(a.marks for a in meant):
        figures |= _values([a for a in meant if a.marks])
    figures["exact"] = share(a.right for a in meant)
    if any(a.outcome for a in answers):
        figures["outcomes"] = dict(sorted(Counter(a.outcome for a in answers).items()))
    return figures


def _values(answers: Sequence[GoalAnswer]) -> Figures:
    scores = Scores()
    for a in answers:
        scores.add(set(a.wanted), set(a.found))
    found = sum(len(a.found) for a in answers)
    return {
        "marked n": len(answers),
        "field F1": scores.total.f1,
        "precision": scores.total.precision,
        "recall": scores.total.recall,
        "macro F1": scores.macro,
        "frames exact": scores.exact / max(1, scores.frames),
        "false constraints": share(a.alarms > 0 for a in answers),
        "invented": sum(len(a.invented) for a in answers) / max(1, found),
        "F1 by field": {name: count.f1 for name, count in sorted(scores.fields.items())},
        "wanted by field": {name: count.wanted for name, count in sorted(scores.fields.items())},
    }


def _certainty(answers: Sequence[GoalAnswer]) -> Figures:
    sure = [a for a in answers if a.confidence >= SURE]
    fields = [a.fields for a in sure]
    skills = [(a.skill_probability, a.right_skill) for a in answers if a.skill_probability]
    figures: Figures = {"skill ECE": calibration_error(skills)} if skills else {}
    return figures | {
        "sure": len(sure) / max(1, len(answers)),
        "fields right when sure": sum(right for right, _ in fields) / max(1, sum(n for _, n in fields)),
        "exact when sure": share(a.right for a in sure),
        "ECE": calibration_error([(a.confidence, a.right) for a in answers if a.confidence]),
    }


def share(values: Iterable[bool]) -> float:
    """Share of those that are true, 0 of none."""
    given = list(values)
    return sum(given) / max(1, len(given))


def calibration_error(rows: Sequence[tuple[float, bool]], bins: int = 10) -> float:
    """Expected calibration error of (stated probability, whether it was right): Naeini et al. 2015."""
    error = 0.0
    for i in range(bins):
        inside = [(p, right) for p, right in rows if i / bins < p <= (i + 1) / bins]
        error += abs(sum(right - p for p, right in inside))
    return error / max(1, len(rows))


def confusions(answers: Iterable[GoalAnswer], most: int = PAIRS) -> dict[str, list[tuple[str, str, int]]]:
    """The most frequent wrong pairs (wanted, came, how often) of skills, and of verbs of right skills."""
    rows = [a for a in answers if a.chooses]
    skills = Counter((a.wanted_skill, a.skill) for a in rows if not a.right_skill)
    verbs = Counter((a.wanted_verb, a.verb) for a in rows if a.right_skill and not a.right_verb)
    return {
        kind: [(*pair, n) for pair, n in sorted(pairs.items(), key=lambda row: (-row[1], row[0]))[:most]]
        for kind, pairs in (("skill", skills), ("verb", verbs))
    }


def worst(answers: Iterable[GoalAnswer], most: int = WORST) -> list[GoalAnswer]:
    """The most confident of the wrong ones."""
    return sorted((a for a in answers if not a.right), key=lambda a: (-a.confidence, a.text))[:most]


def kinds(answers: Iterable[GoalAnswer]) -> Mapping[str, Mapping[str, int]]:
    """How values of goals of the right skill go wrong, by field.

    "edge": the field is right, the words overlap; "as X": its words were taken for X; "missed"; "extra": what
    came overlaps nothing that was wanted.
    """
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for answer in answers:
        if not answer.right_skill or answer.wanted_skill == NONE:
            continue
        extra = sorted(answer.found - answer.wanted)
        explained: set[FoundValue] = set()
        for value in sorted(answer.wanted - answer.found):
            near = [one for one in extra if _overlap(answer.text, value.text, one.text)]
            explained.update(near)
            edge = any(one.field == value.field for one in near)
            counts[value.field]["edge" if edge else f"as {near[0].field}" if near else "missed"] += 1
        for value in extra:
            if value not in explained:
                counts[value.field]["extra"] += 1
    return {name: dict(found.most_common()) for name, found in sorted(counts.items())}


def _overlap(prose: str, a: str, b: str) -> bool:
    one, other = prose.find(a), prose.find(b)
    return one >= 0 and other >= 0 and one < other + len(b) and other < one + len(a)


def by_skill(answers: Collection[GoalAnswer]) -> dict[str, Figures]:
    """Number, and shares of right skills, verbs and wholly right answers, of each wanted skill."""
    groups: dict[str, list[GoalAnswer]] = defaultdict(list)
    for a in answers:
        groups[a.wanted_skill].append(a)
    return {
        name: {
            "n": len(rows),
            "skill": share(a.right_skill for a in rows),
            "verb": share(a.right_verb for a in rows),
            "exact": share(a.right for a in rows),
        }
        for name, rows in sorted(groups.items())
    }
