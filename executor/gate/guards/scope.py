"""Guard 9: paths lie in the workspace and are no secrets; addresses lead to a host that can be granted.

A host that was not granted is asked about by guard 12: a person's approval of the exact call may stand in.
"""

from __future__ import annotations

from executor.errors import ScopeError
from executor.gate.call import Call
from executor.gate.context import Context
from executor.gate.verdict import Deny


def check(call: Call, context: Context) -> Deny | None:
    """PROTECTED_PATH, OUT_OF_SCOPE, HOST_DENIED. The tool opens its paths under the same rules once more."""
    manifest = context.manifest(call)
    if manifest is None:
        return None
    try:
        context.origins(call, manifest)
    except ScopeError as error:
        return Deny(error.code, error.message, error.fix)
    for path, _ in context.paths(call, manifest):
        try:
            context.workspace.check(path)
        except ScopeError as error:
            if error.code in ("PROTECTED_PATH", "OUT_OF_SCOPE"):
                return Deny(error.code, error.message, error.fix)
    return None
