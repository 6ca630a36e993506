"""Folders outside the workspace that a person named, in which the history of a work tree may lie."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

KEY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}\Z")  # what a person may name a repository


@dataclass(frozen=True, slots=True)
class Known:
    """Absolute folders, links resolved.

    reads: what lies there may be read, granted or allowed. named: repositories, whose history may be written
    too; so may that of a linked work tree which is named itself.
    """

    reads: tuple[str, ...] = ()
    named: tuple[str, ...] = ()

    def lets_read(self, repository: Path, tree: Path) -> bool:
        """May the history of this work tree be read, that lies in this repository?"""
        return self.lets_write(repository, tree) or _covered(repository, self.reads)

    def lets_write(self, repository: Path, tree: Path) -> bool:
        """May it be written too?"""
        return str(tree) in self.named or _covered(repository, self.named)


def _covered(place: Path, folders: tuple[str, ...]) -> bool:
    return any(place.is_relative_to(one) for one in folders)
