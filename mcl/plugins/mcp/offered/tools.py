"""The tools that `mcl mcp serve` offers, in the order in which clients see them; and those of them that call
any tool there is, and tell of the calls that were made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from executor.gate.guards.call import MAX_REASON, SENSITIVITIES, VARIANTS
from mcl.plugins.hooks import plugins
from mcl.plugins.mcp.offered.intents import COMPILE_INTENT, GET_INTENT
from mcl.plugins.mcp.offered.run_intent import RUN_INTENT
from mcl.plugins.mcp.offered.search import DESCRIBE_TOOL, RETRIEVE_TOOLS
from mcl.serve.exchange import Caller, Json, Reply
from mcl.serve.offered import Offered, offered

if TYPE_CHECKING:
    from mcl.plugins.mcp.service import Service


# ---- call_tool_read, call_tool_write, call_tool_destructive: any tool there is, with a declaration of what
# it is called for. What a caller declares is the most that its call may do; the gate looks at what the tool
# does.

_WHAT: Final = {
    "call_tool_read": "only reads: nothing is changed",
    "call_tool_write": "makes or changes something, and destroys nothing",
    "call_tool_destructive": "may delete, overwrite or otherwise do what cannot be taken back",
}
_HINTS: Final[dict[str, Json]] = {
    "call_tool_read": {"readOnlyHint": True, "destructiveHint": False, "openWorldHint": True},
    "call_tool_write": {"readOnlyHint": False, "destructiveHint": False, "openWorldHint": True},
    "call_tool_destructive": {"readOnlyHint": False, "destructiveHint": True, "openWorldHint": True},
}


def _offered(variant: str) -> Offered:
    operation = VARIANTS[variant]

    async def run(session: Service, arguments: Json, caller: Caller) -> Reply:
        from mcl.plugins.mcp.calls import call

        return await call(session, variant, arguments, caller)

    return Offered(
        name=variant,
        title=f"Call a tool ({operation})",
        description=f"Call a tool (server:tool, as retrieve_tools names it) in a way that {_WHAT[variant]}."
        " Use the variant that the tool's call_with names, and say in intent (or in its fields, flat) what"
        " the call is for: that is required. A tool that does more than is declared is refused, and the"
        " refusal says what to do. What is not covered waits for a person.",
        input_schema=_schema(operation),
        annotations=_HINTS[variant],
        run=run,
        example=_example(operation),
        checked=False,  # what is wrong is said by codes of its own
        kept=False,  # and is kept with the verdict of the gate
    )


def _schema(operation: str) -> Json:
    sensitivity = {
        "type": "string",
        "enum": list(SENSITIVITIES),
        "description": "Of the data that is read or changed; unknown where it is left out.",
    }
    reason = {"type": "string", "maxLength": MAX_REASON, "description": "Why, for the person who reads it."}
    declared = {
        "type": "string",
        "enum": [operation],
        "description": "May be left out: this tool says it.",
    }
    fields = {"operation_type": declared, "data_sensitivity": sensitivity, "reason": reason}
    return {
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "server:tool, such as github:create_issue."},
            "args": {"type": "object", "description": "What the tool takes, by its input schema."},
            "args_json": {"type": "string", "description": "The same as one JSON text; not both."},
            "intent": {
                "type": "object",
                "properties": fields,
                "additionalProperties": False,
                "description": "What this call is for. Required, unless its fields are given flat.",
            },
            **fields,
        },
        "required": ["name"],
        "additionalProperties": False,
    }


def _example(operation: str) -> Json:
    return {
        "name": "github:get_issue" if operation == "read" else "github:create_issue",
        "args": {"number": 7} if operation == "read" else {"title": "Broken link"},
        "intent": {"operation_type": operation, "data_sensitivity": "internal", "reason": "asked for"},
    }


READ: Final = _offered("call_tool_read")
WRITE: Final = _offered("call_tool_write")
DESTRUCTIVE: Final = _offered("call_tool_destructive")


# ---- read_activity: what was called over MCP in this home, newest first. It reads, and changes nothing.


_LIMIT, _MOST = 20, 100  # records on a page, unless asked for otherwise; and at most
_MAX_BYTES: Final = 128 * 1024  # of a page's records as JSON


async def _read_activity(session: Service, arguments: Json, caller: Caller) -> Reply:
    from mcl.plugins.mcp.records.index import Reader
    from mcl.plugins.mcp.records.record import bad_filter, parse_filters

    given = dict(arguments)
    limit, cursor = given.pop("limit", _LIMIT), given.pop("cursor", "")
    filters = parse_filters(given, now=session.home.clock.now())
    if type(limit) is not int or not 1 <= limit <= _MOST:
        raise bad_filter("limit", f"cannot be {str(limit)[:80]!a}", f"a whole number from 1 to {_MOST}")
    page = Reader(session.home).page(filters, limit=limit, cursor=cursor, max_bytes=_MAX_BYTES)  # type: ignore[arg-type]  # page looks
    return Reply(session.redactor.value(page.to_json()))  # type: ignore[arg-type]  # an object, as it was


READ_ACTIVITY: Final = offered(__file__, "read_activity", _read_activity)

OFFERED: Final[tuple[Offered, ...]] = (
    RETRIEVE_TOOLS,
    DESCRIBE_TOOL,
    READ,
    WRITE,
    DESTRUCTIVE,
    COMPILE_INTENT,
    GET_INTENT,
    RUN_INTENT,
    *(plugin.load_named(named) for plugin in plugins() for named in plugin.offered),
    READ_ACTIVITY,
)
