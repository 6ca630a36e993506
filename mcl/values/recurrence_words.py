"""Words of how often → a rule of RFC 5545, in a few forms with one reading each. English and Swedish."""

import re
from dataclasses import dataclass
from datetime import time
from typing import Final

from mcl.core.patterns import late
from mcl.values.dates import MORNING
from mcl.values.durations import in_english, with_said_hours
from mcl.values.numbers import read_number
from mcl.values.periods import DAYS, MONTHS

_CODES: Final = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")
_WORKDAYS: Final = "MO,TU,WE,TH,FR"
_UNITS: Final = {
    name: rule
    for rule, names in {
        "MINUTELY": "minute minutes min minut minuter minuten",
        "HOURLY": "hour hours timme timmar timmen timma",
        "DAILY": "day days dag dagar dagen dygn", "WEEKLY": "week weeks vecka veckor veckan",
        "MONTHLY": "month months månad månader månaden", "YEARLY": "year years år året",
        "QUARTERLY": "quarter quarters kvartal kvartalet",
        "WORKDAYS": "weekday weekdays workday workdays vardag vardagar arbetsdag arbetsdagar",
        "WEEKEND": "weekend weekends helg helger", "FORTNIGHT": "fortnight",
    }.items()
    for name in names.split()
}  # fmt: skip
_ADVERBS: Final = {
    "hourly": "every hour", "daily": "every day", "nightly": "every night", "weekly": "every week",
    "monthly": "every month", "quarterly": "every quarter", "yearly": "every year", "annually": "every year",
    "fortnightly": "every fortnight", "dagligen": "every day", "veckovis": "every week",
    "månadsvis": "every month", "kvartalsvis": "every quarter", "årligen": "every year",
    "once a day": "every day", "once a week": "every week", "once a month": "every month",
    "once an hour": "every hour", "once a year": "every year", "en gång om dagen": "every day",
    "en gång i veckan": "every week", "en gång i månaden": "every month", "en gång i timmen": "every hour",
    "en gång om året": "every year", "en gång per dag": "every day", "en gång per vecka": "every week",
}  # fmt: skip
# When a part of the day is, where no time is said. Three at night is an hour that clocks skip nowhere in
# Europe and America.
_PARTS: Final = {
    name: at
    for at, names in {
        MORNING: "morning mornings morgon morgnar morgonen förmiddag förmiddagen",
        time(13): "afternoon afternoons eftermiddag eftermiddagen",
        time(18): "evening evenings kväll kvällar kvällen", time(3): "night nights natt nätter natten",
        time(12): "noon lunch lunchtime",
    }.items()
    for name in names.split()
}  # fmt: skip
_AFTERNOON: Final = (time(13), time(18))
_NIGHT: Final = time(3)
_ORDINALS: Final = {
    name: number
    for number, names in {
        1: "first 1st första 1:a", 2: "second 2nd andra 2:a", 3: "third 3rd tredje 3:e",
        4: "fourth 4th fjärde 4:e",
        5: "fifth 5th femte 5:e", 6: "sixth 6th sjätte 6:e", -1: "last sista",
    }.items()
    for name in names.split()
}  # fmt: skip
EVERY: Final = frozenset(("every", "each", "varje", "varenda", "var", "vart"))
_OTHER: Final = frozenset(("other", "varannan", "vartannat", "varannat"))
_AND: Final = frozenset(("and", "och", "&"))
_NTH = late(r"([0-9]{1,2})(?:st|nd|rd|th|:?e|:?a)?\.?")
_CLOCK = late(
    r"(?P<at>at|@|kl\.?|klockan) (?P<h>[0-9]{1,2})(?:[:.](?P<m>[0-9]{2}))?(?: ?(?P<half>[ap])\.?m\.?)?"
    r"|(?P<h2>[0-9]{1,2})(?:[:.](?P<m2>[0-9]{2}))? ?(?P<half2>[ap])\.?m\.?"
    r"|(?P<h3>[0-9]{1,2})[:.](?P<m3>[0-5][0-9])(?![0-9.])"
    r"|(?:at |vid )?(?P<word>noon|midday|midnight|midnatt|lunch|lunchtime)"
)
_WORDS: Final = {"noon": time(12), "midday": time(12), "midnight": time(0), "midnatt": time(0),
                 "lunch": time(12), "lunchtime": time(12)}  # fmt: skip
_AT_WORD = late(r"(?<!\S)(at|kl|klockan) ([^\W\d_]+)\b")


@dataclass(frozen=True)
class RuleParts:
    """freq and the rest of the rule; at: the time of day; hours: all of them, where there are several."""

    freq: str
    parts: tuple[str, ...] = ()
    at: time | None = None
    hours: tuple[int, ...] = ()


def read_rule(text: str) -> RuleParts | None:
    text = with_said_hours(text, divided=True)
    text = _AT_WORD.sub(lambda found: f"{found[1]} {read_number(found[2]) or found[2]}", text)
    text, times = _times(text)
    if times is None:
        return None
    adverb = next(
        (one for one in _ADVERBS if text == one or text.startswith((f"{one} on ", f"{one} på "))), ""
    )
    text = _ADVERBS.get(adverb, "") + text.removeprefix(adverb)
    words = [word for word in text.split() if word != ","]
    if not words:
        return None
    part = _part_of_day(words)
    if part is not None:
        words, hour = part
        times = tuple(_shifted(one, hour) for one in times) or (hour,)
    rule = _every(words) or _monthly(words) or _weekdays(words) or _yearly(words)
    if rule is None or (times and rule.freq in ("HOURLY", "MINUTELY")):
        return None
    if len({one.minute for one in times}) > 1:
        return None  # several times a day are written by their hours
    at = min(times) if times else None
    return RuleParts(rule.freq, rule.parts, at, tuple(sorted(one.hour for one in times)))


def _times(text: str) -> tuple[str, tuple[time, ...] | None]:
    """The words without the times of day in them; None where one can be read in two ways."""
    found: list[time] = []
    clear = any(word in _PARTS for word in text.split())  # "three in the afternoon"
    place = re.search(
        r"(?<!\S)(?:(?:at|@|kl\.?|klockan|vid)(?= )|[0-9]{1,2}(?:[:.][0-9]{2})? ?[ap]\.?m"
        r"|[0-9]{1,2}[:.][0-5][0-9](?![0-9.]))",
        text,
    )
    if place is None:
        return text, ()
    rest, before = text[place.start() :], text[: place.start()]
    while match := _CLOCK.match(rest):
        if (one := _clock(match, clear=clear)) is None:
            return text, None
        found.append(one)
        rest = rest[match.end() :].lstrip(" ")
        if not (more := re.match(r"(?:and|och|&|,) (?:(?:at|kl\.?|klockan) )?(?=[0-9])", rest)):
            break
        lead = (
            ""
            if re.match(r"[0-9]{1,2}:|[0-9.:]+ ?[ap]\.?m", rest[more.end() :])
            else f"{match['at'] or 'at'} "
        )
        rest = lead + rest[more.end() :]
    if not found:
        return text, None
    return f"{before}{rest}".strip(" ,"), tuple(found)


def _clock(match: re.Match[str], *, clear: bool) -> time | None:
    if match["word"]:
        return _WORDS[match["word"]]
    hour = int(match["h"] or match["h2"] or match["h3"])
    minutes = match["m"] or match["m2"] or match["m3"]
    half = match["half"] or match["half2"]
    if int(minutes or 0) > 59:
        return None
    if half:
        return time(hour % 12 + (12 if half == "p" else 0), int(minutes or 0)) if 1 <= hour <= 12 else None
    # "at 5" is two times a day, "kl 5" is one; "at 9" is nine in the morning
    plain = match["at"] in ("at", "@") and not minutes and hour < 7 and not clear
    return time(hour, int(minutes or 0)) if hour < 24 and not plain else None


def _part_of_day(words: list[str]) -> tuple[list[str], time] | None:
    """The words with "day" in the place of a part of the day, or without it behind a day, and when it is."""
    for place, word in enumerate(words):
        if word in _PARTS:
            before = [one for one in words[:place] if one not in ("in", "the", "på", "om", "i")]
            behind = words[place + 1 :]
            said = bool(before) and (bool(_day(before[-1])) or before[-1] in _UNITS)
            return ([*before, *behind] if said else [*before, "day", *behind]), _PARTS[word]
    return None


def _shifted(at: time, part: time) -> time:
    """Three in the afternoon is fifteen; ten at night is twenty-two."""
    least = 1 if part in _AFTERNOON else 7 if part == _NIGHT else 12
    return at.replace(hour=at.hour + 12) if least <= at.hour < 12 else at


def _interval(words: list[str]) -> tuple[int, list[str]] | None:
    """How many units lie between, and what follows: "every", "every other", "every 3", "var tredje"."""
    if words[0] in _OTHER:
        return 2, words[1:]
    if words[0] not in EVERY or len(words) < 2:
        return None
    second = words[1]
    if second in _OTHER:
        return 2, words[2:]
    if (number := _ORDINALS.get(second)) and len(words) > 2:
        return (number, words[2:]) if number > 0 else None
    if (nth := _NTH.fullmatch(in_english(second))) or (
        second not in _UNITS and (read_number(second) is not None)
    ):
        number = int(nth[1]) if nth else int(read_number(second) or 0)
        return (number, words[2:]) if 0 < number < 1000 and len(words) > 2 else None
    return 1, words[1:]


def _every(words: list[str]) -> RuleParts | None:
    found = _interval(words)
    if found is None or not found[1]:
        return None
    number, what = found
    gap = (f"INTERVAL={number}",) if number > 1 else ()
    if (days := _day_list(what)) is not None:
        return RuleParts("WEEKLY", (*gap, f"BYDAY={days}"))
    if len(what) == 1 and what[0] in _UNITS:
        return _unit(_UNITS[what[0]], number, gap)
    if len(what) > 2 and _UNITS.get(what[0]) in ("WEEKLY", "MONTHLY") and what[1] in ("on", "på", "den"):
        if _UNITS[what[0]] == "WEEKLY":
            days = _day_list(what[2:])
            return RuleParts("WEEKLY", (*gap, f"BYDAY={days}")) if days else None
        day = _month_day([one for one in what[2:] if one not in ("the", "den")])
        return RuleParts("MONTHLY", (*gap, day)) if day else None
    return None


# Which day it is where none is said: one that every week and month has.
_ON_DAY: Final = {
    "WEEKLY": ("BYDAY=MO",),
    "MONTHLY": ("BYMONTHDAY=1",),
    "YEARLY": ("BYMONTH=1", "BYMONTHDAY=1"),
}


def _unit(unit: str, number: int, gap: tuple[str, ...]) -> RuleParts | None:
    if unit == "WORKDAYS":
        return RuleParts("WEEKLY", (f"BYDAY={_WORKDAYS}",)) if number == 1 else None
    if unit == "WEEKEND":
        return RuleParts("WEEKLY", (*gap, "BYDAY=SA"))
    if unit == "FORTNIGHT":
        return RuleParts("WEEKLY", (f"INTERVAL={2 * number}", "BYDAY=MO"))
    if unit == "QUARTERLY":
        return RuleParts("MONTHLY", (f"INTERVAL={3 * number}", "BYMONTHDAY=1"))
    if unit == "MINUTELY" and number < 5:
        return None  # nothing here is that quick
    return RuleParts(unit, (*gap, *_ON_DAY.get(unit, ())))


def _day(word: str) -> str:
    """The code of the weekday that a word is, or several of it ("måndagar"); "" where it is none."""
    name = in_english(word.removesuffix("ar"))
    place = DAYS.get(name, DAYS.get(name.removesuffix("s")))
    return _CODES[place] if place is not None else ""


def _day_list(words: list[str]) -> str | None:
    """Weekdays, joined by commas and "and", as BYDAY has them."""
    days: list[str] = []
    for word in words:
        if word in _AND or word == ",":
            continue
        if not (day := _day(word)):
            return None
        days.append(day)
    return ",".join(dict.fromkeys(days)) if days else None


def _weekdays(words: list[str]) -> RuleParts | None:
    """ "on mondays and thursdays", "på vardagar", "weekdays": plurals, which say it happens again."""
    words = [word for word in words if word not in ("on", "på")]
    if len(words) == 1 and words[0] in ("weekdays", "vardagar", "workdays", "arbetsdagar"):
        return RuleParts("WEEKLY", (f"BYDAY={_WORKDAYS}",))
    plural = [word for word in words if word not in _AND]
    if plural and all(word.endswith(("days", "dagar")) for word in plural) and (days := _day_list(words)):
        return RuleParts("WEEKLY", (f"BYDAY={days}",))
    return None


_OF_MONTH: Final = ("of each month", "of every month", "each month", "every month", "varje månad",
                    "i varje månad", "i månaden", "of the month")  # fmt: skip


def _monthly(words: list[str]) -> RuleParts | None:
    """ "on the 1st of each month", "the last friday of every month", "den 25:e varje månad"."""
    text = " ".join(word for word in words if word not in ("on", "the", "den", "på"))
    if text.startswith(("every ", "varje ", "each ")) and text.endswith(
        ("of the month", "of month", "i månaden")
    ):
        text = text.partition(" ")[2]
    elif text.endswith((" of the month", " of month")):
        return None  # of this month
    text = text.replace("of month", "of the month")
    tail = max((one for one in _OF_MONTH if text.endswith(f" {one}")), key=len, default="")
    day = _month_day(text.removesuffix(f" {tail}").split()) if tail else None
    return RuleParts("MONTHLY", (day,)) if day else None


def _month_day(words: list[str]) -> str | None:
    """A day of a month: by its number, or the nth weekday."""
    words = [word for word in words if word not in ("day", "dagen", "dag")] if len(words) > 1 else words
    if len(words) == 2 and words[0] in _ORDINALS:
        day = _day(words[1])
        return f"BYDAY={_ORDINALS[words[0]]}{day}" if day and _ORDINALS[words[0]] < 6 else None
    if len(words) != 1:
        return None
    if words[0] in _ORDINALS:
        return f"BYMONTHDAY={_ORDINALS[words[0]]}"
    nth = _NTH.fullmatch(in_english(words[0]))
    return f"BYMONTHDAY={int(nth[1])}" if nth and 1 <= int(nth[1]) <= 31 else None


def _yearly(words: list[str]) -> RuleParts | None:
    """ "every year on 24 december", "every december 24"."""
    if len(words) < 3 or words[0] not in EVERY:
        return None
    rest = [word for word in words[1:] if word not in ("year", "år", "on", "the", "den", "of")]
    months = [MONTHS[name] for word in rest if (name := in_english(word)) in MONTHS]
    days = [int(nth[1]) for word in rest if (nth := _NTH.fullmatch(word))]
    if len(rest) != 2 or len(months) != 1 or len(days) != 1 or not 1 <= days[0] <= 31:
        return None
    return RuleParts("YEARLY", (f"BYMONTH={months[0]}", f"BYMONTHDAY={days[0]}"))
