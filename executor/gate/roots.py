"""Folders outside the workspace that may be read: what may be named, and what whoever starts mcl names."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from executor.core.errors import PolicyError, ScopeError
from executor.sandbox.reach import plain_place
from executor.tools.manifest import Manifest, Mode


def outside_modes(manifest: Manifest) -> frozenset[Mode]:
    """What a tool may do with its paths outside the workspace, where somebody lets it.

    It may read a file. What it does with a whole folder is not told by its path alone: only a tool that never
    changes anything, and starts nothing, may have one of those there.
    """
    only_reads = manifest.operation == "read" and all(
        one.operation in (None, "read") for one in manifest.when
    )
    starts = "shell" in manifest.effects or any("shell" in (one.effects or ()) for one in manifest.when)
    return frozenset({"read", "list"} if only_reads and not starts else {"read"})


def readable_root(root: Path, home: Path) -> str:
    """A folder that may be read, as ``plain_place`` gives it; links on the way to it are resolved now.

    Args:
        root: absolute. home: the folder of mcl's home, which is never readable.

    Raises:
        PolicyError: BAD_ROOT (not there, no folder, secrets, in the home, or the whole file system by any
            spelling, link or mount).
    """
    try:
        found = root.resolve(strict=True)
        if not found.is_dir():
            raise ScopeError("NOT_A_FOLDER", "it is no folder", place=str(root))
        if found.is_relative_to(home.resolve()):
            raise ScopeError("OUT_OF_SCOPE", "it lies in the home of mcl", place=str(root))
        if found.samefile("/"):
            raise ScopeError("OUT_OF_SCOPE", "it is the whole file system", place=str(root))
        return plain_place(str(found))
    except (OSError, RuntimeError, ValueError, ScopeError) as problem:
        said = getattr(problem, "strerror", None) or str(problem)
        why = problem.message if isinstance(problem, ScopeError) else f"it cannot be read: {said}"
        raise bad_root(str(root), why) from None


def allowed_roots(named: Iterable[str], home: Path) -> frozenset[str]:
    """The folders that whoever starts mcl lets its tools read beside the workspace.

    Nothing is ever written there, and a folder that is named so opens no secret: it is as if the agent had
    been granted to read it, for as long as this process lasts.

    Args:
        named: absolute paths, as they were given. home: the folder of mcl's home.

    Raises:
        PolicyError: BAD_ROOT (empty, relative, or as ``readable_root``).
    """
    found = []
    for name in named:
        if not name.startswith("/"):
            raise bad_root(name, "it is no absolute path")
        found.append(readable_root(Path(name), home))
    return frozenset(found)


def bad_root(name: str, why: str) -> PolicyError:
    """The refusal of a folder."""
    return PolicyError(
        "BAD_ROOT",
        f"{name!r} cannot be opened to reading: {why}",
        place=name,
        fix="name a folder that is there; no secrets, and not the whole file system",
    )
