"""What a person signed: this Intent, and this plan to reach it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from executor.core.errors import PolicyError, ScopeError
from executor.gate.verdict import Deny
from executor.sandbox.files import components
from executor.sandbox.origin import Origin, parse_grant
from executor.store.lifecycle.events import View
from ir import (
    SIDE_EFFECTS,
    ExternalPredicate,
    Intent,
    PlanNode,
    PlanTree,
    SubDispatch,
    ToolCall,
    content_hash,
)
from ir.scalars import FrozenMap

if TYPE_CHECKING:
    from executor.tools.manifest import Manifest

DISPATCH: Final = "matrix://tool/agent/dispatch@1.0.0"  # how work is handed to another agent
_LOOK: Final = "matrix://tool/http/request@1.0.0"  # how an external success criterion is looked at


@dataclass(frozen=True)
class Mandate:
    """An Intent and its plan, with the two hashes that the person's accept names.

    accepted_by: did of the person. The signatures were checked where the journal was read. above: of a
    sub-dispatch, the mandate of the plan that dispatches; its own hashes are then those of what the accepted
    skill made. portion: what the dispatch leaves of the agent's grants; None: all of them.
    """

    intent: Intent
    plan: PlanTree
    accepted_hash: str
    accepted_plan_hash: str
    accepted_by: str
    above: Mandate | None = None
    portion: Portion | None = None

    @classmethod
    def of(cls, view: View) -> Mandate | None:
        """The mandate that a view of the journal amounts to, or None where nothing was accepted."""
        if view.intent is None or view.plan is None or not view.accepted_hash or not view.accepted_plan_hash:
            return None
        return cls(view.intent, view.plan, view.accepted_hash, view.accepted_plan_hash, view.accepted_by)

    @cached_property
    def verbs(self) -> tuple[str, ...]:
        """The verb of the Intent and those of the Intents above it: none of them may be gone beyond."""
        return (self.intent.frame.verb, *(self.above.verbs if self.above else ()))

    @cached_property
    def intent_hash(self) -> str:
        """The hash that the Intent really has."""
        return content_hash(self.intent)

    @cached_property
    def plan_hash(self) -> str:
        """The hash that the plan really has."""
        return content_hash(self.plan)

    @cached_property
    def nodes(self) -> dict[str, PlanNode]:
        """The plan's nodes by id."""
        return {node.id: node for node, _ in self.plan.root.walk()}

    @cached_property
    def criteria(self) -> dict[str, ToolCall]:
        """The calls that the Intent's success criteria make at the end, by id (``criterion_id``)."""
        return {
            self.criterion_id(place): ToolCall(
                tool_ref=_LOOK,
                args=FrozenMap({"method": "GET", "url": predicate.url}),
                side_effect_class="network",
            )
            for place, predicate in enumerate(self.intent.frame.success_criteria)
            if isinstance(predicate, ExternalPredicate) and predicate.url
        }

    def call_at(self, node_id: str) -> ToolCall | None:
        """The call that the person signed, at a node or for a success criterion; None where there is none."""
        node = self.nodes.get(node_id)
        if node is None:
            return self.criteria.get(node_id)
        handed = node.sub_dispatch is not None and node.sub_dispatch.agent_ref
        return _handing(node.sub_dispatch) if handed and node.sub_dispatch else node.tool_call

    def criterion_id(self, place: int) -> str:
        """What a success criterion is called where nodes have their ids: ``success[0]``, and below the node
        ``n1`` that dispatches ``n1/success[0]``."""
        above, slash, _ = self.plan.root.id.rpartition("/") if self.above else ("", "", "")
        return f"{above}{slash}success[{place}]"


def _handing(sub: SubDispatch) -> ToolCall:
    """The call that hands work to another agent. What the operator has entered, and what earlier nodes give,
    is known when it is made: here it stands as a reference."""
    args = {"agent_ref": sub.agent_ref, "skill_ref": sub.skill_ref, "scope_uri": sub.scope_uri}
    later = {
        name: f"${{agent.output.{name}}}" for name in ("did", "endpoint", "prose", "frame", "sub_intent")
    }
    return ToolCall(tool_ref=DISPATCH, args=FrozenMap({**args, **later}), side_effect_class="network")


# ---- What a sub-dispatch leaves of the agent's grants to the plan below it.

SCOPE: Final = "matrix://scope/"
_FORM: Final = f"such as {SCOPE}read, or {SCOPE}read+network?host=example.org&folder=docs&calls=10"
_MOST_CALLS: Final = 1_000_000

Folder = tuple[str, ...]  # components of a path in the workspace; () is the workspace


@dataclass(frozen=True)
class Portion:
    """A part of the grants of the plan above. ``hosts`` and ``folders``: None leaves all; ``calls``: 0 leaves
    as many as there are."""

    classes: frozenset[str]
    hosts: frozenset[Origin] | None = None
    folders: frozenset[Folder] | None = None
    calls: int = 0

    def within(self, above: Portion | None) -> Portion:
        """What both leave. The calls are the plan's own: those above it count for themselves."""
        if above is None:
            return self
        return Portion(
            self.classes & above.classes,
            _both(self.hosts, above.hosts),
            _inner(self.folders, above.folders),
            self.calls,
        )

    def roaming(self, manifest: Manifest) -> Deny | None:
        """HOST_DENIED for a tool of another server, which goes to hosts that nobody sees."""
        if self.hosts is not None and manifest.outside is not None and "network" in manifest.effects:
            return Deny(
                "HOST_DENIED",
                f"{manifest.name} goes where it likes, and the dispatch leaves only"
                f" {', '.join(sorted(origin.short for origin in self.hosts))}",
                "leave the whole network in the scope_uri of the sub_dispatch, and have the plan accepted",
                example=f"scope_uri = {SCOPE}read+network",
            )
        return None

    def foreign(self, origins: Iterable[Origin]) -> Deny | None:
        """HOST_DENIED for the first of these that is not among the hosts."""
        for origin in origins:
            if self.hosts is not None and origin not in self.hosts:
                return Deny(
                    "HOST_DENIED",
                    f"the dispatch does not leave {origin.short} to the plan below it",
                    "name the host in the scope_uri of the sub_dispatch, and have the plan accepted",
                    example=f"scope_uri = {SCOPE}read+network?host={origin.short}",
                )
        return None

    def outside(self, paths: Iterable[str], manifest: Manifest) -> Deny | None:
        """OUT_OF_SCOPE for the first of these that lies in none of the folders, and for a tool that no folder
        could hold: a command, one that names no path, or one of another server."""
        if self.folders is None:
            return None
        unnamed = manifest.scope.kind == "workspace" and not manifest.scope.paths
        if "shell" in manifest.effects or unnamed or manifest.outside is not None:
            return self._refused(f"{manifest.uri} goes where it likes, and the dispatch leaves only")
        for path in paths:
            try:
                parts = None if path.startswith("/") else components(path)
            except ScopeError as error:
                return Deny(error.code, error.message, error.fix)
            if parts is None or not any(parts[: len(folder)] == folder for folder in self.folders):
                return self._refused(f"{path!r} lies in none of the folders that the dispatch leaves:")
        return None

    def _refused(self, why: str) -> Deny:
        named = ", ".join("/".join(folder) or "." for folder in sorted(self.folders or ())) or "none"
        return Deny(
            "OUT_OF_SCOPE",
            f"{why} {named}",
            "name the folder in the scope_uri of the sub_dispatch, and have the plan accepted",
            example=f"scope_uri = {SCOPE}read?folder=docs",
        )


def parse_portion(text: str) -> Portion:
    """Read a scope_uri.

    Raises:
        PolicyError: BAD_SCOPE. Nothing in it is passed over.
    """
    if not text.startswith(SCOPE):
        raise _bad(text, f"it does not begin with {SCOPE}")
    said, _, query = text.removeprefix(SCOPE).partition("?")
    classes = frozenset(said.split("+"))
    if not classes <= set(SIDE_EFFECTS):
        raise _bad(text, f"the side-effect classes are {', '.join(SIDE_EFFECTS)}")
    hosts: set[Origin] = set()
    folders: set[Folder] = set()
    calls = 0
    try:
        for name, value in parse_qsl(query, keep_blank_values=True, strict_parsing=True) if query else ():
            if name == "host":
                hosts.add(parse_grant(value))
            elif name == "folder":
                folders.add(components(value))
            elif name == "calls" and not calls and value.isascii() and value.isdigit():
                calls = int(value)
                if not 0 < calls <= _MOST_CALLS:
                    raise ValueError(f"calls is a number from 1 to {_MOST_CALLS}")
            else:
                raise ValueError(f"{name}={value} is no host, no folder and no number of calls")
    except (PolicyError, ScopeError) as problem:
        raise _bad(text, problem.message) from problem
    except ValueError as problem:
        raise _bad(text, str(problem)) from problem
    return Portion(classes, frozenset(hosts) or None, frozenset(folders) or None, calls)


def _both(one: frozenset[Origin] | None, other: frozenset[Origin] | None) -> frozenset[Origin] | None:
    if one is None or other is None:
        return other if one is None else one
    return one & other


def _inner(one: frozenset[Folder] | None, other: frozenset[Folder] | None) -> frozenset[Folder] | None:
    """The folders that lie in one of each."""
    if one is None or other is None:
        return other if one is None else one
    pairs = ((mine, its) for mine in one for its in other)
    return frozenset(
        max(mine, its, key=len) for mine, its in pairs if mine[: len(its)] == its or its[: len(mine)] == mine
    )


def _bad(text: str, why: str) -> PolicyError:
    return PolicyError("BAD_SCOPE", f"{text[:200]!r} is no scope: {why}", place=text[:200], fix=_FORM)
