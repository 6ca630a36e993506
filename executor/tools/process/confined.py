"""Runs one command of the workspace: in an environment of its own, confined where that works here."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from anyio import to_thread

from executor.core.errors import ToolError
from executor.sandbox.bubblewrap import (
    Sandbox,
    SandboxView,
    confined,
    listing,
    programs_of,
    require_unchanged,
)
from executor.sandbox.environment import private_environment
from executor.sandbox.process import Finished, Keep, run_command
from executor.sandbox.redaction import visible
from executor.tools.project.suites import Folder
from executor.tools.tool import Bench

_MAX_LOG = 1 << 18  # bytes of the log that are kept: its end
_MAX_TEXT = 100_000  # characters of an answer's text
_SIGNALLED = 128  # what is added to the number of a signal
_UNSEEN = "bwrap: execvp "  # what bubblewrap says of a program that is not in its view


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended. log: the end of what it wrote, its line ends plain. seconds: how long it took.

    sandbox: what it was confined by; "none" where bubblewrap is missing or not permitted.
    """

    finished: Finished
    log: str
    seconds: float
    sandbox: Sandbox

    @property
    def status(self) -> int:
        """Exit status; negative: ended by that signal (bubblewrap adds 128 to it, as shells do)."""
        status = self.finished.status
        return _SIGNALLED - status if self.sandbox == "bubblewrap" and status > _SIGNALLED else status

    def told(self, line: str) -> dict[str, object]:
        """The fields that the answers of all commands have: ``line`` says how it ended."""
        log = visible(self.log)
        truncated = self.finished.truncated or len(log) > _MAX_TEXT
        gap = "(the beginning is left out)\n" if truncated else ""
        took = f"{self.seconds:.1f} s, {_SAID[self.sandbox]}"
        return {
            "status": self.status,
            "seconds": self.seconds,
            "truncated": truncated,
            "text": f"{line} in {took}\n\n{gap}{log[-_MAX_TEXT:]}".rstrip(),
        }


_SAID: Mapping[Sandbox, str] = {"bubblewrap": "in bubblewrap", "none": "without a sandbox"}


async def run_confined(
    bench: Bench,
    folder: Folder,
    command: Callable[[Mapping[str, str]], list[str]],
    *,
    outputs: Sequence[str] = (),
    variables: Sequence[str] = (),
    network: bool = False,
    keep: Keep = "tail",
    most: int = _MAX_LOG,
    merged: bool = True,
    alone: bool = False,
) -> Ran:
    """Run it to its end, in the folder. Where the gate allowed it to read, it writes only its outputs.

    Args:
        command: makes the argument list from the variables that the command sees.
        outputs: folders of the workspace that a reading command may write in; made where they are missing.
        variables: names of variables of this process that it sees too, beside the fixed ones.
        keep, most, merged: which end of its output is kept, how many bytes, and whether its errors are in it.
        alone: it starts no other program.

    Raises:
        ToolError: COMMAND_NOT_FOUND; WROTE_UNDECLARED, TOO_MANY_FILES where it is only watched.
    """
    workspace, writes = bench.workspace, bench.operation != "read"
    written = tuple("/".join(workspace.split(path)) for path in outputs)
    for path in written if not writes else ():
        workspace.make_folder(path)
    async with private_environment(workspace.root, os.environ) as environment:
        given = {name: os.environ[name] for name in variables if name in os.environ}
        environment = {**given, **environment}
        argv = command(environment)
        found = [Path(place) for place in environment["PATH"].split(os.pathsep)]
        own = [Path(environment["RUSTUP_HOME"])] if "RUSTUP_HOME" in environment else []
        view = SandboxView(
            workspace,
            Path(environment["HOME"]),
            writes,
            tuple(workspace.root / path for path in written),
            (*programs_of([*found, Path(argv[0])], workspace.root), *own),
            network,
        )
        place = workspace.root.joinpath(*workspace.split(folder.path))
        behind = await confined(argv, place, view, environment)
        watched = None if behind or writes else await to_thread.run_sync(listing, workspace.root, written)
        started = datetime.fromisoformat(bench.clock.now())
        finished = await run_command(
            behind or argv,
            cwd=folder.place,
            environment=environment,
            max_output=most,
            keep=keep,
            merged=merged,
            alone=alone or behind is not None,  # bubblewrap ends with us, and all in it with bubblewrap
            told=bench.output if merged else None,  # else its output is data, not what it says
        )
        seconds = (datetime.fromisoformat(bench.clock.now()) - started).total_seconds()
        if watched is not None:
            after = await to_thread.run_sync(listing, workspace.root, written)
            require_unchanged(watched, after, Path(argv[0]).name)
    log = finished.out.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    said = log if merged else finished.err.decode("utf-8", "replace")
    if behind and finished.status == 1 and said.startswith(_UNSEEN):
        raise ToolError(
            "COMMAND_NOT_FOUND",
            f"{argv[0]} cannot be run in the sandbox: {visible(said.removeprefix(_UNSEEN).strip()[:300])}",
            place=argv[0],
            fix="install it for the whole system, or in the workspace",
        )
    return Ran(finished, log, seconds, "bubblewrap" if behind else "none")


# ---- Programs of the machine, found by name and never in the workspace.


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
