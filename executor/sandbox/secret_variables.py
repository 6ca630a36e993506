"""Variables that this process keeps to itself: taken out of its environment once they were read."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

_taken: dict[str, str] = {}


def take(name: str) -> None:
    """Take a variable out of the environment, so that no child gets it; `taken` and `variables` still do.

    On Linux its value is overwritten where the kernel shows with which variables a process was started
    (/proc/PID/environ): what is unset stands there until the process ends.
    """
    _taken[name] = os.environ.pop(name, "")
    if _taken[name] and sys.platform == "linux":
        _overwrite(name.encode() + b"=")


def taken(name: str) -> str:
    """The value of a variable that was taken; "" where it was not set, or not taken."""
    return _taken.get(name, "")


def variables() -> Mapping[str, str]:
    """The environment with what was taken out of it: the secrets that no text may tell."""
    return {**os.environ, **_taken}


def _overwrite(beginning: bytes) -> None:
    import ctypes

    try:
        fields = Path("/proc/self/stat").read_bytes().rpartition(b")")[2].split()
        shown = Path("/proc/self/environ").read_bytes()
    except OSError:  # not mounted
        return
    start, end = int(fields[47]), int(fields[48])  # env_start and env_end, fields 50 and 51 of proc(5)
    if not start or end - start != len(shown):
        return
    for entry in shown.split(b"\0"):
        if entry.startswith(beginning):
            ctypes.memset(start + len(beginning), 0, len(entry) - len(beginning))
        start += len(entry) + 1
