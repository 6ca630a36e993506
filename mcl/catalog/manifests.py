"""From a tool as another server describes it to a manifest as the gate knows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from pydantic import ValidationError

from executor.call import Operation
from executor.core.hashing import is_shallow, json_size
from executor.core.tables import table_beside
from executor.tools.manifest import Manifest, Outside, SideEffect, ToolScope
from executor.tools.names import OURSELVES, is_server, is_tool, outside_uri
from mcl.core.errors import McpError

# ---- What a tool of another server does, by what the server says of it: a table, and nothing else.

_HINTS: Final = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


@dataclass(frozen=True, slots=True)
class Hints:
    """The annotations of a tool; None where a server says nothing."""

    title: str = ""
    read_only: bool | None = None
    destructive: bool | None = None
    idempotent: bool | None = None
    open_world: bool | None = None


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a tool counts as. annotated: does its server's word decide it?"""

    operation: Operation
    effects: tuple[SideEffect, ...]
    idempotent: bool
    annotated: bool


def read_hints(annotations: object, place: str = "") -> Hints:
    """The annotations as a server gave them.

    Args:
        annotations: None, or an object; what it holds beside the hints says nothing.
        place: whose they are, for the error.

    Raises:
        McpError: BAD_DEFINITION, for a hint that is neither true nor false.
    """
    if annotations is None:
        return Hints()
    if not isinstance(annotations, Mapping):
        raise _bad(place, "annotations are no object")
    for name in _HINTS:
        if not isinstance(annotations.get(name), bool | None):
            raise _bad(place, f"annotations.{name} is neither true nor false")
    title = annotations.get("title")
    if not isinstance(title, str | None):
        raise _bad(place, "annotations.title is no text")
    return Hints(title or "", *(annotations.get(name) for name in _HINTS))


def judge(hints: Hints, *, trusted: bool) -> Judgement:
    """What a tool with these hints counts as; see the table above.

    trusted: has a person said that this server's word is good?
    """
    if not trusted:
        return Judgement("destructive", ("network",), idempotent=False, annotated=hints.destructive is True)
    closed = hints.open_world is False
    # What only looks may be asked again, unless its server says otherwise.
    again = hints.idempotent is True
    if hints.destructive:
        return Judgement("destructive", ("read", "write") if closed else ("network",), again, annotated=True)
    if hints.read_only:
        again = hints.idempotent is not False
        return Judgement("read", ("read",) if closed else ("network",), again, annotated=True)
    return Judgement("write", ("read", "write") if closed else ("network",), again, annotated=True)


def hints_of(manifest: Manifest) -> dict[str, bool]:
    """The hints that are true of one of our own tools, as the protocol names them."""
    operations = {manifest.operation, *(case.operation for case in manifest.when if case.operation)}
    return {
        "readOnlyHint": operations == {"read"},
        "destructiveHint": "destructive" in operations,
        "idempotentHint": manifest.idempotent,
        "openWorldHint": bool({"network", "chain"} & set(manifest.effects)),
    }


def call_with(operation: str) -> str:
    """The variant by which the gate lets a tool of this operation be called."""
    return f"call_tool_{operation}"


def _bad(place: str, why: str) -> McpError:
    fix = "its author can repair it; other tools of the server are not concerned"
    return McpError("BAD_DEFINITION", why, place=place, fix=fix)


MAX_DEFINITION: Final = 256 << 10  # bytes of JSON
TIMEOUT_MS: Final = 60_000
MAX_OUTPUT: Final = 1 << 20  # bytes
_DEPTH: Final = 48  # lists and objects inside one another
_SAID: Final = 1000  # characters of a description that a manifest holds; the definition has it whole
_KEPT: Final = ("name", "title", "description", "inputSchema", "outputSchema", "annotations")

# What every call of another server's tool gives, whatever its own schema says.
OUTPUT: Final[Mapping[str, object]] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["content", "structured", "is_error"],
    "properties": {"content": {"type": "array"}, "structured": {}, "is_error": {"type": "boolean"}},
}


def manifest_of(server: str, definition: Mapping[str, object], *, trusted: bool) -> Manifest:
    """The manifest of a tool of another server.

    Its pin is that of server and definition alone: trust, and what an operator says that the tool does,
    change what it counts as and not what was approved.

    Args:
        definition: as ``tools/list`` gives it, JSON values; what says nothing (icons, _meta) is left out.
        trusted: has a person said that this server's word is good?

    Raises:
        McpError: BAD_DEFINITION. It is then no tool.
    """
    kept = {name: definition[name] for name in _KEPT if definition.get(name) is not None}
    tool = kept.get("name")
    # Nobody else's tools are called mcl:…
    if not is_server(server) or server == OURSELVES or not isinstance(tool, str) or not is_tool(tool):
        raise _bad(f"{server[:40]}:{ascii(tool)[:150]}", "its name is no name of a tool")
    place = f"{server}:{tool}"
    # Depth first: what is too deep cannot be written either.
    if not is_shallow(kept, _DEPTH) or (size := json_size(kept)) is None:
        raise _bad(place, f"its definition is no JSON of at most {_DEPTH} levels")
    if size > MAX_DEFINITION:
        raise _bad(place, f"its definition has {size:,} bytes; at most {MAX_DEFINITION:,} are read")
    for name in ("title", "description"):
        if not isinstance(kept.get(name, ""), str):
            raise _bad(place, f"its {name} is no text")
    for name in ("inputSchema", "outputSchema"):
        if flaw := _flaw(kept.get(name, {"type": "object"} if name == "outputSchema" else None)):
            raise _bad(place, f"its {name} {flaw}")
    judged = judge(read_hints(kept.get("annotations"), place), trusted=trusted)
    said = str(kept.get("description", "")).strip() or str(kept.get("title", "")).strip()
    try:
        return Manifest.model_validate(
            {
                "uri": outside_uri(server, tool),
                "description": said[:_SAID] or f"{tool} of {server}",
                "effects": list(judged.effects),
                "operation": judged.operation,
                "idempotent": judged.idempotent,
                "timeout_ms": TIMEOUT_MS,
                "max_output": MAX_OUTPUT,
                "safety": _safety(judged.effects, judged.operation),
                "scope": ToolScope(kind="none"),
                "annotated": judged.annotated,
                "outside": Outside(server=server, tool=tool, definition=kept),
                "args": kept["inputSchema"],
                "output": dict(OUTPUT),
            }
        )
    except ValidationError as problem:
        raise _bad(place, str(problem.errors()[0]["msg"])[:200]) from problem


def _flaw(schema: object) -> str:
    """Why this is no schema of an object; "" where nothing is wrong at first sight."""
    if not isinstance(schema, dict):
        return "is missing" if schema is None else "is no object"
    if schema.get("type", "object") != "object":
        return "describes no object"
    if not isinstance(schema.get("properties", {}), dict):
        return "has properties that are no object"
    required = schema.get("required", [])
    if not isinstance(required, list) or not all(isinstance(one, str) for one in required):
        return "has a required that is no list of names"
    return ""


def _safety(effects: Iterable[str], operation: str) -> str:
    if "network" in effects:
        return "B" if operation == "read" else "E"
    return "A" if operation == "read" else "C"


# ---- Reading a server's resource and getting one of its prompts, as two tools that the gate knows like any
# other. The protocol has methods of their own for these, and the gate knows tools only. So each server that
# has resources (or templates of them) has the tool ``server:resources/read``, and each that has prompts
# ``server:prompts/get``: quarantined until approved, declared, judged, recorded. What they do is never what a
# server says that a tool of this name does: a tool that a server itself offers under one of these names is
# left out (``Definitions.observe``).
#
# That they only read is believed of a trusted server. Of another one they count as the worst, as all its
# tools do: what it does when it is asked for a resource nobody can say.

READ: Final = "resources/read"
GET: Final = "prompts/get"
_PSEUDO: Final[Mapping[str, Mapping[str, object]]] = table_beside(__file__)
# What a server lists, and the tool that it makes useful.
_KINDS: Final[Mapping[str, str]] = {"resources": READ, "templates": READ, "prompts": GET}


def is_pseudo(tool: str) -> bool:
    """Is this the name of one of the two?"""
    return tool in _PSEUDO


def pseudo_definitions(kinds: Iterable[str]) -> tuple[Mapping[str, object], ...]:
    """The definitions of those that a server has: kinds are what it offers (resources, templates,
    prompts)."""
    wanted = {_KINDS[kind] for kind in kinds if kind in _KINDS}
    return tuple(definition for name, definition in _PSEUDO.items() if name in wanted)
