"""Which linter a folder has, by its files, and the one command that runs it: to tell, never to mend."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from executor.core.errors import ToolError
from executor.tools.project.suites import Folder, found, makes, npm_script, python_of

LINTERS: Final = ("ruff", "mypy", "make", "npm", "cargo", "go")  # looked for in this order
_RUFF_SECTION = re.compile(r"^\[tool\.ruff\b", re.MULTILINE)
_MYPY_SECTION = re.compile(r"^\[(?:tool\.mypy\b|mypy\])", re.MULTILINE)
# What a log says of itself: ruff and mypy; eslint.
_PROBLEMS = re.compile(r"(?:^Found (\d+) errors?\b|✖ (\d+) problems?\b)", re.MULTILINE)


def detect(folder: Folder) -> str:
    """The first linter that the folder's files declare.

    Raises:
        ToolError: NO_LINTER.
    """
    for linter in LINTERS:
        if _HAS[linter](folder):
            return linter
    raise ToolError(
        "NO_LINTER",
        f"no linter is known in {folder.path!r}",
        place=folder.path,
        fix="name a folder with settings of ruff or mypy, a Makefile with the target lint, package.json with"
        " a lint script, Cargo.toml or go.mod; or name the linter",
    )


def command(linter: str, folder: Folder, environment: Mapping[str, str]) -> list[str]:
    """The argument list that runs a linter over the whole folder. Nothing is mended, no cache is kept.

    Raises:
        ToolError: COMMAND_NOT_FOUND.
    """
    arguments = {
        "ruff": ["check", "--no-cache", "--no-fix", "."],
        "mypy": ["--cache-dir=/dev/null", "--no-color-output", "."],
        "make": ["lint"],
        "npm": ["run", "lint"],
        "cargo": ["clippy", "--color", "never", "--target-dir", str(Path(environment["TMPDIR"], "target"))],
        "go": ["vet", "./..."],
    }[linter]
    if linter not in ("ruff", "mypy"):
        return [found(linter, environment), *arguments]
    python = python_of(folder, environment)
    alone = shutil.which(linter, path=environment["PATH"])
    # The workspace's own Python has the linter that the project chose; else one that stands alone will do.
    if alone is None or Path(python).is_relative_to(folder.workspace.root):
        return [python, "-m", linter, *arguments]
    return [alone, *arguments]


def problems(log: str) -> int | None:
    """How many problems the log says it found; None where it does not say."""
    last = [first or second for first, second in _PROBLEMS.findall(log)][-1:]
    return int(last[0]) if last else None


def _in_pyproject(section: re.Pattern[str], *own: str) -> Callable[[Folder], bool]:
    def has(folder: Folder) -> bool:
        files = ("pyproject.toml", "setup.cfg")
        return any(folder.text(name) for name in own) or any(section.search(folder.text(f)) for f in files)

    return has


_HAS: Mapping[str, Callable[[Folder], bool]] = {
    "ruff": _in_pyproject(_RUFF_SECTION, "ruff.toml", ".ruff.toml"),
    "mypy": _in_pyproject(_MYPY_SECTION, "mypy.ini", ".mypy.ini"),
    "make": lambda folder: makes(folder, "lint"),
    "npm": lambda folder: bool(npm_script(folder, "lint")),
    "cargo": lambda folder: bool(folder.text("Cargo.toml")),
    "go": lambda folder: bool(folder.text("go.mod")),
}
