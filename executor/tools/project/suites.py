"""Which tests a folder has, by its files, and the one command that runs them."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.paths import Workspace

# ---- The folder that a command runs in, and the programs that it may be run with.

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


SUITES: Final = ("pytest", "make", "npm", "cargo", "go")  # looked for in this order
_MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
_RULE = r"^(?:[\w.-]+[ \t]+)*TARGET(?:[ \t]+[\w.-]+)*[ \t]*::?(?!=)"
_PYTEST_SECTION = re.compile(r"^\[(?:tool\.pytest\b|tool:pytest\]|pytest\])", re.MULTILINE)
_TEST_FILE = re.compile(r"(?:test_.*|.*_test)\.py")
_FILES_OF_PYTEST = re.compile(r"[^:]*(?:/|\.py$|\.py::)[^:]*.*")


def detect(folder: Folder) -> str:
    """The first suite whose tests the folder has.

    Raises:
        ToolError: NO_TESTS.
    """
    for suite in SUITES:
        if _HAS[suite](folder):
            return suite
    raise ToolError(
        "NO_TESTS",
        f"no tests are known in {folder.path!r}",
        place=folder.path,
        fix="name a folder with pytest's files, a Makefile with the target test, package.json with a test"
        " script, Cargo.toml or go.mod; or name the suite",
    )


def command(suite: str, folder: Folder, select: str, environment: Mapping[str, str]) -> list[str]:
    """The argument list that runs a suite, or the part of it that is selected.

    Raises:
        ToolError: COMMAND_NOT_FOUND, SELECT_UNSUPPORTED. ScopeError: the selected file is out of scope.
    """
    if select and suite == "make":
        raise ToolError(
            "SELECT_UNSUPPORTED",
            "make runs all tests or none",
            place=select,
            fix="leave select out, or name the suite behind the Makefile",
        )
    if suite == "pytest":
        chosen = _chosen_by_pytest(folder, select)
        # No cache folder, no colours; what the folder configures itself stays as it is.
        fixed = ("-m", "pytest", "-p", "no:cacheprovider", "--color=no")
        return [python_of(folder, environment), *fixed, *chosen]
    program = found(suite, environment)
    one = [select] if select else []
    arguments = {
        "make": ["test"],
        "npm": ["test", *(["--", *one] if one else [])],
        "cargo": ["test", "--color", "never", *one],
        "go": ["test", *(["-run", *one] if one else []), "./..."],
    }
    return [program, *arguments[suite]]


def _has_pytest(folder: Folder) -> bool:
    if folder.text("pytest.ini") or folder.text("conftest.py"):
        return True
    if any(_PYTEST_SECTION.search(folder.text(name)) for name in ("pyproject.toml", "setup.cfg", "tox.ini")):
        return True
    if makes(folder, "test"):  # says more than names of files
        return False
    return any(_TEST_FILE.fullmatch(name) for place in ("tests", "test", ".") for name in folder.names(place))


def npm_script(folder: Folder, name: str) -> str:
    """A script of the folder's package.json; "" where there is none."""
    try:
        return str(json.loads(folder.text("package.json"))["scripts"][name])
    except (ValueError, KeyError, TypeError, RecursionError):
        return ""


def makes(folder: Folder, target: str) -> bool:
    """Does the folder's Makefile have this target?"""
    rule = re.compile(_RULE.replace("TARGET", re.escape(target)), re.MULTILINE)
    return any(rule.search(folder.text(name)) for name in _MAKEFILES)


def _has_npm(folder: Folder) -> bool:
    script = npm_script(folder, "test")
    return bool(script) and "no test specified" not in script  # what `npm init` writes


_HAS: Mapping[str, Callable[[Folder], bool]] = {
    "pytest": _has_pytest,
    "make": lambda folder: makes(folder, "test"),
    "npm": _has_npm,
    "cargo": lambda folder: bool(folder.text("Cargo.toml")),
    "go": lambda folder: bool(folder.text("go.mod")),
}


def _chosen_by_pytest(folder: Folder, select: str) -> list[str]:
    if not select:
        return []
    if not _FILES_OF_PYTEST.fullmatch(select):
        return ["-k", select]  # a name or an expression of names
    folder.workspace.check(f"{folder.path}/{select.partition('::')[0]}")
    return [select]
