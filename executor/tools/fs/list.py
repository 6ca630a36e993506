"""Lists a folder."""

from __future__ import annotations

from collections.abc import Mapping

from anyio import from_thread, to_thread

from executor.core.globs import anywhere
from executor.sandbox.paths import Entry
from executor.tools.tool import Bench

_LIMIT = 1000
_ROOM = 128  # bytes of JSON a entry takes beside its path, generously


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the entries that fit ``glob``, at most ``limit``."""
    return await to_thread.run_sync(_list, args, bench)


def _list(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    path, glob = str(args.get("path", ".")), str(args.get("glob", ""))
    limit = int(str(args.get("limit", _LIMIT)))
    recursive = bool(args.get("recursive", False)) or "/" in glob or "**" in glob
    prefix = "/".join(bench.workspace.split(path))
    pattern, cut = anywhere(glob), len(prefix) + 1 if prefix else 0
    found: list[Entry] = []
    room, truncated = bench.max_output - 1024, False
    for entry in bench.workspace.walk(path, check=from_thread.check_cancelled, recursive=recursive):
        if not pattern.fits(tuple(entry.path[cut:].split("/"))):
            continue
        room -= _ROOM + 6 * len(entry.path)
        if len(found) == limit or room < 0:
            truncated = True
            break
        found.append(entry)
    return {
        "path": prefix or ".",
        "entries": [{"path": entry.path, "type": entry.kind, "size": entry.size} for entry in found],
        "paths": [entry.path for entry in found if entry.kind == "file"],
        "count": len(found),
        "truncated": truncated,
        "text": "\n".join(entry.path + ("/" if entry.kind == "folder" else "") for entry in found)
        or "nothing found",
    }
