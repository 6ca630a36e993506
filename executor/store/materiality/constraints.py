"""What changed between the constraints of two Frames. Their order means nothing."""

from __future__ import annotations

from collections.abc import Iterator

from executor.store.materiality.limits import compare_amounts, compare_deadlines
from executor.store.materiality.rules import Change, changed
from executor.store.materiality.values import moment, plain
from ir import Constraint, Intent
from ir.frame import (
    BudgetConstraint,
    DeadlineConstraint,
    ExtensionConstraint,
    JurisdictionConstraint,
    PolicyConstraint,
    QualityConstraint,
    RuleConstraint,
)


def effective_deadline(intent: Intent) -> str:
    """The earliest deadline of an Intent, "" where it has none."""
    given = [one.by for one in intent.frame.constraints if isinstance(one, DeadlineConstraint)]
    return min((one for one in (intent.deadline, *given) if one), key=moment, default="")


def compare_constraints(
    before: tuple[Constraint, ...], after: tuple[Constraint, ...], *, deadline: str, now: str
) -> Iterator[Change]:
    """Every constraint that is new, gone or another one.

    deadline: the earliest that held before ("": none). now: ISO 8601; what remains is counted from here.
    """
    gone, new = _apart(before, after)
    if not gone and not new:
        yield changed("SAME_VALUE", "frame.constraints", plain(before), plain(after), "in another order")
        return
    for index, old in gone:
        partner = next((one for one in new if one[1].type == old.type), None)
        if partner is None:
            yield from _removed(old, f"frame.constraints[{index}]")
            continue
        new.remove(partner)
        place = f"frame.constraints[{partner[0]}]"
        yield from _changed(old, partner[1], place, now=now)
    for index, one in new:
        yield from _added(one, f"frame.constraints[{index}]", deadline=deadline, now=now)


def _apart(
    before: tuple[Constraint, ...], after: tuple[Constraint, ...]
) -> tuple[list[tuple[int, Constraint]], list[tuple[int, Constraint]]]:
    """Those of each list, with their places, that are not in the other."""
    new = list(enumerate(after))
    gone: list[tuple[int, Constraint]] = []
    for index, old in enumerate(before):
        same = next((one for one in new if one[1] == old), None)
        if same is not None:
            new.remove(same)
        else:
            gone.append((index, old))
    return gone, new


def _binds(constraint: Constraint) -> bool:
    """Whether loosening it counts: what is hard, and budgets and deadlines always."""
    return constraint.hard or isinstance(constraint, BudgetConstraint | DeadlineConstraint)


def _removed(old: Constraint, place: str) -> Iterator[Change]:
    if isinstance(old, BudgetConstraint):
        code = "BUDGET_RAISED" if old.max is not None else "CONSTRAINT_RELAXED"
    elif isinstance(old, DeadlineConstraint):
        code = "DEADLINE_MOVED" if old.by else "CONSTRAINT_RELAXED"
    elif isinstance(old, ExtensionConstraint):
        code = "CONSTRAINT_UNKNOWN"
    else:
        code = "CONSTRAINT_RELAXED" if old.hard else "WISH_CHANGED"
    yield changed(code, place, plain(old), None)


def _added(new: Constraint, place: str, *, deadline: str, now: str) -> Iterator[Change]:
    if isinstance(new, DeadlineConstraint) and new.by:
        yield from compare_deadlines("", new.by, f"{place}.by", start=deadline, now=now)
    elif isinstance(new, ExtensionConstraint):
        yield changed("CONSTRAINT_UNKNOWN", place, None, plain(new))
    elif isinstance(new, BudgetConstraint):
        yield changed("BUDGET_LOWERED", place, None, plain(new))
    else:
        yield changed("CONSTRAINT_TIGHTENED" if new.hard else "WISH_CHANGED", place, None, plain(new))


def _changed(old: Constraint, new: Constraint, place: str, *, now: str) -> Iterator[Change]:
    """Two constraints of one type that are not equal."""
    if isinstance(old, ExtensionConstraint):
        yield changed("CONSTRAINT_UNKNOWN", place, plain(old), plain(new))
        return
    if old.hard != new.hard:
        softer = old.hard and not new.hard
        code = "CONSTRAINT_RELAXED" if softer else "CONSTRAINT_TIGHTENED"
        yield changed(code, f"{place}.hard", old.hard or None, new.hard or None)
    match old, new:
        case BudgetConstraint(), BudgetConstraint():
            if old.max != new.max:
                yield compare_amounts(old.max, new.max, f"{place}.max")
        case DeadlineConstraint(), DeadlineConstraint():
            if old.by != new.by:
                yield from compare_deadlines(old.by, new.by, f"{place}.by", start=old.by, now=now)
        case _:
            if old.model_copy(update={"hard": new.hard}) != new:
                yield _stricter(old, new, place)


def _stricter(old: Constraint, new: Constraint, place: str) -> Change:
    """Whether what held of the new one held of the old one too."""
    match old, new:
        case JurisdictionConstraint(), JurisdictionConstraint():
            allowed, forbidden = set(new.allow), set(old.deny)
            inside = not old.allow or (bool(allowed) and allowed <= set(old.allow))
            tighter = inside and forbidden <= set(new.deny)
            same = allowed == set(old.allow) and forbidden == set(new.deny)
        case QualityConstraint(), QualityConstraint():
            tighter, same = old.metric == new.metric and new.min >= old.min, False
        case (RuleConstraint(), RuleConstraint()) | (PolicyConstraint(), PolicyConstraint()):
            tighter = same = False  # another rule: nobody here knows which is the stricter
        case _:
            return changed("CONSTRAINT_UNKNOWN", place, plain(old), plain(new))
    if same:
        code = "SAME_VALUE"
    elif not _binds(old):
        code = "WISH_CHANGED"
    else:
        code = "CONSTRAINT_TIGHTENED" if tighter else "CONSTRAINT_RELAXED"
    return changed(code, place, plain(old), plain(new))
