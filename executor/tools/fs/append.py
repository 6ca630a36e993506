"""Adds to the end of a text file."""

from __future__ import annotations

from collections.abc import Mapping

from anyio import from_thread, to_thread

from executor.tools.tool import Bench


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Add the content after what is there, on a line of its own; a missing file is made."""
    return await to_thread.run_sync(_append, str(args["path"]), str(args["content"]), bench)


def _append(path: str, content: str, bench: Bench) -> dict[str, object]:
    data = content.encode()
    written = bench.workspace.append(path, data, check=from_thread.check_cancelled)
    what = "made" if written.created else f"added {len(data):,} bytes to"
    return {
        "path": written.path,
        "size": written.size,
        "sha256": written.sha256,
        "created": written.created,
        "text": f"{what} {written.path} ({written.size:,} bytes)",
    }
