"""Linked work trees of git (`git worktree add`), as far as they tell which signed work a folder stands under.

Nothing is trusted here and nothing opened to anybody: what is found can only make a folder stand under rules.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_LONGEST: Final = 8192  # bytes of a file that names a folder
_MOST: Final = 1000  # work trees of a repository
_POINTER: Final = "gitdir: "


def trees_above(place: Path) -> Iterator[tuple[Path, Path]]:
    """Each linked work tree that a place (a real path) lies in, the nearest first, and the main one of its
    repository. Repositories within one are passed over: whoever may write there could make one."""
    for tree in (place, *place.parents):
        if not (said := _line(tree / ".git")).startswith(_POINTER):
            continue
        own = Path(os.path.realpath(tree / said.removeprefix(_POINTER)))
        if own.parent.name == "worktrees" and own.parent.parent.name == ".git":
            yield tree, own.parent.parent.parent


def trees_of(folder: Path) -> Iterator[Path]:
    """What answers to a folder in each linked work tree of a repository that it lies in."""
    for main in (folder, *folder.parents):
        try:
            names = sorted(os.listdir(main / ".git/worktrees"))[:_MOST]  # noqa: PTH208 - of names alone
        except OSError:  # none, or no repository of its own
            continue
        for name in names:
            own = main / ".git/worktrees" / name
            if said := _line(own / "gitdir"):
                yield Path(os.path.realpath(own / said)).parent / folder.relative_to(main)


def _line(file: Path) -> str:
    """What a plain file says, without the end of its line; "" where it is none."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return ""
        said = os.fsdecode(os.read(descriptor, _LONGEST))
    except OSError:
        return ""
    finally:
        os.close(descriptor)
    return "" if "\0" in said else said.removesuffix("\n").removesuffix("\r")
