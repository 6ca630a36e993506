"""Files that are a host's own: the plans and notes that it has its agent write in the user's folder."""

from __future__ import annotations

import os
import pwd
import stat
from collections.abc import Sequence
from fnmatch import fnmatchcase

from mcl.plugins.agents.guard.places import is_below, lexical


def is_own(path: str, cwd: str, patterns: Sequence[str]) -> bool:
    """Whether a path is one that a host's table names, below the home folder of the user who runs this, with
    no link on its way and no second name.

    patterns: relative to that folder; `*` stands for what is in one name.
    """
    place = lexical(path, cwd)
    try:
        named = pwd.getpwuid(os.geteuid()).pw_dir  # not $HOME, which whoever starts this sets
        home = os.path.realpath(named)
        if place is None or home == "/":
            return False
        if not is_below(place, home) and is_below(place, os.path.normpath(named)):
            place = home + place[len(os.path.normpath(named)) :]
        if not is_below(place, home) or os.path.realpath(place) != place:
            return False
        names = place[len(home) + 1 :].split("/")
        return any(_fits(names, one.split("/")) for one in patterns) and _is_plain(place)
    except (KeyError, OSError, ValueError):
        return False


def _fits(names: Sequence[str], pattern: Sequence[str]) -> bool:
    return len(names) == len(pattern) and all(map(fnmatchcase, names, pattern))


def _is_plain(place: str) -> bool:
    """Whether nothing is there yet, or a file without a second name."""
    try:
        status = os.lstat(place)
    except FileNotFoundError:
        return True
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1
