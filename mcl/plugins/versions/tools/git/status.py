"""The state of the repository."""

from __future__ import annotations

from collections.abc import Mapping

from executor.sandbox.git import repository
from executor.tools.project.changes import state
from executor.tools.tool import Bench


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with ``git status``, parsed from its machine format."""
    async with repository(bench.workspace, str(args.get("repo", "."))) as git:
        return await state(git, bench.max_output // 2)
