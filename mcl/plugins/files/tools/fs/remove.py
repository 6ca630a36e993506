"""Takes files and whole folders away."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from anyio import from_thread, to_thread

from executor.core.errors import ToolError
from executor.sandbox.paths import Workspace
from executor.sandbox.removal import remove
from executor.tools.manifest import Mode
from executor.tools.tool import Bench
from mcl.plugins.files.selection import (
    FileChoice,
    files_in,
    kind_of,
    never,
    paths_of,
    require_some,
    require_there,
    size_text,
    told_lines,
)


def touches(args: Mapping[str, object], workspace: Workspace) -> list[tuple[str, Mode]]:
    """What will be gone."""
    return [(path, "write") for path, _ in _named(args, workspace, never)]


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Take it away, where the gate allowed just that."""
    return await to_thread.run_sync(_remove, args, bench)


def _remove(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    if bench.operation != "destructive":
        raise ToolError("NOT_ALLOWED", "deleting was not allowed", place="paths", fix="ask for it")
    check, size, files, gone = from_thread.check_cancelled, 0, 0, list[str]()
    for path, _ in _named(args, bench.workspace, check):
        check()
        removed = remove(bench.workspace, path, check=check)
        size, files = size + removed.size, files + (removed.kind == "file")
        gone.append(removed.path if removed.kind == "file" else f"{removed.path}/")
    told = told_lines([f"deleted {path}" for path in gone], "nothing was there any more")
    return {"gone": gone, "count": files, "size": size, "text": f"{told}\n{files} files, {size_text(size)}"}


def _named(args: Mapping[str, Any], workspace: Workspace, check: Callable[[], None]) -> list[tuple[str, str]]:
    """What is to go, what lies in a folder before the folder. Raises ToolError, ScopeError."""
    wanted, found = FileChoice.of(args), list[tuple[str, str]]()
    picked = bool(wanted.glob or wanted.older is not None)
    for path in paths_of(args):
        kind = require_there(workspace, path)
        if picked:  # a file that is named must be wanted too
            folder, whole = (path, "") if kind == "folder" else _apart(workspace, path)
            files = files_in(workspace, folder, wanted, recursive=bool(args.get("recursive")), check=check)
            found += [(one.path, "file") for one, _ in files if whole in ("", one.path)]
        elif kind == "folder":
            found += _whole(path, workspace, check)
        else:
            found.append(("/".join(workspace.split(path)), "file"))
    require_some(len(found), ", ".join(paths_of(args)), wanted)
    return found


def _apart(workspace: Workspace, path: str) -> tuple[str, str]:
    """The folder of a file, and its whole path."""
    whole = "/".join(workspace.split(path))
    return whole.rpartition("/")[0] or ".", whole


def _whole(path: str, workspace: Workspace, check: Callable[[], None]) -> list[tuple[str, str]]:
    hidden: list[str] = []
    below = list(workspace.walk(path, check=check, missed=lambda missed, why: hidden.append(missed)))
    odd = hidden or [one.path for one in below if one.kind not in ("file", "folder")]
    if odd or not workspace.split(path):
        held = f"it holds what no tool takes away: {odd[0]!r}" if odd else "it is the workspace itself"
        message = f"{path!r} stays: {held}"
        raise ToolError("NOT_EMPTY", message, place=path, fix="name what is to go in it")
    return [*((one.path, one.kind) for one in reversed(below)), (path.rstrip("/"), kind_of(workspace, path))]
