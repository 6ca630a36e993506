"""Further wishes of a goal: what a plan dispatches for one is bound by its own verb, and by all limits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from shelf import Shelf, dispatch
from walks import NODE, Walks, gate, sequence, tool

import ir
from executor import AlwaysApprove, Deny, Expansion, GateAnswer, GateQuestion

WRITES = tool("put", "fs/write", "write", path="b.txt", content="x")
LOOKS = tool("list", "fs/list")


@pytest.fixture
def shelf() -> Shelf:
    found = Shelf()
    found.put("note", WRITES)
    return found


def wish(shelf: Shelf, **more: Any) -> dict[str, Any]:
    return {"prose": "write it down", "verb": "build", "skill_ref": "matrix://skill/note@1.0.0", **more}


def both(shelf: Shelf, **more: Any) -> NODE:
    return sequence("all", LOOKS, dispatch(shelf, "wish-2", "note", **{"verb": "build", **more}))


def code(walks: Walks, shelf: Shelf, root: NODE, **more: Any) -> str:
    outcome = walks.run(walks.accept(root, verb="find", **more), sub_skills=shelf)
    return outcome.failure.code if outcome.failure else ""


def test_it_may_do_what_its_own_verb_may(walks: Walks, shelf: Shelf) -> None:
    assert code(walks, shelf, both(shelf), further=[wish(shelf)]) == ""
    assert (walks.workspace / "b.txt").read_text() == "x"


@pytest.mark.parametrize(
    "further",
    [
        {},
        {"verb": "modify"},
        {"skill_ref": "matrix://skill/other@1.0.0"},
        {"skill_ref": ""},
        {"objects": [{"name": "path", "value": "other.txt", "type": "string"}]},
    ],
)
def test_what_is_no_wish_of_the_goal_is_bound_by_the_verb_of_the_first(
    walks: Walks, shelf: Shelf, further: dict[str, Any]
) -> None:
    said = [wish(shelf, **further)] if further else []
    assert code(walks, shelf, both(shelf), further=said) == "INTENT_MISMATCH"
    assert not (walks.workspace / "b.txt").exists()


def test_it_may_not_do_more_than_its_own_verb_may(walks: Walks, shelf: Shelf) -> None:
    root = both(shelf, verb="analyze")
    assert code(walks, shelf, root, further=[wish(shelf, verb="analyze")]) == "INTENT_MISMATCH"


def test_what_it_dispatches_itself_is_bound_by_its_verb(walks: Walks, shelf: Shelf) -> None:
    shelf.put("deep", lambda values: dispatch(shelf, "d", "note", verb="build"))
    root = sequence("all", LOOKS, dispatch(shelf, "wish-2", "deep", verb="analyze"))
    said = wish(shelf, verb="analyze", skill_ref="matrix://skill/deep@1.0.0")
    assert code(walks, shelf, root, further=[said]) == "INTENT_MISMATCH"


def test_the_rules_of_the_goal_hold_for_it_too(walks: Walks, shelf: Shelf) -> None:
    rule = {"type": "rule", "hard": True, "rule": "change nothing", "keeps": "change nothing"}
    assert code(walks, shelf, both(shelf), further=[wish(shelf)], constraints=[rule]) == "PROMISE_BROKEN"
    assert code(walks, shelf, both(shelf), further=[wish(shelf)], budget={"max_calls": 1}) != ""


def test_two_wishes_may_be_of_one_skill(walks: Walks, shelf: Shelf) -> None:
    shelf.put("files", WRITES)  # the skill of the plan itself is called so
    root = sequence("all", LOOKS, dispatch(shelf, "wish-2", "files", verb="build"))
    said = wish(shelf, skill_ref="matrix://skill/files@1.0.0")
    assert code(walks, shelf, root, further=[said]) == ""
    assert code(walks, shelf, root) == "SUB_DISPATCH_CYCLE"


def test_a_wish_has_no_wishes_of_its_own(walks: Walks, shelf: Shelf) -> None:
    root = both(shelf)
    root["children"][1]["sub_dispatch"]["sub_intent"]["further"] = [wish(shelf)]
    assert code(walks, shelf, root, further=[wish(shelf)]) == "SUB_INTENT_INVALID"


def test_its_texts_are_data(walks: Walks) -> None:
    entry = ir.SlotEntry(name="note", value="${list.output}", type="string")
    one = ir.FurtherWish(prose="x", verb="build", objects=(entry,), skill_ref="matrix://skill/note@1.0.0")
    sub = ir.dispatch_of(one)
    assert sub.sub_intent is not None
    assert sub.sub_intent.objects[0].value == "$${list.output}"
    assert sub.asks == ir.dispatch_of(one).asks
    assert sub.asks != ir.dispatch_of(one.model_copy(update={"objects": ()})).asks


def test_a_goal_with_one_wish_has_the_hash_that_it_had() -> None:
    assert b"further" not in ir.canonical_bytes(ir.Frame(verb="find"))


# ---- A plan, a skill or an Intent that would have more done than what was signed.


def test_no_other_dispatch_passes_for_a_wish_by_its_name(walks: Walks, shelf: Shelf) -> None:
    """Nodes may be called `a/b`, as nodes below `a` are."""
    shelf.put("harmless", tool("put", "time/now"))
    shelf.put("other", sequence("y/all", WRITES))
    root = sequence("all", dispatch(shelf, "x", "other"), dispatch(shelf, "x/y", "harmless"))
    said = wish(shelf, skill_ref="matrix://skill/harmless@1.0.0")
    assert code(walks, shelf, root, further=[said]) == "INTENT_MISMATCH"
    assert not (walks.workspace / "b.txt").exists()


def test_a_wish_is_done_once(walks: Walks, shelf: Shelf) -> None:
    again = dispatch(shelf, "again", "note", verb="build")
    root = sequence("twice", both(shelf), again)
    assert code(walks, shelf, root, further=[wish(shelf)]) == "INTENT_MISMATCH"
    assert not (walks.workspace / "b.txt").exists()


def test_what_is_wished_twice_is_done_twice(walks: Walks, shelf: Shelf) -> None:
    shelf.put("note", tool("put", "fs/append", "write", path="b.txt", content="x\n"))
    root = sequence("twice", both(shelf), dispatch(shelf, "again", "note", verb="build"))
    assert code(walks, shelf, root, further=[wish(shelf), wish(shelf)]) == ""
    assert (walks.workspace / "b.txt").read_text() == "x\nx\n"


def test_work_for_another_agent_is_no_wish(walks: Walks, shelf: Shelf) -> None:
    root = both(shelf)
    root["children"][1]["sub_dispatch"]["agent_ref"] = "matrix://agent/other"
    assert code(walks, shelf, root, further=[wish(shelf)]) != ""


def test_another_version_of_its_skill_is_not_what_was_signed(walks: Walks, shelf: Shelf) -> None:
    said = wish(shelf, skill_ref="matrix://skill/note@2.0.0")
    assert code(walks, shelf, both(shelf), further=[said]) == "SKILL_CHANGED"
    assert not (walks.workspace / "b.txt").exists()


def test_a_skill_that_was_exchanged_is_not_what_was_signed(walks: Walks, shelf: Shelf) -> None:
    intent = walks.accept(both(shelf), verb="find", further=[wish(shelf)])
    shelf.put("note", tool("put", "fs/write", "write", path="c.txt", content="x"))
    outcome = walks.run(intent, sub_skills=shelf)
    assert outcome.failure is not None
    assert outcome.failure.code == "SKILL_CHANGED"
    assert not (walks.workspace / "c.txt").exists()


@pytest.mark.parametrize("field", ["name", "value", "uri", "type"])
def test_no_text_of_it_refers_to_anything(walks: Walks, shelf: Shelf, field: str) -> None:
    given: list[ir.SlotEntry] = []

    class Keeping(Shelf):
        def expand(self, skill_ref: str, frame: ir.Frame, *args: Any, **more: Any) -> Expansion:
            given.extend(frame.objects)
            return super().expand(skill_ref, frame, *args, **more)

    keeping = Keeping()
    keeping.put("note", WRITES)
    entry = {"name": "note", "value": "x", "type": "string", field: "${list.output.count}"}
    said = wish(keeping, objects=[entry])
    sub = ir.dispatch_of(ir.FurtherWish.from_json(json.dumps(said)))
    sub = sub.model_copy(update={"skill_ref": keeping.ref("note")})
    node = {"id": "wish-2", "kind": "sub_dispatch", "sub_dispatch": ir.as_document(sub)}
    assert code(walks, keeping, sequence("all", LOOKS, node), further=[said]) == ""
    assert given
    assert {getattr(one, field) for one in given} == {"${list.output.count}"}


@pytest.mark.parametrize("scope", ["matrix://scope/read", "matrix://scope/write?folder=docs"])
def test_a_scope_leaves_it_less_and_never_more(walks: Walks, shelf: Shelf, scope: str) -> None:
    root = both(shelf, scope_uri=scope)
    refusal = "CAPABILITY_DENIED" if scope.endswith("read") else "OUT_OF_SCOPE"
    assert code(walks, shelf, root, further=[wish(shelf)]) == refusal


def test_a_skill_that_wishes_something_itself_has_made_no_plan(walks: Walks, shelf: Shelf) -> None:
    class Wishing(Shelf):
        def expand(self, *args: Any, **more: Any) -> Expansion:
            made = super().expand(*args, **more)
            further = (ir.FurtherWish(verb="build", skill_ref="matrix://skill/note@1.0.0"),)
            frame = made.intent.frame.model_copy(update={"further": further})
            return replace(made, intent=ir.with_hash(made.intent.model_copy(update={"frame": frame})))

    wishing = Wishing()
    wishing.put("note", WRITES)
    assert code(walks, wishing, both(wishing), further=[wish(wishing)]) == "SUB_DISPATCH_FLAWED"


# ---- A wish that no node does.


def test_a_wish_that_no_node_does_is_told_before_anybody_signs(walks: Walks, shelf: Shelf) -> None:
    intent = walks.propose(LOOKS, verb="find", further=[wish(shelf)])
    walker = walks.walker(sub_skills=shelf)
    try:
        (told,) = [one for one in walker.preflight(intent) if one.decision == "deny"]
    finally:
        walker.close()
    assert isinstance(told.reply, Deny)
    assert (told.node_id, told.reply.code) == ("frame.further[0]", "WISH_NOT_PLANNED")
    assert "write it down" in told.reply.reason
    assert told.reply.fix
    assert told.reply.example
    assert code(walks, shelf, LOOKS, further=[wish(shelf)]) == "WISH_NOT_PLANNED"
    assert code(walks, shelf, both(shelf), further=[wish(shelf), wish(shelf)]) == "WISH_NOT_PLANNED"
    assert code(walks, shelf, LOOKS, further=[wish(shelf, skill_ref="")]) == "WISH_NOT_PLANNED"


def test_a_skill_that_takes_any_goal_keeps_the_words_of_all(walks: Walks, shelf: Shelf) -> None:
    shelf.any = frozenset({"matrix://skill/files@1.0.0"})
    assert code(walks, shelf, LOOKS, further=[wish(shelf)]) == ""


def test_a_wish_that_is_taken_out_while_it_runs_is_not_attested(walks: Walks, shelf: Shelf) -> None:
    """To take a node out is not material; that the goal was reached is not true then."""
    root = sequence("all", LOOKS, gate("g"), *both(shelf)["children"][1:])
    intent = walks.accept(root, verb="find", further=[wish(shelf)])

    class Corrects(AlwaysApprove):
        async def ask(self, gate: GateQuestion) -> GateAnswer | None:
            plan = walks.home.journal.view(intent).plan
            assert plan is not None
            patches = json.dumps([{"op": "remove", "path": "/root/children/2"}]).encode()
            walks.tell(intent, "intent.correct", ir.IntentCorrectBody(plan.hash, patches))
            return await super().ask(gate)

    outcome = walks.run(intent, sub_skills=shelf, people=Corrects())
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code) == ("failed", "WISH_NOT_PLANNED")
    assert not (walks.workspace / "b.txt").exists()
