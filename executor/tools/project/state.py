"""The state of a repository: its branch, and what differs from the last commit."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from executor.sandbox.git import Git, text
from executor.sandbox.redaction import visible

CONFLICTS: Final = frozenset({"DD", "AU", "UD", "UA", "DU", "AA", "UU"})  # codes of files in conflict
_ROOM = 96  # bytes of JSON that a change takes beside its path, generously


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
        room -= _ROOM + 4 * sum(len(str(value)) for value in change.values())
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
