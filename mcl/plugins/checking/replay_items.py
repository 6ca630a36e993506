"""What a replay says of one thing that it compared."""

from dataclasses import dataclass
from typing import Literal

Answer = Literal["same", "different", "not available"]


@dataclass(frozen=True)
class ReplayItem:
    """One thing that was compared.

    recorded: as the journal has it; found: as it is now; note: why, or where to get it.
    """

    name: str
    verdict: Answer
    recorded: str
    found: str = ""
    note: str = ""


def compared(name: str, recorded: str, found: str, note: str = "") -> ReplayItem:
    """The same or different. note: why it is different."""
    if recorded == found:
        return ReplayItem(name, "same", recorded, found)
    return ReplayItem(name, "different", recorded, found, note)


def missing(name: str, recorded: str, note: str) -> ReplayItem:
    """What cannot be compared here. note: why, or where to get what is missing."""
    return ReplayItem(name, "not available", recorded, "", note)
