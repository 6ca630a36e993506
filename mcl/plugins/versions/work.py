"""What tools that change a repository share: the branch, what stands against it, and who commits."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from executor.core.errors import ToolError
from executor.sandbox.git import UNDER_WAY, Git, person, repository, text
from executor.sandbox.paths import Workspace
from executor.sandbox.redaction import visible

BRANCHES = "refs/heads/"


@asynccontextmanager
async def on_branch(workspace: Workspace, repo: str) -> AsyncIterator[tuple[Git, str]]:
    """The repository, opened so that the branch that is checked out may be written, and that branch's name.

    Raises:
        ToolError: NO_BRANCH, UNDER_WAY, and what ``repository`` raises.
    """
    async with repository(workspace, repo) as git:
        named = text((await git.run("symbolic-ref", "--quiet", "HEAD")).out).strip()
    branch = named.removeprefix(BRANCHES)
    if not branch or branch == named:
        raise ToolError(
            "NO_BRANCH",
            f"no branch is checked out in {repo!r}",
            place=repo,
            fix="check out a branch first: git switch NAME",
        )
    async with repository(workspace, repo, branch=branch) as git:
        running = next((what for name, what in UNDER_WAY if git.keeps(name)), "")
        if running:
            raise ToolError(
                "UNDER_WAY",
                f"{running} is under way in {repo!r}",
                place=repo,
                fix="end it first, or give it up: git status says how",
            )
        yield git, branch


async def called(git: Git, name: str) -> str:
    """The one branch that the words of a name say, where nothing has it whole: typo is fix/typo-in-docs, and
    annas that of which Anna made the last commit."""
    if await git.commit_of(name):
        return name
    form = "--format=%(refname:lstrip=2)%00%(authorname)"
    branches = text((await git.answer("for-each-ref", form, BRANCHES)).out).splitlines()
    said, found = set(re.split(r"[/_-]", name.casefold())), list[str]()
    for branch in branches:
        words = re.split(r"[/_ \0-]", branch.casefold())
        if said <= {*words, *(f"{one}s" for one in words)}:
            found.append(visible(branch.partition("\0")[0]))
    return found[0] if len(found) == 1 else name


def unknown_branch(name: str) -> ToolError:
    """What is said where there is no branch of that name."""
    return ToolError(
        "UNKNOWN_BRANCH", f"there is no branch {name!r}", place=name, fix="git/branch lists them"
    )


async def need_commit(git: Git, named: str) -> str:
    """The same. Raises ToolError UNKNOWN_COMMIT."""
    if not (commit := await git.commit_of(named)):
        raise ToolError(
            "UNKNOWN_COMMIT",
            f"there is no branch, tag or commit {visible(named)!r}",
            place=named,
            fix="git/branch and git/log list them",
        )
    return commit


async def committer(git: Git) -> dict[str, str]:
    """The variables that tell git who commits.

    Raises:
        ToolError: NO_IDENTITY.
    """
    name, mail = (await person(git)).values()
    if not name or not mail:
        raise ToolError(
            "NO_IDENTITY",
            "git does not know in whose name to commit",
            place="user.name, user.email",
            fix='git config --global user.name "Your Name"; git config --global user.email you@example.org',
        )
    return {
        "GIT_AUTHOR_NAME": name,
        "GIT_AUTHOR_EMAIL": mail,
        "GIT_COMMITTER_NAME": name,
        "GIT_COMMITTER_EMAIL": mail,
    }
