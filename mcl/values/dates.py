"""Deadlines and durations in words → ISO 8601, relative to a recorded time in a named zone. Never the
machine's clock.
"""

import re
from datetime import date, datetime, time, timedelta, timezone
from zoneinfo import ZoneInfo

from executor.core.clock import instant
from mcl.values.durations import in_english, later, with_plain_hours
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
_LEAD = re.compile(
    r"(?:(?:by|until|til|till|no later than|not later than|at the latest|latest|due|done|ready|finished|"
    r"deadline|within|"
    r"on|at|the|in|is|of|it|for|from now|sometime|around|be|before|ahead of|prior to|:)\s+)*"
)
_BEFORE = re.compile(r"\b(?:before|ahead of|prior to)\b")
_CLOCK = re.compile(
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
_TAIL = re.compile(
    r"(?:\s*(?:at the latest|latest|sharp|please|from now|at most|max|or sooner|or earlier|local time))+$"
)
_LAST = time(23, 59, 59)
_ISO = re.compile(
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
        found = _iso(text, where) or _moment(in_english(text), now, where)
        found = found or read_foreign_date(text, now)
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
    text = with_plain_hours(_TAIL.sub("", text))
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
    if not rest or (rest == "this" and clock["word"]):
        moment = datetime.combine(now.date(), hour, zone)
        return moment if moment > now else datetime.combine(now.date() + timedelta(days=1), hour, zone)
    day = period(rest, now.date()) or _days_ahead(rest, now)
    if day is None or day.first != day.last:
        return None
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


def _days_ahead(text: str, now: datetime) -> Days | None:
    found = later(text, now)
    return Days(found.date(), found.date()) if found else None
