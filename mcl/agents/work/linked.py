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


def tree_of(place: Path) -> tuple[Path, Path] | None:
    """The linked work tree that a place (a real path) lies in, and the main one of its repository; None where
    it lies in none."""
    tree = _with_git(place)
    if tree is None or not (said := _line(tree / ".git")).startswith(_POINTER):
        return None
    own = Path(os.path.realpath(tree / said.removeprefix(_POINTER)))
    if own.parent.name != "worktrees" or own.parent.parent.name != ".git":
        return None
    return tree, own.parent.parent.parent


def trees_of(folder: Path) -> Iterator[Path]:
    """What answers to a folder in each linked work tree of the repository that it lies in."""
    main = _with_git(folder)
    if main is None:
        return
    try:
        names = sorted(os.listdir(main / ".git/worktrees"))[:_MOST]  # noqa: PTH208 - of names alone
    except OSError:  # none, or no repository of its own
        return
    for name in names:
        own = main / ".git/worktrees" / name
        if said := _line(own / "gitdir"):
            yield Path(os.path.realpath(own / said)).parent / folder.relative_to(main)


def _with_git(place: Path) -> Path | None:
    return next((one for one in (place, *place.parents) if os.path.lexists(one / ".git")), None)


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
