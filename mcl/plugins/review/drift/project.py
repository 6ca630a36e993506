"""What the files of a project say: its names, its version in each place, its modules and entry points."""

from __future__ import annotations

import ast
import json
import re
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from configparser import ConfigParser, Error
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Final

from executor.core.globs import Glob, GlobError
from mcl.plugins.review.drift.rules import RepositoryFlaw, drift_rules
from mcl.plugins.review.drift.tree import RepositoryTree

# ---- Python of a stranger, parsed and never run.

_LONGEST: Final = 1 << 19  # characters: what is made to take long takes seconds then, not minutes


def parsed(text: str) -> ast.Module | None:
    """The syntax of a module; None where it is none, too long, or too deep."""
    if len(text) > _LONGEST:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it says of the stranger's escapes is nobody's news here
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


# ---- Versions as they are written in many ways, and which of them are the same.

# PEP 440 and SemVer, as far as both are used: 1.2.3, v1.2, 2.0rc1, 2.0.0-rc.1, 3.0.dev4, 1.0.post1, 1.0+local
VERSION: Final = (
    r"v?(?:\d{1,9}!)?\d{1,9}(?:\.\d{1,9}){0,5}"
    r"(?:[-_.]?(?:alpha|beta|preview|pre|rc|post|rev|dev|snapshot|final|a|b|c|r)[-_.]?\d{0,9}){0,3}"
    r"(?:\+[A-Za-z0-9.]{1,40})?"
)
_WHOLE = re.compile(VERSION, re.IGNORECASE)
_PART = re.compile(r"[a-z]+|\d+", re.IGNORECASE)
_SAME = {"alpha": "a", "beta": "b", "c": "rc", "pre": "rc", "preview": "rc", "rev": "post", "r": "post"}
_UNDER_WAY = {"dev", "snapshot"}


@dataclass(frozen=True, slots=True)
class ProjectVersion:
    """A version: its numbers without zeros at the end, what follows them, and how it is written."""

    numbers: tuple[int, ...]
    rest: tuple[str, ...]
    written: str

    def same(self, other: ProjectVersion) -> bool:
        """Are both the same version, however they are written?"""
        return (self.numbers, self.rest) == (other.numbers, other.rest)

    @property
    def under_way(self) -> bool:
        """Is it a version on the way to a release (``3.1.dev0``, ``1.0-SNAPSHOT``)?"""
        return bool(_UNDER_WAY & set(self.rest))


def version_of(text: str) -> ProjectVersion | None:
    """The version that a text is; None where it is none."""
    text = text.strip()
    if len(text) > 100 or not _WHOLE.fullmatch(text):
        return None
    plain = text.lower().removeprefix("v").partition("+")[0].rpartition("!")[2]
    found = re.match(r"[\d.]*", plain)
    head = found[0].strip(".") if found else ""
    numbers = [int(one) for one in head.split(".")]
    while len(numbers) > 1 and not numbers[-1]:
        numbers.pop()
    rest = [_SAME.get(part, part) for part in _PART.findall(plain[len(head) :])]
    rest = [str(int(part)) if part.isdigit() else part for part in rest if part != "final"]
    return ProjectVersion(tuple(numbers), tuple(rest), text)


_VERSION_FILES: Final = ("version", "version.txt", "version.md")
_MODULES: Final = ("__init__.py", "_version.py", "version.py", "__about__.py", "__version__.py", "about.py")
_NAMES: Final = ("__version__", "VERSION", "version")
_READMES: Final = ("readme.md", "readme.rst", "readme.txt", "readme", "readme.markdown")
_BADGE = re.compile(
    rf"img\.shields\.io/badge/(?:version|release|pypi|npm|crates\.io)-(?P<version>{VERSION})-[A-Za-z0-9]",
    re.IGNORECASE,
)
_NEEDED = re.compile(r"(?:>=?|~=|\^|==)\s*3\.(\d{1,3})")
_MAX_LINES: Final = 5000


@dataclass(frozen=True, slots=True)
class DeclaredVersion:
    """A version that a file names. kind: project (it decides), badge or pin (pages that repeat it)."""

    path: str
    line: int
    what: str
    version: ProjectVersion
    kind: str = "project"

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.path}:{self.line}" if self.line else self.path


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """A file of a project that cannot be read."""

    path: str
    why: str


class ProjectFiles:
    """What the files of a project say: its names, its version in each place, the files that are broken."""

    def __init__(self, tree: RepositoryTree) -> None:
        self._tree = tree
        self.broken: list[BrokenFile] = []
        self.pyproject = self._toml("pyproject.toml")
        self.cargo = self._toml("Cargo.toml")
        self.package = self._json("package.json")
        self.setup = self._ini("setup.cfg")
        self.names = self._project_names()
        self.declared = tuple(self._declared())

    @property
    def python(self) -> str:
        """The name of the Python project, as it is written; "" where there is none."""
        said = (
            _at(self.pyproject, "project", "name"),
            _at(self.pyproject, "tool", "poetry", "name"),
            _at(self.setup, "metadata", "name"),
        )
        return next((name for name in said if isinstance(name, str) and name), "")

    @property
    def python_needed(self) -> int:
        """The oldest Python 3 that the project runs on, by its minor number; 0 where none is told."""
        said = (
            _at(self.pyproject, "project", "requires-python"),
            _at(self.pyproject, "tool", "poetry", "dependencies", "python"),
            _at(self.setup, "options", "python_requires"),
        )
        text = next((one for one in said if isinstance(one, str)), "")
        found = _NEEDED.search(text[:200])
        return int(found[1]) if found else 0

    def packages(self) -> tuple[str, ...]:
        """The folders of the project's own Python packages: at the top or below src, with __init__.py."""
        found = [
            path.rpartition("/")[0]
            for path in self._tree.files
            if path.endswith("/__init__.py") and path.removeprefix("src/").count("/") == 1
        ]
        return tuple(one for one in found if one.rpartition("/")[2] not in ("tests", "test", "docs"))

    def _project_names(self) -> frozenset[str]:
        return frozenset(filter(None, (_folded(self.python),)))

    def _declared(self) -> Iterator[DeclaredVersion]:
        yield from self._from_tables()
        yield from self._from_files()
        yield from self._from_modules()
        yield from self._from_readme()

    def _from_tables(self) -> Iterator[DeclaredVersion]:
        places: tuple[tuple[str, Mapping[str, Any], tuple[str, ...]], ...] = (
            ("pyproject.toml", self.pyproject, ("project", "version")),
            ("pyproject.toml", self.pyproject, ("tool", "poetry", "version")),
            ("Cargo.toml", self.cargo, ("package", "version")),
            ("Cargo.toml", self.cargo, ("workspace", "package", "version")),
            ("package.json", self.package, ("version",)),
            ("setup.cfg", self.setup, ("metadata", "version")),
        )
        for path, table, keys in places:
            said = _at(table, *keys)
            # 0.0.0 stands for a version that the build fills in.
            if isinstance(said, str) and (found := version_of(said)) and any(found.numbers):
                yield DeclaredVersion(path, self._line(path, said), ".".join(keys), found)
        lock = self._json("package-lock.json", keep=False)
        if self.package and isinstance(said := lock.get("version"), str) and (found := version_of(said)):
            yield DeclaredVersion(
                "package-lock.json", self._line("package-lock.json", said), "version", found
            )

    def _from_files(self) -> Iterator[DeclaredVersion]:
        for name in _VERSION_FILES:
            path = self._tree.folded.get(name, "")
            text = self._tree.text(path) if path else None
            if text and len(text) < 100 and (found := version_of(text)):
                yield DeclaredVersion(path, 1, "the file", found)
        head = (self._tree.text("PKG-INFO") or "").partition("\n\n")[0]  # of a source archive
        for number, line in enumerate(head.splitlines()[:_MAX_LINES], 1):
            if line.startswith("Version:") and (found := version_of(line.removeprefix("Version:"))):
                yield DeclaredVersion("PKG-INFO", number, "Version", found)

    def _from_modules(self) -> Iterator[DeclaredVersion]:
        places = [
            f"{folder}/{name}"
            for folder in self.packages()
            if not self.names or _folded(folder.rpartition("/")[2]) in self.names
            for name in _MODULES
        ]
        module = f"{_folded(self.python)}.py"
        places += [module, f"src/{module}", "setup.py"]
        for path in places:
            if path in self._tree.known and (text := self._tree.text(path)) and "ersion" in text.lower():
                yield from _assigned(path, text)

    def _from_readme(self) -> Iterator[DeclaredVersion]:
        path = next((self._tree.folded[name] for name in _READMES if name in self._tree.folded), "")
        text = self._tree.text(path) if path else None
        name = re.escape(self.python)
        pin = re.compile(
            rf"\bpip3? install (?:-U |--upgrade )?[\"']?{name}==(?P<version>{VERSION})(?=[\"'\s`]|$)"
        )
        for number, line in enumerate((text or "").splitlines()[:_MAX_LINES], 1):
            line = line[:2000]
            for found in _BADGE.finditer(line):
                if version := version_of(found["version"]):
                    yield DeclaredVersion(path, number, "a badge", version, "badge")
            pinned = pin.search(line) if name else None
            if pinned and (version := version_of(pinned["version"])):
                yield DeclaredVersion(path, number, "an install line", version, "pin")

    def _line(self, path: str, said: str) -> int:
        """The first line that says the version beside its name, counted from 1; 0 where none does."""
        for number, line in enumerate((self._tree.text(path) or "").splitlines()[:_MAX_LINES], 1):
            if said in line and "version" in line.casefold():
                return number
        return 0

    def _toml(self, path: str) -> Mapping[str, Any]:
        return self._read(path, tomllib.loads)

    def _json(self, path: str, *, keep: bool = True) -> Mapping[str, Any]:
        return self._read(path, json.loads, keep=keep)

    def _ini(self, path: str) -> Mapping[str, Any]:
        def parse(text: str) -> dict[str, dict[str, str]]:
            parser = ConfigParser(interpolation=None, strict=False)
            parser.read_string(text)
            return {name: dict(parser.items(name)) for name in parser.sections()}

        return self._read(path, parse)

    def _read(self, path: str, parse: Any, *, keep: bool = True) -> Mapping[str, Any]:
        text = self._tree.text(path) if path in self._tree.known else None
        if text is None:
            return {}
        try:
            found = parse(text)
        except (ValueError, RecursionError, Error) as problem:
            if keep:
                said = "it is too deep" if isinstance(problem, RecursionError) else str(problem)
                self.broken.append(BrokenFile(path, " ".join(said.split())[:200]))
            return {}
        return found if isinstance(found, dict) else {}


def _assigned(path: str, text: str) -> Iterator[DeclaredVersion]:
    """Versions that a module writes down: ``__version__ = "1.2"`` at its top, ``setup(version="1.2")``."""
    module = parsed(text)
    for node in module.body if module else ():
        if path == "setup.py":
            call = node.value if isinstance(node, ast.Expr) else None
            if isinstance(call, ast.Call):
                yield from (
                    found
                    for word in call.keywords
                    if word.arg == "version"
                    if (found := _constant(path, "setup(version)", word.value))
                )
            continue
        value = node.value if isinstance(node, (ast.Assign, ast.AnnAssign)) else None
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for name in _NAMES if value is not None else ():
            if any(isinstance(one, ast.Name) and one.id == name for one in targets):
                # Only the dunder is the version of the package everywhere; other names may be of anything.
                known = name == "__version__" or not path.endswith("/__init__.py")
                if known and (found := _constant(path, name, value)):
                    yield found
                    break


def _constant(path: str, what: str, value: ast.expr | None) -> DeclaredVersion | None:
    if not isinstance(value, ast.Constant) or not isinstance(value.value, str):
        return None
    version = version_of(value.value)
    return DeclaredVersion(path, value.lineno, what, version) if version and any(version.numbers) else None


def _at(table: Any, *keys: str) -> Any:
    for key in keys:
        table = table.get(key) if isinstance(table, Mapping) else None
    return table


def _folded(name: str) -> str:
    return re.sub(r"[-_.]+", "_", name).casefold()


# ---- The Python modules of a repository, and what is named as one of them and is not there.

_SOURCES: Final = ("", "src/", "lib/")
_GROUPS: Final = ("scripts", "gui-scripts")


class Modules:
    """The project's own packages and modules. names: what they and the project are called."""

    def __init__(self, tree: RepositoryTree, project: ProjectFiles) -> None:
        self._tree = tree
        # A folder of the packages counts as ours only with __init__.py: others may only be called the same.
        self._packages = {path.rpartition("/")[2]: path.rpartition("/")[0] for path in project.packages()}
        self._stems = {str(PurePosixPath(path).with_suffix("")) for path in tree.files}
        self.names = frozenset({*self._packages, project.python, tree.workspace.root.name})

    def find(self, module: str) -> str:
        """The file of a module of ours, "" where there is none; a package's is its __init__.py."""
        for base in _SOURCES:
            path = base + module.replace(".", "/")
            for file in (f"{path}.py", f"{path}/__init__.py"):
                if file in self._tree.known:
                    return file
        return ""

    def owns(self, module: str) -> bool:
        """Would a module of this name be one of ours?"""
        return module.partition(".")[0] in self._packages

    def gone(self, module: str) -> bool:
        """Is it named as a module of ours, and not there? What is made later is not known."""
        if not self.owns(module) or self.find(module):
            return False
        for base in _SOURCES:
            path = base + module.replace(".", "/")
            if path in self._stems or path in self._tree.known:  # another language, or a folder alone
                return False
        above = self.find(module.rpartition(".")[0])
        text = self._tree.text(above) if above else ""
        # A package may make modules as it likes; then nothing is known.
        return text is not None and "__getattr__" not in text and "sys.modules" not in text


def entry_flaws(tree: RepositoryTree, project: ProjectFiles, modules: Modules) -> Iterator[RepositoryFlaw]:
    """Entry points and files that pyproject.toml names and that are not there."""
    table: Any = project.pyproject.get("project")
    if not isinstance(table, dict):
        return
    rules, place = drift_rules(), "pyproject.toml"
    for group in _GROUPS:
        scripts = table.get(group)
        for name, target in scripts.items() if isinstance(scripts, dict) else ():
            if isinstance(target, str) and (why := _broken(tree, modules, target)):
                yield rules.flaw("ENTRY_POINT_GONE", place, f"{group}.{name} is {target}: {why}")
    for name, file in _named_files(table):
        if not _has_named(tree, file):
            yield rules.flaw("NAMED_FILE_GONE", place, f"project.{name} names {file}, which is not there")


def _has_named(tree: RepositoryTree, file: str) -> bool:
    """Whether a file is there that a pattern fits, or that is called so."""
    try:
        return any(map(Glob.read(file).matches, tree.files)) or tree.has(file)
    except GlobError:
        return tree.has(file)


def _named_files(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name in ("readme", "license"):
        said = table.get(name)
        file = said.get("file") if isinstance(said, dict) else said if name == "readme" else None
        if isinstance(file, str) and file:
            yield name, file
    some = table.get("license-files")
    yield from (
        ("license-files", one) for one in (some if isinstance(some, list) else ()) if isinstance(one, str)
    )


def _broken(tree: RepositoryTree, modules: Modules, target: str) -> str:
    """Why an entry point leads nowhere; "" where it does, or where that is not known."""
    module, _, name = target.partition("[")[0].replace(" ", "").partition(":")
    if not modules.owns(module):
        return ""
    if modules.gone(module):
        return f"there is no module {module}"
    text = tree.text(modules.find(module)) if modules.find(module) else None
    first = name.partition(".")[0]
    if text is None or not first:
        return ""
    syntax = parsed(text)
    known = _top_names(syntax) if syntax else None
    return "" if known is None or first in known else f"{module} has no {first}"


def _top_names(module: ast.Module) -> set[str] | None:
    """The names that a module has at its top; None where more may be made when it runs."""
    found: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return None if found & {"*", "__getattr__"} else found
