"""Reading a server's resource and getting one of its prompts, as two tools that the gate knows like any
other.

The protocol has methods of their own for these, and the gate knows tools only. So each server that has
resources (or templates of them) has the tool ``server:resources/read``, and each that has prompts
``server:prompts/get``: quarantined until approved, declared, judged, recorded. What they do is never what a
server says that a tool of this name does: a tool that a server itself offers under one of these names is
left out (``without_pseudo``).

That they only read is believed of a trusted server. Of another one they count as the worst, as all its
tools do: what it does when it is asked for a resource nobody can say.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

if TYPE_CHECKING:
    from mcl.catalog.channels import Channel
    from mcl.catalog.upstream import Upstreams

READ: Final = "resources/read"
GET: Final = "prompts/get"
_HINTS: Final = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": False,
}
_DEFINITIONS: Final[Mapping[str, Mapping[str, object]]] = {
    READ: {
        "name": READ,
        "title": "Read a resource",
        "description": "Reads one resource of this server by its own address, as resources/list and the"
        " templates give it (there as mcl://SERVER/ADDRESS).",
        "inputSchema": {
            "type": "object",
            "properties": {"uri": {"type": "string", "description": "the server's own address of it"}},
            "required": ["uri"],
            "additionalProperties": False,
        },
        "annotations": _HINTS,
    },
    GET: {
        "name": GET,
        "title": "Get a prompt",
        "description": "Gets one prompt of this server with its arguments filled in, as prompts/list gives it"
        " (there as SERVER:NAME).",
        "inputSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "the server's own name of it"},
                "arguments": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "required": ["name"],
            "additionalProperties": False,
        },
        "annotations": _HINTS,
    },
}
# What a server lists, and the tool that it makes useful.
_KINDS: Final[Mapping[str, str]] = {"resources": READ, "templates": READ, "prompts": GET}


def is_pseudo(tool: str) -> bool:
    """Is this the name of one of the two?"""
    return tool in _DEFINITIONS


def pseudo_definitions(kinds: Iterable[str]) -> tuple[Mapping[str, object], ...]:
    """The definitions of those that a server has: kinds are what it offers (resources, templates,
    prompts)."""
    wanted = {_KINDS[kind] for kind in kinds if kind in _KINDS}
    return tuple(definition for name, definition in _DEFINITIONS.items() if name in wanted)


def without_pseudo(definitions: Iterable[Mapping[str, object]]) -> tuple[Mapping[str, object], ...]:
    """A server's own tools without any that takes the name of one of the two."""
    return tuple(one for one in definitions if not is_pseudo(str(one.get("name", ""))))


async def perform(
    upstreams: Upstreams,
    server: str,
    tool: str,
    arguments: Mapping[str, object],
    *,
    channel: Channel,
    timeout_s: float,
) -> dict[str, Any]:
    """Do what a tool of a server does, be it one of the two or the server's own.

    Returns: content, structured, is_error as ``Upstreams.call``; of the two ``structured`` is the whole
    result as the protocol has it (contents; description and messages), and there is no content.

    Raises:
        McpError: as ``Upstreams.call``.
    """
    if tool == READ:
        said = await upstreams.read_resource(
            server, str(arguments["uri"]), channel=channel, timeout_s=timeout_s
        )
    elif tool == GET:
        filled = cast("Mapping[str, str]", arguments.get("arguments") or {})
        said = await upstreams.get_prompt(
            server, str(arguments["name"]), filled, channel=channel, timeout_s=timeout_s
        )
    else:
        return {**await upstreams.call(server, tool, arguments, channel=channel, timeout_s=timeout_s)}
    return {"content": [], "structured": dict(said), "is_error": False}
