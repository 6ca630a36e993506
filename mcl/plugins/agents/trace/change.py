"""One change of one file, as whoever saw it tells of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Author: TypeAlias = Literal["agent", "person"]
Ranges: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Change:
    """A file that is not what it was.

    label: of the intent that covers it (INT-001), "" where none does. intent_id: its ULID or "". tool: what
    changed it, as its host or mcl calls it. file: relative to the governed folder, with `/`. before, after:
    sha256 (hex) of the content, None where there is no file. lines: ranges of the new file that differ, first
    and last line from 1. author: who changed it. agent: the name of the agent, "" of a person. recovered: the
    process that made the call was killed, nobody saw the change itself, and `after` is what was found later.
    """

    label: str
    intent_id: str
    tool: str
    file: str
    before: str | None
    after: str | None
    lines: Ranges = ()
    author: Author = "agent"
    agent: str = ""
    recovered: bool = False
