"""Drops local branches: one, or all that are merged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from executor.core.errors import ToolError
from executor.sandbox.git import Git, repository, text
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.plugins.versions.tools.git.branch import local_branches, require_name
from mcl.plugins.versions.work import BRANCHES, called, need_commit, unknown_branch

_STAY = ("main", "master", "develop")  # of all that are merged


async def run(args: Mapping[str, Any], bench: Bench) -> dict[str, object]:
    """Drop one, if all its commits are in the branch that is checked out, or the gate allowed it anyway; or
    each whose commits are all in a branch.

    Raises:
        ToolError: UNKNOWN_BRANCH, CHECKED_OUT, NOT_MERGED, BAD_BRANCH_NAME, UNKNOWN_COMMIT, BAD_ARGUMENTS.
    """
    repo, into = str(args.get("repo", ".")), str(args.get("merged", ""))
    if ("name" in args) is bool(into):
        raise ToolError("BAD_ARGUMENTS", "one of name and merged says what goes", place="name")
    async with repository(bench.workspace, repo) as git:
        if into:
            into = await called(git, into)
            base = await need_commit(git, into)
            found = await local_branches(git, [f"--merged={base}"])
            kept = [await called(git, str(one)) for one in args.get("but") or ()]
            stay = {*_STAY, into, *kept, *await _checked_out(git)}
            names = [one["name"] for one in found if one["name"] not in stay]
        else:
            base, names = "HEAD", [await called(git, str(args["name"]))]
    dropped = [await _drop(repo, name, base, bench) for name in names]
    told = [f"dropped branch {visible(name)}, which was at {commit[:8]}" for name, commit, _ in dropped]
    return {
        "names": [visible(name) for name, _, _ in dropped],
        "commits": [commit for _, commit, _ in dropped],
        "merged": all(merged for _, _, merged in dropped),
        "text": "\n".join(told) or "no branch is merged that could go",
    }


async def _drop(repo: str, name: str, base: str, bench: Bench) -> tuple[str, str, bool]:
    """The branch, where it was, and whether `base` has all of it."""
    async with repository(bench.workspace, repo, branch=name) as git:
        await require_name(git, name)
        if not (commit := await git.commit_of(BRANCHES + name)):
            raise unknown_branch(name)
        if name in await _checked_out(git):
            raise ToolError(
                "CHECKED_OUT",
                f"the branch {name!r} is checked out",
                place=name,
                fix="check out another branch first",
            )
        merged = (await git.run("merge-base", "--is-ancestor", commit, base)).status == 0
        if not merged and bench.operation != "destructive":
            raise ToolError(
                "NOT_MERGED",
                f"the branch {name!r} has commits that are in no other place",
                place=name,
                fix="merge it first; or drop it all the same: unmerged = true",
            )
        await git.answer("update-ref", "-d", BRANCHES + name, commit)
    return name, commit, merged


async def _checked_out(git: Git) -> set[str]:
    """The branches that are checked out, here or in a linked work tree."""
    trees = text((await git.answer("worktree", "list", "--porcelain")).out).splitlines()
    return {one.removeprefix(f"branch {BRANCHES}") for one in trees if one.startswith("branch ")}
