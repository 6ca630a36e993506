"""A tool that takes a while tells whoever follows the run how far it is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from walks import Walks, Watch, probe, tool

from executor import FixedClock, Home
from executor.tools.tool import Bench


class Follows(Watch):
    """A listener that remembers how far each tool was."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[tuple[str, int, int]] = []

    def advanced(self, node_id: str, done: int, total: int) -> None:
        self.heard.append((node_id, done, total))


@pytest.fixture
def walks(tmp_path: Path) -> Iterator[Walks]:
    (tmp_path / "work").mkdir()
    with Home.open(tmp_path / "home", clock=FixedClock("2026-11-22T10:00:00.000Z")) as home:
        yield Walks(home, tmp_path / "work")


async def counts(args: Any, bench: Bench) -> dict[str, object]:
    for done in range(3):
        bench.progress(done, 2)
    return {"text": "done"}


def test_a_follower_is_told_how_far_a_tool_is_and_any_listener_need_not_be(walks: Walks) -> None:
    walks.tools = [probe("count", counts)]
    node = tool("n1", "test/count")
    assert walks.go(node).outputs == {"n1": {"text": "done"}}
    walks.watch = watch = Follows()
    assert walks.go(node).outputs == {"n1": {"text": "done"}}
    assert watch.heard == [("n1", 0, 2), ("n1", 1, 2), ("n1", 2, 2)]
    assert watch.of("n1")[-1] == "completed"
