"""Sends the commits of a branch to a granted host.

What the repository's configuration says (other addresses, proxies, helpers, hooks) counts for nothing: git
sends from an empty repository of ours that borrows the commits, and knows the address alone.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from pathlib import Path

from anyio import to_thread

from executor.core.errors import ScopeError, ToolError
from executor.sandbox.environment import drop_scratch, make_scratch
from executor.sandbox.git import Git, text
from executor.sandbox.origin import Url, parse_url, require_encrypted
from executor.sandbox.process import Finished
from executor.sandbox.redaction import visible
from executor.tools.tool import Bench
from mcl.plugins.versions.work import BRANCHES, called, need_commit, on_branch

_REFUSED = ("Authentication failed", "could not read Username", "terminal prompts disabled", " 401", " 403")


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Push the branch; never by force.

    Raises:
        ToolError: PUSH_REJECTED, CREDENTIAL_NEEDED, CREDENTIAL_IN_CLEAR, PUSH_FAILED, SHALLOW.
        ScopeError: HOST_DENIED.
    """
    url = parse_url(str(args["url"]))
    if url.origin not in bench.hosts:
        raise ScopeError(
            "HOST_DENIED", f"{url.origin} was not granted", place=str(url.origin), fix="mcl grant add network"
        )
    header = _header(args, url)
    async with on_branch(bench.workspace, str(args.get("repo", "."))) as (git, current):
        branch = await called(git, str(args.get("branch", current)))
        settings = f'[http "{url.origin}/"]\n\textraHeader = "{header}"' if header else ""
        commit, ended = await send(git, branch, str(url), url.origin.scheme, settings=settings)
        said = visible(text(ended.err).strip()[-600:])
        if ended.status != 0 and any(one in said for one in _REFUSED):
            raise ToolError(
                "CREDENTIAL_NEEDED",
                f"{url.origin} wants to know who pushes: {said.splitlines()[-1][:200]}",
                place=str(url.origin),
                fix="name the variable that holds a token for it: token = $env:GIT_TOKEN",
            )
        is_new = pushed(ended, str(url.origin), branch)
        if remote := str(args.get("remote", "")):
            await git.run("update-ref", f"refs/remotes/{remote}/{branch}", commit)
    return {
        "url": str(url),
        "branch": branch,
        "commit": commit,
        "pushed": is_new,
        "text": f"{url} has {branch} at {commit[:8]}" + (" now" if is_new else " already"),
    }


def _header(args: Mapping[str, object], url: Url) -> str:
    if "token" not in args:
        return ""
    require_encrypted(url)
    packed = base64.b64encode(f"{args['user']}:{args['token']}".encode()).decode()
    return f"Authorization: Basic {packed}"


async def send(
    git: Git, branch: str, to: str, protocol: str, *options: str, settings: str = ""
) -> tuple[str, Finished]:
    """The commit of a branch, and how its push ended. settings: of the repository that it is sent from.

    Raises:
        ToolError: UNKNOWN_COMMIT, SHALLOW.
    """
    commit = await need_commit(git, BRANCHES + branch)
    if git.keeps("shallow"):
        raise ToolError(
            "SHALLOW", "this clone has only a part of the history", place=".", fix="git fetch --unshallow"
        )
    form = text((await git.answer("rev-parse", "--show-object-format")).out).strip()
    place, held = await to_thread.run_sync(make_scratch)
    try:
        _lay_out(place, form, settings)
        ended = await git.borrowed(
            place, "push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags",
            "--recurse-submodules=no", *options, "--", to, f"{commit}:{BRANCHES}{branch}", protocol=protocol,
        )  # fmt: skip
    finally:
        await to_thread.run_sync(drop_scratch, place, held)
    return commit, ended


def _lay_out(place: Path, form: str, more: str) -> None:
    """An empty repository in a folder that is this user's alone, with what is needed of a configuration."""
    for folder in ("objects", "refs/heads"):
        (place / folder).mkdir(parents=True)
    (place / "HEAD").write_text("ref: refs/heads/none\n")
    lines = ["[core]", "\trepositoryformatversion = 1", "\tbare = true", f"\thooksPath = {place / 'none'}"]
    lines += ["[extensions]", f"\tobjectFormat = {form}", "[http]", "\tfollowRedirects = false", "\tproxy ="]
    config = place / "config"
    config.touch(mode=0o600)
    config.write_text("\n".join((*lines, more)) + "\n")


def pushed(ended: Finished, where: str, branch: str) -> bool:
    """Whether a push that has ended sent something. Raises ToolError PUSH_REJECTED, PUSH_FAILED."""
    flags = {line[:1] for line in text(ended.out).splitlines() if "\t" in line}
    if ended.status == 0 and "!" not in flags:
        return flags != {"="}
    if "!" in flags:
        line = next(line for line in text(ended.out).splitlines() if line.startswith("!"))
        raise ToolError(
            "PUSH_REJECTED",
            f"{visible(where)} did not take {branch}: {visible(line.rpartition(chr(9))[2])[:300]}",
            place=branch,
            fix="fetch and merge what is there first; nothing is ever pushed by force",
        )
    said = visible(text(ended.err).strip()[-600:])
    raise ToolError(
        "PUSH_FAILED",
        f"git push ended with status {ended.status}: {said[:400]}",
        place=where,
        fix="see what git says",
    )
