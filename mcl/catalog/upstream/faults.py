"""What can go wrong with a server, each with its code and what to do about it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from executor.core.hashing import json_size
from executor.sandbox.redaction import Redactor, visible
from ir.errors import FAILED
from mcl.catalog.servers import REFERENCE, Server
from mcl.core.errors import McpError

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


# ---- The values of an entry with its variables filled in, and which of them nobody may see.

_SHORTEST: Final = 8  # characters; shorter values would black out ordinary words
# Variables of every environment whose values are no secrets, and stand in many honest answers.
_PLAIN: Final = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TERM", "TZ", "PWD", "TMPDIR"}
)


def filled(values: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """The values with every ``$env:NAME`` in them replaced.

    Raises:
        FaultError: SERVER_DOWN, a variable is not set, or has a value that nothing can be given.
    """
    found: dict[str, str] = {}
    for name, value in values.items():
        for reference in REFERENCE.findall(value):
            if reference not in variables:
                raise FaultError(
                    down(
                        f"cannot be started: its {name} is taken from {reference}, which is not set",
                        f"set {reference} where mcl runs",
                    )
                )
        found[name] = REFERENCE.sub(lambda one: variables[one[1]], value)
        if "\0" in found[name]:
            raise FaultError(down(f"cannot be started: its {name} holds a zero byte"))
    return found


def redactor_of(server: Server, variables: Mapping[str, str]) -> Redactor:
    """Takes the shapes of secrets, and what this server was given, out of what it says."""
    given = {
        variables[name]
        for values in (server.environment, server.headers)
        for value in values.values()
        for name in REFERENCE.findall(value)
        if name not in _PLAIN and len(variables.get(name, "")) >= _SHORTEST
    }
    return Redactor(credentials={value for value in given if not value.startswith("/")})


def gives_secrets(server: Server) -> bool:
    """Does a server get anything of our environment that it could give away?"""
    return any(
        name not in _PLAIN
        for values in (server.environment, server.headers)
        for value in values.values()
        for name in REFERENCE.findall(value)
    )


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
