"""The words of a file: what its intents are called, and how far they may be."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal

Status = Literal["DRAFT", "IN_PROGRESS", "DONE", "BLOCKED"]
STATUSES: Final[tuple[Status, ...]] = ("DRAFT", "IN_PROGRESS", "DONE", "BLOCKED")
MAX_LABEL: Final = 64  # characters
_LABEL: Final = re.compile(r"INT-[0-9]{3,}")


def is_label(text: str) -> bool:
    """Whether a text is the id of an intent, such as INT-001."""
    return len(text) <= MAX_LABEL and _LABEL.fullmatch(text) is not None


def in_order(labels: Iterable[str]) -> tuple[str, ...]:
    """Labels from the smallest to the largest: INT-002 before INT-010 before INT-1000."""
    return tuple(sorted(labels, key=lambda label: (len(label), label)))
