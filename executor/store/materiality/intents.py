"""What changed between two Intents, field by field."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final, TypeAlias

from executor.core.clock import duration
from executor.store.materiality.rules import Change, changed
from ir import Budget, Constraint, Frame, Intent, Reference, canonical_bytes, parse_json
from ir.document import Document
from ir.frame import (
    AssetAmount,
    BudgetConstraint,
    DeadlineConstraint,
    ExtensionConstraint,
    JurisdictionConstraint,
    PolicyConstraint,
    QualityConstraint,
    RuleConstraint,
)

# ---- Moments and lengths of time as values, not as texts: `PT60M` is `PT1H`, 12:00+02:00 is 10:00Z.

_QUARTER: Final = Decimal("0.25")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def moment(text: str) -> Decimal:
    """Seconds since 1970 of an ISO 8601 moment, exact to its last digit; without an offset: UTC.

    Raises ValueError.
    """
    head, dot, rest = text.partition(".")
    digits = rest[: len(rest) - len(rest.lstrip("0123456789"))]
    whole = datetime.fromisoformat(head + rest[len(digits) :] if dot else text)
    since = (whole if whole.tzinfo else whole.replace(tzinfo=UTC)) - _EPOCH
    return Decimal(since.days * 86400 + since.seconds) + Decimal(f"0.{digits or 0}")


def seconds(text: str) -> Decimal:
    """Seconds of an ISO 8601 duration, as a run counts them."""
    return Decimal(str(duration(text).total_seconds()))


def moved_far(before: str, after: str, now: str) -> bool:
    """Was a moment moved by more than a quarter of what remains of it? Where nothing remains: at all."""
    old, new = moment(before), moment(after)
    return abs(new - old) > _QUARTER * max(Decimal(0), old - moment(now))


def plain(value: Any) -> Any:
    """A document, or a part of one, as JSON values; None for what is empty."""
    if isinstance(value, Document):
        return parse_json(canonical_bytes(value), max_nesting=1000)
    if isinstance(value, tuple | list):
        return [plain(item) for item in value] or None
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()} or None
    return value or None


def compare_budgets(before: Budget | None, after: Budget | None, place: str) -> Iterator[Change]:
    """Each limit that is another one. No limit is the highest."""
    old, new = before or Budget(), after or Budget()
    for name in Budget.model_fields:
        was, now_is = getattr(old, name), getattr(new, name)
        if was == now_is:
            continue
        where = f"{place}.{name}"
        if name == "max_cost":
            yield compare_amounts(was, now_is, where)
        elif name == "max_time":
            yield _order(
                where, was, now_is, seconds(was) if was else None, seconds(now_is) if now_is else None
            )
        elif name in ("max_calls", "max_agents"):
            yield _limits(where, was, now_is)
        else:
            yield changed("FIELD_CHANGED", where, plain(was), plain(now_is))


def _limits(place: str, before: int | None, after: int | None) -> Change:
    """Of numbers, of which none is no limit and zero is one."""
    raised = after is None or (before is not None and after > before)
    return changed("BUDGET_RAISED" if raised else "BUDGET_LOWERED", place, before, after)


def compare_amounts(before: AssetAmount | None, after: AssetAmount | None, place: str) -> Change:
    """The most that may be spent. None, and an amount that names no asset, set no limit."""
    if before and after and before.asset != after.asset:
        return changed("BUDGET_RAISED", place, plain(before), plain(after), "in another asset")
    return _order(place, before, after, before.value if before else None, after.value if after else None)


def _order(place: str, before: object, after: object, old: object, new: object) -> Change:
    if old == new:
        code = "SAME_VALUE"
    elif new is None or (old is not None and new > old):  # type: ignore[operator]  # both int or Decimal
        code = "BUDGET_RAISED"
    else:
        code = "BUDGET_LOWERED"
    return changed(code, place, plain(before), plain(after))


def compare_deadlines(before: str, after: str, place: str, *, start: str, now: str) -> Iterator[Change]:
    """One deadline. start: what a deadline that was not there is counted from, "" for none; now: ISO 8601."""
    if not after:
        yield changed("DEADLINE_MOVED", place, plain(before), None, "there is none any more")
    elif not start:
        yield changed("DEADLINE_MOVED", place, None, after, "there was none")
    elif before and moment(before) == moment(after):
        yield changed("SAME_VALUE", place, before, after)
    elif not before and moment(after) >= moment(start):
        yield changed("DEADLINE_SHIFTED", place, None, after, f"{start} still comes first")
    else:
        far = moved_far(before or start, after, now)
        yield changed("DEADLINE_MOVED" if far else "DEADLINE_SHIFTED", place, plain(before), after)


# ---- What changed between the constraints of two Frames. Their order means nothing.


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
            alike = (old.metric, old.share) == (new.metric, new.share)
            tighter, same = alike and new.min >= old.min, False
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


Judge: TypeAlias = Callable[[Intent, Intent, str], Iterator[Change]]


def compare_intents(before: Intent, after: Intent, *, now: str, words_used: bool = False) -> Iterator[Change]:
    """Every difference, in the order of the fields.

    now: ISO 8601, the moment that what remains of a deadline is counted from. words_used: is anything in the
    plan made from the Intent's prose?
    """
    for name in Intent.model_fields:
        if name == "hash" or getattr(before, name) == getattr(after, name):
            continue
        if name == "prose":
            yield from _prose(before, after, used=words_used)
        elif name in _OF_INTENT:
            yield from _OF_INTENT[name](before, after, now)
        else:
            yield changed("FIELD_CHANGED", name, plain(getattr(before, name)), plain(getattr(after, name)))


def _fixed(name: str) -> Judge:
    def judge(before: Intent, after: Intent, now: str) -> Iterator[Change]:
        yield changed("IDENTITY_CHANGED", name, plain(getattr(before, name)), plain(getattr(after, name)))

    return judge


def _prose(before: Intent, after: Intent, *, used: bool) -> Iterator[Change]:
    quoted = any(one.type == "signed_off" for one in (*_criteria(before), *_criteria(after)))
    yield changed("WORDS_USED" if used or quoted else "TEXT_CHANGED", "prose", before.prose, after.prose)


def _criteria(intent: Intent) -> tuple[Any, ...]:
    return intent.frame.success_criteria


def _frame(before: Intent, after: Intent, now: str) -> Iterator[Change]:
    for name in Frame.model_fields:
        old, new = getattr(before.frame, name), getattr(after.frame, name)
        if old == new:
            continue
        place = f"frame.{name}"
        if name == "constraints":
            yield from compare_constraints(old, new, deadline=effective_deadline(before), now=now)
        elif name == "verb":
            yield changed("VERB_CHANGED", place, plain(old), plain(new))
        elif name in _LISTS:
            yield from _lists(_LISTS[name], place, old, new)
        else:
            yield changed("FIELD_CHANGED", place, plain(old), plain(new))


_LISTS: Final = {
    "objects": "OBJECT_CHANGED",
    "success_criteria": "CRITERION_CHANGED",
    "preferences": "PREFERENCE_CHANGED",
}


def _lists(code: str, place: str, before: tuple[Any, ...], after: tuple[Any, ...]) -> Iterator[Change]:
    """What is in one list and not in the other; the order of a list means nothing."""
    gone, new = list(before), list(after)
    for one in before:
        if one in new:
            new.remove(one)
            gone.remove(one)
    if not gone and not new:
        yield changed("SAME_VALUE", place, plain(before), plain(after), "the same in another order")
        return
    for index in range(max(len(gone), len(new))):
        old = gone[index] if index < len(gone) else None
        now_there = new[index] if index < len(new) else None
        where = after.index(now_there) if now_there is not None else before.index(old)
        yield changed(code, f"{place}[{where}]", plain(old), plain(now_there))


def _unknowns(before: Intent, after: Intent, now: str) -> Iterator[Change]:
    yield from _lists("QUESTION_CHANGED", "unknowns", before.unknowns, after.unknowns)


def _references(before: Intent, after: Intent, now: str) -> Iterator[Change]:
    def silent(one: Reference) -> Reference:
        return one.model_copy(update={"summary": ""})

    old, new = tuple(map(silent, before.references)), tuple(map(silent, after.references))
    if old == new:
        yield changed("TEXT_CHANGED", "references", plain(before.references), plain(after.references))
    else:
        yield from _lists("REFERENCE_CHANGED", "references", old, new)


def _budget(before: Intent, after: Intent, now: str) -> Iterator[Change]:
    yield from compare_budgets(before.budget, after.budget, "budget")


def _deadline(before: Intent, after: Intent, now: str) -> Iterator[Change]:
    start = before.deadline or effective_deadline(before)
    yield from compare_deadlines(before.deadline, after.deadline, "deadline", start=start, now=now)


def _expiry(before: Intent, after: Intent, now: str) -> Iterator[Change]:
    old, new = before.expires_at, after.expires_at
    if not old or not new:
        code = "EXPIRY_EXTENDED" if old else "EXPIRY_SHORTENED"
    elif moment(old) == moment(new):
        code = "SAME_VALUE"
    else:
        code = "EXPIRY_EXTENDED" if moment(new) > moment(old) else "EXPIRY_SHORTENED"
    yield changed(code, "expires_at", plain(old), plain(new))


FIXED_IN_INTENT: Final = (
    "id",
    "v",
    "parent",
    "actor",
    "agent",
    "state",
    "confidence",
    "created_at",
    "goal_id",
    "signed_by",
    "compile_metadata",
)
_OF_INTENT: Final[Mapping[str, Judge]] = {
    **{name: _fixed(name) for name in FIXED_IN_INTENT},
    "frame": _frame,
    "unknowns": _unknowns,
    "references": _references,
    "budget": _budget,
    "deadline": _deadline,
    "expires_at": _expiry,
}
