"""The folder that a command runs in, and the programs that it may be run with."""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.paths import Workspace

_MAX_FILE = 1 << 18  # bytes of a project's file that are looked at
_VENVS = (".venv", "venv")


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder of the workspace, opened: by its path there, and by its descriptor."""

    workspace: Workspace
    path: str
    descriptor: int

    @property
    def place(self) -> Path:
        """Where a command runs in it: by descriptor, so that nobody can put another in its place."""
        if sys.platform == "linux":
            return Path(f"/proc/self/fd/{self.descriptor}")
        return self.workspace.root.joinpath(*self.workspace.split(self.path))

    def text(self, name: str) -> str:
        """The beginning of a file in it; "" where there is none that may be read."""
        try:
            data, _ = self.workspace.read(f"{self.path}/{name}", _MAX_FILE)
        except ScopeError:
            return ""
        return data.decode("utf-8", "replace")

    def names(self, place: str) -> list[str]:
        """The names in a folder below it; none where that cannot be looked at."""
        try:
            with (
                self.workspace.open_folder(f"{self.path}/{place}") as descriptor,
                os.scandir(descriptor) as found,
            ):
                return [entry.name for entry in found]
        except ScopeError:
            return []


def python_of(folder: Folder, environment: Mapping[str, str]) -> str:
    """The interpreter of the folder or of the workspace, else python3.

    The folders on the way to it are real ones of the workspace. The interpreter itself is a link out of it
    wherever ``python -m venv`` made it: a program is run, not read, and it can do no more than the tests.
    """
    workspace = folder.workspace
    for place in (f"{base}/{venv}/bin" for base in dict.fromkeys((folder.path, ".")) for venv in _VENVS):
        try:
            with workspace.open_folder(place) as descriptor:
                status = os.stat("python", dir_fd=descriptor)
        except (OSError, ScopeError):
            continue
        if stat.S_ISREG(status.st_mode) and status.st_mode & 0o111:
            return str(workspace.root.joinpath(*workspace.split(place), "python"))
    return found("python3", environment)


def found(program: str, environment: Mapping[str, str]) -> str:
    """Where a program is on the command's own PATH.

    Raises:
        ToolError: COMMAND_NOT_FOUND.
    """
    place = shutil.which(program, path=environment["PATH"])
    if place is None:
        raise ToolError("COMMAND_NOT_FOUND", f"{program} is not installed", place=program, fix="install it")
    return place
