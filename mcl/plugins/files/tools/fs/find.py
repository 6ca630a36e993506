"""Finds files by name, age and size."""

from __future__ import annotations

from collections.abc import Mapping

from anyio import from_thread, to_thread

from executor.tools.tool import Bench
from mcl.plugins.files.listing import found_files


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the files that fit, those changed last first where an age is asked for."""
    return await to_thread.run_sync(_find, args, bench)


def _find(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    aged = any(name in args for name in ("older_days", "newer_days", "before", "since"))
    check = from_thread.check_cancelled
    return found_files(args, bench, check, order="newest" if aged else "path", limit=1000)
