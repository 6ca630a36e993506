"""The memories of a workspace."""

from functools import cached_property
from pathlib import Path

from executor.store.home import Home
from mcl.plugins.review.memory.decisions import Decisions
from mcl.plugins.review.memory.dismissals import Dismissals
from mcl.plugins.review.memory.history import History
from mcl.plugins.review.memory.meanings import Meanings
from mcl.plugins.review.memory.place import Place


class Memories:
    """What reviews remember of the workspace in a folder: history, decisions, meanings, what was dismissed.

    All of it lies in the home's cortex, under the key of the workspace's real path: typed, versioned,
    journalled, without secrets, and safe to write from several processes at once.
    """

    def __init__(self, home: Home, root: Path) -> None:
        self._place = Place.of(home, root)

    @property
    def key(self) -> str:
        """The key of the workspace, 16 hex digits."""
        return self._place.key

    @cached_property
    def history(self) -> History:
        """What reviews found."""
        return History(self._place, lambda: self.dismissals.all().keys())

    @cached_property
    def dismissals(self) -> Dismissals:
        """What a person dismissed."""
        return Dismissals(self._place)

    @cached_property
    def decisions(self) -> Decisions:
        """Decisions of architecture."""
        return Decisions(self._place)

    @cached_property
    def meanings(self) -> Meanings:
        """What is known in words."""
        return Meanings(self._place)
