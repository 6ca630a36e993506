"""Local branches: list them, make one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from executor.core.errors import ToolError
from executor.sandbox.git import Git, repository, text
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench

_MOST = 2000  # branches listed
_MERGED = ("merged", "unmerged")


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Make the branch when one is named, then answer with all of them."""
    name = str(args.get("name", ""))
    async with repository(bench.workspace, str(args.get("repo", ".")), branch=name) as git:
        if name:
            await _make(git, name, str(args.get("start", "HEAD")))
        current = text((await git.run("symbolic-ref", "--quiet", "--short", "HEAD")).out).strip()
        only = [
            f"--{'no-' if name == 'unmerged' else ''}merged={args[name]}" for name in _MERGED if name in args
        ]
        branches = await local_branches(git, only)
        branches = [one for one in branches if one["name"] != args.get("merged")]
    answer: dict[str, object] = {
        "current": visible(current),
        "branches": branches,
        "count": len(branches),
        "text": "\n".join(("* " if one["name"] == current else "  ") + one["name"] for one in branches)
        or ("no branches" if only else ""),
    }
    return {**answer, "created": name, "text": f"made branch {name}"} if name else answer


async def local_branches(git: Git, only: Sequence[str] = ()) -> list[dict[str, str]]:
    """Their names and commits, in the order of their names. only: options of git that leave some out."""
    listed = await git.answer(
        "for-each-ref",
        f"--count={_MOST}",
        "--format=%(refname:lstrip=2)%00%(objectname)",
        *only,
        "refs/heads/",
    )
    return [
        {"name": visible(found), "commit": commit}
        for found, _, commit in (line.partition("\0") for line in text(listed.out).splitlines())
    ]


async def require_name(git: Git, name: str) -> None:
    """Refuse what git takes for no branch.

    Raises:
        ToolError: BAD_BRANCH_NAME.
    """
    # check-ref-format knows the rules ('..', '.lock', '@{', …); the manifest's pattern already keeps options
    # out.
    checked = await git.run("check-ref-format", "--branch", name)
    if checked.status != 0 or text(checked.out).strip() != name:
        raise ToolError(
            "BAD_BRANCH_NAME", f"{name!r} is no name for a branch", place=name, fix="such as feature/search"
        )


async def _make(git: Git, name: str, start: str) -> None:
    await require_name(git, name)
    await git.answer("branch", "--no-track", "--end-of-options", name, start)
