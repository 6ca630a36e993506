"""read_activity: what was called over MCP in this home, newest first. It reads, and changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from mcl.catalog.activity.record import OPERATIONS, SENSITIVITIES, VERDICTS
from mcl.serve.exchange import Caller, Json, Reply
from mcl.serve.offered.offered import LOOKS, Offered

if TYPE_CHECKING:
    from mcl.serve.service.service import Service

_LIMIT, _MOST = 20, 100  # records on a page, unless asked for otherwise; and at most
_MAX_BYTES: Final = 128 * 1024  # of a page's records as JSON


async def _run(session: Service, arguments: Json, caller: Caller) -> Reply:
    from mcl.catalog.activity.filters import bad_filter, parse_filters
    from mcl.catalog.activity.index import Reader

    given = dict(arguments)
    limit, cursor = given.pop("limit", _LIMIT), given.pop("cursor", "")
    filters = parse_filters(given, now=session.home.clock.now())
    if type(limit) is not int or not 1 <= limit <= _MOST:
        raise bad_filter("limit", f"cannot be {str(limit)[:80]!a}", f"a whole number from 1 to {_MOST}")
    page = Reader(session.home).page(filters, limit=limit, cursor=cursor, max_bytes=_MAX_BYTES)  # type: ignore[arg-type]  # page looks
    return Reply(session.redactor.value(page.to_json()))  # type: ignore[arg-type]  # an object, as it was


def _any_of(what: str, words: tuple[str, ...] = ()) -> Json:
    """The schema of a filter: one text, or several of which any will do."""
    one: dict[str, object] = {"type": "string", **({"enum": list(words)} if words else {})}
    many = {"type": "array", "items": one, "minItems": 1}
    return {"description": f"{what} One text, or a list of which any will do.", "anyOf": [one, many]}


_WHEN: Final = "as 2026-11-21, 2026-11-21T10:00Z, or ago: 30m, 2h, 3d."
OFFERED: Final = Offered(
    name="read_activity",
    title="Read what was called",
    description="The calls that were made over MCP in this home, newest first: server, tool, declared intent,"
    " verdict (allowed, asked, denied, failed) with its code, arguments without secrets, sizes, times. All"
    " filters together must hold. Pages end with `next`: give it as cursor, with the same filters, for what"
    " is older; it is empty at the end. Rows under `flaws` do not verify and are not shown.",
    input_schema={
        "type": "object",
        "properties": {
            "server": _any_of("Calls of this server; mcl is mcl itself."),
            "tool": _any_of("Calls of this tool: its name, or server:tool."),
            "operation": _any_of("Declared as this; none: nothing was declared.", OPERATIONS),
            "sensitivity": _any_of("Declared as this.", SENSITIVITIES),
            "status": _any_of("The verdict.", VERDICTS),
            "code": _any_of("The code of a refusal or failure, such as SERVER_MISMATCH."),
            "intent": _any_of("The id of an intent, or how it begins."),
            "agent": _any_of("The DID of an agent, or how it begins."),
            "client": _any_of("What a client calls itself."),
            "since": {"type": "string", "description": f"From then on, {_WHEN}"},
            "until": {"type": "string", "description": f"Before then, {_WHEN}"},
            "text": {"type": "string", "description": "Words that the call is shown with, in any case."},
            "limit": {"type": "integer", "minimum": 1, "maximum": _MOST, "default": _LIMIT},
            "cursor": {"type": "string", "description": "The `next` of the page before."},
        },
        "additionalProperties": False,
    },
    output_schema={
        "type": "object",
        "properties": {
            "activity": {"type": "array", "items": {"type": "object"}},
            "next": {"type": "string"},
            "flaws": {"type": "array", "items": {"type": "object"}},
        },
        "required": ["activity", "next", "flaws"],
    },
    annotations=LOOKS,
    run=_run,
    example={"status": "denied", "since": "2h", "limit": 10},
    checked=False,  # a filter that cannot be right is BAD_FILTER
)
