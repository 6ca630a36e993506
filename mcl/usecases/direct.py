"""The documents of one call that is made directly: an Intent and a plan of one node.

A person makes such a call with `mcl tool call`; a program asks for one over MCP. Either way it is signed, run
and kept like any other intent.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from executor.core.errors import ScopeError, UnresolvedError
from executor.core.hashing import json_bytes
from executor.gate.effects import COVERS, over_ceiling
from executor.gate.references import typed_args
from executor.sandbox.paths import Workspace
from executor.store.home import Home
from executor.tools.manifest import Effect, Manifest
from ir import (
    Envelope,
    Frame,
    Intent,
    IntentCompiledBody,
    IntentDraftBody,
    PlanNode,
    PlanProposedBody,
    PlanTree,
    ToolCall,
    canonical_bytes,
    check_plan,
    with_hash,
)
from mcl.core.errors import InputError
from mcl.core.home import sealed

# ---- The first words of an intent that was not compiled: draft, Intent and plan, appended together.


def proposal(home: Home, intent: Intent, plan: PlanTree, at: str) -> list[Envelope]:
    """Draft, Intent and plan, not stored yet; the first is signed by the user's key, the others by the
    agent's. at: ISO 8601 UTC. Raises KeyringError where a key is sealed."""
    id = intent.id
    draft = sealed(home, "intent.draft", IntentDraftBody(intent.prose), intent=id, at=at)
    compiled = IntentCompiledBody(canonical_bytes(intent))
    second = sealed(home, "intent.compiled", compiled, intent=id, at=at, causation=draft.id)
    proposed = PlanProposedBody(canonical_bytes(plan))
    third = sealed(home, "plan.proposed", proposed, intent=id, at=at, causation=second.id)
    return [draft, second, third]


NODE: Final = "n1"
SKILL_REF: Final = "matrix://skill/direct-call@1.0.0"  # no skill: the call was named
_VERBS: Final = ("find", "modify", "deliver")  # the first that may do it


@dataclass(frozen=True)
class DirectCall:
    """An Intent whose plan is one call, at the node ``n1``. Nobody has signed or stored it yet."""

    intent: Intent
    plan: PlanTree


def direct_call(
    home: Home,
    manifest: Manifest,
    texts: Mapping[str, str],
    effect: Effect,
    *,
    prose: str,
    timeout_ms: int = 0,
) -> DirectCall:
    """Make the documents of one call; nothing is stored.

    Args:
        texts: the arguments as a plan keeps them (`text_of`, `texts_of`). effect: what the call does.
        prose: what the intent says in words. timeout_ms: milliseconds, 0 = the manifest's.

    Raises:
        InputError: UNCALLABLE; the first flaw of the plan, such as SECRET_INLINE.
    """
    id, at = home.clock.new_id(), home.clock.now()
    verb, declared = _fitting(effect, manifest.uri)
    call = ToolCall(
        tool_ref=manifest.uri, args=dict(texts), timeout_ms=timeout_ms, side_effect_class=declared
    )
    intent = with_hash(
        Intent(
            id=id,
            actor=home.keyring.user.did,
            agent=home.keyring.agent.did,
            prose=prose,
            frame=Frame(verb=verb),
            state="proposed",
            confidence=1.0,
            created_at=at,
        )
    )
    tree = with_hash(
        PlanTree(
            id=f"plan-{id}",
            intent_id=id,
            created_at=at,
            created_by=f"matrix://agent/{home.keyring.agent.did}",
            skill_ref=SKILL_REF,
            root=PlanNode(id=NODE, kind="tool_call", tool_call=call),
        )
    )
    flaws = check_plan(tree, intent_id=id)
    if flaws:  # before anything of it is written: one of them may be a secret
        first = flaws[0]
        raise InputError(first.code, first.message, place="arguments", fix=first.fix)
    return DirectCall(intent, tree)


def effect_in(place: Path, manifest: Manifest, args: Mapping[str, object]) -> Effect:
    """What this call does, as things stand in a workspace."""
    workspace = Workspace(place)

    def exists(path: str) -> bool:
        try:
            return workspace.check(path) is not None
        except ScopeError:
            return True

    try:
        return manifest.effect(manifest.complete(args), exists)
    finally:
        workspace.close()


def text_of(name: str, value: object) -> str:
    """An argument as a plan keeps it: a text that the tool's schema turns back into the value.

    Raises:
        InputError: BAD_ARGUMENT, it is no JSON value.
    """
    return _escaped(name, lambda: value if isinstance(value, str) else _json(value))


def texts_of(args: Mapping[str, object], manifest: Manifest) -> dict[str, str]:
    """The arguments of a call as a plan keeps them, so that just these values are made of them again.

    Raises:
        InputError: BAD_ARGUMENT, a value that no text of a plan stands for.
    """
    return {name: _exact(name, value, manifest) for name, value in args.items()}


def _exact(name: str, value: object, manifest: Manifest) -> str:
    """Where the schema names no type, or several, a text may have to be written as JSON."""
    plain: tuple[str, ...] = (text_of(name, value),) if isinstance(value, str) else ()
    for text in (*plain, _as_json(name, value)):
        try:
            if json_bytes(typed_args({name: text}, manifest, {})[name]) == json_bytes(value):
                return text
        except UnresolvedError:
            continue
    raise InputError(
        "BAD_ARGUMENT",
        f"{name} is a value that a plan cannot hold for {manifest.uri}",
        place=name,
        fix="give it as the tool's schema has it",
    )


def _as_json(name: str, value: object) -> str:
    return _escaped(name, lambda: _json(value))


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _escaped(name: str, written: Callable[[], str]) -> str:
    try:
        text = written()
        text.encode()
    except (TypeError, ValueError) as problem:
        raise InputError(
            "BAD_ARGUMENT", f"{name} is no JSON value: {problem}", place=name, fix="give text or JSON"
        ) from problem
    return text.replace("${", "$${")


def _fitting(effect: Effect, uri: str) -> tuple[str, str]:
    """The narrowest verb and the narrowest declared class that cover what this call does."""
    for declared, covered in COVERS.items():
        if effect.classes <= covered:
            for verb in _VERBS:
                if not over_ceiling(verb, declared, effect.operation):
                    return verb, declared
    raise InputError(
        "UNCALLABLE",
        f"no verb and class cover what {uri} does: {', '.join(sorted(effect.classes))}",
        place=uri,
        fix="call a tool that does less at once",
    )
