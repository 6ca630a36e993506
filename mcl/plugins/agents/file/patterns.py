"""The patterns of a file, each read once however often it stands there."""

from __future__ import annotations

from typing import Final

from executor.core.errors import GlobError
from executor.core.globs import Glob

MAX_PATHS: Final = 50_000


class Patterns:
    """Reads patterns and keeps what became of them, up to a bound for the whole file."""

    def __init__(self) -> None:
        self._read: dict[str, Glob | GlobError | None] = {}
        self._paths = 0

    def read(self, text: str) -> Glob | GlobError | None:
        """The pattern, or what is wrong with it; None behind the one at which the file had too many."""
        if text not in self._read:
            self._read[text] = self._new(text)
        return self._read[text]

    def good(self, texts: tuple[str, ...]) -> tuple[Glob, ...]:
        """Those of these patterns that can be read and are about files of the workspace."""
        return tuple(glob for text in texts if isinstance(glob := self.read(text), Glob))

    def _new(self, text: str) -> Glob | GlobError | None:
        if self._paths > MAX_PATHS:
            return None
        try:
            found = Glob.read(text)
        except GlobError as error:
            self._paths += 1
            return error
        self._paths += len(found.paths)
        if self._paths > MAX_PATHS:
            message = f"the patterns of the file stand for more than {MAX_PATHS}, with braces written out"
            return GlobError("INVALID_GLOB", message, place=text, fix="name folders, or part the file")
        return found
