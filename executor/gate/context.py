"""What the gate looks at when it judges a call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from executor.clock import Clock
from executor.errors import ScopeError
from executor.gate.approvals import Approvals
from executor.gate.budget import Spending
from executor.gate.call import Call, Deferred
from executor.gate.credentials import Credentials
from executor.gate.grants import Grants
from executor.gate.locks import Locks, Place
from executor.gate.mandate import Mandate
from executor.gate.pins import Pins
from executor.gate.policy import Policy
from executor.lifecycle.fold import View
from executor.sandbox.origin import Origin, parse_url
from executor.sandbox.paths import Workspace
from executor.tools.manifest import Effect, Manifest, Mode

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

RUNNABLE = ("accepted", "executing")


class Catalogue(Protocol):
    """What the gate may know of tools. It has no way to run one."""

    @property
    def manifests(self) -> tuple[Manifest, ...]:
        """All there are."""

    def find(self, reference: str) -> Manifest | None:
        """The manifest at a pinned address; None where there is none."""

    def args_checker(self, reference: str) -> Validator:
        """The JSON Schema checker of a known tool's arguments."""


@dataclass(frozen=True)
class Context:
    """Everything a guard may ask. Made once a run; what changes meanwhile is asked anew each time.

    agent: did of the agent that calls. mandate: what a person accepted, None for a call outside any intent.
    credentials: where the values of ``$env:NAME`` would come from. view: the intent as the journal has it
    now. leased: does this process hold the run? record: where
    decisions that are no plain allow are kept (kind is "refused" or "asked").
    """

    agent: str
    tools: Catalogue
    workspace: Workspace
    policy: Policy
    pins: Pins
    grants: Grants
    approvals: Approvals
    clock: Clock
    record: Callable[[str, dict[str, object]], None]
    locks: Locks
    mandate: Mandate | None = None
    view: Callable[[], View] = View
    spending: Spending | None = None
    leased: bool = False
    credentials: Credentials = field(default_factory=lambda: Credentials({}))

    def manifest(self, call: Call) -> Manifest | None:
        """The manifest of the called tool, None for an unknown one."""
        return self.tools.find(call.tool_ref)

    def effect(self, call: Call, manifest: Manifest) -> Effect:
        """What the call may do, as things stand in the workspace."""
        return manifest.effect(call.known_args, self._exists)

    def paths(self, call: Call, manifest: Manifest) -> list[tuple[str, Mode]]:
        """The call's paths that are known, also those that it leaves out, and what it does there."""
        args = manifest.complete(call.args)
        return [
            (str(args[name]), mode)
            for name, mode in manifest.scope.paths.items()
            if name in args and not isinstance(args[name], Deferred)
        ]

    def written(self, call: Call, manifest: Manifest) -> list[Place]:
        """Where the call writes or adds. Raises ScopeError as ``Workspace.split``."""
        return [
            (self.workspace.split(path), mode)
            for path, mode in self.paths(call, manifest)
            if mode in ("write", "add")
        ]

    def origins(self, call: Call, manifest: Manifest) -> list[Origin]:
        """Where the call's address arguments that are known lead. Raises ScopeError HOST_DENIED."""
        known = call.known_args
        return [parse_url(str(known[name])).origin for name in manifest.scope.urls if name in known]

    def ungranted(self, call: Call, manifest: Manifest) -> list[Origin]:
        """Those of them that nobody granted to the agent. Raises ScopeError HOST_DENIED."""
        origins = self.origins(call, manifest)
        granted = self.grants.hosts(self.agent) if origins else frozenset()
        return [origin for origin in origins if origin not in granted]

    def _exists(self, path: str) -> bool:
        try:
            return self.workspace.check(path) is not None
        except ScopeError:
            return True  # what may not be looked at counts as there: the stricter case
