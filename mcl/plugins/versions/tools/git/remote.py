"""Where a repository's commits would go: its remotes, and the branch that is checked out."""

from __future__ import annotations

import os
from collections.abc import Mapping

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.git import text
from executor.sandbox.origin import parse_url
from executor.sandbox.paths import Workspace
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.plugins.versions.tools.repo.inspect import Remote, remotes_of
from mcl.plugins.versions.work import need_commit, on_branch

_ORIGIN = "origin"


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the remote, its address for a push, the branch, and how many commits the remote lacks.

    Raises:
        ToolError: NO_REMOTE, UNKNOWN_REMOTE, REMOTE_NOT_REACHED, and as ``on_branch``.
    """
    wanted, repo = str(args.get("name", "")), str(args.get("repo", "."))
    async with on_branch(bench.workspace, repo) as (git, branch):
        remotes = await remotes_of(git)
        upstream = text((await git.run("config", "--get", f"branch.{branch}.remote")).out).strip()
        remote = _chosen(remotes, wanted, upstream)
        commit = await need_commit(git, "HEAD")
        known = f"refs/remotes/{remote.name}/{branch}"
        counted = await git.run("rev-list", "--count", f"{known}..HEAD", "--")
    ahead = int(text(counted.out).strip() or 0) if counted.status == 0 else -1
    path = folder_of(remote.url, bench.workspace, repo)
    url = "" if path else address_of(remote)
    told = f"{branch} at {commit[:8]} goes to {remote.name}, {url or visible(path)}"
    if ahead >= 0:
        told += f": {ahead} commits that it does not have" if ahead else ": it has them all"
    where = {"name": remote.name, "url": url, "path": path}
    return {**where, "branch": branch, "commit": commit, "ahead": ahead, "text": told}


def _chosen(remotes: list[Remote], wanted: str, upstream: str) -> Remote:
    if not remotes:
        raise ToolError(
            "NO_REMOTE",
            "the repository has no remote",
            place="origin",
            fix="git remote add origin https://…",
        )
    names = [one.name for one in remotes]
    for name in (wanted,) if wanted else (upstream, _ORIGIN, names[0] if len(names) == 1 else ""):
        if name in names:
            return remotes[names.index(name)]
    raise ToolError(
        "UNKNOWN_REMOTE",
        f"there is no remote {wanted!r}" if wanted else "it is not clear which remote is meant",
        place=wanted or "remote",
        fix=f"name one of {', '.join(names)}",
    )


def folder_of(url: str, workspace: Workspace, repo: str) -> str:
    """The folder on this machine that the address of a remote means, in one spelling; "" where it is none."""
    path = url.removeprefix("file://") if url.startswith("file:///") else url
    if not path.startswith(("/", "./", "../")):
        return ""
    return os.path.normpath(workspace.root / repo / path)


def address_of(remote: Remote) -> str:
    """The web address of a remote; of an address of ssh the one that the same host has for it.

    Raises:
        ToolError: REMOTE_NOT_REACHED.
    """
    url = remote.url
    scheme, mark, rest = url.partition("://")
    if mark and scheme in ("ssh", "git+ssh"):
        host, _, path = rest.partition("/")
        url = f"https://{host.partition(':')[0]}/{path}"
    elif not mark:
        host, colon, path = url.partition(":")
        if colon and "/" not in host and "." in host:
            url = f"https://{host}/{path.lstrip('/')}"
    try:
        return str(parse_url(url))
    except ScopeError as problem:
        raise ToolError(
            "REMOTE_NOT_REACHED",
            f"{remote.name} is {remote.url!r}, and commits are sent to a granted host over https alone",
            place=remote.name,
            fix="push it with git itself, or give the remote an https:// address",
        ) from problem
