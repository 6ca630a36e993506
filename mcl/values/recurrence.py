"""How often, in words → a rule of RFC 5545 (RRULE) with its first local moment, or the file whose change is
waited for; and where a goal says it.

Never the machine's clock: when it was said and in which zone are arguments. English and Swedish.
"""

import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from mcl.core.patterns import late
from mcl.values.dates import MORNING, read_day, read_moment, read_start
from mcl.values.numbers import read_number
from mcl.values.recurrence_words import EVERY, RuleParts, read_rule

_LONGEST: Final = 160
_TIME: Final = late(
    r"(?<!\w)(?:at|kl\.?|klockan|@) (?:[0-9]{1,2}(?:[:.][0-9]{2})?(?: ?[ap]\.?m\.?(?!\w))?|noon|midnight"
    r"|(?:halv |kvart i |kvart över |half past |quarter past |quarter to )?[^\W\d_]+(?= ))"
    r"(?: (?:in the|på) (?:morning|afternoon|evening|morgonen|förmiddagen|eftermiddagen|kvällen))?(?!\w)",
    re.IGNORECASE,
)
_MOST_WORDS: Final = 16
_LONGEST_DAY: Final = 5  # words that name a day
_BEFORE: Final = 8  # words before one that repeats: "at half past seven in the morning every Monday"
_UNTIL = late(
    r"\b(?:until|fram till|till och med|t\.?o\.?m\.?|tills|till|til|up to and including|up to|to the end of)"
    r" (?P<until>.+)$"
)
_EVES: Final = {"jul": "christmas eve", "christmas": "christmas eve"}  # what lasts until then ends then
_TIMES = late(r",? ?\b(?P<n>[0-9]{1,4}|[^\W\d_]+) (?:times|gånger)$")
_FOR = late(
    r",? ?\b(?:for|i|under) (?P<span>(?:[0-9]{1,3}|[^\W\d_]+) (?:days|weeks|months|dagar|veckor|månader))$"
)
_SINCE = late(
    r",? ?\b(?:(?:starting|beginning|start|börja|börjar|med (?:start|början))(?: from| på| med)?|from"
    r"|från(?: och med)?|fr\.?o\.?m\.?|with the first (?:one|time)|(?:med )?första gången)(?: on| den)?"
    r" (?P<day>\S.*)$"
)
_HEADS = late(
    r"\b(?:every|each|on|the|den|på|varje|varenda|var|vart|varannan|vartannat|first|last|första|sista|once|"
    r"en gång|hourly|daily|nightly|weekly|monthly|quarterly|yearly|annually|fortnightly|"
    r"dagligen|veckovis|månadsvis|kvartalsvis|årligen|"
    r"weekdays|vardagar|[^\W\d_]+days|[^\W\d_]+dagar|[^\W\d_]+dagen)\b"
)
_WORKING_WEEK: Final = (
    r"\b(?:mon|monday|mån|måndag)s?(?: ?[-–] ?| (?:to|through|till) )(?:fri|friday|fre|fredag)s?\b"
)
_MON_TO_FRI = late(_WORKING_WEEK)
_REPEATS = late(
    r"\b(?:every|each|varje|varenda|var|varannan|vartannat|once an?|en gång|hourly|daily|nightly|weekly|"
    r"monthly|quarterly|yearly|annually|fortnightly|dagligen|veckovis|månadsvis|kvartalsvis|årligen|[^\W\d_]+days|vardagar|"
    r"[^\W\d_]+dagar|i månaden|of the month)\b"
    rf"|{_WORKING_WEEK}",
    re.IGNORECASE,
)
# "the report that is sent on Mondays": it is said of a thing, not of the goal
_RELATIVE = late(r"\b(?:that|which|who|som) (?:\w+ )?\w+$")
_CLAUSE: Final = " ,;:.–-"


@dataclass(frozen=True)
class Recurrence:
    """When something happens again and again, or once; or whenever a file of the workspace changes.

    rule: RRULE of RFC 5545 without its DTSTART; "" once. start: its DTSTART, the first local moment
    ("2026-12-04T09:00:00"). zone: IANA name that it is meant in; UTC where hours or minutes are counted,
    which no change of clocks changes. until: UTC, "" without end; count: how often at most, 0 without limit.
    words: as they were said. file, mentions: the file, and the word that must then stand in it.
    """

    rule: str
    start: str
    zone: str
    until: str = ""
    count: int = 0
    words: str = ""
    file: str = ""
    mentions: str = ""

    @property
    def uri(self) -> str:
        """In one text, without its end."""
        if self.file:
            return f"file:{self.file}"
        return f"rrule:{self.rule}" if self.rule else f"once:{self.start}"


class UnclearTimeError(ValueError):
    """What is said of how often can be read in two ways, or not to its end."""


def read_recurrence(text: str, at: str, zone: str = "UTC") -> Recurrence | None:
    """The recurrence that the whole of `text` says; None where it says none, or is unclear.

    at: when it was said (ISO 8601 UTC); zone: IANA name. It begins with the first such moment after `at`.
    Raises zoneinfo.ZoneInfoNotFoundError, and ValueError for a bad `at`.
    """
    now = datetime.fromisoformat(at).astimezone(ZoneInfo(zone))
    plain = _plain(text)
    if not plain or len(plain) > _LONGEST:
        return None
    limits = _limited(plain, at, zone)
    if limits is None:
        return None
    plain, until, count, begin = limits
    rule = read_rule(plain)
    if rule is None:
        return None
    if rule.freq in ("HOURLY", "MINUTELY"):
        zone, now = "UTC", now.astimezone(ZoneInfo("UTC"))
    parts = (*rule.parts, *((f"BYHOUR={','.join(map(str, rule.hours))}",) if len(rule.hours) > 1 else ()))
    written = ";".join((f"FREQ={rule.freq}", *parts))
    start = _first(written, rule, max(now, begin or now))
    return Recurrence(written, start, zone, until, count, " ".join(text.split())) if start else None


def read_once(text: str, at: str, zone: str = "UTC") -> Recurrence | None:
    """The one later moment that the whole of `text` names ("in two hours", "i morgon kl 9")."""
    found = read_start(text, at, zone)
    if found is None or found <= at:
        return None
    local = datetime.fromisoformat(found).astimezone(ZoneInfo(zone)).replace(tzinfo=None)
    return Recurrence("", local.isoformat(timespec="seconds"), zone, "", 1, " ".join(text.split()))


_WHEN = r"(?:when|whenever|as soon as|each time|när|så fort|varje gång)"
_FILE = r"(?:the file |filen )?(?:[\"“](?P<quoted>[^\"”]{1,255})[\"”]|(?P<file>[\w./-]*\w\.\w{1,8}))"
_CHANGES = r"(?:changes|is changed|has changed|ändras|har ändrats)"
_MENTIONS = (
    r"(?:mentions|contains|says|nämner|innehåller) (?:the words? |ordet |orden )?"
    r"(?:[\"“](?P<said>[^\"”]{1,80})[\"”]|(?P<word>[^\s,:;]{1,80}))"
)
_TRIGGER = late(rf"{_WHEN} {_FILE} (?:{_CHANGES}|{_MENTIONS})", re.IGNORECASE)


def read_trigger(text: str) -> Recurrence | None:
    """The file, and the word in it, that the whole of `text` waits for ("when notes.md mentions invoice")."""
    found = _TRIGGER.fullmatch(" ".join(text.split()).strip(_CLAUSE))
    return _trigger(found) if found else None


def _trigger(found: re.Match[str]) -> Recurrence:
    said = found["said"] or found["word"] or ""
    return Recurrence("", "", "UTC", words=found[0], file=found["quoted"] or found["file"], mentions=said)


def read_when(text: str, at: str, zone: str = "UTC") -> Recurrence | None:
    """Whatever of these the whole of `text` says: how often, once later, or when a file changes."""
    return read_recurrence(text, at, zone) or read_trigger(text) or read_once(text, at, zone)


def may_recur(goal: str) -> bool:
    """Whether some word of a goal could say how often: a look that costs nothing."""
    return _REPEATS.search(goal) is not None or _TRIGGER.search(goal) is not None


def split_goal(goal: str, at: str, zone: str = "UTC", *, once: bool = False) -> tuple[str, Recurrence] | None:
    """A goal without the words that say how often, or which file is waited for, at its beginning or its end;
    and what they say.

    once: also a single later moment ("tomorrow at 9 …"). None where it says
    nothing of it. Raises UnclearTimeError where a time of day is left over that can be read in two ways.
    """
    found = _TRIGGER.search(goal)
    if found and (found.start() == 0 or found.end() == len(goal.rstrip(" ."))):
        rest = (goal[found.end() :] if found.start() == 0 else goal[: found.start()]).strip(_CLAUSE)
        return (rest, _trigger(found)) if rest else None
    best: tuple[int, int, Recurrence] | None = None
    for begin, end in _spans(goal, once=once):
        words = goal[begin:end].strip(_CLAUSE)
        if best is not None and end - begin <= best[1] - best[0]:
            continue
        read = read_recurrence(words, at, zone) or (read_once(words, at, zone) if once else None)
        if read is not None:
            best = begin, end, read
    if best is None:
        return None
    begin, end, said = best
    rest = (goal[end:] if begin == 0 else goal[:begin]).strip(_CLAUSE)
    if re.match(r"(?:at|kl\.?|klockan|@) ?[0-9]", rest, re.IGNORECASE) and begin == 0:
        raise UnclearTimeError(f"which time of day is meant is not clear: {rest[:40]}")
    if not rest or rest.lower() in EVERY or (begin and _RELATIVE.search(rest)):
        return None
    return rest, said


def split_inside(goal: str, at: str, zone: str = "UTC") -> tuple[str, Recurrence] | None:
    """A goal without the words in it that say how often, wherever they stand; and what they say. None where
    it says nothing of it that can be read."""
    words = [(found.start(), found.end()) for found in re.finditer(r"\S+", goal)]
    for repeats in _REPEATS.finditer(goal):
        near = [place for place, (_, end) in enumerate(words) if end > repeats.start()][:1]
        first = near[0] if near else 0
        runs = [
            (words[begin][0], words[end][1])
            for begin in range(max(0, first - _BEFORE), first + 1)
            for end in range(first, min(len(words), first + _MOST_WORDS))
        ]
        for begin, end in sorted(runs, key=lambda one: one[0] - one[1]):
            said = goal[begin:end].strip(_CLAUSE)
            if re.search(r"[.!?;:](?=\s)", said):
                continue
            if (read := read_recurrence(said, at, zone)) is not None and read.rule:
                start = begin + goal[begin:end].index(said)
                behind = goal[start + len(said) :].lstrip()
                gap = "" if behind[:1] in ",.;:!?" else " "
                rest = f"{goal[:start].rstrip()}{gap}{behind}".strip(_CLAUSE)
                return with_time(rest, said, at, zone) or (rest, read)
    return None


def with_time(goal: str, words: str, at: str, zone: str = "UTC") -> tuple[str, Recurrence] | None:
    """What words say of how often, with the time of day that the rest of a goal says by itself ("every day …
    at 8pm"), and the goal without it; None where it says none."""
    clock = _TIME.search(goal)
    if clock is None or _TIME.search(words):
        return None
    read = read_recurrence(f"{words} {clock[0]}", at, zone)
    if read is None:
        return None
    behind = goal[clock.end() :].lstrip()
    gap = "" if behind[:1] in ",.;:!?" else " "
    return f"{goal[: clock.start()].rstrip()}{gap}{behind}".strip(_CLAUSE), read


def _spans(goal: str, *, once: bool) -> list[tuple[int, int]]:
    """Where in a goal its recurrence may stand: from its beginning, or to its end; the longest first."""
    stops = [0, *(found.end() for found in re.finditer(r"\S+", goal))]
    starts = [found.start() for found in re.finditer(r"\S+", goal)]
    whole = len(goal.rstrip())
    leading = [(0, stop) for stop in stops[1 : _MOST_WORDS + 1] if stop < whole]
    trailing = [(start, whole) for start in starts[-_MOST_WORDS:] if start > 0]
    heads = (
        {found.start() for found in _HEADS.finditer(goal.lower())}
        if len(goal) == len(goal.lower())
        else set(starts)
    )
    if not once:
        leading = leading if 0 in heads else []
        trailing = [one for one in trailing if one[0] in heads]
    return sorted((*leading, *trailing), key=lambda one: one[0] - one[1])


def _plain(text: str) -> str:
    plain = " ".join(text.lower().replace("’", "'").split()).strip(" .,;:!?")
    return _MON_TO_FRI.sub("weekdays", re.sub(r"\s*,\s*", " , ", plain))


def _limited(text: str, at: str, zone: str) -> tuple[str, str, int, datetime | None] | None:
    """The words without those that say when it ends and begins; until, count, and just before it begins."""
    until, count = "", 0
    if found := _UNTIL.search(text) or _FOR.search(text):
        words = found.groupdict()
        ends = _EVES.get(words["until"], words["until"]) if "until" in words else f"in {words['span']}"
        moment = read_moment(ends, at, zone)
        if moment is None or moment <= at:
            return None
        text, until = text[: found.start()], moment
    elif found := _TIMES.search(text):
        number = read_number(found["n"])
        if number is None or number != int(number) or not 0 < number < 10_000:
            return None
        text, count = text[: found.start()], int(number)
    text, begin = _begun(text, at, zone)
    return text.strip(" ,"), until, count, begin


def _begun(text: str, at: str, zone: str) -> tuple[str, datetime | None]:
    """The words without those that say on which day it begins, and just before that."""
    found = _SINCE.search(text)
    words = (
        re.split(r" (?=(?:at|kl\.?|klockan|@) |[0-9]{1,2}[:.][0-9]{2})", found["day"])[0].split(" ")
        if found
        else []
    )
    for many in range(min(_LONGEST_DAY, len(words)), 0, -1):
        if found and (day := read_day(" ".join(words[:many]), at, zone)):
            begin = datetime.combine(date.fromisoformat(day), time(0), ZoneInfo(zone)) - timedelta(seconds=1)
            return f"{text[: found.start()]} {found['day'][len(' '.join(words[:many])) :]}", begin
    return text, None


def _first(written: str, rule: RuleParts, now: datetime) -> str:
    """The first local moment after `now` that fits; "" where there is none."""
    from dateutil.rrule import rrulestr

    local = now.replace(tzinfo=None, microsecond=0)
    if rule.freq == "MINUTELY" or rule.freq == "HOURLY":
        gap = next((int(one[9:]) for one in rule.parts if one.startswith("INTERVAL=")), 1)
        return (local + timedelta(**{"minutes" if rule.freq == "MINUTELY" else "hours": gap})).isoformat()
    begins = datetime.combine(local.date(), rule.at or MORNING)
    # The first one anchors every second one: it is counted from there, whatever lies before it.
    once = re.sub(r";INTERVAL=[0-9]+", "", written)
    found = rrulestr(f"RRULE:{once}", dtstart=begins).after(local)
    return found.isoformat(timespec="seconds") if found is not None and found.year < 9000 else ""


def moments(recurrence: Recurrence, after: datetime, most: int) -> list[tuple[str, datetime]]:
    """The first `most` moments after `after` (aware): each local ("2026-12-04T09:00:00"), and in UTC.

    A local time that the clocks skip is the one that much later; one that they have twice is the first.
    """
    from dateutil.rrule import rrulestr

    zone, utc = ZoneInfo(recurrence.zone), ZoneInfo("UTC")
    start = datetime.fromisoformat(recurrence.start)
    rule = [start] if not recurrence.rule else rrulestr(f"RRULE:{recurrence.rule}", dtstart=start)
    edge = after.astimezone(zone).replace(tzinfo=None) - timedelta(days=1)
    coming = rule if isinstance(rule, list) else rule.xafter(edge, inc=True)
    found: list[tuple[str, datetime]] = []
    for local in coming:
        moment = local.replace(tzinfo=zone).astimezone(utc)
        if recurrence.until and moment > datetime.fromisoformat(recurrence.until):
            break
        if moment > after:
            found.append((local.isoformat(timespec="seconds"), moment))
        if len(found) >= most or local.year >= 9000:
            break
    return found
