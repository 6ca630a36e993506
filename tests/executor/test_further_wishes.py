"""Further wishes of a goal: what a plan dispatches for one is bound by its own verb, and by all limits."""

from __future__ import annotations

from typing import Any

import pytest
from shelf import Shelf, dispatch
from walks import NODE, Walks, sequence, tool

import ir

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
    assert sub.does(one)
    assert not sub.does(one.model_copy(update={"objects": ()}))


def test_a_goal_with_one_wish_has_the_hash_that_it_had() -> None:
    assert b"further" not in ir.canonical_bytes(ir.Frame(verb="find"))
