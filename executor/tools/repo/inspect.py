"""A repository at one look: what it is, how it is, and what is good to know before working in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from executor.core.errors import ToolError
from executor.sandbox.git import repository
from executor.tools.git.branch import local_branches
from executor.tools.git.log import commits
from executor.tools.project import linters, suites
from executor.tools.project.sources import languages_of, sources
from executor.tools.project.state import CONFLICTS, state
from executor.tools.project.suites import Folder
from executor.tools.repo.checks import checks, remotes_of
from executor.tools.tool import Bench

_ROOM = 1 << 20  # bytes of JSON that changes may take: they are counted, not told
_MARK = {True: "ok  ", False: "look"}


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with what git, the files and their declarations say."""
    repo = str(args.get("repo", "."))
    files = await sources(repo, (), bench)
    with bench.workspace.open_folder(repo) as descriptor:
        folder = Folder(bench.workspace, repo, descriptor)
        suite, linter = _known(suites.detect, folder), _known(linters.detect, folder)
    async with repository(bench.workspace, repo) as git:
        now = await state(git, _ROOM)
        last = await commits(git, 1, _ROOM)
        branches = await local_branches(git)
        remotes = await remotes_of(git)
        looked = await checks(git, now, remotes, suite, bench)
    answer: dict[str, Any] = {
        **{name: now[name] for name in ("branch", "commit", "upstream", "ahead", "behind")},
        "counts": {"files": len(files), "branches": len(branches), **_counts(now["changes"])},
        "last": last[0] if last else {},
        "languages": [{"language": name, "files": count} for name, count in languages_of(files).items()],
        "suite": suite,
        "linter": linter,
        "remotes": [{"name": one.name, "url": one.url} for one in remotes],
        "checks": [one.answer() for one in looked],
        "ok": all(one.ok for one in looked),
    }
    return {**answer, "text": "\n".join(_told(answer))}


def _known(detect: Callable[[Folder], str], folder: Folder) -> str:
    try:
        return detect(folder)
    except ToolError:  # none is declared
        return ""


def _counts(changes: list[dict[str, str]]) -> dict[str, int]:
    codes = [one["code"] for one in changes]
    known = [code for code in codes if code != "??" and code not in CONFLICTS]
    return {
        "staged": sum(code[0] != " " for code in known),
        "changed": sum(code[1] != " " for code in known),
        "untracked": codes.count("??"),
        "conflicts": len(codes) - len(known) - codes.count("??"),
    }


def _told(answer: Mapping[str, Any]) -> Iterator[str]:
    branch_, upstream, counts = answer["branch"], answer["upstream"], answer["counts"]
    away = f", {answer['ahead']} ahead of and {answer['behind']} behind {upstream}" if upstream else ""
    yield (f"on branch {branch_}" if branch_ else "on no branch") + away
    if last := answer["last"]:
        yield f"last commit {last['commit'][:8]} {last['date'][:10]} {last['author']}: {last['subject']}"
    yield ", ".join(f"{count} {name}" for name, count in counts.items())
    if languages := answer["languages"][:5]:
        yield "languages: " + ", ".join(f"{one['language']} ({one['files']})" for one in languages)
    for remote in answer["remotes"]:
        yield f"remote {remote['name']}: {remote['url']}"
    for check in answer["checks"]:
        yield f"{_MARK[check['ok']]} {check['name']}: {check['why']}"
