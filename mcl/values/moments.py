"""When something begins, and since when: moments in words for slots that do not mean a day's end.

A deadline of Friday is over when Friday is (`dates.read_moment`). A reminder on Friday begins in the morning
(`read_start`), and what changed since Friday changed after last Friday began (`read_since`).
"""

import re
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from executor.core.clock import instant
from mcl.values.dates import read_moment
from mcl.values.durations import in_english, later, with_plain_hours
from mcl.values.periods import Days, period

MORNING = time(9)  # when a day begins for people, where no time is said
_LONGEST = 96
_ISO_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_LEAD = re.compile(r"^(?:(?:on|at|for|from|starting|the day of)\s+)+")
_PART_OF_DAY = {
    "in the morning": "at 9:00", "morning": "at 9:00", "in the afternoon": "at 13:00",
    "afternoon": "at 13:00", "in the evening": "at 18:00", "evening": "at 18:00", "at lunch": "at 12:00",
    "lunchtime": "at 12:00", "tonight": "today at 18:00",
}  # fmt: skip
_PARTS = re.compile(r"\b(?:" + "|".join(sorted(_PART_OF_DAY, key=len, reverse=True)) + r")\b")
# "at 9" is nine in the morning for something that begins; "at 5" stays unclear
_PLAIN_HOUR = re.compile(r"\bat (?P<hour>[7-9]|1[0-2])(?=$|\s(?!(?:[ap]\.?m\b|o'?clock)))")
_BACK = re.compile(r"^(?:(?:since|from|after|starting|as of|on)\s+)+")
_EDGE = re.compile(r"^(?:the )?(?:start|beginning) of (?:(?P<this>the|this) )?")
_AGO = re.compile(
    r"(?:in |over |during )?(?:the )?(?:(?:last|previous) (?!(?:week|month|quarter|year)$)|past )(?P<span>.+)"
    r"|(?P<ago>.+) ago"
)
_WEEKDAY = re.compile(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*")
_DATED = re.compile(r"[0-9]|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)")
_UNITS = ("minute", "hour", "day", "week", "month", "year")


def read_start(text: str, at: str, zone: str = "UTC") -> str | None:
    """The moment at which something begins that the whole of `text` names, as UTC text; None where it is
    unclear.

    As `read_moment`, but a day means nine in the morning if that is still to come, and "at 9" is nine in the
    morning ("at 5" stays unclear). Raises what `read_moment` raises.
    """
    where, plain = ZoneInfo(zone), in_english(text)
    now = datetime.fromisoformat(at).astimezone(where)
    if not plain or len(plain) > _LONGEST:
        return None
    said = _PARTS.sub(lambda found: _PART_OF_DAY[found[0]], with_plain_hours(plain))
    try:
        days = _days(_LEAD.sub("", said), now.date())
    except (ValueError, OverflowError):  # 31 February
        return None
    if days is None:
        return read_moment(_PLAIN_HOUR.sub(r"at \g<hour>:00", said), at, zone)
    morning = datetime.combine(days.first, MORNING, where)
    # A week has no one morning.
    return instant(morning) if days.first == days.last and morning > now else None


def read_since(text: str, at: str, zone: str = "UTC") -> str | None:
    """The past moment from which on something counts, as UTC text; None where it is unclear or not past.

    A day, week or month means its beginning, a weekday the last one, a day without a year the last such
    day: "yesterday", "Monday", "last week", "3 days ago", "the past two hours", "1 November".
    Raises what `read_moment` raises.
    """
    where, plain = ZoneInfo(zone), in_english(text)
    now = datetime.fromisoformat(at).astimezone(where)
    if not plain or len(plain) > _LONGEST:
        return None
    try:
        found = _since(_BACK.sub("", plain), now, where)
    except (ValueError, OverflowError):
        return None
    if found is None:
        clear = read_moment(text, at, zone) if re.search(r"\d{4}-\d{2}-\d{2}[t ]", plain) else None
        return clear if clear is not None and datetime.fromisoformat(clear) <= now else None
    return instant(found) if found <= now else None


def _since(text: str, now: datetime, where: ZoneInfo) -> datetime | None:
    today = now.date()
    if text in ("now", "this minute"):
        return None
    if lasting := _AGO.fullmatch(text):
        length = lasting["span"] or lasting["ago"]
        if ahead := later(f"in {length if length not in _UNITS else f'one {length}'}", now):
            return now - (ahead - now)
    if not (day := _past_day(text, today)):
        return None
    return datetime.combine(day, time(0), where)


def _past_day(text: str, today: date) -> date | None:
    named = {"today": 0, "this morning": 0, "yesterday": 1, "last night": 1, "the day before yesterday": 2}
    if text in named:
        return today - timedelta(days=named[text])
    if edge := _EDGE.match(text):
        inner = f"{'this ' if edge['this'] else ''}{text[edge.end() :]}"
        whole = period(inner, today)
        return whole.first if whole and whole.first <= today else _past_day(text[edge.end() :], today)
    shorter = text.removeprefix("the ").removeprefix("last ").removeprefix("past ")
    if shorter != text and (whole := period(f"this {shorter}", today)) and whole.first != whole.last:
        return _before(whole, shorter)  # last week, last month
    found = _days(shorter, today)
    if found is None or found.first <= today or re.search(r"[0-9]{4}", text):
        return found.first if found else None
    if _WEEKDAY.fullmatch(shorter):
        return found.first - timedelta(days=7)
    return found.first.replace(year=found.first.year - 1) if _DATED.search(shorter) else None


def _before(whole: Days, unit: str) -> date:
    """The first day of the week, month, quarter or year before this one."""
    if unit == "week":
        return whole.first - timedelta(days=7)
    last = whole.first - timedelta(days=1)
    earlier = period(f"this {unit}", last)
    return earlier.first if earlier else last


def _days(text: str, today: date) -> Days | None:
    if found := _ISO_DAY.fullmatch(text):
        day = date(int(found[1]), int(found[2]), int(found[3]))
        return Days(day, day)
    return period(text, today)
