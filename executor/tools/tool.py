"""A tool: its manifest and the function that does the work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

from executor.call import Operation
from executor.core.clock import Clock
from executor.sandbox.origin import Origin
from executor.sandbox.paths import Workspace
from executor.tools.foreign import ForeignChecker
from executor.tools.manifest import Manifest
from executor.tools.plain import Checker

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
        return _validator(self.manifest.args)

    @cached_property
    def output(self) -> Validator:
        """The checker of the answer."""
        return _validator(self.manifest.output)


def _validator(schema: Mapping[str, object]) -> Validator:
    from jsonschema import Draft202012Validator  # 0.1 s of imports that only a run needs

    known = _as_python(schema)
    # The one method of a validator that is asked of it, sooner answered.
    return cast("Validator", Checker(known, Draft202012Validator(known)))


def _as_python(schema: Any) -> Any:
    """The schema with patterns that mean in Python what they mean in JSON Schema: `$` is the end of a text,
    and not also the place before a last line end."""
    if isinstance(schema, list):
        return [_as_python(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    return {
        name: f"{value[:-1]}\\Z"
        if name == "pattern" and isinstance(value, str) and value.endswith("$") and value[-2:] != "\\$"
        else _as_python(value)
        for name, value in schema.items()
    }
