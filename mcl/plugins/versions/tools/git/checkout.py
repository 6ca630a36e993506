"""A new branch where HEAD is, checked out.

What `git checkout -b` amounts to, without its look at the files: where there is no index, or a sparse
checkout, it writes files and takes them away as the repository says.
"""

from __future__ import annotations

from collections.abc import Mapping

from executor.core.errors import ToolError
from executor.sandbox.git import Git, failure, repository, text
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.plugins.versions.tools.git.branch import require_name

_BRANCHES = "refs/heads/"


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Make the branch, then let HEAD name it.

    Raises:
        ToolError: BAD_BRANCH_NAME, BRANCH_EXISTS, STARTS_ELSEWHERE, GIT_FAILED, and what ``repository``
            raises.
    """
    name = str(args["name"])
    async with repository(bench.workspace, str(args.get("repo", ".")), branch=name) as git:
        await require_name(git, name)
        if await _commit(git, _BRANCHES + name):
            raise ToolError(
                "BRANCH_EXISTS", f"there is a branch {name!r}", place=name, fix="choose another name"
            )
        named = text((await git.run("symbolic-ref", "--quiet", "HEAD")).out).strip()
        before, commit = named.removeprefix(_BRANCHES), await _commit(git, "HEAD")
        start = str(args.get("start", ""))
        if start and (await _commit(git, start) or None) != commit:
            message = f"{start!r} is not what is checked out, and files stay as they are"
            fix = f"check out {start} first, or make the branch without switching to it"
            raise ToolError("STARTS_ELSEWHERE", message, place=start, fix=fix)
        if commit:  # before the first commit there is nothing that a branch could name
            await git.answer("branch", "--no-track", "--end-of-options", name, commit)
        moved = await git.run(
            "symbolic-ref", "-m", f"checkout: moving from {before or commit} to {name}",
            "HEAD", _BRANCHES + name,
        )  # fmt: skip
        if moved.status != 0:
            if commit:
                await git.run("update-ref", "-d", _BRANCHES + name, commit)
            raise failure("symbolic-ref", moved)
    before = visible(before)
    return {
        "branch": name,
        "from": before,
        "commit": commit,
        "text": f"made and checked out branch {name}" + (f", from {before}" if before else ""),
    }


async def _commit(git: Git, reference: str) -> str:
    """The commit that a reference names; "" where it names none."""
    found = await git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{reference}^{{commit}}")
    return text(found.out).strip() if found.status == 0 else ""
