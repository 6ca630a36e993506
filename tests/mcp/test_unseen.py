"""Over MCP nobody knows whether a person looked: what is answered there is signed unseen, and says so."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from asking import Room, answering, room, says

from executor.walker.questions import GateQuestion
from mcl.plugins.mcp.forms import plan_people
from mcl.serve.exchange import Filled
from mcl.usecases.gates import decide_gate, show_gate

pytestmark = pytest.mark.attended


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Room]:
    with room(tmp_path) as opened:
        yield opened


def signed(here: Room, id: str) -> dict[str, bool]:
    envelopes = here.home.journal.envelopes(id)
    return {one.kind: one.body.unseen for one in envelopes if hasattr(one.body, "unseen")}


def test_a_call_that_is_approved_in_a_client_is_signed_unseen(here: Room) -> None:
    settled, made = here.go(here.overwrite(), here.approver())
    assert made.failure is None
    assert signed(here, settled.intent_id) == {"intent.accept": True, "policy.gate.resolve": True}
    end = here.home.journal.envelopes(settled.intent_id)[-1]
    told = json.loads(end.body.evidence_json)["unseen"]  # type: ignore[union-attr]
    assert [one["kind"] for one in told] == ["intent.accept", "policy.gate.resolve"]
    assert show_gate(settled.asked.id, home=here.home).unseen


def test_a_call_that_is_refused_in_a_client_is_signed_unseen(here: Room) -> None:
    settled, _ = here.go(here.overwrite(), here.caller(elicit=answering(says("deny"))))
    assert signed(here, settled.intent_id) == {"intent.cancel": True}
    assert show_gate(settled.gate, home=here.home).unseen


@pytest.mark.parametrize("decision", ["approve", "deny"])
def test_a_call_that_is_decided_beside_the_client_was_seen(here: Room, decision: str) -> None:
    pending = here.pending(here.overwrite())
    decide_gate(pending.gate, decision, home=here.home)
    [intent] = here.home.journal.intents()
    assert not any(signed(here, intent).values())
    assert not show_gate(pending.gate, home=here.home).unseen


@pytest.mark.parametrize("filled", [says("approve"), says("deny", reason="no"), Filled("decline"), says("?")])
def test_gates_of_plans_too(here: Room, filled: Any) -> None:
    question = GateQuestion("0" * 26, "1" * 26, "n1", "gate", "Go on?")
    people = plan_people(here.session, here.caller(elicit=answering(filled)))
    answer = anyio.run(people.ask, question)
    assert answer is not None
    assert answer.unseen


def test_answers_to_what_a_goal_leaves_open_are_signed_unseen(here: Room) -> None:
    from mcl.compiler.compiler import Clarify
    from mcl.plugins.mcp.service import GoalCompiler

    async def compiled() -> str:
        compiler = GoalCompiler(here.home, ai=False)
        asked = await compiler.compile("sales.csv", skill="data-summary")
        assert isinstance(asked, Clarify)
        await compiler.answer(asked.intent.id, {asked.questions[0].unknown_id: "analyze"})
        return str(asked.intent.id)

    assert signed(here, anyio.run(compiled)) == {"intent.answer": True}
