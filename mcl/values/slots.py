"""The value of a typed slot: what the text must look like for each type of MatrixScript."""

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import date, datetime

from mcl.core.patterns import late
from mcl.core.words import MEMORY_TYPES
from mcl.values.kinds import endings_called, kind_of_ending
from mcl.values.numbers import only_number, read_number

_YES = frozenset(["true", "yes", "y", "on", "1", "ja", "sant"])
_NO = frozenset(["false", "no", "n", "off", "0", "nej", "falskt"])
_ULID = late(r"[0-7][0-9A-HJKMNP-TV-Z]{25}")
_LEAD = late(
    r"^(?:the|last|latest|first|top|about|exactly|at most|up to|de|senaste|första)\s+", re.IGNORECASE
)
# A memory by its address, or by what stands behind matrix://cortex/ in it.
_MEMORY = late(
    r"(?:matrix://cortex/)?(?P<type>[A-Za-z]+)/(?P<id>[A-Za-z0-9][A-Za-z0-9._-]{0,127}(?:@v[1-9][0-9]{0,8})?)"
)
_BEGINNINGS = ("when", "start")
_PAST = ("since",)
_DAYS = ("day", "first_day", "last_day")
_DAY = late(r"(?:.*_)?date")
UNIT_SECONDS = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}
_BARE_HOST = late(r"(?:[a-z0-9-]+\.)+[a-z]{2,}(?::[0-9]{1,5})?(?:[/?#]|$)", re.IGNORECASE)
_ADDRESSES = ("webhook", "topic")  # names of slots that hold a web address and nothing else
_COUNTED = late(
    r"(?P<n>[0-9][0-9.,' ]*[0-9]|[0-9]|(?:[a-zåäö]+[ -]){0,6}?[a-zåäö]+)"
    r"(?:\s+(?!few\b|lot|bunch|number|handful|bit\b|while|par\b)[^\W\d_]+)?",
    re.IGNORECASE,
)


def read_slot(
    text: str, type_: str, options: Sequence[str], at: str, zone: str, name: str = ""
) -> str | None:
    """The canonical text of a slot's value, or None where `text` is not of that type.

    `type_` is the element's type ("uint", "enum", "ArtifactRef", …; never "T[]"); `options` are an enum's
    members, in the skill's spelling. A type of memories ("Event") takes the address of one of them. "yes"
    → "true", "the last five" → "5", "$500" → "500 USD", "Business" → the member "business".

    `name`, the slot's, says which moment or unit is meant: an iso8601 called `when` or `start` is when
    something begins ("Friday" → nine in the morning), `day`, `first_day` or `last_day` is a date alone ("24
    December" → 2026-12-24), one called `since` looks back ("Friday" → when last
    Friday began), one called `date` or `…_date` is a day ("Friday" → 2026-11-27), a uint called
    `seconds`, `minutes`, `hours` or `days` takes a length of time in words ("two minutes" → "120"), a
    text called `url` is https where it names no scheme, one called `pattern` is of file names ("markdown
    files" → "*.md").
    """
    text = text.strip()
    if not text:
        return None
    if options:
        return _member(text, options)
    if is_memory(type_):
        return read_memory(text, type_)
    read = {
        "uint": lambda t: _uint(t, name),
        "float": _float,
        "bool": _bool,
        "ulid": lambda t: t.upper() if _ULID.fullmatch(t.upper()) else None,
        "sha256": lambda t: t.lower() if re.fullmatch(r"[0-9a-f]{64}", t.lower()) else None,
        "did": lambda t: t if re.fullmatch(r"did:[a-z0-9]+:[A-Za-z0-9._:%-]+", t) else None,
        "iso8601": lambda t: _time(t, at, zone, name),
        "AssetAmount": _amount,
    }.get(type_)
    if read is None and name in ("url", *_ADDRESSES):
        if _BARE_HOST.match(text):
            return f"https://{text}"
        return text if name == "url" or "://" in text else None
    if read is None and name == "mail":
        return read_mail(text)
    if read is None and name == "pattern":
        return read_pattern(text)
    return read(text) if read else text


_MAIL = late(r"(?:[^<>,;@]*<)?[^\s<>,;@]+@[^\s<>,;@]+\.[^\s<>,;@]+>?")


def read_mail(text: str) -> str | None:
    """One or more mail addresses with commas between; None where something else stands there ("Anna")."""
    said = re.split(r"\s*[,;]\s*|\s+(?:and|och)\s+", text.removeprefix("mailto:").rstrip(".,;:!?"))
    found = [one for one in said if one]
    return ", ".join(found) if found and all(map(_MAIL.fullmatch, found)) else None


def is_memory(type_: str) -> bool:
    """Whether a slot of this type takes the address of a memory of that type."""
    return type_ in MEMORY_TYPES and type_ != "Constraint"


def read_memory(text: str, type_: str) -> str | None:
    """The address of a memory of a type: ``Event/dentist`` → ``matrix://cortex/Event/dentist``."""
    found = _MEMORY.fullmatch(text)
    return f"matrix://cortex/{type_}/{found['id']}" if found and found["type"] == type_ else None


def _member(text: str, options: Sequence[str]) -> str | None:
    if text in options:
        return text
    # Reversed, so that of two members that differ in case alone the first one declared wins.
    plain = {re.sub(r"[\s_-]+", " ", option.casefold()): option for option in reversed(options)}
    return plain.get(re.sub(r"[\s_-]+", " ", text.casefold()))


def _number(text: str) -> str | None:
    while (shorter := _LEAD.sub("", text)) != text:
        text = shorter
    value = read_number(text)
    if value is None and (counted := _COUNTED.fullmatch(text)):  # "five commits"
        value = read_number(counted["n"])
    if value is None:
        value = only_number(text)
    return None if value is None else format(value, "f")


def _uint(text: str, name: str = "") -> str | None:
    if name in UNIT_SECONDS:
        from mcl.values.durations import read_seconds

        if (seconds := read_seconds(text)) is not None:
            return str(-(-seconds // UNIT_SECONDS[name]))  # a part of a unit counts as one
    if name == "days" and (days := _calendar_days(text)) is not None:
        return str(days)
    number = _number(text)
    if number is None or "." in number or int(number) > 2**53:
        return None
    return str(int(number))


def _calendar_days(text: str) -> int | None:
    """The days of months and years, as people count them: thirty and 365."""
    from mcl.values.durations import read_duration

    found = re.fullmatch(r"P(?:(\d+)Y)?(?:(\d+)M)?(?:(\d+)D)?", read_duration(text) or "")
    years, months, days = (int(one or 0) for one in found.groups()) if found else (0, 0, 0)
    return years * 365 + months * 30 + days or None


def _float(text: str) -> str | None:
    percent = re.fullmatch(r"(.+?)\s*(?:%|percent|per cent|procent)", text)
    number = _number(percent[1] if percent else text.lstrip("+-"))
    if number is None:
        return None
    value = float(number) / 100 if percent else float(number)
    return repr(-value if text.startswith("-") else value)


def _bool(text: str) -> str | None:
    word = text.casefold()
    return "true" if word in _YES else "false" if word in _NO else None


def _time(text: str, at: str, zone: str, name: str = "") -> str | None:
    from mcl.values.dates import read_day, read_moment, read_past_day, read_since, read_start
    from mcl.values.durations import read_duration

    if name in _BEGINNINGS:
        return read_start(text, at, zone)
    if name in _PAST:
        return read_since(text, at, zone)
    if name in _DAYS:
        return read_day(text, at, zone)

    if _DAY.fullmatch(name):
        return _day(text, at, zone)
    if text.lower().startswith(("in ", "within ", "om ", "inom ")):  # a moment; "two hours" is a length
        return read_moment(text, at, zone)
    return read_duration(text) or read_moment(text, at, zone) or read_past_day(text, at, zone)


_FOR_EACH = late(
    r"\s+(?:(?:an?|per|each|every|i|om)\s+(?:\w+\s+)?\w+|each|apiece|apeice|styck|per\s+\w+|a\s+piece)$",
    re.IGNORECASE,
)


def _day(text: str, at: str, zone: str) -> str | None:
    """A day to come, else one that was, as it is called in the zone: 2026-11-27."""
    from zoneinfo import ZoneInfo

    from mcl.values.dates import read_moment, read_since

    with suppress(ValueError):
        return date.fromisoformat(text).isoformat()
    moment = read_moment(text, at, zone) or read_since(text, at, zone)
    return datetime.fromisoformat(moment).astimezone(ZoneInfo(zone)).date().isoformat() if moment else None


def _amount(text: str) -> str | None:
    from mcl.values.money import read_money

    amount = read_money(text) or read_money(_FOR_EACH.sub("", text))  # "140 euros a night"
    return f"{amount.amount} {amount.asset}" if amount else None


# ---- Kinds of files in words → patterns of file names ("markdown" is *.md). A closed list; no file is
# read.

# What people call files whose names end otherwise.
_CALLED = {
    "markdown": "md", "text": "txt", "plain text": "txt", "python": "py", "javascript": "js",
    "typescript": "ts", "rust": "rs", "ruby": "rb", "shell": "sh", "excel": "xlsx", "word": "docx",
    "calendar": "ics", "powerpoint": "pptx",
}  # fmt: skip
ENDINGS = frozenset(
    (
        "md", "txt", "csv", "tsv", "json", "yaml", "yml", "toml", "xml", "html", "htm", "css", "js", "ts",
        "py", "rs", "go", "java", "kt", "c", "h", "cpp", "rb", "php", "sh", "sql", "svg", "png", "jpg",
        "jpeg", "gif", "webp", "pdf", "docx", "xlsx", "pptx", "odt", "ods", "ics", "log", "eml", "zip",
    )
)  # fmt: skip
# Around words for a kind, in both languages: "all the photos", "alla mina bilder", "every .log file".
_AROUND = late(
    r"^(?:all|every|each|any|the|my|our|of|alla|allt|varje|mina|våra|mitt|de|samtliga)\s+"
    r"|\s+(?:files?|documents?|pictures?|images?|scripts?|tables?|filer|filerna)$"
)
_EVERYTHING = frozenset(("everything", "all", "allt", "all files", "all the files", "alla filer", "allting"))
_SEVERAL = late(r"(?:[:’']?s|[:-]?er|[:-]?erna|-?filer|-?filerna|-?files?)$")
_MORE = frozenset(
    ("tmp", "bak", "old", "orig", "part", "iso", "exe", "dmg", "db", "sqlite", "ini", "cfg", "conf")
)


def read_pattern(text: str) -> str:
    """The pattern of file names that `text` says ("markdown files", ".csv", "PDFs", "alla bilder"), else
    `text` itself."""
    plain = text.lower().strip()
    if plain in _EVERYTHING:
        return "*"
    while True:
        if endings := endings_called(plain):
            return f"*.{{{','.join(endings)}}}"
        if (shorter := _AROUND.sub("", plain, count=1)) == plain:
            break
        plain = shorter
    word = plain.removeprefix("*").removeprefix(".")
    for name in (word, _SEVERAL.sub("", word)) if "/" not in word else ():
        ending = _CALLED.get(name, name)
        if ending in ENDINGS or ending in _MORE or kind_of_ending(f".{ending}"):
            return f"*.{ending}"
    return text
