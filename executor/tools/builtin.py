"""The tools that come with the package."""

from __future__ import annotations

from pathlib import Path

from executor.tools.fs import list as fs_list
from executor.tools.fs import read as fs_read
from executor.tools.fs import search as fs_search
from executor.tools.fs import write as fs_write
from executor.tools.git import branch as git_branch
from executor.tools.git import log as git_log
from executor.tools.git import status as git_status
from executor.tools.manifest import load_manifest
from executor.tools.time import now as time_now
from executor.tools.tool import Tool

_MODULES = (fs_list, fs_read, fs_search, fs_write, git_branch, git_log, git_status, time_now)


def builtin_tools() -> tuple[Tool, ...]:
    """fs (list read search write), git (branch log status), time (now); manifests lie beside modules."""
    return tuple(
        Tool(load_manifest(Path(str(module.__file__)).with_suffix(".toml")), module.run)
        for module in _MODULES
    )
