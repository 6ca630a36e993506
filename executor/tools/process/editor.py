"""Opens one file of the workspace in the person's own editor."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from anyio import from_thread, to_thread

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.environment import safe_path
from executor.sandbox.redaction import visible
from executor.tools.manifest import load_manifest
from executor.tools.process.confined import program_outside
from executor.tools.process.terminal import run_foreground
from executor.tools.tool import Bench

_VARIABLES = ("VISUAL", "EDITOR")
# An editor reads settings from the folder it is started in (.exrc, .nvimrc): never those of the workspace.
_FOLDER = "/"
_FIX = "name your editor: export EDITOR=nano"


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Wait until the editor ends. Its exit status, whichever, is an answer.

    Raises:
        ToolError: COMMAND_NOT_FOUND (also where no editor is named), BAD_EDITOR.
        ScopeError: NOT_FOUND, NOT_A_FILE, OUT_OF_SCOPE, PROTECTED_PATH.
    """
    path, workspace = str(args["path"]), bench.workspace
    before = await _digest(path, bench)
    environment = _environment(workspace.root)
    editor = _editor(environment["PATH"], workspace.root)
    # In full, as it is real: it begins with a slash, so no editor takes it for an option, a command (+cmd)
    # or an address. No link is on its way: the workspace has just walked it.
    place = workspace.root.joinpath(*workspace.split(path))
    started = datetime.fromisoformat(bench.clock.now())
    status = await run_foreground([*editor, str(place)], cwd=_FOLDER, environment=environment)
    seconds = (datetime.fromisoformat(bench.clock.now()) - started).total_seconds()
    try:
        after = await _digest(path, bench)
    except ScopeError:  # gone, or no plain file any more
        after = ""
    changed = after != before
    name = Path(editor[0]).name
    ended = "" if status == 0 else f"; {name} ended with status {status}"
    answer: dict[str, object] = {
        "path": "/".join(workspace.split(path)),
        "editor": visible(name),
        "status": status,
        "seconds": seconds,
        "changed": changed,
        "text": f"{visible(path)} is {'changed' if changed else 'as it was'}{ended}",
    }
    return {**answer, "sha256": after} if after else answer


async def _digest(path: str, bench: Bench) -> str:
    def work() -> str:
        return bench.workspace.digest(path, check=from_thread.check_cancelled)[0]

    return await to_thread.run_sync(work)


def _environment(root: Path) -> dict[str, str]:
    """What an editor needs of the person's variables; no secrets, and no program of the workspace on PATH."""
    names = load_manifest(Path(__file__).with_suffix(".toml")).environment
    return {
        **{name: os.environ[name] for name in names if name in os.environ},
        "PATH": safe_path(os.environ.get("PATH", ""), root),
    }


def _editor(path: str, root: Path) -> list[str]:
    """The person's editor as an argument list: the program in full, then the arguments that they gave it.

    Raises:
        ToolError: COMMAND_NOT_FOUND, BAD_EDITOR.
    """
    variable = next((name for name in _VARIABLES if os.environ.get(name, "").strip()), "")
    if not variable:
        raise ToolError("COMMAND_NOT_FOUND", "no editor is named", place="EDITOR", fix=_FIX)
    try:
        program, *arguments = shlex.split(os.environ[variable])
    except ValueError as problem:
        raise ToolError(
            "BAD_EDITOR", f"{variable} cannot be read: {problem}", place=variable, fix=_FIX
        ) from problem
    for one in arguments:  # the program that an interpreter runs, settings that name programs
        if one.startswith("/") and Path(one).resolve().is_relative_to(root):
            raise ToolError(
                "BAD_EDITOR", f"{variable} names a file of the workspace", place=variable, fix=_FIX
            )
    return [program_outside(program, path, root, fix=_FIX), *arguments]
