"""scope: paths lie where the call may go and are no secrets; addresses lead to a host that can be granted.

Writing stays inside the workspace. A place outside it that is read, and a host, which were not granted are
asked about by the guard approval: a person's approval of the exact call may stand in.
"""

from __future__ import annotations

from executor.call import Call
from executor.core.errors import ScopeError
from executor.gate.context import Context
from executor.gate.host import READ
from executor.gate.mandate import Portion
from executor.gate.roots import outside_modes
from executor.gate.verdict import Deny
from executor.sandbox.protected import is_protected
from executor.sandbox.reach import covers, is_elsewhere, look_elsewhere
from executor.sandbox.redaction import visible


def check(call: Call, context: Context) -> Deny | None:
    """PROTECTED_PATH, OUT_OF_SCOPE, HOST_DENIED. The tool opens its paths under the same rules once more."""
    manifest = context.manifest(call)
    if manifest is None:
        return None
    if manifest is READ:
        return _closed_to_reading(call, context)
    try:
        origins = context.origins(call, manifest)
    except ScopeError as error:
        return Deny(error.code, error.message, error.fix)
    portion = context.mandate.portion if context.mandate else None
    if portion is not None:
        refusal = portion.roaming(manifest) or portion.foreign(origins) or _outside(portion, call, context)
        if refusal is not None:
            return refusal
    outside = outside_modes(manifest)
    for path, mode in context.paths(call, manifest):
        if (refusal := _judge(path, context, outside=mode in outside)) is not None:
            return refusal
    return None


def _outside(portion: Portion, call: Call, context: Context) -> Deny | None:
    """Whether the call goes where the dispatch above it does not let it; a folder that is left out is the
    workspace."""
    manifest = context.manifest(call)
    assert manifest is not None, "the guard before this one knows the tool"
    given = manifest.complete(call.args)
    whole = ["."] if any(name not in given for name in manifest.scope.paths) else []
    return portion.outside([*(path for path, _ in context.paths(call, manifest)), *whole], manifest)


def _closed_to_reading(call: Call, context: Context) -> Deny | None:
    """PROTECTED_PATH for what a host is to read: by the text of its path, by where its links lead, or because
    it lies in a folder that is closed as a whole."""
    path, place, root = str(call.args["path"]), str(call.args["place"]), str(context.workspace.root)
    ways = (path, place.removeprefix(root) if covers(root, place) else "")
    spelled = (tuple(part for part in way.split("/") if part not in ("", ".", "..")) for way in ways)
    closed = (str(folder) for folder in context.workspace.forbidden)
    if any(map(is_protected, spelled)) or any(covers(folder, place) for folder in closed):
        return Deny(
            "PROTECTED_PATH",
            f"{visible(path)} is protected: secrets, keys, .git or .orchestration",
            "do without it; where it must be read, a person does that",
        )
    return None


def _judge(path: str, context: Context, *, outside: bool) -> Deny | None:
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
        if outside and is_elsewhere(path):
            look_elsewhere(context.workspace, path)
        else:
            context.workspace.check(path)
    except ScopeError as error:
        if error.code in ("PROTECTED_PATH", "OUT_OF_SCOPE"):
            return Deny(error.code, error.message, error.fix)
    return None
