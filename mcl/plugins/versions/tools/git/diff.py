"""What changed in the files of the repository."""

from __future__ import annotations

from collections.abc import Mapping

from executor.sandbox.git import plain_path, repository
from executor.tools.project.changes import changes, told
from executor.tools.tool import Bench


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with lines added and removed in each file, and the changes themselves."""
    repo, path = str(args.get("repo", ".")), plain_path(str(args.get("path", "")))
    command = ["diff", *(["--cached"] if args.get("staged") else [])]
    async with repository(bench.workspace, repo) as git:
        found = await changes(git, command, path, repo, bench)
    return {**found.answer(), "text": "\n".join(told(found))}
