"""The variables that a child sees: no secrets; a command of the workspace named ones, and its own home."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from typing import Final

import anyio
from anyio import to_thread

from executor.core.files import FOLDER, take
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
    place, held = await to_thread.run_sync(make_scratch)
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
            await to_thread.run_sync(drop_scratch, place, held)


def safe_path(path: str, root: Path) -> str:
    """The folders of a PATH that are given in full and lie outside the workspace, then the system's."""
    folders = []
    for folder in path.split(os.pathsep):
        if folder.startswith("/") and not Path(folder).resolve().is_relative_to(root):
            folders.append(folder)
    return os.pathsep.join(dict.fromkeys((*folders, *_SYSTEM)))


# ---- Folders for the time of one piece of work, and those that killed processes left.
#
# Each is held by a lock for as long as it is used, which the kernel frees when its process ends, however
# that comes. What nobody holds any more is removed by the next process that makes one.


PREFIX: Final = "mcl-"
_HELD: Final = ".held"  # made once the lock is there: a folder without it may be about to get one
_ABANDONED: Final = 3600.0  # seconds after which an empty folder without it gets none any more
_swept: set[str] = set()


def make_scratch(kind: str = "") -> tuple[Path, int]:
    """A new folder of ours among the temporary ones, and the descriptor that holds it. Blocks."""
    _sweep_once(tempfile.gettempdir())
    place = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{kind}"))
    held = os.open(place, FOLDER)
    take(held)
    (place / _HELD).touch()
    return place, held


def drop_scratch(place: Path, held: int) -> None:
    """Remove it with all that is in it. Blocks."""
    shutil.rmtree(place, ignore_errors=True)
    os.close(held)


@contextmanager
def scratch(kind: str = "") -> Iterator[Path]:
    """A new folder, removed in the end."""
    place, held = make_scratch(kind)
    try:
        yield place
    finally:
        drop_scratch(place, held)


def sweep_scratch(folder: str) -> None:
    """Remove what dead processes of this user left in a folder of temporary files; never raises."""
    with suppress(OSError), os.scandir(folder) as entries:
        for name in [one.name for one in entries if one.name.startswith(PREFIX)]:
            with suppress(OSError):
                _remove_left(Path(folder, name))


def _sweep_once(folder: str) -> None:
    if folder not in _swept:
        _swept.add(folder)
        sweep_scratch(folder)


def _remove_left(place: Path) -> None:
    held = os.open(place, FOLDER | os.O_NOFOLLOW)
    try:
        status = os.fstat(held)
        theirs = status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077
        if theirs or not take(held, wait=False):
            return
        if (place / _HELD).exists():
            for one in place.iterdir():  # the mark last: what cannot be removed now is tried again
                if one.name != _HELD:
                    one.unlink() if one.is_symlink() or not one.is_dir() else shutil.rmtree(one)
            shutil.rmtree(place)
        elif time.time() - status.st_mtime > _ABANDONED:
            place.rmdir()  # an empty one only
    finally:
        os.close(held)
