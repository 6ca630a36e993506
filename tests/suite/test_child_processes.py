"""One module starts processes for the whole house: no other may, by whatever door Python has for it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from benchmarks.house import ROOT

MECHANISM = "executor/sandbox/child.py"
DOORS = {
    "subprocess": None,  # whatever of it
    "_posixsubprocess": None,
    "multiprocessing": None,
    "pty": None,
    "anyio": {"open_process", "run_process"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "concurrent.futures": {"ProcessPoolExecutor"},
    "os": {"fork", "forkpty", "system", "popen", "posix_spawn", "posix_spawnp"},
}
ALLOWED = {
    MECHANISM: {"subprocess"},
    # A program of its own, with nothing but the standard library: it forks once to become the parent of the
    # command that it was told to run, and execs that in the child.
    "executor/sandbox/launcher.py": {"os.fork"},
    # A host that has loaded everything forks for each example of a tool, so that a thousand examples do not
    # load it a thousand times; nothing is executed there but the tool.
    "mcl/plugins/probing/host.py": {"os.fork"},
    # Watches from the inside what an example starts: it notes the call that everybody's ends in.
    "mcl/plugins/probing/calls.py": {"_posixsubprocess"},
}


def _doors(tree: ast.AST) -> Iterator[str]:
    """What a module imports, or names of a module, that could start a process."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names if one.name in DOORS and DOORS[one.name] is None)
        elif isinstance(node, ast.ImportFrom) and node.module in DOORS:
            named = DOORS[node.module]
            for one in node.names:
                if named is None:
                    yield node.module
                elif one.name in named:
                    yield f"{node.module}.{one.name}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            named = DOORS.get(node.value.id)
            if named is not None and (node.attr in named or node.attr.startswith("spawn")):
                yield f"{node.value.id}.{node.attr}"
            elif node.value.id == "os" and node.attr.startswith("exec"):
                yield "os.exec"


def _found(files: Iterator[Path]) -> dict[str, set[str]]:
    found = {str(one.relative_to(ROOT)): set(_doors(ast.parse(one.read_text()))) for one in files}
    return {name: doors for name, doors in found.items() if doors}


def test_only_one_module_starts_processes() -> None:
    files = (one for room in ("ir", "executor", "mcl") for one in (ROOT / room).rglob("*.py"))
    found = _found(files)
    found["executor/sandbox/launcher.py"].remove("os.exec")  # the other half of its fork
    assert found == ALLOWED


def test_a_door_is_found_however_it_is_written() -> None:
    source = "import subprocess\nfrom os import fork\nimport anyio\nanyio.open_process\nfrom os import path\n"
    assert set(_doors(ast.parse(source))) == {"subprocess", "os.fork", "anyio.open_process"}
