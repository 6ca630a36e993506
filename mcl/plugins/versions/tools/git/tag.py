"""Makes a tag."""

from __future__ import annotations

from collections.abc import Mapping

from executor.core.errors import ToolError
from executor.tools.tool import Bench
from mcl.plugins.versions.work import commit_of, committer, need_commit, on_branch

_TAGS = "refs/tags/"


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Make it; with a message it says who made it and when.

    Raises:
        ToolError: TAG_EXISTS, UNKNOWN_COMMIT, NO_IDENTITY, GIT_FAILED.
    """
    name, message = str(args["name"]), str(args.get("message", ""))
    async with on_branch(bench.workspace, str(args.get("repo", "."))) as (git, _):
        commit = await need_commit(git, str(args.get("commit", "HEAD")))
        if await commit_of(git, _TAGS + name):
            raise ToolError("TAG_EXISTS", f"there is a tag {name!r}", place=name, fix="choose another name")
        if message:
            tag = ["tag", "--annotate", "--no-sign", "--file=-", "--", name, commit]
            await git.answer(*tag, variables=await committer(git), said=message.encode())
        else:
            await git.answer("tag", "--no-sign", "--", name, commit)
    return {"name": name, "commit": commit, "text": f"made tag {name} at {commit[:8]}"}
