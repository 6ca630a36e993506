"""Makes folders."""

from __future__ import annotations

from collections.abc import Mapping

from anyio import to_thread

from executor.core.errors import ScopeError
from executor.sandbox.paths import Workspace
from executor.tools.manifest import Mode
from executor.tools.tool import Bench
from mcl.plugins.files.selection import kind_of, paths_of, told_lines


def touches(args: Mapping[str, object], workspace: Workspace) -> list[tuple[str, Mode]]:
    """The folders that are not there yet."""
    return [(path, "write") for path in _missing(args, workspace)]


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Make them, with those on the way; one that is there is left as it is."""
    return await to_thread.run_sync(_make, args, bench)


def _make(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    made = _missing(args, bench.workspace)
    for path in made:
        bench.workspace.make_folder(path)
    told = [f"{path}/" if path in made else f"{path}/ was there already" for path in paths_of(args)]
    return {"made": made, "count": len(made), "text": told_lines(told, "")}


def _missing(args: Mapping[str, object], workspace: Workspace) -> list[str]:
    found = []
    for path in paths_of(args):
        kind = kind_of(workspace, path)
        if kind == "file":
            fix = "choose another name"
            raise ScopeError("EXISTS", f"{path!r} is there already, and is a file", place=path, fix=fix)
        if not kind:
            found.append("/".join(workspace.split(path)))
    return found
