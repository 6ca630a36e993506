"""The model that answers the step nodes of a plan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol


class Reasoner(Protocol):
    """Filled in by whoever has a model."""

    async def reason(self, *, system: str, user: str, outputs: Sequence[str], kind: str) -> dict[str, object]:
        """Answer with one value for each name in ``outputs``; ``kind`` is the step's kind (``reason``,
        ``code``…)."""
        ...


class Prompts(Protocol):
    """Where the prompt blocks of skills are found."""

    def prompt(self, skill_ref: str, name: str, inputs: Mapping[str, str]) -> tuple[str, str]:
        """The system and the user text of the block ``name`` ("" = the default) of a pinned skill, for the
        step's inputs. An empty text: the walker's own."""
        ...
