"""Writes a text file."""

from __future__ import annotations

from collections.abc import Mapping

from anyio import from_thread, to_thread

from executor.tools.tool import Bench


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Put the content in place. Replaces a file of unknown content only where the gate allowed just that."""
    return await to_thread.run_sync(_write, args, bench)


def _write(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    base = args.get("base")
    written = bench.workspace.write(
        str(args["path"]),
        str(args["content"]).encode(),
        replace=bench.operation == "destructive",
        base=None if base is None else str(base),
        check=from_thread.check_cancelled,
    )
    return {
        "path": written.path,
        "size": written.size,
        "sha256": written.sha256,
        "created": written.created,
        "text": f"{written.path} ({written.size} bytes)",
    }
