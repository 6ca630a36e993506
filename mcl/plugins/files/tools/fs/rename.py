"""Gives the files of a folder new names by a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from anyio import from_thread, to_thread

from executor.core.errors import ToolError
from executor.sandbox.paths import Workspace
from executor.tools.manifest import Mode
from executor.tools.tool import Bench
from mcl.plugins.files.selection import FileChoice, files_in, named, never, require_some, suffix
from mcl.plugins.files.transfer import Carried, carried, carry_all, touched

_RULES = ("find", "prefix", "ending", "number", "spaces", "case")


def touches(args: Mapping[str, object], workspace: Workspace) -> list[tuple[str, Mode]]:
    """Which files will be called otherwise."""
    return touched(_laid_out(args, workspace, never, none=False), moving=True)


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Rename them; nothing that is there is replaced."""
    return await to_thread.run_sync(_rename, args, bench)


def _rename(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    check = from_thread.check_cancelled
    return carry_all(_laid_out(args, bench.workspace, check, none=True), bench, check, moving=True)


def _laid_out(
    args: Mapping[str, Any], workspace: Workspace, check: Callable[[], None], *, none: bool
) -> list[Carried]:
    if not any(name in args for name in _RULES):
        fix = f"give one of {', '.join(_RULES)}"
        raise ToolError("NO_RULE", "it is not said how the names change", place="path", fix=fix)
    wanted, folder = FileChoice.of(args), str(args["path"])
    found = files_in(workspace, folder, wanted, recursive=bool(args.get("recursive")), check=check)
    entries = [entry.path for entry, _ in found]
    pairs = []
    for number, path in enumerate(entries, int(args.get("number", 1))):
        above, _, name = path.rpartition("/")
        new = _renamed(name, args, number, len(str(len(entries))))
        if new != name:
            pairs.append((path, f"{above}/{new}" if above else new))
    require_some(len(pairs), folder, wanted, none=none)
    return carried(pairs, workspace, moving=True, check=check)


def _renamed(name: str, args: Mapping[str, Any], number: int, width: int) -> str:
    """The new name. Each rule is for the name without its ending, but for that of endings."""
    ending = suffix(name)
    stem = name.removesuffix(ending)
    if "find" in args:
        stem = stem.replace(str(args["find"]), str(args.get("replace", "")))
    if "spaces" in args:
        stem = str(args["spaces"]).join(stem.split())
    if "case" in args:
        lower = args["case"] == "lower"
        stem, ending = (stem.lower(), ending.lower()) if lower else (stem.upper(), ending)
    prefix = str(args.get("prefix", ""))
    if "number" in args:
        given = str(number).zfill(max(width, 2))
        stem = f"{prefix}{given}" if prefix else f"{given} {stem}"
    elif prefix and not stem.startswith(prefix):  # done twice, it is there once
        stem = f"{prefix}{stem}"
    if "ending" in args:
        ending = f".{str(args['ending']).lstrip('.')}"
    return named(f"{stem or 'file'}{ending}")
