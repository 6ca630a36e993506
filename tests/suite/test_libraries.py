"""Patterns of paths and YAML have one module each: no other reaches for the library below it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from benchmarks.house import ROOT

ALLOWED = {
    "fnmatch": {
        # What a shell of a host reads, by a shell's rules: there `[` that is not closed is a name.
        "mcl/plugins/agents/guard/places.py",
    },
    "yaml": {"mcl/core/yaml.py"},
}


def _imported(tree: ast.AST) -> Iterator[str]:
    """The first part of the name of each module that is imported, wherever in the file."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name.partition(".")[0] for one in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_only_their_modules_use_these_libraries() -> None:
    found: dict[str, set[str]] = {name: set() for name in ALLOWED}
    for room in ("ir", "executor", "mcl", "grammars", "skills"):
        for file in (ROOT / room).rglob("*.py"):
            for name in found.keys() & set(_imported(ast.parse(file.read_text()))):
                found[name].add(str(file.relative_to(ROOT)))
    assert found == ALLOWED


def test_an_import_is_found_however_it_is_written() -> None:
    source = "def f():\n    from yaml import events\nimport fnmatch as f\n"
    assert set(_imported(ast.parse(source))) == {"yaml", "fnmatch"}
