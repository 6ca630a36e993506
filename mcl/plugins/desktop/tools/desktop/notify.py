"""Shows a notice on the screen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from executor.tools.tool import Bench
from mcl.plugins.desktop.programs import Program, choose, start

_NOTIFY: Final = (Program(("notify-send", "--app-name=mcl")), Program(("terminal-notifier",)))


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Show it.

    Raises:
        ToolError: COMMAND_NOT_FOUND, COMMAND_FAILED.
    """
    title, message = " ".join(str(args["title"]).split()), str(args["message"])
    argv = choose(_NOTIFY, "show a notice", bench)
    if argv[0].endswith("terminal-notifier"):
        words = ["-title", f" {title}", "-message", f" {message}"]  # what begins with a blank is no option
    else:
        words = [f"--urgency={args.get('urgency', 'normal')}", "--", title, message]
    await start([*argv, *words])
    return {"title": title, "text": f"shown: {message}"}
