"""The files below a path that fit a pattern."""

from __future__ import annotations

import stat
from collections.abc import Callable, Iterator

from executor.core.globs import anywhere
from executor.sandbox.paths import Entry
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
