"""Guard 9: paths lie where the call may go and are no secrets; addresses lead to a host that can be granted.

Writing stays inside the workspace. A place outside it that is read, and a host, which were not granted are
asked about by guard 12: a person's approval of the exact call may stand in.
"""

from __future__ import annotations

from executor.errors import ScopeError
from executor.gate.call import Call
from executor.gate.context import Context
from executor.gate.verdict import Deny
from executor.sandbox.reach import covers, is_elsewhere, look_elsewhere
from executor.tools.manifest import Mode


def check(call: Call, context: Context) -> Deny | None:
    """PROTECTED_PATH, OUT_OF_SCOPE, HOST_DENIED. The tool opens its paths under the same rules once more."""
    manifest = context.manifest(call)
    if manifest is None:
        return None
    try:
        context.origins(call, manifest)
    except ScopeError as error:
        return Deny(error.code, error.message, error.fix)
    for path, mode in context.paths(call, manifest):
        if (refusal := _judge(path, mode, context)) is not None:
            return refusal
    return None


def _judge(path: str, mode: Mode, context: Context) -> Deny | None:
    root = str(context.workspace.root)
    if covers(root, path.rstrip("/")):
        inside = path.rstrip("/").removeprefix(root).lstrip("/") or "."
        return Deny(
            "OUT_OF_SCOPE",
            f"{path!r} lies in the workspace, but is not named relative to it",
            f"write {inside!r}",
            example=f'path = "{inside}"',
        )
    try:
        if is_elsewhere(path) and mode in ("read", "list"):
            look_elsewhere(context.workspace, path)
        else:
            context.workspace.check(path)
    except ScopeError as error:
        if error.code in ("PROTECTED_PATH", "OUT_OF_SCOPE"):
            return Deny(error.code, error.message, error.fix)
    return None
