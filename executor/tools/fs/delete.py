"""Deletes a file or an empty folder."""

from __future__ import annotations

from collections.abc import Mapping

from anyio import from_thread, to_thread

from executor.core.errors import ToolError
from executor.sandbox.removal import remove
from executor.tools.tool import Bench


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Take it away, where the gate allowed just that."""
    return await to_thread.run_sync(_delete, args, bench)


def _delete(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    path, base = str(args["path"]), args.get("base")
    if bench.operation != "destructive":
        raise ToolError("NOT_ALLOWED", "deleting was not allowed", place=path, fix="ask for it")
    gone = remove(
        bench.workspace, path, base=None if base is None else str(base), check=from_thread.check_cancelled
    )
    told: dict[str, object] = {
        "path": gone.path,
        "type": gone.kind,
        "size": gone.size,
        "text": f"deleted {gone.path}" + (f" ({gone.size:,} bytes)" if gone.kind == "file" else "/"),
    }
    return {**told, "sha256": gone.sha256} if gone.kind == "file" else told
