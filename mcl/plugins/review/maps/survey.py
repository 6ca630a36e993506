"""A workspace looked at: its files read, its log read, the maps made of both, and what to review first."""

from __future__ import annotations

import hashlib
import posixpath
import sys
from collections import defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar, Final, TypeVar

import anyio
from anyio import from_thread, to_thread

from executor.sandbox.paths import Workspace
from ir.results import JsonResult
from mcl.plugins.review.maps.files import MapCache, SourceFile, SourceFiles, listed, read_all
from mcl.plugins.review.maps.maps import MOMENT, MappedFile, Maps, rules
from mcl.plugins.review.maps.ownership import ChangeLog, FileChanges, read_log
from mcl.plugins.review.maps.symbols import tables

# ---- Which files of a repository a file imports: what it writes, made a path.

_SCRIPTS: Final = (".ts", ".tsx", ".d.ts", ".mts", ".js", ".jsx", ".mjs", ".cjs", ".vue", ".svelte", ".dart")
_OTHER_NAME: Final = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_DOTTED: Final = (".java", ".kt", ".scala", ".hs", ".groovy")
_REQUIRED: Final = ("", ".rb", ".php", ".lua", ".sh", ".bash", ".pm", ".pl")
_MOST: Final = 40  # files of one folder, or of one name, that are looked at
_PACKAGE: Final = "__init__.py"


@dataclass(frozen=True, slots=True)
class Importing:
    """A file with what it imports, as its language writes it. provides: of a go.mod, its module."""

    language: str
    imports: Sequence[str]
    provides: str = ""


def importers(files: Mapping[str, Importing], counts: Callable[[str], bool]) -> dict[str, int]:
    """How many other files import each file.

    counts: is what this file imports counted? (Not where it is a test: everything has one.)
    """
    tree = _Tree(files)
    found: dict[str, int] = dict.fromkeys(files, 0)
    for path, one in files.items():
        if one.imports and counts(path):
            for target in tree.imported(path, one) - {path}:
                found[target] += 1
    return found


class _Tree:
    """The files by the ways in which imports name them."""

    def __init__(self, files: Mapping[str, Importing]) -> None:
        self._files = files
        self._named: dict[str, list[str]] = defaultdict(list)
        self._folders: dict[str, list[str]] = defaultdict(list)
        for path in sorted(files):
            folder, _, name = path.rpartition("/")
            self._named[name].append(path)
            if files[path].language == "go" and not name.endswith("_test.go"):
                self._folders[folder].append(path)
        self._modules = _python_modules(files)
        self._go = {
            one.provides: path.rpartition("/")[0] for path, one in sorted(files.items()) if one.provides
        }

    def imported(self, path: str, one: Importing) -> set[str]:
        """The files that a file imports."""
        table = tables().get(one.language)
        way = {
            "python": self._python,
            "relative": self._relative,
            "include": self._included,
            "dotted": self._dotted,
            "require": self._required,
            "rust": self._rust,
            "go": self._of_go,
        }.get(table.resolve if table else "")
        return {target for said in one.imports for target in way(path, said)} if way else set()

    def _python(self, path: str, said: str) -> Iterator[str]:
        module, _, name = said.partition("|")
        level = len(module) - len(module.lstrip("."))
        if level:
            folders = path.split("/")[:-1]
            if level > len(folders) + 1:
                return
            above = folders[: len(folders) - level + 1]
            base = "/".join([*above, *(part for part in module[level:].split(".") if part)])
            for place in ([f"{base}/{name}"] if name else []), [base]:
                if hit := next((found for one in place if (found := self._module_at(one))), ""):
                    yield hit
                    return
            return
        whole = f"{module}.{name}" if name else module
        beside = path.rpartition("/")[0]
        near = (
            bool(beside) and f"{beside}/{_PACKAGE}" not in self._files
        )  # a script imports what lies beside it
        while whole:
            found = self._module_at(f"{beside}/{whole.replace('.', '/')}") if near else ""
            if target := found or self._modules.get(whole, ""):
                yield target
                return
            whole = whole.rpartition(".")[0]

    def _module_at(self, place: str) -> str:
        place = place.strip("/")
        names = (f"{place}.py", f"{place}/{_PACKAGE}", f"{place}.pyi") if place else (_PACKAGE,)
        return next((one for one in names if one in self._files), "")

    def _relative(self, path: str, said: str) -> Iterator[str]:
        if not said.startswith(".") and not path.endswith(".dart"):
            return
        base = _joined(path, said.split("?")[0])
        stem, ending = posixpath.splitext(base)
        tries = [base, *(stem + other for other in _OTHER_NAME.get(ending, ()))]
        tries += [base + one for one in _SCRIPTS] + [f"{base}/index{one}".lstrip("/") for one in _SCRIPTS]
        yield from (one for one in tries if one in self._files and one)

    def _included(self, path: str, said: str) -> Iterator[str]:
        near = _joined(path, said)
        if near in self._files:
            yield near
        else:
            yield from self._ending_with(said)

    def _dotted(self, path: str, said: str) -> Iterator[str]:
        place = said.replace(".", "/")
        own = posixpath.splitext(path)[1]
        for one in (own, *_DOTTED):
            if found := list(self._ending_with(place + one)):
                yield from found
                return

    def _required(self, path: str, said: str) -> Iterator[str]:
        place = said.replace("\\", "/").replace("::", "/").strip("/")
        if "/" not in place and "." in place and path.endswith(".lua"):
            place = place.replace(".", "/")
        for ending in _REQUIRED:
            if (near := _joined(path, place + ending)) in self._files:
                yield near
                return
        for ending in _REQUIRED[1:] if "." not in posixpath.basename(place) else ("",):
            if found := list(self._ending_with(place + ending)):
                yield from found
                return

    def _rust(self, path: str, said: str) -> Iterator[str]:
        folder, _, name = path.rpartition("/")
        stem = name.removesuffix(".rs")
        own = folder if stem in ("mod", "lib", "main") else f"{folder}/{stem}".lstrip("/")
        if said.startswith("mod "):
            yield from self._rust_at(own, [said[4:]])
            return
        parts = [part for part in said.split("::") if part]
        if not parts or parts[0] not in ("crate", "super", "self"):
            return
        if parts[0] == "crate":
            place = path.split("/")
            base = "/".join(place[: len(place) - place[::-1].index("src")]) if "src" in place else ""
        else:
            base = own if parts[0] == "self" else own.rpartition("/")[0]
        yield from self._rust_at(base, parts[1:])

    def _rust_at(self, base: str, parts: list[str]) -> Iterator[str]:
        for count in range(len(parts), 0, -1):
            place = "/".join([*([base] if base else []), *parts[:count]])
            for one in (f"{place}.rs", f"{place}/mod.rs"):
                if one in self._files:
                    yield one
                    return

    def _of_go(self, path: str, said: str) -> Iterator[str]:
        module = said
        while module and module not in self._go:
            module = module.rpartition("/")[0]
        if module:
            below = said[len(module) :].strip("/")
            yield from self._folders.get("/".join(filter(None, (self._go[module], below))), ())[:_MOST]

    def _ending_with(self, place: str) -> Iterator[str]:
        """The file whose path ends with these names; nobody where it could be several."""
        place = posixpath.normpath(place).lstrip("/")
        some = self._named.get(place.rpartition("/")[2], ())[:_MOST]
        found = [one for one in some if one == place or one.endswith(f"/{place}")]
        if len(found) == 1:
            yield found[0]


def _joined(path: str, said: str) -> str:
    """A path as seen from a file, within the repository."""
    joined = posixpath.normpath(posixpath.join(posixpath.dirname(path), said.lstrip("/")))
    return "" if joined.startswith("..") else joined


def _python_modules(files: Mapping[str, Importing]) -> dict[str, str]:
    """Each Python file by the names that it can be imported by: from the folder that its outermost package
    lies in, and from the top of the repository. A name that several have, or the standard library, is
    nobody's."""
    whole: dict[str, str] = {}
    short: dict[str, list[str]] = defaultdict(list)
    for path in sorted(files):
        if not path.endswith((".py", ".pyx")):
            continue
        parts = path.rpartition(".")[0].split("/")
        folders = parts[:-1]
        root = len(folders)
        while root and "/".join([*folders[:root], _PACKAGE]) in files:
            root -= 1
        names = folders if parts[-1] == "__init__" else parts
        if names:
            whole[".".join(names)] = path
        if root and names[root:]:
            short[".".join(names[root:])].append(path)
    own = {
        name: paths[0]
        for name, paths in short.items()
        if len(paths) == 1 and name.partition(".")[0] not in sys.stdlib_module_names
    }
    return {**whole, **own}


Progress = Callable[[int, int, str], None]
Answer = TypeVar("Answer")
READING: Final = "reading files"
_TEST: Final = "test"
_CUT: Final = "symbols of files with very many, or above 1 MiB of text"


@dataclass(frozen=True)
class WorkspaceSurvey:
    """A workspace, looked at: its files and its log, from which the maps follow."""

    sources: SourceFiles
    log: ChangeLog

    def maps(self, reviews: Mapping[str, str] | None = None) -> Maps:
        """The maps. reviews: when files were reviewed last, ISO 8601 UTC by path."""
        files = self.sources.files
        asked = rules()

        def counts(path: str) -> bool:
            one = files[path]
            return asked.of(path, one.language, one.shown.marks, 0).role != _TEST

        imported = importers(
            {
                path: Importing(one.language, one.shown.imports, one.shown.provides)
                for path, one in files.items()
            },
            counts,
        )
        owned = self.log.of(files)
        reviewed = reviews or {}
        mapped = {
            path: _mapped(path, one, imported[path], owned.get(path), reviewed.get(path, ""))
            for path, one in sorted(files.items())
        }
        left_out = dict(self.sources.left_out)
        if cut := sum(one.shown.cut for one in files.values()):
            left_out[_CUT] = cut
        return Maps(mapped, self.log.head, tree_of(files), self.log.history, left_out)


async def survey(
    workspace: Workspace,
    *,
    cache: Path | None = None,
    progress: Progress = lambda done, total, what: None,
) -> WorkspaceSurvey:
    """Look at every source file of a workspace; nothing is written there.

    Args:
        cache: a folder (of the home) in which what was read is kept, so that only what changed is read again.
        progress: is told how many files are done, of how many, and what is being done.

    Raises:
        ScopeError: the workspace may not be opened.
    """
    paths = await listed(workspace)
    kept = await to_thread.run_sync(MapCache, cache, workspace.root)
    logs: list[ChangeLog] = []

    async def ask_git() -> None:
        logs.append(await read_log(workspace, kept.log))

    def told(done: int) -> None:
        from_thread.check_cancelled()
        if done % 50 == 0:
            progress(done, len(paths), READING)

    async with anyio.create_task_group() as both:  # git walks its log while files are read
        both.start_soon(ask_git)
        found = await to_thread.run_sync(read_all, workspace, paths, kept.get, told)
    await to_thread.run_sync(kept.keep, found.files, logs[0])
    return WorkspaceSurvey(found, logs[0])


def tree_of(files: Mapping[str, SourceFile]) -> str:
    """One hash over the paths and contents of these files."""
    total = hashlib.sha256()
    for path in sorted(files):
        total.update(f"{path}\0{files[path].size}\0{files[path].sha256}\n".encode())
    return total.hexdigest()


def _mapped(
    path: str, one: SourceFile, imported: int, changes: FileChanges | None, reviewed: str
) -> MappedFile:
    rule = rules().of(path, one.language, one.shown.marks, imported)
    return MappedFile(
        path,
        sha256=one.sha256,
        size=one.size,
        lines=one.lines,
        language=one.language,
        read=one.shown.read,
        symbols=one.shown.symbols,
        rule=rule.id,
        role=rule.role,
        importers=imported,
        author=changes.author if changes else "",
        changes=changes.count if changes else 0,
        modified=changes.modified if changes else "",
        reviewed=reviewed if MOMENT.match(reviewed) else "",
    )


# ---- What to review first: what much depends on, and what changed much since its last review.

_FLOOR: Final = 0.1  # what a file counts that nothing imports
_SECOND: Final = 1_000_000_000  # nanoseconds


@dataclass(frozen=True, slots=True)
class DueFile(JsonResult):
    """A file that is to be reviewed.

    changes: commits since its last review, all of them where it had none, and one for what is not committed.
    score: (hub + 0.1) × changes. reviewed: when; None for never.
    """

    JSON: ClassVar = (
        "file=file.path role=file.role score changes hub_score=file.hub importers=file.importers "
        "last_review_timestamp=reviewed"
    )
    file: MappedFile
    changes: int
    score: float
    reviewed: str | None


def due(seen: WorkspaceSurvey, reviews: Mapping[str, str], dirty: Container[str]) -> tuple[DueFile, ...]:
    """The files of code that changed since their last review, those first that matter most.

    reviews: the moment of the last review of each file, ISO 8601 UTC by path. dirty: files that differ from
    the last commit.
    """
    maps = seen.maps(reviews)
    owned = seen.log.of(maps.files)
    found = []
    for path, one in maps.files.items():
        if one.role not in rules().code:
            continue
        known = owned.get(path)
        changes = _changes(
            known, known is None or path in dirty, seen.sources.files[path].stamp[1], one.reviewed
        )
        if changes:
            score = round((one.hub + _FLOOR) * changes, 3)
            found.append(DueFile(one, changes, score, one.reviewed or None))
    return tuple(sorted(found, key=lambda one: (-one.score, one.file.path)))


def _changes(known: FileChanges | None, dirty: bool, written: int, reviewed: str) -> int:
    """dirty: is there a change that is not committed? written: when the file was, nanoseconds since 1970."""
    if not reviewed:
        return max((known.count if known else 0) + dirty, 1)
    since = datetime.fromisoformat(reviewed).astimezone(UTC).timestamp()
    committed = sum(time > since for time in known.times) if known else 0
    return committed + int(dirty and written > since * _SECOND)
