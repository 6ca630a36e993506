"""retrieve_tools and describe_tool: which tools there are for what an agent wants to do, all that is known of
one, and what the gate would say to a call of it now.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, cast

from executor.call import Call, Declaration
from executor.core.hashing import json_size
from executor.gate.decide import foresee
from executor.gate.verdict import Deny
from ir import MclError
from mcl.core.errors import McpError
from mcl.plugins.mcp.shelf import Shelf, Shelved
from mcl.serve.exchange import Caller, Json, Reply
from mcl.serve.offered import offered

if TYPE_CHECKING:
    from mcl.plugins.mcp.service import Service


# ---- describe_tool


# ---- Arguments that a JSON Schema would take, for an example call; a guess, and never more than that.

_DEPTH: Final = 6
_FORMATS: Final = {
    "uri": "https://example.org/",
    "email": "name@example.org",
    "date": "2026-11-21",
    "date-time": "2026-11-21T10:00:00Z",
    "time": "10:00:00Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
}
_TYPES: Final[tuple[str, ...]] = ("string", "integer", "number", "boolean", "array", "object", "null")


def sample_args(schema: Mapping[str, object]) -> dict[str, object]:
    """The arguments that a schema of an object needs; where it needs none, its first as an illustration."""
    properties = schema.get("properties")
    known = cast("dict[str, object]", properties) if isinstance(properties, dict) else {}
    required = schema.get("required")
    wanted = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    return {name: _sample(known.get(name), schema, name) for name in wanted or tuple(known)[:1]}


def _sample(schema: object, root: Mapping[str, object], name: str, depth: int = 0) -> object:
    if not isinstance(schema, Mapping) or depth > _DEPTH:
        return f"<{name}>"
    given = cast("Mapping[str, Any]", schema)
    if isinstance(reference := given.get("$ref"), str):
        return _sample(_resolved(reference, root), root, name, depth + 1)
    for word in ("const", "default"):
        if given.get(word) is not None:
            return given[word]
    for word in ("enum", "examples"):
        if isinstance(given.get(word), list) and given[word]:
            return given[word][0]
    for word in ("anyOf", "oneOf", "allOf"):
        if isinstance(given.get(word), list) and given[word]:
            return _sample(given[word][0], root, name, depth + 1)
    return _of_type(_type(given.get("type")), given, root, name, depth)


def _of_type(
    kind: str, given: Mapping[str, Any], root: Mapping[str, object], name: str, depth: int
) -> object:
    if kind in ("integer", "number"):
        return _number(given)
    if kind == "boolean":
        return False
    if kind == "null":
        return None
    if kind == "array":
        return [_sample(given.get("items"), root, name, depth + 1)] if given.get("items") else []
    if kind == "object":
        properties, required = given.get("properties"), given.get("required")
        if not isinstance(properties, Mapping) or not isinstance(required, list):
            return {}
        return {str(one): _sample(properties.get(one), root, str(one), depth + 1) for one in required}
    text = _FORMATS.get(str(given.get("format", "")), f"<{name}>")
    least = given.get("minLength", 0)
    return text.ljust(least, ".") if isinstance(least, int) and least < 1000 else text


def _number(given: Mapping[str, Any]) -> object:
    for word in ("minimum", "maximum"):
        if isinstance(given.get(word), int | float):
            return given[word]
    above = given.get("exclusiveMinimum")
    return above + 1 if isinstance(above, int | float) and not isinstance(above, bool) else 1


def _type(said: object) -> str:
    kinds = said if isinstance(said, list) else [said]
    return next((kind for kind in kinds if kind in _TYPES and kind != "null"), "string")


def _resolved(reference: str, root: Mapping[str, object]) -> object:
    """What a reference within the same schema names; nothing is fetched."""
    found: object = root
    for part in reference.removeprefix("#/").split("/") if reference.startswith("#/") else ("",):
        found = found.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(found, Mapping) else None
    return found


_NEAREST: Final = 5
_REASON: Final = "why you call it, in a sentence"


async def _describe(session: Service, arguments: Json, caller: Caller) -> Reply:
    """Everything about one tool. Raises McpError BAD_TOOL_NAME, UNKNOWN_TOOL."""
    shelf = session.shelves.now(session)
    tool = shelf.find(str(arguments["name"]))
    if tool is None:
        raise _unknown_tool(str(arguments["name"]), shelf)
    return Reply(_described(tool, session, caller))


def _described(tool: Shelved, session: Service, caller: Caller) -> dict[str, object]:
    one, args = tool.manifest, sample_args(tool.manifest.args)
    answer: dict[str, object] = {
        "name": tool.name,
        "server": tool.server,
        "definition": dict(tool.definition),
        "standing": tool.standing,
        "suspicions": tool.suspicions,
        "operation": tool.operation,
        "effects": sorted(session.context.effect(_call(tool, {}), one).classes),
        "call_with": tool.call_with,
        "idempotent": one.idempotent,
        "timeout_ms": one.timeout_ms,
        "max_result_bytes": one.max_output,
        "pin": one.pin,
        "example": {
            "tool": tool.call_with,
            "arguments": {
                "name": tool.name,
                "args": args,
                "intent": {
                    "operation_type": tool.operation,
                    "data_sensitivity": "unknown",
                    "reason": _REASON,
                },
            },
        },
        "gate": _foreseen(tool, args, session, caller),
    }
    if one.when:  # which of our own tools do something else with certain arguments
        answer["cases"] = [case.model_dump(mode="json", exclude_defaults=True) for case in one.when]
    told = session.redactor.value(answer)
    assert isinstance(told, dict), "an object stays one"
    return told


def _call(tool: Shelved, args: Mapping[str, object]) -> Call:
    said = Declaration(tool.operation, "unknown", _REASON, tool.call_with, name=tool.name)
    return Call(tool.manifest.uri, args, "", declaration=said)


def _foreseen(
    tool: Shelved, args: Mapping[str, object], session: Service, caller: Caller
) -> dict[str, object]:
    """What the gate would say to the example as things stand, and the way on. Nothing is kept or used up."""
    try:
        judged = session.judged(_call(tool, args), caller)
        verdict = foresee(judged.call, judged.context)
    except MclError as problem:  # the policy cannot be read: every call is refused so
        return {"decision": "deny", "code": problem.code, "reason": problem.message, "next": problem.fix}
    if verdict is None:
        return {"decision": "allow", "next": f"call it with {tool.call_with}; it runs at once"}
    if isinstance(verdict, Deny):
        return {
            "decision": "deny",
            "code": verdict.code,
            "reason": verdict.reason,
            "next": verdict.fix,
        }
    return {
        "decision": "ask",
        "reason": " ".join(verdict.why),
        "next": f"call it with {tool.call_with}; a person is asked about each such call, and it waits",
    }


def _unknown_tool(name: str, shelf: Shelf) -> McpError:
    names = [tool.name for tool in shelf.tools if tool.usable]
    near = difflib.get_close_matches(name, names, n=_NEAREST, cutoff=0.4)
    return McpError(
        "UNKNOWN_TOOL",
        f"there is no tool {name[:160]!a}" + (f"; nearest: {', '.join(near)}" if near else ""),
        place="name",
        fix="retrieve_tools finds tools by what they do",
        example=f'{{"name": "{near[0] if near else "mcl:fs/read"}"}}',
        data={"nearest": near},
    )


DESCRIBE_TOOL: Final = offered(__file__, "describe_tool", _describe)


# ---- retrieve_tools


MOST: Final = 50
_USUAL: Final = 5
_MAX_SCHEMA: Final = 16 << 10  # bytes; a larger one is told by describe_tool
_MAX_TEXT: Final = 4_000  # characters of a description
_NOT_APPROVED: Final = (
    "not approved by a person: its description is the word of a stranger, and calls are refused"
)


async def _retrieve(session: Service, arguments: Json, caller: Caller) -> Reply:
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


RETRIEVE_TOOLS: Final = offered(__file__, "retrieve_tools", _retrieve)
