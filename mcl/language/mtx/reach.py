"""V15: conditions that can never be reached.

Each condition is about one thing: the verb, the confidence, one slot, or whether anything is unknown. It is
never reached where a block around it, or the blocks before it at its level or around it, leave it no value.
Of the confidence an interval (less single points) is left, of any other thing all values but those taken.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from ir.frame import valid_verb
from mcl.language.mtx.ast import Condition, ConfidenceIs, Entry, File, On, SlotIs, VerbIs, prompt_names
from mcl.language.mtx.finding import Finding, found
from mcl.language.mtx.interpret import is_late

_CONFIDENCE = "confidence"
_Value: TypeAlias = str | bool


class _Span(NamedTuple):
    """What is left of the confidence."""

    low: float = 0.0
    high: float = 1.0
    low_open: bool = False
    high_open: bool = False

    def below(self, number: float, *, open: bool) -> _Span:
        """The part under a number (and the number itself, unless `open`)."""
        if number < self.high or (number == self.high and open):
            return self._replace(high=number, high_open=open)
        return self

    def above(self, number: float, *, open: bool) -> _Span:
        """The part over a number (and the number itself, unless `open`)."""
        if number > self.low or (number == self.low and open):
            return self._replace(low=number, low_open=open)
        return self

    @property
    def wide(self) -> bool:
        """Whether it has more than one value."""
        return self.low < self.high

    @property
    def single(self) -> bool:
        """Whether it has exactly one."""
        return self.low == self.high and not (self.low_open or self.high_open)

    def split(self, condition: ConfidenceIs) -> tuple[_Span, _Span]:
        """What satisfies a comparison, and what does not; for == the latter still has the number."""
        number, sign = float(condition.number), condition.comparison
        if sign in ("<", "<="):
            return self.below(number, open=sign == "<"), self.above(number, open=sign == "<=")
        if sign in (">", ">="):
            return self.above(number, open=sign == ">"), self.below(number, open=sign == ">=")
        return self.above(number, open=False).below(number, open=False), self


@dataclass
class _Left:
    """What earlier blocks of one level and phase leave to later ones."""

    span: _Span
    taken: dict[str, set[_Value]] = field(default_factory=lambda: defaultdict(set))
    points: set[float] = field(default_factory=set)  # single confidences that are taken
    nothing: bool = False


class _Level:
    """One level of blocks on the way down; `phase` is that of the block that is looked into now."""

    def __init__(self, entries: Sequence[Entry], span: _Span, fixed: tuple[str, _Value] | None) -> None:
        self.entries = iter(entries)
        self.fixed = fixed  # by the condition of the block around
        self.start = span
        self.left = {False: _Left(span), True: _Left(span)}
        self.phase = False
        self.inside: Condition | None = None

    @property
    def here(self) -> _Left:
        return self.left[self.phase]


def check_reach(file: File) -> Iterator[Finding]:
    """One warning for each condition that never holds where it stands. Time: linear in the length of a
    file."""
    yield from _Reach(file).findings()


class _Reach:
    def __init__(self, file: File) -> None:
        self.slots = {slot.name: slot.type for slot in file.slots()}
        verbs = file.settings().get("mcl.verbs", "").split()
        extra = [name for name in prompt_names(file) if name.startswith("x:")]  # may be for steps alone
        self.domains: dict[str, frozenset[_Value] | None] = {
            "verb": frozenset([*verbs, *extra]) if verbs and all(map(valid_verb, verbs)) else None,
            "unknown": frozenset([True, False]),
        }
        self.levels = [_Level(file.procedure, _Span(), None)]

    def findings(self) -> Iterator[Finding]:
        levels = self.levels
        while levels:
            level = levels[-1]
            if level.inside is not None:  # the block was looked into: what it takes, no later one gets
                self.take(level.inside)
                level.inside = None
            entry = next((entry for entry in level.entries if isinstance(entry, On)), None)
            if entry is None:
                levels.pop()
                continue
            condition = entry.condition
            level.phase = is_late(condition)
            if self.reached(condition):
                level.inside = condition
                span, fixed = level.here.span, None
                if isinstance(condition, ConfidenceIs):
                    span = span.split(condition)[0]
                else:
                    fixed = self.about(condition)
                levels.append(_Level(entry.body, span, fixed))
                continue
            if self.is_wrong(condition):
                continue
            earlier = self.possible(condition, len(levels) - 1)
            message = (
                "an earlier block takes every such case" if earlier else "this condition never holds here"
            )
            about = _CONFIDENCE if isinstance(condition, ConfidenceIs) else self.about(condition)[0]
            yield found(condition, "V15", message, about, warning=True)

    def about(self, condition: Condition) -> tuple[str, _Value]:
        """What a condition is about, and the value that it wants."""
        if isinstance(condition, VerbIs):
            return "verb", condition.verb
        if isinstance(condition, SlotIs):
            return f"slot.{condition.slot}", condition.value.value
        return "unknown", True

    def domain(self, name: str) -> frozenset[_Value] | None:
        """All values of a thing; None where they are without end."""
        if name not in self.domains:
            type = self.slots.get(name.removeprefix("slot."))
            if type is not None and type.name == "enum":
                self.domains[name] = frozenset([*type.members, ""])
            else:
                is_bool = type is not None and type.name == "bool"
                self.domains[name] = frozenset(["true", "false", ""]) if is_bool else None
        return self.domains[name]

    def fixed(self, name: str) -> set[_Value]:
        """What the blocks around want a thing to be."""
        return {level.fixed[1] for level in self.levels if level.fixed and level.fixed[0] == name}

    def excludes(self, name: str, one: _Value, other: _Value) -> bool:
        """Whether a thing cannot be both; a list may hold several values, but not be empty then."""
        type = self.slots.get(name.removeprefix("slot."))
        many = type is not None and type.many
        return (not one) != (not other) if many else one != other

    def in_domain(self, name: str, value: _Value) -> bool:
        domain = self.domain(name)
        return domain is None or value in domain

    def is_wrong(self, condition: Condition) -> bool:
        """Whether another check (V2, V3) says already that there is no such verb or value."""
        if isinstance(condition, VerbIs):
            return not valid_verb(condition.verb)
        return isinstance(condition, SlotIs) and not self.in_domain(*self.about(condition))

    def reached(self, condition: Condition) -> bool:
        return not self.levels[-1].here.nothing and self.possible(condition, len(self.levels))

    def possible(self, condition: Condition, depth: int) -> bool:
        """Whether a condition can hold at the last level: `depth` says how many levels' earlier blocks
        count."""
        if isinstance(condition, ConfidenceIs):
            level = self.levels[-1]
            span = level.here.span if depth == len(self.levels) else level.start
            return self.holds_any(span.split(condition)[0], depth)
        name, value = self.about(condition)
        if not self.in_domain(name, value):
            return False
        if any(self.excludes(name, one, value) for one in self.fixed(name)):
            return False
        return not any(value in level.here.taken.get(name, ()) for level in self.levels[:depth])

    def holds_any(self, span: _Span, depth: int) -> bool:
        return span.wide or (
            span.single and not any(span.low in level.here.points for level in self.levels[:depth])
        )

    def take(self, condition: Condition) -> None:
        """Take what a reached condition holds for from the blocks behind it."""
        left, depth = self.levels[-1].here, len(self.levels)
        if isinstance(condition, ConfidenceIs):
            left.span = left.span.split(condition)[1]
            if condition.comparison == "==":
                left.points.add(float(condition.number))
            left.nothing = not self.holds_any(left.span, depth)
            return
        name, value = self.about(condition)
        left.taken[name].add(value)
        domain = self.domain(name)
        if fixed := self.fixed(name):
            left.nothing = left.nothing or value in fixed
        elif domain is not None:
            taken = sum(len(level.here.taken.get(name, ())) for level in self.levels)  # no value twice
            left.nothing = taken >= len(domain)
