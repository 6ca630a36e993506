"""The Python modules of a repository, and what is named as one of them and is not there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, Final

from mcl.plugins.review.drift.declared import ProjectFiles, parsed
from mcl.plugins.review.drift.rules import RepositoryFlaw, drift_rules
from mcl.plugins.review.drift.tree import RepositoryTree

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
    for name, file in _files(table):
        if not any(fnmatchcase(path, file) for path in tree.files) and not tree.has(file):
            yield rules.flaw("NAMED_FILE_GONE", place, f"project.{name} names {file}, which is not there")


def _files(table: dict[str, Any]) -> Iterator[tuple[str, str]]:
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
