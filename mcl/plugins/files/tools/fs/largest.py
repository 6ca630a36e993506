"""The largest files of a folder."""

from __future__ import annotations

from collections.abc import Mapping

from anyio import from_thread, to_thread

from executor.tools.tool import Bench
from mcl.plugins.files.listing import found_files


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the largest first."""
    return await to_thread.run_sync(
        lambda: found_files(args, bench, from_thread.check_cancelled, order="largest", limit=10)
    )
