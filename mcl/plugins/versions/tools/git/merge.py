"""Merges a branch into the one that is checked out, where that is clean; else nothing changes."""

from __future__ import annotations

from collections.abc import Mapping

from executor.core.errors import ToolError
from executor.sandbox.git import Git, text
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.versions.staging import files_between, listed, require_committed
from mcl.plugins.versions.work import called, committer, need_commit, on_branch


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Merge it.

    Raises:
        ToolError: OTHER_BRANCH, UNKNOWN_COMMIT, UNCOMMITTED, MERGE_CONFLICT (with the files), NO_IDENTITY.
        ScopeError: PROTECTED_PATH, where it would write a secret file.
    """
    repo, name = str(args.get("repo", ".")), str(args["name"])
    async with on_branch(bench.workspace, repo) as (git, branch):
        if (into := str(args.get("into", branch))) != branch:
            raise ToolError(
                "OTHER_BRANCH",
                f"{visible(branch)!r} is checked out, and not {visible(into)!r}",
                place=into,
                fix=f"check it out first: git switch {into}",
            )
        name = await called(git, name)
        theirs, ours = await need_commit(git, name), await need_commit(git, "HEAD")
        if (await git.run("merge-base", "--is-ancestor", theirs, ours)).status == 0:
            return _answer(branch, name, ours, "already", [])
        forward = (await git.run("merge-base", "--is-ancestor", ours, theirs)).status == 0
        tree = theirs if forward else await _merged(git, ours, theirs, name)
        files = await files_between(git, ours, tree, repo, bench)
        await require_committed(git, repo, files, all_staged=not forward)
        message = f"Merge branch '{name}' into {branch}"
        how = ["--ff-only"] if forward else ["--no-ff", f"--message={message}"]
        who = {} if forward else await committer(git)
        merge = ["merge", "--quiet", "--no-verify", "--no-gpg-sign", "--no-stat", "--no-autostash", *how]
        merge += ["--no-rerere-autoupdate", "--", theirs]
        ended = await git.run(*merge, variables=who)
        if ended.status != 0:
            await git.run("merge", "--abort")
            raise ToolError(
                "MERGE_FAILED",
                f"git did not merge {visible(name)!r}: {visible(text(ended.err or ended.out).strip()[:300])}",
                place=name,
                fix="see what git says; nothing was changed",
            )
        commit = await need_commit(git, "HEAD")
    return _answer(branch, name, commit, "forward" if forward else "merged", files)


async def _merged(git: Git, ours: str, theirs: str, name: str) -> str:
    """The tree of both together. Raises ToolError MERGE_CONFLICT."""
    tried = await git.run("merge-tree", "--write-tree", "--name-only", "--no-messages", "-z", ours, theirs)
    fields = [one for one in text(tried.out).split("\0") if one]
    if tried.status == 0 and fields:
        return fields[0].strip()
    if tried.status == 1:
        clashing = listed(fields[1:])
        raise ToolError(
            "MERGE_CONFLICT",
            f"merging {visible(name)!r} ends in a conflict in {', '.join(clashing[:5])}; nothing was changed",
            place=name,
            fix=f"merge it by hand: git merge {name}",
            data={"files": clashing},
        )
    raise ToolError(
        "MERGE_FAILED",
        f"git cannot tell whether {visible(name)!r} merges: {visible(text(tried.err).strip()[:300])}",
        place=name,
        fix="git 2.38 or newer is needed; or merge it by hand",
    )


def _answer(branch: str, name: str, commit: str, how: str, files: list[str]) -> dict[str, object]:
    told = {
        "already": f"everything of {name} is in {branch} already",
        "forward": f"{branch} is where {name} is now, at {commit[:8]} ({counted(len(files), 'file')})",
        "merged": f"merged {name} into {branch} as {commit[:8]} ({counted(len(files), 'file')})",
    }
    answer: dict[str, object] = {"branch": branch, "commit": commit, "how": how}
    return {**answer, "files": listed(files), "count": len(files), "text": visible(told[how])}
