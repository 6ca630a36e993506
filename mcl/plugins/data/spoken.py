"""What a goal says of moments that stand in calendars and lists here: "half an hour before the dentist"; and
between which days a calendar is listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from executor.core.clock import instant
from executor.core.errors import ExecutorError
from executor.sandbox.paths import Workspace
from mcl.compiler.stages.word_forms import folded, stems
from mcl.plugins.data.moment_said import (
    answered,
    asked_for,
    clocked,
    explained_days,
    joined_days,
    last_words,
    moment_said,
    pointed,
    reads,
    says_time,
    spelled,
    timeless,
    told,
    unread,
)
from mcl.values.dates import MORNING, read_day, read_start
from mcl.values.durations import in_english, read_seconds
from mcl.values.periods import DAYS, Days, period

_BEFORE: Final = re.compile(
    r"(?P<length>(?:[^\s,.;:!?]+\s+){1,4}?)(?:before|ahead\s+of|prior\s+to|innan|före)(?P<event>(?=\W|$)(?:[^,;:!?()\n]|(?<=\d):(?=\d))*)",
    re.IGNORECASE,
)
_DAY_BEFORE: Final = frozenset(
    ("the day", "a day", "dagen", "one day", "en dag", "the evening", "the night", "kvällen", "natten")
)
_EVENING: Final = frozenset(("evening", "night", "kvällen", "natten"))
_CLOCK: Final = re.compile(r"(?:at|kl\.?|klockan)?\s*(?P<hour>\d{1,2})[:.](?P<minute>\d\d)", re.IGNORECASE)
_TIMED: Final = re.compile(
    r"(?:^|\s)(?:at|kl\.?|klockan|vid)\s*(?:(?P<hour>\d{1,2})(?:[:.](?P<minute>[0-5]\d))?|noon|lunch|tolv)$",
    re.IGNORECASE,
)
_SPAN: Final = re.compile(
    r"(?<![\w.-])(?P<hour>\d{1,2})(?P<min>[:.]\d\d)?\s*(?:[-–]|to|till|til|until)\s*(?P<to>\d{1,2})(?P<tomin>[:.]\d\d)?(?![\w-])",
    re.IGNORECASE,
)
_SPANS: Final = re.compile(
    r"(?:kl\.?|klockan|at|from|between|mellan|från|\w{2,6}da(?:y|g)|mon|tue|wed|thu|fri|sat|sun|mån|tis|ons|tor|fre|lör|sön"
    r"|\S+\.ics|tomorrow|today|imorgon|idag|jan|feb|mars?|apr|maj|may|june?|juni|july?|juli|aug|sep|okt|oct|nov|dec|\w+ber|\w+ari"
    r"|\d{1,2}(?:st|nd|rd|th|:?[ea]))\s*,?\s+$",
    re.IGNORECASE,
)
_WAKES: Final = re.compile(
    r"(?:wake (?:me|us)(?: up)?|väck (?:mig|mej|oss)|(?:set|put on) (?:an|the|my) alarm"
    r"|(?:set|start) (?:a|the) timer|(?:sätt|ställ|starta) (?:en )?(?:timern?|äggklocka\w*)"
    r"|(?:sätt|ställ) (?:ett |en |mitt |min )?(?:larm|alarm|väckar|klock)\w*)"
    r"(?!\w)(?!.*\s(?:to|about|that|att|om)\s+[^\W\d])",
    re.IGNORECASE,
)
_HOUR: Final = re.compile(
    r"^ (?:for|på|till) (?=\d{1,2}(?:[:.]\d\d)?(?!\d|\s*(?:min|h|sek|sec|tim)))", re.IGNORECASE
)
_LASTS: Final = re.compile(r"^ (?:for|på|till) (?=\S+ (?:min|h|sek|sec|tim))", re.IGNORECASE)
_EVERY: Final = re.compile(r"\s*(?:every|each|all|varje|varenda|alla)\s", re.IGNORECASE)
# "om å ringa" is "om att ringa", and what stands behind "me" when the words for a moment are gone
_OM_TO: Final = re.compile(r"\b(om|te|till)\s+å(?=\s)", re.IGNORECASE)
_ME_TO: Final = re.compile(r"\b(påminn\w*\s+(?:mig|mej|oss))\s+[åo](?=\s)", re.IGNORECASE)
# "dinner at Eva's, put it in the calendar": what it is stands before
_POINTED: Final = re.compile(
    r"(?P<what>[^.!?;\n]{2,80}?)(?:\s+(?:on|at|in|from|the|den|på|kl|from))*\s*[.!?,;–-]+\s*"
    r"(?:(?:can|could|would|will)\s+you\s+|please\s+|pls\s+|kan\s+du\s+|vill\s+du\s+|snälla\s+|och\s+|and\s+)*"
    r"(?:(?P<put>(?:put|add|enter|write|stick|note|lägg|skriv|sätt|för|boka|notera)(?:\s+upp|\s+in)?)\s+(?:it|that|this|det|den|detta)\s+)?"
    r"(?P<into>(?:in\s+|into\s+|to\s+|on\s+|i\s+)*(?:(?:my|the|our|min|vår)\s+)?"
    r"(?:calendar(?:\.ics)?|diary|agenda|kalender(?:n)?|almanacka(?:n)?))(?:\s*,?\s*(?:please|pls|tack|thanks|thx))?[.!?]*\s*$",
    re.IGNORECASE,
)
_CALENDARS: Final = re.compile(r"calendar|diary|agenda|kalender(?:n)?|almanacka(?:n)?", re.IGNORECASE)
_INTO: Final = re.compile(
    r"\b(?P<lead>(?:in |into |to |on |i |på )+)(?:(?:my|the|our|min|mitt|vår|vårt)\s+)?"
    r"(?P<name>[^\W\d_]{4,})",
    re.IGNORECASE,
)
_REMINDS: Final = re.compile(r"remind|påmin|paminn|ping", re.IGNORECASE)
_ENDS: Final = re.compile(r"\.(?=\s|$)|\s(?:so|that|to|om|att|så|remind|ping|nag|påminn|paminn|pinga)\s")
_TITLED: Final = re.compile(
    r"(?:\b(?:me|us|mig|mej|oss|reminder|alarm|påminnelse)(?:\s+(?:for|at|om|på))?|^)\s*$", re.IGNORECASE
)
_WORD: Final = re.compile(r"[^\W\d_]+")
_POINTS: Final = frozenset(("", "it", "that", "this", "den", "det", "dess", "de"))
_OWNED: Final = re.compile(r"\b([^\W\d_]+)(?:['’]s|(?<=[^\Ws])s)(?=\s+[^\W\d_])")
_SAYS_NOTHING: Final = (
    "the a an my our on at in i på kl den det min vår hos med of to is it leaves starts begins går börjar "
    "me mig mej ping remind påminn"
)
_EMPTY: Final = frozenset(folded(word) for word in _SAYS_NOTHING.split())
_LISTS: Final = (".txt", ".md")
_ISO: Final = re.compile(r"(?<![\w-])\d{4}-\d\d-\d\d(?![\w-])")
_UNTIL: Final = re.compile(
    rf"(?:\s*\b(?:by|before|due|until|till|on|the|senast|innan|före|den|på))*\W*{_ISO.pattern}", re.IGNORECASE
)
_BYTES: Final = 1 << 19
_MOST_FILES: Final = 40
_ALIKE: Final = 4  # letters in which two words begin alike
_COMPOUND: Final = 6  # letters of a word that may be the end of a longer one
_LONGEST: Final = 5  # words that say a period
_WEEKEND: Final = timedelta(days=3)  # from the last day before one to the first behind it
_CALENDAR: Final = "reminders.ics"


class _Entry(NamedTuple):
    """What is at a moment."""

    title: str
    start: datetime


def inputs(
    prose: str,
    verb: str,
    at: str,
    zone: str,
    answer: str,
    paths: Sequence[str],
    workspace: Workspace | None,
) -> tuple[str, Mapping[str, str]] | None:
    """The goal without the words for such a moment or period, and what they say by input of a skill for
    reminders; None where there are none. answer: what a person said when asked for the moment. Of no input:
    "asked", a question for a moment that only the person knows; "unread", words of time that say nothing
    here. verb: of what the goal wants; “repeat” only asks for its one time of day as a clock says it."""
    said, prose = prose, spelled(prose)
    if verb == "repeat":
        return pointed(clocked(prose, at, zone)), {}
    prose, named = _calendar(prose, paths)
    if verb == "find":
        return _period(prose, at, zone, paths)
    prose = pointed(told(prose, at, zone))
    plain = _OM_TO.sub(r"\1 att", prose) if _REMINDS.search(prose) else prose
    plain, length = _span(plain) or (plain, {})
    read = _inputs(plain, at, zone, paths, workspace, answer)
    rest, given = read or (plain, {})
    rest = _ME_TO.sub(r"\1 att", rest)
    if point := _POINTED.match(rest):
        into = point["into"] if " " in point["into"] else "in the calendar"
        rest = f"{point['put'] or 'put'} {point['what'].rstrip(' ,–-')} {into}"
    given = {**named, **length, **given}
    return (rest, given) if read or given or rest != said else None


def _calendar(prose: str, paths: Sequence[str]) -> tuple[str, Mapping[str, str]]:
    """The goal with the word for a calendar where it is called by the name of one that is here, and which
    that is: "in my schedule" where there is schema.ics."""
    for path in (one for one in paths if one.casefold().endswith(".ics")):
        name = stems(folded(path.rpartition("/")[2][:-4]))
        for said in _INTO.finditer(prose):
            if stems(folded(said["name"])) & name and not _CALENDARS.fullmatch(said["name"]):
                into = (
                    "i kalendern" if said["lead"].casefold().split()[0] in ("i", "på") else "in the calendar"
                )
                return f"{prose[: said.start()]}{into}{prose[said.end() :]}", {"calendar": path}
    return prose, {}


def _inputs(
    prose: str, at: str, zone: str, paths: Sequence[str], workspace: Workspace | None, answer: str
) -> tuple[str, Mapping[str, str]] | None:
    """As `inputs`, of a goal that says at most one time of day."""
    wakes = _WAKES.search(prose) if not _BEFORE.search(prose) else None
    if wakes is not None and not _REMINDS.search(prose, 0, wakes.start()):
        prose = f"{prose[: wakes.end()]}{_LASTS.sub(' in ', _HOUR.sub(' at ', prose[wakes.end() :]))}"
        named = {"title": wakes[0]}
        alarm = moment_said(prose, at, zone)
        return (alarm[0], {**named, "when": alarm[1]}) if alarm else (prose, named)
    vague = ""
    for found in _BEFORE.finditer(prose):
        words = found["length"].split()
        lengths = ((n, _lead(" ".join(words[n:]))) for n in range(len(words)))
        first, lead = next(((n, lead) for n, lead in lengths if lead), (0, None))
        if lead is not None:
            return _ahead(prose, found, first, lead, at, zone, workspace, paths, answer)
        if unread(found["length"]):
            vague = f"{found['length']}{prose[found.end('length') : found.start('event')]}"
    left = {"unread": vague} if vague else {}
    if answer:
        moment, more = answered(prose, answer, at, zone)
        left = {"unread": ", ".join(filter(None, (vague, more)))} if vague or more else {}
        return prose, {"when": moment, **left}
    if said := moment_said(prose, at, zone):
        return said[0], {"when": said[1], **left}
    if not reads(prose, at, zone):
        return timeless(prose), left
    return (prose, left) if left else None


def _ahead(
    prose: str,
    found: re.Match[str],
    first: int,
    lead: timedelta,
    at: str,
    zone: str,
    workspace: Workspace | None,
    paths: Sequence[str],
    answer: str,
) -> tuple[str, Mapping[str, str]]:
    """As `inputs`, of a goal for a reminder so long before something. first: of that length, which word."""
    words = found["length"].split()
    begin = found.start() + len(found["length"]) - len(" ".join(words[first:])) - 1
    begin = prose.index(words[first], max(found.start(), begin - 1))
    stop = _ENDS.search(found["event"])
    event = found["event"][: stop.start()] if stop else found["event"]
    end = found.start("event") + len(event)
    ahead = prose[begin : found.start("event")].strip()
    head, tail, said = prose[:begin], prose[end:], event.strip(" .")
    clock = _CLOCK.fullmatch(said)
    named_there = {folded(one) for one in _WORD.findall(said)} - _EMPTY - _POINTS
    points = clock is not None or not (named_there or re.search(r"\d", said))  # “before it starts”
    hour = own = ""
    shorter, near = last_words(head)
    if lead.days and (timed := _TIMED.search(said)) is not None:
        said, hour = said.removesuffix(timed[0]), timed[0]
    elif not points:
        if not near or (says_time(near) and not lead.days):
            own = near
        elif says_time(near):
            head, hour = shorter, near
        else:  # "on Monday, an hour before the dentist"
            head, said = shorter, f"{said} {near}"
    if lead.days and not hour and says_time((last := last_words(tail))[1]):
        tail, hour = last
    rest = f"{head.rstrip(' ,')} {tail.lstrip()}".strip()
    whole = head if points else said
    entry = _meant(whole, at, zone, workspace, paths, days=bool(lead.days))
    if entry is not None and instant(entry.start - lead) <= at:  # what is over by then is not meant
        entry = None
    sure = entry is not None or bool(lead.days) or clock is not None or says_time(f"{whole} {answer}")
    if entry is None and clock is None and (sure or answer):
        entry = _told(whole, "" if points else rest, answer, at, zone)
        rest = timeless(rest) if entry and points else rest
    entry = entry or (_dated(whole, clock, at, zone, points=points) if sure else None)
    named = _TITLED.search(shorter if own else head) is not None and not tail.strip(" .")
    if entry is None:
        title = {"title": said} if named and not points else {}
        if own:  # "at 14, an hour before the meeting"
            return rest, {**title, "unread": ahead}
        question = asked_for("it" if points else f"“{said}”", ahead)
        return rest, {**title, "when": "", "asked": question}
    when = instant(entry.start - lead)
    evening = words[-1].casefold() in _EVENING
    left = f"{ahead}{event}" if _EVERY.match(event) else "" if sure else ahead
    if hour or evening:
        day = (entry.start - lead).astimezone(ZoneInfo(zone)).date()
        parts = (f"{hour} in the evening", hour) if hour and evening else (hour or "in the evening",)
        read = (read_start(f"{day} {one.strip()}", at, zone) for one in parts)
        if (moment := next(filter(None, read), None)) is None:
            left = f"{hour} {ahead}".strip()
        when = moment or when
    shown = named or (points and entry.title != head.strip())
    return rest, {
        "when": when,
        **({"title": entry.title} if shown else {}),
        **({"unread": left} if left else {}),
    }


def _told(said: str, rest: str, answer: str, at: str, zone: str) -> _Entry | None:
    """What words are about that say the moment of it themselves, with the rest of the goal or with an answer:
    "the meeting at 14"."""
    words, moment = moment_said(said, at, zone) or (said, "")
    if answer:
        moment, _ = answered(f"{said}, {rest}", answer, at, zone)
    elif moment and (both := moment_said(f"{said}, {rest}", at, zone)):
        moment = both[1]
    title = re.split(r"[,;!?]|\.\s", words)[0].strip()
    return _Entry(title, datetime.fromisoformat(moment)) if title and moment else None


def _span(prose: str) -> tuple[str, Mapping[str, str]] | None:
    """The goal with the hour when something begins, where it says when it ends too, and how long it takes."""
    for found in _SPAN.finditer(prose):
        sure = found["min"] or found["tomin"] or _SPANS.search(prose, 0, found.start())
        first, last = (
            60 * int(found[hour]) + int((found[minute] or ".0")[1:])
            for hour, minute in (("hour", "min"), ("to", "tomin"))
        )
        if sure and first < last <= 24 * 60:
            lead = (
                "" if re.search(r"(?:at|kl\.?|klockan)\s+$", prose[: found.start()], re.IGNORECASE) else "at "
            )
            said = f"{lead}{first // 60}:{first % 60:02}"
            return f"{prose[: found.start()]}{said}{prose[found.end() :]}", {"minutes": str(last - first)}
    return None


def _dated(said: str, clock: re.Match[str] | None, at: str, zone: str, *, points: bool) -> _Entry | None:
    """The day that is said itself: "a week before 12 February"; what is that day stands before it."""
    day, words = _day_in(said, at, zone)
    if not day or (not points and any(folded(one) not in _EMPTY for one in _WORD.findall(words))):
        return None
    hour, minute = (int(clock["hour"]), int(clock["minute"] or 0)) if clock else (MORNING.hour, 0)
    if hour > 23 or minute > 59:
        return None
    start = datetime.fromisoformat(day).replace(hour=hour, minute=minute, tzinfo=ZoneInfo(zone))
    return _Entry(re.split(r"[,;!?]|\.\s", said)[0].strip(), start)


def _lead(text: str) -> timedelta | None:
    if text.casefold() in _DAY_BEFORE:
        return timedelta(days=1)
    seconds = read_seconds(text)
    return timedelta(seconds=seconds) if seconds else None


def _meant(
    said: str, at: str, zone: str, workspace: Workspace | None, paths: Sequence[str], *, days: bool
) -> _Entry | None:
    """The one entry to come that these words are about, on the day that they name, if any."""
    timed = _best_of(said, at, zone, _entries(at, zone, workspace, paths))
    return timed or (_best_of(said, at, zone, _due(zone, workspace, paths)) if days else None)


def _best_of(said: str, at: str, zone: str, entries: Iterable[_Entry]) -> _Entry | None:
    """Of some entries the one that words are about."""
    now, place = datetime.fromisoformat(at), ZoneInfo(zone)
    day, words = _day_in(said, at, zone)
    content = [folded(one) for one in _WORD.findall(words) if folded(one) not in _EMPTY and len(one) > 1]
    owned = [folded(one[1]) for one in _OWNED.finditer(words)]
    things = [one for one in content if one not in owned] or content
    best: dict[str, _Entry] = {}
    most = (1, 0)
    for entry in entries:
        if entry.start <= now or (day and entry.start.astimezone(place).date().isoformat() != day):
            continue
        title = folded(entry.title).split()
        said_of = sum(any(_begin_alike(one, other) for other in title) for one in content)
        if said_of and not any(_begin_alike(one, other) for one in things for other in title):
            continue  # whose it is says not yet what
        parts = sum(any(other in one for one in content) for other in title if len(other) >= _ALIKE)
        if (said_of, parts) < most:  # the biology exam is the exam in biology
            continue
        best, most = (best if (said_of, parts) == most else {}), (said_of, parts)
        if entry.title not in best or entry.start < best[entry.title].start:
            best[entry.title] = entry
    return next(iter(best.values())) if len({one.start for one in best.values()}) == 1 else None


def _begin_alike(one: str, other: str) -> bool:
    same = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    if len(one) > _COMPOUND and other.endswith(one[:-2]):  # the concert is the Christmas concert
        return True
    forms = stems(one)  # the tandläkare is the dentist, the concert the julkonsert
    if forms & stems(other) or any(len(form) > _COMPOUND and other.endswith(form) for form in forms):
        return True
    return one == other or (same >= _ALIKE and same >= min(len(one), len(other)) - 2)


def _day_in(said: str, at: str, zone: str) -> tuple[str, str]:
    """The day that a run of words names, and the words without it."""
    words = said.split()
    for many in range(min(4, len(words)), 0, -1):
        for first in range(len(words) - many + 1):
            if day := read_day(" ".join(words[first : first + many]), at, zone):
                return day, " ".join((*words[:first], *words[first + many :]))
    return "", said


def _entries(at: str, zone: str, workspace: Workspace | None, paths: Sequence[str]) -> Iterator[_Entry]:
    """What calendars here say, and the lines of lists that name a moment."""
    if workspace is None:
        return
    for path in [one for one in paths if one.casefold().endswith((".ics", *_LISTS))][:_MOST_FILES]:
        with suppress(ExecutorError, ValueError):
            data, size = workspace.read(path, _BYTES)
            if size > _BYTES:
                continue
            if path.casefold().endswith(".ics"):
                yield from _of_calendar(data, path, at, zone)
                continue
            for line in data.decode().splitlines():
                title, moment = _of_line(line.strip(" -*#[]xX\t"), at, zone)
                if moment:
                    yield _Entry(title, datetime.fromisoformat(moment))


def _due(zone: str, workspace: Workspace | None, paths: Sequence[str]) -> Iterator[_Entry]:
    """The lines of lists and texts that name a day: “return the books by 2026-12-04”."""
    for path in [one for one in paths if workspace and one.casefold().endswith(_LISTS)][:_MOST_FILES]:
        with suppress(ExecutorError, ValueError):
            data, size = workspace.read(path, _BYTES) if workspace else (b"", 0)
            for line in data.decode().splitlines() if size <= _BYTES else ():
                text, days = line.strip(" -*#[]\t"), _ISO.findall(line)
                if len(days) == 1 and not line.lstrip(" -*").startswith("[x]"):
                    start = datetime.combine(date.fromisoformat(days[0]), MORNING, ZoneInfo(zone))
                    yield _Entry(_UNTIL.sub("", text).strip(" ,.:"), start)


def _of_calendar(data: bytes, path: str, at: str, zone: str) -> Iterator[_Entry]:
    from mcl.plugins.data.tools.calendar.file import events, parse

    now = datetime.fromisoformat(at).astimezone(ZoneInfo(zone))
    for event in events(parse(data, path)):
        start, rule = event.get("dtstart"), event.get("rrule")
        start = getattr(start, "dt", None)
        if not isinstance(start, datetime):  # a whole day
            start = datetime.combine(start, MORNING) if isinstance(start, date) else None
        if start is None:
            continue
        local = start.astimezone(ZoneInfo(zone)) if start.tzinfo else start.replace(tzinfo=ZoneInfo(zone))
        title = str(event.get("summary", ""))
        if rule is None:
            yield _Entry(title, local)
            continue
        from dateutil.rrule import rrulestr

        written = re.sub(r"(UNTIL=\w+?)Z", r"\1", rule.to_ical().decode())
        again = rrulestr(f"RRULE:{written}", dtstart=local.replace(tzinfo=None))
        for _, one in zip(range(8), again.xafter(now.replace(tzinfo=None)), strict=False):
            yield _Entry(title, one.replace(tzinfo=ZoneInfo(zone)))


def _of_line(line: str, at: str, zone: str) -> tuple[str, str]:
    """What a line of a list is about, and the moment with a time of day that it ends with."""
    words = line.split()
    for first in range(1, len(words)):
        text = " ".join(words[first:])
        turned = f"{' '.join(words[first + 1 :])} {words[first]}"  # "18.00 on Sunday"
        for said in (text, turned) if re.search(r"\d[:.]\d\d", text) else ():
            if moment := read_start(said, at, zone):
                return " ".join(words[:first]).rstrip(" ,"), moment
    return line, ""


def _period(prose: str, at: str, zone: str, paths: Sequence[str]) -> tuple[str, Mapping[str, str]] | None:
    """Between which days it is listed, and the one calendar there is, where nothing else is said of it."""
    today = datetime.fromisoformat(at).astimezone(ZoneInfo(zone)).date()
    calendars = [one for one in paths if one.endswith(".ics")]
    only = {"calendar": calendars[0]} if len(calendars) == 1 and _CALENDAR not in calendars else {}
    found = _named_periods(prose, today)
    if not found:
        return (prose, only) if only else None
    start, end, days = found[0]
    end = _explained(prose, end, days)
    for other in sorted(found[1:]):  # “today and all of next week”
        if not _are_near(days, other[2]):
            continue
        if other[0] >= end and joined_days(prose[end : other[0]]):
            days = Days(min(days.first, other[2].first), max(days.last, other[2].last))
            end = _explained(prose, other[1], days)
        elif other[1] <= start and joined_days(prose[other[1] : start]):
            days, start = Days(min(days.first, other[2].first), max(days.last, other[2].last)), other[0]
    rest = f"{prose[:start].rstrip()} {prose[end:].lstrip()}".strip()
    return rest, {"from": days.first.isoformat(), "to": days.last.isoformat(), **only}


def _named_periods(prose: str, today: date) -> list[tuple[int, int, Days]]:
    """Where periods are named, the longest first, none in another."""
    words = list(re.finditer(r"[^\s?!,]+", prose))
    found: list[tuple[int, int, Days]] = []
    for many in range(min(_LONGEST, len(words)), 0, -1):
        for first in range(len(words) - many + 1):
            start, end = words[first].start(), words[first + many - 1].end()
            text = re.sub(r"^(?:on|in|for|i|by) ", "", in_english(prose[start:end]))
            days = period(text.replace("week this", "this week").strip(), today)
            if days is None and text in ("week", "the week"):
                days = period("this week", today)
            if days is not None and all(end <= one[0] or start >= one[1] for one in found):
                found.append((start, end, days))
    return found


def _are_near(days: Days, other: Days) -> bool:
    """Whether no more than a weekend lies between two periods."""
    return days.first - other.last <= _WEEKEND and other.first - days.last <= _WEEKEND


def _explained(prose: str, end: int, days: Days) -> int:
    """Where words end that say of a period behind it which days these are: “that is Monday to Sunday”."""
    told = explained_days(prose, end)
    names = [DAYS[one] for one in in_english(told).split() if one in DAYS]
    same = names and (names[0], names[-1]) == (days.first.weekday(), days.last.weekday())
    return end + len(told) if same else end
