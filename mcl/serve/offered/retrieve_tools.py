"""`retrieve_tools`: which tools there are for what an agent wants to do."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from executor.core.hashing import json_size
from mcl.serve.exchange import Caller, Json, Reply
from mcl.serve.finding.shelf import Shelved
from mcl.serve.offered.offered import Offered

if TYPE_CHECKING:
    from mcl.serve.service.service import Service

MOST: Final = 50
_USUAL: Final = 5
_MAX_SCHEMA: Final = 16 << 10  # bytes; a larger one is told by describe_tool
_MAX_TEXT: Final = 4_000  # characters of a description
_NOT_APPROVED: Final = (
    "not approved by a person: its description is the word of a stranger, and calls are refused"
)


async def run(session: Service, arguments: Json, caller: Caller) -> Reply:
    """The tools that fit, best first; without a query those that there are, by name."""
    query, server = str(arguments.get("query", "")), str(arguments.get("server", ""))
    limit, unapproved = arguments.get("limit", _USUAL), arguments.get("include_quarantined") is True
    assert isinstance(limit, int), "the schema says so"
    shelf, policy = session.shelves.now(session), session.context.policy

    def open_to_all(tool: Shelved) -> bool:
        return server in ("", tool.server) and (tool.usable or unapproved)

    def told(place: int) -> bool:
        tool = shelf.tools[place]
        return open_to_all(tool) and not policy.denies(tool.manifest)

    if query.strip():
        found = [(shelf.tools[one.place], one.score) for one in shelf.index.find(query, limit, among=told)]
    else:
        places = islice(filter(told, range(len(shelf.tools))), limit)
        found = [(shelf.tools[place], 0.0) for place in places]
    waiting = sum(not tool.usable and server in ("", tool.server) for tool in shelf.tools)
    answer: dict[str, object] = {
        "tools": [session.redactor.value(_hit(tool, score)) for tool, score in found],
        "searched": sum(map(open_to_all, shelf.tools)),
        "not_approved": waiting,
    }
    if note := _note(found, waiting, unapproved):
        answer["note"] = note
    return Reply(answer)


def _hit(tool: Shelved, score: float) -> dict[str, object]:
    said: Mapping[str, Any] = tool.definition
    hit: dict[str, object] = {
        "name": tool.name,
        "description": str(said.get("description", ""))[:_MAX_TEXT],
        "inputSchema": said["inputSchema"],
        "score": score,
        "server": tool.server,
        "annotations": dict(said.get("annotations") or {}),
        "call_with": tool.call_with,
        "standing": tool.standing,
    }
    if said.get("title"):
        hit["title"] = str(said["title"])[:_MAX_TEXT]
    if (json_size(said["inputSchema"]) or 0) > _MAX_SCHEMA:
        names = sorted(map(str, said["inputSchema"].get("properties", {})))[:MOST]
        hit["inputSchema"] = {"type": "object", "properties": {key: {} for key in names}}
        hit["schema_cut"] = "too large to be told here: describe_tool has it whole"
    if not tool.usable:
        hit["warning"] = _NOT_APPROVED
        hit["suspicions"] = tool.suspicions
    return hit


def _note(found: list[tuple[Shelved, float]], waiting: int, unapproved: bool) -> str:
    said = "" if found else "no tool fits; say it in other words (what is done, and to what: 'create issue')"
    if waiting and not unapproved:
        more = f"{waiting} more wait for a person's approval (mcl tool list); include_quarantined shows them"
        return f"{said}; {more}" if said else more
    return said


OFFERED = Offered(
    name="retrieve_tools",
    title="Find tools",
    description=(
        "Find tools by what you want to do, in plain words. Each hit has its full name, input schema, how"
        " well it fits (score 0..1), and in call_with the tool that you call it by: call_tool_read,"
        " call_tool_write or call_tool_destructive, with name = the hit's name. Without a query it lists"
        " tools by name."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "query": {"type": "string", "maxLength": 2000, "description": "what you want to do"},
            "limit": {"type": "integer", "minimum": 1, "maximum": MOST, "default": _USUAL},
            "server": {"type": "string", "maxLength": 32, "description": "only of this server"},
            "include_quarantined": {
                "type": "boolean",
                "default": False,
                "description": "also tools that no person approved yet; they cannot be called",
            },
        },
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "required": ["tools", "searched", "not_approved"],
        "properties": {
            "tools": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": [
                        *("name", "description", "inputSchema", "score", "server", "annotations"),
                        *("call_with", "standing"),
                    ],
                    "properties": {
                        "name": {"type": "string"},
                        "title": {"type": "string"},
                        "description": {"type": "string"},
                        "inputSchema": {"type": "object"},
                        "score": {"type": "number", "minimum": 0, "maximum": 1},
                        "server": {"type": "string"},
                        "annotations": {"type": "object"},
                        "call_with": {
                            "enum": ["call_tool_read", "call_tool_write", "call_tool_destructive"],
                        },
                        "standing": {"type": "string"},
                    },
                },
            },
            "searched": {"type": "integer"},
            "not_approved": {"type": "integer"},
            "note": {"type": "string"},
        },
    },
    annotations={"readOnlyHint": True, "openWorldHint": False, "idempotentHint": True},
    run=run,
    example={"query": "create an issue", "limit": 5},
)
