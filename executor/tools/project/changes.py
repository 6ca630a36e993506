"""Changes as git tells them: lines added and removed in each file, and a patch that is cut at a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from executor.core.errors import ScopeError
from executor.sandbox.git import Git, text
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench

_MAX_FILES = 500  # files whose changes are shown
_ROOM = 96  # bytes of JSON that a file takes beside its path, generously
# No program of the repository's choice sees the files, and its configuration does not change the form.
PLAIN = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--no-relative",
    "--no-color",
    "--no-indent-heuristic",
    "--diff-algorithm=histogram",
    "--ignore-submodules=all",
    "--submodule=short",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "-O/dev/null",
)


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed, as the answer of a tool has it. hidden: files whose changes may not be shown."""

    files: list[dict[str, object]]
    count: int
    added: int
    removed: int
    hidden: int
    truncated: bool
    patch: str

    def answer(self) -> dict[str, object]:
        """The fields of the answer."""
        return {
            "files": self.files,
            "count": self.count,
            "added": self.added,
            "removed": self.removed,
            "hidden": self.hidden,
            "truncated": self.truncated,
            "patch": self.patch,
        }


async def changes(
    git: Git, command: Sequence[str], path: str, repo: str, bench: Bench, *, past: bool = False
) -> Changes:
    """What a command (``diff …``, ``show …``) tells of a path of the repository, "" for all of it.

    past: the files as they were; what has their names in the workspace today says nothing of them.
    """
    only = ["--", *([path] if path else [])]
    counted = await git.answer(*command, *PLAIN, "--numstat", "-z", *only)
    changed = list(_counts(text(counted.out)))
    open_ = [one for one in changed if _may_be_shown(repo, one[0], bench, past=past)]
    patch, truncated = "", counted.truncated or len(open_) > _MAX_FILES
    if open_:
        names = [one[0] for one in open_[:_MAX_FILES]]
        patch, cut = await _patch(git, command, names, bench.max_output // 4)
        truncated = truncated or cut
    files: list[dict[str, object]] = []
    room = bench.max_output // 4
    for name, added, removed in open_:
        room -= _ROOM + 4 * len(name)
        if room < 0:
            truncated = True
            break
        files.append({"path": visible(name), "added": added, "removed": removed})
    return Changes(
        files,
        len(open_),
        sum(one[1] for one in open_),
        sum(one[2] for one in open_),
        len(changed) - len(open_),
        truncated,
        patch,
    )


def told(changes: Changes) -> Iterator[str]:
    """The changes as lines for people."""
    files = changes.files
    if not files:
        yield "nothing changed" if not changes.hidden else "nothing changed that may be shown"
    rows = [(f"+{one['added']:,}", f"-{one['removed']:,}", one["path"]) for one in files]
    wide = max((len(row[0]) for row in rows), default=0)
    deep = max((len(row[1]) for row in rows), default=0)
    for added, removed, path in rows:
        yield f"{added:>{wide}} {removed:>{deep}}  {path}"
    if changes.hidden and files:
        yield f"{changes.hidden} more that may not be shown: secret files, links"
    if changes.patch:
        yield ""
        yield changes.patch
    if changes.truncated:
        yield "… there is more: the changes are cut"


def _counts(answer: str) -> Iterator[tuple[str, int, int]]:
    """Path, lines added, lines removed; none of a binary file's are counted."""
    for record in answer.split("\0"):
        added, _, rest = record.lstrip("\n").partition("\t")
        removed, _, path = rest.partition("\t")
        if path:
            yield path, int(added) if added.isdigit() else 0, int(removed) if removed.isdigit() else 0


def _may_be_shown(repo: str, path: str, bench: Bench, *, past: bool) -> bool:
    """Not the content of secret files, nor what another name of a file outside would show."""
    try:
        if past:
            bench.workspace.split(f"{repo}/{path}")
        else:
            bench.workspace.check(f"{repo}/{path}")
    except ScopeError:
        return False
    return True


async def _patch(git: Git, command: Sequence[str], paths: list[str], room: int) -> tuple[str, bool]:
    """The changes as text, at most ``room`` bytes, cut at a line."""
    answer = await git.answer(*command, *PLAIN, "--unified=3", "--", *paths)
    return cut(text(answer.out).lstrip("\n"), room, truncated=answer.truncated)


def cut(said: str, room: int, *, truncated: bool = False) -> tuple[str, bool]:
    """A text that a terminal shows and does not obey, cut at a line to ``room`` bytes; whether it is cut."""
    lines: list[str] = []
    for line in said.removesuffix("\n").split("\n"):
        shown = visible(line)
        room -= len(shown.encode()) + 2
        if room < 0:
            return "\n".join(lines), True
        lines.append(shown)
    return "\n".join(lines), truncated


# ---- The state of a repository: its branch, and what differs from the last commit.

CONFLICTS: Final = frozenset({"DD", "AU", "UD", "UA", "DU", "AA", "UU"})  # codes of files in conflict
_STATE_ROOM = 96  # bytes of JSON that a change takes beside its path, generously


async def state(git: Git, room: int) -> dict[str, Any]:
    """The state of a repository, as the tool answers. room: bytes that its changes may take."""
    finished = await git.answer(
        "status",
        "--porcelain=v2",
        "--branch",
        "-z",
        "--untracked-files=normal",
        "--ignore-submodules=all",
    )
    heads: dict[str, str] = {}
    changes: list[dict[str, object]] = []
    truncated = finished.truncated
    for change in _parse(text(finished.out), heads):
        room -= _STATE_ROOM + 4 * sum(len(str(value)) for value in change.values())
        if room < 0:
            truncated = True
            break
        changes.append(change)
    ahead, behind = (heads.get("ab") or "+0 -0").split()
    branch = heads.get("head", "")
    branch = "" if branch == "(detached)" else branch
    commit = heads.get("oid", "")
    shown = [f"On branch {branch}" if branch else "On no branch"]
    shown += [f"{change['code']} {change['path']}" for change in changes] or ["nothing changed"]
    return {
        "branch": branch,
        "commit": "" if commit == "(initial)" else commit,
        "upstream": heads.get("upstream", ""),
        "ahead": int(ahead),
        "behind": -int(behind),
        "clean": not changes,
        "changes": changes,
        "count": len(changes),
        "truncated": truncated,
        "text": "\n".join(shown),
    }


def _parse(answer: str, heads: dict[str, str]) -> Iterator[dict[str, object]]:
    records = iter(answer.split("\0"))
    for record in records:
        kind, _, rest = record.partition(" ")
        if kind == "#":
            name, _, value = rest.partition(" ")
            heads[name.removeprefix("branch.")] = visible(value)
        elif kind == "1" and len(fields := rest.split(" ", 7)) == 8:
            yield {"path": visible(fields[7]), "code": fields[0].replace(".", " ")}
        elif kind == "2" and len(fields := rest.split(" ", 8)) == 9:
            origin = next(records, "")
            yield {"path": visible(fields[8]), "code": fields[0].replace(".", " "), "from": visible(origin)}
        elif kind == "u" and len(fields := rest.split(" ", 9)) == 10:
            yield {"path": visible(fields[9]), "code": fields[0]}
        elif kind == "?" and rest:
            yield {"path": visible(rest), "code": "??"}
