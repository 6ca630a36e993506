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
from mcl.plugins.text.answers import answers
from mcl.plugins.text.arithmetic import compute
from mcl.plugins.text.said import pattern, table
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
_WORD: Final = re.compile(r"\s*[^\W\d_]+")
_TEXTS: Final = (".txt", ".md", ".eml")
_MOST_FILES: Final = 300
_LINES: Final = 3  # that may give an amount
_LEAST: Final = 0.5  # of what all words of a goal would count
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
    if not (asked or bare) or len(prose) > _LONGEST:
        return ()
    figures = _told(prose, _figures(prose))
    if len(figures) == 1 and asked and (found := _of_file(prose, figures[0], names)):
        return (FilledInput("expression", TextPlace(0, len(prose)), (found,)),)
    if not 1 < len(figures) <= _MOST or _OTHER.search(prose):
        return ()
    whole = prose[figures[0].place.start : figures[-1].place.end]
    plain = _is_sum(whole) and not (pattern("sums", "minus").search(whole) and _joins(whole))
    rate = "" if plain else _rate(prose, figures)
    said = whole if plain else _shared(prose, figures) or rate or _chained(prose, figures)
    if not _is_sum(said):
        worded = any(not prose[one.place.start].isdigit() for one in figures)
        return [FilledInput("expression", TextPlace(0, len(prose)))] if asked and worded else ()
    said += "" if rate else _converted(prose, figures)
    place = TextPlace(figures[0].place.start, figures[-1].place.end)
    read = [
        one.place
        for one in clauses
        if not one.does or any(within(each.place, [one.place]) for each in figures)
    ]
    return (FilledInput("expression", place, (said,)), *(FilledInput("", one) for one in read))


def _told(prose: str, figures: Sequence[_Figure]) -> list[_Figure]:
    """The numbers, without those in words in the last sentence where it only tells something: “three of them
    never pay”."""
    ends = [one.end() for one in re.finditer(r"[.?!]\s+(?=\w)", prose)]
    last = prose[ends[-1] :] if ends else ""
    names = ("asked", "plus", "minus", "times", "each", "over", "off", "tax", "spent")
    works = not last or any(pattern("sums", name).search(last) for name in names)
    own = [one for one in figures if not works and one.place.start >= ends[-1]]
    aside = all(not prose[one.place.start].isdigit() for one in own)
    return [one for one in figures if one not in own] if aside else list(figures)


def _converted(prose: str, figures: Sequence[_Figure]) -> str:
    """What makes of the unit of a number the one that is asked for: of minutes “how many hours”."""
    behind = [one[0] for each in figures if (one := _WORD.match(prose, each.place.end))]
    for unit in table("sums")["units"]:
        wanted, given = (re.compile(unit[name], re.IGNORECASE) for name in ("wanted", "given"))
        asked = re.search(rf"(?<!\w)(?:how many|hur många|in|i)\s+(?:{unit['wanted']})(?!\w)", prose, re.I)
        had = [one.strip() for one in behind]
        if asked and sum(map(bool, map(given.fullmatch, had))) == 1 and not any(map(wanted.fullmatch, had)):
            return f" {unit['as']}"
    return ""


def _is_unit(behind: str) -> bool:
    unit = _WORD.match(behind)
    given = (re.compile(one["given"], re.IGNORECASE) for one in table("sums")["units"])
    return unit is not None and any(one.fullmatch(unit[0].strip()) for one in given)


def _of_file(prose: str, figure: _Figure, names: FileNames) -> str:
    """What is done with an amount that a text here gives: “what the plumber wants split four ways”; "" where
    not just one gives it."""
    ways = pattern("sums", "heads").match(prose[figure.place.end :].lstrip())
    among = pattern("sums", "among").search(prose[max(0, figure.place.start - _NEAR) : figure.place.start])
    shared = pattern("sums", "shares").search(prose) and (ways or among) and not figure.percent
    of = figure.percent and pattern("sums", "of").match(prose[figure.place.end :].lstrip())
    if not (shared or of):
        return ""
    paths = [one for one in names.files if one.casefold().endswith(_TEXTS)][:_MOST_FILES]
    rest = prose[: figure.place.start] + " " + prose[figure.place.end :]
    rest = re.split(r"[.?!,;]\s", rest)[0]
    for name in ("shares", "heads"):
        rest = pattern("sums", name).sub(" ", rest)
    lines = answers(f"how much {rest}", [(path, names.text(path)) for path in paths], _LINES)
    found = [(one, given) for one in lines if len(given := _amounts(one.text)) == 1]
    if not found or found[0][0].share < _LEAST or len({given[0] for _, given in found}) > 1:
        return ""
    amount = found[0][1][0]
    return f"{figure.text} % of {amount}" if figure.percent else f"{amount} / {figure.text}"


def _amounts(line: str) -> list[str]:
    """The amounts of money in a line, as they are computed."""
    found = (one for one in pattern("sums", "money").finditer(line) if one["before"] or one["behind"])
    return [re.sub(r"[ \u00a0]", "", one["amount"]).replace(",", ".") for one in found]


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


def _joins(between: str) -> bool:
    """Whether words only join a number to the one before: “and”, a comma."""
    bare = pattern("sums", "joined").sub(" ", between)
    return not pattern("sums", "plus").search(bare) and (bare != between or ", " in between)


def _rate(prose: str, figures: Sequence[_Figure]) -> str:
    """How much there is of one thing for each of another: “how many km per hour”, of a way and a time; ""
    where that is not asked."""
    asked = pattern("sums", "rate").search(prose)
    if asked is None or len(figures) != 2 or any(one.percent for one in figures):
        return ""
    units = [one[0].strip() if (one := _WORD.match(prose, each.place.end)) else "" for each in figures]
    among = [
        (at, made) for at, unit in enumerate(units) if (made := _in_unit(unit, asked["each"])) is not None
    ]
    if len(among) != 1:
        return ""
    at, made = among[0]
    what, other = asked["what"], units[1 - at]
    if what and other and not (what.casefold() == other.casefold() or _in_unit(other, what) == ""):
        return ""
    many = f"({figures[at].text} {made})" if made else figures[at].text
    return f"{figures[1 - at].text} / {many}"


def _in_unit(given: str, wanted: str) -> str | None:
    """What makes of so many of one unit those of another, "" where they are the same; None where nothing
    does."""
    names = [(one["wanted"], one["given"], one["as"]) for one in table("sums")["units"]]
    same = (name for wants, gives, _ in names for name in (wants, gives))
    if given and any(all(re.fullmatch(name, one, re.I) for one in (given, wanted)) for name in same):
        return ""
    if given and given.casefold() == wanted.casefold():
        return ""
    fits = (
        made
        for wants, gives, made in names
        if re.fullmatch(wants, wanted, re.I) and re.fullmatch(gives, given, re.I)
    )
    return next(fits, None)


def _chained(prose: str, figures: Sequence[_Figure]) -> str:
    """Each number with what is done with it; "" where no words say that."""
    said, sign = figures[0].text + " %" * figures[0].percent, ""
    for before, one in pairwise(figures):
        lead = prose[max(0, before.place.start - _NEAR) : before.place.start]
        between = prose[before.place.end : one.place.start]
        behind = prose[one.place.end : one.place.end + 12]
        if sign != "-" or one.percent or not _joins(between):
            sign = _sign(prose, lead, between, behind, before, one)
        if not sign:
            return ""
        said += f" {sign} {one.text}" + " %" * one.percent
    return said


def _sign(prose: str, lead: str, between: str, behind: str, before: _Figure, one: _Figure) -> str:
    found = {
        name for name in ("plus", "minus", "over", "times", "of") if pattern("sums", name).search(between)
    }
    apiece = pattern("sums", "apiece").match(behind.lstrip())
    spent = not (one.percent or apiece or pattern("sums", "each").search(behind))
    if spent and pattern("sums", "spent").search(between) and pattern("sums", "rest").search(prose):
        found |= {"minus"}
    divides = "over" in found and _joins(pattern("sums", "over").sub(" ", between))
    found -= {"plus"} if "minus" in found or divides else set()
    if one.percent:
        if pattern("sums", "off").match(behind.lstrip()) or "minus" in found:
            return "-"
        added = "plus" in found or pattern("sums", "tax").search(between + behind)
        return "+" if added else ""
    if before.percent:
        return "of" if "of" in found else ""
    each = apiece or any(pattern("sums", "each").search(one) for one in (lead + between, behind))
    if "times" in found or (each and not found & {"minus", "over"}):
        return "*"
    if "plus" in found and (len(between.split()) > _FEW or pattern("sums", "each").search(prose)):
        return ""  # “450 each, and we take 12”
    if "of" in found and _is_unit(behind):
        return "*"  # “12 lessons of 50 minutes”
    signs = [sign for name, sign in (("over", "/"), ("minus", "-"), ("plus", "+")) if name in found]
    return signs[0] if len(signs) == 1 else ""
