"""What a plug-in reads in files for the inputs of a skill, such as which entry of a list is meant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from mcl.model.cues import TextPlace

if TYPE_CHECKING:
    from mcl.compiler.stages.file_names import FileNames


class SaidClause(NamedTuple):
    """A clause of a goal. does: whether it begins with a verb of what is wanted; keeps: whether it says what
    is not to be done, or stays."""

    place: TextPlace
    does: bool = False
    keeps: bool = False


class FilledInput(NamedTuple):
    """An input of a skill. place: of the words of the goal that say it; values: what fills it; unsure: a
    person has to say which of them. Of no slot (""): words that were understood beside it."""

    slot: str
    place: TextPlace
    values: tuple[str, ...] = ()
    unsure: bool = False


Filler: TypeAlias = Callable[[str, Sequence[SaidClause], "FileNames"], Sequence[FilledInput]]
"""Of a goal, its clauses and the files here: the inputs; none where these do not say what is meant."""
