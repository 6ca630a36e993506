"""checkout: a call that no plan holds changes files only under an intent that its agent has checked out, and
only that intent's files. Where nothing is governed by intents, there is nothing to say."""

from __future__ import annotations

import stat
from typing import Final, Literal

from executor.call import Call
from executor.core.errors import ScopeError
from executor.core.globs import Scope
from executor.gate.checkout import Checkout, names_programs, no_intent_declared, out_of_scope
from executor.gate.context import Context
from executor.gate.verdict import Deny
from executor.sandbox.redaction import visible
from executor.tools.manifest import Effect, Mode

Where = Literal["inside", "outside", "unsure"]

_LOOKS: Final = frozenset({"read", "network"})
_WRITES: Final = frozenset({"read", "write"})


def check(call: Call, context: Context) -> Deny | None:
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
                return _outside(path, held, context)
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
    writing = [mode for mode in manifest.scope.paths.values() if mode in ("write", "add")]
    try:
        written = context.written(call, manifest)
        return len(written) == len(writing) > 0 and all(
            _where("/".join(parts), mode, held.scope, context) == "inside" for parts, mode in written
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
    if not folder and (mode == "write" or status is not None):
        return "inside" if named else "outside"
    if scope.holds(path) and (named or (folder and mode == "add")):
        return "inside"
    return "unsure" if named or scope.touches(path) else "outside"


def _starting(path: str) -> Deny:
    what = f"{visible(path)!r} names programs that hosts of agents start, hooks among them"
    return Deny("PROTECTED_PATH", what, "leave it as it is; where it must change, a person does that")


def _outside(path: str, held: Checkout, context: Context) -> Deny:
    owners = context.checkouts.owners(path) if context.checkouts else ()
    return out_of_scope(path or ".", held.label, held.scope.texts, owners).deny()
