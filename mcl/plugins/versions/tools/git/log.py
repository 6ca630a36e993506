"""The latest commits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from executor.core.clock import read_moment, start_of
from executor.core.errors import ToolError
from executor.sandbox.git import Git, failure, person, plain_path, repository, text
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench

_COUNT = 10
_MOST = 200  # of a time
_FORMAT = "--format=tformat:%H%x00%an%x00%aI%x00%s%x00"  # %G… would start a signature checker
_SHOWN = 500  # characters kept of an author's name and of a subject


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the commits reachable from HEAD, or from another branch or tag; of more than are asked for
    otherwise, first with how many each made."""
    path = plain_path(str(args.get("path", "")))
    only = _moments(args, bench)
    after, branch = str(args.get("after", "")), str(args.get("branch", "HEAD"))
    count = int(str(args.get("count", _COUNT if not (only or after) else _MOST)))
    async with repository(bench.workspace, str(args.get("repo", "."))) as git:
        if after and not await git.commit_of(after) and await git.commit_of(f"v{after}"):
            after = f"v{after}"  # as people say the number of a version
        of = f"{after}..{branch}" if after else branch
        author = str(args.get("author", ""))
        if args.get("mine"):
            author = await _own_address(git, author)
        if author:
            only += ["--fixed-strings", "--regexp-ignore-case", f"--author={author}"]
        found = await commits(git, count, bench.max_output // 2, path, only=only, of=of)
    lines = [f"{one['commit'][:8]} {one['date'][:10]} {one['author']}: {one['subject']}" for one in found]
    if count > _MOST and lines:
        made = Counter(one["author"] for one in found)
        lines[:0] = [f"{name}: {many}" for name, many in made.most_common()]
    told = "\n".join(lines) or ("no commits" if only or path or after else "")
    return {"commits": found, "count": len(found), "text": told}


def _moments(args: Mapping[str, object], bench: Bench) -> list[str]:
    """The options of git for a time; a date as `until` is the whole day."""
    only = []
    if "days" in args:
        if "since" in args:
            message = "a number of days, and a moment since when"
            raise ToolError("BAD_ARGUMENTS", message, place="days", fix="leave one of them out")
        today = start_of(datetime.fromisoformat(bench.clock.now()).date())
        only.append(f"--since={(today - timedelta(days=int(str(args['days'])))).isoformat()}")
    if "since" in args:
        only.append(f"--since={start_of(read_moment(str(args['since']), 'since')).isoformat()}")
    if "until" in args:
        until = read_moment(str(args["until"]), "until")
        end = until if isinstance(until, datetime) else start_of(until) + timedelta(days=1, seconds=-1)
        only.append(f"--until={end.isoformat()}")
    return only


async def _own_address(git: Git, author: str) -> str:
    """How commits of this person are told from those of others."""
    if author:
        raise ToolError(
            "BAD_ARGUMENTS", "commits of an author and one's own", place="mine", fix="leave one of them out"
        )
    said = await person(git)
    if not (found := said["user.email"] or said["user.name"]):
        raise ToolError(
            "NO_IDENTITY",
            "git does not know who you are",
            place="user.email",
            fix="git config --global user.email you@example.org; or name an author",
        )
    return found


async def commits(
    git: Git, count: int, room: int, path: str = "", *, only: Sequence[str] = (), of: str = "HEAD"
) -> list[dict[str, str]]:
    """The latest commits that are reachable from HEAD, or another commit; none before the first.

    Args:
        count: at most so many. room: bytes that they may take.
        path: only those that touch it. only: further options of git log that leave some out.
        of: whose, or A..B.
    """
    finished = await git.run(
        "log",
        f"--max-count={count}",
        "--no-show-signature",
        "--no-ext-diff",
        "--no-textconv",
        "--no-patch",
        "--no-mailmap",
        *only,
        _FORMAT,
        "--end-of-options",
        of,
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
