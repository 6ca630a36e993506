"""What a search looks through and shows: files below a path, lines in which it found something."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator

from executor.core.globs import anywhere
from executor.sandbox.paths import Entry
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench


def files_of(path: str, glob: str, bench: Bench, check: Callable[[], None]) -> Iterator[Entry]:
    """Regular files in the order of a walk; the file itself where the path names one.

    Args:
        path: file or folder, relative to the workspace.
        glob: compared with the path below the folder, as by ``anywhere``; "" fits everything.
        check: called for each folder; may stop the walk by raising.

    Raises:
        ScopeError: as ``Workspace.walk``. GlobError: as ``anywhere``.
    """
    status = bench.workspace.check(path)
    prefix = "/".join(bench.workspace.split(path))
    if status is not None and stat.S_ISREG(status.st_mode):
        yield Entry(prefix, "file", status.st_size, status.st_mtime_ns, status.st_ino)
        return
    pattern, cut = anywhere(glob), len(prefix) + 1 if prefix else 0
    for entry in bench.workspace.walk(path, check=check):
        if entry.kind == "file" and pattern.fits(tuple(entry.path[cut:].split("/"))):
            yield entry


# ---- Lines that a search found: where words end, and what is shown of a long one.


def in_word(text: str, cut: int) -> bool:
    """Does a word go on across this place?"""
    if not 0 < cut < len(text):
        return False
    return all(char == "_" or char.isalnum() for char in text[cut - 1 : cut + 1])


def shown(line: str, place: int, most: int) -> str:
    """At most ``most`` characters of a line, around a place in it; its line end is left out, and what a
    terminal would obey is escaped."""
    line = line.rstrip("\r")
    if len(line) <= most:
        return visible(line)
    start = max(0, min(place - most // 4, len(line) - most))
    end = start + most
    return ("…" if start else "") + visible(line[start:end]) + ("…" if end < len(line) else "")
