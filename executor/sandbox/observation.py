"""What a folder holds before and after a command: whether it kept its word to write nothing."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from executor.core.errors import ToolError

_MOST = 200_000  # entries
_TOLD = 5  # changed places that a message names

# Mode, size, times of writing and of the last change of any kind (which no program can set), inode.
Stamp: TypeAlias = tuple[int, int, int, int, int]
Listing: TypeAlias = Mapping[str, Stamp]


def listing(root: Path, apart: tuple[str, ...] = ()) -> Listing:
    """Everything below a folder, links not followed; ``apart``: paths that are left out, with all below.

    A folder counts as being there, not with its times: a file that came and went again is no change.

    Raises:
        ToolError: TOO_MANY_FILES.
    """
    seen: dict[str, Stamp] = {}
    for here, folders, files, descriptor in os.fwalk(root):
        below = os.path.relpath(here, root)
        kept: list[str] = []
        for name in (*folders, *files):
            path = os.path.normpath(f"{below}/{name}")
            if path in apart:
                continue
            try:
                status = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
            except FileNotFoundError:
                continue
            if stat.S_ISDIR(status.st_mode):
                kept.append(name)
                seen[path] = (status.st_mode, 0, 0, 0, status.st_ino)
            else:
                seen[path] = (
                    *(status.st_mode, status.st_size),
                    *(status.st_mtime_ns, status.st_ctime_ns, status.st_ino),
                )
        folders[:] = kept
        if len(seen) > _MOST:
            raise ToolError(
                "TOO_MANY_FILES",
                f"the workspace holds more than {_MOST:,} files, which is too many to watch a command by",
                place=str(root),
                fix="install bubblewrap, or use a smaller workspace",
            )
    return seen


def require_unchanged(before: Listing, after: Listing, command: str) -> None:
    """Refuse what wrote though it was declared to read.

    Raises:
        ToolError: WROTE_UNDECLARED, with the first places.
    """
    changed = sorted(path for path in before.keys() | after.keys() if before.get(path) != after.get(path))
    if changed:
        more = f" and {len(changed) - _TOLD} more" if len(changed) > _TOLD else ""
        raise ToolError(
            "WROTE_UNDECLARED",
            f"{command} is declared to read, but while it ran these changed: "
            f"{', '.join(map(repr, changed[:_TOLD]))}{more}",
            place=command,
            fix="declare it as writing, or name the folders it writes as its outputs",
            data={"changed": changed[:100]},
        )
