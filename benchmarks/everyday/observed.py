"""What there is before and after a run: files, the repository, and what the run called and showed."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.everyday.folders import git


@dataclass(frozen=True)
class Repository:
    """References by name with their commits, HEAD's branch ("" where detached), what is staged."""

    refs: Mapping[str, str]
    head: str
    staged: frozenset[str]


@dataclass(frozen=True)
class Place:
    """A folder as it is at one moment. files: their bytes by path, the repository's own left out. remote: the
    references of the repository beside it."""

    files: Mapping[str, bytes]
    folders: frozenset[str]
    repository: Repository | None
    remote: Mapping[str, str]


@dataclass(frozen=True)
class Call:
    """One call of a tool that ended: its id such as fs/copy, its effect, all that went in and came out."""

    tool: str
    effect: str
    text: str


@dataclass(frozen=True)
class Observation:
    """All that effects are looked for in. aside: new files outside the folder (drafts of a mail, say). shown:
    what a person saw as the result, a line each. times: when what was set up fires next, local time."""

    root: Path
    before: Place
    after: Place
    aside: Mapping[str, bytes] = field(default_factory=dict)
    shown: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    times: tuple[str, ...] = ()


def look(root: Path) -> Place:
    """The folder as it is now."""
    files, folders = {}, set()
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name == ".git" or name.startswith(".git/"):
            continue
        if path.is_dir() and not path.is_symlink():
            folders.add(name)
        else:
            files[name] = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
    here = _repository(root) if (root / ".git").exists() else None
    bare = root.parent / "origin.git"
    return Place(files, frozenset(folders), here, _refs(bare) if bare.exists() else {})


def look_aside(*folders: Path) -> dict[str, bytes]:
    """The files of folders beside the goal's own that may hold something for a person."""
    found = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix in (".eml", ".timer", ".service", ".txt", ".ics"):
                found[str(path)] = path.read_bytes()
    return found


def _refs(place: Path) -> dict[str, str]:
    try:
        lines = git(place, "show-ref").splitlines()
    except subprocess.CalledProcessError:  # there are none yet
        return {}
    return {name: commit for commit, name in (line.split(" ", 1) for line in lines)}


def _repository(root: Path) -> Repository:
    try:
        head = git(root, "symbolic-ref", "-q", "--short", "HEAD").strip()
    except subprocess.CalledProcessError:
        head = ""
    staged = git(root, "diff", "--cached", "--name-only", "-z")
    return Repository(_refs(root), head, frozenset(staged.split("\0")) - {""})
