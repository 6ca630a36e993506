"""Choosing among 662 tools of 26 real servers beside the written skills: what was measured stays so."""

from __future__ import annotations

import pytest

from benchmarks.tools_as_skills import measured


@pytest.mark.slow
def test_goals_find_their_tools_and_written_skills_are_not_disturbed() -> None:
    """Measured beside 78 written skills that the model is taught: 120 of 127 can be asked for in words; of
    these 64 first, 75 among three; right, or right after one question, 71; taken and wrong 5. Of 1,270
    examples of written skills 22 are disturbed, of 48 other goals for them none. Before the model was taught
    the 2,000 goals of four more writers: 67, 78, 74, 5, 16 and 1. docs/derived.md tells them."""
    found = measured()
    ends = found["goals"]
    assert found["skills of them"] >= 620
    assert ends["top-1"] >= 63
    assert ends["top-3"] >= 74
    assert ends["taken right"] + ends["asked right"] >= 70
    assert ends["taken wrong"] <= 7
    assert found["goals for no tool"].get("taken", 0) <= 8
    assert len(found["of these disturbed"]) * 55 <= found["examples of written skills"]
    assert len(found["of those disturbed"]) <= 1
