"""V15: conditions that can never be reached.

Each condition is about one thing (the verb, the confidence, one slot, whether anything is unknown), so what
is still possible at a place is a set of values for each of them. A condition that leaves its set empty, or
that stands behind conditions which together took everything, is never reached. Sets are finite: of an endless
domain only the values that some condition names, and what lies between, are told apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TypeAlias

from mcl.mtx.ast import AnyUnknown, Condition, ConfidenceIs, Entry, File, On, SlotIs, SlotType, VerbIs
from mcl.mtx.finding import Finding, found
from mcl.mtx.interpret import COMPARE, is_late

_World: TypeAlias = dict[str, frozenset[object]]
_OTHER = object()  # any value that no condition names


def check_reach(file: File) -> Iterator[Finding]:
    """One warning for each condition that never holds where it stands."""
    conditions = list(_conditions(file.procedure))
    types = {slot.name: slot.type for slot in file.slots()}
    world = {
        name: domain
        for condition in conditions
        for name, domain in _domain(condition, conditions, types, file)
    }
    yield from _level(file.procedure, world, types)


def _level(entries: Sequence[Entry], world: _World, types: dict[str, SlotType]) -> Iterator[Finding]:
    left = {False: dict(world), True: dict(world)}
    for entry in entries:
        if not isinstance(entry, On):
            continue
        here = left[is_late(entry.condition)]
        name, holds = _test(entry.condition, types)
        allowed = frozenset(value for value in here[name] if holds(value))
        if not allowed or not all(here.values()):
            possible = any(holds(value) for value in world[name])
            message = (
                "an earlier block takes every such case" if possible else "this condition never holds here"
            )
            yield found(entry.condition, "V15", message, str(name), warning=True)
            continue
        yield from _level(entry.body, {**here, name: allowed}, types)
        here[name] -= allowed


def _conditions(entries: Sequence[Entry]) -> Iterator[Condition]:
    for entry in entries:
        if isinstance(entry, On):
            yield entry.condition
            yield from _conditions(entry.body)


def _test(condition: Condition, types: dict[str, SlotType]) -> tuple[str, Callable[[object], bool]]:
    """What the condition is about, and which values of it satisfy the condition."""
    if isinstance(condition, VerbIs):
        return "verb", lambda value: value == condition.verb
    if isinstance(condition, ConfidenceIs):
        compare, number = COMPARE[condition.comparison], float(condition.number)
        return "confidence", lambda value: isinstance(value, float) and bool(compare(value, number))
    if isinstance(condition, SlotIs):
        slot = types.get(condition.slot)
        if slot is not None and slot.many:  # a list may hold several values at once
            return f"slot.{condition.slot}={condition.value.value}", lambda value: value is True
        return f"slot.{condition.slot}", lambda value: value == condition.value.value
    return "unknown", lambda value: value is True


def _domain(
    condition: Condition, conditions: Sequence[Condition], types: dict[str, SlotType], file: File
) -> Iterator[tuple[str, frozenset[object]]]:
    name, _ = _test(condition, types)
    if isinstance(condition, VerbIs):
        verbs = file.settings().get("mcl.verbs", "").split()
        yield name, frozenset(verbs) or frozenset({condition.verb, _OTHER})
    elif isinstance(condition, ConfidenceIs):
        numbers = {float(other.number) for other in conditions if isinstance(other, ConfidenceIs)}
        points = sorted({0.0, 1.0} | {number for number in numbers if 0 <= number <= 1})
        between = [(low + high) / 2 for low, high in pairwise(points)]
        yield name, frozenset([*points, *between])
    elif isinstance(condition, SlotIs):
        slot = types.get(condition.slot)
        if slot is not None and slot.many:
            yield name, frozenset({True, False})
        elif slot is not None and slot.name == "enum":
            yield name, frozenset([*slot.members, _OTHER])
        else:
            same = (
                other for other in conditions if isinstance(other, SlotIs) and other.slot == condition.slot
            )
            yield name, frozenset([*(other.value.value for other in same), _OTHER])
    elif isinstance(condition, AnyUnknown):
        yield name, frozenset({True, False})
