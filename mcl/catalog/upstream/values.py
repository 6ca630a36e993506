"""The values of an entry with its variables filled in, and which of them nobody may see."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from executor.sandbox.redaction import Redactor
from mcl.catalog.servers import REFERENCE, Server
from mcl.catalog.upstream.faults import FaultError, down

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
