"""Words of a goal that say how long the goal itself counts ("valid until tomorrow 17:00"), and options that
do: until then it may be accepted and run.

Only a clause of its own says it of the goal: a coupon that is valid for two hours is an object.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from mcl.compiler.stages.gaps import Gap
from mcl.compiler.stages.phrases import either
from mcl.core.errors import InputError
from mcl.language.mtx.core import CoreModule
from mcl.model.cues import TextPlace, free, place_of, span_at
from mcl.model.protocol import Span

FIELD: Final = "expires_at"
_BEGINS: Final = r"(?:^|[,.;:!?(\n–—])\s*(?:(?:and|but|only|och|men|bara)\s+)?"
_CLAUSES: Final = 4  # that are read
_ENDS: Final = re.compile(
    r"[,;!?()\n]|[.:](?=\s|$)|\s[–—-]\s|\s(?:and|but|then|please|och|men|sedan|tack)\b", re.IGNORECASE
)
_TYPE: Final = "iso8601"


@dataclass(frozen=True)
class Expiry:
    """What was found at prose[start:end]: the moment (ISO 8601 UTC), or the gap that it leaves."""

    start: int
    end: int
    at: str = ""
    gap: Gap | None = None


@dataclass(frozen=True)
class ExpiryWords:
    """The words of the module `constraint`. leads: what stands before the moment, or the time that it counts.
    question: what is asked where that cannot be read."""

    leads: re.Pattern[str]
    question: str

    @classmethod
    def of(cls, module: CoreModule) -> "ExpiryWords":
        """Read them. Raises SkillError NO_SETTING."""
        phrases = sorted(module.phrases("expiry.words"), key=len, reverse=True)
        pattern = re.compile(rf"{_BEGINS}(?P<said>{either(phrases)}\s+)", re.IGNORECASE)
        return cls(pattern, module.text("question.expires_at"))

    def found(self, prose: str, at: str, zone: str) -> list[Expiry]:
        """The clauses that say it, in order. at: when the goal was said (ISO 8601 UTC); zone: where."""
        places = [match.span("said") for match in self.leads.finditer(prose)]
        if len(places) > _CLAUSES:
            why = f"“{prose[slice(*places[0])].strip()}” is said {len(places)} times"
            return [Expiry(*places[0], gap=self.gap(why))]
        return [self._read(prose, start, end, at, zone) for start, end in places]

    def _read(self, prose: str, start: int, end: int, at: str, zone: str) -> Expiry:
        text = _ENDS.split(prose[end:], maxsplit=1)[0].rstrip()
        stop = end + len(text)
        if moment := _moment(text, at, zone):
            return Expiry(start, stop, moment, self.over(text, moment, at))
        return Expiry(start, stop, gap=self.gap(f"“{prose[start:stop]}” cannot be read as a moment"))

    def answered(self, text: str, at: str, zone: str) -> Expiry:
        """The same of an answer."""
        moment = _moment(text, at, zone)
        why = f"“{text}” cannot be read as a moment"
        return Expiry(0, 0, moment, self.over(text, moment, at) if moment else self.gap(why))

    def over(self, text: str, moment: str, at: str) -> Gap | None:
        """The gap of a moment that is over; None for one to come."""
        # Compared as texts: both are UTC with the same number of digits.
        return self.gap(f"“{text}” ({moment}) is already over") if moment <= at else None

    def gap(self, why: str) -> Gap:
        """The blocking question for it."""
        return Gap(FIELD, _TYPE, "blocking", why, f"{why[:1].upper()}{why[1:]}. {self.question}")


def clauses_of(
    said: Sequence[Expiry], spans: Sequence[Span], prose: str
) -> tuple[tuple[Span, ...], list[Expiry]]:
    """The spans with the clauses that say it in place of what is part of them, and these clauses. One that is
    part of a longer text says nothing of the goal."""
    kept, taken = list(spans), []
    for one in said:
        place = TextPlace(one.start, one.end)
        met = [two for two in kept if two.start is not None and not free(place_of(two), [place])]
        if all(_inside(place_of(two), place) for two in met):
            kept = [*(two for two in kept if two not in met), span_at(FIELD, prose, place, 1.0)]
            taken.append(one)
    return tuple(kept), taken


def _inside(one: TextPlace, other: TextPlace) -> bool:
    return other.start <= one.start and one.end <= other.end


def expiry_of(text: str, at: str, zone: str) -> str:
    """The moment that an option says, in words or as ISO 8601. Raises InputError TIME_INVALID."""
    moment = _moment(text, at, zone)
    fix = "write it as 2h, “tomorrow 17:00” or 2026-11-21T10:00:00Z"
    if not moment:
        raise InputError("TIME_INVALID", f"{text[:100]!r} is no moment", place="expires", fix=fix)
    if moment <= at:
        raise InputError("TIME_INVALID", f"{text[:100]!r} ({moment}) is over", place="expires", fix=fix)
    return moment


def _moment(text: str, at: str, zone: str) -> str:
    from mcl.values.dates import read_moment

    return read_moment(text.strip().rstrip("."), at, zone) or ""
