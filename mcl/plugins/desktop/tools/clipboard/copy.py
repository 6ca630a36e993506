"""Puts a text, or a file's text, on the clipboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from executor.core.errors import ScopeError, ToolError
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.desktop.programs import Program, choose, start

_MOST: Final = 1 << 20
COPY: Final = (
    Program(("wl-copy",), "WAYLAND_DISPLAY"),
    Program(("xclip", "-selection", "clipboard", "-in"), "DISPLAY"),
    Program(("xsel", "--clipboard", "--input"), "DISPLAY"),
    Program(("pbcopy",)),
)


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Copy it.

    Raises:
        ToolError: BAD_ARGUMENTS, NOT_TEXT, COMMAND_NOT_FOUND, NO_SCREEN, COMMAND_FAILED.
        ScopeError: TOO_LARGE.
    """
    if ("text" in args) == ("path" in args):
        raise ToolError(
            "BAD_ARGUMENTS", "it takes a text or a file", place="text", fix="give one of text and path"
        )
    data = str(args["text"]).encode() if "text" in args else _content(str(args["path"]), bench)
    argv = choose(COPY, "copy to a clipboard", bench)
    await start(argv, said=data or b"\n")
    what = str(args.get("path", "")) or counted(len(data.decode()), "character")
    return {"size": len(data), "text": f"copied {what} to the clipboard"}


def _content(path: str, bench: Bench) -> bytes:
    data, size = bench.workspace.read(path, _MOST)
    if size > _MOST:
        raise ScopeError(
            "TOO_LARGE", f"{path!r} is larger than {_MOST:,} bytes", place=path, fix="copy a part of it"
        )
    try:
        data.decode()
    except UnicodeDecodeError as problem:
        raise ToolError("NOT_TEXT", f"{path!r} is no text", place=path, fix="name a text file") from problem
    return data
