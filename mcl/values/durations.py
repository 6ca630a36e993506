"""Lengths of time in words → ISO 8601 durations and seconds; Swedish words are read as their English ones."""

import re
from calendar import monthrange
from datetime import UTC, datetime, timedelta

from executor.core.tables import by_word, table_beside
from mcl.core.patterns import late
from mcl.values.numbers import read_number

_LONGEST = 96
_TABLE = table_beside(__file__)
_ENGLISH = by_word(_TABLE["english"])
_TO_ENGLISH = late(
    r"\b(" + "|".join(re.escape(word) for word in sorted(_ENGLISH, key=len, reverse=True)) + r")(?!\w)"
)
_UNITS = by_word(_TABLE["units"])
TAIL = late(
    r"(?:\s*(?:at the latest|latest|sharp|please|from now|at most|max|or sooner|or earlier|local time))+$"
)
_DURATION_PART = late(
    r"(?P<n>[0-9][0-9., ]*|(?:[a-zåäö-]+ ){0,5}?[a-zåäö-]+?)(?:\s+(?P<half>and a half|och en halv))?\s*"
    r"(?<![a-zåäö])(?P<unit>" + "|".join(sorted(_UNITS, key=len, reverse=True)) + r")(?![a-zåäö])"
    r"(?:\s+(?P<half2>and a half))?(?:\s*,?\s*(?:and\s+)?)"
)


_COMPACT = late(r"([0-9]+)\s?h\s?([0-9]{1,2})(?:\s?m(?:in)?)?\b")
_QUARTERS = late(r"\b(?:(?P<three>three) quarters|(?:a )?quarter) of an hour\b")
# "at 3 in the afternoon", "at 3 tomorrow afternoon" and "afternoon at 3" are one hour of the day.
_HOUR_OF_PART = late(
    r"\b(?:at )?(?P<hour>1[0-9]|2[0-3]|[1-9])(?P<min>[:.][0-5][0-9])?(?: o'?clock)?,? "
    r"(?:in the |this |(?P<day>tomorrow |(?:on )?[a-z]{3,6}day ))(?P<part>morning|afternoon|evening)\b"
)
_PART_WITH_HOUR = late(
    r"\b(?:in the |this )?(?P<part>morning|afternoon|evening),? at (?P<hour>1[0-9]|2[0-3]|[1-9])"
    r"(?P<min>[:.][0-5][0-9])?(?P<day>)(?![:.]?[0-9]| ?[ap]\.?m)"
)
# A point between hour and minutes: after "at", or where the second number is no month.
_POINT = late(
    r"(?:(?<=\bat )([01]?[0-9]|2[0-3])\.([0-5][0-9])|(?<![0-9.,])([01]?[0-9]|2[0-3])\.(00|1[3-9]|[2-5][0-9]))"
    r"(?![0-9.%]| ?[ap]\.?m)"
)
_HOURS = {name: int(hour) for hour, names in _TABLE["hours"].items() for name in (*names, hour)}
_MINUTES = {name: int(minutes) for name, minutes in by_word(_TABLE["minutes"]).items()}
_PART_OF_DAY = late(
    r"\b(?:(?:in the|this|tomorrow) (?:morning|afternoon|evening|night)|(?:morning|afternoon|evening),? at"
    r"|tonight|at night|[ap]\.?m\b)"
)
_HOUR_WORD = "|".join(sorted(_HOURS, key=len, reverse=True))
_SPOKEN = late(
    rf"\b(?:(?:a )?(?P<size>half|quarter|kvart|{'|'.join(sorted(_MINUTES, key=len, reverse=True))})"
    rf"(?: minutes?)? (?P<way>past|to|över|i) |(?P<swedish>halv) ?)?(?P<hour>{_HOUR_WORD})"
    rf"(?: (?P<more>{'|'.join(sorted(_MINUTES, key=len, reverse=True))}))?"
    r"(?= ?(?:o'?clock |,? ?(?:(?:in the|this|tomorrow) (?:morning|afternoon|evening|night)\b|at night\b"
    r"|tonight\b|[ap]\.?m\b)"
    r"|$))"
)
_HALF_NINE = late(rf"\bhalf[ -]?(?=(?:{_HOUR_WORD})\b)")
# "at nine", "at half past eight", "halv nio" with no part of the day beside it
_SIZES = "|".join(("half", "quarter", "kvart", *sorted(_MINUTES, key=len, reverse=True)))
_SAID_HOUR = late(
    rf"(?:\b(?:at|kl\.?|klockan) )?\b(?:a )?(?P<size>{_SIZES})(?: minutes?)? (?P<way>past|to|över|i) "
    rf"(?P<hour>{_HOUR_WORD})(?!\w)"
    rf"|(?:\b(?:at|kl\.?|klockan) )?\b(?P<swedish>halv) ?(?P<halved>{_HOUR_WORD})(?!\w)"
    rf"|\bat (?P<plain>{_HOUR_WORD})(?: (?P<more>{'|'.join(sorted(_MINUTES, key=len, reverse=True))}))?"
    r"(?![\w:.]|\s?[ap]\.?m)"
)
_SPOKEN_HOURS = frozenset(name for name in _HOURS if len(name) > 3 and not name.isdigit())
_DAY_HOURS = range(7, 13)  # said without a part of the day, these are in the morning, or noon
_EVENING_FIRST = late(r"^tonight,? (?:at )?(.+)$")
_LATE_TONIGHT = late(
    r"(?:(?P<day>\btonight),? )?\b(?:at )?(?P<hour>1[3-9]|2[0-3])(?:[:.](?P<min>[0-5][0-9]))?"
    r"(?(day)(?![0-9])| tonight\b)"
)
_TONIGHT = late(r"\b(1[0-2]|[1-9])([:.][0-5][0-9])?(?: o'?clock)? tonight\b")
_AT_NIGHT = late(r"\b(?:at )?(1[0-2]|[1-9])([:.][0-5][0-9])?(?: o'?clock)? (?:in the|at) night\b")
_HALF = {"morning": "am", "afternoon": "pm", "evening": "pm"}
_AHEAD = late(
    r"^(?:(?:by|on|the|done|ready|due|finished|be|not later than|no later than)\s+)*(?:in|within|over)?\s*"
    r"(?:the next\s+|next\s+|at most\s+|less than\s+|about\s+)?"
)
_WORKING = late(r"\b(?:business|working|work|banking) (day)(s?)\b")


def in_english(text: str) -> str:
    """`text` in lower case, blanks collapsed, with Swedish words of time, and "half nine", replaced."""
    plain = " ".join(text.lower().split()).strip(" .,;!?").replace("’", "'")
    plain = _HALF_NINE.sub("half past ", plain)
    return _WORKING.sub(r"work\1\2", _TO_ENGLISH.sub(lambda found: _ENGLISH[found[1]], plain))


def _spoken(found: re.Match[str], word: str) -> tuple[int, int]:
    """Hour and minutes that words say: "quarter to nine", "halv åtta", "eight thirty"."""
    hour = _HOURS[word]
    if found["swedish"]:
        return (hour - 2) % 12 + 1, 30
    if found["size"]:
        size = {"half": 30, "quarter": 15, "kvart": 15}.get(found["size"]) or _MINUTES[found["size"]]
        return ((hour - 2) % 12 + 1, 60 - size) if found["way"] in ("to", "i") else (hour, size)
    return hour, _MINUTES[found["more"]] if found["more"] else 0


def says_hour(text: str) -> bool:
    """Whether English words of time have an hour in words, with or without figures, that nothing makes
    clear."""
    words = text.replace("-", " ").split()
    return _SAID_HOUR.search(text) is not None or any(word in _SPOKEN_HOURS for word in words)


def with_said_hours(text: str, *, divided: bool = False) -> str:
    """Words of time with hours in words that are plain for what begins as clock times: "at nine" and "halv
    nio", but not "at four" and "half past three". divided: all that words divide, and no other."""

    def figures(found: re.Match[str]) -> str:
        hour, minutes = _spoken(found, found["hour"] or found["halved"] or found["plain"])
        plain = not found["plain"] if divided else hour in _DAY_HOURS
        return f"at {hour}:{minutes:02}" if plain else found[0]

    return _SAID_HOUR.sub(figures, text)


def _in_figures(text: str) -> str:
    """Hours in words as figures, where a part of the day says which of two is meant: "half past eight
    tonight", "quarter to six in the morning", "halv åtta in the evening", "one pm"."""
    if not _PART_OF_DAY.search(text):
        return text

    def figures(found: re.Match[str]) -> str:
        hour, minutes = _spoken(found, found["hour"])
        return f"{hour}:{minutes:02}" if minutes else str(hour)

    text = _LATE_TONIGHT.sub(lambda found: f"today at {found['hour']}:{found['min'] or '00'}", text)
    text = _EVENING_FIRST.sub(r"\1 tonight", text)
    text = _SPOKEN.sub(figures, text)
    text = _TONIGHT.sub(lambda found: f"{found[1]}{found[2] or ''} in the evening today", text)
    return _AT_NIGHT.sub(
        lambda found: (
            f"at {found[1]}{found[2] or ''}{'am' if int(found[1]) in (12, 1, 2, 3, 4, 5) else 'pm'}"
        ),
        text,
    )


def with_plain_hours(text: str) -> str:
    """English words of time with hours in words, of a part of the day, and of points, as clock times."""
    text = _in_figures(text.replace("12 noon", "noon"))
    text = _HOUR_OF_PART.sub(_by_the_clock, _PART_WITH_HOUR.sub(_by_the_clock, text))
    return _POINT.sub(lambda found: f"{found[1] or found[3]}:{found[2] or found[4]}", text)


def _by_the_clock(found: re.Match[str]) -> str:
    half = _HALF[found["part"]] if int(found["hour"]) < 13 else "" if found["min"] else ":00"
    return f"{found['day'] or ''}at {found['hour']}{found['min'] or ''}{half}"


def read_duration(text: str) -> str | None:
    """The ISO 8601 duration that the whole of `text` says ("2 hours" → "PT2H", "a day and a half" →
    "P1DT12H") or None."""
    text = in_english(text)
    if re.fullmatch(
        r"p(?=.)([0-9]+w|([0-9]+y)?([0-9]+m)?([0-9]+d)?(t(?=.)([0-9]+h)?([0-9]+m)?([0-9]+s)?)?)", text
    ):
        return text.upper()
    parts = _parts(_bare(text))
    if not parts:
        return None
    whole = {unit: int(count) for unit, count in parts.items() if count == int(count)}
    if len(whole) != len(parts):
        seconds = _seconds(parts)
        return None if seconds is None else _iso_duration(seconds)
    if set(whole) <= {"weeks", "fortnights"}:
        return f"P{whole.get('weeks', 0) + 2 * whole.get('fortnights', 0)}W"
    days = whole.get("days", 0) + 7 * whole.get("weeks", 0) + 14 * whole.get("fortnights", 0)
    if "business" in whole:
        return None
    dates = "".join(
        f"{n}{c}" for n, c in ((whole.get("years", 0), "Y"), (whole.get("months", 0), "M"), (days, "D")) if n
    )
    clock = "".join(
        f"{whole[u]}{c}" for u, c in (("hours", "H"), ("minutes", "M"), ("seconds", "S")) if whole.get(u)
    )
    return f"P{dates}{'T' + clock if clock else ''}" if dates or clock else None


def read_seconds(text: str) -> int | None:
    """The length in seconds that the whole of `text` says ("two minutes" → 120); None where it depends on the
    calendar or is no length."""
    parts = _parts(_bare(in_english(text)))
    return _seconds(parts) if parts else None


def _bare(text: str) -> str:
    """A length without the words around it."""
    lead = r"^(?:(?:in|within|at most|no more than|up to|under|max|less than|for|about)\s+)+"
    return TAIL.sub("", re.sub(lead, "", text))


def _iso_duration(seconds: int) -> str:
    days, rest = divmod(seconds, 86400)
    clock = "".join(
        f"{n}{c}" for n, c in ((rest // 3600, "H"), (rest // 60 % 60, "M"), (rest % 60, "S")) if n
    )
    return f"P{f'{days}D' if days else ''}{'T' + clock if clock else ''}"


def _parts(text: str) -> dict[str, float]:
    """Unit → count for "2 hours and 5 minutes"; empty where any of it is something else."""
    found: dict[str, float] = {}
    place = 0
    if len(text) > _LONGEST:
        return found
    text = _COMPACT.sub(r"\1 hours \2 minutes", text)
    text = _QUARTERS.sub(lambda found: "45 minutes" if found["three"] else "15 minutes", text)
    while place < len(text):
        part = _DURATION_PART.match(text, place)
        if not part:
            return {}
        unit, words = _UNITS[part["unit"]], part["n"].strip()
        if words in {"half a", "half an", "a half", "en halv"}:
            count = 0.5
        else:
            number = read_number(words)
            if number is None or number > 10**7:
                return {}
            count = float(number)
        count += 0.5 if part["half"] or part["half2"] else 0
        # “2 hours 3 hours” is no length.
        if unit in found:
            return {}
        found[unit], place = count, part.end()
    return found


def _seconds(parts: dict[str, float]) -> int | None:
    """Length in seconds, None where months or years make it depend on the calendar."""
    sizes = {
        "seconds": 1,
        "minutes": 60,
        "hours": 3600,
        "days": 86400,
        "weeks": 604800,
        "fortnights": 1209600,
    }
    if not set(parts) <= set(sizes):
        return None
    return round(sum(count * sizes[unit] for unit, count in parts.items()))


def later(text: str, now: datetime) -> datetime | None:
    """ "in 3 days", "within two hours", "a month from now": the same time of day that much later."""
    parts = _parts(_AHEAD.sub("", text).removesuffix(" from now"))
    if not parts:
        return None
    if "business" in parts:
        return _workdays(now, parts)
    months = parts.pop("months", 0) + 12 * parts.pop("years", 0)
    seconds = _seconds(parts)
    if seconds is None or months != (months := round(months)):  # half a month is no number of days
        return None
    shifted = now.replace(
        year=now.year + (now.month - 1 + months) // 12, month=(now.month - 1 + months) % 12 + 1, day=1
    )
    # A month after 31 January is the last day of February.
    shifted = shifted.replace(day=min(now.day, monthrange(shifted.year, shifted.month)[1])) if months else now
    days, rest = divmod(seconds, 86400)
    # Days go by the calendar, hours by the clock: three days from now is the same time of day also where
    # summer time ends between, 72 hours is not.
    local = (shifted.replace(tzinfo=None) + timedelta(days=days)).replace(
        tzinfo=now.tzinfo
    )  # the wall clock stays
    return (local.astimezone(UTC) + timedelta(seconds=rest)).astimezone(now.tzinfo)


def _workdays(now: datetime, parts: dict[str, float]) -> datetime | None:
    if (
        set(parts) != {"business"}
        or not 0 < parts["business"] <= 10**4
        or parts["business"] != int(parts["business"])
    ):
        return None
    day, left = now, int(parts["business"])
    while left:
        day += timedelta(days=1)
        left -= day.weekday() < 5
    return day
