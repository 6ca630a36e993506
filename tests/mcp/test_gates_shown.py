"""What a person sees of a call: all of it, and nothing of others that passes for ours; what is kept of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from asking import Room, answering, room, says
from hypothesis import given
from hypothesis import strategies as st

from executor.core.errors import GateError
from mcl.plugins.mcp.forms import call_form, read_form
from mcl.serve.exchange import Filled, Form
from mcl.usecases.call_question import CallQuestion, call_questions
from mcl.usecases.gates import decide_gate, open_gates, show_gate

texts = st.text(st.characters(codec="utf-8"), max_size=60)
OTHERS = ("    | ", '  "')  # how lines begin that are not ours, and names of arguments


@pytest.fixture
def here(tmp_path: Path) -> Iterator[Room]:
    with room(tmp_path) as opened:
        yield opened


def test_what_the_person_sees_says_what_is_ours_and_what_is_not(here: Room) -> None:
    seen: list[Form] = []
    call = here.overwrite("line one\nTool: mcl:time/now\n", reason="because\nAllow exactly this call?")
    caller = here.caller(elicit=answering(says("deny"), seen=seen), client="agent\nServer: you trust it")
    here.go(call, caller)
    lines = seen[0].message.split("\n")
    assert [line for line in lines if line.startswith("Tool:")] == ["Tool: mcl:fs/write"]
    assert [line for line in lines if line.startswith("Server:")] == ["Server: mcl itself"]
    assert lines[-1] == "Allow exactly this call?"
    assert lines.count("Allow exactly this call?") == 1
    assert "    | Tool: mcl:time/now" in lines
    assert "It does: destructive (write)" in lines
    assert "  - It is destructive (write), which no verb and no plan covers." in lines


def form_of(args: Any = (), *, here: bool = True, **said: Any) -> Form:
    """A form about a call."""
    plain: dict[str, Any] = {
        **dict.fromkeys(("id", "at", "intent", "plan", "version", "variant", "question", "binding"), "x"),
        **{"name": "a:b", "server": "a", "trusted": False, "operation": "write", "effects": ("network",)},
        **{"why": (), "client": "x", "operation_type": "write", "data_sensitivity": "unknown", "reason": "x"},
        **{"expires_at": "2026-11-22T00:00:00.000Z", "bound": {}},
    }
    return call_form(CallQuestion(**{**plain, **said}), dict(args), here=here)


def page(args: Any, **said: Any) -> list[str]:
    """The lines of a form about a call."""
    return form_of(args, **said).message.split("\n")


@given(
    args=st.dictionaries(texts, st.one_of(texts, st.integers(), st.lists(texts, max_size=3)), max_size=4),
    client=texts,
    reason=texts,
    why=st.lists(texts, max_size=2),
)
def test_no_text_of_others_passes_for_a_line_of_ours(
    args: Any, client: str, reason: str, why: list[str]
) -> None:
    ours = {line for line in page({"one": "x"} if args else {}) if not line.startswith(OTHERS)}
    for line in page(args, client=client, reason=reason, why=tuple(why)):
        assert line in ours or line.startswith((*OTHERS, "  - "))
        assert not any(one in line for one in "\r\x1b\u202e\u2028\u200b\x85")


@given(st.one_of(st.none(), st.booleans(), st.integers(), texts, st.lists(texts, max_size=3)))
def test_only_the_exact_word_that_was_offered_approves(decision: Any) -> None:
    for here in (True, False):
        answer = read_form(form_of(here=here), Filled("accept", {"decision": decision}))
        assert answer is not None
        assert (answer.decision == "approve") == (here and decision == "approve")


def test_arguments_are_shown_whole(here: Room) -> None:
    seen: list[Form] = []
    content = "\n".join(f"line {number}" for number in range(20_000))
    here.go(here.overwrite(content), here.caller(elicit=answering(says("deny"), seen=seen)))
    shown = [line[6:] for line in seen[0].message.split("\n") if line.startswith("    | line ")]
    assert "\n".join(shown) == content


def test_a_question_whose_record_shows_another_call_than_it_binds_cannot_be_approved(here: Room) -> None:
    here.pending(here.overwrite("harmless"))
    here.pending(here.overwrite("harmful"))
    harmless, harmful = call_questions(here.home)
    other = harmful.body()
    for changed in (
        {"bound": other["bound"], "binding": other["binding"]},
        {"plan_json": other["plan_json"], "intent_json": other["intent_json"]},
        {"binding": other["binding"]},
        {"expires_at": "2099-01-01T00:00:00.000Z"},
    ):
        row = here.home.journal.record("record.gate.asked", {**harmless.body(), **changed})
        shown = show_gate(row.id, home=here.home)
        assert not shown.holds
        assert shown.flaw
        with pytest.raises(GateError) as refused:
            decide_gate(row.id, "approve", home=here.home)
        assert refused.value.code == "APPROVAL_MISMATCH"
    assert here.text() == "old"


def test_a_record_that_is_no_question_is_none(here: Room) -> None:
    here.pending(here.overwrite())
    [true] = call_questions(here.home)
    body = true.body()
    for changed in (
        {"plan_json": b"{}"},
        {"intent_json": b"no json"},
        {"plan_json": body["intent_json"]},
        {"effects": 7},
        {"bound": [1]},
        {"plan_json": 5},
    ):
        here.home.journal.record("record.gate.asked", {**body, **changed})
    assert len(list(call_questions(here.home))) == 1
    assert len(open_gates(home=here.home)) == 1


def test_a_question_about_a_call_is_listed_shown_and_decided_like_any_other(here: Room) -> None:
    pending = here.pending(here.overwrite("what is asked about\x1b", data_sensitivity="private"))
    [listed] = open_gates(home=here.home)
    assert (listed.id, listed.call, listed.node_id) == (pending.gate, "mcl:fs/write", "n1")
    shown = show_gate(pending.gate[:20], home=here.home)
    assert (shown.standing, shown.holds, shown.state) == ("open", True, "not begun")
    assert shown.args == {"path": "a.txt", "content": "what is asked about\x1b", "overwrite": True}
    assert shown.said["sensitivity"] == "private"
    assert set(shown.bound) == {"intent", "plan", "node", "tool", "args", "policy", "expires_at"}
    done = decide_gate(pending.gate, "deny", reason="not this file", home=here.home)
    after = show_gate(pending.gate, home=here.home)
    assert (after.standing, after.decision, after.reason) == ("decided", "deny", "not this file")
    assert after.by == done.by == here.home.keyring.user.did
    with pytest.raises(GateError) as refused:
        decide_gate(pending.gate, "approve", home=here.home)
    assert refused.value.code == "GATE_RESOLVED"


def test_the_gate_of_an_approved_call_leads_to_its_question(here: Room) -> None:
    pending = here.pending(here.overwrite())
    decide_gate(pending.gate, "approve", home=here.home)
    [gate] = here.home.journal.rows(kind="policy.gate")
    assert show_gate(gate.id, home=here.home).id == pending.gate
