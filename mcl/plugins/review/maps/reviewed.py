"""When files were reviewed last, as the memory of reviews has it."""

from __future__ import annotations

from pathlib import Path

from executor.store.home import Home


def reviews_of(home: Home, root: Path) -> dict[str, str]:
    """The moment of the last review of each file that had one, ISO 8601 UTC by path."""
    from mcl.plugins.review.memory import ReviewMemories

    return {one.file: one.at for one in ReviewMemories(home, root).history.files()}
