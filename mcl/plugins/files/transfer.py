"""Copying and moving: first all of it is laid out, and refused where it cannot be done; then it is done."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Literal, NoReturn

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.files import explain, status_of
from executor.sandbox.paths import Workspace
from executor.sandbox.redaction import visible
from executor.sandbox.writing import alone, put_new, tidy
from executor.tools.manifest import Mode
from executor.tools.tool import Bench
from mcl.plugins.files.selection import (
    MOST,
    Check,
    FileChoice,
    files_in,
    kind_of,
    named,
    never,
    paths_of,
    require_some,
    require_there,
    suffix,
    told_lines,
)

MOST_BYTES: Final = 8 << 30  # that one call copies
MOST_TOLD: Final = 500  # files that an answer names
_PIECE: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class Carried:
    """One file or folder that goes from a path to another. done: it is there already, as it should be."""

    source: str
    target: str
    kind: Literal["file", "folder"] = "file"
    size: int = 0
    done: bool = False


def laid_out(
    args: Mapping[str, Any],
    workspace: Workspace,
    *,
    moving: bool,
    absent: Collection[str] | None = None,
    check: Check = never,
) -> list[Carried]:
    """What a call carries where, in order; nothing is touched.

    Args:
        args: paths, to, targets, glob, recursive. A pattern is for the files in the folders named; without
            one each path is carried as it is. ``to`` is a folder where it is one, ends with a slash, is for
            several, or has no ending and the one file has; else it is the new name.
        moving: is the source to be gone afterwards?
        absent: as of ``Bench``, where it is being done: then nothing may be left to do. None: beforehand.

    Raises:
        ToolError: NOTHING_FOUND, TOO_MANY_FILES, TOO_LARGE, INTO_ITSELF, SAME_PLACE, SAME_NAME,
            ONE_TARGET.
        ScopeError: NOT_FOUND, EXISTS, and as ``Workspace.check``.
    """
    to, wanted, sources = str(args["to"]), FileChoice.of(args), paths_of(args)
    targets, pairs = [str(one) for one in args.get("targets", ())], list[tuple[str, str]]()
    if targets:
        if len(sources) != len(targets) or wanted.glob or args.get("name"):
            fix = "give one target for each path, and no name or glob"
            raise ToolError("ONE_TARGET", "each path has one target", place="targets", fix=fix)
        pairs = list(zip(sources, targets, strict=True))
    elif wanted.glob:
        for folder in sources:
            into = "/".join(workspace.split(to))
            for entry, below in files_in(
                workspace, folder, wanted, recursive=bool(args.get("recursive")), check=check
            ):
                if not _below(entry.path, into):  # what is there is where it shall be
                    name = named(below)  # those of the folders inside come together
                    pairs.append((entry.path, f"{into}/{name}" if into else name))
        require_some(len(pairs), ", ".join(sources), wanted, none=absent is not None)
    else:
        into_folder = _is_folder(sources, to, workspace, absent or ())
        for source in sources:
            target = f"{to.rstrip('/')}/{named(source)}" if into_folder else to
            pairs.append((source, target))
    return carried(pairs, workspace, moving=moving, check=check)


def _is_folder(sources: Sequence[str], to: str, workspace: Workspace, absent: Collection[str]) -> bool:
    made = "/".join(workspace.split(to)) in absent  # by this very call
    if len(sources) > 1 or to.endswith("/") or (kind_of(workspace, to) == "folder" and not made):
        return True
    there = kind_of(workspace, sources[0])
    return there != "folder" and bool(suffix(named(sources[0]))) and not suffix(named(to)) and to != "."


def carried(
    pairs: Sequence[tuple[str, str]], workspace: Workspace, *, moving: bool, check: Check = never
) -> list[Carried]:
    """The same from pairs of paths. Raises as ``laid_out``."""
    found: list[Carried] = []
    taken: dict[str, str] = {}
    total = 0
    for given, wished in pairs:
        check()
        source, target = "/".join(workspace.split(given)), "/".join(workspace.split(wished))
        if not source:
            _refuse("INTO_ITSELF", "the workspace itself cannot be carried", given, "name what lies in it")
        if _below(target, source) and target != source:
            _refuse("INTO_ITSELF", f"{target!r} lies in {source!r} itself", given, "name another place")
        if target in taken:
            message = f"{taken[target]!r} and {source!r} would both be {target!r}"
            _refuse("SAME_NAME", message, target, "carry them to different folders")
        taken[target] = source
        there = kind_of(workspace, target) if target != source else ""
        kind = kind_of(workspace, source)
        if target == source and kind:
            _refuse("SAME_PLACE", f"{source!r} is there already", given, "name another place or name")
        if moving and not kind and there:  # as it is left by the same call
            found.append(Carried(source, target, "file", done=True))
            continue
        kind = require_there(workspace, source)
        if kind == "folder" and not moving:
            if there == "file":
                exists(target)
            found += _within(source, target, workspace, check)
            continue
        size = _size(workspace, source) if kind == "file" else 0
        total += size
        if there:
            if moving or there != "file" or not _same(workspace, source, target):
                exists(target)
            found.append(Carried(source, target, "file", size, done=True))
            continue
        found.append(Carried(source, target, "folder" if kind == "folder" else "file", size))
    if len(found) > MOST:
        _refuse("TOO_MANY_FILES", f"more than {MOST:,} files and folders", "paths", "carry less at once")
    if not moving and total + sum(one.size for one in found) > MOST_BYTES:
        _refuse("TOO_LARGE", f"more than {MOST_BYTES:,} bytes", "paths", "copy less at once")
    return found


def _within(source: str, target: str, workspace: Workspace, check: Check) -> Iterator[Carried]:
    """A folder that is copied: itself, and all below it."""
    yield Carried(source, target, "folder", done=kind_of(workspace, target) == "folder")
    for count, entry in enumerate(workspace.walk(source, check=check)):
        if count > MOST:
            _refuse("TOO_MANY_FILES", f"more than {MOST:,} files and folders", source, "copy less at once")
        place = f"{target}{entry.path[len(source) :]}"
        there = kind_of(workspace, place)
        if entry.kind == "folder":
            yield Carried(entry.path, place, "folder", done=there == "folder")
        elif entry.kind != "file":
            message = f"{entry.path!r} is a link or no plain file"
            _refuse("ODD_FILE", message, source, "copy what lies around it")
        elif there and not _same(workspace, entry.path, place):
            exists(place)
        else:
            yield Carried(entry.path, place, "file", entry.size, done=bool(there))


def _below(path: str, folder: str) -> bool:
    return bool(folder) and (path == folder or path.startswith(f"{folder}/"))


def _size(workspace: Workspace, path: str) -> int:
    status = workspace.check(path)
    return status.st_size if status is not None else 0


def _same(workspace: Workspace, one: str, other: str) -> bool:
    if _size(workspace, one) != _size(workspace, other):
        return False
    return workspace.digest(one) == workspace.digest(other)


def exists(path: str) -> NoReturn:
    """Raise EXISTS."""
    fix = "choose another name, or take away what is there first"
    raise ScopeError("EXISTS", f"{path!r} is there already, and is something else", place=path, fix=fix)


def _refuse(code: str, message: str, place: str, fix: str) -> NoReturn:
    raise ToolError(code, message, place=place, fix=fix)


def touched(carries: Sequence[Carried], *, moving: bool) -> list[tuple[str, Mode]]:
    """The paths that change when this is done, each with how."""
    found: list[tuple[str, Mode]] = []
    for one in (carry for carry in carries if not carry.done):
        found += [(one.source, "move")] if moving else []
        found.append((one.target, "write"))
    return found


# ---- Doing it.


def carry_all(carries: Sequence[Carried], bench: Bench, check: Check, *, moving: bool) -> dict[str, object]:
    """Do all of it, one after the other; what was done when it is stopped stays done. Gives the answer."""
    act, left = (move if moving else copy), [one for one in carries if not one.done]
    for number, one in enumerate(left, 1):
        check()
        act(one, bench.workspace, check)
        bench.progress(number, len(left))
    files = [one for one in left if one.kind == "file"]
    told = [f"{one.source} -> {one.target}" for one in left if moving or one.kind == "file"]
    told += [f"{one.target} was there already" for one in carries if one.done and one.kind == "file"]
    shown = left[:MOST_TOLD]
    return {
        "files": [
            {"from": visible(one.source), "to": visible(one.target), "type": one.kind} for one in shown
        ],
        "count": len(files) if not moving else len(left),
        "size": sum(one.size for one in left),
        "already": len(carries) - len(left),
        "truncated": len(shown) < len(left),
        "text": told_lines(told, "nothing to do"),
    }


def copy(one: Carried, workspace: Workspace, check: Check) -> None:
    """Copy one file, whole or not at all, or make one folder. Raises ScopeError."""
    if one.kind == "folder":
        workspace.make_folder(one.target)
        return
    above, _, name = one.target.rpartition("/")
    if above:
        workspace.make_folder(above)
    with (
        workspace.open_file(one.source) as source,
        workspace.open_folder(above or ".") as folder,
        alone(folder, one.target, check),
    ):
        tidy(folder, name)
        try:
            modified = os.fstat(source).st_mtime_ns
            put_new(folder, name, pieces(source, check), one.target, modified=modified)
        except OSError as problem:
            explain(problem, one.target)


def pieces(descriptor: int, check: Check) -> Iterator[bytes]:
    """All that follows where a descriptor stands."""
    while piece := os.read(descriptor, _PIECE):
        check()
        yield piece


def move(one: Carried, workspace: Workspace, check: Check) -> None:
    """Give one file or folder its new place at once; what is there is never replaced. Raises ScopeError."""
    above, _, name = one.target.rpartition("/")
    if above:
        workspace.make_folder(above)
    under, _, old = one.source.rpartition("/")
    with ExitStack() as opened:
        into = opened.enter_context(workspace.open_folder(above or "."))
        out = into if above == under else opened.enter_context(workspace.open_folder(under or "."))
        places = {out: one.source, into: one.target}  # one where it stays in its folder
        for folder, path in sorted(places.items(), key=lambda item: item[1]):
            opened.enter_context(alone(folder, path, check))
        try:
            if status_of(name, into) is not None:
                exists(one.target)
            workspace.check(one.source)
            _rename(old, name, out, into)
            os.fsync(into)
            os.fsync(out)
        except FileExistsError:
            exists(one.target)
        except OSError as problem:
            if problem.errno == errno.EXDEV:
                message = f"{one.target!r} lies on another disk than {one.source!r}"
                raise ToolError(
                    "OTHER_DISK", message, place=one.target, fix="copy it, then take the first away"
                ) from problem
            explain(problem, one.source)


_NO_REPLACE: Final = 1  # RENAME_NOREPLACE of renameat2(2)


@cache
def _renameat2() -> Any:
    """The call of Linux that never replaces what is there; None where there is none."""
    with suppress(OSError, AttributeError):
        call = ctypes.CDLL(None, use_errno=True).renameat2
        call.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint]
        return call
    return None


def _rename(old: str, name: str, out: int, into: int) -> None:
    call = _renameat2()
    if call is not None:
        if call(out, os.fsencode(old), into, os.fsencode(name), _NO_REPLACE) == 0:
            return
        number = ctypes.get_errno()
        if number not in (errno.EINVAL, errno.ENOSYS):  # what a file system says that cannot do it
            raise OSError(number, os.strerror(number), name)
    # Nothing was there a moment ago, and none of our own writers comes between.
    os.rename(old, name, src_dir_fd=out, dst_dir_fd=into)
