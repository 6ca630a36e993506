"""`describe_tool`: all that is known of one tool, and what the gate would say to a call of it now."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from executor.call import Call, Declaration
from executor.gate.decide import foresee
from executor.gate.verdict import Deny
from ir import MclError
from mcl.core.errors import McpError
from mcl.serve.exchange import Caller, Json, Reply
from mcl.serve.finding.shelf import Shelf, Shelved
from mcl.serve.offered.offered import Offered

if TYPE_CHECKING:
    from mcl.serve.service.service import Service


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


async def run(session: Service, arguments: Json, caller: Caller) -> Reply:
    """Everything about one tool. Raises McpError BAD_TOOL_NAME, UNKNOWN_TOOL."""
    shelf = session.shelves.now(session)
    tool = shelf.find(str(arguments["name"]))
    if tool is None:
        raise _unknown(str(arguments["name"]), shelf)
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


def _unknown(name: str, shelf: Shelf) -> McpError:
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


OFFERED = Offered(
    name="describe_tool",
    title="Describe a tool",
    description=(
        "Everything about one tool: its whole definition, what it counts as and how it is called (call_with),"
        " an example call, whether a person approved it, what is suspicious about it, what the gate would say"
        " to the example now, and what to do next."
    ),
    input_schema={
        "type": "object",
        "properties": {
            "name": {
                "type": "string",
                "maxLength": 200,
                "description": "server:tool, as retrieve_tools gives it",
            }
        },
        "required": ["name"],
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "required": ["name", "server", "definition", "standing", "call_with", "example", "gate"],
        "properties": {
            "name": {"type": "string"},
            "server": {"type": "string"},
            "definition": {"type": "object"},
            "standing": {"type": "string"},
            "suspicions": {"type": "array"},
            "operation": {"enum": ["read", "write", "destructive"]},
            "effects": {"type": "array", "items": {"type": "string"}},
            "call_with": {"type": "string"},
            "example": {"type": "object"},
            "gate": {
                "type": "object",
                "required": ["decision", "next"],
                "properties": {
                    "decision": {"enum": ["allow", "ask", "deny"]},
                    "code": {"type": "string"},
                    "reason": {"type": "string"},
                    "next": {"type": "string"},
                },
            },
        },
    },
    annotations={"readOnlyHint": True, "openWorldHint": False, "idempotentHint": True},
    run=run,
    example={"name": "mcl:fs/read"},
)
