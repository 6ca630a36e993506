"""What a goal in everyday words wants computed: “14.5 hours at 800 plus 25 % VAT”, “dela 1 450 kr på tre”."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from itertools import pairwise
from typing import Final, NamedTuple

from executor.core.errors import ToolError
from mcl.compiler.stages.file_names import FileNames
from mcl.compiler.stages.filled import FilledInput, SaidClause
from mcl.model.cues import TextPlace, within
from mcl.plugins.text.arithmetic import compute
from mcl.plugins.text.said import pattern
from mcl.values.numbers import read_number

_NUMBER: Final = re.compile(
    r"(?<![\w.,-])(?P<digits>\d{1,3}(?:[ \u00a0]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?)(?!\w|[-:/.]\d)"
    r"(?P<half>\s+(?:and|och)\s+(?:an?|ett?)\s+hal(?:f|vt?)(?!\w))?"
    r"|(?<![\w-])[^\W\d_]{2,}(?:[ -][^\W\d_]+){0,5}(?!\w)"
)
_PERCENT: Final = re.compile(r"\s*(?:%|per ?cent\b|procent\b)", re.IGNORECASE)
_OTHER: Final = re.compile(
    r"\d[-:/]\d|\w\.\w{2,4}\b(?<!\d)|[()^@]|\b20\d\d\b"
)  # days, times, files, brackets
_HALF: Final = Decimal("0.5")
_LONGEST: Final = 200
_MOST: Final = 8  # numbers
_NEAR: Final = 24  # characters before a number that say it is for each
_FEW: Final = 4  # words between two numbers that are added


class _Figure(NamedTuple):
    """A number of a goal. text: as it is computed; place: with its percent sign."""

    text: str
    place: TextPlace
    percent: bool


def read_sum(prose: str, clauses: Sequence[SaidClause], names: FileNames) -> Sequence[FilledInput]:
    """The expression, where words between all numbers say what is done with them, and it is asked for."""
    asked = pattern("sums", "asked").search(prose)
    bare = prose.lstrip()[:1].isdigit()
    if not (asked or bare) or len(prose) > _LONGEST or _OTHER.search(prose):
        return ()
    figures = _figures(prose)
    if not 1 < len(figures) <= _MOST or _is_sum(prose[figures[0].place.start : figures[-1].place.end]):
        return ()
    said = _shared(prose, figures) or _chained(prose, figures)
    if not _is_sum(said):
        worded = any(not prose[one.place.start].isdigit() for one in figures)
        return [FilledInput("expression", TextPlace(0, len(prose)))] if asked and worded else ()
    place = TextPlace(figures[0].place.start, figures[-1].place.end)
    read = [
        one.place
        for one in clauses
        if not one.does or any(within(each.place, [one.place]) for each in figures)
    ]
    return (FilledInput("expression", place, (said,)), *(FilledInput("", one) for one in read))


def _is_sum(said: str) -> bool:
    """Whether a text can be computed as it stands."""
    try:
        compute(said)
    except ToolError:
        return False
    return True


def _figures(prose: str) -> list[_Figure]:
    found, at = list[_Figure](), 0
    while match := _NUMBER.search(prose, at):
        said, number = match[0], None
        if match["digits"]:
            number = read_number(re.sub(r"[ \u00a0]", "", match["digits"]).replace(",", "."))
            number = number + _HALF if number is not None and match["half"] else number
        else:
            said, number = _in_words(said)
        end = match.start() + len(said)
        at = max(end, match.start() + 1)
        if number is None:
            continue
        sign = _PERCENT.match(prose, end)
        place = TextPlace(match.start(), sign.end() if sign else end)
        found.append(_Figure(format(number, "f"), place, sign is not None))
    return found


def _in_words(said: str) -> tuple[str, Decimal | None]:
    """The longest number that a text begins with in words, “fourteen and a half”; its first word where it is
    none."""
    ends = [match.end() for match in re.finditer(r"[^\W\d_]+", said)]
    for end in reversed(ends):
        number, last = read_number(said[:end]), said[:end].split()[-1]
        alone = end == ends[0] and not pattern("sums", "numbers").fullmatch(said[:end])
        if number is not None and not (alone or pattern("sums", "no_end").fullmatch(last)):
            return said[:end], number
    return said[: ends[0]], None


def _shared(prose: str, figures: Sequence[_Figure]) -> str:
    """An amount that some share: “split 900 between 4 people”; "" where none is."""
    if len(figures) != 2 or not pattern("sums", "shares").search(prose):
        return ""
    heads = [one for one in figures if pattern("sums", "heads").match(prose[one.place.end :].lstrip())]
    behind = prose[figures[0].place.end : figures[1].place.start]
    among = heads[0] if len(heads) == 1 else figures[1] if pattern("sums", "among").search(behind) else None
    rest = [one for one in figures if one is not among]
    return f"{rest[0].text} / {among.text}" if among is not None else ""


def _chained(prose: str, figures: Sequence[_Figure]) -> str:
    """Each number with what is done with it; "" where no words say that."""
    said = figures[0].text + " %" * figures[0].percent
    for before, one in pairwise(figures):
        lead = prose[max(0, before.place.start - _NEAR) : before.place.start]
        between = prose[before.place.end : one.place.start]
        behind = prose[one.place.end : one.place.end + 12]
        sign = _sign(prose, lead, between, behind, before, one)
        if not sign:
            return ""
        said += f" {sign} {one.text}" + " %" * one.percent
    return said


def _sign(prose: str, lead: str, between: str, behind: str, before: _Figure, one: _Figure) -> str:
    found = {
        name for name in ("plus", "minus", "over", "times", "of") if pattern("sums", name).search(between)
    }
    if one.percent:
        if pattern("sums", "off").match(behind.lstrip()) or "minus" in found:
            return "-"
        added = "plus" in found or pattern("sums", "tax").search(between + behind)
        return "+" if added else ""
    if before.percent:
        return "of" if "of" in found else ""
    each = pattern("sums", "each").search(lead + between) or pattern("sums", "each").search(behind)
    if "times" in found or (each and not found & {"minus", "over"}):
        return "*"
    if "plus" in found and (len(between.split()) > _FEW or pattern("sums", "each").search(prose)):
        return ""  # “450 each, and we take 12”
    signs = [sign for name, sign in (("over", "/"), ("minus", "-"), ("plus", "+")) if name in found]
    return signs[0] if len(signs) == 1 else ""
