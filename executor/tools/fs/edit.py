"""Replaces a piece of a text file, and nothing but that."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

from anyio import from_thread, to_thread

from executor.core.errors import ScopeError, ToolError
from executor.core.tables import table_beside
from executor.sandbox.files import readings
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench

# ---- What may be edited: not what other programs write, and nothing that is no text by its name.


@dataclass(frozen=True, slots=True)
class _Closed:
    folders: frozenset[str]
    files: frozenset[str]
    binary: frozenset[str]


@cache
def _closed() -> _Closed:
    table = table_beside(__file__, "editable")
    return _Closed(*(frozenset(table[name]) for name in ("folders", "files", "binary")))


def require_editable(parts: tuple[str, ...], path: str) -> None:
    """Refuse files that are not edited, by their names.

    Args:
        parts: the components of the path, as ``Workspace.split`` gives them.

    Raises:
        ScopeError: PROTECTED_PATH (written by a package manager), NOT_TEXT (no text by its ending).
    """
    closed = _closed()
    if any(name in closed.folders for part in parts for name in readings(part)):
        raise _refused(path, "lies in a folder that a package manager makes")
    for name in readings(parts[-1]) if parts else ():
        if name in closed.files:
            raise _refused(path, "is written by a package manager")
        stem, dot, ending = name.rpartition(".")
        if stem and dot and ending in closed.binary:
            raise ScopeError(
                "NOT_TEXT", f"{path!r} is no text file by its name", place=path, fix="name a text file"
            )


def _refused(path: str, why: str) -> ScopeError:
    fix = "change what it is made from, and have it made anew"
    return ScopeError("PROTECTED_PATH", f"{path!r} {why}", place=path, fix=fix)


_MAX_FILE = 16 << 20  # bytes
_TOLD = 10  # places that a message names
_BOM = b"\xef\xbb\xbf"


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Put ``new`` where ``old`` is: in one place, or with ``all`` in every one."""
    return await to_thread.run_sync(_edit, args, bench)


def _edit(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    path, base = str(args["path"]), args.get("base")
    old, new, everywhere = str(args["old"]), str(args["new"]), bool(args.get("all"))
    done: list[tuple[int, int]] = []  # places, first line

    def change(there: bytes | None) -> bytes:
        if there is None:
            raise _missing(path)
        if base is not None and hashlib.sha256(there).hexdigest() != base:
            raise ToolError(
                "STALE_FILE", f"{path!r} changed since it was read", place=path, fix="read it again"
            )
        changed, count, line = _replaced(there, old, new, path, everywhere=everywhere)
        done.append((count, line))
        return changed

    require_editable(bench.workspace.split(path), path)
    if bench.workspace.check(path) is None:  # before folders on the way to it are made
        raise _missing(path)
    written = bench.workspace.update(path, change, limit=_MAX_FILE, check=from_thread.check_cancelled)
    count, line = done[-1]
    what = f"line {line:,}" if count == 1 else f"{count:,} places, the first in line {line:,}"
    return {
        "path": written.path,
        "size": written.size,
        "sha256": written.sha256,
        "count": count,
        "line": line,
        "text": f"changed {written.path} ({what})",
    }


def _replaced(there: bytes, old: str, new: str, path: str, *, everywhere: bool) -> tuple[bytes, int, int]:
    """The content with the replacement, how many places there were, and the line of the first."""
    _require_text(there, old + new, path)
    wanted, wished = _as_in(there, old), _as_in(there, new)
    if wanted == wished:
        raise ToolError(
            "NO_CHANGE", "old and new are the same", place=path, fix="say in new what is to be there"
        )
    places = _places(there, wanted)
    if not places:
        raise ToolError(
            "NO_MATCH",
            f"the text is not in {path!r}{nearest(there, old)}",
            place=path,
            fix="take old from the file to the character, white space too: fs/read shows it",
        )
    lines = [there.count(b"\n", 0, place) + 1 for place in places]
    if len(places) > 1 and not everywhere:
        more = " and more" if len(places) == _TOLD else ""
        raise ToolError(
            "AMBIGUOUS_MATCH",
            f"the text is more than once in {path!r}: lines {', '.join(map(str, lines))}{more}",
            place=path,
            fix="take in lines around the right place, or give all = true",
            data={"lines": lines},
        )
    count = there.count(wanted) if everywhere else 1
    if len(there) + count * (len(wished) - len(wanted)) > _MAX_FILE:
        raise ToolError(
            "TOO_LARGE",
            f"{path!r} would become larger than {_MAX_FILE:,} bytes",
            place=path,
            fix="replace less",
        )
    return there.replace(wanted, wished), count, lines[0]


def _places(there: bytes, wanted: bytes) -> list[int]:
    """Where it begins, the first few; also where two overlap: then neither is the only one."""
    found: list[int] = []
    place = there.find(wanted) if wanted else -1
    while place >= 0 and len(found) < _TOLD:
        found.append(place)
        place = there.find(wanted, place + 1)
    return found


def _as_in(there: bytes, text: str) -> bytes:
    """The text as bytes of this file: its line ends where all of them are CRLF, its mark kept out of it."""
    if there.startswith(_BOM):
        text = text.removeprefix("\ufeff")
    data = text.encode()
    ends = there.count(b"\n")
    if ends and there.count(b"\r\n") == ends:
        data = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return data


def _require_text(there: bytes, said: str, path: str) -> None:
    """Refuse what is no text, and letters that the file would spell in other bytes.

    Raises:
        ToolError: NOT_TEXT.
    """
    if b"\0" in there:
        raise ToolError("NOT_TEXT", f"{path!r} is a binary file", place=path, fix="name a text file")
    try:
        if not said.isascii():
            there.decode()
    except UnicodeDecodeError as problem:
        raise ToolError(
            "NOT_TEXT",
            f"{path!r} is no UTF-8 text, so only plain ASCII can be changed in it",
            place=path,
            fix="use ASCII in old and new, or convert the file first",
        ) from problem


def _missing(path: str) -> ToolError:
    return ToolError("NOT_FOUND", f"{path!r} does not exist", place=path, fix="fs/write makes a new file")


# ---- What a text that was not found comes closest to: for people and models that try again.

_LINES = 20_000  # of a file that are compared
_LONGEST = 400  # characters of a line that are compared
_SHOWN = 160  # characters of a line that are shown
_COMPARED = 500  # lines that are compared letter by letter; more take seconds
_LIKE = 0.6  # from here on two lines are alike
_MOST = 3  # lines that are told


def nearest(there: bytes, old: str) -> str:
    """A piece of a message: where the text is but for white space, else the lines most like its first one.

    Empty where nothing is like it.
    """
    lines = there.decode("utf-8", "replace").split("\n")[:_LINES]
    wanted = [" ".join(line.split()) for line in old.split("\n")]
    while len(wanted) > 1 and not wanted[0]:
        wanted.pop(0)
    while len(wanted) > 1 and not wanted[-1]:
        wanted.pop()
    if not wanted[0]:
        return ""
    plain = [" ".join(line.split()) for line in lines]
    for number in range(len(plain) - len(wanted) + 1):
        if plain[number : number + len(wanted)] == wanted:
            return f"; line {number + 1} has it with other white space: {_shown(lines[number])}"
    alike = _alike(plain, wanted[0])
    if not alike:
        return ""
    told = "; ".join(f"line {number}: {_shown(lines[number - 1])}" for number in alike)
    return f"; most like its first line: {told}"


def _alike(plain: list[str], first: str) -> list[int]:
    """The numbers (from 1) of the lines most like this one, the likest first."""
    matcher = SequenceMatcher(None, "", first[:_LONGEST], autojunk=False)
    found: list[tuple[float, int]] = []
    seen: dict[str, float] = {}
    left = _COMPARED
    for number, line in enumerate(plain, start=1):
        cut = line[:_LONGEST]
        if cut not in seen:
            matcher.set_seq1(cut)
            # The cheap bounds first: most lines of a file are nothing like it.
            close = left > 0 and matcher.real_quick_ratio() >= _LIKE and matcher.quick_ratio() >= _LIKE
            left -= close
            seen[cut] = matcher.ratio() if close else 0.0
        if seen[cut] >= _LIKE:
            found.append((-seen[cut], number))
    return [number for _, number in sorted(found)[:_MOST]]


def _shown(line: str) -> str:
    text = visible(line.rstrip("\r"))
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")
