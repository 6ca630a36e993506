"""Packs files and folders into a zip archive."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from anyio import from_thread, to_thread

from executor.core.errors import ToolError
from executor.sandbox.files import digest_of, explain
from executor.sandbox.paths import Workspace
from executor.sandbox.writing import alone, put_new, tidy
from executor.tools.manifest import Mode
from executor.tools.tool import Bench
from mcl.plugins.files.archives import MOST_BYTES, pack
from mcl.plugins.files.selection import (
    FileChoice,
    files_in,
    kind_of,
    named,
    never,
    paths_of,
    require_some,
    require_there,
    size_text,
    suffix,
)
from mcl.plugins.files.transfer import exists, pieces


def touches(args: Mapping[str, object], workspace: Workspace) -> list[tuple[str, Mode]]:
    """The archive that will be made."""
    _packed(args, workspace, never)
    return [(target_of(args, workspace), "write")]


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Pack them; an archive that is there is never replaced."""
    return await to_thread.run_sync(_zip, args, bench)


def _zip(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    workspace, check = bench.workspace, from_thread.check_cancelled
    target = target_of(args, workspace)
    files = [one for one in _packed(args, workspace, check) if one[0] != target]
    with tempfile.TemporaryFile() as file:
        pack(file, files, workspace, check)
        size = file.tell()
        file.seek(0)
        created = _place(file.fileno(), target, workspace, check)
        file.seek(0)
        digest = digest_of(file.fileno(), check)
    count = sum(not folder for _, _, folder in files)
    said = f"{count:,} {'file' if count == 1 else 'files'} packed into {target} ({size_text(size)})"
    return {"path": target, "count": count, "size": size, "sha256": digest, "created": created, "text": said}


def _place(descriptor: int, target: str, workspace: Workspace, check: Callable[[], None]) -> bool:
    """Put the finished archive where it is to be; False where just this one is there already."""
    above, _, name = target.rpartition("/")
    if above:
        workspace.make_folder(above)
    with workspace.open_folder(above or ".") as folder, alone(folder, target, check):
        tidy(folder, name)
        if kind_of(workspace, target):
            here = digest_of(descriptor, check)
            if kind_of(workspace, target) == "folder" or workspace.digest(target, check=check)[0] != here:
                exists(target)
            return False
        try:
            put_new(folder, name, pieces(descriptor, check), target)
        except OSError as problem:
            explain(problem, target)
    return True


def target_of(args: Mapping[str, Any], workspace: Workspace) -> str:
    """Where the archive will be. Raises ToolError, ScopeError."""
    to, first = str(args["to"]), paths_of(args)[0]
    if to.lower().endswith(".zip"):
        into, name = to.rpartition("/")[0], named(to)
    else:
        into = to
        kept = named("/".join(workspace.split(first))) or "files"
        name = f"{kept.removesuffix(suffix(kept)) if kind_of(workspace, first) == 'file' else kept}.zip"
    if stamp := str(args.get("stamp", "")):
        name = f"{name[:-4]}-{_stamp(stamp)}.zip"
    return "/".join(workspace.split(f"{into.rstrip('/')}/{name}" if into else name))


def _stamp(text: str) -> str:
    try:
        return datetime.fromisoformat(text).strftime("%Y-%m-%d-%H%M" if len(text) > 10 else "%Y-%m-%d")
    except ValueError:
        fix = "write 2026-11-21 or 2026-11-21T10:00:00Z"
        raise ToolError("BAD_TIME", f"{text!r} is no moment", place="stamp", fix=fix) from None


def _packed(
    args: Mapping[str, Any], workspace: Workspace, check: Callable[[], None]
) -> list[tuple[str, str, bool]]:
    """The files: path in the workspace, name in the archive, whether it is an empty folder."""
    wanted, found, total = FileChoice.of(args), dict[str, tuple[str, str, bool]](), 0
    target = target_of(args, workspace)
    for path in paths_of(args):
        plain = "/".join(workspace.split(path))
        above = plain.rpartition("/")[0]
        cut = len(above) + 1 if above else 0
        if require_there(workspace, path) == "file":
            found[plain[cut:]] = (plain, plain[cut:], False)
            total += _size(plain, workspace)
            continue
        cut = len(plain) + 1 if wanted.glob and plain else cut
        filled = set[str]()
        everything = FileChoice(wanted.glob, wanted.older, wanted.newer, hidden=not wanted.glob)
        deep = bool(args.get("recursive", not wanted.glob))
        for entry, _ in files_in(workspace, path, everything, recursive=deep, check=check):
            if entry.path != target:
                found[entry.path[cut:]] = (entry.path, entry.path[cut:], False)
                total += entry.size
            filled.add(entry.path)
    require_some(len(found), ", ".join(paths_of(args)), wanted)
    if total > MOST_BYTES:
        message = f"more than {MOST_BYTES:,} bytes"
        raise ToolError("TOO_LARGE", message, place="paths", fix="pack less at once")
    return [found[name] for name in sorted(found)]


def _size(path: str, workspace: Workspace) -> int:
    status = workspace.check(path)
    return os.stat_result(status).st_size if status is not None else 0
