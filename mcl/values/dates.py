"""Deadlines and durations in words → ISO 8601, relative to a recorded time in a named zone. Never the
machine's clock.
"""

import re
from datetime import date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

from executor.core.clock import instant
from mcl.core.patterns import late
from mcl.values.durations import TAIL, in_english, later, says_hour, with_plain_hours, with_said_hours
from mcl.values.periods import Days, period

# ---- Dates in languages other than English and Swedish, through dateparser, held to what it cannot guess.

_LANGUAGES = ["en", "de", "fr", "es", "it", "pt", "nl", "da", "nb", "fi", "pl"]
_VAGUE = frozenset(
    ("asap", "as soon as possible", "soon", "now", "immediately", "later", "right away", "quickly", "snart")
)

_UNITS = (1, 60, 3600, 86400, 7 * 86400)  # seconds


def read_foreign_date(text: str, now: datetime) -> datetime | None:
    """The moment that `text` names, in the zone of `now`, or None. A day without a time means its end."""
    if text in _VAGUE or len(text) > 48 or not re.search(r"[^\W\d_]{3}", text):
        return None
    from dateparser.date import DateDataParser

    # dateparser fills in what it did not understand. So each of its two parsers is asked alone, and an answer
    # counts only where every number and weekday of the text is in it.
    for parser, required in (("absolute-time", ["day", "month"]), ("relative-time", [])):
        settings = {
            "RELATIVE_BASE": now.replace(tzinfo=None),
            "TIMEZONE": str(now.tzinfo),
            "TO_TIMEZONE": str(now.tzinfo),
            "RETURN_AS_TIMEZONE_AWARE": True,
            "PREFER_DATES_FROM": "future",
            "PARSERS": [parser],
            "REQUIRE_PARTS": required,
            "RETURN_TIME_AS_PERIOD": True,
        }
        data = DateDataParser(languages=_LANGUAGES, settings=settings).get_date_data(text)
        found = data.date_obj
        if found is None or found <= now or not _says_weekday(text, found, data.locale or "en"):
            continue
        if not (_says_date(text, found) if required else _says_all(text, found, now)):
            continue
        whole_day = data.period == "day" and (required or not re.search("[0-9]", text))
        return datetime.combine(found.date(), time(23, 59, 59), now.tzinfo) if whole_day else found
    return None


def _says_all(text: str, found: datetime, now: datetime) -> bool:
    """Whether each number in `text` is the hour, the minute, or how far ahead `found` is in some unit."""
    ahead = (found - now).total_seconds()
    months = 12 * (found.year - now.year) + found.month - now.month
    seen = {found.hour, found.minute, months, months / 12, *(ahead / unit for unit in _UNITS)}
    return all(int(number) in seen for number in re.findall(r"[0-9]+", text))


def _says_date(text: str, found: datetime) -> bool:
    """Whether each number in `text` is the day, the year in full, or the time of `found`."""
    seen = {found.day, found.year, found.hour, found.hour % 12 or 12, found.minute, found.second}
    return all(int(number) in seen for number in re.findall(r"[0-9]+", text))


def _says_weekday(text: str, found: datetime, language: str) -> bool:
    """Whether a weekday that `text` names is the one of `found`."""
    from babel import Locale

    words = set(re.findall(r"[^\W\d_]+", text))
    return all(
        day == found.weekday() or name.lower().rstrip(".") not in words
        for code in {"en", language.partition("-")[0]}
        for width in ("wide", "abbreviated")
        for day, name in Locale(code).days["format"][width].items()
    )


_LONGEST = 96
_LEAD = late(
    r"(?:(?:by|until|til|till|no later than|not later than|at the latest|latest|due|done|ready|finished|"
    r"deadline|within|"
    r"on|at|the|in|is|of|it|for|from now|sometime|around|be|before|ahead of|prior to|:)\s+)*"
)
_BEFORE = late(r"\b(?:before|ahead of|prior to)\b")
_CLOCK = late(
    r"(?:^|\s)(?:at |by |"
    r"@ ?)?(?:(?P<h>[0-9]{1,2})(?:[:.](?P<m>[0-9]{2}))?(?::(?P<s>[0-9]{2}))?\s*(?P<half>[ap])\.?m\b\.?"
    r"|(?P<h24>[0-9]{1,2}):(?P<m24>[0-9]{2})(?::(?P<s24>[0-9]{2}))?|at (?P<sharp>[0-9]{1,2})(?=$|\s)"
    r"|(?:in the )?(?P<word>noon|midday|midnight|morning|afternoon|evening|tonight|night|lunchtime|lunch|cob|"
    r"close of business|eod|end of (?:the )?(?:business )?day))"
    r"\s*(?P<zone>utc|gmt|z|cest|cet|eest|eet|est|edt|pst|pdt)?(?=$|\s|,)"
)
_WORD_TIMES = {
    "noon": time(12), "midday": time(12), "lunch": time(12), "lunchtime": time(12), "morning": time(12),
    "afternoon": time(18), "evening": time(21), "cob": time(17), "close of business": time(17),
}  # fmt: skip
_LAST = time(23, 59, 59)
_ISO = late(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[t ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:[.,]([0-9]{1,6}))?)?"
    r"\s*(z|utc|gmt|cest|cet|eest|eet|est|edt|pst|pdt|[+-][0-9]{2}:?[0-9]{2})?)?"
)
# Hours ahead of UTC; shorter names that several parts of the world use (CST, IST, BST) are not read.
_OFFSETS = {"z": 0, "utc": 0, "gmt": 0, "cet": 1, "cest": 2, "eet": 2, "eest": 3, "est": -5, "edt": -4,
            "pst": -8, "pdt": -7}  # fmt: skip


def read_moment(text: str, at: str, zone: str = "UTC") -> str | None:
    """The moment that the whole of `text` names, as UTC text ("2026-11-27T23:59:59.000Z"); None where it is
    unclear.

    `at` is when it was said (ISO 8601 UTC) and `zone` an IANA name. A day, week or month means its end,
    "before" it its beginning; a weekday is the next one after today; a day without a year is the next such
    day; "12/01" is refused unless both readings agree. Raises zoneinfo.ZoneInfoNotFoundError for an unknown
    zone and ValueError for a bad `at`.
    """
    where = ZoneInfo(zone)
    now = datetime.fromisoformat(at).astimezone(where)
    text = " ".join(text.lower().split()).strip(" .,;!?")
    if not text or len(text) > _LONGEST:
        return None
    try:
        plain = in_english(text)
        found = _iso(text, where) or _moment(plain, now, where)
        # "Tomorrow at nine" is not all of tomorrow, and "next week at ten" no one day.
        if found is None and not says_hour(plain) and "next week" not in plain:
            found = read_foreign_date(text, now)
        return None if found is None else instant(found)
    except (ValueError, OverflowError):  # 31 February, the year 10000
        return None


def _iso(text: str, where: ZoneInfo) -> datetime | None:
    found = _ISO.fullmatch(_LEAD.sub("", text, count=1))
    if not found:
        return None
    day = date(int(found[1]), int(found[2]), int(found[3]))
    before = _BEFORE.search(text) is not None
    if found[4] is None:
        return datetime.combine(day, time(0) if before else _LAST, where)
    micro = int((found[7] or "0").ljust(6, "0"))
    moment = datetime.combine(day, time(int(found[4]), int(found[5]), int(found[6] or 0), micro), where)
    if found[8] in _OFFSETS:
        return moment.replace(tzinfo=_offset(found[8]))
    return (
        datetime.fromisoformat(f"{moment.replace(tzinfo=None).isoformat()}{found[8]}") if found[8] else moment
    )


def _moment(text: str, now: datetime, where: ZoneInfo) -> datetime | None:
    before = _BEFORE.search(text) is not None
    text = with_plain_hours(TAIL.sub("", text))
    whole = period(
        _LEAD.sub("", text, count=1), now.date()
    )  # "end of the day" is a period before it is a clock time
    if whole:
        start = before and " end of " not in text
        return datetime.combine(whole.first if start else whole.last, time(0) if start else _LAST, where)
    moment = later(text, now)
    if moment:
        return moment
    clock = _CLOCK.search(text)
    if not clock:
        return None
    hour = _time(clock)
    if hour is None:
        return None
    zone = _offset(clock["zone"]) if clock["zone"] else where
    rest = re.sub(
        r"\b(?:at|by|in|on)$", "", f"{text[: clock.start()]} {text[clock.end() :]}".strip(" ,")
    ).strip(" ,")
    rest = _LEAD.sub("", f"{rest} ", count=1).strip()
    # A time without a day is today's, or tomorrow's where that is over.
    if not rest or (rest == "this" and clock["word"]):
        moment = datetime.combine(now.date(), hour, zone)
        return moment if moment > now else datetime.combine(now.date() + timedelta(days=1), hour, zone)
    day = _days(rest, now.date())
    if day is None and (ahead := later(rest, now)) and ahead.time() == now.time():
        day = Days(ahead.date(), ahead.date())
    # “Next week at three” is seven moments.
    if day is None or day.first != day.last:
        return None
    # Midnight of Friday is the end of that day, not its beginning.
    if clock["word"] == "midnight":
        return datetime.combine(day.first + timedelta(days=1), time(0), zone)
    return datetime.combine(day.first, hour, zone)


def _offset(name: str) -> timezone:
    return timezone(timedelta(hours=_OFFSETS[name]))


def _time(clock: re.Match[str]) -> time | None:
    if clock["word"]:
        return time(0) if clock["word"] == "midnight" else _WORD_TIMES.get(clock["word"], _LAST)
    if clock["half"]:
        hour = int(clock["h"])
        if not 1 <= hour <= 12:
            return None
        return time(
            hour % 12 + (12 if clock["half"] == "p" else 0), int(clock["m"] or 0), int(clock["s"] or 0)
        )
    if clock["h24"]:
        return time(int(clock["h24"]), int(clock["m24"]), int(clock["s24"] or 0))
    return time(int(clock["sharp"])) if int(clock["sharp"]) >= 13 else None  # "at 5" is two times a day


# ---- When something begins, and since when: moments in words for slots that do not mean a day's end.

MORNING = time(9)  # when a day begins for people, where no time is said
_ISO_DAY = late(r"([0-9]{4})-([0-9]{2})-([0-9]{2})")
_MOMENTS_LEAD = late(r"^(?:(?:on|at|for|from|starting|the day of)\s+)*(?:the (?=[0-9]))?")
_PART_OF_DAY = {
    "in the morning": "at 9:00", "morning": "at 9:00", "in the afternoon": "at 13:00",
    "afternoon": "at 13:00", "in the evening": "at 18:00", "evening": "at 18:00", "at lunch": "at 12:00",
    "lunchtime": "at 12:00", "tonight": "today at 18:00", "this evening": "today at 18:00",
    "this afternoon": "today at 13:00", "this morning": "today at 9:00",
}  # fmt: skip
_PARTS = late(r"\b(?:" + "|".join(sorted(_PART_OF_DAY, key=len, reverse=True)) + r")\b")
# "at 9" is nine in the morning for something that begins; "at 5" stays unclear
_PLAIN_HOUR = late(r"\bat (?P<hour>[7-9]|1[0-2])(?=$|\s(?!(?:[ap]\.?m\b|o'?clock)))")
# what leads on from a moment and is no part of it: "on friday at 16:00 to …", "imorgon om att …"
_ENDING = late(r"(?:\s+(?:to|in|att|that|for|about|and))+$")
_BACK = late(r"^(?:(?:since|from|after|starting|as of|on)\s+)+")
_EDGE = late(r"^(?:the )?(?:start|beginning) of (?:(?P<this>the|this) )?")
_AGO = late(
    r"(?:in |over |during )?(?:the )?(?:(?:last|previous) (?!(?:week|month|quarter|year)$)|past )(?P<span>.+)"
    r"|(?P<ago>.+) ago"
)
_WEEKDAY = late(r"(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*")
_DATED = late(r"[0-9]|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)")
_MOMENTS_UNITS = ("minute", "hour", "day", "week", "month", "year")


def read_start(text: str, at: str, zone: str = "UTC") -> str | None:
    """The moment at which something begins that the whole of `text` names, as UTC text; None where it is
    unclear.

    As `read_moment`, but a day means nine in the morning if that is still to come, and "at 9" is nine in the
    morning ("at 5" stays unclear). Raises what `read_moment` raises.
    """
    where, plain = ZoneInfo(zone), _ENDING.sub("", in_english(text))
    now = datetime.fromisoformat(at).astimezone(where)
    if not plain or len(plain) > _LONGEST:
        return None
    plain = with_said_hours(with_plain_hours(plain))
    said = _PARTS.sub(lambda found: _PART_OF_DAY[found[0]], plain)
    try:
        days = _days(_MOMENTS_LEAD.sub("", said), now.date())
    except (ValueError, OverflowError):  # 31 February
        return None
    if days is None:
        return read_moment(_PLAIN_HOUR.sub(r"at \g<hour>:00", said), at, zone)
    morning = datetime.combine(days.first, MORNING, where)
    # A week has no one morning.
    return instant(morning) if days.first == days.last and morning > now else None


# How Swedish looks back, in words that the table of Swedish words has.
_SWEDISH_BACK: tuple[tuple[re.Pattern[str], str], ...] = (
    (late(r"^(?:allt )?(?:sedan|sen|från och med|från|since) "), ""),
    (late(r"\b(?:den här|i|under) (veckan|månaden|året)\b"), r"this \1"),
    (late(r"\bförra "), "last "),
    (late(r"\b(?:under )?(?:den |de |det )?senaste "), "the last "),
    (late(r"\bvecko(?:rna|na)\b"), "veckor"),
    (late(r"\b(månader|dagar|timmar)na\b"), r"\1"),
    (late(r"^i (mån|tis|ons|tors|fre|lör|sön)dags\b"), r"\1dag"),
    (late(r"^i (?=[a-zåäö]+$)(?!går|dag|förrgår|natt|kväll|morse|år)"), ""),
)


def _looking_back(text: str) -> str:
    """A time that Swedish looks back to, in words that are read."""
    plain = text.strip().lower()
    for pattern, words in _SWEDISH_BACK:
        plain = pattern.sub(words, plain)
    return plain


def read_since(text: str, at: str, zone: str = "UTC") -> str | None:
    """The past moment from which on something counts, as UTC text; None where it is unclear or not past.

    A day, week or month means its beginning, a weekday the last one, a day without a year the last such
    day: "yesterday", "Monday", "last week", "3 days ago", "the past two hours", "1 November".
    Raises what `read_moment` raises.
    """
    where, plain = ZoneInfo(zone), in_english(_looking_back(text))
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


def read_day(text: str, at: str, zone: str = "UTC") -> str | None:
    """The date of the local day that the whole of `text` names ("2026-12-24"), whatever time of it; None
    where it is no one day.

    Raises what `read_moment` raises.
    """
    where, plain = ZoneInfo(zone), in_english(text)
    now = datetime.fromisoformat(at).astimezone(where)
    if not plain or len(plain) > _LONGEST:
        return None
    try:
        days = _days(_MOMENTS_LEAD.sub("", plain), now.date())
    except (ValueError, OverflowError):  # 31 February
        return None
    if days is not None:
        return days.first.isoformat() if days.first == days.last else None
    moment = read_past_day(text, at, zone) or read_moment(text, at, zone)
    return datetime.fromisoformat(moment).astimezone(where).date().isoformat() if moment else None


_PAST_DAYS = {"yesterday": 1, "last night": 1, "the day before yesterday": 2, "day before yesterday": 2}


def read_past_day(text: str, at: str, zone: str = "UTC") -> str | None:
    """The end of a day just gone, as UTC text ("yesterday", "i går"); None where it is none.

    Raises what `read_moment` raises.
    """
    ago = _PAST_DAYS.get(in_english(text))
    if ago is None:
        return None
    where = ZoneInfo(zone)
    day = datetime.fromisoformat(at).astimezone(where).date() - timedelta(days=ago)
    return instant(datetime.combine(day, _LAST, where))


def _since(text: str, now: datetime, where: ZoneInfo) -> datetime | None:
    today = now.date()
    if text in ("now", "this minute"):
        return None
    if lasting := _AGO.fullmatch(text):
        length = lasting["span"] or lasting["ago"]
        if ahead := later(f"in {length if length not in _MOMENTS_UNITS else f'one {length}'}", now):
            return now - (ahead - now)
    if not (day := _past_day(text, today)):
        return None
    return datetime.combine(day, time(0), where)


def _past_day(text: str, today: date) -> date | None:
    named = {"today": 0, "this morning": 0, **_PAST_DAYS}
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
