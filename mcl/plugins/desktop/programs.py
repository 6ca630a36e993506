"""Programs of the desktop: which one is there, and running it with fixed words."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from executor.core.errors import ToolError
from executor.sandbox.environment import safe_path
from executor.sandbox.process import Finished, run_command
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench

# What these programs need of a session to find the screen, the clipboard and the printer.
_SEEN = (
    *("DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "HOME"),
    *("CUPS_SERVER",),
)
_MOST = 1 << 20  # bytes of an answer
_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Program:
    """A program with its fixed words. needs: a variable without which it cannot work, "" for none."""

    words: tuple[str, ...]
    needs: str = ""


def choose(choices: Sequence[Program], what: str, bench: Bench) -> list[str]:
    """The first of them that is there, as a full path and its words. No program of the workspace is one.

    Raises:
        ToolError: COMMAND_NOT_FOUND, NO_SCREEN.
    """
    path = safe_path(os.environ.get("PATH", ""), bench.workspace.root)
    there = [(one, found) for one in choices if (found := shutil.which(one.words[0], path=path))]
    for one, found in there:
        if not one.needs or os.environ.get(one.needs):
            return [found, *one.words[1:]]
    names = ", ".join(dict.fromkeys(one.words[0] for one in choices))
    if there:
        raise ToolError(
            "NO_SCREEN",
            f"{there[0][0].words[0]} is here, and there is no screen to {what}",
            place=there[0][0].words[0],
            fix="run mcl in the session of a desktop",
        )
    raise ToolError(
        "COMMAND_NOT_FOUND",
        f"nothing that is installed can {what}: none of {names}",
        place=names,
        fix=f"install one of {names}",
    )


async def start(argv: Sequence[str], *, said: bytes = b"", most: int = _MOST) -> Finished:
    """Run it. Raises ToolError COMMAND_FAILED, COMMAND_NOT_FOUND."""
    environment = {name: os.environ[name] for name in _SEEN if name in os.environ}
    environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    try:
        ended = await run_command(
            argv, cwd=Path("/"), environment=environment, max_output=most, said=said, seconds=_SECONDS
        )
    except TimeoutError as problem:
        raise ToolError(
            "COMMAND_FAILED", f"{argv[0]} did not end", place=argv[0], fix="look at what it waits for"
        ) from problem
    if ended.status != 0:
        words = visible(ended.err.decode("utf-8", "replace").strip()[:300]) or "it says nothing"
        raise ToolError(
            "COMMAND_FAILED",
            f"{Path(argv[0]).name} ended with status {ended.status}: {words}",
            place=argv[0],
            fix="see what it says",
        )
    return ended
