"""Dates in languages other than English and Swedish, through dateparser, held to what it cannot guess.

Alone it guesses ("the 5th" is the 21st of May to it, "12/01" the first of December), so it is asked last,
only for text with letters; an absolute date must name its day and its month, and every number of either
must be in its answer (of "morgen um 5" it only hears "morgen", of "5-6 december" the 5th), and so must a
weekday. Importing it and its first answer take 0.3 s.
"""

import re
from datetime import datetime, time

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
