"""Adds an event with a reminder to a calendar file."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from anyio import from_thread, to_thread

from executor.core.clock import instant, read_moment
from executor.core.errors import ToolError
from executor.core.hashing import json_bytes
from executor.tools.tool import Bench
from mcl.plugins.data.tools.calendar.file import MAX_BYTES, events, parse, with_event

if TYPE_CHECKING:
    from icalendar import Event

_MINUTES = 30
_REMIND = 10
_LINE_ENDS = re.compile(r"\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Add the event, unless the same one is there."""
    start = _start_of(args)
    return await to_thread.run_sync(_add, args, start, bench)


def _start_of(args: Mapping[str, object]) -> datetime | date:
    """When it begins; what repeats does so by the clock on the wall, and its moment has no zone."""
    said = str(args["start"])
    if "repeats" in args:
        try:
            if (local := datetime.fromisoformat(said)).tzinfo is None:
                return local
        except ValueError as problem:
            fix = "such as 2026-11-30T09:25:00"
            raise ToolError("BAD_TIME", f"{said!r} is no moment", place="start", fix=fix) from problem
    return read_moment(said, "start")


def _add(args: Mapping[str, object], start: datetime | date, bench: Bench) -> dict[str, object]:
    path, title = str(args["path"]), " ".join(_plain(str(args["title"])).split())
    if not title:
        raise ToolError("NO_TITLE", "the title is empty", place="title", fix="say what to be reminded of")
    minutes = int(str(args.get("minutes", _MINUTES)))
    remind = int(str(args.get("remind_minutes", _REMIND)))
    description = _plain(str(args.get("description", "")))
    repeats, local = str(args.get("repeats", "")), isinstance(start, datetime) and start.tzinfo is None
    said = instant(start) if isinstance(start, datetime) and not local else start.isoformat()
    named = [title, said, minutes, remind, description, *([repeats] if repeats else [])]
    uid = hashlib.sha256(json_bytes(named)).hexdigest()[:32] + "@mcl"
    stamp = datetime.fromisoformat(bench.clock.now()).replace(microsecond=0)
    length, before = timedelta(minutes=minutes), timedelta(minutes=remind)
    event = _event(uid, title, start, length, before, description, stamp)
    if repeats:
        _repeat(event, repeats)
    where, created, added = _put(path, uid, event, bench)
    when = f"{said[:16].replace('T', ' ')} UTC" if isinstance(start, datetime) else f"{said}, all day"
    if local:
        when = said[:16].replace("T", " ")
    told = f"{when}: {title}{f' ({repeats})' if repeats else ''}"
    return {
        "path": where,
        "uid": uid,
        "start": said,
        "created": created,
        "added": added,
        "text": f"added to {where}: {told}" if added else f"in {where} already: {told}",
    }


def _repeat(event: Event, repeats: str) -> None:
    from icalendar.prop import vRecur

    try:
        event.add("rrule", vRecur.from_ical(repeats))
    except ValueError as problem:
        fix = "such as FREQ=WEEKLY;BYDAY=MO"
        raise ToolError("BAD_TIME", f"{repeats!r} is no rule", place="repeats", fix=fix) from problem


def _plain(text: str) -> str:
    """The text without what a calendar cannot hold, or what another reader would take for a line end."""
    return _CONTROL.sub("", _LINE_ENDS.sub("\n", text))


def _event(
    uid: str,
    title: str,
    start: datetime | date,
    length: timedelta,
    before: timedelta,
    description: str,
    stamp: datetime,
) -> Event:
    from icalendar import Alarm, Event

    try:
        end = start + (length if isinstance(start, datetime) else timedelta(days=1))
    except OverflowError as problem:
        raise ToolError(
            "BAD_TIME", "the event ends beyond the calendar", place="start", fix="choose an earlier day"
        ) from problem
    event = Event.new(uid=uid, summary=title, start=start, end=end, stamp=stamp)
    if description:
        event.add("description", description)
    event.add_component(Alarm.new_display(description=title, trigger=-before))
    return event


def _put(path: str, uid: str, event: Event, bench: Bench) -> tuple[str, bool, bool]:
    """Where the event is, whether the file is new, and whether the event is."""
    added = True

    def change(data: bytes | None) -> bytes:
        nonlocal added
        known = [] if data is None else events(parse(data, path))
        if data is not None and any(str(one.get("uid", "")) == uid for one in known):
            added = False
            return data
        whole = with_event(data, event, path)
        if len(events(parse(whole, path))) != len(known) + 1:
            raise ToolError(
                "NOT_A_CALENDAR", f"nothing can be added to {path!r}", place=path, fix="repair the file"
            )
        return whole

    written = bench.workspace.update(path, change, limit=MAX_BYTES, check=from_thread.check_cancelled)
    return written.path, written.created, added
