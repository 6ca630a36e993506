"""Where a path of an event leads: into the governed folder, to something protected, or elsewhere."""

from __future__ import annotations

import os
import pwd
import re
import stat
import unicodedata
from collections.abc import Sequence
from enum import Enum
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from executor.sandbox.protected import is_protected

_AROUND: Final = re.compile(r"\A[\s\ufeff]+|[\s\ufeff]+\Z")  # what a host cuts off a path, at most
_LINKS: Final = 40  # that one path goes through, as Linux has it


class Reach(Enum):
    """What a path names, by its text and by where its links lead."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    PROTECTED = "protected"


def reach_of(path: str, cwd: str, root: Path, closed: Path | None = None) -> tuple[Reach, str]:
    """What a path that somebody is to read leads to, and the real place. Nothing is opened.

    closed: a folder that is protected as a whole, such as the home.
    """
    whole = os.path.join(cwd, path)  # noqa: PTH118
    try:
        real = os.path.realpath(whole)
    except (OSError, ValueError):
        return Reach.OUTSIDE, whole
    named = tuple(part for part in path.split("/") if part not in ("", ".", ".."))
    base = os.path.realpath(root)
    inside = is_below(real, base)
    names = tuple(real[len(base) :].strip("/").split("/")) if inside else ()
    if is_protected(named) or is_protected(names) or (closed and is_below(real, os.path.realpath(closed))):
        return Reach.PROTECTED, real
    return (Reach.INSIDE if inside else Reach.OUTSIDE), real


def read_otherwise(path: str) -> str | None:
    """A path as some hosts read it: without blanks around it, a home folder for `~`, in composed characters.
    None where that is the very same, so that it means one file to whoever reads it."""
    plain = unicodedata.normalize("NFC", _AROUND.sub("", path))
    if not plain.startswith("~"):
        return plain if plain != path else None
    name, _, rest = plain[1:].partition("/")
    try:
        home = (pwd.getpwnam(name) if name else pwd.getpwuid(os.geteuid())).pw_dir
    except (KeyError, ValueError):
        return plain
    return f"{home}/{rest}"


def by_process(path: str, cwd: str) -> bool:
    """Whether the way to a path leads through `/proc`, where each process meets something else."""
    left, at, links = os.path.join(cwd, path).split("/"), "/", 0  # noqa: PTH118
    while left:
        name = left.pop(0)
        if name in ("", ".", ".."):
            at = os.path.dirname(at) if name == ".." else at  # noqa: PTH120
            continue
        at = os.path.join(at, name)  # noqa: PTH118
        if at == "/proc":
            return True
        try:
            target = os.readlink(at)  # noqa: PTH115
        except (OSError, ValueError):
            continue
        links += 1
        if links > _LINKS:
            return False  # it leads nowhere
        left, at = target.split("/") + left, "/" if target.startswith("/") else os.path.dirname(at)  # noqa: PTH120
    return False


def is_below(real: str, folder: str) -> bool:
    """Whether a real path is a folder, or lies in it."""
    return real == folder or real.startswith(folder.rstrip("/") + "/")


def lexical(path: str, cwd: str) -> str | None:
    """A path in full, without `.` and `..`; None where links on its way make that another place, or it
    cannot be a path."""
    whole = os.path.join(cwd, path)  # noqa: PTH118
    plain = os.path.normpath(whole)
    if plain.startswith("//"):  # POSIX leaves two slashes to the system
        plain = plain[1:]
    if ".." not in whole.split("/"):
        return plain
    try:
        same = os.path.realpath(whole) == os.path.realpath(plain)
    except (OSError, ValueError):
        return None
    return plain if same else None


def below(place: str, root: Path) -> str | None:
    """A path relative to the root, as its text goes on from where it first enters the root, be it by a link
    from elsewhere; None where it does not. What follows may hold links.
    """
    base = os.path.realpath(root)
    entered, names = "/", place.strip("/").split("/")
    for count in range(len(names)):
        if is_below(real := os.path.realpath(entered), base):
            return "/".join([*filter(None, real[len(base) :].split("/")), *names[count:]])
        entered = os.path.join(entered, names[count])  # noqa: PTH118
    return None


# ---- Files that are a host's own: the plans and notes that it has its agent write in the user's folder.


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
