"""What a node gave, as its row holds it: bytes, and text in rows of old journals."""

from __future__ import annotations

import json

import pytest
from walks import Walks, sequence, tool

from ir import PlanOutputBody, PlanStepBody


def test_the_rows_of_a_walk_hold_bytes(walks: Walks) -> None:
    walks.write("a.txt", "räksmörgås")
    assert walks.go(sequence("n0", tool("n1", "fs/read", path="a.txt"))).state == "completed"
    bodies = [walks.home.journal.open(row.wire).body for row in walks.home.journal.rows(kind="plan.step")]
    results = [one.result for one in bodies if isinstance(one, PlanStepBody) and one.result]
    assert results
    assert {type(one) for one in results} == {bytes}
    assert "räksmörgås" in str(json.loads(results[-1]))


@pytest.mark.parametrize("result", [b'{"a": 1}', '{"a": 1}'])
def test_both_forms_are_read_as_they_were_written(result: bytes | str) -> None:
    step = PlanStepBody("p", "n", "completed", result)
    assert PlanStepBody.from_map(step.to_map()) == step
    assert type(PlanStepBody.from_map(step.to_map()).result) is type(result)
    piece = PlanOutputBody("p", "n", 0, result)
    assert PlanOutputBody.from_map(piece.to_map()) == piece
