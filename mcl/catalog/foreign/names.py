"""Names over MCP: ``server:tool``, the one form that agents write. What the address of a tool is, and how
people may name it besides, is for ``executor.tools.names``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from executor.tools.names import MAX_TOOL, OURSELVES, is_server, is_tool
from mcl.core.errors import McpError

_FORM: Final = "write server:tool, as retrieve_tools gives it"
_EXAMPLE: Final = 'name = "github:create_issue"'


@dataclass(frozen=True, slots=True)
class ToolName:
    """A tool as agents name it. tool: the server's own name of it; of ourselves ``fs/read`` or
    ``fs/read@1.0.0``."""

    server: str
    tool: str

    @property
    def own(self) -> bool:
        """Is it one of mcl's tools?"""
        return self.server == OURSELVES

    def __str__(self) -> str:
        return f"{self.server}:{self.tool}"


def parse_name(text: object) -> ToolName:
    """Read ``server:tool``.

    Raises:
        McpError: BAD_TOOL_NAME.
    """
    if not isinstance(text, str):
        raise _bad("name is missing" if text is None else f"name is {_kind(text)}, not a text")
    if not text:
        raise _bad("name is empty")
    server, colon, tool = text.partition(":")
    shown = ascii(text[:80])
    if not colon:
        raise _bad(f"{shown} names no server")
    if not is_server(server):
        raise _bad(f"{server[:80]!a} is no server's name")
    if not is_tool(tool):
        raise _bad(f"{shown} names no tool: a name has 1 to {MAX_TOOL} printable characters")
    return ToolName(server, tool)


def check_server(text: str) -> str:
    """The name of a server that may be added.

    Raises:
        McpError: BAD_SERVER_NAME.
    """
    if not is_server(text) or text == OURSELVES:
        why = "is mcl itself" if text == OURSELVES else "is no server's name"
        raise McpError(
            "BAD_SERVER_NAME",
            f"{text[:80]!a} {why}",
            place="name",
            fix="1 to 32 of a-z, 0-9 and -, beginning with a letter; not mcl",
            example="github",
        )
    return text


def _kind(value: object) -> str:
    kinds = {bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return kinds.get(type(value), type(value).__name__)


def _bad(why: str) -> McpError:
    return McpError("BAD_TOOL_NAME", why, place="name", fix=_FORM, example=_EXAMPLE)
