"""The one moment that a goal for a calendar names, and the goal without its words."""

from __future__ import annotations

import functools
import re
from calendar import month_name
from collections.abc import Iterator
from datetime import datetime
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from executor.core.tables import table_beside
from mcl.values.dates import read_start

_TOKEN: Final = re.compile(r"[^\s,;!?()\"“”]+")
_DAY: Final = re.compile(r"(?<![\d/])(\d{1,2})/(1[0-2]|0?[1-9])(?![\d/])")
_LONGEST: Final = 9  # words that say a moment
_SOME_DAY: Final = "2027-03-03"
_WORD: Final = re.compile(r"[^\W\d_]+")
_QUOTED: Final = re.compile(r"[\"“][^\"”]*[\"”]")


class _Said(NamedTuple):
    """Words that name a moment. clock: whether they say a time of day."""

    start: int
    end: int
    moment: str
    clock: bool


@functools.cache
def _pattern(name: str) -> re.Pattern[str]:
    return re.compile(table_beside(__file__)[name], re.IGNORECASE)


def joined_days(between: str) -> bool:
    """Whether words between two periods say that both are meant."""
    return _pattern("joined").fullmatch(between) is not None


def explained_days(prose: str, start: int) -> str:
    """The words behind a period that say again which days it is, "" where there are none."""
    said = _pattern("explained").match(prose, start)
    return said[0] if said is not None else ""


def moment_said(prose: str, at: str, zone: str) -> tuple[str, str] | None:
    """The goal without the words for its moment, and the moment; None where it names none, or several."""
    found = _runs(prose, at, zone) or []
    clocks = [one for one in found if one.clock]
    days = [one for one in found if not one.clock]
    if len(clocks) == 1 and len(days) == 1:  # "on Sunday to call her at 15"
        both = f"{prose[slice(*days[0][:2])]} {prose[slice(*clocks[0][:2])]}"
        if moment := read_start(both, at, zone):
            first, last = sorted((days[0], clocks[0]))
            return _without(_without(prose, last.start, last.end), first.start, first.end), moment
    chosen = clocks or days
    if len(chosen) != 1:
        return None
    return _beside(_without(prose, chosen[0].start, chosen[0].end)), chosen[0].moment


def clocked(prose: str, at: str, zone: str) -> str:
    """A goal with its one time of day that no day stands in as a clock says it: "four o'clock afternoon"."""
    found = list[tuple[int, int, str]]()
    for words in _spoken(prose):
        parts = [(one[0], last[1]) for n, one in enumerate(words) for last in words[n : n + _LONGEST]]
        for start, end in sorted(parts, key=lambda one: one[0] - one[1]):
            text = prose[start:end]
            if (said := _pattern("hourly").fullmatch(text)) is None:
                continue
            if said["part"] and not said["lead"]:  # “four o'clock afternoon”
                text = f"{text[: said.start('part')]}in the {said['part']}"
            elif _pattern("early").fullmatch(text) and not _pattern("halves").search(prose):
                text = f"{text} in the afternoon"
            moment = read_start(f"{_SOME_DAY} {text}", at, zone)
            if moment and all(end <= one[0] or one[1] <= start for one in found):
                found.append(
                    (start, end, f"{datetime.fromisoformat(moment).astimezone(ZoneInfo(zone)):%H:%M}")
                )
    if len(found) != 1:
        return prose
    start, end, clock = found[0]
    return f"{prose[:start]}at {clock}{prose[end:]}"


def pointed(prose: str) -> str:
    """A goal with what it is a reminder of behind its verb: "the books, remind me about them"; and so that
    it is told: "remind me it's Monday"."""
    prose = _pattern("so").sub(lambda one: f"{one[0]}that ", prose)
    said = _pattern("topic").fullmatch(prose)
    return f"{said['verb']} {said['what']}{said['rest']}" if said else prose


def spelled(prose: str) -> str:
    """A goal with its words of time spelled with their dots and rings: “varje mandag”."""
    words = table_beside(__file__)["undotted"].split()
    forms = dict(zip(words[::2], words[1::2], strict=True))
    doubtful = table_beside(__file__)["doubtful"].split()
    said = {one[0].casefold() for one in _WORD.finditer(prose)} & forms.keys()
    if not said.difference(doubtful):
        return prose
    return _WORD.sub(lambda one: forms.get(one[0].casefold(), one[0]), prose)


def told(prose: str, at: str, zone: str) -> str:
    """A goal that says a reminder as one for something that is said with its moment: “the release is at 14,
    ping me quarter to”; and what it is to say behind its verb."""
    if wanted := _pattern("wanted").search(prose):
        prose = f"{prose[: wanted.start()]}remind me to {prose[wanted.end() :]}"
    said = _pattern("event").match(prose)
    event = clocked(_pattern("copula").sub("", said["event"], count=1), at, zone) if said is not None else ""
    moment = moment_said(event, at, zone) if says_time(last_words(event)[1]) else None
    if said is None or moment is None:
        return prose
    if short := _pattern("short").fullmatch(said["when"]):
        sizes, size = table_beside(__file__)["sizes"].split(), short["size"].casefold().split()[0]
        minutes = dict(zip(sizes[::2], sizes[1::2], strict=True)).get(size, size)
        return f"{event}, {said['verb']} {minutes} minutes before{said['rest']}"
    own = said["when"].strip()
    if _pattern("ahead").search(own) or not (says_time(own) or moment_said(own, at, zone)):
        return prose
    day = datetime.fromisoformat(moment[1]).astimezone(ZoneInfo(zone)).date()
    return f"{said['verb']} on {day} {said['when']}: {timeless(event).strip(' ,')}{said['rest']}"


def answered(prose: str, answer: str, at: str, zone: str) -> tuple[str, str]:
    """The moment that an answer names beside what the goal says, a day to its time or a time to its day; and
    the words of the goal for a time that neither of them says."""
    plain, timed = read_start(answer, at, zone) or "", says_time(answer)
    found: set[str] = set()
    said, left = list[str](), list[str]()
    for words in _spoken(prose):
        text = prose[words[0][0] : words[-1][1]]
        beside = (one for one in _read(prose, words, at, zone, answer) if one.clock is not timed)
        if (one := next(beside, None)) is not None:
            found.add(one.moment)
            said.append(text)
        elif says_time(text) and not timed:
            left.append(text)
    if len(found) == 1:
        return found.pop(), ", ".join(left)
    return plain, ", ".join(left or said if not timed else ())


def says_time(text: str) -> bool:
    """Whether words say a time of day."""
    return _pattern("clock").fullmatch(text) is not None


def last_words(prose: str) -> tuple[str, str]:
    """A text, and the words of time that it ends with."""
    last = next((one for one in _stretches(prose) if not prose[one[-1][1] :].strip(" ,.!?")), None)
    return (prose[: last[0][0]], prose[last[0][0] : last[-1][1]]) if last else (prose, "")


def asked_for(event: str, ahead: str) -> str:
    """The question for the moment of what a reminder comes before."""
    return str(table_beside(__file__)["asked"]).format(event, f"“{ahead}”")


def reads(prose: str, at: str, zone: str) -> bool:
    """Whether no words of time are left beside those that name a moment."""
    return _runs(prose, at, zone) is not None


def timeless(prose: str) -> str:
    """A goal without its words of time."""
    for words in reversed(list(_spoken(prose))):
        prose = _without(prose, words[0][0], words[-1][1])
    return prose


def unread(prose: str) -> bool:
    """Whether words before “before” speak of a length that is not read: "a couple of hours"."""
    return any(_pattern("spans").fullmatch(word) for word in prose.split())


def _runs(prose: str, at: str, zone: str) -> list[_Said] | None:
    """The longest runs of words that each name a moment; None where words of time are left beside them."""
    found: list[_Said] = []
    for words in _spoken(prose):
        waiting, read = [words], len(found)
        while waiting:
            part = waiting.pop()
            if (said := next(_read(prose, part, at, zone), None)) is not None:
                found.append(said)
                waiting += [
                    [one for one in part if one[1] <= said.start],
                    [one for one in part if one[0] >= said.end],
                ]
            elif part and _is_left(prose[part[0][0] : part[-1][1]], beside=read < len(found)):
                return None
    return sorted(found)


def _is_left(text: str, *, beside: bool) -> bool:
    """Whether words of time that name no moment say something of it. beside: of one that is named."""
    return (beside and says_time(text)) or _pattern("weeks").search(text) is not None


def _spoken(prose: str) -> Iterator[list[tuple[int, int]]]:
    """Words of time that stand together, in no quote and in no further wish."""
    quoted = [match.span() for match in _QUOTED.finditer(prose)]
    other = _pattern("others").search(prose)
    ends = other.start() if other else len(prose)
    for words in _stretches(prose):
        if words[0][0] < ends and not any(start <= words[0][0] < end for start, end in quoted):
            yield words


def _stretches(prose: str) -> Iterator[list[tuple[int, int]]]:
    """Words of time that stand together, one of which at least says something by itself."""
    near: list[tuple[int, int]] = []
    strong = False
    for match in (*_TOKEN.finditer(prose), None):
        text = match[0].rstrip(".:") if match else ""
        if match and (_pattern("strong").fullmatch(text) or _pattern("weak").fullmatch(text)):
            near.append((match.start(), match.start() + len(text)))
            strong = strong or _pattern("strong").fullmatch(text) is not None
            continue
        while near and _pattern("leads").fullmatch(prose[slice(*near[-1])]):
            near.pop()
        if strong:
            yield near
        near, strong = [], False


def _read(prose: str, words: list[tuple[int, int]], at: str, zone: str, answer: str = "") -> Iterator[_Said]:
    """Runs of these that name a moment, by themselves or behind an answer, the longest first."""
    for many in range(min(_LONGEST, len(words)), 0, -1):
        for first in range(len(words) - many + 1):
            start, end = words[first][0], words[first + many - 1][1]
            text = " ".join(prose[start:end].replace(",", " ").split())
            single = many == 1 and not text[:1].isdigit() and text[-1:] in ("e", "a")  # “the first” thing
            parts = [prose[slice(*one)] for one in words[first : first + many]]
            if single or _pattern("leads").fullmatch(parts[-1]) or _pattern("meals").match(parts[0]):
                continue
            if not any(_pattern("strong").fullmatch(one) for one in parts):
                continue
            if moment := read_start(_plain(f"{answer} {text}".strip(), zone), at, zone):
                yield _Said(start, end, moment, says_time(text))


def _plain(text: str, zone: str) -> str:
    """A text with its week behind its day ("next week on tuesday"), and with days in it that are written as
    in Europe where that is the zone: "3/12" is 3 December. Elsewhere it may be either: nothing then."""
    text = _pattern("led").sub(r"\g<day> \g<week>", text)
    if not zone.startswith("Europe/"):
        return "" if _DAY.search(text) else text
    return _DAY.sub(lambda one: f"{one[1]} {month_name[int(one[2])]}", text)


def _without(prose: str, start: int, end: int) -> str:
    """The text without a part, and without the commas that held it."""
    before, behind = prose[:start].rstrip(" ,"), prose[end:].lstrip(" ")
    comma = prose[:start].rstrip().endswith(",") and behind[:1] not in ("", ",", ".", ":", ";", "!", "?")
    gap = "" if behind[:1] in (",", ".", ":", ";", "!", "?", "") or not before else ", " if comma else " "
    return f"{before}{gap}{behind if before else behind.lstrip(' ,')}".strip()


def _beside(prose: str) -> str:
    """The same, with the place of it before the words for the calendar: "in the calendar, at the school"."""
    calendar, place = _pattern("calendar").pattern, _pattern("place").pattern
    form = rf"(?P<it>.*\S)\s+(?P<in>{calendar})[\s,]+(?P<at>{place})[.!]?"
    found = re.fullmatch(form, prose, re.IGNORECASE)
    return f"{found['it']} {found['at']} {found['in']}" if found else prose
