"""Lists the events of a calendar file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

from anyio import from_thread, to_thread

from executor.core.clock import instant, read_moment, start_of
from executor.core.errors import ScopeError
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.core.text import cut
from mcl.plugins.data.tools.calendar.file import MAX_BYTES, events, parse

if TYPE_CHECKING:
    from icalendar import Event

_LIMIT = 1000  # events told
_TITLE = 300  # characters
_DESCRIPTION = 1000  # characters
_ROOM = 256  # bytes of JSON an event takes beside its texts, generously


@dataclass(frozen=True, slots=True)
class _Told:
    """An event that has a start: when (dates are days in UTC, times without a zone too) and what."""

    first: datetime
    last: datetime
    start: str
    end: str
    title: str
    description: str
    repeats: str
    uid: str


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the events that touch the time between ``from`` and ``to``, earliest first."""
    since = read_moment(str(args["from"]), "from") if "from" in args else None
    until = read_moment(str(args["to"]), "to") if "to" in args else None
    if "days" in args:
        since = since or datetime.fromisoformat(bench.clock.now()).date()
        until = until or start_of(since).date() + timedelta(days=int(str(args["days"])))
    path = str(args["path"])
    if args.get("optional") and bench.workspace.check(path) is None:
        empty: dict[str, object] = {"events": [], "count": 0, "unread": 0, "truncated": False}
        return {"path": path, **empty, "text": f"no events: there is no {path}"}
    return await to_thread.run_sync(_list, path, since, until, bench)


def _list(
    path: str, since: datetime | date | None, until: datetime | date | None, bench: Bench
) -> dict[str, object]:
    data, size = bench.workspace.read(path, MAX_BYTES)
    if size > MAX_BYTES:
        raise ScopeError(
            "TOO_LARGE", f"{path!r} is larger than {MAX_BYTES:,} bytes", place=path, fix="use a smaller file"
        )
    found: list[_Told] = []
    unread = 0
    for event in events(parse(data, path)):
        from_thread.check_cancelled()
        told = _told(event)
        if told is None:
            unread += 1
        elif _within(told, since, until):
            found.append(told)
    found.sort(key=lambda one: (one.first, one.last, one.title, one.uid))
    shown: list[dict[str, object]] = []
    room = bench.max_output - 8192
    for one in found[:_LIMIT]:
        room -= _ROOM + 4 * sum(
            len(text.encode()) for text in (one.title, one.description, one.repeats, one.uid)
        )
        if room < 0:
            break
        shown.append(
            {
                "start": one.start,
                "end": one.end,
                "title": one.title,
                "description": one.description,
                "repeats": one.repeats,
                "uid": one.uid,
            }
        )
    return {
        "path": "/".join(bench.workspace.split(path)),
        "events": shown,
        "count": len(found),
        "unread": unread,
        "truncated": len(shown) < len(found),
        "text": "\n".join(_lines(found[: len(shown)], len(found) - len(shown), unread)),
    }


def _told(event: Event) -> _Told | None:
    """What an event says; None where it has no start that can be read."""
    try:
        start: Any = event.start
        end: Any = event.end
        rule = event.get("rrule")
        repeats = rule.to_ical().decode("utf-8", "replace") if rule is not None else ""
        return _Told(
            _moment(start),
            max(_moment(start), _moment(end)),
            _written(start),
            _written(end),
            _text(event, "summary", _TITLE),
            _text(event, "description", _DESCRIPTION),
            visible(repeats[:_TITLE]),
            _text(event, "uid", _TITLE),
        )
    except (ValueError, TypeError, AttributeError, OverflowError):  # broken, or not there at all
        return None


def _moment(value: datetime | date) -> datetime:
    if isinstance(value, datetime):
        return value.astimezone(UTC) if value.tzinfo else value.replace(tzinfo=UTC)
    return start_of(value)


def _written(value: datetime | date) -> str:
    """In UTC; a date, or a time without a zone, as it stands."""
    if isinstance(value, datetime):
        return instant(value) if value.tzinfo else value.isoformat()
    return value.isoformat()


def _text(event: Event, name: str, limit: int) -> str:
    value = event.get(name, "")
    plain = visible(str(value[0] if isinstance(value, list) and value else value))
    return cut(plain, limit)


def _within(told: _Told, since: datetime | date | None, until: datetime | date | None) -> bool:
    """Does it touch the time? A date at its end is the whole day; what repeats goes on after the first."""
    if until is not None:
        end = start_of(until) + timedelta(days=0 if isinstance(until, datetime) else 1)
        if told.first >= end if not isinstance(until, datetime) else told.first > end:
            return False
    if since is None or told.repeats:
        return True
    begin = start_of(since)
    return told.last > begin or told.first >= begin


def _lines(found: list[_Told], more: int, unread: int) -> Iterator[str]:
    if not found:
        yield "no events"
    for one in found:
        when = one.start[:16].replace("T", " ") + (" UTC" if one.start.endswith("Z") else "")
        repeats = f" (repeats: {one.repeats})" if one.repeats else ""
        yield f"{when:<20}  {' '.join(one.title.split()) or '(no title)'}{repeats}"
    if more:
        yield f"… and {more:,} more"
    if unread:
        yield f"{unread:,} without a start that can be read {'is' if unread == 1 else 'are'} left out"
