"""Names over MCP: ``server:tool`` as agents write it, and the address that the gate knows the tool by.

The server ``mcl`` is ourselves: ``mcl:fs/read`` is matrix://tool/fs/read in its highest version. A tool of
another server has the address matrix://tool/mcp-<server>/<slug>@1.0.0. Its version never says anything: what
is approved is its hash.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import Final

from mcl.errors import McpError

OURSELVES: Final = "mcl"
MAX_TOOL: Final = 128  # characters, as the specification wants

_SERVER: Final = re.compile(r"[a-z][a-z0-9-]{0,31}", re.ASCII)
_SLUG: Final = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)
_DIGITS: Final = 10  # of the digest that tells slugs apart
_TELLING: Final = re.compile(rf".*-[0-9a-f]{{{_DIGITS}}}", re.ASCII)
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
        raise _bad(f"name is {_kind(text)}, not a text")
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


def is_server(text: str) -> bool:
    """Can a server have this name? ``mcl`` fits the form, and means ourselves."""
    return _SERVER.fullmatch(text) is not None


def is_tool(text: str) -> bool:
    """Can a tool have this name? Nothing in it may be invisible, and no blanks stand at its ends."""
    return 0 < len(text) <= MAX_TOOL and text.isprintable() and text == text.strip()


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


def outside_uri(server: str, tool: str) -> str:
    """The address of another server's tool; two tools of a server never share one (but by breaking sha256's
    first 40 bits, and then the registry refuses both)."""
    return f"matrix://tool/mcp-{server}/{slug(tool)}@1.0.0"


def is_outside(reference: str) -> bool:
    """Is this the address of another server's tool?"""
    return reference.startswith("matrix://tool/mcp-")


def slug(tool: str) -> str:
    """A tool's name where an address can hold it, else what is left of it with a digest of the whole.

    A name that looks as if it ended in such a digest gets one too, so that none can pass for another.
    """
    if _SLUG.fullmatch(tool) and not _TELLING.fullmatch(tool):
        return tool
    plain = re.sub(r"[^a-z0-9_]+", "-", tool.lower()).strip("-_")[:40].rstrip("-_")
    begun = plain if plain[:1].isalpha() and plain[:1].isascii() else f"t-{plain}".rstrip("-")
    return f"{begun}-{hashlib.sha256(tool.encode(errors='surrogatepass')).hexdigest()[:_DIGITS]}"


def _kind(value: object) -> str:
    if value is None:
        return "missing"
    kinds = {bool: "a boolean", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return kinds.get(type(value), type(value).__name__)


def _bad(why: str) -> McpError:
    return McpError("BAD_TOOL_NAME", why, place="name", fix=_FORM, example=_EXAMPLE)
