"""Puts text files together into one new file."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from typing import Any

from anyio import from_thread, to_thread

from executor.core.errors import ToolError
from executor.tools.fs.edit import require_editable
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.text.lines import MOST_BYTES, read_lines, too_large


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Write the files one after the other."""
    return await to_thread.run_sync(_join, args, bench)


def _join(args: Mapping[str, Any], bench: Bench) -> dict[str, object]:
    to = str(args["to"])
    paths = [file for path in args["paths"] for file in _files(str(path), bench)]
    require_editable(bench.workspace.split(to), to)
    if len({bench.workspace.split(path) for path in paths}) < len(paths):
        raise ToolError("SAME_FILE", "a file is named twice", place="paths", fix="name each once")
    if len(paths) < 2:
        raise ToolError("TOO_FEW", "that is one file alone", place="paths", fix="name several")
    parts: list[str] = []
    size = 0
    for path in paths:
        lines = read_lines(path, bench).lines
        size += sum(map(len, lines))
        if size > MOST_BYTES:
            raise too_large(to)
        if args.get("titles"):
            parts += [*([""] if parts else []), f"# {path}", ""]
        parts += lines
    data = "".join(f"{line}\n" for line in parts).encode()
    written = bench.workspace.write(to, data, replace=False, check=from_thread.check_cancelled)
    told = f"{written.path}: {counted(len(paths), 'file')}, {counted(len(parts), 'line')}"
    answer: dict[str, object] = {"path": written.path, "size": written.size, "sha256": written.sha256}
    return {**answer, "files": len(paths), "lines": len(parts), "text": told}


def _files(path: str, bench: Bench) -> list[str]:
    """A file, or the files that lie in a folder, by their names."""
    status = bench.workspace.check(path)
    if status is None or not stat.S_ISDIR(status.st_mode):
        return [path]
    inside = bench.workspace.walk(path, check=from_thread.check_cancelled, recursive=False)
    return sorted(one.path for one in inside if one.kind == "file")
