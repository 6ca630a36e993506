"""The variables that a child sees: no secrets; a command of the workspace named ones, and its own home."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
from anyio import to_thread

from executor.sandbox import scratch
from executor.sandbox.redaction import names_secret

_SYSTEM = ("/usr/local/bin", "/usr/bin", "/bin")
_FIXED = {
    "CI": "true",  # watchers end, nobody is asked
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "NO_COLOR": "1",
    "TERM": "dumb",
    "PYTHONDONTWRITEBYTECODE": "1",
    "PYTHONNOUSERSITE": "1",
    "GIT_TERMINAL_PROMPT": "0",
    "GOFLAGS": "-modcacherw",
    "npm_config_update_notifier": "false",
}


def own_code(module: str, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """The argument list and the variables with which a module of ours runs in a process of its own.

    It finds what this process finds, and is set up as this is (home, locale, threads). It needs no secret,
    and libraries in it could tell one: a variable whose name speaks of one stays here.
    """
    found = os.pathsep.join(filter(None, sys.path))
    kept = {name: value for name, value in os.environ.items() if not names_secret(name)}
    return [sys.executable, "-m", module, *arguments], {**kept, "PYTHONPATH": found}


@asynccontextmanager
async def private_environment(root: Path, own: Mapping[str, str]) -> AsyncIterator[dict[str, str]]:
    """Variables with an empty home and a folder for temporary files in it, removed in the end.

    Args:
        root: the workspace; no program of it is found by name alone.
        own: the variables of this process. Only PATH, and where Rust keeps its compilers, go on from it.
    """
    place, held = await to_thread.run_sync(scratch.make)
    home = place / "home"
    try:
        home.mkdir(mode=0o700)
        (home / "tmp").mkdir()
        found = {"HOME": str(home), "TMPDIR": str(home / "tmp"), "PATH": safe_path(own.get("PATH", ""), root)}
        compilers = Path(own.get("RUSTUP_HOME") or Path(own.get("HOME", "/nonexistent"), ".rustup"))
        if compilers.is_dir():
            found["RUSTUP_HOME"] = str(compilers)
        yield {**_FIXED, **found}
    finally:
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(scratch.drop, place, held)


def safe_path(path: str, root: Path) -> str:
    """The folders of a PATH that are given in full and lie outside the workspace, then the system's."""
    folders = []
    for folder in path.split(os.pathsep):
        if folder.startswith("/") and not Path(folder).resolve().is_relative_to(root):
            folders.append(folder)
    return os.pathsep.join(dict.fromkeys((*folders, *_SYSTEM)))
