"""The latest commits."""

from __future__ import annotations

from collections.abc import Mapping

from executor.sandbox.git import Git, failure, plain_path, repository, text
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench

_COUNT = 10
_FORMAT = "--format=tformat:%H%x00%an%x00%aI%x00%s%x00"  # %G… would start a signature checker
_SHOWN = 500  # characters kept of an author's name and of a subject


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the commits reachable from HEAD."""
    path = plain_path(str(args.get("path", "")))
    async with repository(bench.workspace, str(args.get("repo", "."))) as git:
        found = await commits(git, int(str(args.get("count", _COUNT))), bench.max_output // 2, path)
    return {
        "commits": found,
        "count": len(found),
        "text": "\n".join(
            f"{one['commit'][:8]} {one['date'][:10]} {one['author']}: {one['subject']}" for one in found
        ),
    }


async def commits(git: Git, count: int, room: int, path: str = "") -> list[dict[str, str]]:
    """The latest commits that are reachable from HEAD; none before the first.

    Args:
        count: at most so many. room: bytes that they may take.
        path: only those that touch it.
    """
    finished = await git.run(
        "log",
        f"--max-count={count}",
        "--no-show-signature",
        "--no-ext-diff",
        "--no-textconv",
        "--no-patch",
        "--no-mailmap",
        _FORMAT,
        "--end-of-options",
        "HEAD",
        "--",
        *([path] if path else []),
    )
    if finished.status != 0:
        unborn = await git.run("rev-parse", "--verify", "--quiet", "HEAD")
        if unborn.status == 0:
            raise failure("log", finished)
        finished = unborn
    fields = text(finished.out).split("\0")
    found: list[dict[str, str]] = []
    for place in range(0, len(fields) - 4, 4):
        commit, author, date, subject = fields[place : place + 4]
        shown = {
            "commit": commit.strip(),
            "author": visible(author[:_SHOWN]),
            "date": date,
            "subject": visible(subject[:_SHOWN]),
        }
        room -= 160 + 4 * (len(shown["author"]) + len(shown["subject"]))
        if room < 0:
            break
        found.append(shown)
    return found
