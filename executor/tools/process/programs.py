"""Programs of the machine, found by name and never in the workspace."""

from __future__ import annotations

import shutil
from pathlib import Path

from executor.core.errors import ToolError


def program_outside(program: str, path: str, root: Path, *, fix: str = "install it") -> str:
    """Where a program is: an absolute path outside the workspace, also where links lead.

    Args:
        program: its name, or an absolute path.
        path: the folders that a name is looked for in, as ``safe_path`` gives them.
        root: the workspace.

    Raises:
        ToolError: COMMAND_NOT_FOUND.
    """
    relative = "/" in program and not program.startswith("/")  # in whatever folder this process is
    place = None if relative else shutil.which(program, path=path)
    if place is None:
        raise ToolError("COMMAND_NOT_FOUND", f"{program} is not installed", place=program, fix=fix)
    if Path(place).resolve().is_relative_to(root):
        raise ToolError(
            "COMMAND_NOT_FOUND",
            f"{place} is a program of the workspace, which anybody who writes there can change",
            place=program,
            fix="install it outside the workspace",
        )
    return place
