"""Ends a review."""

from collections.abc import Mapping
from typing import Any

from executor.store.home import Home
from executor.tools.tool import Bench
from mcl.plugins.review.conclusion import conclude
from mcl.plugins.review.memory.history import ReviewMemories


def run(args: Mapping[str, Any], bench: Bench, home: Home) -> dict[str, object]:
    """Answer as `conclude`, and raise as it does."""
    return conclude(args, ReviewMemories(home, bench.workspace.root), bench.max_output)
