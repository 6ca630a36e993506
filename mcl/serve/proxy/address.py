"""Names that our clients know other servers' resources and prompts by: ``mcl://server/uri``,
``server:prompt``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from executor.tools.names import OURSELVES, is_server
from mcl.core.errors import McpError

SCHEME: Final = "mcl://"
MAX_URI: Final = 8_192  # characters of a server's own address
MAX_NAME: Final = 256  # characters of a prompt's name


def ours(server: str, uri: str) -> str:
    """The address by which our clients know a server's resource, or template of resources."""
    return f"{SCHEME}{server}/{uri}"


def parse_uri(text: str) -> tuple[str, str]:
    """The server that an address of ours names, and that server's own address.

    Raises:
        McpError: BAD_RESOURCE_URI.
    """
    server, slash, own = text.removeprefix(SCHEME).partition("/")
    if not text.startswith(SCHEME) or not slash or not is_server(server) or server == OURSELVES:
        raise _bad_uri(f"{text[:200]!a} names no resource of a server")
    if not is_uri(own):
        raise _bad_uri(f"the address behind mcl://{server}/ has 1 to {MAX_URI} visible characters")
    return server, own


def is_uri(own: str) -> bool:
    """Can a server's resource have this address? Nothing in it may be invisible."""
    return 0 < len(own) <= MAX_URI and own.isprintable() and own == own.strip()


def prompt_name(server: str, name: str) -> str:
    """The name by which our clients know a server's prompt."""
    return f"{server}:{name}"


def parse_prompt(text: str) -> tuple[str, str]:
    """The server that a prompt's name names, and the name that it has there.

    Raises:
        McpError: BAD_PROMPT_NAME.
    """
    server, colon, name = text.partition(":")
    if not colon or not is_server(server) or server == OURSELVES or not is_prompt(name):
        raise McpError(
            "BAD_PROMPT_NAME",
            f"{text[:200]!a} names no prompt of a server",
            place="name",
            fix="write server:prompt, as prompts/list gives it",
            example='name = "notes:greet"',
        )
    return server, name


def is_prompt(name: str) -> bool:
    """Can a server's prompt have this name? Nothing in it may be invisible."""
    return 0 < len(name) <= MAX_NAME and name.isprintable() and name == name.strip()


def linked(server: str, block: Mapping[str, object]) -> dict[str, object]:
    """A block of content whose link or embedded resource is named as our clients can read it."""
    changed = dict(block)
    if block.get("type") == "resource_link" and isinstance(uri := block.get("uri"), str):
        changed["uri"] = ours(server, uri)
    inner = block.get("resource")
    if block.get("type") == "resource" and isinstance(inner, Mapping):
        changed["resource"] = readdressed(server, inner)
    return changed


def readdressed(server: str, contents: Mapping[str, object]) -> dict[str, object]:
    """The contents of a resource under the address by which our clients know it."""
    uri = contents.get("uri")
    return {**contents, "uri": ours(server, uri)} if isinstance(uri, str) else dict(contents)


def _bad_uri(why: str) -> McpError:
    return McpError(
        "BAD_RESOURCE_URI",
        why,
        place="uri",
        fix="write mcl://SERVER/ADDRESS, as resources/list and the templates give it",
        example="mcl://notes/notes://all",
    )
