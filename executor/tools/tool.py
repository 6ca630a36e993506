"""A tool: its manifest and the function that does the work; and the credentials that a call may name."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final, cast

from executor.call import Operation
from executor.core.clock import Clock
from executor.core.errors import ToolError
from executor.sandbox.origin import Origin
from executor.sandbox.paths import Workspace
from executor.tools.manifest import Manifest, Mode
from executor.tools.schemas import ForeignChecker, SchemaChecker

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


# ---- Credentials: a plan names a variable (``$env:NAME``), and its value is looked up when the call is
# made.
#
# The value is kept nowhere: not in arguments, their hash, questions, records, outputs or messages.


_NAMED: Final = re.compile(r"\$env:([A-Za-z_][A-Za-z0-9_]{0,127})")
_UNSAFE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # it could end a header and begin another
_SHORTEST, _LONGEST = 8, 8192  # characters; a shorter value cannot be told from ordinary text


def variable_of(value: object) -> str:
    """The variable that an argument names as a credential; "" where it is an ordinary value."""
    found = _NAMED.fullmatch(value) if isinstance(value, str) else None
    return found[1] if found else ""


def credentials_of(args: Mapping[str, object], manifest: Manifest) -> dict[str, str]:
    """The variables that a call names where its tool takes credentials, by argument."""
    named = {name: variable_of(args.get(name)) for name in manifest.credentials}
    return {name: variable for name, variable in named.items() if variable}


class Credentials:
    """The variables that credentials come from. Their values leave it only for a call that was allowed."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.__environment = environment

    def flaw(self, variable: str) -> str:
        """Why a variable cannot be used as a credential; "" where it can."""
        value = self.__environment.get(variable, "")
        if not value:
            return "is not set" if variable not in self.__environment else "is empty"
        if _UNSAFE.search(value):
            return "holds line breaks or control characters"
        if not _SHORTEST <= len(value) <= _LONGEST:
            return f"is not of {_SHORTEST} to {_LONGEST} characters"
        return ""

    def resolve(self, args: Mapping[str, object], manifest: Manifest) -> dict[str, str]:
        """The values of the credentials that a call names, by argument.

        Raises:
            ToolError: CREDENTIAL_MISSING.
        """
        named = credentials_of(args, manifest)
        for variable in named.values():
            if flaw := self.flaw(variable):
                message, fix = missing(variable, flaw)
                raise ToolError("CREDENTIAL_MISSING", message, fix=fix)
        return {name: self.__environment[variable] for name, variable in named.items()}

    def values(self, variables: Iterable[str]) -> frozenset[str]:
        """The values of variables that can be used, for taking them out of texts."""
        return frozenset(self.__environment[one] for one in variables if not self.flaw(one))


def missing(variable: str, flaw: str) -> tuple[str, str]:
    """Message and fix for a credential that cannot be used."""
    return (
        f"the variable {variable}, which a credential is to come from, {flaw}",
        f"set it where mcl runs: export {variable}=…",
    )


# ---- The tool.


Progress = Callable[[int, int], None]
"""Told how much is done, and of how much; from any thread."""


def unwatched(done: int, total: int) -> None:
    """Nobody asks how far it is."""


Output = Callable[[bytes], None]
"""Given what a tool says while it runs, piece by piece; from any thread."""


def unheard(data: bytes) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What an adapter may touch while it runs.

    operation: what the gate allowed this call to do; an adapter does no more. max_output: bytes. hosts: where
    it may go over the network; empty for tools of another scope. intent, node_id: for what (a ULID) and at
    which node it is called. letter: the signed envelope that goes out with the call, where one does.
    progress, output: for work that takes a while to say how far it is, and what it says meanwhile. absent:
    what it will make was not there at these paths when it was first begun, as far as that is known.
    """

    workspace: Workspace
    clock: Clock
    operation: Operation
    max_output: int
    idempotency_key: str
    hosts: frozenset[Origin] = frozenset()
    intent: str = ""
    node_id: str = ""
    letter: bytes = b""
    progress: Progress = unwatched
    output: Output = unheard
    absent: frozenset[str] = frozenset()


Adapter = Callable[[Mapping[str, object], Bench], Awaitable[dict[str, object]]]


Touches = Callable[[Mapping[str, object], Workspace], Sequence[tuple[str, Mode]]]
"""Which paths a call would change as things stand, each with how; raises what the call would raise."""


@dataclass(frozen=True)
class Tool:
    """A manifest and its adapter. Only the registry's ``invoke`` runs the adapter, and only with an Allow.

    touches: of a tool that says beforehand what a call changes (``Manifest.undo``)."""

    manifest: Manifest
    adapter: Adapter = field(repr=False)
    touches: Touches | None = field(default=None, repr=False)

    @cached_property
    def args(self) -> Validator:
        """The checker of the arguments."""
        if self.manifest.outside is not None:
            return cast("Validator", ForeignChecker(self.manifest.args))
        return cast("Validator", SchemaChecker(self.manifest.args))

    @cached_property
    def output(self) -> Validator:
        """The checker of the answer."""
        return cast("Validator", SchemaChecker(self.manifest.output))
