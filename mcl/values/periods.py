"""Days, weeks, months, quarters and years in words → local days; pure calendar arithmetic from a given
day."""

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

from mcl.core.patterns import late
from mcl.values.numbers import read_number

DAYS = {
    name: place
    for place, names in enumerate(
        ("monday mon", "tuesday tue tues", "wednesday wed", "thursday thu thur thurs", "friday fri",
        "saturday sat",
         "sunday sun")
    )
    for name in names.split()
}  # fmt: skip
MONTHS = {
    name: place + 1
    for place, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sep sept", "october oct okt", "november nov", "december dec")
    )
    for name in names.split()
}  # fmt: skip
_MONTH = "(" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\.?"
_DAY = "(" + "|".join(sorted(DAYS, key=len, reverse=True)) + r")\.?"
_ORDINAL = r"([0-9]{1,2})(?:st|nd|rd|th|:?e|:a)?"


@dataclass(frozen=True)
class Days:
    """The local days from `first` to `last`, both included."""

    first: date
    last: date


_ORDINAL_OF = late(rf"^(?:the )?(last|first|second|third|fourth|fifth) of ((?:{'|'.join(MONTHS)})\b.*)$")


def _one(day: date) -> Days:
    return Days(day, day)


def period(text: str, today: date) -> Days | None:
    """The local day, week, month, quarter or year that `text` names."""
    shifted = re.fullmatch(r"(an?|one|two|three|four|[0-9]{1,3}) (day|week)s? (?:from|after) (.+)", text)
    if shifted and (base := period(shifted[3], today)) and base.first == base.last:
        count = read_number(shifted[1])
        return _one(base.last + timedelta(days=int(count or 0) * (7 if shifted[2] == "week" else 1)))
    text = _ORDINAL_OF.sub(lambda found: f"{found[1]} day of {found[2]}", text)
    if day := _holiday(text, today) or _nth(text, today):
        return day
    edge = re.fullmatch(r"(?:the )?(end|close|start|beginning|middle|mid)(?: of|-)?\s*(.+)", text)
    if edge:
        inner = period(edge[2], today) or period(f"this {edge[2].removeprefix('the ')}", today)
        if not inner or edge[1] in {"middle", "mid"}:
            return None
        return _one(inner.last if edge[1] in {"end", "close"} else inner.first)
    short = {
        "eod": "this day",
        "eow": "this week",
        "eom": "this month",
        "eoy": "this year",
        "eoq": "this quarter",
    }
    if found := re.fullmatch(r"(year|quarter|month|week)[ -]end", text):
        short |= {text: f"this {found[1]}"}
    text = short.get(text, text)
    named = {
        "today": 0,
        "tonight": 0,
        "tomorrow": 1,
        "tmrw": 1,
        "day after tomorrow": 2,
        "the day after tomorrow": 2,
    }
    if text in named:
        return _one(today + timedelta(days=named[text]))
    return _weekday(text, today) or _unit(text, today) or _calendar(text, today)


_HOLIDAYS = {
    "christmas eve": (12, 24), "christmas day": (12, 25),
    "boxing day": (12, 26), "new year's eve": (12, 31), "new years eve": (12, 31), "new year's day": (1, 1),
    "new years day": (1, 1), "halloween": (10, 31), "valentine's day": (2, 14),
}  # fmt: skip
_NTH = {
    name: n
    for n, names in enumerate(("first 1st", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th"))
    for name in names.split()
}
_NTH_OF = late(
    rf"(?:the )?(?:(?P<nth>last|{'|'.join(_NTH)}) (?P<day>day|{'|'.join(DAYS)})"
    r"|(?P<ordinal>[0-9]{1,2})(?:st|nd|rd|th)?)(?: of|,)? (?P<of>.+)"
)
_SPAN = late(rf"(?:next|this) (?:month|quarter|year)$|(?:{'|'.join(MONTHS)})\b|20[0-9]{{2}}$|q[1-4]\b")


def _holiday(text: str, today: date) -> Days | None:
    """Days that have a name and a date ("Christmas Eve"); "Christmas" alone may be either of two."""
    return _yearly(None, *_HOLIDAYS[text], today) if text in _HOLIDAYS else None


def _nth(text: str, today: date) -> Days | None:
    """ "the 15th of next month", "the last day of November", "the first Monday of December"."""
    found = _NTH_OF.fullmatch(text)
    if not found:
        return None
    named = found["of"].removeprefix("the ")
    within = period(f"this {named}", today) or (period(named, today) if _SPAN.match(named) else None)
    if not within or within.first.day != 1:
        return None
    if found["ordinal"]:
        day = int(found["ordinal"])
        return _one(within.first.replace(day=day)) if named.endswith("month") else None
    days = [within.first + timedelta(days=n) for n in range((within.last - within.first).days + 1)]
    if found["day"] != "day":
        days = [day for day in days if day.weekday() == DAYS[found["day"]]]
    place = -1 if found["nth"] == "last" else _NTH[found["nth"]]
    return _one(days[place]) if place < len(days) else None


def _weekday(text: str, today: date) -> Days | None:
    found = re.fullmatch(
        r"(?:(this|next|coming|the coming|this coming)\s+)?" + _DAY + r"(?: (next) week)?", text
    )
    if not found:
        return None
    monday = today - timedelta(days=today.weekday())
    if found[1] == "next" or found[3]:
        return _one(monday + timedelta(days=7 + DAYS[found[2]]))
    # From one to seven days ahead: said on a Friday, “Friday” is that of next week.
    return _one(today + timedelta(days=(DAYS[found[2]] - today.weekday() - 1) % 7 + 1))


def _unit(text: str, today: date) -> Days | None:
    if text in {"weekend", "the weekend"}:
        text = "this weekend"
    found = re.fullmatch(r"(this|next|the|current|coming)\s+(day|week|weekend|month|quarter|year)", text)
    if not found:
        return None
    step = int(found[1] in {"next", "coming"})
    if found[2] == "day":
        return _one(today + timedelta(days=step))
    if found[2] in {"week", "weekend"}:
        monday = today + timedelta(days=7 * step - today.weekday())
        return Days(monday if found[2] == "week" else monday + timedelta(days=5), monday + timedelta(days=6))
    size = {"month": 1, "quarter": 3, "year": 12}[found[2]]
    first = (today.month - 1) // size * size + size * step
    return _months(today.year + first // 12, first % 12 + 1, size)


def _months(year: int, month: int, size: int) -> Days:
    last = month + size - 1
    return Days(date(year, month, 1), date(year, last, monthrange(year, last)[1]))


def _calendar(text: str, today: date) -> Days | None:
    named = re.match(rf"{_DAY},?\s+(?:the\s+)?(?=.)", text)  # "Friday 27 November"
    if named:
        day = _calendar(text[named.end() :], today)
        # A weekday that is not that of the date is a slip of somebody: which of the two was meant, nobody
        # knows.
        agrees = day and day.first == day.last and day.first.weekday() == DAYS[named[1]]
        return day if agrees else None
    patterns = (
        (rf"{_MONTH}\s+(?:the\s+)?{_ORDINAL}(?:,?\s*([0-9]{{4}}))?", (1, 2, 3)),
        (rf"{_ORDINAL}(?:\s+of)?[\s-]+{_MONTH}(?:,?[\s-]*([0-9]{{4}}))?", (2, 1, 3)),
    )
    for pattern, (m, d, y) in patterns:
        if found := re.fullmatch(pattern, text):
            return _yearly(int(found[y]) if found[y] else None, MONTHS[found[m]], int(found[d]), today)
    if found := re.fullmatch(rf"(?:in\s+)?{_MONTH}(?:,?\s+([0-9]{{4}}))?", text):
        month = MONTHS[found[1]]
        return _months(int(found[2]) if found[2] else today.year + (month < today.month), month, 1)
    if part := _part_of_year(text, today) or _week(text, today):
        return part
    if found := re.fullmatch(r"(?:in\s+|year\s+)?(20[0-9]{2})", text):
        return _months(int(found[1]), 1, 12)
    if found := re.fullmatch(r"(?:the )?([0-9]{1,2})(?:st|nd|rd|th|:?e|:a)", text):
        month = today.month + (int(found[1]) < today.day)
        return _one(date(today.year + (month > 12), (month - 1) % 12 + 1, int(found[1])))
    return _figures(text, today)


def _part_of_year(text: str, today: date) -> Days | None:
    """Quarters and halves: Q3, 2027-Q1, the first quarter of 2027, H1 2027."""
    text = re.sub(
        r"^(?:the )?(first|second|third|fourth) (quarter|half)\b",
        lambda m: f"{m[2][0]}{_NTH[m[1]] + 1}",
        text,
    )
    found = re.fullmatch(
        r"(?:(?P<before>[0-9]{4})[ -])?(?P<part>[qh])(?P<n>[1-4])(?:(?: of)? (?P<after>[0-9]{4}))?", text
    )
    if not found or (found["part"] == "h" and int(found["n"]) > 2) or (found["before"] and found["after"]):
        return None
    size = 3 if found["part"] == "q" else 6
    first, year = size * (int(found["n"]) - 1) + 1, found["before"] or found["after"]
    return _months(int(year) if year else today.year + (first + size - 1 < today.month), first, size)


def _week(text: str, today: date) -> Days | None:
    """ISO weeks: week 48, w48, v. 48, 2026-W48; without a year the next such week."""
    found = re.fullmatch(
        r"(?:(?P<before>[0-9]{4})-)?(?:week|wk|w|v)\.? ?(?P<n>[0-9]{1,2})(?:,? (?P<after>[0-9]{4}))?", text
    )
    if not found:
        return None
    year = int(found["before"] or found["after"] or today.isocalendar().year)
    monday = date.fromisocalendar(year, int(found["n"]), 1)
    if not (found["before"] or found["after"]) and monday + timedelta(days=6) < today:
        monday = date.fromisocalendar(year + 1, int(found["n"]), 1)
    return Days(monday, monday + timedelta(days=6))


def _yearly(year: int | None, month: int, day: int, today: date) -> Days:
    if year is not None:
        return _one(date(year, month, day))
    this = date(today.year, month, day)
    return _one(this if this >= today else date(today.year + 1, month, day))


def _figures(text: str, today: date) -> Days | None:
    """2026/12/01, 1.12.2026 (points: the day first), 24/12/2026; refused where day and month could be
    swapped."""
    if found := re.fullmatch(r"([0-9]{4})[/.]([0-9]{1,2})[/.]([0-9]{1,2})", text):
        return _one(date(int(found[1]), int(found[2]), int(found[3])))
    found = re.fullmatch(r"([0-9]{1,2})([/.])([0-9]{1,2})(?:\2([0-9]{4}))?(\.?)", text)
    # "3.5" is a number and "17.30" a clock time, but nothing else is "30.11"
    if not found or (found[2] == "." and not found[4] and not found[5] and int(found[1]) < 24):
        return None
    first, second = int(found[1]), int(found[3])
    # With points the day comes first wherever they are used; with slashes only a number above 12 tells which
    # one it is.
    if found[2] == "." or first > 12:
        day, month = first, second
    elif second > 12 or first == second:
        day, month = second, first
    else:
        return None
    return _yearly(int(found[4]) if found[4] else None, month, day, today)
