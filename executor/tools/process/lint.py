"""Runs the linter that a folder declares."""

from __future__ import annotations

from collections.abc import Mapping

from executor.core.errors import ToolError
from executor.sandbox.redaction import visible
from executor.tools.process.confined import Ran, run_confined
from executor.tools.project.linters import command, detect, problems
from executor.tools.project.suites import Folder
from executor.tools.tool import Bench

_SIGNS = 1000  # characters at the end of a log in which a linter says that it could not run
# linter, exit status (None: any but 0), what the log says then, code, message
_NOT_RUN = (
    ("ruff", 1, "No module named ruff", "COMMAND_NOT_FOUND", "ruff is not installed"),
    ("mypy", 1, "No module named mypy", "COMMAND_NOT_FOUND", "mypy is not installed"),
    ("ruff", 2, "", "LINT_NOT_RUN", "ruff did not understand what to do"),
    ("mypy", 2, "There are no .py[i] files", "LINT_NOT_RUN", "there is no Python here"),
    ("mypy", 2, "", "LINT_NOT_RUN", "mypy could not go on"),
    ("make", 2, "No rule to make target", "NO_LINTER", "the Makefile has no target lint"),
    ("npm", 1, 'Missing script: "lint"', "NO_LINTER", "package.json has no script lint"),
    ("npm", 254, "Could not read package.json", "NO_LINTER", "there is no package.json"),
    ("cargo", 101, "could not find `Cargo.toml`", "NO_LINTER", "there is no Cargo.toml"),
    ("cargo", 101, "no such command: `clippy`", "COMMAND_NOT_FOUND", "clippy is not installed"),
)


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Run it to its end. That it finds something is an answer, not an error."""
    path = str(args["path"])
    with bench.workspace.open_folder(path) as descriptor:
        folder = Folder(bench.workspace, path, descriptor)
        linter = str(args.get("linter", "auto"))
        linter = detect(folder) if linter == "auto" else linter
        ran = await run_confined(bench, folder, lambda environment: command(linter, folder, environment))
    _require_run(linter, ran, path)
    passed, count = ran.status == 0, problems(ran.log)
    said = f" ({count:,} problems)" if count else ""
    line = f"{linter}: {'nothing found' if passed else 'found something'}{said}"
    told = {"linter": linter, "passed": passed, "sandbox": ran.sandbox, **ran.told(line)}
    return told if count is None else {**told, "problems": count}


def _require_run(linter: str, ran: Ran, path: str) -> None:
    """Tell a linter that ran from one that could not.

    Raises:
        ToolError: COMMAND_NOT_FOUND, NO_LINTER, LINT_NOT_RUN.
    """
    end = ran.log[-_SIGNS:]
    for name, status, sign, code, why in _NOT_RUN:
        if linter == name and ran.status == status and sign in end:
            said = f": {visible(end.strip())}" if code == "LINT_NOT_RUN" else ""
            raise ToolError(code, f"{why}{said}", place=path, fix="check path and linter")
