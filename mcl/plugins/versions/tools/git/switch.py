"""Another branch that is there, checked out."""

from __future__ import annotations

from collections.abc import Mapping

from executor.sandbox.git import repository, text
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.versions.staging import files_between, listed, require_committed
from mcl.plugins.versions.tools.git.branch import require_name
from mcl.plugins.versions.work import BRANCHES, called, need_commit, unknown_branch


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Check it out; what is not committed stays as it is, in files that both have alike.

    Raises:
        ToolError: UNKNOWN_BRANCH, UNCOMMITTED, BAD_BRANCH_NAME, GIT_FAILED.
        ScopeError: PROTECTED_PATH, where it would write a secret file.
    """
    repo = str(args.get("repo", "."))
    async with repository(bench.workspace, repo) as git:
        name = await called(git, str(args["name"]))
    async with repository(bench.workspace, repo, branch=name) as git:
        await require_name(git, name)
        if not (theirs := await git.commit_of(BRANCHES + name)):
            raise unknown_branch(name)
        before = text((await git.run("symbolic-ref", "--quiet", "--short", "HEAD")).out).strip()
        files = list[str]()
        if before != name:
            files = await files_between(git, await need_commit(git, "HEAD"), theirs, repo, bench)
            await require_committed(git, repo, files)
            await git.answer("checkout", "--quiet", "--no-guess", "--no-overwrite-ignore", name, "--")
    told = f"on branch {name}, {counted(len(files), 'file')} changed"
    told = told if before != name else f"on {name} already"
    answer: dict[str, object] = {
        "branch": name,
        "from": visible(before),
        "commit": theirs,
        "files": listed(files),
    }
    return {**answer, "count": len(files), "text": visible(told)}
