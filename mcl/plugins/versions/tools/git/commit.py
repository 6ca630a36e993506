"""Commits what has changed in a repository to the branch that is checked out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from executor.core.errors import ToolError
from executor.sandbox.git import text
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.core.text import counted
from mcl.plugins.versions.staging import Uncommitted, changed, changed_but, listed, remarks, stage
from mcl.plugins.versions.work import committer, need_commit, on_branch

_HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit")
_WORDS = {"A": "Add", "?": "Add", "D": "Remove"}  # what a message says of a file; else Change


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Stage what is meant and commit it.

    Raises:
        ToolError: NOTHING_TO_COMMIT, NO_IDENTITY, BAD_ARGUMENTS, and what ``stage`` raises.
    """
    repo, named = str(args.get("repo", ".")), args.get("paths")
    paths, staged = [str(one) for one in named] if isinstance(named, list) else [], bool(args.get("staged"))
    if paths and staged:
        raise ToolError(
            "BAD_ARGUMENTS",
            "what is staged is committed as a whole, and files were named too",
            place="paths",
            fix="leave out one of staged and paths",
        )
    async with on_branch(bench.workspace, repo) as (git, branch):
        if isinstance(but := args.get("but"), list) and not staged:
            paths = await changed_but(git, paths, [str(one) for one in but])
            if not paths:
                raise _nothing(repo, staged=False, left_out=())
        who = await committer(git)
        before = text((await git.answer("write-tree")).out).strip()
        left: tuple[str, ...] = ()
        if not staged:
            left = (await stage(git, repo, paths, bench, tracked=bool(args.get("tracked")))).left_out
        meant = [one for one in await changed(git, paths) if one.code[0] not in " ?"]
        try:
            if not meant:
                raise _nothing(repo, staged=staged, left_out=left)
            message = str(args.get("message", "")).strip() or message_of(meant)
            only = ["--only", "--", *paths] if paths else ["--"]
            await git.answer(
                "commit", "--quiet", "--no-verify", "--no-gpg-sign", "--no-status", "--cleanup=whitespace",
                "--file=-", *only, variables=who, said=message.encode(),
            )  # fmt: skip
        except ToolError:
            if not staged:
                await git.run("read-tree", before)  # what was staged before is staged again, and no more
            raise
        commit = await need_commit(git, "HEAD")
        skipped = [name for name in _HOOKS if git.keeps(f"hooks/{name}")]
    names = listed([one.path for one in meant])
    subject = visible(message.splitlines()[0])
    told = f"committed {counted(len(meant), 'file')} on {branch} as {commit[:8]}: {subject}{remarks(left)}"
    if skipped:
        told += f"\nnot run: the hooks of the repository ({', '.join(skipped)})"
    return {
        "branch": branch,
        "commit": commit,
        "subject": subject,
        "files": names,
        "count": len(meant),
        "left_out": list(left)[:200],
        "hooks": skipped,
        "text": told,
    }


def message_of(meant: Sequence[Uncommitted]) -> str:
    """A message for who gave none, by the names of the files: Change notes/a.md and 2 more files."""
    verbs = {_WORDS.get(one.code[0], "Change") for one in meant}
    verb = verbs.pop() if len(verbs) == 1 else "Change"
    names = [visible(one.path) for one in meant]
    if len(names) <= 3:
        return f"{verb} {', '.join(names)}"
    return f"{verb} {names[0]}, {names[1]} and {len(names) - 2} more files"


def _nothing(repo: str, *, staged: bool, left_out: Sequence[str]) -> ToolError:
    what = "nothing is staged" if staged else "nothing has changed that could be committed"
    return ToolError(
        "NOTHING_TO_COMMIT",
        f"{what} in {repo!r}{remarks(left_out)}",
        place=repo,
        fix="git/status tells what has changed",
    )
