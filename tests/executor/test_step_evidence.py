"""The row of a step says who answered it, and to what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from walks import Walks, sequence, step, tool

import ir
from executor.core.hashing import json_hash
from executor.walker.interfaces import StepAnswer

MODEL, GRAMMAR = "a" * 64, "step_outputs@1 sha256:" + "b" * 64


class Known:
    """A model that says which one it is."""

    def __init__(self, text: object = "all is well", *, model: Any = MODEL, tokens: Any = 7) -> None:
        self.answer = StepAnswer({"summary": text}, model, GRAMMAR, tokens)

    async def reason(self, *, system: str, user: str, outputs: Sequence[str], kind: str) -> StepAnswer:
        return self.answer


SUMMARY = step("n2", inputs={"about": "the day"}, expected_outputs=["summary"], kind="summarize")
FIELDS = ("model", "grammar", "prompt", "seed", "tokens")


def rows(walks: Walks, node: str) -> list[ir.PlanStepBody]:
    bodies = [walks.home.journal.open(row.wire).body for row in walks.home.journal.rows(kind="plan.step")]
    return [one for one in bodies if isinstance(one, ir.PlanStepBody) and one.node_id == node]


def told(body: ir.PlanStepBody) -> dict[str, object]:
    return {name: value for name in FIELDS if (value := getattr(body, name))}


def test_the_end_of_a_step_names_model_grammar_prompt_and_tokens_and_no_other_row_does(walks: Walks) -> None:
    assert walks.go(sequence("n0", tool("n1", "time/now"), SUMMARY), reasoner=Known()).state == "completed"
    begun, ended = rows(walks, "n2")
    asked = ["Answer the question from what is given. Say only what follows from it.", "about: the day"]
    assert told(ended) == {
        "model": MODEL,
        "grammar": GRAMMAR,
        "prompt": json_hash([*asked, ["summary"], "summarize"]),
        "tokens": 7,
    }
    assert told(begun) == {}
    assert [told(body) for node in ("n0", "n1") for body in rows(walks, node)] == [{}] * 4
    assert walks.home.journal.verify().ok


def test_a_step_that_was_answered_with_something_else_names_who_did(walks: Walks) -> None:
    outcome = walks.go(SUMMARY, reasoner=Known(float("nan")))
    assert outcome.failure is not None
    assert outcome.failure.code == "BAD_ANSWER"
    assert told(rows(walks, "n2")[-1])["model"] == MODEL


@pytest.mark.parametrize("said", [{"model": "mine"}, {"model": None}, {"tokens": -1}, {"tokens": "many"}])
def test_what_a_model_cannot_be_is_not_written_down(walks: Walks, said: dict[str, Any]) -> None:
    assert walks.go(SUMMARY, reasoner=Known(**said)).state == "completed"
    assert set(told(rows(walks, "n2")[-1])) == {"model", "grammar", "prompt", "tokens"} - set(said)


def test_rows_of_before_are_the_same_bytes() -> None:
    body = ir.PlanStepBody("p", "n", "completed", b'{"a":1}', latency_ms=3)
    then = "a500617001616e0269636f6d706c6574656403477b2261223a317d0503"
    assert ir.encode_cbor(body.to_map()).hex() == then
