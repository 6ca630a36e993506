"""Compares two files, or what lies in two folders."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from anyio import from_thread, to_thread

from executor.core.errors import ToolError
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.plugins.files.selection import FileChoice, files_in, require_there, size_text, told_lines

_LIMIT = 2 << 20  # bytes of a text that is compared line by line
_LINES = 20_000
_MOST = 20_000  # files of a folder


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with whether they are the same, and with what differs."""
    return await to_thread.run_sync(_compare, args, bench)


def _compare(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    one, other = str(args["path"]), str(args["other"])
    kinds = {require_there(bench.workspace, path) for path in (one, other)}
    if len(kinds) > 1:
        fix = "name two files, or two folders"
        raise ToolError("TWO_KINDS", "a file cannot be compared with a folder", place=other, fix=fix)
    return _folders(one, other, bench) if kinds == {"folder"} else _files(one, other, bench)


def _files(one: str, other: str, bench: Bench) -> dict[str, object]:
    check = from_thread.check_cancelled
    digests = [bench.workspace.digest(path, check=check) for path in (one, other)]
    if digests[0] == digests[1]:
        return _answer([], 0, 0, f"{one} and {other} are the same ({size_text(digests[0][1])})")
    texts = [_lines(path, size, bench) for path, (_, size) in zip((one, other), digests, strict=True)]
    before, after = texts
    if before is None or after is None:
        sizes = " and ".join(size_text(size) for _, size in digests)
        return _answer([], 0, 0, f"{one} and {other} differ ({sizes})", same=False)
    lines = list(difflib.unified_diff(before, after, one, other, lineterm="", n=1))
    added = sum(line.startswith("+") for line in lines[2:])
    removed = sum(line.startswith("-") for line in lines[2:])
    head = f"{one} and {other} differ: {added} lines are new in {other}, {removed} are gone"
    return _answer(lines[2:], added, removed, told_lines([head, *lines[2:]], ""), same=False)


def _lines(path: str, size: int, bench: Bench) -> list[str] | None:
    if size > _LIMIT:
        return None
    data, _ = bench.workspace.read(path, _LIMIT)
    try:
        lines = data.decode().splitlines()
    except UnicodeDecodeError:
        return None
    return lines if b"\0" not in data and len(lines) <= _LINES else None


def _folders(one: str, other: str, bench: Bench) -> dict[str, object]:
    check, found = from_thread.check_cancelled, list[dict[str, int]]()
    for folder in (one, other):
        files = {}
        for entry, below in files_in(bench.workspace, folder, FileChoice(), recursive=True, check=check):
            files[below] = entry.size
            if len(files) > _MOST:
                fix = "name smaller folders"
                raise ToolError("TOO_MANY_FILES", f"more than {_MOST:,} files", place=folder, fix=fix)
        found.append(files)
    left, right = found
    lines = [f"- {name}" for name in left if name not in right]
    lines += [f"+ {name}" for name in right if name not in left]
    for name in (name for name in left if name in right):
        pair = [f"{folder.rstrip('/')}/{name}" for folder in (one, other)]
        same = left[name] == right[name]
        if not same or len({bench.workspace.digest(path, check=check) for path in pair}) > 1:
            lines.append(f"! {name}")
    added, removed = sum(line[0] == "+" for line in lines), sum(line[0] == "-" for line in lines)
    differ = f"- only in {one}, + only in {other}, ! differs"
    head = differ if lines else f"{one} and {other} hold the same"
    return _answer(lines, added, removed, told_lines([head, *lines], ""), same=not lines)


def _answer(lines: list[str], added: int, removed: int, text: str, *, same: bool = True) -> dict[str, object]:
    return {
        "same": same,
        "added": added,
        "removed": removed,
        "differences": [visible(line) for line in lines[:500]],
        "truncated": len(lines) > 500,
        "text": text,
    }
