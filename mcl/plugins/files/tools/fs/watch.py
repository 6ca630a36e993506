"""Watches files for a while and tells what happens to them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, TypeAlias

import anyio
from anyio import from_thread, to_thread

from executor.core.errors import ScopeError, ToolError
from executor.tools.fs.files import files_of
from executor.tools.tool import Bench

_SECONDS = 60
_PAUSE = 0.25  # seconds between two looks …
_SHARE = 10  # … and at least so many times what a look takes, so that watching a large folder stays cheap
_MAX_FILES = 50_000
_ROOM = 128  # bytes of JSON an event takes beside its path, generously
_NAMES = {"created": "created ", "modified": "modified", "deleted": "deleted "}

What = Literal["created", "modified", "deleted"]
Stamp: TypeAlias = tuple[int, int, int]  # size, time of writing, inode: what differs when a file was written
Seen: TypeAlias = dict[str, Stamp]


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Look again and again until the time is over or, with ``until`` "first", something happened."""
    path, glob = str(args["path"]), str(args.get("glob", ""))
    seconds, first = int(str(args.get("seconds", _SECONDS))), args.get("until") == "first"
    shown = "/".join(bench.workspace.split(path)) or "."
    begun, started = bench.clock.now(), anyio.current_time()
    events = _Events(bench.max_output - 8192)
    known = await to_thread.run_sync(_look, path, glob, bench)
    files = len(known)
    pause = _PAUSE
    while (left := started + seconds - anyio.current_time()) > 0 and not (first and events.count):
        await anyio.sleep(min(pause, left))
        looked = anyio.current_time()
        try:
            seen = await to_thread.run_sync(_look, path, glob, bench)
        except ScopeError as problem:
            # For a moment a file being put in place has two names; a path that stays shut is no news either.
            if problem.code != "OUT_OF_SCOPE":
                raise
            seen = known
        pause = max(_PAUSE, _SHARE * (anyio.current_time() - looked))
        if differences := list(_differences(known, seen)):
            events.add(differences, bench.clock.now())
        known = seen
    took = anyio.current_time() - started
    return {
        "path": shown,
        "from": begun,
        "to": bench.clock.now(),
        "files": files,
        "changes": events.kept,
        "count": events.count,
        "truncated": len(events.kept) < events.count,
        "text": "\n".join([_headline(shown, files, events.count, took), *events.lines()]),
    }


class _Events:
    """What happened, in order; a file that is written on and on counts once."""

    def __init__(self, room: int) -> None:
        self.kept: list[dict[str, object]] = []
        self.count = 0
        self._room = room
        self._last: dict[str, What] = {}

    def add(self, differences: list[tuple[str, What]], at: str) -> None:
        for path, what in differences:
            if what == "modified" and self._last.get(path, "deleted") != "deleted":
                continue
            self._last[path] = what
            self.count += 1
            self._room -= _ROOM + 4 * len(path.encode())
            if self._room >= 0:
                self.kept.append({"path": path, "what": what, "at": at})

    def lines(self) -> Iterator[str]:
        for one in self.kept:
            yield f"{str(one['at'])[11:19]}  {_NAMES[str(one['what'])]}  {one['path']}"
        if len(self.kept) < self.count:
            yield f"… and {self.count - len(self.kept):,} more"


def _look(path: str, glob: str, bench: Bench) -> Seen:
    """The files at or below the path, by path. Nothing there is nothing seen: it may come."""
    seen: Seen = {}
    try:
        for entry in files_of(path, glob, bench, from_thread.check_cancelled):
            if _ours(entry.path):
                continue
            if len(seen) == _MAX_FILES:
                raise ToolError(
                    "TOO_MANY_FILES",
                    f"there are more than {_MAX_FILES:,} files at {path!r}",
                    place=path,
                    fix="watch a smaller folder, or only some files with glob",
                )
            seen[entry.path] = (entry.size, entry.modified, entry.inode)
    except ScopeError as problem:
        if problem.code not in ("NOT_FOUND", "NOT_A_FOLDER"):  # gone between two looks at it
            raise
    return seen


def _ours(path: str) -> bool:
    """Is it a file that our own writes make on their way?"""
    name = path.rpartition("/")[2]
    return name.startswith(".mcl-") and name.endswith(".tmp")


def _differences(before: Seen, after: Seen) -> Iterator[tuple[str, What]]:
    for path in sorted(before.keys() | after.keys()):
        if path not in before:
            yield path, "created"
        elif path not in after:
            yield path, "deleted"
        elif before[path] != after[path]:
            yield path, "modified"


def _headline(path: str, files: int, count: int, seconds: float) -> str:
    what = "nothing changed" if not count else "1 change" if count == 1 else f"{count:,} changes"
    held = "1 file" if files == 1 else f"{files:,} files"
    return f"watched {path} ({held}) for {seconds:,.0f} s: {what}"
