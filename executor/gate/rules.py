"""What the hard promises of an Intent hold each call of its run to, before any call is known."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from executor.core.errors import PolicyError, ScopeError
from executor.gate.portion import Portion
from executor.sandbox.files import components
from executor.sandbox.origin import parse_grant
from ir import (
    Intent,
    JurisdictionConstraint,
    PromiseError,
    Restriction,
    RuleConstraint,
    parse_keeps,
    promises_of,
)
from ir.promises import PLACES

# ---- The rules.

_NOTHING: Final = Restriction("")


@dataclass(frozen=True)
class HeldRule:
    """A promise that the gate holds calls to. place: its path in the Intent, which is so many ``levels`` of
    dispatches above the call; said: its words.

    restriction: what it keeps; flaw: why that cannot be read, in which case nothing is let pass. portion:
    what it leaves of places and hosts. regions: of a jurisdiction.
    """

    place: str
    said: str
    restriction: Restriction = _NOTHING
    flaw: str = ""
    portion: Portion | None = None
    regions: JurisdictionConstraint | None = None
    levels: int = 0

    @property
    def means(self) -> str:
        """What is held, in plain words."""
        return self.said if self.regions else self.restriction.words


def held_rules(intent: Intent) -> tuple[HeldRule, ...]:
    """Those of an Intent, in its order: its hard rules that keep something, and its hard jurisdictions."""
    found = []
    for promise in promises_of(intent):
        item = promise.item
        if isinstance(item, JurisdictionConstraint) and item.hard:
            found.append(HeldRule(promise.place, promise.says, regions=item))
        elif isinstance(item, RuleConstraint) and item.hard and item.keeps:
            found.append(_held(promise.place, item))
    return tuple(found)


def _held(place: str, rule: RuleConstraint) -> HeldRule:
    try:
        restriction = parse_keeps(rule.keeps)
        return HeldRule(place, rule.rule or rule.keeps, restriction, portion=_portion(restriction))
    except (PromiseError, PolicyError, ScopeError) as problem:
        return HeldRule(place, rule.rule or rule.keeps, flaw=problem.message)


@lru_cache(maxsize=256)
def _portion(restriction: Restriction) -> Portion | None:
    """What a rule about places or hosts leaves. Raises ScopeError, PolicyError for one that there is not."""
    if restriction.kind == "only host":
        return Portion(hosts=frozenset(map(parse_grant, restriction.values)))
    if restriction.kind not in PLACES:
        return None
    folders = frozenset(map(components, restriction.values))
    closes = restriction.kind.endswith("not in")
    return Portion(closed=folders) if closes else Portion(folders=folders)


def counted_calls(intent: Intent) -> list[int]:
    """How many calls the rules of an Intent leave, each."""
    kept = (one.restriction for one in held_rules(intent))
    return [one.most for one in kept if one.kind == "at most calls"]


# ---- Regions: where a host is, by what a person said of it when it was granted.

UNION: Final = frozenset(
    "AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK".split()  # noqa: SIM905
)


_CODE: Final = re.compile(r"[A-Z]{2}", re.ASCII)
_SAME: Final = {"UK": "GB", "EL": "GR"}  # what the Union calls two of them


def strange_region(wanted: JurisdictionConstraint) -> str:
    """The first region of these that is no code, "" where each is: nothing could be held to it."""
    return next((one for one in (*wanted.allow, *wanted.deny) if not _CODE.fullmatch(one)), "")


def fits(regions: Collection[str], wanted: JurisdictionConstraint) -> bool:
    """Whether a host that is in these regions, and may be in any of them, is where it may be."""
    if not regions or strange_region(wanted):
        return False
    inside = not wanted.allow or _with_members(regions) <= _with_members(wanted.allow)
    return inside and not _with_members(regions) & _with_members(wanted.deny)


def _with_members(codes: Iterable[str]) -> frozenset[str]:
    said = frozenset(_SAME.get(one, one) for one in codes)
    return (said - {"EU"}) | UNION if "EU" in said else said
