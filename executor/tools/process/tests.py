"""Runs the tests that a folder declares."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from executor.core.errors import ToolError
from executor.sandbox.redaction import visible
from executor.tools.process.confined import Ran, run_confined
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


# ---- What a test log says of itself: how many tests passed, failed and were skipped.

Counts = Mapping[str, int]

_PYTEST_LINE = re.compile(r"^=*[ ]?((?:\d+ [a-z]+(?:, )?)+)(?: in [\d.]+s.*)$", re.MULTILINE)
_COUNT = re.compile(r"(\d+) ([a-z]+)")
_MEANING: Final = {
    **dict.fromkeys(("passed", "pass", "passing", "xpassed"), "succeeded"),
    **dict.fromkeys(("failed", "fail", "failing", "error", "errors"), "failed"),
    **dict.fromkeys(("skipped", "xfailed", "ignored", "pending"), "skipped"),
}
_CARGO_LINE = re.compile(r"^test result: \w+\. (\d+ passed; \d+ failed; \d+ ignored)", re.MULTILINE)
_GO_FAILED = re.compile(r"^\s*--- FAIL: ", re.MULTILINE)
_GO_PACKAGE = re.compile(r"^(?:ok|FAIL)\s+\S+\s+(?:[\d.]+s|\(cached\)|\[)", re.MULTILINE)
_NODE_LINE = re.compile(r"^(?:#|ℹ) (pass|fail|skipped) (\d+)$", re.MULTILINE)
_JEST_LINE = re.compile(r"^Tests:\s+(.*)$", re.MULTILINE)
_MOCHA_LINE = re.compile(r"^\s+(\d+ (?:passing|failing|pending))\b", re.MULTILINE)


def counts(suite: str, log: str) -> Counts:
    """``succeeded``, ``failed`` and ``skipped``, as far as the log tells; empty where it does not."""
    for read in _READERS[suite]:
        if found := read(log):
            return found
    return {}


def _pytest(log: str) -> Counts:
    lines = _PYTEST_LINE.findall(log)
    return _named(lines[-1:])


def _cargo(log: str) -> Counts:
    return _named(_CARGO_LINE.findall(log))


def _go(log: str) -> Counts:
    return {"failed": len(_GO_FAILED.findall(log))} if _GO_PACKAGE.search(log) else {}


def _node(log: str) -> Counts:
    return _named(f"{count} {word}" for word, count in _NODE_LINE.findall(log))


def _jest(log: str) -> Counts:
    return _named(_JEST_LINE.findall(log)[-1:])


def _mocha(log: str) -> Counts:
    return _named(_MOCHA_LINE.findall(log))


def _named(texts: Iterable[str]) -> Counts:
    found: dict[str, int] = {}
    for text in texts:
        for number, word in _COUNT.findall(text):
            if name := _MEANING.get(word):
                found[name] = found.get(name, 0) + int(number)
    return found


_READERS: Final[Mapping[str, tuple[Callable[[str], Counts], ...]]] = {
    "pytest": (_pytest,),
    "cargo": (_cargo,),
    "go": (_go,),
    "npm": (_jest, _node, _mocha),
    "make": (_pytest, _cargo, _go, _jest, _node, _mocha),
}
