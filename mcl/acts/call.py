"""`mcl tool call`: one call that a person makes directly. It becomes an intent of one node, signed and run
like any other: one gate, one journal."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from executor.errors import ScopeError
from executor.gate.effects import COVERS, over_ceiling
from executor.gate.verdict import Deny
from executor.home import Home
from executor.references import typed_args
from executor.sandbox.paths import Workspace
from executor.sandbox.redaction import visible
from executor.tools.manifest import Manifest
from ir import (
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
from mcl.acts.accept import accept
from mcl.acts.cancel import cancel
from mcl.acts.plan import Planned, plan
from mcl.acts.run import run
from mcl.acts.seal import sealed
from mcl.acts.tools import named, short_name, tools_of
from mcl.errors import InputError
from mcl.home import open_home

if TYPE_CHECKING:
    from executor.walker import Outcome
    from executor.walker.listener import Listener
    from executor.walker.people import People

NODE = "n1"
SKILL_REF = "matrix://skill/direct-call@1.0.0"  # no skill: the person named the call
_VERBS = ("find", "modify", "deliver")  # the first that may do it
_SHOWN = 80  # characters of an argument in the words of the intent


@dataclass(frozen=True)
class Called:
    """What became of a call.

    outcome: None where it did not run; refused: why, "" where the person did not agree.
    """

    intent_id: str
    tool: str
    planned: Planned
    outcome: "Outcome | None" = None
    refused: Deny | None = None

    @property
    def output(self) -> object:
        """The tool's answer, None where there is none."""
        return self.outcome.outputs.get(NODE) if self.outcome else None


def call_tool(
    name: str,
    args: Mapping[str, object],
    *,
    agree: Callable[[Planned], bool],
    workspace: Path | None = None,
    people: "People | None" = None,
    listener: "Listener | None" = None,
    timeout_ms: int = 0,
    home: Home | None = None,
) -> Called:
    """Make one call of a tool, in `workspace` (default: the current folder).

    Args:
        name: address or short name (fs/read). args: JSON values, or texts that the tool's schema turns into
            values; ``$env:NAME`` only where the manifest names a credential.
        agree: is shown the plan with the gate's verdict; only its True signs and runs it. Where the gate
            refuses, nobody is asked.
        people: who decides where the gate wants this exact call approved; None: nobody, so it is denied.
        timeout_ms: milliseconds, 0 = the manifest's.

    Raises:
        InputError: TOOL_UNKNOWN, BAD_ARGUMENT, SECRET_INLINE, UNCALLABLE (nothing is in the journal then).
        What accept and run raise.
    """
    home = home or open_home()
    place = workspace or Path.cwd()
    manifest = named(name, tools_of(home).manifests)
    id = _propose(home, manifest, args, place, timeout_ms)
    seen = plan(id, workspace=place, home=home)
    denied = next((one.reply for one in seen.verdicts if isinstance(one.reply, Deny)), None)
    if denied is not None or not agree(seen):
        cancel(id, reason=denied.code if denied else "not agreed to", home=home)
        return Called(id, manifest.uri, seen, refused=denied)
    accept(id, intent_hash=seen.intent.hash, plan_hash=seen.plan.hash, home=home)
    outcome = run(id, workspace=place, people=people, listener=listener, home=home)
    return Called(id, manifest.uri, seen, outcome)


def _propose(home: Home, manifest: Manifest, args: Mapping[str, object], place: Path, timeout_ms: int) -> str:
    """Draft, Intent and plan of the call, in one commit; the intent's id."""
    id, at = home.clock.new_id(), home.clock.now()
    texts = {name: _text(name, value) for name, value in args.items()}
    verb, declared = _fitting(manifest, typed_args(texts, manifest, {}), place)
    words = " ".join(f"{name}={_short(text.replace('$${', '${'))}" for name, text in texts.items())
    prose = f"call {short_name(manifest.uri)}{f' with {words}' if words else ''}"
    node = PlanNode(
        id=NODE,
        kind="tool_call",
        tool_call=ToolCall(
            tool_ref=manifest.uri, args=texts, timeout_ms=timeout_ms, side_effect_class=declared
        ),
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
            root=node,
        )
    )
    flaws = check_plan(tree, intent_id=id)
    if flaws:  # before anything of it is written: one of them may be a secret
        first = flaws[0]
        raise InputError(first.code, first.message, place="arguments", fix=first.fix)
    draft = sealed(home, "intent.draft", IntentDraftBody(prose), intent=id, at=at)
    compiled = IntentCompiledBody(canonical_bytes(intent))
    proposed = PlanProposedBody(canonical_bytes(tree))
    second = sealed(home, "intent.compiled", compiled, intent=id, at=at, causation=draft.id)
    third = sealed(home, "plan.proposed", proposed, intent=id, at=at, causation=second.id)
    home.journal.append_many([draft, second, third])
    return id


def _fitting(manifest: Manifest, args: Mapping[str, object], place: Path) -> tuple[str, str]:
    """The narrowest verb and the narrowest declared class that cover what this call does."""
    workspace = Workspace(place)

    def exists(path: str) -> bool:
        try:
            return workspace.check(path) is not None
        except ScopeError:
            return True

    try:
        effect = manifest.effect(manifest.complete(args), exists)
    finally:
        workspace.close()
    for declared, covered in COVERS.items():
        if effect.classes <= covered:
            for verb in _VERBS:
                if not over_ceiling(verb, declared, effect.operation):
                    return verb, declared
    raise InputError(
        "UNCALLABLE",
        f"no verb and class cover what {manifest.uri} does: {', '.join(sorted(effect.classes))}",
        place=manifest.uri,
        fix="call a tool that does less at once",
    )


def _text(name: str, value: object) -> str:
    """An argument as a plan keeps it: a text that the tool's schema turns back into the value."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, allow_nan=False)
        text.encode()
    except (TypeError, ValueError) as problem:
        raise InputError(
            "BAD_ARGUMENT", f"{name} is no JSON value: {problem}", place=name, fix="give text or JSON"
        ) from problem
    return text.replace("${", "$${")


def _short(text: str) -> str:
    line = visible(" ".join(text.split()))
    line = line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"
    return f'"{line}"' if " " in line or not line else line
