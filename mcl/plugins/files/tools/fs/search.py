"""Finds text in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from anyio import from_thread, to_thread

from executor.core.errors import ScopeError
from executor.core.hashing import json_bytes
from executor.sandbox.paths import Entry
from executor.tools.fs.files import files_of, in_word, shown
from executor.tools.tool import Bench
from ir.inline_secrets import lines_without_keys

_LIMIT = 200
_MAX_FILE = 8 << 20  # bytes
_SHOWN = 400  # characters of a line that are shown
_PROBE = 8192  # bytes looked at to tell a binary file


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the matching lines in the order of paths, at most ``limit``."""
    return await to_thread.run_sync(_search, args, bench)


def _search(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    query, glob = str(args["query"]), str(args.get("glob", ""))
    limit = int(str(args.get("limit", _LIMIT)))
    finder = _finder(query, ignore_case=bool(args.get("ignore_case")), word=bool(args.get("word")))
    found: list[dict[str, object]] = []
    files = searched = skipped = 0
    room, truncated = bench.max_output - 4096, False
    for entry in files_of(str(args.get("path", ".")), glob, bench, from_thread.check_cancelled):
        from_thread.check_cancelled()
        text = _text(entry, bench)
        if text is None:
            skipped += 1
            continue
        searched += 1
        before = len(found)
        for number, line in finder(text):
            room -= 3 * (len(entry.path.encode()) + len(json_bytes(line))) + 96
            if len(found) == limit or room < 0:
                truncated = True
                break
            found.append({"path": entry.path, "line": number, "text": line})
        files += len(found) > before
        if truncated:
            break
    return {
        "query": query,
        "matches": found,
        "paths": list(dict.fromkeys(str(match["path"]) for match in found)),
        "count": len(found),
        "files": files,
        "searched": searched,
        "skipped": skipped,
        "truncated": truncated,
        "text": "\n".join(f"{match['path']}:{match['line']}: {match['text']}" for match in found)
        or f"nothing found in {'1 file' if searched == 1 else f'{searched:,} files'}",
    }


def _text(entry: Entry, bench: Bench) -> str | None:
    if entry.size > _MAX_FILE:
        return None
    try:
        data, _ = bench.workspace.read(entry.path, _MAX_FILE)
    except ScopeError:  # unreadable, hard linked, or gone since it was listed
        return None
    return None if b"\0" in data[:_PROBE] else lines_without_keys(data.decode("utf-8", "replace"))


def _finder(query: str, *, ignore_case: bool, word: bool) -> Callable[[str], Iterator[tuple[int, str]]]:
    """A function from a file's text to its matching lines: number (from 1) and what is shown of the line."""
    needle = query.casefold() if ignore_case else query

    def find(text: str) -> Iterator[tuple[int, str]]:
        folded = text.casefold() if ignore_case else text
        if needle not in folded:
            return
        for number, line in enumerate(text.split("\n"), start=1):
            place = _place(line.casefold() if ignore_case else line, needle, word=word)
            if place >= 0:
                yield number, shown(line, place, _SHOWN)

    return find


def _place(line: str, needle: str, *, word: bool) -> int:
    place = line.find(needle)
    while word and place >= 0:
        end = place + len(needle)
        if not (in_word(line, place) or in_word(line, end)):
            break
        place = line.find(needle, place + 1)
    return place
