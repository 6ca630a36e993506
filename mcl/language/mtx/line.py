"""A line as it is read, and the lines that open and end blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass

OPENERS = ("ON", "PROMPT", "UNKNOWN", "CLARIFY")  # the terminals that open a block
OPENS = re.compile(r"\s*(?:(?:on|unknown|clarify)(?=[ \t])|prompt[ \t]*(?:#|$))")
ENDS = re.compile(r"\s*end(?![\w=.-])")


@dataclass(frozen=True)
class Line:
    """A line as it is read. Where a word was put in for another, columns from `since` on are off by `shift`.

    told: its error is noted already.
    """

    text: str
    number: int
    since: int = 0
    shift: int = 0
    told: bool = False

    def column(self, position: int) -> int:
        """The column (from 1) that an offset of this text has in the file."""
        return max(1, position + 1 - (self.shift if position >= self.since else 0))
