"""Makes the maps of the workspace."""

from collections.abc import Mapping
from typing import Any, Final

from anyio import from_thread, to_thread

from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.tools.tool import Bench
from mcl.plugins.review.maps.documents import differing
from mcl.plugins.review.maps.maps import Maps, rules
from mcl.plugins.review.maps.survey import survey
from mcl.plugins.review.memory.history import ReviewMemories

_HISTORY: Final = {
    "whole": "",
    "shallow": "; the clone holds the latest commits only",
    "cut": "; of the log only the latest commits were read",
    "none": "; no git repository tells of changes",
    "empty": "; there is no commit yet",
}


async def run(args: Mapping[str, Any], bench: Bench, home: Home) -> dict[str, object]:
    """Look at the workspace, and write the maps that differ from those that are there.

    Raises:
        ScopeError: what lies in their place is no plain file.
    """
    seen = await survey(bench.workspace, cache=home.path / "cache")
    maps = seen.maps(ReviewMemories(home, bench.workspace.root).history.moments())
    written = await to_thread.run_sync(_write, maps, bench.workspace)
    code = sum(one.role in rules().code for one in maps.files.values())
    said = f"wrote {', '.join(written)}" if written else "the maps are as they were; nothing was written"
    return {
        "files": len(maps.files),
        "code": code,
        "head": maps.head,
        "tree": maps.tree,
        "history": maps.history,
        "left_out": dict(maps.left_out),
        "written": written,
        "text": f"{len(maps.files):,} files, {code:,} of them code{_HISTORY[maps.history]}\n{said}",
    }


def _write(maps: Maps, workspace: Workspace) -> list[str]:
    wanted = differing(workspace, maps)
    for path, data in wanted.items():
        workspace.write(path, data, replace=True, check=from_thread.check_cancelled)
    return list(wanted)
