"""git, run so that the repository it reads cannot make it run anything else.

A repository is not trusted: its configuration can name programs (hooks, fsmonitor, filters, pagers, diff
drivers, signature checkers). System and global configuration are left out, and what the local one names is
overridden.
"""

from __future__ import annotations

import os
import shutil
import stat
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from anyio import CancelScope, to_thread

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.environment import drop_scratch, make_scratch, safe_path
from executor.sandbox.history import History, elsewhere, history
from executor.sandbox.paths import Workspace
from executor.sandbox.process import Finished, run_command
from executor.sandbox.redaction import visible

_MAX_OUTPUT = 4 << 20  # bytes read of git's answer before it is cut
_ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": "false",
    "GIT_ASKPASS": "false",
    "GIT_SSH_COMMAND": "false",
}
_OVERRIDES = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.untrackedCache": "false",
    # A file of the same size and time is not yet the same, nor is one that was written unseen.
    "core.checkStat": "default",
    "core.trustctime": "true",
    "core.ignoreStat": "false",
    "core.pager": "cat",
    "core.attributesFile": os.devnull,
    "core.excludesFile": os.devnull,
    "core.alternateRefsCommand": "",
    "core.sshCommand": "false",
    "core.askPass": "false",
    "credential.helper": "",
    "protocol.allow": "never",
    "diff.external": "",
    "commit.gpgSign": "false",
    "tag.gpgSign": "false",
    "push.gpgSign": "false",
    "gpg.program": "false",
    "rerere.enabled": "false",
    "log.showSignature": "false",
    "status.submoduleSummary": "false",
    "submodule.recurse": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "color.ui": "never",
}
if sys.platform == "linux":  # whose file systems tell A.py from a.py, and have links
    _OVERRIDES |= {"core.ignoreCase": "false", "core.symlinks": "true"}
# Folders of .git in which nothing may be a link: git follows them, and quotes lines that it cannot read.
_OWN = (
    *(".", "info", "logs", "logs/refs", "objects", "objects/info", "refs", "refs/heads", "refs/tags"),
    "reftable",
)
_OWN_OF_TREE = (  # of a linked one
    *(".", "info", "logs", "refs", "refs/bisect", "refs/rewritten", "refs/worktree", "reftable"),
)
# What git keeps while something is not done that was begun.
UNDER_WAY = (
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("BISECT_LOG", "a bisection"),
)
_UNUSED = ("hooks",)  # may lead anywhere: it is switched off
_COPIED = ("objects",)  # a clone on the same disk shares files with what it was cloned from
_ELSEWHERE = ("commondir", "objects/info/alternates")  # would lead git to objects elsewhere


class Git:
    """git in one repository of the workspace; made by ``repository``. place: the folder of its files.
    program: git itself, as an absolute path."""

    def __init__(self, program: str, place: Path, found: History, overrides: Mapping[str, str]) -> None:
        self.program = program
        self._place = place
        self._history = found
        self._overrides = overrides
        self._own = found.folders[0] if found.linked else place / ".git"

    async def run(
        self,
        *arguments: str,
        max_output: int = _MAX_OUTPUT,
        by_content: bool = False,
        variables: Mapping[str, str] | None = None,
        said: bytes = b"",
        alone: bool = True,
    ) -> Finished:
        """Run git with these arguments and give its answer (bytes cut at ``max_output``), whatever its exit
        status. by_content: ``git diff`` compares what is in the files, also of those that the index says are
        as they were. variables: more that git sees. said: what it reads. alone: as of ``run_command``."""
        environment = {**_ENVIRONMENT, **(variables or {})}
        for number, (name, value) in enumerate(self._overrides.items()):
            environment[f"GIT_CONFIG_KEY_{number}"] = name
            environment[f"GIT_CONFIG_VALUE_{number}"] = value
        environment["GIT_CONFIG_COUNT"] = str(len(self._overrides))
        own, descriptors = ".git", []
        if self._history.linked:
            own, environment["GIT_COMMON_DIR"] = map(str, self._history.folders)
            descriptors = [self._history.own, self._history.common]
        argv = [self.program, f"--git-dir={own}", "--work-tree=.", "--no-pager", *arguments]
        async with self._index(arguments, by_content=by_content) as index:
            environment |= index
            return await run_command(
                argv,
                cwd=self._place,
                environment=environment,
                max_output=max_output,
                descriptors=descriptors,
                alone=alone,
                said=said,
            )

    async def borrowed(self, place: Path, *arguments: str, protocol: str) -> Finished:
        """Run git in another, bare repository of ours that borrows the commits of this one, whose settings
        count for nothing then. protocol: the one by which it may reach a host."""
        common = self._history.common
        objects = self._history.folders[1] / "objects"
        environment = {
            **_ENVIRONMENT,
            "GIT_ALLOW_PROTOCOL": protocol,
            "GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects),
        }
        argv = [self.program, f"--git-dir={place}", "--no-pager", *arguments]
        return await run_command(
            argv, cwd=place, environment=environment, max_output=_MAX_OUTPUT, descriptors=[common]
        )

    def keeps(self, name: str) -> bool:
        """Is there anything of this name in what git keeps of this work tree alone (``MERGE_HEAD``)?"""
        return os.path.lexists(self._own / name)

    @asynccontextmanager
    async def _index(self, arguments: Sequence[str], *, by_content: bool) -> AsyncIterator[dict[str, str]]:
        """Where the index is. ``git diff`` writes down in it what it has looked up, whatever
        GIT_OPTIONAL_LOCKS says: it gets a copy, so that looking changes nothing."""
        place = self._own / "index"
        if arguments[0] != "diff" or "--cached" in arguments or not place.is_file():
            yield {}
            return
        folder, held = await to_thread.run_sync(make_scratch)
        try:
            # With its time: git takes files that are as new as the index for possibly changed.
            copy = await to_thread.run_sync(shutil.copy2, place, folder)
            if by_content:
                os.utime(copy, (1, 1))  # all are newer than that
            yield {"GIT_INDEX_FILE": str(folder / "index")}
        finally:
            with CancelScope(shield=True):
                await to_thread.run_sync(drop_scratch, folder, held)

    async def answer(
        self,
        *arguments: str,
        max_output: int = _MAX_OUTPUT,
        by_content: bool = False,
        variables: Mapping[str, str] | None = None,
        said: bytes = b"",
    ) -> Finished:
        """The same, where anything but success is an error.

        Raises:
            ToolError: GIT_FAILED with what git said, OBJECTS_MISSING.
        """
        finished = await self.run(
            *arguments, max_output=max_output, by_content=by_content, variables=variables, said=said
        )
        if finished.status != 0:
            raise failure(arguments[0], finished)
        return finished

    async def commit_of(self, named: str) -> str:
        """The full id of the commit that a name stands for; "" where it names none."""
        found = await self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{named}^{{commit}}")
        return text(found.out).strip() if found.status == 0 else ""


@asynccontextmanager
async def repository(workspace: Workspace, path: str, *, branch: str = "") -> AsyncIterator[Git]:
    """Open the repository in a folder of the workspace; `branch` is one that will be written.

    Raises:
        ToolError: COMMAND_NOT_FOUND, NOT_A_REPOSITORY, REPOSITORY_ELSEWHERE.
        ScopeError: the folder is out of scope.
    """
    # No program of the workspace: a PATH often begins with a folder of the project.
    folders = safe_path(os.environ.get("PATH", ""), workspace.root)
    program = shutil.which("git", path=folders)
    if program is None:
        raise ToolError("COMMAND_NOT_FOUND", "git is not installed", fix="install git")
    with (
        workspace.open_folder(path) as descriptor,
        history(workspace, path, descriptor, writes=bool(branch)) as found,
    ):
        _check_repository(found, path, branch)
        if sys.platform == "linux":  # by descriptor: nobody can move another folder into its place meanwhile
            place = Path(f"/proc/self/fd/{descriptor}")
        else:
            place = workspace.root.joinpath(*workspace.split(path))
        listed = await Git(program, place, found, _OVERRIDES).answer(
            # Of every scope, not --local: config.worktree counts too. System and global are switched off.
            "config",
            "--includes",
            "--list",
            "--name-only",
            "-z",
        )
        names = sorted(set(text(listed.out).split("\0")))
        filters = {
            name: "false" if name.endswith(".required") else ""
            for name in names
            if name.startswith("filter.") and name.endswith((".clean", ".smudge", ".process", ".required"))
        }
        # "false" is a program that ends with 1: to git a conflict, which is left to a person.
        drivers = {name: "false" for name in names if name.startswith("merge.") and name.endswith(".driver")}
        yield Git(program, place, found, {**_OVERRIDES, **filters, **drivers})


PERSON: Final = ("user.name", "user.email")


async def person(git: Git) -> dict[str, str]:
    """Who commits: as the repository says it, else as this person's own git does; "" where nobody said it.

    Of the person's configuration only these two are read, nothing else of it counts.
    """
    found = {name: text((await git.run("config", "--get", name)).out).strip() for name in PERSON}
    for name in (name for name, value in found.items() if not value):
        kept = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM")
        environment = {one: os.environ[one] for one in kept if one in os.environ}
        environment |= {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "GIT_DIR": os.devnull}
        asked = await run_command(
            [git.program, "config", "--includes", "--get", name],
            cwd=Path("/"),  # outside of any repository
            environment=environment,
            max_output=4096,
            alone=True,
        )
        found[name] = text(asked.out).strip() if asked.status == 0 else ""
    return found


def plain_path(path: str) -> str:
    """A path of the repository as it is handed to git, behind ``--``.

    Raises:
        ToolError: LOOKS_LIKE_OPTION.
    """
    if path.startswith("-"):
        raise ToolError(
            "LOOKS_LIKE_OPTION",
            f"{path!r} begins like an option",
            place=path,
            fix=f"name it as ./{path}, if that is a file",
        )
    return path


def text(data: bytes) -> str:
    """git's bytes as text; what is no UTF-8 shows as replacement characters."""
    return data.decode("utf-8", "replace")


def failure(command: str, finished: Finished) -> ToolError:
    """The error that git's own words amount to."""
    if b"promisor remote" in finished.err:
        return ToolError(
            "OBJECTS_MISSING",
            f"git {command} needs contents of files that this clone was made without (git clone --filter),"
            " and nothing is fetched here",
            fix="fetch them: git fetch --refetch --no-filter",
        )
    said = visible(text(finished.err).strip().splitlines()[0][:300]) if finished.err.strip() else "no message"
    return ToolError(
        "GIT_FAILED",
        f"git {command} ended with status {finished.status}: {said}",
        fix="see what git says; try the same in the repository",
    )


def _check_repository(found: History, path: str, branch: str) -> None:
    """Refuse a repository in which something leads elsewhere: git would follow it."""
    # A branch is a file, its folders, and as much again in the log of references.
    steps = ["/".join(branch.split("/")[: count + 1]) for count in range(branch.count("/") + 1)]
    written = [f"{place}/{step}" for place in ("refs/heads", "logs/refs/heads") for step in steps if step]
    away = [
        name for name in written if (status := _status(name, found.common)) and stat.S_ISLNK(status.st_mode)
    ]
    away += [name for place in _OWN for name in _links(place, found.common)]
    away += [name for name in _ELSEWHERE if _status(name, found.common)]
    if found.own != found.common:
        away += [name for place in _OWN_OF_TREE for name in _links(place, found.own)]
    if away:
        elsewhere(path, f"it leads out of its folder (.git/{away[0]})")


def _links(place: str, history: int) -> list[str]:
    """What in a folder of .git is a link, or has another name that may lie outside the workspace."""
    try:
        below = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=history)
    except OSError:  # not there; a link in its place was found in the folder above
        return []
    try:
        with os.scandir(below) as found:
            return sorted(
                f"{place}/{entry.name}".removeprefix("./")
                for entry in found
                if entry.name not in _UNUSED
                and (
                    entry.is_symlink()
                    or (
                        place not in _COPIED
                        and entry.is_file(follow_symlinks=False)
                        and entry.stat(follow_symlinks=False).st_nlink > 1
                    )
                )
            )
    finally:
        os.close(below)


def _status(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        raise ScopeError("UNREADABLE", str(problem), place=name, fix="change its permissions") from problem
