"""Unpacks an archive."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from typing import Any

from anyio import from_thread, to_thread

from executor.sandbox.files import explain
from executor.sandbox.paths import Workspace
from executor.sandbox.writing import alone, put_new, tidy
from executor.tools.manifest import Mode
from executor.tools.tool import Bench
from mcl.plugins.files.archives import Archive, Member, opened, stem
from mcl.plugins.files.selection import kind_of, named, never, told_lines
from mcl.plugins.files.transfer import exists


def touches(args: Mapping[str, object], workspace: Workspace) -> list[tuple[str, Mode]]:
    """What will be made."""
    with opened(str(args["path"]), workspace) as archive:
        return [(place, "write") for _, place, done in _laid_out(args, archive, workspace, never) if not done]


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Unpack all of it; nothing that is there is replaced."""
    return await to_thread.run_sync(_unzip, args, bench)


def _unzip(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    workspace, check = bench.workspace, from_thread.check_cancelled
    with opened(str(args["path"]), workspace) as archive:
        laid = _laid_out(args, archive, workspace, check)
        made = [(one, place) for one, place, done in laid if not done]
        for number, (one, place) in enumerate(made, 1):
            check()
            _make(one, place, archive, workspace, check)
            bench.progress(number, len(made))
    files = [(one, place) for one, place in made if not one.folder]
    return {
        "path": folder_of(args, workspace) or ".",
        "files": [place for _, place in files[:500]],
        "count": len(files),
        "size": sum(one.size for one, _ in files),
        "already": sum(not one.folder for one, _, done in laid if done),
        "text": told_lines([place for _, place in files], "nothing new in it"),
    }


def _make(one: Member, place: str, archive: Archive, workspace: Workspace, check: Callable[[], None]) -> None:
    if one.folder:
        workspace.make_folder(place)
        return
    above, _, name = place.rpartition("/")
    if above:
        workspace.make_folder(above)
    with workspace.open_folder(above or ".") as folder, alone(folder, place, check):
        tidy(folder, name)
        try:
            put_new(folder, name, archive.pieces(one, check), place)
        except OSError as problem:
            explain(problem, place)


def _laid_out(
    args: Mapping[str, Any], archive: Archive, workspace: Workspace, check: Callable[[], None]
) -> list[tuple[Member, str, bool]]:
    """Each entry with the path that it gets, and whether it is there already, as it should be."""
    members = archive.members(check=check)
    archive.require_unpackable(members)
    into = folder_of(args, workspace)
    found = []
    for one in members:
        place = f"{into}/{one.path}" if into else one.path
        kind = kind_of(workspace, place)
        if kind and (kind == "folder") != one.folder:
            exists(place)
        if kind == "file" and not _same(one, place, archive, workspace, check):
            exists(place)
        found.append((one, place, bool(kind)))
    return found


def _same(one: Member, place: str, archive: Archive, workspace: Workspace, check: Callable[[], None]) -> bool:
    """Does the file that is there hold just this? It does where an earlier, interrupted call wrote it."""
    status = workspace.check(place)
    if status is None or status.st_size != one.size:
        return False
    packed, there = 0, 0
    for piece in archive.pieces(one, check):
        packed = zlib.crc32(piece, packed)
    with workspace.open_file(place) as descriptor:
        from mcl.plugins.files.transfer import pieces

        for piece in pieces(descriptor, check):
            there = zlib.crc32(piece, there)
    return packed == there


def folder_of(args: Mapping[str, Any], workspace: Workspace) -> str:
    """The folder into which it is unpacked: the one named, else one called like the archive, beside it."""
    path, to = str(args["path"]), str(args["to"])
    if to != ".":
        return "/".join(workspace.split(to))
    name = stem(named(path))
    return f"{name}-unpacked" if name == named(path) else name
