"""Runs one of the six commands of mqlaunch."""

from __future__ import annotations

from collections.abc import Mapping

from executor.tools.process.confined import program_outside, run_confined
from executor.tools.project.suites import Folder
from executor.tools.tool import Bench

_PROGRAM = "mqlaunch"


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Run it to its end. That it fails is an answer, not an error.

    Raises:
        ToolError: COMMAND_NOT_FOUND, and what ``run_confined`` raises.
    """
    command, path = str(args["command"]), str(args["path"])

    def line(environment: Mapping[str, str]) -> list[str]:
        return [program_outside(_PROGRAM, environment["PATH"], bench.workspace.root), command]

    with bench.workspace.open_folder(path) as descriptor:
        ran = await run_confined(bench, Folder(bench.workspace, path, descriptor), line)
    passed = ran.status == 0
    said = f"mqlaunch {command}: {'passed' if passed else f'ended with status {ran.status}'}"
    return {"command": command, "passed": passed, "sandbox": ran.sandbox, **ran.told(said)}
