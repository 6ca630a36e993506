"""What git says changed in a folder while a shell ran; bounded, and silent where there is no repository."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeAlias, TypeVar

import anyio

from executor.core.errors import ScopeError
from executor.sandbox.git import Git, repository, text
from executor.sandbox.known import Known
from executor.sandbox.paths import Workspace
from ir import MclError

LIMIT_S: Final = 2.0
NO_DIGEST: Final = "~"  # how the state of a file begins that was not read
_MOST: Final = 500  # files that are compared
_LARGEST: Final = 16 << 20  # bytes of a file that is compared by content
_HIDDEN: Final = frozenset({".orchestration/agent_trace.jsonl", ".orchestration/intent_map.json"})

Changed: TypeAlias = tuple[str, str | None, str | None]
_Seen = TypeVar("_Seen")
State: TypeAlias = Mapping[str, Any]  # head: a commit or ""; files: path -> sha256, None of what is gone


def look(root: Path) -> State | None:
    """The files that differ from the last commit, with what is in them.

    None: there is no repository of the folder's own, too much differs, or it took too long.
    """
    return _bounded(partial(_look, root))


def compare(root: Path, before: State) -> tuple[Changed, ...] | None:
    """The files that changed since `look`: path, sha256 (hex) before and now, None where there is no file;
    where it was not read, a text that begins with NO_DIGEST.

    None: that cannot be told.
    """
    return _bounded(partial(_compare, root, before))


def _bounded(work: Callable[[], Awaitable[_Seen | None]]) -> _Seen | None:
    async def run() -> _Seen | None:
        with anyio.move_on_after(LIMIT_S):
            return await work()
        return None

    try:
        return anyio.run(run)
    except (MclError, OSError):
        return None


def _signed_for(root: Path) -> Known:
    """A person signed work for this folder: where it is a linked work tree, its history is theirs too."""
    return Known(named=(str(root),))


async def _look(root: Path) -> State | None:
    workspace = Workspace(root, known=partial(_signed_for, root))
    try:
        async with repository(workspace, ".") as git:
            names = await _differing(git)
            head = text((await git.run("rev-parse", "--verify", "--quiet", "HEAD")).out).strip()
        if names is None:
            return None
        return {"head": head, "files": {name: _digest(workspace, name) for name in names}}
    finally:
        workspace.close()


async def _compare(root: Path, before: State) -> tuple[Changed, ...] | None:
    workspace = Workspace(root, known=partial(_signed_for, root))
    known: Mapping[str, str | None] = before["files"]
    try:
        async with repository(workspace, ".") as git:
            names = await _differing(git)
            if names is None:
                return None
            head = str(before["head"])
            if head:  # what was changed and committed at once differs from what was committed before
                names |= set(_split((await git.run("diff", "--name-only", "-z", "--no-renames", head)).out))
            changed: list[Changed] = []
            for name in sorted((names | known.keys()) - _HIDDEN)[:_MOST]:
                was = known[name] if name in known else await _committed(git, head, name)
                now = _digest(workspace, name)
                if was != now:
                    changed.append((name, was, now))
            return tuple(changed)
    finally:
        workspace.close()


async def _differing(git: Git) -> set[str] | None:
    finished = await git.answer(
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=all",
        "--ignore-submodules=all",
        "--no-renames",
    )
    names = {record[3:] for record in _split(finished.out) if len(record) > 3}
    return None if finished.truncated or len(names) > _MOST else names - _HIDDEN


async def _committed(git: Git, head: str, name: str) -> str | None:
    """The content of a file as it was committed, hashed; None where it was not there."""
    if not head:
        return None
    found = await git.run("cat-file", "blob", f"{head}:{name}", max_output=_LARGEST)
    return sha256(found.out).hexdigest() if found.status == 0 and not found.truncated else None


def _digest(workspace: Workspace, name: str) -> str | None:
    """What is in a file, hashed; of what is no plain file, or too large, what stands for its state."""
    try:
        status = workspace.check(name)
        if status is None:
            return None
        if status.st_size > _LARGEST:
            return f"{NO_DIGEST}{status.st_size} {status.st_mtime_ns}"
        return workspace.digest(name)[0]
    except ScopeError:
        try:  # links, and names that tools may not open: only whether they are as they were
            found = os.lstat(workspace.root / name)
        except OSError:
            return None
        return f"{NO_DIGEST}{found.st_ino} {found.st_size} {found.st_mtime_ns}"


def _split(data: bytes) -> list[str]:
    return [os.fsdecode(one) for one in data.split(b"\0") if one]
