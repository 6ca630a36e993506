"""locks: nobody else is writing there, and the file is still what the caller has read."""

from __future__ import annotations

from executor.call import Call
from executor.core.errors import ScopeError
from executor.gate.context import Context
from executor.gate.host import is_hosts
from executor.gate.verdict import Deny

# Bytes of a file that is compared here. Our tools compare larger ones in their own time; a host compares
# none.
_MOST = 64 << 20


def check(call: Call, context: Context) -> Deny | None:
    """SCOPE_CONTENTION, STALE_FILE."""
    manifest = context.manifest(call)
    if manifest is None:
        return None
    try:
        contended = context.locks.contended(context.written(call, manifest))
    except ScopeError as error:
        return Deny(error.code, error.message, error.fix)
    if contended is not None and contended.who:
        return Deny(
            "SCOPE_CONTENTION",
            f"the run of the intent {contended.who} is writing to {'/'.join(contended.path)!r} now",
            "state the goal again when that run is done",
            data={"intent": contended.who},
            example=f"mcl show {contended.who}",
        )
    if contended is not None:
        return Deny(
            "SCOPE_CONTENTION",
            f"another call is writing to {'/'.join(contended.path)!r} at this moment",
            "write one after the other: put both nodes under a sequential node",
        )
    base = call.args.get("base")
    if base is not None and "base" in manifest.properties:
        for path, mode in context.paths(call, manifest):
            looked_at = is_hosts(manifest) or _size(path, context) <= _MOST
            if mode == "write" and looked_at and _digest(path, context) != base:
                return Deny(
                    "STALE_FILE",
                    f"{path!r} is not what was read any more",
                    "read it again, then write with that base",
                )
    return None


def _size(path: str, context: Context) -> int:
    try:
        status = context.workspace.check(path)
    except ScopeError:
        return 0
    return status.st_size if status else 0


def _digest(path: str, context: Context) -> str:
    try:
        return context.workspace.digest(path)[0]
    except ScopeError:
        return ""
