"""What can go wrong with a server, each with its code and what to do about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from executor.sandbox.redaction import Redactor, visible
from ir.errors import FAILED
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
