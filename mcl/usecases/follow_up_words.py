"""Whether the words of a goal go on from the last one: what they begin with tells, by a table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Final

from executor.core.tables import table_beside

_ENDS: Final = frozenset(" ,:;.!").__contains__  # what a word ends before


@dataclass(frozen=True)
class FollowUpWords:
    """What a goal says of the last one. words: what is to be otherwise; undo: it is to be undone."""

    words: str = ""
    undo: bool = False


def follow_up_in(goal: str) -> FollowUpWords | None:
    """What a goal says of the last one, by its words alone; None where it is a goal of its own."""
    said = " ".join(goal.split()).strip(" .!")
    folded = said.casefold()
    if folded in words_of("undo"):
        return FollowUpWords(undo=True)
    if len(said.split()) > int(table_beside(__file__, "follow_up")["longest"]):
        return None
    left, dropped = _without_lead(said)
    if not left or not (dropped or begins(left, words_of("leads"))):
        return None
    return FollowUpWords(left)


def _without_lead(said: str) -> tuple[str, bool]:
    """The words behind what only says that something is to be otherwise, and whether there was such."""
    dropped = False
    while lead := begins(said, words_of("dropped")):
        said, dropped = said[len(lead) :].lstrip(" ,:;.–-"), True
    return said, dropped


def begins(said: str, leads: frozenset[str]) -> str:
    """The longest of some words that a text begins with, or ""."""
    folded = f"{said.casefold()} "
    ends = (lead for lead in leads if folded.startswith(lead) and _ENDS(folded[len(lead)]))
    return max(ends, key=len, default="")


@cache
def words_of(name: str) -> frozenset[str]:
    """A list of the table."""
    return frozenset(table_beside(__file__, "follow_up")[name])
