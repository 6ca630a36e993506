"""A scope that was signed for one folder, asked about paths of a workspace that lies in it or around it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from executor.core.globs import Scope


@dataclass(frozen=True)
class ShiftedScope(Scope):
    """The patterns of a governed folder as they count in a workspace.

    inside: turns a path of the workspace into one of the governed folder; None where it is none of its.
    """

    inside: Callable[[str], str | None] = lambda path: path

    @classmethod
    def shifted(cls, scope: Scope, inside: Callable[[str], str | None]) -> ShiftedScope:
        """The same patterns, held against paths of a workspace."""
        return cls(scope.globs, inside)

    def pattern_of(self, path: str) -> str | None:
        """The first pattern that the path of the workspace fits."""
        within = self.inside(path)
        return super().pattern_of(within) if within is not None else None

    def holds(self, folder: str) -> bool:
        """Is everything below this folder of the workspace in scope?"""
        within = self.inside(folder)
        return super().holds(within) if within is not None else False

    def touches(self, folder: str) -> bool:
        """Is anything below this folder of the workspace in scope?"""
        within = self.inside(folder)
        return super().touches(within) if within is not None else False


def shift(workspace: Path, root: Path, root_of: Callable[[Path], Path | None]) -> Callable[[str], str | None]:
    """What turns paths of a workspace into paths of a governed folder. root_of: the folder that governs a
    place; what another one governs is not of this one."""

    def inside(path: str) -> str | None:
        place = workspace.joinpath(*path.split("/")) if path not in ("", ".") else workspace
        if not place.is_relative_to(root) or root_of(place) != root:
            return None
        within = place.relative_to(root).as_posix()
        return "" if within == "." else within

    return inside
