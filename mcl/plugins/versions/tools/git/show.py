"""One commit: who made it and why, what it changed, or a file as it was then."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from executor.core.errors import ToolError
from executor.sandbox.git import Git, plain_path, repository, text
from executor.sandbox.redaction import visible
from executor.tools.project.changes import changes, cut, told
from executor.tools.tool import Bench

_FORMAT = "--format=tformat:%an%x00%aI%x00%P%x00%B%x00"  # %G… would start a signature checker
_SHOWN = 500  # characters of an author's name
_MESSAGE = 20_000  # bytes of a message


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the commit and its changes against its first parent; with ``file``, with that file."""
    repo, named = str(args.get("repo", ".")), str(args.get("commit", "HEAD"))
    path, file = plain_path(str(args.get("path", ""))), plain_path(str(args.get("file", "")))
    show = ["show", "--format=", "--diff-merges=first-parent", "--root", "--no-show-signature", "--no-notes"]
    async with repository(bench.workspace, repo) as git:
        commit = await _commit(git, named)
        answer = await _head(git, commit)
        if file:
            content, size, truncated = await _content(git, commit, file, repo, bench)
            if truncated and args.get("whole"):
                raise ToolError("TOO_LARGE", f"{file!r} is too long for an answer", place=file)
            shown = {"file": visible(file), "content": content, "size": size, "truncated": truncated}
            return {**answer, **shown, "text": visible(content)}
        found = await changes(git, [*show, commit], path, repo, bench, past=True)
    headline = [f"commit {commit}", f"{answer['author']}, {answer['date']}", "", str(answer["message"]), ""]
    return {**answer, **found.answer(), "text": "\n".join([*headline, *told(found)])}


async def _commit(git: Git, named: str) -> str:
    """The full id of the commit that a name stands for.

    Raises:
        ToolError: UNKNOWN_COMMIT.
    """
    found = await git.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{named}^{{commit}}")
    commit = text(found.out).strip()
    if found.status != 0 or not commit:
        raise ToolError(
            "UNKNOWN_COMMIT",
            f"there is no commit {named!r}",
            place=named,
            fix="git/log and git/branch list them",
        )
    return commit


async def _head(git: Git, commit: str) -> dict[str, object]:
    said = await git.answer("log", "--max-count=1", "--no-show-signature", "--no-patch", "--no-mailmap",
        "--no-notes", _FORMAT, "--end-of-options", commit, "--")  # fmt: skip
    author, date, parents, message, *_ = (*text(said.out).split("\0"), "", "", "", "")
    return {
        "commit": commit,
        "author": visible(author[:_SHOWN]),
        "date": date.strip(),
        "parents": parents.split(),
        "message": cut(message.strip("\n"), _MESSAGE)[0],
    }


async def _content(git: Git, commit: str, file: str, repo: str, bench: Bench) -> tuple[str, int, bool]:
    """A file's text as it was in a commit, its size in bytes, and whether the text is cut.

    Raises:
        ToolError: NOT_FOUND, NOT_A_FILE, NOT_TEXT. ScopeError: PROTECTED_PATH, OUT_OF_SCOPE.
    """
    name = "/".join(bench.workspace.split(file))  # by its text: what is there today says nothing of then
    bench.workspace.split(f"{repo}/{name}")
    refuse = partial(ToolError, place=file, fix="git/show without file tells the files that it changed")
    listed = await git.answer("ls-tree", "-z", "--full-tree", "--long", commit, "--", name)
    record = text(listed.out).split("\0")[0]
    mode, kind, blob, size = (*record.partition("\t")[0].split(), "", "", "", "")[:4]
    if not mode:
        raise refuse("NOT_FOUND", f"{file!r} is not in that commit")
    if kind != "blob" or not mode.startswith("100"):
        raise refuse("NOT_A_FILE", f"{file!r} is a folder, a link or a submodule in that commit")
    room = bench.max_output // 8  # it stands in two fields, and a control character takes six bytes
    data = (await git.answer("cat-file", "blob", blob, max_output=room)).out
    if b"\0" in data:
        raise refuse("NOT_TEXT", f"{file!r} is a binary file")
    truncated = len(data) < int(size)
    try:
        content = data.decode("utf-8", "ignore" if truncated else "strict")
    except UnicodeDecodeError as problem:
        raise refuse("NOT_TEXT", f"{file!r} is no UTF-8 text") from problem
    return content, int(size), truncated
