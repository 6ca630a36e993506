"""One wish to use one tool, before anybody has allowed it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from executor.hashing import json_hash


@dataclass(frozen=True, slots=True)
class Deferred:
    """An argument whose value another node has yet to give; only a preflight sees these."""

    text: str


@dataclass(frozen=True, slots=True)
class Declaration:
    """What a caller outside a plan says about its call (guard 6); empty fields were not given."""

    operation_type: str = ""
    data_sensitivity: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Call:
    """A tool, its arguments, and what the plan's node declares.

    args: values as the tool's schema types them. declared: side-effect class of the node. approval: id of the
    person's decision about this call, where one was asked for. timeout_ms: 0 = the manifest's.
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
        return json_hash([self.tool_ref, self.args_hash, self.declared, self.node_id])

    def fresh_hash(self) -> str:
        """The same of the arguments as they are now, whatever is remembered."""
        return json_hash([self.tool_ref, json_hash(dict(self.args)), self.declared, self.node_id])

    @property
    def known_args(self) -> dict[str, object]:
        """The arguments whose values are known by now."""
        return {name: value for name, value in self.args.items() if not isinstance(value, Deferred)}
