"""What comes back from a server: answers as they are taken, and every way in which one fails."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias, TypedDict

from executor.core.hashing import json_size
from executor.sandbox.redaction import Redactor, visible
from executor.tools.schemas import ForeignChecker
from ir.errors import FAILED
from mcl.core.errors import McpError

# ---- What can go wrong with a server, each with its code and what to do about it.


_SHOWN: Final = 400  # characters of what a server says of itself


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a connection ended, or a call failed. code: of the McpError it becomes; data: more for programs."""

    code: str
    message: str
    fix: str = ""
    data: Mapping[str, object] = field(default_factory=dict)

    def error(self, server: str, tool: str = "") -> McpError:
        """A new error of this kind."""
        return McpError(
            self.code,
            f"{server} {self.message}",
            place=f"{server}:{tool}" if tool else server,
            fix=self.fix or _FIXES.get(self.code, "").format(server=server),
            exit=FAILED,
            data={**self.data, "server": server},
        )


class FaultError(Exception):
    """Ends a connection for a reason that is known; it never leaves this package.

    alone: the server's process ended by itself.
    """

    def __init__(self, fault: Fault, *, alone: bool = False) -> None:
        super().__init__(fault.message)
        self.fault, self.alone = fault, alone


def down(message: str, fix: str = "") -> Fault:
    """The server is not there."""
    return Fault("SERVER_DOWN", message, fix)


def lied(message: str) -> Fault:
    """The server broke the protocol."""
    return Fault("SERVER_LIED", message)


def slow(message: str) -> Fault:
    """The server did not answer in time."""
    return Fault("SERVER_SLOW", message)


def too_large(message: str) -> Fault:
    """The server answered more than is kept."""
    return Fault("RESULT_TOO_LARGE", message)


def asks(what: str, more: str = "") -> Fault:
    """The server asked for something of the person or the agent that nobody asks in our name."""
    wanted = {
        "elicitation/create": "a question to the person",
        "sampling/createMessage": "an answer of the model",
        "roots/list": "the folders of the client",
    }.get(what, "something of the client")
    return Fault(
        "UPSTREAM_ASKS",
        f"asked for {wanted} ({what}), which mcl passes on to nobody{more}",
        "give what it needs as arguments of the call, or use another tool",
    )


def quoted(text: str, redactor: Redactor) -> str:
    """What a server says, short, visible and without secrets."""
    shown = visible(redactor.text(text)).strip()
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"


def last_words(text: str, redactor: Redactor) -> str:
    """The same of what a process wrote before it ended: its end, where the reason of a crash stands."""
    shown = visible(redactor.text(text)).strip()
    return shown if len(shown) <= _SHOWN else f"…{shown[-_SHOWN:]}"


_FIXES: Final = {
    "SERVER_DOWN": "mcl server check {server} shows what is wrong with it",
    "SERVER_SLOW": "try again with less to do; mcl server check {server} shows how long it takes to start",
    "SERVER_LIED": "nothing of its answer was used; tell those who make the server",
    "RESULT_TOO_LARGE": "ask for less: a part, a page, a filter",
    "UPSTREAM_ERROR": "see what it says, and call it otherwise",
}


# ---- What a server answers: results and lists, and what it says while a call runs.
#
# The shape of a result was checked by the SDK; its structured part is held to its schema here.


Json: TypeAlias = dict[str, Any]


class Result(TypedDict):
    """What a tool answered: blocks of content, the structured answer or None; is_error: it says it failed.

    A structured answer that is no object (the newer protocol allows it) is {"result": it}.
    """

    content: list[Json]
    structured: Json | None
    is_error: bool


def as_result(answer: Json) -> Result:
    """The answer to a call, in our form."""
    structured = answer.get("structuredContent")
    if structured is not None and not isinstance(structured, dict):
        structured = {"result": structured}
    content = answer.get("content")
    return {
        "content": list(content) if isinstance(content, list) else [],
        "structured": structured,
        "is_error": answer.get("isError") is True,
    }


def check_structured(answer: Json, tool: str, promised: ForeignChecker | None) -> None:
    """Hold the structured part of an answer to what the tool promised.

    Args:
        promised: of its output schema, None where it has none.

    Raises:
        FaultError: SERVER_LIED.
    """
    if promised is None or answer.get("isError") is True:
        return
    if "structuredContent" not in answer:
        raise FaultError(lied(f"promised a structured answer of {tool}, and gave none"))
    if (flaw := next(promised.iter_errors(answer["structuredContent"]), None)) is not None:
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in flaw.absolute_path)
        said = visible(f"${place[:80]} {flaw.message}")
        raise FaultError(lied(f"answered {tool} otherwise than its output schema says: {said}"))


def check_whole(answer: Json, what: str) -> None:
    """See that an answer is one, and says so in one way only.

    Raises:
        FaultError: SERVER_LIED.
    """
    if (kind := answer.get("resultType", "complete")) != "complete":
        raise FaultError(lied(f"answered {what} with a result of the kind {ascii(kind)[:80]}"))
    if not isinstance(answer.get("isError", False), bool):
        raise FaultError(lied(f"answered {what} in a wrong shape: isError is no boolean"))


def asked(answer: Json) -> Fault | None:
    """What a server wants first, where its answer is not yet one (protocol 2026-07-28)."""
    if answer.get("resultType") != "input_required":
        return None
    requests = answer.get("inputRequests")
    wanted = list(requests.values()) if isinstance(requests, dict) else []
    method = next((one.get("method") for one in wanted if isinstance(one, dict)), "")
    return asks(method if isinstance(method, str) else "")


# ---- Everything that a server lists of a kind, page by page: bounded, and no page twice.

Kind: TypeAlias = Literal["tools", "resources", "templates", "prompts"]
KINDS: Final[tuple[Kind, ...]] = ("tools", "resources", "templates", "prompts")
MOST_PAGES: Final = 200
MOST_ITEMS: Final = 10_000
MOST_BYTES: Final = 32 << 20
MOST_CURSOR: Final = 4096  # characters

# Where each is asked for; under which name it comes; what tells two of them apart.
METHODS: Final[dict[Kind, str]] = {
    "tools": "tools/list",
    "resources": "resources/list",
    "templates": "resources/templates/list",
    "prompts": "prompts/list",
}
_MEMBERS: Final[dict[Kind, str]] = {
    "tools": "tools",
    "resources": "resources",
    "templates": "resourceTemplates",
    "prompts": "prompts",
}
_KEYS: Final[dict[Kind, str]] = {
    "tools": "name",
    "resources": "uri",
    "templates": "uriTemplate",
    "prompts": "name",
}


async def all_pages(
    kind: Kind, page: Callable[[str | None], Awaitable[dict[str, Any]]]
) -> tuple[dict[str, Any], ...]:
    """All items, in the order they came; of two resources or prompts of one name the first.

    Two tools of one name both come: which of them is meant nobody knows, and neither is used (definitions).

    Args:
        page: asks for the page behind a cursor (None: the first) and gives the answer.

    Raises:
        FaultError: SERVER_LIED, RESULT_TOO_LARGE; and what ``page`` raises.
    """
    items: list[dict[str, Any]] = []
    names: set[object] = set()
    cursors: set[str] = set()
    cursor: str | None = None
    size = 0
    for _ in range(MOST_PAGES):
        answer = await page(cursor)
        size += json_size(answer) or MOST_BYTES + 1
        for item in answer.get(_MEMBERS[kind], []):
            name = item.get(_KEYS[kind])
            if kind == "tools" or name not in names:
                items.append(item)
            names.add(name)
        if len(items) > MOST_ITEMS or size > MOST_BYTES:
            raise FaultError(
                too_large(f"lists more than {MOST_ITEMS} {kind}, or {MOST_BYTES >> 20} MiB of them")
            )
        cursor = answer.get("nextCursor")
        if cursor is None:
            return tuple(items)
        if not isinstance(cursor, str) or len(cursor) > MOST_CURSOR or cursor in cursors:
            raise FaultError(lied(f"lists its {kind} in pages that lead back to one another"))
        cursors.add(cursor)
    raise FaultError(too_large(f"lists its {kind} in more than {MOST_PAGES} pages"))
