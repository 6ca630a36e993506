"""The tools that come with the package: for each a manifest, and a module beside it that does the work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

from executor.tools.manifest import own_manifest
from executor.tools.tool import Adapter, Bench, Tool

_NAMES: Final = (
    "agent/dispatch",
    "code/grep",
    "code/search",
    "fs/append",
    "fs/changes",
    "fs/delete",
    "fs/edit",
    "fs/list",
    "fs/read",
    "fs/search",
    "fs/watch",
    "fs/write",
    "git/branch",
    "git/checkout",
    "git/diff",
    "git/log",
    "git/show",
    "git/status",
    "http/get",
    "http/request",
    "process/editor",
    "process/lint",
    "process/mqlaunch",
    "process/tests",
    "repo/inspect",
    "repo/tree",
    "task/assign",
    "time/now",
)


def builtin_tools(before: Callable[[str], None] | None = None) -> tuple[Tool, ...]:
    """All of them, in the order of their addresses. before: is told the name of each that is called, before
    it does anything; what it raises keeps it from that."""
    here = Path(__file__).parent
    return tuple(Tool(own_manifest(here / f"{name}.toml"), _adapter(name, before)) for name in _NAMES)


def _adapter(name: str, before: Callable[[str], None] | None) -> Adapter:
    """A tool's work, whose module is loaded with the first call: a plan uses few of them."""

    async def run(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
        if before is not None:
            before(name)
        work: Adapter = import_module(f"executor.tools.{name.replace('/', '.')}").run
        return await work(args, bench)

    return run
