"""What is good to know before working in a repository: each thing holds, or says why not."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from executor.sandbox.environment import safe_path
from executor.sandbox.git import Git, text
from executor.sandbox.protected import is_protected
from executor.sandbox.redaction import visible
from executor.tools.project.state import CONFLICTS
from executor.tools.tool import Bench

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
_UNDER_WAY = (
    ("MERGE_HEAD", "a merge"),
    ("rebase-merge", "a rebase"),
    ("rebase-apply", "a rebase"),
    ("CHERRY_PICK_HEAD", "a cherry-pick"),
    ("REVERT_HEAD", "a revert"),
    ("BISECT_LOG", "a bisection"),
)


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
    running = next((what for name, what in _UNDER_WAY if git.keeps(name)), "")
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
