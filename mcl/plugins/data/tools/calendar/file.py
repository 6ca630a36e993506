"""A calendar in a file (.ics): read whole, added to without touching what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from executor.core.errors import ToolError

if TYPE_CHECKING:
    from icalendar import Calendar, Event

MAX_BYTES = 8 << 20  # of a calendar that is read
_EMPTY = b"BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//mcl//calendar//EN\r\nEND:VCALENDAR\r\n"


def parse(data: bytes, path: str) -> list[Calendar]:
    """The calendars in a file, one or more.

    Raises:
        ToolError: NOT_A_CALENDAR.
    """
    from icalendar import Calendar

    try:
        found = Calendar.from_ical(data.decode("utf-8-sig"), multiple=True)
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError) as problem:
        raise _not_one(path, " ".join(str(problem).split())[:200]) from problem
    if not found or any(one.name != "VCALENDAR" for one in found):
        raise _not_one(path, "there is no VCALENDAR in it")
    return found


def events(calendars: list[Calendar]) -> list[Event]:
    """All events, in the order of the file."""
    return [event for calendar in calendars for event in calendar.events]


def with_event(data: bytes | None, event: Event, path: str) -> bytes:
    """The file with one event more, put before the end of its last calendar; every other byte is as it was.

    Raises:
        ToolError: NOT_A_CALENDAR.
    """
    whole = data if data is not None else _EMPTY
    end = whole.upper().rfind(b"END:VCALENDAR")
    if end < 0 or (end and whole[end - 1 : end] != b"\n"):
        raise _not_one(path, "its last line is not END:VCALENDAR")
    written: bytes = event.to_ical()
    if b"\r\n" not in whole:
        written = written.replace(b"\r\n", b"\n")  # a file that was written by hand keeps its line ends
    return whole[:end] + written + whole[end:]


def _not_one(path: str, why: str) -> ToolError:
    return ToolError(
        "NOT_A_CALENDAR",
        f"{path!r} is no calendar: {why}",
        place=path,
        fix="name an .ics file, or one that is not there yet",
    )
