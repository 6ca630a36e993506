"""Finds lines with ripgrep, which is told everything: no configuration, nothing outside the folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from anyio import from_thread, to_thread

from executor.core.errors import ScopeError, ToolError
from executor.core.hashing import json_bytes
from executor.sandbox.redaction import visible
from executor.tools.fs.files import shown
from executor.tools.process.confined import Ran, program_outside, run_confined
from executor.tools.project.suites import Folder
from executor.tools.tool import Bench
from ir.inline_secrets import lines_without_keys

_MOST = 4 << 20  # bytes taken of what ripgrep finds
_SHOWN = 300  # characters of a line that are shown
_LARGEST = 4 << 20  # bytes of a file that is searched, as ripgrep is told
_OPTIONS = (
    *("--no-config", "--no-ignore-global", "--no-ignore-exclude", "--no-follow", "--no-messages"),
    *("--line-number", "--column", "--with-filename", "--null", "--no-heading", "--color=never"),
    *("--sort=path", "--max-filesize=4M", "--max-columns=8192", "--max-columns-preview"),
    # A line end in the name of a file would make one match look like another.
    "--glob=!*[\x01-\x1f\x7f]*",
)
_IGNORE_FILES = frozenset({".gitignore", ".ignore", ".rgignore"})


async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
    """Answer with the matching lines in the order of paths. That nothing is found is an answer, not an error.

    Raises:
        ToolError: COMMAND_NOT_FOUND, BAD_PATTERN, GREP_FAILED, and what ``run_confined`` raises.
    """
    query, path, limit = str(args["query"]), str(args["path"]), int(str(args["limit"]))
    if "\0" in query:  # which no argument of a program can hold
        raise _bad_pattern("a regex cannot hold the character 0; \\x00 stands for it")
    odd = await to_thread.run_sync(_odd_ignore_file, path, bench)
    options = [
        *_OPTIONS,
        f"--max-count={limit + 1}",
    ]  # one more than is told: so it is seen that there are more
    if odd:
        options.append("--no-ignore")
    elif not bench.workspace.split(path):  # a folder of the workspace obeys those of the folders above it
        options.append("--no-ignore-parent")

    def line(environment: Mapping[str, str]) -> list[str]:
        program = program_outside("rg", environment["PATH"], bench.workspace.root, fix="install ripgrep")
        return [program, *options, "--", query, "./"]

    with bench.workspace.open_folder(path) as descriptor:
        folder = Folder(bench.workspace, path, descriptor)
        ran = await run_confined(bench, folder, line, keep="head", most=_MOST, merged=False, alone=True)
    _require_searched(ran, query)
    found = _Found(limit, bench.max_output - 8192 - 2 * len(json_bytes(query)), ran.finished.truncated)
    found.take("/".join(bench.workspace.split(path)), ran.finished.out, bench)
    return {
        "query": visible(query),
        "status": 0 if found.matches else 1,
        "matches": found.matches,
        "count": len(found.matches),
        "files": len({one["path"] for one in found.matches}),
        "truncated": found.truncated,
        "sandbox": ran.sandbox,
        "seconds": ran.seconds,
        "text": "\n".join(found.told(odd)),
    }


@dataclass(slots=True)
class _Found:
    """Matches so far, and the room that is left for them (bytes of JSON, counted generously)."""

    limit: int
    room: int
    truncated: bool
    matches: list[dict[str, object]] = field(default_factory=list)

    def take(self, prefix: str, out: bytes, bench: Bench) -> None:
        """Take what may be told of ripgrep's lines, ``path\\0line:column:text``; the last may be cut."""
        readable: dict[str, bool] = {}
        keys: dict[str, frozenset[int]] = {}
        for record in out.split(b"\n")[:-1]:
            name, nul, rest = record.partition(b"\0")
            if not nul:  # what ripgrep says of a binary file
                continue
            number, column, text = rest.split(b":", 2)
            place = "/".join(filter(None, (prefix, name.decode("utf-8", "replace").removeprefix("./"))))
            if place not in readable:
                readable[place] = _readable(place, bench)
                keys[place] = _lines_of_keys(place, bench) if readable[place] else frozenset()
            if not readable[place] or int(number) in keys[place]:
                continue
            start = len(text[: int(column) - 1].decode("utf-8", "replace"))
            line = shown(text.decode("utf-8", "replace").rstrip("\r"), start, _SHOWN)
            self.room -= 2 * (len(json_bytes(line)) + len(place.encode())) + 128
            if len(self.matches) == self.limit or self.room < 0:
                self.truncated = True
                return
            self.matches.append({"path": place, "line": int(number), "text": line})

    def told(self, odd: str) -> Iterator[str]:
        """The matches for people. odd: the file for which no ignore file was obeyed."""
        for one in self.matches:
            yield f"{one['path']}:{one['line']}: {one['text']}"
        if self.truncated:
            yield f"… there is more: only the first {len(self.matches):,} matching lines are shown"
        elif not self.matches:
            yield "nothing found"
        if odd:
            yield f"ignored files were searched too: {visible(odd)} is no plain file"


def _odd_ignore_file(path: str, bench: Bench) -> str:
    """A file that would tell ripgrep what to leave out and is none: a link, which it would follow, a pipe, at
    which it would wait. "" where there is none."""
    for entry in bench.workspace.walk(path, check=from_thread.check_cancelled):
        if entry.kind in ("link", "other") and entry.path.rpartition("/")[2] in _IGNORE_FILES:
            return entry.path
    return ""


def _readable(path: str, bench: Bench) -> bool:
    """May lines of this file be told? Not of a secret one, nor of one that has another name elsewhere."""
    try:
        return bench.workspace.check(path) is not None
    except ScopeError:
        return False


def _lines_of_keys(path: str, bench: Bench) -> frozenset[int]:
    """The lines of private keys: ripgrep shows them one by one, and then nothing tells what they are."""
    try:
        text = bench.workspace.read(path, _LARGEST)[0].decode("utf-8", "replace")
    except ScopeError:
        return frozenset()
    lines = zip(text.split("\n"), lines_without_keys(text).split("\n"), strict=True)
    return frozenset(number for number, (line, told) in enumerate(lines, 1) if line != told)


def _require_searched(ran: Ran, query: str) -> None:
    """Tell a search from none. A file that ripgrep could not read does not make the rest worthless.

    Raises:
        ToolError: BAD_PATTERN, GREP_FAILED.
    """
    said = visible(ran.finished.err.decode("utf-8", "replace").strip()[:1000])
    if ran.status in (0, 1) or (ran.status == 2 and not said):
        return
    if ran.status == 2 and ("regex" in said or "pattern" in said):
        raise _bad_pattern(said)
    raise ToolError("GREP_FAILED", f"ripgrep ended with status {ran.status}: {said}", place=query[:80])


def _bad_pattern(why: str) -> ToolError:
    return ToolError(
        "BAD_PATTERN",
        f"ripgrep does not understand the query: {why}",
        place="query",
        fix="put a backslash before a character that means itself, such as \\( or \\.",
    )
