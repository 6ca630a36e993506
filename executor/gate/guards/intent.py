"""Guards of the intent behind a call: is it what was signed, may it run now, does it cover the call?"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from typing import Final, Literal

from executor.call import Call, Deferred
from executor.core.errors import ScopeError, UnresolvedError
from executor.core.globs import Scope
from executor.core.hashing import json_bytes
from executor.gate.checkout import Checkout, names_programs, no_intent_declared, out_of_scope
from executor.gate.context import RUNNABLE, Context
from executor.gate.mandate import Mandate
from executor.gate.references import typed_args
from executor.gate.verdict import Deny
from executor.sandbox.redaction import visible
from executor.tools.manifest import CHANGING, Effect, Manifest, Mode
from ir import ToolCall

# ---- integrity: Intent and plan are, to the byte, what the person signed, and the call is in that plan.


def integrity(call: Call, context: Context) -> Deny | None:
    """INTENT_HASH_MISMATCH, PLAN_HASH_MISMATCH. A call outside any intent is the next guard's matter."""
    if context.mandate is None:
        return None
    return _unchanged(context.mandate) or _planned(call, context.mandate, context)


def _unchanged(mandate: Mandate) -> Deny | None:
    """Of a sub-dispatch the plans above it are looked at too: they are what the person signed."""
    if mandate.above is not None and (refused := _unchanged(mandate.above)) is not None:
        return refused
    if not mandate.intent_hash == mandate.intent.hash == mandate.accepted_hash:
        return Deny(
            "INTENT_HASH_MISMATCH",
            f"the Intent has the hash {mandate.intent_hash}, the person signed {mandate.accepted_hash}",
            "compile the goal again and have it accepted",
        )
    if not mandate.plan_hash == mandate.plan.hash == mandate.accepted_plan_hash:
        return Deny(
            "PLAN_HASH_MISMATCH",
            f"the plan has the hash {mandate.plan_hash}, the person signed {mandate.accepted_plan_hash}",
            "propose the plan again and have it accepted",
        )
    return None


def _planned(call: Call, mandate: Mandate, context: Context) -> Deny | None:
    """Whether the call is one of the plan's, or looks at a success criterion of the Intent."""
    planned = mandate.call_at(call.node_id)
    if (
        planned is None
        or planned.tool_ref != call.tool_ref
        or planned.side_effect_class != call.declared
        or not _as_planned(call.args, planned, context.manifest(call))
    ):
        return Deny(
            "PLAN_HASH_MISMATCH",
            f"the accepted plan has no such call at node {call.node_id!r}",
            "make exactly the calls of the accepted plan, or correct the plan and have it accepted",
        )
    return None


def _as_planned(args: Mapping[str, object], planned: ToolCall, manifest: Manifest | None) -> bool:
    """Whether these are the plan's arguments; of references only the names can be told."""
    try:
        signed = typed_args(planned.args, manifest, None, planned.documents)
    except UnresolvedError:
        return False
    return args.keys() == signed.keys() and all(
        isinstance(value, Deferred)
        or (not isinstance(args[name], Deferred) and json_bytes(args[name]) == json_bytes(value))
        for name, value in signed.items()
    )


# ---- state: there is an accepted intent, nothing blocks it, and this process holds its run; or a call that
# no plan holds carries a declaration, which three_keys judges.


def state(call: Call, context: Context) -> Deny | None:
    """NO_INTENT_DECLARED, INTENT_NOT_ACTIVE, INTENT_BLOCKED."""
    mandate = context.mandate
    if mandate is None and call.declaration is not None and not call.declared:
        return None
    if mandate is None:
        return Deny(
            "NO_INTENT_DECLARED",
            "no accepted intent covers this call",
            "compile a goal, have a person accept it, and run its plan: mcl compile, mcl accept, mcl run",
        )
    state = context.view().state
    if state not in RUNNABLE:
        return Deny(
            "INTENT_NOT_ACTIVE",
            f"the intent {mandate.intent.id} is {state}",
            "only an accepted intent runs: mcl accept",
            data={"state": state},
        )
    if not context.holds_run:
        return Deny(
            "INTENT_NOT_ACTIVE",
            f"this process does not hold the run of the intent {mandate.intent.id}",
            "let the process that runs it finish, or end it",
        )
    open_questions = [unknown.id for unknown in mandate.intent.unknowns if unknown.severity == "blocking"]
    if open_questions:
        return Deny(
            "INTENT_BLOCKED",
            f"still unknown: {', '.join(open_questions)}",
            "answer the questions: mcl answer",
        )
    return None


# ---- checkout: a call that no plan holds changes files only under an intent that its agent has checked
# out, and only that intent's files. Where nothing is governed by intents, there is nothing to say.


Where = Literal["inside", "outside", "unsure"]

_LOOKS: Final = frozenset({"read", "network"})
_WRITES: Final = frozenset({"read", "write"})


def checkout(call: Call, context: Context) -> Deny | None:
    """NO_INTENT_DECLARED, OUT_OF_SCOPE, PROTECTED_PATH."""
    manifest = context.manifest(call)
    if manifest is None or not _judged(call, context):
        return None
    if _only_looks(context.effect(call, manifest)):
        return None
    held = context.checkouts.held() if context.checkouts else None
    try:
        written = [("/".join(parts), mode) for parts, mode in context.written(call, manifest)]
        # Before all else: no intent that could be selected opens these.
        if starting := next((path for path, _ in written if names_programs(path)), ""):
            return _starting(starting)
        if held is None:
            labels = context.checkouts.labels() if context.checkouts else ()
            called = call.declaration.name if call.declaration else ""
            return no_intent_declared(called or manifest.name, labels).deny()
        for path, mode in written:
            if _where(path, mode, held.scope, context) == "outside":
                return _out_of_scope(path, held, context)
    except ScopeError as error:
        return Deny(error.code, error.message, error.fix)
    return None


def covered(call: Call, context: Context) -> bool:
    """Does the intent that a person signed, and that the agent has checked out, cover this very call? It does
    where all the call may do is to write files, in places that are known and all in scope."""
    manifest = context.manifest(call)
    if manifest is None or manifest.outside is not None or not _judged(call, context):
        return False
    effect = context.effect(call, manifest)
    if effect.operation != "write" or "write" not in effect.classes or not effect.classes <= _WRITES:
        return False
    held = context.checkouts.held() if context.checkouts else None
    if held is None:
        return False
    given = manifest.complete(call.args)
    writing = [name for name, mode in manifest.scope.paths.items() if mode in CHANGING]
    try:
        written = context.written(call, manifest)
        return (
            all(name in given for name in writing)
            and len(written) > 0
            and all(_where("/".join(parts), mode, held.scope, context) == "inside" for parts, mode in written)
        )
    except ScopeError:
        return False


def _judged(call: Call, context: Context) -> bool:
    """Is it a call that no plan holds, in a workspace that is governed by intents?"""
    if context.mandate is not None or context.checkouts is None:
        return False
    return context.checkouts.governed()


def _only_looks(effect: Effect) -> bool:
    return effect.operation == "read" and effect.classes <= _LOOKS


def _where(path: str, mode: Mode, scope: Scope, context: Context) -> Where:
    """Where a place lies that is written to; "" is the workspace.

    Of a folder it is not known which files in it the call writes, nor of a new place whether a tool that adds
    there makes a file or a folder of it: only where all below it is in scope that does not matter.
    """
    status = context.workspace.check(path) if path else None
    named = scope.matches(path)
    folder = not path or (status is not None and stat.S_ISDIR(status.st_mode))
    if not folder and (mode != "add" or status is not None):
        return "inside" if named else "outside"
    if scope.holds(path) and (named or (folder and mode == "add")):
        return "inside"
    return "unsure" if named or scope.touches(path) else "outside"


def _starting(path: str) -> Deny:
    what = f"{visible(path)!r} names programs that hosts of agents start, hooks among them"
    return Deny("PROTECTED_PATH", what, "leave it as it is; where it must change, a person does that")


def _out_of_scope(path: str, held: Checkout, context: Context) -> Deny:
    owners = context.checkouts.owners(path) if context.checkouts else ()
    return out_of_scope(path or ".", held.label, held.scope.texts, owners).deny()
