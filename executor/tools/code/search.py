"""Finds lines in source text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from anyio import from_thread, to_thread

from executor.core.errors import ScopeError
from executor.core.hashing import json_bytes
from executor.tools.code.pattern import Matcher, matcher
from executor.tools.fs.lines import shown
from executor.tools.project.sources import globs_of, sources
from executor.tools.tool import Bench

_LIMIT = 200
_MAX_FILE = 4 << 20  # bytes; source is smaller
_SHOWN = 300  # characters of a line that are shown
_PROBE = 8192  # bytes looked at to tell a binary file


@dataclass(slots=True)
class _Found:
    """Matches so far, and the room that is left for them (bytes of JSON, counted generously)."""

    limit: int
    room: int
    context: int
    matches: list[dict[str, object]] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    files: int = 0
    searched: int = 0
    skipped: int = 0
    truncated: bool = False


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the matching lines in the order of paths, at most ``limit``."""
    path, glob, language = (str(args.get(name, "")) for name in ("path", "glob", "language"))
    pattern = str(args["pattern"])
    finder = matcher(
        pattern,
        regex=bool(args.get("regex")),
        word=bool(args.get("whole_word")),
        ignore_case=bool(args.get("ignore_case")),
    )
    groups = (((glob,),) if glob else ()) + ((globs_of(language),) if language else ())
    paths = await sources(path or ".", groups, bench)
    found = _Found(
        int(str(args.get("limit", _LIMIT))), bench.max_output - 8192, int(str(args.get("context", 0)))
    )
    await to_thread.run_sync(_search, paths, finder, found, bench)
    return {
        "pattern": pattern,
        "matches": found.matches,
        "count": len(found.matches),
        "files": found.files,
        "searched": found.searched,
        "skipped": found.skipped,
        "truncated": found.truncated,
        "text": "\n".join([*found.text, *_last(found)]),
    }


def _last(found: _Found) -> Iterator[str]:
    if found.truncated:
        yield f"… there is more: only the first {len(found.matches):,} matching lines are shown"
    elif not found.matches:
        files = "1 file" if found.searched == 1 else f"{found.searched:,} files"
        yield f"nothing found in {files}"


def _search(paths: list[str], finder: Matcher, found: _Found, bench: Bench) -> None:
    for path in paths:
        from_thread.check_cancelled()
        data = _source(path, bench)
        if data is None:
            found.skipped += 1
            continue
        found.searched += 1
        if finder.worth(data):
            _search_one(path, _decoded(data), finder, found)
        if found.truncated:
            break


def _search_one(path: str, text: str, finder: Matcher, found: _Found) -> None:
    lines: list[str] = []
    told: dict[int, str] = {}
    first = len(found.matches)
    for number, place in finder.lines(text, path):
        lines = lines or text.split("\n")
        match: dict[str, object] = {
            "path": path,
            "line": number,
            "text": shown(lines[number - 1], place, _SHOWN),
        }
        around: dict[int, str] = {}
        if found.context:
            before = range(max(1, number - found.context), number)
            after = range(number + 1, min(len(lines), number + found.context) + 1)
            around = {one: shown(lines[one - 1], 0, _SHOWN) for one in (*before, *after)}
            match["before"] = [around[one] for one in before]
            match["after"] = [around[one] for one in after]
        size = sum(len(json_bytes(one)) for one in (match["text"], *around.values()))
        found.room -= 2 * size + (2 + len(around)) * (len(path.encode()) + 24) + 96
        if len(found.matches) == found.limit or found.room < 0:
            found.truncated = True
            break
        found.matches.append(match)
        for one, line in around.items():
            told.setdefault(one, f"{path}-{one}- {line}")
        told[number] = f"{path}:{number}: {match['text']}"
    if len(found.matches) > first:
        found.files += 1
        found.text += _told(told, found.context, separate=bool(found.text))


def _told(lines: Mapping[int, str], context: int, *, separate: bool) -> Iterator[str]:
    """The lines of one file in order; with context, a mark between lines that do not follow each other."""
    last = None if separate else -1
    for number in sorted(lines):
        if context and last != -1 and (last is None or number > last + 1):
            yield "--"
        yield lines[number]
        last = number


def _source(path: str, bench: Bench) -> bytes | None:
    try:
        data, size = bench.workspace.read(path, _MAX_FILE + 1)
    except ScopeError:  # protected, a link, unreadable, hard linked, or gone since it was listed
        return None
    return None if size > _MAX_FILE or b"\0" in data[:_PROBE] else data


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")
