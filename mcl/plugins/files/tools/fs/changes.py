"""Tells which files changed since a moment."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from anyio import from_thread, to_thread

from executor.core.clock import instant, read_moment, start_of
from executor.sandbox.paths import Entry
from executor.tools.fs.files import files_of
from executor.tools.tool import Bench

_LIMIT = 2000  # changes told
_ROOM = 128  # bytes of JSON a change takes beside its path, generously
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the files written at or after ``since``, newest first."""
    since = start_of(read_moment(str(args["since"]), "since"))
    return await to_thread.run_sync(_changes, args, since, bench)


def _changes(args: Mapping[str, object], since: datetime, bench: Bench) -> dict[str, object]:
    earliest = (since - _EPOCH) // timedelta(microseconds=1) * 1000  # nanoseconds, without rounding
    path, glob = str(args.get("path", ".")), str(args.get("glob", ""))
    files = files_of(path, glob, bench, from_thread.check_cancelled)
    found = [entry for entry in files if entry.modified >= earliest]
    found.sort(key=lambda entry: (-entry.modified, entry.path))
    shown: list[dict[str, object]] = []
    room = bench.max_output - 8192
    for entry in found[:_LIMIT]:
        room -= _ROOM + 4 * len(entry.path.encode())
        if room < 0:
            break
        shown.append({"path": entry.path, "modified": instant(_when(entry)), "size": entry.size})
    lines = [f"{_minute(one['modified'])}  {one['size']:>10,}  {one['path']}" for one in shown]
    if len(found) > len(shown):
        lines.append(f"… and {len(found) - len(shown):,} more")
    return {
        "since": instant(since),
        "changes": shown,
        "count": len(found),
        "truncated": len(found) > len(shown),
        "text": "\n".join(lines) or f"nothing changed since {_minute(instant(since))}",
    }


def _when(entry: Entry) -> datetime:
    try:
        return _EPOCH + timedelta(microseconds=entry.modified // 1000)
    except OverflowError:  # a time beyond the calendar, set by hand
        return datetime.max.replace(tzinfo=UTC)


def _minute(moment: object) -> str:
    """``2026-11-21T10:00:00.000Z`` as people read it."""
    return str(moment)[:16].replace("T", " ") + " UTC"
