"""Drops a local branch."""

from __future__ import annotations

from collections.abc import Mapping

from executor.core.errors import ToolError
from executor.sandbox.git import repository, text
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.plugins.versions.tools.git.branch import require_name
from mcl.plugins.versions.tools.git.merge import called
from mcl.plugins.versions.work import BRANCHES, commit_of


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Drop it, if all its commits are in the branch that is checked out, or the gate allowed it anyway.

    Raises:
        ToolError: UNKNOWN_BRANCH, CHECKED_OUT, NOT_MERGED, BAD_BRANCH_NAME.
    """
    repo = str(args.get("repo", "."))
    async with repository(bench.workspace, repo) as git:
        name = await called(git, str(args["name"]))
    async with repository(bench.workspace, repo, branch=name) as git:
        await require_name(git, name)
        if not (commit := await commit_of(git, BRANCHES + name)):
            raise ToolError(
                "UNKNOWN_BRANCH", f"there is no branch {name!r}", place=name, fix="git/branch lists them"
            )
        trees = text((await git.answer("worktree", "list", "--porcelain")).out).splitlines()
        if f"branch {BRANCHES}{name}" in trees:
            raise ToolError(
                "CHECKED_OUT",
                f"the branch {name!r} is checked out",
                place=name,
                fix="check out another branch first",
            )
        merged = (await git.run("merge-base", "--is-ancestor", commit, "HEAD")).status == 0
        if not merged and bench.operation != "destructive":
            raise ToolError(
                "NOT_MERGED",
                f"the branch {name!r} has commits that are in no other place",
                place=name,
                fix="merge it first; or drop it all the same: unmerged = true",
            )
        await git.answer("update-ref", "-d", BRANCHES + name, commit)
    return {
        "name": name,
        "commit": commit,
        "merged": merged,
        "text": f"dropped branch {visible(name)}, which was at {commit[:8]}",
    }
