"""What changed in the files of the repository."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from executor.errors import ScopeError
from executor.sandbox.redaction import visible
from executor.tools.git.command import Git, repository, text
from executor.tools.tool import Bench

_MAX_FILES = 500  # files whose changes are shown
_ROOM = 96  # bytes of JSON that a file takes beside its path, generously
# No program of the repository's choice sees the files, and its configuration does not change the form.
_PLAIN = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-renames",
    "--no-relative",
    "--no-color",
    "--no-indent-heuristic",
    "--diff-algorithm=histogram",
    "--ignore-submodules=all",
    "--src-prefix=a/",
    "--dst-prefix=b/",
    "-O/dev/null",
)


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with lines added and removed in each file, and the changes themselves."""
    repo, path = str(args.get("repo", ".")), str(args.get("path", ""))
    which = ["--cached"] if args.get("staged") else []
    only = ["--", *([path] if path else [])]
    async with repository(bench, repo) as git:
        counted = await git.answer("diff", *which, *_PLAIN, "--numstat", "-z", *only)
        changed = list(_counts(text(counted.out)))
        open_ = [one for one in changed if _may_be_shown(repo, one[0], bench)]
        patch, truncated = "", counted.truncated or len(open_) > _MAX_FILES
        if open_:
            patch, cut = await _patch(
                git, which, [one[0] for one in open_[:_MAX_FILES]], bench.max_output // 4
            )
            truncated = truncated or cut
    files: list[dict[str, object]] = []
    room = bench.max_output // 4
    for name, added, removed in open_:
        room -= _ROOM + 4 * len(name)
        if room < 0:
            truncated = True
            break
        files.append({"path": visible(name), "added": added, "removed": removed})
    hidden = len(changed) - len(open_)
    return {
        "files": files,
        "count": len(open_),
        "added": sum(one[1] for one in open_),
        "removed": sum(one[2] for one in open_),
        "hidden": hidden,
        "truncated": truncated,
        "patch": patch,
        "text": "\n".join(_told(files, patch, hidden, truncated=truncated)),
    }


def _counts(answer: str) -> Iterator[tuple[str, int, int]]:
    """Path, lines added, lines removed; none of a binary file's are counted."""
    for record in answer.split("\0"):
        added, _, rest = record.partition("\t")
        removed, _, path = rest.partition("\t")
        if path:
            yield path, int(added) if added.isdigit() else 0, int(removed) if removed.isdigit() else 0


def _may_be_shown(repo: str, path: str, bench: Bench) -> bool:
    """Not the content of secret files, nor what another name of a file outside would show."""
    try:
        bench.workspace.check(f"{repo}/{path}")
    except ScopeError:
        return False
    return True


async def _patch(git: Git, which: list[str], paths: list[str], room: int) -> tuple[str, bool]:
    """The changes as text, at most ``room`` characters, cut at a line."""
    answer = await git.answer("diff", *which, *_PLAIN, "--unified=3", "--", *paths)
    lines: list[str] = []
    for line in text(answer.out).removesuffix("\n").split("\n"):
        shown = visible(line)
        room -= len(shown.encode()) + 2
        if room < 0:
            return "\n".join(lines), True
        lines.append(shown)
    return "\n".join(lines), answer.truncated


def _told(files: list[dict[str, object]], patch: str, hidden: int, *, truncated: bool) -> Iterator[str]:
    if not files:
        yield "nothing changed" if not hidden else "nothing changed that may be shown"
    rows = [(f"+{one['added']:,}", f"-{one['removed']:,}", one["path"]) for one in files]
    wide = max((len(row[0]) for row in rows), default=0)
    deep = max((len(row[1]) for row in rows), default=0)
    for added, removed, path in rows:
        yield f"{added:>{wide}} {removed:>{deep}}  {path}"
    if hidden and files:
        yield f"{hidden} more that may not be shown: secret files, links"
    if patch:
        yield ""
        yield patch
    if truncated:
        yield "… there is more: the changes are cut"
