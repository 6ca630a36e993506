"""Starting the resident process: detached, with nothing of the environment that it is started in."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path
from typing import Final

from executor.core.files import LOCK_FILE, take
from executor.sandbox.child import start_detached
from mcl.plugins.agents.hook.message import FOLDER, LOCK, code_place

# -I: no variables of Python's, no folder of the current user's or of whoever starts it.
_PROGRAM: Final = (
    "import sys; sys.path.insert(0, sys.argv[1]); "
    "from mcl.plugins.agents.hook.resident import main; sys.exit(main(sys.argv[2]))"
)
_ENVIRONMENT: Final = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "PYDANTIC_DISABLE_PLUGINS": "__all__",
}


def start(place: Path) -> bool:
    """Start the resident process of a home, unless it is there; whether one was started. Never raises."""
    try:
        if sys.platform != "linux" or is_running(place):
            return False
        command = [sys.executable, "-I", "-c", _PROGRAM, os.fsdecode(code_place()), str(place)]
        start_detached(command, environment=_ENVIRONMENT)
    except (OSError, ValueError):
        return False
    return True


def is_running(place: Path) -> bool:
    """Whether a process holds the lock of a home's resident one. Raises OSError where it cannot be told."""
    try:
        folder = opened_folder(place)
    except FileNotFoundError:
        return False
    try:
        lock = os.open(LOCK, LOCK_FILE, 0o600, dir_fd=folder)
        try:
            return not take(lock, wait=False)
        finally:
            os.close(lock)
    finally:
        os.close(folder)


def opened_folder(place: Path, *, make: bool = False) -> int:
    """The descriptor of the folder that the socket lies in: ours, and nobody else's to enter.

    Raises OSError, also where it is somebody else's, open to others, or a link.
    """
    folder = place / FOLDER
    if make:
        folder.mkdir(mode=0o700, exist_ok=True)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(descriptor)
    if status.st_uid != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        os.close(descriptor)
        raise PermissionError(f"{folder} is open to others")
    return descriptor
