"""Runs a command that the operator declared."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from executor.core.errors import ToolError
from executor.sandbox.files import out_of_scope
from executor.sandbox.redaction import visible
from executor.tools.manifest import Command, Manifest
from executor.tools.process.confined import run_confined
from executor.tools.process.template import expand, parse
from executor.tools.project.folder import Folder, found
from executor.tools.tool import Bench

_SAID = 1000  # characters at the end of a log that an error quotes


async def run(manifest: Manifest, args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Run it to its end; an exit status that is no success is an error.

    Raises:
        ToolError: VALUE_IS_OPTION, BAD_VALUE, COMMAND_FAILED, and what ``run_confined`` raises.
    """
    command = manifest.command
    assert command is not None, "only declared commands run here"
    values = dict(args)
    for name in set(manifest.scope.paths) & set(args):
        values[name] = _from_folder(str(args[name]), command, bench)
    elements = parse(command.argv)
    arguments = expand(elements[1:], values, command.flags)
    program = elements[0].texts[0]
    with bench.workspace.open_folder(command.folder) as descriptor:
        folder = Folder(bench.workspace, command.folder, descriptor)
        ran = await run_confined(
            bench,
            folder,
            lambda environment: [_program(program, folder, environment), *arguments],
            outputs=command.outputs,
            variables=manifest.environment,
            network="network" in manifest.effects,
        )
    name = manifest.uri.partition("/run-")[2].partition("@")[0]
    if ran.status not in command.ok:
        said = visible(ran.log[-_SAID:].strip())
        raise ToolError(
            "COMMAND_FAILED",
            f"{name} ended with status {ran.status}{f': {said}' if said else ''}",
            place=name,
            fix="see what it says; its sandbox was " + ran.sandbox,
            data={"status": ran.status, "sandbox": ran.sandbox},
        )
    return {"sandbox": ran.sandbox, **ran.told(f"{name}: done")}


def _from_folder(path: str, command: Command, bench: Bench) -> str:
    """A path of the workspace as it is called in the command's folder; never one that begins with ``-``."""
    if path.startswith("/"):
        out_of_scope(path, "a command takes paths of the workspace")
    here = "/".join(bench.workspace.split(command.folder)) or "."
    relative = os.path.relpath("/".join(bench.workspace.split(path)) or ".", here)
    return relative if relative.startswith("..") else f"./{relative}"


def _program(name: str, folder: Folder, environment: Mapping[str, str]) -> str:
    """A program by its full path, by one in the workspace (``./tool``), or by its name on the PATH.

    Raises:
        ToolError: COMMAND_NOT_FOUND. ScopeError: a program of the workspace that lies elsewhere.
    """
    if Path(name).is_absolute():
        return name
    if "/" not in name:
        return found(name, environment)
    workspace = folder.workspace
    path = f"{folder.path}/{name.removeprefix('./')}"
    if workspace.check(path) is None:
        raise ToolError("COMMAND_NOT_FOUND", f"there is no {path!r}", place=path, fix="make it first")
    return str(workspace.root.joinpath(*workspace.split(path)))
