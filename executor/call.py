"""One wish to use one tool, and the leave to do so that the gate gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NoReturn, TypeAlias

from executor.core.errors import GateError
from executor.core.hashing import json_hash
from executor.sandbox.origin import Origin
from ir.results import JsonResult

Operation: TypeAlias = Literal["read", "write", "destructive"]

_KEPT: Final = 1000  # characters of each text that a caller declares


@dataclass(frozen=True, slots=True)
class Deferred:
    """An argument whose value another node has yet to give; only a preflight sees these."""

    text: str


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a caller outside a plan says about its call; the guard three_keys judges it. Empty: not given.

    operation_type: read, write or destructive. data_sensitivity: public, internal, private or unknown.
    reason: in the caller's words. variant: the door it came by, call_tool_read, call_tool_write or
    call_tool_destructive ("": another). given: was anything of this said at all? name: what the caller called
    the tool.
    """

    operation_type: str = ""
    data_sensitivity: str = ""
    reason: str = ""
    variant: str = ""
    given: bool = True
    name: str = ""

    def to_json(self) -> dict[str, object]:
        """What was declared, as it is recorded."""
        return {
            "operation_type": self.operation_type[:_KEPT],
            "data_sensitivity": self.data_sensitivity[:_KEPT],
            "reason": self.reason[:_KEPT],
            "variant": self.variant[:_KEPT],
        }


@dataclass(frozen=True)
class Call:
    """A tool, its arguments, and what the plan's node declares.

    args: values as the tool's schema types them. declared: side-effect class of the node, "" for a call that
    no plan holds; that one carries a declaration. approval: id of the person's decision about this call,
    where one was asked for. timeout_ms: 0 = the manifest's.
    """

    tool_ref: str
    args: Mapping[str, object]
    declared: str
    node_id: str = ""
    timeout_ms: int = 0
    approval: str = ""
    declaration: Declaration | None = None

    @cached_property
    def args_hash(self) -> str:
        """sha256 (hex) of the resolved arguments."""
        return json_hash(dict(self.args))

    @cached_property
    def hash(self) -> str:
        """sha256 (hex) of what would be done: tool, arguments, declaration, node."""
        return self._hash(self.args_hash)

    def fresh_hash(self) -> str:
        """The same of the arguments as they are now, whatever is remembered."""
        return self._hash(json_hash(dict(self.args)))

    def _hash(self, args_hash: str) -> str:
        said = [self.declaration.to_json()] if self.declaration else []
        return json_hash([self.tool_ref, args_hash, self.declared, self.node_id, *said])

    @property
    def known_args(self) -> dict[str, object]:
        """The arguments whose values are known by now."""
        return {name: value for name, value in self.args.items() if not isinstance(value, Deferred)}


@dataclass(frozen=True, slots=True)
class Warned(JsonResult):
    """What would have been a refusal, had the operator not turned it into a warning."""

    code: str
    reason: str

    def __str__(self) -> str:
        return f"{self.code}: {self.reason}"


_SEAL: Final = object()  # only `executor.gate.decide` holds it


class Allow:
    """Leave to make one exact call, once. Only ``decide`` can make one.

    operation: what the call may do to what is there. hosts: where it may go over the network. roots: folders
    and files outside the workspace that it may read. warnings: what the operator lets pass.
    """

    __slots__ = ("_call_hash", "_spent", "hosts", "operation", "roots", "warnings")

    def __init__(
        self,
        seal: object,
        call: Call,
        operation: Operation,
        hosts: frozenset[Origin] = frozenset(),
        roots: frozenset[str] = frozenset(),
        warnings: tuple[Warned, ...] = (),
    ) -> None:
        if seal is not _SEAL:
            raise _forged(call.node_id)
        self._call_hash = call.hash
        self._spent = False
        self.operation = operation
        self.hosts = hosts
        self.roots = roots
        self.warnings = warnings

    def __init_subclass__(cls) -> None:
        raise _forged("")

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """No copies: each would be good once."""
        raise _forged("")

    def spend(self, call: Call) -> None:
        """Use the leave for this call.

        Raises:
            GateError: ALLOW_MISMATCH (given for another call), ALLOW_SPENT (used before).
        """
        # Hashed anew: a call remembers its hash, and its arguments may have been changed since.
        if self._call_hash != call.fresh_hash():
            raise GateError(
                "ALLOW_MISMATCH",
                "this leave is for another call",
                place=call.node_id,
                fix="ask for this call",
            )
        if self._spent:
            raise GateError("ALLOW_SPENT", "this leave was used", place=call.node_id, fix="ask again")
        self._spent = True


def _forged(place: str) -> GateError:
    message, fix = "an Allow comes from the gate alone, once", "ask gate.decide"
    return GateError("FORGED_ALLOW", message, place=place, fix=fix)
