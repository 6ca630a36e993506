"""A tool: its manifest and the function that does the work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, cast

from executor.call import Operation
from executor.core.clock import Clock
from executor.sandbox.origin import Origin
from executor.sandbox.paths import Workspace
from executor.tools.manifest import Manifest
from executor.tools.schemas import ForeignChecker, SchemaChecker

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


Progress = Callable[[int, int], None]
"""Told how much is done, and of how much; from any thread."""


def unwatched(done: int, total: int) -> None:
    """Nobody asks how far it is."""


@dataclass(frozen=True, slots=True)
class Bench:
    """What an adapter may touch while it runs.

    operation: what the gate allowed this call to do; an adapter does no more. max_output: bytes. hosts: where
    it may go over the network; empty for tools of another scope. intent, node_id: for what (a ULID) and at
    which node it is called. letter: the signed envelope that goes out with the call, where one does.
    progress: for work that takes a while to say how far it is.
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


Adapter = Callable[[Mapping[str, object], Bench], Awaitable[dict[str, object]]]


@dataclass(frozen=True)
class Tool:
    """A manifest and its adapter. Only the registry's ``invoke`` runs the adapter, and only with an Allow."""

    manifest: Manifest
    adapter: Adapter = field(repr=False)

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
