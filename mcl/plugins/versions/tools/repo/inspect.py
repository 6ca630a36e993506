"""A repository at one look: what it is, how it is, and what is good to know before working in it."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from executor.core.errors import ToolError
from executor.sandbox.environment import safe_path
from executor.sandbox.files import is_protected
from executor.sandbox.git import UNDER_WAY, Git, repository, text
from executor.sandbox.redaction import visible
from executor.tools.project import linters, suites
from executor.tools.project.changes import CONFLICTS, state
from executor.tools.project.sources import languages_of, sources
from executor.tools.project.suites import Folder
from executor.tools.tool import Bench
from mcl.plugins.versions.tools.git.branch import local_branches
from mcl.plugins.versions.tools.git.log import commits

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


# ---- What is good to know before working in a repository: each thing holds, or says why not.

# ---- The remotes of a repository, without what is secret in their addresses.

_MOST = 50
_LONGEST = 500  # characters of an address
_HOST = re.compile(r"(?:[\w.~%-]+|\[[0-9A-Fa-f:.%]+\])?(?::\d+)?\Z")
_HIDDEN = "(hidden)"


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote; url as it may be told. secret: does the address hold a password?"""

    name: str
    url: str
    secret: bool


async def remotes_of(git: Git) -> list[Remote]:
    """The remotes that the repository's configuration names, in the order of their names."""
    listed = await git.run("config", "--includes", "-z", "--get-regexp", r"^remote\..*\.url$")
    if listed.status != 0:  # there is none
        return []
    found = []
    for record in text(listed.out).split("\0"):
        key, _, url = record.partition("\n")
        if key:
            told, secret = plain_address(url)
            name = key.removeprefix("remote.").removesuffix(".url")
            found.append(Remote(visible(name[:100]), visible(told[:_LONGEST]), secret))
    return sorted(found, key=lambda one: (one.name, one.url))[:_MOST]


def plain_address(url: str) -> tuple[str, bool]:
    """An address without its user, password, query and fragment, and whether a password stood in it.

    An address that cannot be taken apart for certain is hidden but for its beginning.
    """
    if "::" in url.partition("/")[0]:  # a transport by a program: what follows is for that program
        return f"{url.partition('::')[0]}::{_HIDDEN}", False
    scheme, mark, rest = url.partition("://")
    if not mark:
        # host:path, or a path. A user of ssh is no secret, but says who somebody is.
        first, slash, path = url.partition("/")
        user, _, host = first.rpartition("@")
        return host + slash + path, ":" in user
    host, slash, path = re.split("[?#]", rest, maxsplit=1)[0].partition("/")
    behind = rest[len(host) :]
    user, _, host = host.rpartition("@")
    # A password that holds / ? # itself is cut there, and what goes for the host is its beginning.
    if not _HOST.match(host) or "@" in behind:
        return f"{scheme}://{_HIDDEN}", True
    # Without a name in front, a user of the web is a token.
    return f"{scheme}://{host}{slash}{path}", ":" in user or (scheme.startswith("http") and user != "")


_TOLD = 10  # names that one check lists
_MAX_NAMES = 32 << 20  # bytes of names taken from git


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at. why: what was found, for people."""

    name: str
    ok: bool
    why: str

    def answer(self) -> dict[str, object]:
        """The fields of the answer."""
        return {"name": self.name, "ok": self.ok, "why": self.why}


async def checks(
    git: Git, status: Mapping[str, Any], remotes: Sequence[Remote], suite: str, bench: Bench
) -> list[Check]:
    """All checks, always in the same order.

    Args:
        status: the answer of git/status. suite: the tests of the folder, "" where none are known.
    """
    branch, behind, upstream = status["branch"], status["behind"], status["upstream"]
    clashing = [one["path"] for one in status["changes"] if one["code"] in CONFLICTS]
    leaky = [one.name for one in remotes if one.secret]
    secret = await _secret_files(git)
    running = next((what for name, what in UNDER_WAY if git.keeps(name)), "")
    held = git.keeps("index.lock")
    ripgrep = shutil.which("rg", path=safe_path(os.environ.get("PATH", ""), bench.workspace.root))
    return [
        Check("branch", bool(branch), f"on branch {branch}" if branch else "no branch is checked out"),
        Check("commit", bool(status["commit"]), "there are commits" if status["commit"] else "no commit yet"),
        _upstream(upstream, behind),
        Check("conflicts", not clashing, _listed("in conflict: ", clashing) or "no file is in conflict"),
        Check("operation", not running, f"{running} is under way" if running else "nothing is under way"),
        Check(
            "lock",
            not held,
            ".git/index.lock is there: git is at work, or was killed" if held else "no lock is left",
        ),
        Check("secrets", not secret, _listed("in version control: ", secret) or "no secret file is known"),
        Check("remotes", not leaky, _listed("a password stands in: ", leaky) or "no password in an address"),
        Check("tests", bool(suite), f"tests: {suite}" if suite else "no tests are known"),
        Check("ripgrep", ripgrep is not None, "rg is there" if ripgrep else "rg is not installed"),
    ]


def _upstream(upstream: str, behind: int) -> Check:
    if not upstream:
        return Check("upstream", True, "none is set")
    return Check(
        "upstream", not behind, f"{behind} commits behind {upstream}" if behind else f"follows {upstream}"
    )


async def _secret_files(git: Git) -> list[str]:
    listed = await git.answer("ls-files", "-z", "--cached", max_output=_MAX_NAMES)
    names = (name for name in text(listed.out).split("\0") if name)
    return sorted(visible(name) for name in names if is_protected(tuple(name.split("/"))))


def _listed(before: str, names: Sequence[str]) -> str:
    """The first of some names; "" where there is none."""
    if not names:
        return ""
    more = f" and {len(names) - _TOLD} more" if len(names) > _TOLD else ""
    return before + ", ".join(name[:200] for name in names[:_TOLD]) + more
