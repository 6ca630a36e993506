"""The source files of a workspace, each read once and kept by what the file system says of it."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from anyio import from_thread, to_thread

from executor.core.clock import SystemClock
from executor.core.errors import ScopeError
from executor.sandbox.paths import Workspace
from executor.tools.project.sources import language_of, sources
from executor.tools.tool import Bench
from mcl.core.cache import read_own, write_own
from mcl.core.event_loop import at_once
from mcl.language.mtx.files import BAD_VALUE
from mcl.plugins.review.maps.documents import MAX_FILES
from mcl.plugins.review.maps.maps import FOLDER, IGNORE, FileSymbol, Maps, StaleEntry
from mcl.plugins.review.maps.ownership import ChangeLog, head_of
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
            found = _read_file(workspace, path, kept)
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


def _read_file(
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


# ---- What was read, kept in the home, so that only what changed is read again.

_VERSION: Final = "1"
_YOUNG: Final = 100_000_000  # nanoseconds: more than any file system's clock stands still
_MOST: Final = 1 << 30  # bytes of what was kept, unpacked


class MapCache:
    """What is kept of one workspace; without a folder nothing is.

    It says nothing that reading would not: an entry counts only for a file with the same size, times and
    inode, and none is kept of a file that changed so lately that it could change again and look the same.
    What is damaged, or was made by other rules, is not used.
    """

    def __init__(self, folder: Path | None, root: Path) -> None:
        name = hashlib.sha256(str(root).encode("utf-8", "surrogateescape")).hexdigest()[:16]
        self._place = folder / "maps" / f"{name}.json.z" if folder is not None else None
        self._files: dict[str, SourceFile] = {}
        self._began = self._now()
        self.log: ChangeLog | None = None
        if self._place is not None:
            with suppress(OSError, zlib.error, *BAD_VALUE):
                self._take(_unpacked(read_own(str(self._place))))

    def get(self, path: str, stamp: Stamp) -> SourceFile | None:
        """What is known of a file while it looks like this."""
        known = self._files.get(path)
        return known if known is not None and known.stamp == stamp else None

    def keep(self, found: Mapping[str, SourceFile], log: ChangeLog) -> None:
        """Keep what was read, where it can be and differs; a disk that is full costs time only."""
        if self._place is None or self._began is None:
            return
        old = {path: one for path, one in found.items() if one.stamp[2] < self._began - _YOUNG}
        if old == self._files and log == self.log:
            return
        said = {
            "version": _version(),
            "log": log.to_json(),
            "files": {path: one.to_json() for path, one in old.items()},
        }
        with suppress(OSError):
            write_own(self._place, zlib.compress(json.dumps(said, separators=(",", ":")).encode(), 1))

    def _take(self, said: Any) -> None:
        if said["version"] != _version():
            return
        log = ChangeLog.from_json(said["log"])
        read = {str(path): SourceFile.from_json(one) for path, one in said["files"].items()}
        self.log, self._files = log, read

    def _now(self) -> int | None:
        """The moment by the clock of the file system: no other says whether a file is young."""
        if self._place is None:
            return None
        mark = self._place.with_suffix(".began")
        try:
            mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            mark.write_bytes(b"")
            return mark.stat().st_mtime_ns
        except OSError:
            return None


def _unpacked(data: bytes) -> Any:
    whole = zlib.decompressobj().decompress(data, _MOST)
    return json.loads(whole)


@cache
def _version() -> str:
    """A hash over the rules by which files are read: of other rules nothing is used."""
    total = hashlib.sha256(_VERSION.encode())
    here = files("mcl.plugins.review.maps")
    for name in ("languages.toml", "symbols.py", "files.py", "ownership.py"):
        total.update(here.joinpath(name).read_bytes())
    total.update(files("executor.tools.project").joinpath("languages.toml").read_bytes())
    return total.hexdigest()


# ---- In what the maps differ from the workspace as it is.


def stale(workspace: Workspace, maps: Maps, *, cache: Path | None = None) -> tuple[StaleEntry, ...]:
    """Where the maps are old: HEAD moved, files that changed, are new, or are gone; () where nothing is.

    cache: as for `build`; without it every file is read.

    Raises:
        ScopeError: the workspace may not be opened.
    """
    return at_once(partial(staleness, workspace, maps, cache=cache))


async def staleness(workspace: Workspace, maps: Maps, *, cache: Path | None = None) -> tuple[StaleEntry, ...]:
    """The same, inside of an event loop."""
    found: list[StaleEntry] = []
    head = await head_of(workspace)
    now = head[0] if head else ""
    if now != maps.head:
        found.append(StaleEntry("", f"the last commit is {_short(now)}, and was {_short(maps.head)}"))
    paths = await listed(workspace)
    kept = await to_thread.run_sync(MapCache, cache, workspace.root)

    def told(done: int) -> None:
        from_thread.check_cancelled()

    read = await to_thread.run_sync(read_all, workspace, paths, kept.get, told)
    for path in sorted(maps.files.keys() | read.files.keys()):
        was, is_now = maps.files.get(path), read.files.get(path)
        if was is None:
            found.append(StaleEntry(path, "new"))
        elif is_now is None:
            found.append(StaleEntry(path, "gone"))
        elif (was.sha256, was.size) != (is_now.sha256, is_now.size):
            found.append(StaleEntry(path, "changed"))
    return tuple(found)


def _short(commit: str) -> str:
    return commit[:12] or "none"
