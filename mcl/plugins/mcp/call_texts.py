"""A call as an agent makes it: the tool by its name over MCP, ``server:tool``, and the arguments of
call_tool_read, call_tool_write and call_tool_destructive, read into a declared call.

What is read here is only understood, not judged: whether the declaration holds is for the guard three_keys.
What the address of a tool is, and how people may name it besides, is for ``executor.tools.names``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from executor.call import Call, Declaration
from executor.core.hashing import is_shallow, json_size
from executor.gate.guards.call import VARIANTS
from executor.tools.names import MAX_TOOL, OURSELVES, is_server, is_tool
from ir import DocumentError, parse_json
from mcl.core.errors import McpError
from mcl.plugins.mcp.records.record import INTENT

_FORM: Final = "write server:tool, as retrieve_tools gives it"
_NAME_EXAMPLE: Final = 'name = "github:create_issue"'


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
        raise _bad_name("name is missing" if text is None else f"name is {_kind(text)}, not a text")
    if not text:
        raise _bad_name("name is empty")
    server, colon, tool = text.partition(":")
    shown = ascii(text[:80])
    if not colon:
        raise _bad_name(f"{shown} names no server")
    if not is_server(server):
        raise _bad_name(f"{server[:80]!a} is no server's name")
    if not is_tool(tool):
        raise _bad_name(f"{shown} names no tool: a name has 1 to {MAX_TOOL} printable characters")
    return ToolName(server, tool)


def _bad_name(why: str) -> McpError:
    return McpError("BAD_TOOL_NAME", why, place="name", fix=_FORM, example=_NAME_EXAMPLE)


# ---- Its arguments.

MAX_ARGS: Final = 32 << 20  # characters of args_json
_DEPTH: Final = 64  # lists and objects inside one another
_KNOWN: Final = ("name", "args", "args_json", "intent", *INTENT)
_EXAMPLE: Final = '{"name": "github:get_issue", "args": {"number": 7}, "intent": {"reason": "to sum it up"}}'


@dataclass(frozen=True, slots=True)
class ToolCallRequest:
    """A call as an agent made it: which tool, with what, and what it says about that."""

    name: ToolName
    args: dict[str, object]
    declaration: Declaration

    def call(self, tool_ref: str, node_id: str = "") -> Call:
        """The call that the gate judges. tool_ref: the tool's address."""
        return Call(tool_ref, self.args, "", node_id, declaration=self.declaration)


def read_call(variant: str, arguments: Mapping[str, object]) -> ToolCallRequest:
    """Read the arguments of a call_tool_* tool. What is null was not given; an empty args_json neither.

    Args:
        variant: call_tool_read, call_tool_write or call_tool_destructive.
        arguments: name; args or args_json; the intent as an object, or flat beside them.

    Raises:
        McpError: BAD_TOOL_NAME, UNKNOWN_ARGUMENT, ARGS_TWICE, BAD_ARGS, BAD_ARGS_JSON, BAD_INTENT,
            INTENT_TWICE.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    if unknown := sorted(given.keys() - set(_KNOWN), key=str):
        raise _error("UNKNOWN_ARGUMENT", f"there is no argument {_short(unknown[0])}", "arguments", _takes())
    name = parse_name(given.get("name"))
    args = _args(given)
    said = _intent(given)
    operation = said.get("operation_type")
    return ToolCallRequest(
        name,
        args,
        Declaration(
            # Left out it is what the variant says; given as "" it is missing.
            operation_type=VARIANTS.get(variant, "") if operation is None else _text(operation),
            data_sensitivity=_text(said.get("data_sensitivity", "")) or "unknown",
            reason=_reason(said.get("reason", "")),
            variant=variant,
            given="intent" in given or any(field in given for field in INTENT),
            name=str(name),
        ),
    )


def _args(given: Mapping[str, object]) -> dict[str, object]:
    text, example = given.get("args_json", ""), 'args = {"number": 7}'
    if "args" not in given:
        return _args_of_text(text)
    if text != "":
        raise _error(
            "ARGS_TWICE", "args and args_json are both given", "args_json", "give one of them", example
        )
    args = given["args"]
    if not isinstance(args, dict):
        hint = "a text goes into args_json" if isinstance(args, str) else "give an object"
        raise _error("BAD_ARGS", f"args is {_kind(args)}, not an object", "args", hint, example)
    if not is_shallow(args, _DEPTH) or not all(isinstance(key, str) for key in args):
        raise _error("BAD_ARGS", f"args has more than {_DEPTH} levels", "args", "give less deep arguments")
    if json_size(args) is None:
        why = "args holds a number that JSON has not (NaN, infinity), or half a character"
        raise _error("BAD_ARGS", why, "args", "leave it out, or give null", example)
    return dict(args)


def _args_of_text(text: object) -> dict[str, object]:
    def bad(why: str, fix: str, example: str = 'args_json = "{\\"number\\": 7}"') -> McpError:
        return _error("BAD_ARGS_JSON", f"args_json {why}", "args_json", fix, example)

    if text == "":
        return {}
    if not isinstance(text, str):
        raise bad(f"is {_kind(text)}, not a text", "an object goes into args")
    if len(text) > MAX_ARGS:
        raise bad(f"has {len(text):,} characters", f"at most {MAX_ARGS:,}", _EXAMPLE)
    try:
        parsed = parse_json(text, max_nesting=_DEPTH)
    except DocumentError as problem:
        where = f" at {problem.place}" if problem.place not in ("", "$") else ""
        why = f"cannot be read{where}: {problem.message[:200]}"
        raise bad(why, problem.fix or "give one JSON object") from problem
    if not isinstance(parsed, dict):
        raise bad(f"is {_kind(parsed)}, not an object", "give an object")
    return parsed


def _intent(given: Mapping[str, object]) -> dict[str, object]:
    """What the call says of itself: the object's fields and the flat ones, which must not disagree."""
    flat = {field: given[field] for field in INTENT if field in given}
    whole = given.get("intent")
    if whole is None:
        return flat
    example = 'intent = {"operation_type": "read", "reason": "to sum it up"}'
    if not isinstance(whole, Mapping):
        raise _error(
            "BAD_INTENT",
            f"intent is {_kind(whole)}, not an object",
            "intent",
            "give an object, or its fields flat",
            example,
        )
    said = {field: value for field, value in whole.items() if value is not None}
    if unknown := sorted(said.keys() - set(INTENT), key=str):
        fix = f"an intent has {', '.join(INTENT)}"
        raise _error(
            "UNKNOWN_ARGUMENT", f"there is no intent.{_short(unknown[0])[1:-1]}", "intent", fix, example
        )
    for field in INTENT:
        if field in flat and field in said and flat[field] != said[field]:
            why = f"{field} and intent.{field} are both given, and differ"
            raise _error("INTENT_TWICE", why, field, "say it once", example)
    return {**flat, **said}


def _reason(value: object) -> str:
    if isinstance(value, str):
        return value
    raise _error(
        "BAD_INTENT",
        f"intent.reason is {_kind(value)}, not a text",
        "reason",
        "give a text, or leave it out",
        'reason = "to sum it up"',
    )


def _text(value: object) -> str:
    """A field as it is, or what was given in its place, which the gate then refuses by name."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value)[:200]
    except (TypeError, ValueError, RecursionError):
        return _kind(value)


def _takes() -> str:
    return f"it takes {', '.join(_KNOWN)}; what the tool takes goes into args"


def _kind(value: object) -> str:
    kinds = {
        bool: "a boolean",
        int: "a number",
        float: "a number",
        str: "a text",
        list: "a list",
        dict: "an object",
        type(None): "null",
    }
    return kinds.get(type(value), type(value).__name__)


def _short(value: object) -> str:
    return ascii(str(value)[:80])


def _error(code: str, why: str, place: str, fix: str, example: str = _EXAMPLE) -> McpError:
    return McpError(code, why, place=place, fix=fix, example=example)
