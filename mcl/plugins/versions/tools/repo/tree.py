"""The files of a repository, without what it was given or made."""

from __future__ import annotations

from collections.abc import Mapping

from executor.core.errors import ScopeError
from executor.core.hashing import json_bytes
from executor.sandbox.paths import Workspace
from executor.tools.project.sources import sources
from executor.tools.tool import Bench


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with their paths, at most ``limit``."""
    path, limit = str(args["path"]), int(str(args["limit"]))
    found = [one for one in await sources(path, (), bench) if _is_open(one, bench.workspace)]
    told: list[str] = []
    room = bench.max_output - 1024
    for one in found[:limit]:
        room -= 2 * len(json_bytes(one)) + 2  # it stands in the list and in the text
        if room < 0:
            break
        told.append(one)
    return {
        "path": "/".join(bench.workspace.split(path)) or ".",
        "files": told,
        "count": len(found),
        "truncated": len(told) < len(found),
        "text": "\n".join(told) or "no files",
    }


def _is_open(path: str, workspace: Workspace) -> bool:
    """May a tool be given this path? Not a secret file, nor a name that drives terminals."""
    try:
        workspace.split(path)
    except ScopeError:
        return False
    return True
