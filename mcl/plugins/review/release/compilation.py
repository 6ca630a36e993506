"""Python files compiled in memory by a process of its own: nothing is run, nothing is written beside them.

The compiler of Python can be brought to crash or to take for ever by a file that is made for it, so it is
given limits of memory and time, and what it was at when it ended is told.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from executor.core.errors import ScopeError
from executor.sandbox.environment import scratch
from executor.sandbox.process import run_command
from mcl.core.event_loop import at_once
from mcl.plugins.review.drift.project import ProjectFiles
from mcl.plugins.review.drift.rules import RepositoryFlaw
from mcl.plugins.review.drift.tree import Progress, RepositoryTree, quiet
from mcl.plugins.review.release.report import ReleaseRules

_CHILD: Final = Path(__file__).with_name("compiler.py")
_AT_ONCE: Final = 400  # files given to one process
_TOGETHER: Final = 32 << 20  # bytes given to one process
_MOST_ENDS: Final = 5  # files at which the process may end before it is given up
_ANSWER: Final = 4 << 20  # bytes of its answer


@dataclass(frozen=True, slots=True)
class UncompiledFile:
    """A file that does not compile, at a line counted from 1 (0: not known). tried: False where it was not
    given to the compiler."""

    path: str
    line: int
    why: str
    tried: bool = True


def python_files(tree: RepositoryTree) -> tuple[str, ...]:
    """The Python files of a tree."""
    return tuple(path for path in tree.files if path.endswith(".py"))


def compile_flaws(
    tree: RepositoryTree, rules: ReleaseRules, progress: Progress = quiet
) -> Iterator[RepositoryFlaw]:
    """Python files that do not compile with this Python; warnings where the project wants a newer one."""
    wants, here = ProjectFiles(tree).python_needed, sys.version_info[:2]
    newer = f" (the project wants Python 3.{wants}, this is 3.{here[1]})" if (3, wants) > here else ""
    for one in at_once(partial(failures, tree, python_files(tree), progress)):
        place = f"{one.path}:{one.line}" if one.line else one.path
        code = "DOES_NOT_COMPILE" if one.tried else "NOT_COMPILED"
        mild = bool(newer) or rules.places.is_mild(one.path)
        yield rules.flaws.flaw(code, place, f"{one.why}{newer}", mild=mild)


async def failures(
    tree: RepositoryTree, paths: Sequence[str], progress: Progress = quiet
) -> list[UncompiledFile]:
    """Those of these files that do not compile."""
    found: list[UncompiledFile] = []
    waiting, ends = list(paths), 0
    while waiting:
        progress(len(paths) - len(waiting), len(paths), waiting[0])
        taken, some, unread = _taken(tree, waiting)
        del waiting[:taken]
        found += unread
        names = list(some)
        told, stopped = await _compiled(list(some.values()))
        found += [UncompiledFile(names[number], line, why) for number, line, why in told]
        if stopped is not None:
            ends += 1
            found.append(
                UncompiledFile(names[stopped], 0, "the compiler ended or took too long at this file")
            )
            waiting[:0] = names[stopped + 1 :]
            if ends >= _MOST_ENDS:
                why = "too many other files ended the compiler"
                return [*found, *(UncompiledFile(name, 0, why, tried=False) for name in waiting)]
    return found


def _taken(
    tree: RepositoryTree, waiting: Sequence[str]
) -> tuple[int, dict[str, bytes], list[UncompiledFile]]:
    """How many of the files that wait go to one process, what they hold, and what could not be read."""
    sources: dict[str, bytes] = {}
    unread: list[UncompiledFile] = []
    room = _TOGETHER
    for number, path in enumerate(waiting[:_AT_ONCE], 1):
        data = tree.read(path)
        if data is None:
            unread.append(UncompiledFile(path, 0, _why(tree, path), tried=False))
            continue
        sources[path] = data
        room -= len(data)
        if room < 0:
            return number, sources, unread
    return min(len(waiting), _AT_ONCE), sources, unread


def _why(tree: RepositoryTree, path: str) -> str:
    """Why a file was not read."""
    try:
        tree.workspace.split(path)
    except ScopeError as problem:
        secret = problem.code == "PROTECTED_PATH"
        return "its name is that of a secret file" if secret else "its name is one that no path may hold"
    return "it is a link, or too large to be read"


async def _compiled(sources: Sequence[bytes]) -> tuple[list[tuple[int, int, str]], int | None]:
    """(number, line, why) of each that does not compile; and at which one the process ended, if it did."""
    if not sources:
        return [], None
    with scratch("compile-") as folder:
        place, at = Path(folder) / "sources", Path(folder) / "at"
        place.write_text("\n".join(one.hex() for one in sources), encoding="ascii")
        argv = [sys.executable, "-I", "-S", "-B", str(_CHILD), str(place)]
        finished = await run_command(argv, cwd=Path(folder), environment={}, max_output=_ANSWER, alone=True)
        began = at.read_text(encoding="ascii") if at.exists() else ""
    told = [json.loads(line) for line in finished.out.splitlines() if line.endswith(b"]")]
    if told[-1:] == [["end"]]:
        return [(number, line, why) for number, line, why in told[:-1]], None
    return [(number, line, why) for number, line, why in told], int(began or 0)
