"""How tools are named: by address, by short name, and as agents name them (``server:tool``). The one parser.

| written | means |
|---|---|
| ``matrix://tool/fs/write``, ``…@1.0.0``, ``…@sha256:<pin>`` | the tool there, in any or this version |
| ``fs/write``, ``mcl:fs/write``, each also with ``@version`` | the same |
| ``git:git_status``, ``git:resources/read`` | a tool of another server, by the server's own name of it |
| ``mcp-git/git_status`` | the same, by what of its address tells it apart |

The server ``mcl`` is ourselves. A tool of another server has the address
matrix://tool/mcp-<server>/<slug>@1.0.0; its version never says anything: what is approved is its hash.
"""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

OURSELVES: Final = "mcl"
SCHEME: Final = "matrix://tool/"
MAX_TOOL: Final = 128  # characters, as MCP's specification wants

_OUTSIDE: Final = "mcp-"
_PLACE: Final = re.compile(
    r"([a-z][a-z0-9_-]*)/([a-z][a-z0-9_-]*)(?:@(\d+\.\d+\.\d+|sha256:[0-9a-f]{64}))?", re.ASCII
)
_SERVER: Final = re.compile(r"[a-z][a-z0-9-]{0,31}", re.ASCII)
_SLUG: Final = re.compile(r"[a-z][a-z0-9_-]{0,63}", re.ASCII)
_DIGITS: Final = 10  # of the digest that tells slugs apart
_TELLING: Final = re.compile(rf".*-[0-9a-f]{{{_DIGITS}}}", re.ASCII)
_NEAREST: Final = 5


@dataclass(frozen=True, slots=True)
class NamedTool:
    """A tool as somebody named it, whether it is there or not.

    place: its address without version. version: 1.0.0, sha256:<pin>, or "" for any. server: whose it is, ""
    of our own.
    """

    place: str
    version: str = ""
    server: str = ""

    def means(self, uri: str, pin: str = "") -> bool:
        """Is this the tool at an address (``…@1.0.0``), whose manifest has this pin?"""
        place, _, version = uri.partition("@")
        return self.place == place and self.version in ("", version, f"sha256:{pin}")


def parse_tool(text: str) -> NamedTool | None:
    """Read a name in any of the forms above; None for what is none of them."""
    server, colon, tool = text.partition(":")
    if colon and is_server(server) and server != OURSELVES and not text.startswith(SCHEME):
        return NamedTool(outside_place(server, tool), "", server) if is_tool(tool) else None
    plain = text.removeprefix(SCHEME) if text.startswith(SCHEME) else text.removeprefix(f"{OURSELVES}:")
    if (found := _PLACE.fullmatch(plain)) is None:
        return None
    namespace, name, version = found[1], found[2], found[3] or ""
    server = namespace.removeprefix(_OUTSIDE) if namespace.startswith(_OUTSIDE) else ""
    if namespace.startswith(_OUTSIDE) and not is_server(server):
        return None
    return NamedTool(f"{SCHEME}{namespace}/{name}", version, server)


def is_server(text: str) -> bool:
    """Can a server have this name? ``mcl`` fits the form, and means ourselves."""
    return _SERVER.fullmatch(text) is not None


def is_tool(text: str) -> bool:
    """Can a tool have this name? Nothing in it may be invisible, and no blanks stand at its ends."""
    return 0 < len(text) <= MAX_TOOL and text.isprintable() and text == text.strip()


def outside_place(server: str, tool: str) -> str:
    """The address of another server's tool, without version."""
    return f"{SCHEME}{_OUTSIDE}{server}/{slug(tool)}"


def outside_uri(server: str, tool: str) -> str:
    """The address of another server's tool; two tools of a server never share one (but by breaking sha256's
    first 40 bits, and then the registry refuses both)."""
    return f"{outside_place(server, tool)}@1.0.0"


def is_outside(reference: str) -> bool:
    """Is this the address of another server's tool?"""
    return reference.startswith(f"{SCHEME}{_OUTSIDE}")


def short_name(uri: str) -> str:
    """fs/read of matrix://tool/fs/read@1.0.0."""
    return uri.removeprefix(SCHEME).partition("@")[0]


def slug(tool: str) -> str:
    """A tool's name where an address can hold it, else what is left of it with a digest of the whole.

    A name that looks as if it ended in such a digest gets one too, so that none can pass for another.
    """
    if _SLUG.fullmatch(tool) and not _TELLING.fullmatch(tool):
        return tool
    plain = re.sub(r"[^a-z0-9_]+", "-", tool.lower()).strip("-_")[:40].rstrip("-_")
    begun = plain if plain[:1].isalpha() and plain[:1].isascii() else f"t-{plain}".rstrip("-")
    return f"{begun}-{hashlib.sha256(tool.encode(errors='surrogatepass')).hexdigest()[:_DIGITS]}"


def nearest(text: str, known: Iterable[str]) -> list[str]:
    """The names that look most like one that is not there; with nothing alike, those it is a part of."""
    names = sorted(set(known))
    near = difflib.get_close_matches(text, names, n=_NEAREST, cutoff=0.5)
    begun = text.partition("/")[0]
    return near or [one for one in names if begun and begun in one][:_NEAREST]
