"""Shows the first or the last lines of a text file."""

from __future__ import annotations

import os
from collections.abc import Mapping

from anyio import to_thread

from executor.tools.tool import Bench
from mcl.plugins.text.lines import TextLines, shown

_PIECE = 4 << 20  # bytes at either end that are looked at


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the lines; of a large file only its ends are read."""
    return await to_thread.run_sync(_head, args, bench)


def _head(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    path, count, last = str(args["path"]), int(str(args.get("lines", 10))), args.get("part") == "last"
    with bench.workspace.open_file(path) as descriptor:
        size = os.fstat(descriptor).st_size
        start = max(0, size - _PIECE) if last else 0
        data = os.pread(descriptor, _PIECE, start)
    if start:  # a line that is cut, and a letter
        data = data[data.find(b"\n") + 1 :]
    elif size > _PIECE:
        data = data[: data.rfind(b"\n") + 1] or data[:-4]
    lines = TextLines.read(data, path).lines
    kept = lines[-count:] if last else lines[:count]
    where = "/".join(bench.workspace.split(path))
    return {"path": where, "lines": len(kept), "part": "last" if last else "first", "text": shown(kept)}
