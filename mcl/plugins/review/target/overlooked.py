"""What git's own look at the files passes over: those that its index marks as unchanged, whatever is in
them, and submodules, into which no git is sent."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from anyio import to_thread

from executor.sandbox.git import Git, text

_MAX_NAMES: Final = 32 << 20  # bytes of git's list
_FILES: Final = ("100644", "100755")
_SUBMODULE: Final = "160000"
_SPARSE: Final = "S"  # skip-worktree; a small letter is assume-unchanged


@dataclass(frozen=True)
class Overlooked:
    """files: (mode, blob, path) of marked files whose content is not the index's. submodules: their paths.
    truncated: was git's list cut?"""

    files: tuple[tuple[str, str, str], ...]
    submodules: tuple[str, ...]
    truncated: bool


async def overlooked(git: Git, read: Callable[[str], bytes | None]) -> Overlooked:
    """What has to be looked at beside what git tells of the files.

    read: gives the bytes of a file, as many as there are; None where there is none. Raises ToolError
    GIT_FAILED.
    """
    answer = await git.answer("ls-files", "-v", "--stage", "-z", max_output=_MAX_NAMES)
    files: list[tuple[str, str, str]] = []
    submodules: list[str] = []
    for line in text(answer.out).split("\0"):
        about, _, path = line.partition("\t")
        if not path:
            continue
        tag, mode, blob, _ = about.split(" ")
        if mode == _SUBMODULE:
            submodules.append(path)
        elif mode in _FILES and (tag == _SPARSE or tag.islower()):
            data = await to_thread.run_sync(read, path)
            if data is not None and not _is(data, blob):
                files.append((mode, blob, path))
    return Overlooked(tuple(files), tuple(dict.fromkeys(submodules)), answer.truncated)


def _is(data: bytes, blob: str) -> bool:
    """Are these the bytes of a blob, also with the line ends of Windows?"""
    return blob in (_name(data, blob), _name(data.replace(b"\r\n", b"\n"), blob))


def _name(data: bytes, like: str) -> str:
    made = hashlib.sha1(usedforsecurity=False) if len(like) == 40 else hashlib.sha256()
    made.update(b"blob %d\0" % len(data))
    made.update(data)
    return made.hexdigest()
