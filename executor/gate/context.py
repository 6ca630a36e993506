"""What the gate looks at when it judges a call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from executor.call import Call, Deferred
from executor.core.clock import Clock
from executor.core.errors import ManifestError, PolicyError, ScopeError
from executor.gate.approvals import Approvals
from executor.gate.budget import Spending
from executor.gate.checkout import Checkouts
from executor.gate.grants import Grants
from executor.gate.locks import Locks, Place
from executor.gate.mandate import Mandate
from executor.gate.pins import Pins
from executor.gate.policy import Policy, PolicyFile
from executor.gate.portion import Portion
from executor.gate.standings import Signers, standings
from executor.gate.taint import NONE, Taint, taints
from executor.sandbox.origin import ANY, Origin, parse_url
from executor.sandbox.paths import Workspace
from executor.sandbox.reach import covers, is_elsewhere, plain_place
from executor.store.lifecycle.events import View
from executor.tools.manifest import CHANGING, Effect, Manifest, Mode
from executor.tools.tool import Credentials
from ir import PromiseStanding

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

    def fault(self, reference: str) -> ManifestError | None:
        """Why there is no tool at an address where one should be; None where nothing is known of it."""

    def args_checker(self, reference: str) -> Validator:
        """The JSON Schema checker of a known tool's arguments."""

    def touched(self, call: Call, workspace: Workspace) -> Sequence[tuple[str, Mode]] | None:
        """What a call would change, where its tool says that beforehand; None where it does not."""


@dataclass(frozen=True)
class Context:
    """Everything a guard may ask. Made once a run; what changes meanwhile is asked anew each time.

    agent: did of the agent that calls. mandate: what a person accepted, None for a call outside any intent.
    credentials: where the values of ``$env:NAME`` would come from. view: the intent as the journal has it
    now. holds_run: does this process hold the run? record: where decisions that are no plain allow are kept
    (kind is "refused" or "asked"). before: what lies upstream of the whole plan (of a sub-plan its parent's
    part). personal: is a key, by its did, one that only a person can sign with? moment: within one, all
    guards judge by one state of the home (``Database.moment``). checkouts: what the agent has checked out,
    where files change only under intents. allowed: folders that whoever started mcl lets all tools read, as
    ``allowed_roots`` gives them. signers: whose keys are known here.
    """

    agent: str
    tools: Catalogue
    workspace: Workspace
    policy: Policy | PolicyFile
    pins: Pins
    grants: Grants
    approvals: Approvals
    clock: Clock
    record: Callable[[str, dict[str, object]], None]
    locks: Locks
    mandate: Mandate | None = None
    view: Callable[[], View] = View
    spending: Spending | None = None
    holds_run: bool = False
    credentials: Credentials = field(default_factory=lambda: Credentials({}))
    before: Taint = NONE
    personal: Callable[[str], bool] = lambda did: False
    moment: Callable[[], AbstractContextManager[None]] = nullcontext
    checkouts: Checkouts | None = None
    allowed: frozenset[str] = frozenset()
    signers: Callable[[], Signers] = Signers

    def standings(self) -> tuple[PromiseStanding, ...]:
        """How each promise of the mandate's Intent is kept, as things are."""
        if self.mandate is None:
            return ()
        intent, plan = self.mandate.intent, self.mandate.plan
        regions = self.grants.regions(self.agent)
        return standings(intent, plan, signers=self.signers(), regions=regions, find=self.find)

    def manifest(self, call: Call) -> Manifest | None:
        """The manifest of the called tool, None for an unknown one."""
        return self.find(call.tool_ref)

    def find(self, reference: str) -> Manifest | None:
        """The manifest at a pinned address, with what an operator says that the tool does."""
        found = self.tools.find(reference)
        return self.pins.counted(found) if found is not None else None

    def effect(self, call: Call, manifest: Manifest) -> Effect:
        """What the call may do, as things stand in the workspace."""
        manifest = self.pins.counted(manifest)
        return manifest.effect(call.known_args if manifest.when else {}, self.exists)

    def taint(self, call: Call) -> Taint:
        """What may have completed before the call; of a call that no plan holds the worst is thought."""
        if self.mandate is None:
            return self.before
        id = self.mandate.templates.get(call.node_id, call.node_id)
        return self._taints.get(id, Taint(call.node_id, call.node_id))

    def portion(self, call: Call) -> Portion | None:
        """What is left of the grants to a call; None: all of them. Of what cannot be read nothing is left."""
        try:
            return self.mandate.portion_at(call.node_id) if self.mandate else None
        except PolicyError:
            return Portion(frozenset())

    @cached_property
    def _taints(self) -> dict[str, Taint]:
        if self.mandate is None:
            return {}
        return taints(self.mandate.plan, self.find, self.before, looks=self.mandate.criteria)

    def paths(self, call: Call, manifest: Manifest) -> list[tuple[str, Mode]]:
        """The call's paths that are known, also those that it leaves out, and what it does there."""
        if not manifest.scope.paths:
            return []
        args = manifest.complete(call.args)
        found: list[tuple[str, Mode]] = []
        for name, mode in manifest.scope.paths.items():
            value = args.get(name, [])
            if not isinstance(value, Deferred):
                found += ((str(path), mode) for path in (value if isinstance(value, list) else [value]))
        return found

    def history(self, call: Call, manifest: Manifest) -> str | None:
        """The folder whose git history the call changes; None where it changes none."""
        if not manifest.history:
            return None
        return str(manifest.complete(call.args).get(manifest.history, "."))

    def written(self, call: Call, manifest: Manifest) -> list[Place]:
        """Where the call writes or adds. Raises ScopeError as ``Workspace.split``."""
        return [
            (self.workspace.split(path), mode)
            for path, mode in self.paths(call, manifest)
            if mode in CHANGING
        ]

    def elsewhere(self, call: Call, manifest: Manifest) -> list[str]:
        """The places outside the workspace that the call reads, as far as they are known.

        Raises:
            ScopeError: as ``plain_place``.
        """
        modes = manifest.outside_modes
        return [
            plain_place(path)
            for path, mode in self.paths(call, manifest)
            if mode in modes and is_elsewhere(path)
        ]

    def roots(self, places: Iterable[str]) -> dict[str, str]:
        """For each of these places the granted or allowed folder that it lies in, "" where there is none."""
        asked = list(places)
        granted = sorted(self.grants.roots(self.agent) | self.allowed) if asked else []
        return {place: next((root for root in granted if covers(root, place)), "") for place in asked}

    def origins(self, call: Call, manifest: Manifest) -> list[Origin]:
        """Where the call's address arguments that are known lead. Raises ScopeError HOST_DENIED."""
        known = call.known_args if manifest.scope.urls else {}
        return [parse_url(str(known[name]), ANY).origin for name in manifest.scope.urls if name in known]

    def ungranted(self, call: Call, manifest: Manifest) -> list[Origin]:
        """Those of them that nobody granted to the agent. Raises ScopeError HOST_DENIED."""
        origins = self.origins(call, manifest)
        granted = self.grants.hosts(self.agent) if origins else frozenset()
        return [origin for origin in origins if origin not in granted]

    def exists(self, path: str) -> bool:
        """Whether something is at a path of the workspace."""
        try:
            return self.workspace.check(path) is not None
        except ScopeError:
            return True  # what may not be looked at counts as there: the stricter case
