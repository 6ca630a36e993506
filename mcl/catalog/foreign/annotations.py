"""What a tool of another server does, by what the server says of it: a table, and nothing else.

| destructiveHint | server  | readOnlyHint | operation   | believed |
|-----------------|---------|--------------|-------------|----------|
| true            | any     | any          | destructive | yes      |
| else            | trusted | true         | read        | yes      |
| else            | trusted | else         | write       | yes      |
| else            | not     | any          | destructive | no       |

Hints of a server that nobody trusts may raise what a tool counts as, and never lower it. The world it acts on
is open (MCP's own default) unless a trusted server says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from executor.call import Operation
from executor.tools.manifest import Manifest, SideEffect
from mcl.core.errors import McpError

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
class Judged:
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


def judge(hints: Hints, *, trusted: bool) -> Judged:
    """What a tool with these hints counts as; see the table above.

    trusted: has a person said that this server's word is good?
    """
    if not trusted:
        return Judged("destructive", ("network",), idempotent=False, annotated=hints.destructive is True)
    closed = hints.open_world is False
    # What only looks may be asked again, unless its server says otherwise.
    again = hints.idempotent is True
    if hints.destructive:
        return Judged("destructive", ("read", "write") if closed else ("network",), again, annotated=True)
    if hints.read_only:
        again = hints.idempotent is not False
        return Judged("read", ("read",) if closed else ("network",), again, annotated=True)
    return Judged("write", ("read", "write") if closed else ("network",), again, annotated=True)


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
