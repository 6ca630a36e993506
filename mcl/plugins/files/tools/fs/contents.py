"""Tells what is in an archive, and unpacks nothing."""

from __future__ import annotations

from collections.abc import Mapping

from anyio import from_thread, to_thread

from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.plugins.files.archives import opened
from mcl.plugins.files.selection import size_text, told_lines

_TOLD = 1000


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the entries and their sizes."""
    return await to_thread.run_sync(_contents, args, bench)


def _contents(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    path = str(args["path"])
    with opened(path, bench.workspace) as archive:
        members = archive.members(check=from_thread.check_cancelled)
    files = [one for one in members if not one.folder]
    size = sum(one.size for one in files)
    lines = [f"{one.path}/" if one.folder else f"{one.path} ({size_text(one.size)})" for one in members]
    head = f"{len(files):,} {'file' if len(files) == 1 else 'files'} in {path}, {size_text(size)} unpacked"
    return {
        "path": "/".join(bench.workspace.split(path)),
        "files": [{"path": visible(one.path), "size": one.size} for one in files[:_TOLD]],
        "count": len(files),
        "size": size,
        "truncated": len(files) > _TOLD,
        "text": told_lines([head, *lines], ""),
    }
