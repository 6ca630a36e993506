"""Counts files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from anyio import from_thread, to_thread

from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.plugins.files.selection import FileChoice, files_in, named, size_text, suffix

_TOLD = 20  # endings


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with how many files there are, of which endings, and how large they are together."""
    return await to_thread.run_sync(_count, args, bench)


def _count(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    wanted, path = FileChoice.of(args), str(args.get("path", "."))
    recursive, check = bool(args.get("recursive", True)), from_thread.check_cancelled
    files, folders, size = Counter[str](), set[str](), 0
    for entry, below in files_in(bench.workspace, path, wanted, recursive=recursive, check=check):
        files[suffix(named(entry.path)).lower() or "none"] += 1
        folders.add(below.rpartition("/")[0])
        size += entry.size
    count, most = files.total(), files.most_common(_TOLD)
    where = "/".join(bench.workspace.split(path)) or "."
    endings = ", ".join(f"{number:,} {visible(ending)}" for ending, number in most)
    word = "file" if count == 1 else "files"
    return {
        "path": where,
        "count": count,
        "folders": len(folders),
        "size": size,
        "endings": [{"ending": visible(ending), "count": number} for ending, number in most],
        "text": f"{count:,} {word} in {where}, {size_text(size)}" + (f" ({endings})" if count else ""),
    }
