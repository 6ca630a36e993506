"""All drift of a repository, part by part."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from executor.core.errors import ScopeError
from mcl.core.errors import ReviewError
from mcl.plugins.review.drift.pages import document_flaws
from mcl.plugins.review.drift.project import (
    VERSION,
    DeclaredVersion,
    Modules,
    ProjectFiles,
    ProjectVersion,
    entry_flaws,
    version_of,
)
from mcl.plugins.review.drift.rules import RepositoryFlaw, bounded, drift_rules
from mcl.plugins.review.drift.tools import ToolDocuments
from mcl.plugins.review.drift.tree import Progress, RepositoryTree, quiet

if TYPE_CHECKING:
    from mcl.catalog.contracts import Contract
    from mcl.plugins.review.memory.history import ReviewMemories


# ---- What is remembered of a folder, or made of it, and is not so any more: decisions and maps.

_CODES: Final = {
    "new": "DECISION_UNKNOWN",
    "changed": "DECISION_DIFFERS",
    "missing": "DECISION_GONE",
    "forgotten": "DECISION_FORGOTTEN",
    "unreadable": "DECISION_BROKEN",
}
_NAMED: Final = 3  # files that are named
_STANDING: Final = ("proposed", "accepted")


def decision_flaws(tree: RepositoryTree, memories: ReviewMemories) -> Iterator[RepositoryFlaw]:
    """Decisions whose file and memory differ, or which are about files that are gone."""
    from executor.core.globs import Glob

    rules = drift_rules()
    messages = {
        "new": "{id} is in a file and not remembered",
        "changed": "file and memory differ: {why}",
        "missing": "{id} is remembered, and its file is gone",
        "forgotten": "{id} was forgotten, and its file is there",
        "unreadable": "{why}",
    }
    for one in memories.decisions.compare(tree.workspace):
        yield rules.flaw(_CODES[one.what], one.path, messages[one.what].format(id=one.id, why=one.why))
    for decision in memories.decisions.all():
        if decision.status not in _STANDING:
            continue
        for pattern in decision.files:
            glob = Glob.read(pattern)
            if not any(glob.matches(path) for path in tree.files):
                said = f"{decision.id} is about {pattern}, and no file is called that"
                yield rules.flaw("DECISION_FILES", decision.path, said)


def map_flaws(tree: RepositoryTree, cache: Path) -> Iterator[RepositoryFlaw]:
    """Maps that are not of the files as they are. cache: as for ``mcl.plugins.review.maps.survey.survey``."""
    from mcl.plugins.review.maps.documents import load
    from mcl.plugins.review.maps.files import stale
    from mcl.plugins.review.maps.maps import FOLDER

    rules = drift_rules()
    try:
        maps = load(tree.workspace)
    except (ReviewError, ScopeError) as problem:
        yield rules.flaw("MAPS_BROKEN", problem.place, problem.message, fix=problem.fix)
        return
    if maps is None:
        return
    old = stale(tree.workspace, maps, cache=cache)
    if old:
        counted = Counter(one.why for one in old if one.path)
        names = [one.path for one in old if one.path]
        said = [one.why for one in old if not one.path]
        if names:
            first = f"{', '.join(names[:_NAMED])}{', …' if len(names) > _NAMED else ''}"
            said.append(f"files: {', '.join(f'{n:,} {why}' for why, n in counted.items())} ({first})")
        yield rules.flaw("MAPS_STALE", FOLDER, "; ".join(said))


# ---- The newest entry of a changelog, whatever form it has.

_NAMES: Final = ("changelog", "changes", "history", "news", "release_notes", "releases")
_ENDINGS: Final = ("", ".md", ".rst", ".txt", ".markdown")
_LINES: Final = 2000  # of a changelog that are looked at: the newest entry stands near the top
_WIDE: Final = 300  # characters of a line
_UNDERLINE = re.compile(r"([=\-~^*+#\"'`.:_])\1{2,}\s*$")
_HEADING = re.compile(r"#{1,4}\s+(?P<said>.+)$")
# A version that stands for itself in a heading: not a part of a date, a name or an address.
_FOUND = re.compile(rf"(?:^|(?<=[\s\[(`*]))(?P<version>{VERSION})(?=$|[\s\])`,:;*])", re.IGNORECASE)
_DATE = re.compile(r"\d{4}[-/]\d{1,2}[-/]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{4}")
_UNRELEASED = re.compile(
    r"\b(?:unreleased|upcoming|development version)\b|^next(?: release)?$", re.IGNORECASE
)
_FEW: Final = 2  # characters of a list item that says something


@dataclass(frozen=True, slots=True)
class ChangelogEntry:
    """The newest entry that names a version, at a line counted from 1.

    version: None where no entry names one, and all is unreleased. pending: the line of a heading above it
    that says "unreleased" and has something below it; 0 where none. open: does the entry's own heading say
    that it is not released yet?
    """

    path: str
    line: int
    version: ProjectVersion | None
    pending: int = 0
    open: bool = False


def newest_entry(tree: RepositoryTree) -> ChangelogEntry | None:
    """The newest entry of the repository's changelog; None where there is none."""
    for path in _places(tree):
        text = tree.text(path)
        if text is not None and (found := entry_in(path, text)):
            return found
    return None


def _places(tree: RepositoryTree) -> list[str]:
    names = [f"{name}{ending}" for name in _NAMES for ending in _ENDINGS]
    found = [tree.folded[name] for name in names if name in tree.folded]
    folded = {path.casefold(): path for path in tree.files if path.count("/") == 1}
    return found + [folded[f"docs/{name}"] for name in names if f"docs/{name}" in folded]


def entry_in(path: str, text: str) -> ChangelogEntry | None:
    """The newest entry of one changelog; None where it has none."""
    lines = [line[:_WIDE].rstrip() for line in text.splitlines()[:_LINES]]
    pending = 0
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        heading = _heading(line, below)
        if not heading:
            continue
        version = _version_in(heading)
        unreleased = bool(_UNRELEASED.search(heading))
        if version is not None:
            return ChangelogEntry(path, number + 1, version, pending, unreleased)
        if unreleased and not pending and _says_something(lines[number + 1 :]):
            pending = number + 1
    return ChangelogEntry(path, pending, None, pending, True) if pending else None


def _heading(line: str, below: str) -> str:
    """What a line says as a heading; "" where it is none."""
    if found := _HEADING.match(line):
        return found["said"].strip()
    if line[:1].strip() and _UNDERLINE.fullmatch(below) and len(below.strip()) >= min(3, len(line)):
        return line.strip()
    # Plain texts: a version alone at the beginning of a line, with a date or nothing behind it.
    if line[:1].strip() and (found := _FOUND.match(line)) and "." in found["version"]:
        after = _DATE.sub("", line[found.end() :]).strip(" ()[]:-–—,*")
        return line.strip() if not after or after.casefold() in ("unreleased", "released") else ""
    return ""


def _version_in(heading: str) -> ProjectVersion | None:
    plain = _DATE.sub(" ", heading)
    for found in _FOUND.finditer(plain):
        if "." in found["version"] or found["version"][:1] in "vV":
            return version_of(found["version"])
    return None


def _says_something(lines: list[str]) -> bool:
    """Is there an item or a sentence before the next version?"""
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        heading = _heading(line, below)
        if heading and _version_in(heading):
            return False
        if not heading and len(line.strip("-*+ ")) > _FEW and not _UNDERLINE.fullmatch(line):
            return True
    return False


# ---- Version drift: the places that say a project's version do not say the same.

_ORDER = ("pyproject.toml", "Cargo.toml", "package.json", "setup.cfg")


def project_version(project: ProjectFiles) -> DeclaredVersion | None:
    """The place that decides: the file that installers read, else the one that most others agree with."""
    own = [one for one in project.declared if one.kind == "project"]
    for path in _ORDER:
        if found := next((one for one in own if one.path == path), None):
            return found
    counted = Counter(_key(one) for one in own).most_common(1)
    return next((one for one in own if _key(one) == counted[0][0]), None) if counted else None


def _key(one: DeclaredVersion) -> tuple[tuple[int, ...], tuple[str, ...]]:
    return one.version.numbers, one.version.rest


def version_flaws(tree: RepositoryTree, project: ProjectFiles) -> Iterator[RepositoryFlaw]:
    """What does not say the project's version, or cannot be read."""
    rules = drift_rules()
    for broken in project.broken:
        yield rules.flaw("FILE_BROKEN", broken.path, f"{broken.path} cannot be read: {broken.why}")
    first = project_version(project)
    if first is None:
        return
    codes = {"project": "VERSION_DIFFERS", "badge": "README_BADGE", "pin": "README_PIN"}
    for one in project.declared:
        if not one.version.same(first.version):
            said = f"{one.what} says {one.version.written}, {first.place} says {first.version.written}"
            yield rules.flaw(codes[one.kind], one.place, said)
    entry = newest_entry(tree)
    # On the way to a release the changelog may be of the one before or of the one to come.
    if entry is None or first.version.under_way:
        return
    if entry.version is None:
        said = f"no entry names a version; {first.place} says {first.version.written}"
        yield rules.flaw("CHANGELOG_UNRELEASED", f"{entry.path}:{entry.line}", said)
    elif not entry.version.same(first.version):
        said = f"the newest entry is {entry.version.written}, {first.place} says {first.version.written}"
        yield rules.flaw("CHANGELOG_BEHIND", f"{entry.path}:{entry.line}", said)
    elif entry.pending:
        said = "entries are unreleased above the newest version"
        yield rules.flaw("CHANGELOG_UNRELEASED", f"{entry.path}:{entry.pending}", said)
    elif entry.open:
        said = f"the entry of {entry.version.written} says that it is not released"
        yield rules.flaw("CHANGELOG_UNRELEASED", f"{entry.path}:{entry.line}", said)


PARTS: Final = ("versions", "tools", "maps", "decisions", "documents")


@dataclass(frozen=True)
class DriftReport:
    """What drifted. flaws: in the order of the parts; version: of the project, "" where none is told."""

    workspace: Path
    flaws: tuple[RepositoryFlaw, ...]
    version: str = ""
    files: int = 0
    cut: bool = False

    def of(self, part: str) -> tuple[RepositoryFlaw, ...]:
        rules = drift_rules()
        return tuple(one for one in self.flaws if rules[one.code].about == part)

    def to_json(self) -> dict[str, object]:
        """The report as a JSON object."""
        return {
            "workspace": str(self.workspace),
            "version": self.version,
            "files": self.files,
            "truncated": self.cut,
            "drift": [{"part": drift_rules()[one.code].about, **asdict(one)} for one in self.flaws],
        }


def find_drift(
    tree: RepositoryTree,
    *,
    contracts: Mapping[str, Contract],
    memories: ReviewMemories,
    cache: Path,
    progress: Progress = quiet,
) -> DriftReport:
    """Look for all drift of a repository; nothing is written.

    Args:
        contracts: what the tools of this build promise, by name. cache: folder that maps are built with.

    Raises:
        MemoryStoreError, HomeError: the memories cannot be read.
    """
    project = ProjectFiles(tree)
    modules = Modules(tree, project)
    parts: Mapping[str, Callable[[], Iterable[RepositoryFlaw]]] = {
        "versions": lambda: version_flaws(tree, project),
        "tools": lambda: ToolDocuments(tree).flaws(contracts),
        "maps": lambda: map_flaws(tree, cache),
        "decisions": lambda: decision_flaws(tree, memories),
        "documents": lambda: (*entry_flaws(tree, project, modules), *document_flaws(tree, modules)),
    }
    found: list[RepositoryFlaw] = []
    for number, part in enumerate(PARTS):
        progress(number, len(PARTS), part)
        found += parts[part]()
    decides = project_version(project)
    version = decides.version.written if decides else ""
    return DriftReport(tree.workspace.root, bounded(found, drift_rules()), version, len(tree.files), tree.cut)
