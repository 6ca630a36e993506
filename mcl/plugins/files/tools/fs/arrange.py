"""Tidies the files of a folder into folders, by day, month, year, kind or ending."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from anyio import from_thread, to_thread

from executor.sandbox.paths import Entry, Workspace
from executor.tools.manifest import Mode
from executor.tools.tool import Bench
from mcl.plugins.files.selection import (
    FileChoice,
    day_of,
    files_in,
    named,
    named_day,
    never,
    require_some,
    suffix,
)
from mcl.plugins.files.transfer import Carried, carried, carry_all, touched
from mcl.values.kinds import kind_of_ending

_FORMS = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}


def touches(args: Mapping[str, object], workspace: Workspace) -> list[tuple[str, Mode]]:
    """What will be moved, and where it will be."""
    return touched(_laid_out(args, workspace, never, none=False), moving=not args.get("keep"))


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Move them, or copy them; nothing that is there is replaced."""
    return await to_thread.run_sync(_arrange, args, bench)


def _arrange(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    check = from_thread.check_cancelled
    return carry_all(
        _laid_out(args, bench.workspace, check, none=True), bench, check, moving=not args.get("keep")
    )


def _laid_out(
    args: Mapping[str, Any], workspace: Workspace, check: Callable[[], None], *, none: bool
) -> list[Carried]:
    folder, by, wanted = str(args["path"]), str(args["by"]), FileChoice.of(args)
    base = "/".join(workspace.split(folder))
    found: list[tuple[str, str]] = []
    count = 0
    for entry, below in files_in(
        workspace, folder, wanted, recursive=bool(args.get("recursive")), check=check
    ):
        count += 1
        into = folder_for(entry, by)
        target = "/".join(part for part in (base, into, named(below)) if part)
        if target != entry.path:
            found.append((entry.path, target))
    require_some(count, folder, wanted, none=none)
    return carried(found, workspace, moving=not args.get("keep"), check=check)


def folder_for(entry: Entry, by: str) -> str:
    """The folder of a file. The day that its name says counts before the one on which it was changed."""
    name = named(entry.path)
    if by == "kind":
        return kind_of_ending(suffix(name)) or "other"
    if by == "ending":
        return suffix(name).lower().removeprefix(".") or "other"
    said = named_day(name, whole=by == "day")
    return (said or day_of(entry.modified)).strftime(_FORMS[by])
