"""The source files of a workspace, each read once and kept by what the file system says of it."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from executor.core.clock import SystemClock
from executor.core.errors import ScopeError
from executor.sandbox.paths import Workspace
from executor.tools.project.sources import language_of, sources
from executor.tools.tool import Bench
from mcl.plugins.review.maps.loading import MAX_FILES
from mcl.plugins.review.maps.maps import FOLDER, IGNORE, FileSymbol
from mcl.plugins.review.maps.symbols import TextFacts, read_text

MOST_READ: Final = 4 << 20  # bytes of a file; of a larger one the first so many are looked at
_PROBE: Final = 8192  # bytes looked at to tell a binary file
_GONE: Final = "git knows them, and they are not there"
_TOO_MANY: Final = f"more than {MAX_FILES:,} files"
_NO_TEXT: Final = "names that are not UTF-8"
_WHY: Final[Mapping[str, str]] = {
    "PROTECTED_PATH": "protected names (secrets, keys, …)",
    "OUT_OF_SCOPE": "links, hard links, devices, and names that cannot be used",
    "UNREADABLE": "this user may not read them",
}

# Size in bytes, times of writing and of the last change of any kind (nanoseconds), inode: while these are the
# same, so is the content.
Stamp = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file that was read."""

    stamp: Stamp
    sha256: str
    lines: int
    language: str
    shown: TextFacts

    @property
    def size(self) -> int:
        """Bytes."""
        return self.stamp[0]

    def to_json(self) -> list[Any]:
        """As it is kept."""
        shown = self.shown
        symbols = [[one.name, one.kind, one.line, one.signature] for one in shown.symbols]
        kept = [symbols, shown.imports, shown.marks, shown.provides, shown.read, shown.cut]
        return [*self.stamp, self.sha256, self.lines, self.language, *kept]

    @classmethod
    def from_json(cls, said: list[Any]) -> SourceFile:
        """What was kept. Raises LookupError, TypeError, ValueError for another form."""
        size, written, changed, inode, sha256, lines, language, symbols, imports, marks, *rest = said
        provides, read, cut = rest
        return cls(
            (size, written, changed, inode),
            sha256,
            lines,
            language,
            TextFacts(
                tuple(FileSymbol(*one) for one in symbols), tuple(imports), tuple(marks), provides, read, cut
            ),
        )


@dataclass(frozen=True)
class SourceFiles:
    """The source files of a workspace by their paths, and why others are left out, with how many."""

    files: Mapping[str, SourceFile]
    left_out: Mapping[str, int]


async def listed(workspace: Workspace) -> list[str]:
    """The paths of the source files, sorted: what git knows or would take, without vendored and minified
    files, and without the maps themselves.

    Raises:
        ScopeError: the workspace may not be opened.
    """
    # Nothing but the workspace is asked of a bench there.
    found = await sources(".", (), Bench(workspace, SystemClock(), "read", 0, ""))
    return [path for path in found if path != IGNORE and not path.startswith(f"{FOLDER}/")]


def read_all(
    workspace: Workspace,
    paths: Iterable[str],
    kept: Callable[[str, Stamp], SourceFile | None],
    progress: Callable[[int], None],
) -> SourceFiles:
    """Read the files.

    kept: what is known of a file with this stamp, None where it must be read. progress: how many are done.
    """
    files: dict[str, SourceFile] = {}
    left_out: Counter[str] = Counter()
    for number, path in enumerate(paths):
        progress(number)
        if len(files) >= MAX_FILES:
            left_out[_TOO_MANY] += 1
            continue
        try:
            found = _read(workspace, path, kept)
        except ScopeError as problem:
            left_out[_WHY.get(problem.code, problem.code.lower().replace("_", " "))] += 1
            continue
        if found is None:
            left_out[_NO_TEXT if "\ufffd" in path else _GONE] += 1
        else:
            files[path] = found
    return SourceFiles(files, dict(sorted(left_out.items())))


def stamp_of(workspace: Workspace, path: str) -> Stamp | None:
    """What the file system says of a file, None where none is. Raises ScopeError."""
    status = workspace.check(path)
    if status is None:
        return None
    return (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


def _read(
    workspace: Workspace, path: str, kept: Callable[[str, Stamp], SourceFile | None]
) -> SourceFile | None:
    stamp = stamp_of(workspace, path)  # before the content: what changes in between has another stamp later
    if stamp is None:
        return None
    if (known := kept(path, stamp)) is not None:
        return known
    data, _ = workspace.read(path, MOST_READ)
    sha256 = hashlib.sha256(data).hexdigest()
    language = language_of(path)
    if b"\0" in data[:_PROBE]:
        return SourceFile(stamp, sha256, 0, language, TextFacts())
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    lines = text.count("\n") + (not text.endswith("\n") and bool(text))
    return SourceFile(
        stamp,
        sha256,
        lines,
        language or _by_first_line(text),
        read_text(text, language or _by_first_line(text)),
    )


def _by_first_line(text: str) -> str:
    """The language of a file without an ending, by the program that its first line names."""
    if not text.startswith("#!"):
        return ""
    words = text[:200].partition("\n")[0].replace("/", " ").split()
    for word in reversed(words):
        for name, language in _PROGRAMS.items():
            if word.startswith(name):
                return language
    return ""


_PROGRAMS: Final[Mapping[str, str]] = {
    "python": "python",
    "bash": "bash",
    "sh": "shell",
    "zsh": "shell",
    "dash": "shell",
    "ksh": "shell",
    "node": "javascript",
    "ruby": "ruby",
    "perl": "perl",
    "php": "php",
    "lua": "lua",
}
