"""Sends the commits of a branch to a bare repository on this machine's disk.

What either repository's settings say counts for nothing, and no hook is run: one that has hooks is left to
git itself.
"""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Mapping
from pathlib import Path

from anyio import to_thread

from executor.core.errors import ToolError
from executor.sandbox.reach import covers, walk_to
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.plugins.versions.tools.git.push import pushed, send
from mcl.plugins.versions.tools.git.remote import folder_of
from mcl.plugins.versions.tools.repo.inspect import remotes_of
from mcl.plugins.versions.work import called, on_branch

_PARTS = ("HEAD", "config", "objects", "refs")  # of a bare repository
# What a repository could name to be run as commits arrive; hooks are looked for before.
_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.alternateRefsCommand": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "receive.autogc": "false",
    "receive.denyNonFastForwards": "true",
    "receive.denyDeletes": "true",
    "receive.denyCurrentBranch": "refuse",
}


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Push the branch there; never by force.

    Raises:
        ToolError: NO_SUCH_REMOTE, NOT_BARE, HAS_HOOKS, PUSH_REJECTED, PUSH_FAILED, SHALLOW. ScopeError.
    """
    place, name, repo = str(args["path"]), str(args["remote"]), str(args.get("repo", "."))
    async with on_branch(bench.workspace, repo) as (git, current):
        own = [folder_of(one.url, bench.workspace, repo) for one in await remotes_of(git) if one.name == name]
        if place not in own:
            raise ToolError(
                "NO_SUCH_REMOTE",
                f"{visible(place)} is no address of a remote {visible(name)!r}",
                place=place,
                fix="git/remote tells where a remote leads",
            )
        await to_thread.run_sync(_check, place, bench)
        branch = await called(git, str(args.get("branch", current)))
        settings = " ".join(f"-c {shlex.quote(f'{key}={value}')}" for key, value in _SETTINGS.items())
        receives = f"--receive-pack={shlex.quote(git.program)} {settings} receive-pack"
        commit, ended = await send(git, branch, place, "file", receives)
        is_new = pushed(ended, place, branch)
        await git.run("update-ref", f"refs/remotes/{name}/{branch}", commit)
    told = f"{visible(place)} has {branch} at {commit[:8]}" + (" now" if is_new else " already")
    return {"path": place, "branch": branch, "commit": commit, "pushed": is_new, "text": told}


def _check(place: str, bench: Bench) -> None:
    """Refuse what is no bare repository of this person, or has hooks, or lies where no tool may go."""
    home = next((str(one) for one in bench.workspace.forbidden if covers(str(one), place)), "")
    if home or covers(str(bench.workspace.root), place):
        raise ToolError("NOT_BARE", f"no repository there is pushed to: {visible(place)}", place=place)
    try:
        folder = walk_to(place.strip("/").split("/"), place, bench.workspace.closed)
    except OSError as problem:
        raise ToolError(
            "NOT_BARE", f"there is no repository: {visible(place)}", place=place, fix="git remote -v"
        ) from problem
    try:
        modes = {name: _mode(name, folder) for name in _PARTS}
        bare = all(stat.S_ISDIR(mode) or name in ("HEAD", "config") for name, mode in modes.items())
        if not bare or not all(modes.values()) or os.fstat(folder).st_uid != os.getuid():
            raise ToolError(
                "NOT_BARE",
                f"{visible(place)} is no bare repository of yours",
                place=place,
                fix="git init --bare, or push it with git itself",
            )
        there = Path(place, "hooks")
        hooks = there.is_dir() and any(not one.name.endswith(".sample") for one in there.iterdir())
    finally:
        os.close(folder)
    if hooks:
        raise ToolError(
            "HAS_HOOKS",
            f"{visible(place)} has hooks, and none is run here",
            place=place,
            fix="push it with git itself",
        )


def _mode(name: str, folder: int) -> int:
    """What it is, links not followed; 0 where there is none."""
    try:
        mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except OSError:
        return 0
    return 0 if stat.S_ISLNK(mode) else mode
