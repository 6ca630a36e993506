"""The house in figures: rooms and their sizes, circles, class names that mean several things.

    python -m benchmarks.house [--json]

A room is a folder directly below a package (`executor/gate`), or a file there; each plug-in is one.
Imports inside functions count: a circle that is hidden in a function is a circle.
"""

from __future__ import annotations

import argparse
import ast
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("ir", "executor", "mcl")
_PLUGINS = "mcl.plugins"


@dataclass(slots=True)
class House:
    """All modules of the packages, read once: their lines, what they import, the classes they define."""

    lines: dict[str, int] = field(default_factory=dict)
    imports: dict[str, set[str]] = field(default_factory=dict)
    classes: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))  # of a name: its rooms


def room(module: str) -> str:
    """The room of a module."""
    parts = module.split(".")
    depth = 3 if module.startswith(f"{_PLUGINS}.") else 2
    return "/".join(parts[:depth]) if parts[0] != "ir" and len(parts) > 1 else parts[0]


def measured(root: Path = ROOT) -> House:
    """The house below a folder."""
    house, trees = House(), {}
    for path in sorted(path for package in PACKAGES for path in (root / package).rglob("*.py")):
        parts = path.relative_to(root).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text(encoding="utf-8")
        trees[name], house.lines[name] = ast.parse(text), text.count("\n")
    for name, tree in trees.items():
        house.imports[name] = {target for target in _targets(tree, trees) if target != name}
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                house.classes[node.name].add(room(name))
    return house


def _targets(tree: ast.Module, modules: Mapping[str, ast.Module]) -> Iterable[str]:
    for node in _executed(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield from [one for one in (inner if inner in modules else node.module,) if one in modules]
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)


def _executed(node: ast.AST) -> Iterable[ast.AST]:
    """What lies below a node, without what only a type checker reads."""
    for child in ast.iter_child_nodes(node):
        if (
            isinstance(child, ast.If)
            and isinstance(child.test, ast.Name)
            and child.test.id == "TYPE_CHECKING"
        ):
            continue
        yield child
        yield from _executed(child)


def circles(edges: Mapping[str, set[str]]) -> list[list[str]]:
    """The groups in which each reaches each other one (Tarjan), the largest first."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    open_: list[str] = []
    found: list[list[str]] = []

    def visit(start: str) -> None:
        work = [(start, iter(sorted(edges.get(start, ()))))]
        index[start] = low[start] = len(index)
        open_.append(start)
        while work:
            at, rest = work[-1]
            for target in rest:
                if target not in index:
                    index[target] = low[target] = len(index)
                    open_.append(target)
                    work.append((target, iter(sorted(edges.get(target, ())))))
                    break
                if target in open_:
                    low[at] = min(low[at], index[target])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[at])
                if low[at] == index[at]:
                    cut = open_.index(at)
                    found.append(sorted(open_[cut:]))
                    del open_[cut:]

    for start in sorted(edges):
        if start not in index:
            visit(start)
    return sorted((group for group in found if len(group) > 1), key=lambda group: (-len(group), group))


def figures(house: House) -> dict[str, Any]:
    """What is printed."""
    size, files, between = Counter[str](), Counter[str](), defaultdict[str, set[str]](set)
    for name, lines in house.lines.items():
        size[room(name)] += lines
        files[room(name)] += 1
        between[room(name)] |= {room(target) for target in house.imports[name]} - {room(name)}
    plugins = sum(lines for one, lines in size.items() if one.startswith("mcl/plugins"))
    return {
        "rooms": {one: {"lines": size[one], "files": files[one]} for one in sorted(size)},
        "circles": circles(between),
        "module_circles": circles(house.imports),
        "names": {name: sorted(rooms) for name, rooms in sorted(house.classes.items()) if len(rooms) > 1},
        "kernel": sum(size.values()) - plugins,
        "plugins": plugins,
        "files": len(house.lines),
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="everything, as JSON")
    parser.add_argument("--short", action="store_true", help="the last line alone")
    asked = parser.parse_args()
    found = figures(measured())
    if asked.json:
        print(json.dumps(found, indent=1))
        return
    names: dict[str, list[str]] = found["names"]
    if not asked.short:
        for one, of in found["rooms"].items():
            print(f"{one:28} {of['lines']:6} lines {of['files']:4} files")
        for kind in ("circles", "module_circles"):
            for ring in found[kind]:
                print(f"{kind.replace('_', ' ')[:-1]} of {len(ring)}: {' '.join(ring)}")
        print(
            "class names in several rooms:",
            ", ".join(f"{one}×{len(of)}" for one, of in names.items()) or "none",
        )
    print(
        f"kernel {found['kernel']} lines, plug-ins {found['plugins']}, {found['files']} files, "
        f"{len(found['circles'])} circles of rooms, {len(found['module_circles'])} of modules, "
        f"{len(names)} class names in several rooms"
    )


if __name__ == "__main__":
    main()
