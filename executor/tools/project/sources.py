"""Which files are source: what git knows or would take; without git, all but vendored and built files."""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial

from anyio import from_thread, to_thread

from executor.core.errors import ScopeError, ToolError
from executor.core.globs import anywhere, fits_name
from executor.core.tables import table_beside
from executor.sandbox.git import repository, text
from executor.sandbox.paths import Workspace
from executor.tools.tool import Bench

_MAX_NAMES = 32 << 20  # bytes of names taken from git


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Names of folders and files that are nobody's own source, as patterns (folders.toml)."""

    vendored: tuple[str, ...]
    built: tuple[str, ...]
    files: tuple[str, ...]

    @classmethod
    def load(cls) -> LeftOut:
        table = table_beside(__file__, "folders")
        return cls(tuple(table["vendored"]), tuple(table["built"]), tuple(table["files"]))


Missed = Callable[[str, str], None]
"""Told a path that is left out, and why in a word; that of a folder ends with a slash."""


def _nobody(path: str, why: str) -> None:
    """Nobody asks what is left out."""


async def sources(
    path: str, globs: tuple[tuple[str, ...], ...], bench: Bench, *, missed: Missed = _nobody
) -> list[str]:
    """Paths of source files, sorted; the file itself where ``path`` names one.

    Args:
        path: file or folder, relative to the workspace.
        globs: groups of patterns; a file fits one of each group. Compared with the path below the folder.
        missed: told what is left out for what it is: not what git ignores, and not for the patterns.

    Raises:
        ScopeError: as ``Workspace.walk``.
    """
    status = bench.workspace.check(path)
    prefix = "/".join(bench.workspace.split(path))
    if status is not None and not stat.S_ISDIR(status.st_mode):
        return [prefix]
    left_out = LeftOut.load()
    found = await _known_to_git(prefix, left_out, bench, missed) if status is not None else None
    if found is None:
        found = await to_thread.run_sync(_walked, prefix or ".", left_out, bench, missed)
    cut = len(prefix) + 1 if prefix else 0
    groups = [list(map(anywhere, group)) for group in globs]
    kept: list[str] = []
    for one in found:
        names = tuple(one[cut:].split("/"))
        if fits_name(left_out.files, one.rpartition("/")[2]):
            missed(one, "generated")
        elif all(any(glob.fits(names) for glob in group) for group in groups):
            kept.append(one)
    return sorted(kept)


def _walked(path: str, left_out: LeftOut, bench: Bench, missed: Missed) -> list[str]:
    skip: Callable[[str], bool] = partial(fits_name, left_out.vendored + left_out.built)

    def tell(place: str, why: str) -> None:
        name = place.rstrip("/").rpartition("/")[2]
        if name != ".git":  # git's own, and no source
            missed(place, "built" if why == "vendored" and not fits_name(left_out.vendored, name) else why)

    found: list[str] = []
    for entry in bench.workspace.walk(path, check=from_thread.check_cancelled, skip=skip, missed=tell):
        if entry.kind == "file":
            found.append(entry.path)
        elif entry.kind != "folder":
            missed(entry.path, "link" if entry.kind == "link" else "no file")
    return found


async def _known_to_git(prefix: str, left_out: LeftOut, bench: Bench, missed: Missed) -> list[str] | None:
    """What git knows or would take below a folder of the workspace; None where no git can be asked."""
    if (home := await to_thread.run_sync(_repository_of, prefix, bench)) is None:
        return None
    below = prefix[len(home) :].lstrip("/")
    try:
        async with repository(bench.workspace, home or ".") as git:
            answer = await git.answer(
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
                "--",
                below or ".",
                max_output=_MAX_NAMES,
            )
    except ToolError:  # no git, or a repository that may not be trusted: the files are there all the same
        return None
    if answer.truncated or not answer.out:  # an ignored folder that is named is meant all the same
        return None
    names = dict.fromkeys(text(answer.out).split("\0"))  # a file in conflict is told once a version
    cut = len(below) + 1 if below else 0
    closed = closed_folders(bench.workspace)  # git does not know of them, and lists our own home
    found: list[str] = []
    others: dict[str, str] = {}
    for name in filter(None, names):
        place = f"{home}/{name}" if home else name
        if f"{place}/".startswith(closed):
            continue
        if name[-1] == "/":
            others[place] = "submodule"  # or another repository, that git knows nothing of
        elif (depth := _vendored(name[cut:], left_out)) is not None:
            others["/".join(place.split("/")[: place.count("/") + 1 - depth]) + "/"] = "vendored"
        else:
            found.append(place)
    for place, why in others.items():
        missed(place, why)
    return found


def closed_folders(workspace: Workspace) -> tuple[str, ...]:
    """The folders of the workspace that are closed to tools, each with a slash at its end."""
    inside = (place for place in workspace.forbidden if place.is_relative_to(workspace.root))
    return tuple(f"{place.relative_to(workspace.root).as_posix()}/" for place in inside)


def is_vendored(path: str, left_out: LeftOut) -> bool:
    """Does a file lie in a folder of what was written elsewhere?"""
    return _vendored(path, left_out) is not None


def _vendored(path: str, left_out: LeftOut) -> int | None:
    """How deep a file lies in the uppermost folder of what was written elsewhere, from 1; None where it
    lies in none."""
    folders = path.split("/")[:-1]
    return next(
        (len(folders) - at for at, one in enumerate(folders) if fits_name(left_out.vendored, one)), None
    )


def _repository_of(prefix: str, bench: Bench) -> str | None:
    """The nearest folder at or above a path, in the workspace, that holds .git."""
    parts = tuple(prefix.split("/")) if prefix else ()
    for count in range(len(parts), -1, -1):
        place = "/".join(parts[:count])
        try:
            with bench.workspace.open_folder(place or ".") as folder:
                status = os.stat(".git", dir_fd=folder, follow_symlinks=False)
        except (ScopeError, OSError):
            continue
        if stat.S_ISDIR(status.st_mode) or stat.S_ISREG(status.st_mode):  # a file: of a linked work tree
            return place
    return None


# ---- Which files a language is written in: languages.toml.


def globs_of(language: str) -> tuple[str, ...]:
    """The patterns of file names of a language, by any of its names in any case.

    Raises:
        ToolError: UNKNOWN_LANGUAGE, with the names that are near.
    """
    table = dict(table_beside(__file__, "languages"))
    also: dict[str, str] = table.pop("also")
    name = language.strip().lower()
    if (globs := table.get(also.get(name, name))) is None:
        from difflib import get_close_matches  # a cost at every start, for a rare mistake

        near = get_close_matches(name, [*table, *also], n=3)
        raise ToolError(
            "UNKNOWN_LANGUAGE",
            f"{language!r} is no language known here",
            place="language",
            fix=f"did you mean {' or '.join(near)}?" if near else "give glob instead, such as '*.py'",
        )
    return tuple(globs)


def languages_of(paths: Iterable[str]) -> dict[str, int]:
    """How many of these files are written in each language, most first; files of no language are left out."""
    found = Counter(filter(None, map(language_of, paths)))
    return dict(sorted(found.items(), key=lambda one: (-one[1], one[0])))


def language_of(path: str) -> str:
    """The language that a file is written in, by its name; "" for none. Of several that share an ending the
    first in the table counts."""
    known = _endings()
    name = path.rpartition("/")[2]
    dot = name.rfind(".")
    return known.get(name) or (known.get(name[dot:].lower(), "") if dot >= 0 else "")


@cache
def _endings() -> dict[str, str]:
    """The language of a pattern that is a name, or of the ending of one."""
    known: dict[str, str] = {}
    for language, globs in table_beside(__file__, "languages").items():
        for glob in globs if language != "also" else ():
            known.setdefault(glob.removeprefix("*"), language)
    return known
