"""Runs the tests that a folder declares."""

from __future__ import annotations

from collections.abc import Mapping

from executor.core.errors import ToolError
from executor.sandbox.redaction import visible
from executor.tools.process.confined import Ran, run_confined
from executor.tools.process.summary import counts
from executor.tools.project.suites import Folder, command, detect
from executor.tools.tool import Bench

_SIGNS = 1000  # characters at the end of a log in which a suite says that it could not run
# suite, exit status, what the log says then, code, message
_NOT_RUN = (
    ("pytest", 1, "No module named pytest", "COMMAND_NOT_FOUND", "pytest is not installed in .venv"),
    ("pytest", 2, "during collection", "TESTS_NOT_RUN", "some tests could not be collected"),
    ("make", 2, "during collection ", "TESTS_NOT_RUN", "some tests could not be collected"),
    ("pytest", 2, "", "TESTS_NOT_RUN", "pytest was stopped before its end"),
    ("pytest", 3, "", "TESTS_NOT_RUN", "pytest broke"),
    ("pytest", 4, "", "TESTS_NOT_RUN", "pytest did not understand what to run"),
    ("pytest", 5, "", "NO_TESTS", "pytest found no test to run"),
    ("make", 2, "No rule to make target 'test'", "NO_TESTS", "the Makefile has no target test"),
    ("make", 2, "No rule to make target `test'", "NO_TESTS", "the Makefile has no target test"),
    ("make", 0, "'test' is up to date", "NO_TESTS", "make does nothing for test: declare it .PHONY"),
    ("make", 0, "Nothing to be done for 'test'", "NO_TESTS", "make does nothing for test"),
    ("npm", 254, "Could not read package.json", "NO_TESTS", "there is no package.json"),
    ("npm", 1, 'Missing script: "test"', "NO_TESTS", "package.json has no script test"),
    ("cargo", 101, "could not find `Cargo.toml`", "NO_TESTS", "there is no Cargo.toml"),
)


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Run them to their end. That tests fail is an answer, not an error."""
    path, select = str(args["path"]), str(args.get("select", ""))
    with bench.workspace.open_folder(path) as descriptor:
        folder = Folder(bench.workspace, path, descriptor)
        suite = str(args.get("suite", "auto"))
        suite = detect(folder) if suite == "auto" else suite
        ran = await run_confined(
            bench, folder, lambda environment: command(suite, folder, select, environment)
        )
    found = counts(suite, ran.log)
    _require_tests(suite, ran, found, path)
    passed = ran.status == 0
    said = ", ".join(f"{number} {name}" for name, number in found.items() if number)
    line = f"{suite}: {'passed' if passed else 'failed'}{f' ({said})' if said else ''}"
    return {"suite": suite, "passed": passed, **found, **ran.told(line)}


def _require_tests(suite: str, ran: Ran, found: Mapping[str, int], path: str) -> None:
    """Tell a suite that ran from one that could not.

    Raises:
        ToolError: COMMAND_NOT_FOUND, NO_TESTS, TESTS_NOT_RUN.
    """
    for name, status, sign, code, why in _NOT_RUN:
        if suite == name and ran.status == status and sign in ran.log[-_SIGNS:]:
            said = visible(ran.log[-_SIGNS:].strip()) if code == "TESTS_NOT_RUN" else ""
            raise ToolError(
                code,
                f"{why}: {said}" if said else why,
                place=path,
                fix="check path, suite and select",
            )
    # The others count no test as a success.
    empty = {"cargo": not sum(found.values()), "go": not found}
    if ran.status == 0 and empty.get(suite):
        raise ToolError("NO_TESTS", f"{suite} found no test to run", place=path, fix="check path and select")
