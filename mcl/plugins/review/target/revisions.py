"""What a revision stands for."""

from __future__ import annotations

from executor.sandbox.git import Git, text
from mcl.core.errors import ReviewError

_LONGEST = 500  # characters of a revision


async def base_of(git: Git, named: str) -> tuple[str, str]:
    """The commit that changes are taken against, and what git is told to compare with.

    It is where the present branch left the named revision (their merge base), so that what others did there
    since is no change. Of a repository without a commit it is the empty tree, and the commit is "".

    Raises:
        ReviewError: LOOKS_LIKE_OPTION, UNKNOWN_REVISION.
    """
    check_name(named)
    head = await _commit(git, "HEAD")
    if not head and named == "HEAD":
        empty = await git.answer("hash-object", "-t", "tree", "/dev/null")
        return "", text(empty.out).strip()
    commit = await _commit(git, named)
    if not commit:
        raise ReviewError(
            "UNKNOWN_REVISION",
            f"there is no commit {named!r}",
            place=named,
            fix="name a branch, a tag or a commit, as in: mcl review --diff main",
        )
    if head and head != commit:
        met = await git.run("merge-base", commit, head)
        if met.status == 0 and (found := text(met.out).split()):
            commit = found[0]
    return commit, commit


def check_name(named: str) -> None:
    """Judge a revision by its text alone. Raises as `base_of`."""
    if named.startswith("-"):
        raise ReviewError(
            "LOOKS_LIKE_OPTION", f"{named!r} begins like an option", place=named, fix="name a revision: main"
        )
    if len(named) > _LONGEST or any(ord(char) < 32 or ord(char) == 127 for char in named):
        raise ReviewError(
            "UNKNOWN_REVISION",
            "what is named is no revision: it is too long, or holds a control character",
            place=named[:60],
            fix="name a branch, a tag or a commit",
        )


async def _commit(git: Git, named: str) -> str:
    found = await git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{named}^{{commit}}")
    return text(found.out).strip() if found.status == 0 else ""
