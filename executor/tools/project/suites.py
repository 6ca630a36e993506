"""Which tests a folder has, by its files, and the one command that runs them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from executor.core.errors import ToolError
from executor.tools.project.folder import Folder, found, python_of

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
