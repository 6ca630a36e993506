"""Tells the text on the clipboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from executor.core.errors import ToolError
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.plugins.desktop.programs import Program, choose, start

_READ: Final = (
    Program(("wl-paste", "--no-newline", "--type", "text"), "WAYLAND_DISPLAY"),
    Program(("xclip", "-selection", "clipboard", "-out"), "DISPLAY"),
    Program(("xsel", "--clipboard", "--output"), "DISPLAY"),
    Program(("pbpaste",)),
)


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Read it.

    Raises:
        ToolError: NOT_TEXT, COMMAND_NOT_FOUND, NO_SCREEN, COMMAND_FAILED (also where it is empty).
    """
    ended = await start(choose(_READ, "read a clipboard", bench), most=bench.max_output // 8)
    try:
        content = ended.out.decode("utf-8", "ignore" if ended.truncated else "strict")
    except UnicodeDecodeError as problem:
        raise ToolError(
            "NOT_TEXT", "what is on the clipboard is no text", place="clipboard", fix="copy a text"
        ) from problem
    return {"content": content, "truncated": ended.truncated, "text": visible(content)}
