"""The tools that come with the package."""

from __future__ import annotations

from pathlib import Path

from executor.tools.calendar import add as calendar_add
from executor.tools.calendar import list as calendar_list
from executor.tools.code import search as code_search
from executor.tools.data import chart as data_chart
from executor.tools.data import summary as data_summary
from executor.tools.fs import append as fs_append
from executor.tools.fs import changes as fs_changes
from executor.tools.fs import list as fs_list
from executor.tools.fs import read as fs_read
from executor.tools.fs import search as fs_search
from executor.tools.fs import watch as fs_watch
from executor.tools.fs import write as fs_write
from executor.tools.git import branch as git_branch
from executor.tools.git import diff as git_diff
from executor.tools.git import log as git_log
from executor.tools.git import status as git_status
from executor.tools.http import get as http_get
from executor.tools.manifest import load_manifest
from executor.tools.process import tests as process_tests
from executor.tools.task import assign as task_assign
from executor.tools.time import now as time_now
from executor.tools.tool import Tool

_MODULES = (
    calendar_add,
    calendar_list,
    code_search,
    data_chart,
    data_summary,
    fs_append,
    fs_changes,
    fs_list,
    fs_read,
    fs_search,
    fs_watch,
    fs_write,
    git_branch,
    git_diff,
    git_log,
    git_status,
    http_get,
    process_tests,
    task_assign,
    time_now,
)


def builtin_tools() -> tuple[Tool, ...]:
    """All of them, in the order of their addresses; each manifest lies beside its module."""
    return tuple(
        Tool(load_manifest(Path(str(module.__file__)).with_suffix(".toml")), module.run)
        for module in _MODULES
    )
