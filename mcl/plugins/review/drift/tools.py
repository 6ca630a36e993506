"""Documents of tools held to the tools: those of this build, or those that the code in the folder has."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import Final

from executor.core.errors import ManifestError
from mcl.catalog.contracts import (
    JSON_FILE,
    SAFETY_FILE,
    Contract,
    Documented,
    document_drift,
    read_contracts,
    read_safety,
)
from mcl.plugins.review.drift.pages import pages
from mcl.plugins.review.drift.project import parsed
from mcl.plugins.review.drift.rules import RepositoryFlaw, drift_rules
from mcl.plugins.review.drift.tree import RepositoryTree

_FOLDERS: Final = ("docs/", "")
_TESTS: Final = re.compile(r"(?:^|/)(?:tests?|testing|examples?)(?:/|$)|(?:^|/)test_[^/]*$")
_NAME: Final = re.compile(r"[A-Za-z0-9_./:@-]+")


class ToolDocuments:
    """The documents of tools that a folder has. folder: where the first of them lies, with a slash."""

    def __init__(self, tree: RepositoryTree) -> None:
        self._tree = tree
        has = [one for one in _FOLDERS if {f"{one}{JSON_FILE}", f"{one}{SAFETY_FILE}"} & tree.known]
        self.there = bool(has)
        self.folder = has[0] if has else ""
        self.contracts = tree.text(self.folder + JSON_FILE) if has else None
        self.safety = tree.text(self.folder + SAFETY_FILE) if has else None

    def flaws(self, contracts: Mapping[str, Contract]) -> Iterator[RepositoryFlaw]:
        """What the documents say otherwise than it is. contracts: of the tools of this build."""
        if not self.there:
            return
        rules = drift_rules()
        for one in document_drift(contracts, self.contracts, self.safety, self.folder.rstrip("/") or "."):
            yield rules.flaw(one.code, self.folder + one.place, one.message)
        told = self._told()
        # A list of tools is one; a table of the other document may have more in it.
        first = told.get(JSON_FILE) or told.get(SAFETY_FILE)
        if first is None:
            return
        yield from self._unlisted(first)
        if not any(one.ours for one in told.values()):
            yield from self._against_code(told, first)

    def _told(self) -> dict[str, Documented]:
        """What each document tells; of one that cannot be read, nothing."""
        found: dict[str, Documented] = {}
        for name, text, read in (
            (JSON_FILE, self.contracts, read_contracts),
            (SAFETY_FILE, self.safety, read_safety),
        ):
            if text is not None:
                try:
                    found[name] = read(text, name)
                except ManifestError:
                    continue
        return found

    def _unlisted(self, told: Documented) -> Iterator[RepositoryFlaw]:
        """Tools that neither README nor any other page names."""
        own = {self.folder + JSON_FILE, self.folder + SAFETY_FILE}
        said = {
            word
            for page in pages(self._tree)
            if page not in own
            for word in _NAME.findall(self._tree.text(page) or "")
        }
        said |= {word.partition("@")[0].strip("./:") for word in said}
        for name in sorted(told.tools):
            if not {name, name.partition("@")[0]} & said:
                place = self.folder.rstrip("/") or "."
                yield drift_rules().flaw("TOOL_UNLISTED", place, f"no page names the tool {name}")

    def _against_code(self, told: Mapping[str, Documented], first: Documented) -> Iterator[RepositoryFlaw]:
        """Tools that the folder's own Python declares (``@mcp.tool()``), against the documents."""
        rules, there = drift_rules(), dict(_declared(self._tree))
        for document, one in told.items() if there else ():
            for name in sorted(there.keys() - one.tools.keys()):
                message = f"{name} is not in {self.folder}{document}"
                yield rules.flaw("TOOL_UNDOCUMENTED", there[name], message)
        for name in sorted(first.tools.keys() - there.keys()) if there else ():
            place = self.folder + next(document for document, one in told.items() if one is first)
            yield rules.flaw("TOOL_GONE", place, f"it tells of {name}, which no code declares")


def _declared(tree: RepositoryTree) -> Iterator[tuple[str, str]]:
    """Name and place of each tool that a server for the Model Context Protocol offers, by its decorator."""
    for path in tree.files:
        text = tree.text(path) if path.endswith(".py") and not _TESTS.search(path) else None
        if text is None or ".tool" not in text:
            continue
        module = parsed(text)
        for node in ast.walk(module) if module else ():
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                for decorator in node.decorator_list:
                    if name := _tool_name(decorator, node.name):
                        yield name, f"{path}:{node.lineno}"


def _tool_name(decorator: ast.expr, function: str) -> str:
    """The name of the tool that a decorator makes of a function; "" where it makes none."""
    call = decorator if isinstance(decorator, ast.Call) else None
    called = call.func if call else decorator
    if (
        not isinstance(called, ast.Attribute)
        or called.attr != "tool"
        or not isinstance(called.value, ast.Name)
    ):
        return ""
    given = [*call.args[:1], *(one.value for one in call.keywords if one.arg == "name")] if call else []
    named = [one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return named[0] if named else function
