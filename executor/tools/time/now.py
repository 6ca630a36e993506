"""The present moment."""

from __future__ import annotations

from collections.abc import Mapping

from executor.tools.tool import Bench


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the moment (``2026-11-21T10:00:00.000Z``) and the date in it."""
    now = bench.clock.now()
    return {"now": now, "date": now[:10], "text": now}
