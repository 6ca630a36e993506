"""Files of a folder told with their sizes and days."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal

from executor.sandbox.paths import Entry
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.plugins.files.selection import FileChoice, day_text, files_in, size_text, told_lines

_ORDERS: Final[Mapping[str, Callable[[Entry], tuple[object, ...]]]] = {
    "path": lambda entry: (entry.path,),
    "newest": lambda entry: (-entry.modified, entry.path),
    "largest": lambda entry: (-entry.size, entry.path),
}


def found_files(
    args: Mapping[str, object],
    bench: Bench,
    check: Callable[[], None],
    *,
    order: Literal["path", "newest", "largest"],
    limit: int,
) -> dict[str, object]:
    """The answer: the first ``limit`` files in this order, and how many there are in all."""
    wanted, path = FileChoice.of(args), str(args.get("path", "."))
    limit, recursive = int(str(args.get("limit", limit))), bool(args.get("recursive", True))
    count = size = 0

    def all_files() -> Iterator[Entry]:
        nonlocal count, size
        for entry, _ in files_in(bench.workspace, path, wanted, recursive=recursive, check=check):
            count, size = count + 1, size + entry.size
            yield entry

    shown = heapq.nsmallest(limit, all_files(), key=_ORDERS[order])
    lines = [f"{size_text(one.size):>12}  {day_text(one.modified)}  {one.path}" for one in shown]
    return {
        "path": "/".join(bench.workspace.split(path)) or ".",
        "files": [
            {"path": visible(one.path), "size": one.size, "modified": day_text(one.modified)} for one in shown
        ],
        "paths": [visible(one.path) for one in shown],
        "count": count,
        "size": size,
        "truncated": len(shown) < count,
        "text": told_lines(lines, "nothing found"),
    }
