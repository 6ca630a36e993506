"""A sub-dispatch within this process: from a node to the plan that is walked below it.

The plan is what the skill that the node names makes of the node's Frame. Executor and person must mean the
same skill, so the node names it by its digest. What the skill may do shrinks on the way down: its verb may do
no more than the verbs above it, its budget counts against theirs, and ``scope_uri`` may leave it fewer side
effects, hosts, folders and calls (``executor.gate.mandate``).
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from executor.call import Call
from executor.core.clock import derived_id, moment_of_id
from executor.core.errors import PolicyError, WalkError
from executor.gate.mandate import Mandate
from executor.gate.portion import Portion, parse_portion
from executor.gate.references import as_text, resolve
from executor.sandbox.origin import parse_url
from executor.store.home import Home
from executor.walker.interfaces import Expansion, SubSkills
from executor.walker.tree import PlanScope
from ir import (
    Frame,
    Intent,
    MclError,
    OutputRef,
    PlanNode,
    PlanTree,
    canonical_bytes,
    content_hash,
    key_of,
    parse_references,
    with_hash,
)
from ir.plan import PAYLOADS
from ir.references import rewritten

MAX_DISPATCHES: Final = 8  # above one another
# Refusals of a skill that no value could change.
_CERTAIN: Final = ("SUB_SKILL_MISSING", "SUB_SKILL_CYCLE", "SKILL_CHANGED", "VERB_UNKNOWN", "SLOT_UNKNOWN")
_BOUND: Final = re.compile(r"[^@\s]+@sha256:[0-9a-f]{64}")


def expand(
    node: PlanNode, scope: PlanScope, sub_skills: SubSkills | None, outputs: Mapping[str, object] | None
) -> PlanScope | None:
    """The plan below a dispatching node, with what the gate looks at; its nodes are named ``node/theirs``.

    outputs: what the completed nodes gave. None beforehand: then, where the Frame refers to any, there is no
    plan yet, and None is given.

    Raises:
        WalkError: SUB_DISPATCH_UNAVAILABLE, SUB_SKILL_UNBOUND, SUB_DISPATCH_TOO_DEEP, SUB_DISPATCH_CYCLE,
            SUB_DISPATCH_SCOPE, SUB_INTENT_INVALID, SUB_DISPATCH_FLAWED, SKILL_CHANGED. Also what
            resolving references and the skill raise.
    """
    sub, above = node.sub_dispatch, scope.mandate
    assert sub is not None, "the node is a sub_dispatch"
    if sub_skills is None:
        raise _refusal("SUB_DISPATCH_UNAVAILABLE", "nobody here knows other skills", node, "run it with mcl")
    skills = _chain(node, scope, sub.skill_ref)
    portion = portion_of(node, above)
    frame = sub.sub_intent or Frame()
    if frame.further:
        raise _refusal("SUB_INTENT_INVALID", "a sub_intent has one wish", node, "dispatch each by itself")
    if outputs is None and refers(frame):
        return None
    frame = resolved_frame(frame, outputs or {}, node)
    id = child_id(above.intent, node.id)
    prose = node.description or above.intent.prose
    made = sub_skills.expand(sub.skill_ref, frame, above.intent, id=id, prose=prose)
    _require(made, frame, above.intent, id, node)
    place = above.wishes.get(node.id)
    wished = above.intent.frame.further[place].skill_ref if place is not None else made.plan.skill_ref
    if made.plan.skill_ref != wished:  # the plan names a content, and the Intent a version
        message = f"the goal wishes it of {wished}, and the plan dispatches {made.plan.skill_ref}"
        raise _refusal("SKILL_CHANGED", message, node, "install that version, or compile the goal again")
    plan = _below(made.plan, node.id)
    mandate = Mandate(
        made.intent,
        plan,
        made.intent.hash,
        plan.hash,
        above.accepted_by,
        above=above,
        at=node.id,
        portion=portion,
    )
    upstream = scope.context.taint(Call("", {}, "", node.id))
    context = replace(scope.context, mandate=mandate, before=upstream)
    return PlanScope(context, made.prompts, skills)


def sketch(node: PlanNode, scope: PlanScope, sub_skills: SubSkills | None) -> PlanTree | None:
    """What the plan below would be like, with references in place of the values that are not known yet.

    It is for eyes: the values may lead to another one. None where nothing can be said without them.

    Raises:
        WalkError: as ``expand``. Also what the skill raises whatever the values are.
    """
    sub, above = node.sub_dispatch, scope.mandate
    assert sub is not None, "the node is a sub_dispatch"
    assert sub_skills is not None, "expand was asked first"
    frame, id = sub.sub_intent or Frame(), child_id(above.intent, node.id)
    try:
        made = sub_skills.expand(
            sub.skill_ref, frame, above.intent, id=id, prose=node.description or above.intent.prose
        )
    except MclError as problem:
        if problem.code in _CERTAIN:
            raise
        return None
    text = canonical_bytes(_below(made.plan, node.id)).decode().replace("$${", "${")
    return PlanTree.from_json(text).model_copy(update={"hash": ""})


def _chain(node: PlanNode, scope: PlanScope, skill_ref: str) -> tuple[str, ...]:
    skill = skill_ref.partition("@")[0]
    if not _BOUND.fullmatch(skill_ref):
        fix = "compile the goal again: a plan names the skills below it by their digests"
        raise _refusal("SUB_SKILL_UNBOUND", f"{skill_ref} does not say which content it means", node, fix)
    if node.id in scope.mandate.wishes:
        return (skill,)  # beside the first, not below it: both may be of one skill
    if skill in scope.skills:
        way = " → ".join((*scope.skills, skill))
        raise _refusal("SUB_DISPATCH_CYCLE", f"skills that dispatch in a circle: {way}", node, "break it")
    if len(scope.skills) > MAX_DISPATCHES:
        message = f"more than {MAX_DISPATCHES} sub-dispatches below one another"
        raise _refusal("SUB_DISPATCH_TOO_DEEP", message, node, "put the steps of the lowest into its parent")
    return (*scope.skills, skill)


def refers(frame: Frame) -> bool:
    """Does anything in a Frame wait for what a node gives?"""
    return any(_refers(text) for text in _texts(json.loads(canonical_bytes(frame))))


def portion_of(node: PlanNode, above: Mandate) -> Portion | None:
    """What the node leaves of the agent's grants to the plan below it; None: all that its own plan has."""
    said = node.sub_dispatch.scope_uri if node.sub_dispatch else ""
    try:
        left = above.portion_at(node.id)
        return parse_portion(said).within(left) if said else left
    except PolicyError as problem:
        raise _refusal("SUB_DISPATCH_SCOPE", problem.message, node, problem.fix) from problem


def resolved_frame(frame: Frame, outputs: Mapping[str, object], node: PlanNode) -> Frame:
    """The Frame with its references resolved; an object whose value is a list becomes an object each."""
    document: dict[str, Any] = json.loads(canonical_bytes(frame))
    objects = []
    for entry in document.pop("objects", []):
        value = resolve(entry.get("value", ""), outputs)
        # Each once: two matches in one file name it twice.
        values = list({as_text(one): one for one in value}.values()) if isinstance(value, list) else [value]
        objects += [{**_filled(entry, outputs), "value": as_text(one)} for one in values]
    document = {**_filled(document, outputs), "objects": objects}
    try:
        return Frame.from_json(json.dumps(document))
    except MclError as problem:
        raise _refusal("SUB_INTENT_INVALID", problem.message, node, "mend the sub_intent") from problem


def _filled(value: Any, outputs: Mapping[str, object]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(item, outputs) for key, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, outputs) for item in value]
    return as_text(resolve(value, outputs)) if isinstance(value, str) else value


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)
    elif isinstance(value, str):
        yield value


def _refers(text: str) -> bool:
    try:
        return any(isinstance(piece, OutputRef) for piece in parse_references(text))
    except MclError:
        return False  # resolving it says what is wrong


def child_id(parent: Intent, node_id: str) -> str:
    """A ULID that follows from the Intent above and the node, of the moment of that Intent."""
    return derived_id(f"{parent.id} {node_id}", moment_of_id(parent.id))


def _require(made: Expansion, frame: Frame, parent: Intent, id: str, node: PlanNode) -> None:
    """Hold what was made against what was asked for."""
    intent, plan = made.intent, made.plan
    wanted = {
        "id": (intent.id, id),
        "parent": (intent.parent, f"matrix://intent/{parent.id}"),
        "actor": (intent.actor, parent.actor),
        "agent": (intent.agent, parent.agent),
        "verb": (intent.frame.verb, frame.verb),
        "further": (intent.frame.further, ()),
        "constraints": (intent.frame.constraints, frame.constraints),
        "success_criteria": (intent.frame.success_criteria, frame.success_criteria),
        "hash": (intent.hash, content_hash(intent)),
        "the plan's intent_id": (plan.intent_id, id),
        "the plan's hash": (plan.hash, content_hash(plan)),
    }
    wrong = [name for name, (found, right) in wanted.items() if found != right]
    if wrong or any(gap.severity == "blocking" for gap in intent.unknowns):
        what = ", ".join(wrong) or "questions are open"
        raise _refusal("SUB_DISPATCH_FLAWED", f"the skill made no Intent of this: {what}", node, "report it")


def _below(plan: PlanTree, parent: str) -> PlanTree:
    """The plan with its nodes named ``parent/node``, also where they refer to one another."""
    document = json.loads(canonical_bytes(plan))
    waiting = [document["root"]]
    while waiting:
        node = waiting.pop()
        node["id"] = f"{parent}/{node.get('id', '')}"
        waiting += node.get("children", [])
        for kind in PAYLOADS.keys() & node.keys():
            said = node[kind]
            said |= {name: renamed(said[name], parent) for name in PAYLOADS[kind].referring if name in said}
        if "when" in node:
            node["when"]["of"] = renamed(node["when"]["of"], parent)
    if "gives" in document:
        document["gives"] = renamed(document["gives"], parent)
    return with_hash(PlanTree.from_json(json.dumps(document)))


def renamed(value: Any, parent: str) -> Any:
    """A JSON value whose texts refer to ``parent/node`` where they referred to ``node``."""
    if isinstance(value, dict):
        return {key: renamed(item, parent) for key, item in value.items()}
    if isinstance(value, list):
        return [renamed(item, parent) for item in value]
    if not isinstance(value, str):
        return value
    return rewritten(value, lambda ref: OutputRef(f"{parent}/{ref.node_id}", ref.path))


def _refusal(code: str, message: str, node: PlanNode, fix: str) -> WalkError:
    return WalkError(code, message, place=node.id, fix=fix)


# ---- Other agents that work may be handed to: a name, the key that signs for it, and the address it
# listens at.
#
# Only the operator makes these entries, and each is a record in the journal. A plan names an agent; where
# that leads, and whose signature is believed, is said here, and the key is one that the user trusts.


_TABLES: Final = (
    """CREATE TABLE agents (
         id TEXT PRIMARY KEY, name TEXT NOT NULL, did TEXT NOT NULL, endpoint TEXT NOT NULL,
         since TEXT NOT NULL, removed_at TEXT NOT NULL DEFAULT ''
       ) STRICT;
       CREATE UNIQUE INDEX agents_by_name ON agents (name) WHERE removed_at = ''""",
)
_NAME: Final = re.compile(r"[a-z][a-z0-9-]{0,62}", re.ASCII)
_SCHEME: Final = "matrix://agent/"


@dataclass(frozen=True, slots=True)
class Agent:
    """One agent. endpoint: the address that a signed intent.dispatch is sent to."""

    name: str
    did: str
    endpoint: str
    since: str

    @property
    def uri(self) -> str:
        """Its address in plans."""
        return f"{_SCHEME}{self.name}"


class Agents:
    """The agents that a home knows."""

    def __init__(self, home: Home) -> None:
        home.db.migrate("agents", _TABLES)
        self._home = home

    def add(self, name: str, did: str, endpoint: str) -> Agent:
        """Enter an agent, and trust its key in the role of an agent.

        Raises:
            PolicyError: BAD_AGENT_NAME, AGENT_TAKEN, OWN_AGENT. ScopeError: HOST_DENIED, the endpoint is no
            address. ir.KeyTextError: no did:key. KeyringError: the key is a user's, or was revoked.
        """
        if not _NAME.fullmatch(name):
            raise PolicyError(
                "BAD_AGENT_NAME",
                f"{name[:80]!r} is no name for an agent",
                place=name[:80],
                fix="small letters, digits and dashes, such as print-shop",
            )
        key_of(did)
        address = str(parse_url(endpoint))
        keyring, clock = self._home.keyring, self._home.clock
        own = keyring.resolver(did)
        if did in {entry.did for entry in keyring.entries() if entry.origin != "trusted"}:
            raise PolicyError(
                "OWN_AGENT",
                "this key is one of this home",
                place=did,
                fix="leave agent_ref out of a sub_dispatch to have it run here",
            )
        if self.find(name) is not None:
            raise _taken(name)
        if own is None or own.role != "agent" or own.revoked:
            keyring.trust(did, "agent", label=name)
        try:
            with self._home.journal.tables.changing() as connection:
                connection.execute(
                    "INSERT INTO agents (id, name, did, endpoint, since) VALUES (?, ?, ?, ?, ?)",
                    (clock.new_id(), name, did, address, clock.now()),
                )
                told = {"name": name, "did": did, "endpoint": address, "by": keyring.user.did}
                self._home.journal.record("record.agent.added", told)
        except sqlite3.IntegrityError as problem:
            raise _taken(name) from problem
        found = self.find(name)
        assert found is not None, "it was just entered"
        return found

    def remove(self, name: str) -> Agent:
        """Take an agent out; nothing is handed to it any more. Its key stays as it is.

        Raises:
            PolicyError: AGENT_UNKNOWN.
        """
        found = self.require(name)
        with self._home.journal.tables.changing() as connection:
            connection.execute(
                "UPDATE agents SET removed_at = ? WHERE name = ? AND removed_at = ''",
                (self._home.clock.now(), found.name),
            )
            told = {"name": found.name, "did": found.did, "by": self._home.keyring.user.did}
            self._home.journal.record("record.agent.removed", told)
        return found

    def list(self) -> tuple[Agent, ...]:
        """All of them, in the order of their names."""
        rows = self._home.journal.tables.read(
            "SELECT name, did, endpoint, since FROM agents WHERE removed_at = '' ORDER BY name"
        )
        return tuple(Agent(*row) for row in rows)

    def find(self, reference: str) -> Agent | None:
        """The agent that a plan names: ``matrix://agent/<name>``, or by its did; None for an unknown one.

        A key that listens at several addresses is no name: then there is none.
        """
        said = reference.removeprefix(_SCHEME)
        found = [one for one in self.list() if said in (one.name, one.did)]
        return found[0] if len(found) == 1 else None

    def require(self, reference: str) -> Agent:
        """The same.

        Raises:
            PolicyError: AGENT_UNKNOWN, nobody entered it; AGENT_NOT_TRUSTED, its key is trusted no more.
        """
        found = self.find(reference)
        if found is None:
            known = ", ".join(one.name for one in self.list()) or "none"
            raise PolicyError(
                "AGENT_UNKNOWN",
                f"{reference[:200]!r} is no agent that is known here (known: {known})",
                place=reference[:200],
                fix="mcl agent add NAME --did did:key:… --endpoint https://…",
            )
        return found

    def require_trusted(self, reference: str) -> Agent:
        """The same, for an agent whose signature is believed now. Raises as ``require``."""
        found = self.require(reference)
        key = self._home.keyring.resolver(found.did)
        if key is None or key.role != "agent" or key.revoked:
            raise PolicyError(
                "AGENT_NOT_TRUSTED",
                f"the key of {found.name} is trusted no more",
                place=found.did,
                fix=f"ask its owner for the new key, then mcl agent remove {found.name} and add it again",
            )
        return found


def _taken(name: str) -> PolicyError:
    return PolicyError(
        "AGENT_TAKEN",
        f"there is an agent {name}",
        place=name,
        fix=f"mcl agent remove {name}, or another name",
    )
