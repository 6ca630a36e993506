"""Where a path of an event leads: into the governed folder, to something protected, or elsewhere."""

from __future__ import annotations

import os
import pwd
import re
import shlex
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from enum import Enum
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from pkgutil import iter_modules
from typing import Final

from executor.core.globs import Scope
from executor.sandbox.files import is_protected

_AROUND: Final = re.compile(r"\A[\s\ufeff]+|[\s\ufeff]+\Z")  # what a host cuts off a path, at most
_LINKS: Final = 40  # that one path goes through, as Linux has it


class PathReach(Enum):
    """What a path names, by its text and by where its links lead."""

    INSIDE = "inside"
    OUTSIDE = "outside"
    PROTECTED = "protected"


def reach_of(path: str, cwd: str, root: Path, closed: Path | None = None) -> tuple[PathReach, str]:
    """What a path that somebody is to read leads to, and the real place. Nothing is opened.

    closed: a folder that is protected as a whole, such as the home.
    """
    whole = os.path.join(cwd, path)  # noqa: PTH118
    try:
        real = os.path.realpath(whole)
    except (OSError, ValueError):
        return PathReach.OUTSIDE, whole
    named = tuple(part for part in path.split("/") if part not in ("", ".", ".."))
    base = os.path.realpath(root)
    inside = is_below(real, base)
    names = tuple(real[len(base) :].strip("/").split("/")) if inside else ()
    if is_protected(named) or is_protected(names) or (closed and is_below(real, os.path.realpath(closed))):
        return PathReach.PROTECTED, real
    return (PathReach.INSIDE if inside else PathReach.OUTSIDE), real


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
        return Scope.of(patterns).matches(place[len(home) + 1 :]) and _is_plain(place)
    except (KeyError, OSError, ValueError):
        return False


def _is_plain(place: str) -> bool:
    """Whether nothing is there yet, or a file without a second name."""
    try:
        status = os.lstat(place)
    except FileNotFoundError:
        return True
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


# ---- Which folders a shell line may reach from outside of them, and whether it names mcl.
# Whatever looks like a path is resolved, from each folder that the line may be in by then: rather one too
# many than one too few. What a shell works out first (variables, substitutions) is only seen as far as it is
# written out. The commands of mcl have doors of their own (`mcl.usecases.authority`).

_LONG: Final = 1 << 16  # characters; of a longer line only the pieces are looked at
_MOST: Final = 20_000  # words of a line
_BASES: Final = 32  # folders that a line may go to
_ROOT: Final = "/."  # of a piece that may as well be a division: a folder to go to, and no more
_BETWEEN: Final = re.compile(r"[\s;&|<>(){}`,:=@\[\]\"'\\$#!?*^%+]+")
_GLOB: Final = re.compile(r"[*?\[{]")
_BRACES: Final = re.compile(r"\{[^{}]*\}")
_HOME: Final = re.compile(r"\A~(?=/|\Z)|\$(?:HOME|\{HOME\})(?=\W|\Z)")
_HERE: Final = re.compile(r"\$(?:PWD|\{PWD\})(?=\W|\Z)|\$\(pwd\)|`pwd`")
_BY_PROCESS: Final = re.compile(r"\A/+proc/+[^/]+/+(?:task/+[^/]+/+)?(cwd|root)(?=/|\Z)")


def reached(line: str, cwd: str, roots: Sequence[Path]) -> tuple[Path, ...]:
    """The folders of which something that a line names lies in them, or around them.

    cwd: absolute. roots: real paths. A line with more words than can be looked at reaches them all.
    """
    words = list(dict.fromkeys(_words(line, cwd)))
    if len(words) > _MOST:
        return tuple(roots)
    found: set[Path] = set()
    bases, seen = [os.path.realpath(cwd)], {os.path.realpath(cwd)}
    if re.search(r"\b(?:cd|pushd|popd|chdir)\b", line):
        bases.append(os.path.realpath(Path.home()))
    for base in bases:  # grows while it is gone through
        for word in words:
            for place in _places(word, base):
                if word != _ROOT:
                    found.update(root for root in roots if _meets(place, root))
                if len(bases) < _BASES and place not in seen and os.path.isdir(place):  # noqa: PTH112
                    seen.add(place)
                    bases.append(place)
        if len(found) == len(roots):
            break
    return tuple(root for root in roots if root in found)


def names_mcl(line: str, cwd: str) -> bool:
    """Whether a line names the command, or its modules, in whatever quotes; a file or folder that is only
    called so is not the command."""
    plain = re.sub(r"['\"\\]", "", line)
    return any(
        _is_ours(word.rstrip("/").rpartition("/")[2]) and not _is_other_file(word, cwd)
        for word in {*_BETWEEN.split(plain), *re.split(r"\s+", plain)}
    )


def _is_ours(name: str) -> bool:
    first, _, more = name.partition(".")
    return first == "mcl" and (not more or more.partition(".")[0] in _inside())


@cache
def _inside() -> frozenset[str]:
    """What is behind a point in a name of ours: `mcl.accept`, `mcl.cli`."""
    import mcl

    return frozenset({*dir(mcl), "__main__", *(one.name for one in iter_modules(mcl.__path__))})


def _is_other_file(word: str, cwd: str) -> bool:
    place = os.path.join(cwd, os.path.expanduser(word))  # noqa: PTH111, PTH118
    if "/" not in word and word == "mcl":  # a program of the PATH, whatever lies here
        return False
    return os.path.isdir(place) or (os.path.isfile(place) and not os.access(place, os.X_OK))  # noqa: PTH112, PTH113


def _words(line: str, cwd: str) -> Iterator[str]:
    """Whatever may be a path: the words as a shell makes them, and all pieces of what stands in quotes."""
    text = _HERE.sub(cwd.replace("\\", "\\\\"), line)
    whole: list[str] = []
    for one in (text, text.replace("\n", " ; ")) if len(text) < _LONG else ():
        try:
            lexer = shlex.shlex(one, posix=True, punctuation_chars=True)
            lexer.whitespace_split, lexer.commenters = True, ""
            whole += list(lexer)
        except ValueError:  # a quote that is not closed, as in a here-document
            whole += re.split(r"[\s;&|<>()]+", re.sub(r"['\"\\]", "", one))
    for word in whole:
        yield from _readings(word)
        for piece in _BETWEEN.split(re.sub(r"['\"\\]", "", word)):
            yield from _readings(_ROOT if piece == "/" != word else piece)
    for piece in _BETWEEN.split(re.sub(r"['\"\\]", "", text)):
        yield from _readings(_ROOT if piece == "/" else piece)


def _readings(word: str) -> Iterator[str]:
    """A word, and what it may name as a value: --prefix=PATH, NAME=PATH, -CPATH, @PATH, a:b."""
    if not word or len(word) > 4096:
        return
    yield word
    for between in "=:@,":
        yield from word.split(between)[1:] if between in word else ()
    if ":" in word:
        yield word.partition(":")[0]
    if word.startswith("-") and len(word) > 2:
        yield word[2:] if word[2:] != "/" else _ROOT
    if word.startswith("/") and not word.startswith("//") and word != _ROOT:
        yield f".{word}"  # what stands before it may be worked out: $(pwd)/x


def _places(word: str, base: str) -> Iterator[str]:
    """Where a word leads, as its text says and as links lead; with what may stand for several names."""
    text = _HOME.sub(lambda _: str(Path.home()), word)
    if "$" in text or "\0" in text:
        return
    if by := _BY_PROCESS.match(text):
        text = (base if by[1] == "cwd" else "/") + text[by.end() :]
    if text.startswith("~"):
        text = os.path.expanduser(text)  # noqa: PTH111
    while _BRACES.search(text):
        text = _BRACES.sub("*", text)
    whole = os.path.join(base, text)  # noqa: PTH118
    yield _plain(whole)
    if not _GLOB.search(text):
        first = text[: (text.find("/", 1) + 1 or len(text) + 1) - 1]
        try:  # what is not there leads nowhere; most words are no paths at all
            if os.path.lexists(os.path.join(base, first)):  # noqa: PTH118
                yield os.path.realpath(whole)
        except (OSError, ValueError):
            return
        return
    known = _GLOB.split(text)[0].rpartition("/")[0]
    start = known or ("/" if text.startswith("/") else ".")
    try:
        yield _plain(
            os.path.realpath(os.path.join(base, start))  # noqa: PTH118
            + "/"
            + text[len(known) :]
        )
    except (OSError, ValueError):
        return


def _plain(path: str) -> str:
    plain = os.path.normpath(path)
    return plain[1:] if plain.startswith("//") else plain


def _meets(place: str, root: Path) -> bool:
    """Whether a place lies in a folder, is it, or lies around it; names may hold * and the like, as a shell
    reads them: what is no pattern of ours, such as a bracket that is not closed, is a name there."""
    names, own = [name for name in place.split("/") if name], root.parts[1:]
    return all(
        part == name or name == "**" or (_GLOB.search(name) is not None and fnmatchcase(part, name))
        for name, part in zip(names, own, strict=False)
    )
