"""Puts what has changed into the index of a repository, for the next commit."""

from __future__ import annotations

from collections.abc import Mapping

from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.versions.staging import listed, remarks, stage
from mcl.plugins.versions.work import on_branch


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Stage the named files and folders; all that has changed where none is named."""
    repo, named = str(args.get("repo", ".")), args.get("paths")
    paths = [str(one) for one in named] if isinstance(named, list) else []
    async with on_branch(bench.workspace, repo) as (git, branch):
        staged = await stage(git, repo, paths, bench)
    files = listed(staged.paths)
    told = (
        f"staged {counted(len(staged.paths), 'file')}: {', '.join(files[:10])}"
        if files
        else "nothing to stage"
    )
    return {
        "branch": branch,
        "files": files,
        "count": len(staged.paths),
        "left_out": list(staged.left_out)[:200],
        "text": told + remarks(staged.left_out),
    }
