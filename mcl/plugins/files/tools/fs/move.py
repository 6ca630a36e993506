"""Moves and renames files and folders."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from anyio import from_thread, to_thread

from executor.core.errors import ToolError
from executor.sandbox.paths import Workspace
from executor.tools.manifest import Mode
from executor.tools.tool import Bench
from mcl.plugins.files.selection import named, never, paths_of, suffix
from mcl.plugins.files.transfer import Carried, carried, carry_all, laid_out, touched


def touches(args: Mapping[str, object], workspace: Workspace) -> list[tuple[str, Mode]]:
    """What will be moved, and where it will be."""
    return touched(_laid_out(args, workspace, None, never), moving=True)


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Move all of it; nothing that is there is replaced."""
    return await to_thread.run_sync(_move, args, bench)


def _move(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    check = from_thread.check_cancelled
    return carry_all(_laid_out(args, bench.workspace, bench.absent, check), bench, check, moving=True)


def _laid_out(
    args: Mapping[str, Any],
    workspace: Workspace,
    absent: frozenset[str] | None,
    check: Callable[[], None],
) -> list[Carried]:
    if "name" not in args or args.get("targets"):
        return laid_out(args, workspace, moving=True, absent=absent, check=check)
    source, *more = paths_of(args)
    if more or "glob" in args:
        fix = "leave name out, or name one file or folder"
        raise ToolError("ONE_NAME", "several files cannot have one name", place="name", fix=fix)
    name = str(args["name"])
    if not suffix(name):  # a new name is said without what kind of file it is
        name += suffix(named(source))
    above = "/".join(workspace.split(source)[:-1]) if args["to"] == "." else str(args["to"]).rstrip("/")
    name = name.removeprefix(f"{above}/") if above else name  # "/x" stays outside
    if "/" in name:
        raise ToolError("ONE_NAME", f"{name!r} is no name", place="name", fix="name the folder in `to`")
    return carried([(source, f"{above}/{name}" if above else name)], workspace, moving=True, check=check)
