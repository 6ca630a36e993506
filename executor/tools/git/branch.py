"""Local branches: list them, make one."""

from __future__ import annotations

from collections.abc import Mapping

from executor.errors import ToolError
from executor.sandbox.redaction import visible
from executor.tools.git.command import Git, repository, text
from executor.tools.tool import Bench

_MOST = 2000  # branches listed


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Make the branch when one is named, then answer with all of them."""
    name = str(args.get("name", ""))
    async with repository(bench, str(args.get("repo", ".")), branch=name) as git:
        if name:
            await _make(git, name, str(args.get("start", "HEAD")))
        current = text((await git.run("symbolic-ref", "--quiet", "--short", "HEAD")).out).strip()
        listed = await git.answer(
            "for-each-ref", f"--count={_MOST}", "--format=%(refname:lstrip=2)%00%(objectname)", "refs/heads/"
        )
    branches = [
        {"name": visible(found), "commit": commit}
        for found, _, commit in (line.partition("\0") for line in text(listed.out).splitlines())
    ]
    answer: dict[str, object] = {
        "current": visible(current),
        "branches": branches,
        "count": len(branches),
        "text": "\n".join(("* " if one["name"] == current else "  ") + one["name"] for one in branches),
    }
    return {**answer, "created": name, "text": f"made branch {name}"} if name else answer


async def _make(git: Git, name: str, start: str) -> None:
    # check-ref-format knows the rules ('..', '.lock', '@{', …); the manifest's pattern already keeps options
    # out.
    checked = await git.run("check-ref-format", "--branch", name)
    if checked.status != 0 or text(checked.out).strip() != name:
        raise ToolError(
            "BAD_BRANCH_NAME", f"{name!r} is no name for a branch", place=name, fix="such as feature/search"
        )
    await git.answer("branch", "--no-track", "--end-of-options", name, start)
