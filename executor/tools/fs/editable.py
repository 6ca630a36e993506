"""What may be edited: not what other programs write, and nothing that is no text by its name."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from executor.core.errors import ScopeError
from executor.sandbox.protected import readings


@dataclass(frozen=True, slots=True)
class _Closed:
    folders: frozenset[str]
    files: frozenset[str]
    binary: frozenset[str]


@cache
def _closed() -> _Closed:
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    return _Closed(*(frozenset(table[name]) for name in ("folders", "files", "binary")))


def require_editable(parts: tuple[str, ...], path: str) -> None:
    """Refuse files that are not edited, by their names.

    Args:
        parts: the components of the path, as ``Workspace.split`` gives them.

    Raises:
        ScopeError: PROTECTED_PATH (written by a package manager), NOT_TEXT (no text by its ending).
    """
    closed = _closed()
    if any(name in closed.folders for part in parts for name in readings(part)):
        raise _refused(path, "lies in a folder that a package manager makes")
    for name in readings(parts[-1]) if parts else ():
        if name in closed.files:
            raise _refused(path, "is written by a package manager")
        stem, dot, ending = name.rpartition(".")
        if stem and dot and ending in closed.binary:
            raise ScopeError(
                "NOT_TEXT", f"{path!r} is no text file by its name", place=path, fix="name a text file"
            )


def _refused(path: str, why: str) -> ScopeError:
    fix = "change what it is made from, and have it made anew"
    return ScopeError("PROTECTED_PATH", f"{path!r} {why}", place=path, fix=fix)
