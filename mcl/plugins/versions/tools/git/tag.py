"""Tags: lists them, makes one."""

from __future__ import annotations

from collections.abc import Mapping

from executor.core.errors import ToolError
from executor.sandbox.git import Git, repository, text
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.plugins.versions.work import committer, need_commit, on_branch

_TAGS = "refs/tags/"
_MOST = 1000  # tags listed


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Make it where one is named, with a message that says who made it and when; else answer with all.

    Raises:
        ToolError: TAG_EXISTS, UNKNOWN_COMMIT, NO_IDENTITY, GIT_FAILED.
    """
    name, message, repo = str(args.get("name", "")), str(args.get("message", "")), str(args.get("repo", "."))
    if not name:
        async with repository(bench.workspace, repo) as git:
            return await _listed(git)
    async with on_branch(bench.workspace, repo) as (git, _):
        commit = await need_commit(git, str(args.get("commit", "HEAD")))
        if await git.commit_of(_TAGS + name):
            raise ToolError("TAG_EXISTS", f"there is a tag {name!r}", place=name, fix="choose another name")
        if message:
            tag = ["tag", "--annotate", "--no-sign", "--file=-", "--", name, commit]
            await git.answer(*tag, variables=await committer(git), said=message.encode())
        else:
            await git.answer("tag", "--no-sign", "--", name, commit)
    return {"name": name, "commit": commit, "text": f"made tag {name} at {commit[:8]}"}


async def _listed(git: Git) -> dict[str, object]:
    form = "--format=%(refname:lstrip=2)%00%(creatordate:short)"
    said = await git.answer("for-each-ref", f"--count={_MOST}", "--sort=-creatordate", form, _TAGS)
    pairs = [line.partition("\0") for line in text(said.out).splitlines()]
    tags = [{"name": visible(name), "date": day} for name, _, day in pairs]
    return {"tags": tags, "text": "\n".join(f"{one['name']}  {one['date']}" for one in tags) or "no tags"}
