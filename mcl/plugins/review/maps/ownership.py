"""Who changed which file how often: one pass over the log of a git repository."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.git import Git, repository, text
from executor.sandbox.paths import Workspace
from executor.sandbox.redaction import Redactor
from mcl.plugins.review.maps.maps import History

MOST_COMMITS: Final = 50_000
_MOST_BYTES: Final = 256 << 20  # of what git says
_MOST_NAMES: Final = 32 << 20  # bytes of names
_MOST_NAME: Final = 80  # characters of an author's name
_MOST_TIMES: Final = 100  # latest changes of a file whose times are kept
_LATEST: Final = 253_402_300_800  # seconds: the year 10000
_COMMIT: Final = re.compile(rb"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_REDACTOR: Final = Redactor()
LOG: Final = (
    # What the repository's own settings could change about the answer.
    *("-c", "log.showRoot=true", "-c", "diff.renameLimit=1000", "-c", "diff.orderFile=/dev/null"),
    *("-c", "diff.ignoreSubmodules=all", "-c", "i18n.logOutputEncoding=UTF-8", "-c", "core.quotePath=false"),
    *(
        "log",
        "-z",
        "--name-status",
        "--find-renames",
        "--diff-merges=off",
        "--no-relative",
        "--no-show-signature",
    ),
    *("--no-ext-diff", "--no-textconv", "--no-mailmap", "--no-notes", "--no-decorate", "--no-abbrev"),
    *(f"--max-count={MOST_COMMITS}", "--format=tformat:%H%x00%ct%x00%an"),  # no e-mail addresses
)

_DIFF: Final = (
    "diff",
    "-z",
    "--name-only",
    "--no-renames",
    "--ignore-submodules=all",
    "--no-ext-diff",
    "-O/dev/null",
)


@dataclass(slots=True)
class FileChanges:
    """The commits that changed a path: times in seconds since 1970, and how many each author made."""

    count: int = 0
    times: list[int] = field(default_factory=list)
    authors: Counter[str] = field(default_factory=Counter)

    def add(self, other: FileChanges) -> None:
        """Count those of another path too."""
        self.count += other.count
        self.times = sorted([*self.times, *other.times], reverse=True)[:_MOST_TIMES]
        self.authors.update(other.authors)

    @property
    def author(self) -> str:
        """Who made most of them; of several the first by name."""
        return min(self.authors, key=lambda name: (-self.authors[name], name), default="")

    @property
    def modified(self) -> str:
        """When the latest was committed, ISO 8601 UTC; "" where the time is none."""
        return moment(self.times[0]) if self.times else ""


@dataclass(frozen=True)
class ChangeLog:
    """What the log of a repository says. renamed: from an older name of a file to a newer one."""

    head: str = ""
    history: History = "none"
    changes: Mapping[str, FileChanges] = field(default_factory=dict)
    renamed: Mapping[str, str] = field(default_factory=dict)

    def still_so(self, shallow: bool) -> bool:
        """May it be used again at the same commit? Not where git failed, nor where a clone got its past."""
        return self.history != "none" and (self.history == "shallow") == shallow

    def of(self, files: Iterable[str]) -> dict[str, FileChanges]:
        """The changes of the files that are there; what was done to one under an older name counts too."""
        there = frozenset(files)
        found: dict[str, FileChanges] = {}
        for path, changes in self.changes.items():
            if (now := self._now(path, there)) is not None:
                found.setdefault(now, FileChanges()).add(changes)
        return found

    def _now(self, path: str, there: frozenset[str]) -> str | None:
        seen = set[str]()
        while path not in there:
            seen.add(path)
            later = self.renamed.get(path)
            if later is None or later in seen:
                return None
            path = later
        return path

    def to_json(self) -> dict[str, Any]:
        return {
            "head": self.head,
            "history": self.history,
            "changes": {path: [one.count, one.times, one.authors] for path, one in self.changes.items()},
            "renamed": dict(self.renamed),
        }

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> ChangeLog:
        """What was kept. Raises LookupError, TypeError, ValueError for another form."""
        changes = {
            str(path): FileChanges(int(count), [int(time) for time in times], Counter(authors))
            for path, (count, times, authors) in said["changes"].items()
        }
        return cls(said["head"], said["history"], changes, dict(said["renamed"]))


async def head_of(workspace: Workspace) -> tuple[str, bool] | None:
    """The commit that HEAD is, "" before the first, and whether older ones are missing from the clone; None
    where there is no repository in this folder that may be asked."""
    try:
        async with repository(workspace, ".") as git:
            return await _head(git)
    except (ToolError, ScopeError):
        return None


async def _head(git: Git) -> tuple[str, bool]:
    said = await git.run("rev-parse", "--is-shallow-repository", "--verify", "--quiet", "HEAD^{commit}")
    words = text(said.out).split()
    found = words[-1] if words and _COMMIT.match(words[-1].encode()) else ""
    return found, "true" in words


async def uncommitted(workspace: Workspace) -> frozenset[str]:
    """The files that git knows and that differ from the last commit; none where git cannot be asked."""
    try:
        async with repository(workspace, ".") as git:
            said = await git.run(*_DIFF, "--end-of-options", "HEAD", "--", max_output=_MOST_NAMES)
    except (ToolError, ScopeError):
        return frozenset()
    return frozenset(filter(None, text(said.out).split("\0"))) if said.status == 0 else frozenset()


async def read_log(workspace: Workspace, known: ChangeLog | None = None) -> ChangeLog:
    """The log of the repository in a workspace.

    known: from an earlier time; it is given again where HEAD is still the same commit.
    """
    try:
        async with repository(workspace, ".") as git:
            head, shallow = await _head(git)
            if not head:
                return ChangeLog(history="empty")
            if known is not None and known.head == head and known.still_so(shallow):
                return known
            said = await git.run(*LOG, "--end-of-options", head, "--", max_output=_MOST_BYTES)
            if said.status != 0:  # a clone without older contents: they tell no names of renamed files
                plain = (*LOG, "--no-renames", "--end-of-options", head, "--")
                said = await git.run(*plain, max_output=_MOST_BYTES)
    except (ToolError, ScopeError):
        return ChangeLog()
    if said.status != 0 and not said.truncated:
        return ChangeLog(head)
    changes: dict[str, FileChanges] = {}
    renamed: dict[str, str] = {}
    commits = 0
    for number, time, author, touched in _commits(said.out):
        commits = number
        for old, path in touched:
            one = changes.setdefault(path, FileChanges())
            one.count += 1
            one.authors[author] += 1
            one.times.append(time)
            if old:
                renamed.setdefault(old, path)  # newest first: the latest rename counts
    for one in changes.values():
        one.times = sorted(one.times, reverse=True)[:_MOST_TIMES]
    cut = said.truncated or commits >= MOST_COMMITS
    return ChangeLog(head, "cut" if cut else "shallow" if shallow else "whole", changes, renamed)


def _commits(out: bytes) -> Iterator[tuple[int, int, str, list[tuple[str, str]]]]:
    """Number, time, author, and what each commit touched (older name or "", name); a last one that was cut is
    left out. Every part ends with a NUL, which nothing in it can hold, so that no name passes for another."""
    parts = out.split(b"\0")[:-1]
    place = number = 0
    while place + 2 < len(parts):
        time, author = _time(parts[place + 1]), _name(text(parts[place + 2]))
        place += 3
        touched: list[tuple[str, str]] = []
        while place < len(parts) and not _COMMIT.match(parts[place]):
            status = parts[place].lstrip(b"\n")[:1]
            wide = 3 if status in (b"R", b"C") else 2
            if place + wide > len(parts):
                break
            names = [text(part) for part in parts[place + 1 : place + wide]]
            if status != b"D":
                touched.append((names[0] if status == b"R" else "", names[-1]))
            place += wide
        number += 1
        yield number, time, author, touched


def _time(said: bytes) -> int:
    return int(said) if said.isdigit() and len(said) < 13 and int(said) < _LATEST else 0


def _name(said: str) -> str:
    """A name on one line; of an address only what stands before the @."""
    line = " ".join("".join(char if char.isprintable() else " " for char in said[:1000]).split())
    line = _REDACTOR.text(" ".join(word.partition("@")[0] for word in line.replace("<", " ").split()))
    return line[:_MOST_NAME].strip(" >")


def moment(seconds: int) -> str:
    """Seconds since 1970 as ISO 8601 UTC; "" for 0."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if seconds else ""
