"""Which corrections need a new accept: the table, rule by rule, and what holds of any two documents."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from walks import gate, parallel, sequence, step, tool

import ir
from executor.store import materiality
from executor.store.materiality import RULES, Change, Documents, compare, is_material
from executor.store.materiality.intents import moment, seconds
from tests.ir.ir_strategies import intents, plans

NOW = "2026-11-21T12:00:00Z"
AT_TWO = "2026-11-21T14:00:00Z"  # two hours from now: a quarter is half an hour


def intent(**fields: Any) -> ir.Intent:
    document = {
        "id": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        "v": "mcl/0.1",
        "actor": "did:key:a",
        "agent": "did:key:b",
        "prose": "find the fox",
        "frame": {"verb": "find"},
        "state": "proposed",
        "created_at": "2026-11-21T10:00:00Z",
    }
    return ir.Intent.from_json(json.dumps({**document, **fields}))


def framed(**fields: Any) -> ir.Intent:
    return intent(frame={"verb": "find", **fields})


def plan(root: dict[str, Any], **fields: Any) -> ir.PlanTree:
    document = {"id": "p", "v": "mcl/0.1", "intent_id": "i", "skill_ref": "matrix://skill/f@1.0.0"}
    return ir.PlanTree.from_json(json.dumps({**document, "root": root, **fields}))


def changes(before: Any, after: Any) -> tuple[Change, ...]:
    kind = "plan" if isinstance(before, ir.PlanTree) else "intent"
    return compare(Documents(**{kind: before}), Documents(**{kind: after}), now=NOW)


def codes(before: Any, after: Any) -> list[str]:
    return sorted({change.code for change in changes(before, after)})


SEARCH = tool("s", "fs/search", query="fox", path="notes")
WRITE = tool("w", "fs/write", "write", path="out.md", content="done")
READ = tool("r", "fs/read", path="notes/a.md")


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ({"budget": {"max_calls": 5}}, {"budget": {"max_calls": 6}}, "BUDGET_RAISED"),
        ({"budget": {"max_calls": 6}}, {"budget": {"max_calls": 5}}, "BUDGET_LOWERED"),
        ({"budget": {"max_calls": 6}}, {}, "BUDGET_RAISED"),
        ({}, {"budget": {"max_calls": 6}}, "BUDGET_LOWERED"),
        ({"budget": {"max_agents": 1}}, {"budget": {"max_agents": 2}}, "BUDGET_RAISED"),
        ({"budget": {"max_time": "PT1H"}}, {"budget": {"max_time": "PT61M"}}, "BUDGET_RAISED"),
        ({"budget": {"max_time": "PT1H"}}, {"budget": {"max_time": "PT60M"}}, "SAME_VALUE"),
        ({"budget": {"max_time": "PT1H"}}, {"budget": {"max_time": "PT59M"}}, "BUDGET_LOWERED"),
        (
            {"budget": {"max_cost": {"asset": "EUR", "amount": "1.0"}}},
            {"budget": {"max_cost": {"asset": "EUR", "amount": "1.00"}}},
            "SAME_VALUE",
        ),
        (
            {"budget": {"max_cost": {"asset": "EUR", "amount": "9"}}},
            {"budget": {"max_cost": {"asset": "EUR", "amount": "10"}}},
            "BUDGET_RAISED",
        ),
        (
            {"budget": {"max_cost": {"asset": "EUR", "amount": "10"}}},
            {"budget": {"max_cost": {"asset": "EUR", "amount": 9}}},
            "BUDGET_LOWERED",
        ),
        (
            {"budget": {"max_cost": {"asset": "EUR", "amount": "10"}}},
            {"budget": {"max_cost": {"asset": "SEK", "amount": "1"}}},
            "BUDGET_RAISED",
        ),
        ({"deadline": AT_TWO}, {"deadline": "2026-11-21T14:30:00Z"}, "DEADLINE_SHIFTED"),
        ({"deadline": AT_TWO}, {"deadline": "2026-11-21T14:30:00.1Z"}, "DEADLINE_MOVED"),
        ({"deadline": AT_TWO}, {"deadline": "2026-11-21T13:30:00Z"}, "DEADLINE_SHIFTED"),
        ({"deadline": AT_TWO}, {"deadline": "2026-11-21T13:29:00Z"}, "DEADLINE_MOVED"),
        ({"deadline": AT_TWO}, {"deadline": "2026-11-21T14:00:00.000Z"}, "SAME_VALUE"),
        ({"deadline": AT_TWO}, {}, "DEADLINE_MOVED"),
        ({}, {"deadline": AT_TWO}, "DEADLINE_MOVED"),
        ({"deadline": NOW}, {"deadline": "2026-11-21T12:00:01Z"}, "DEADLINE_MOVED"),
        ({"expires_at": AT_TWO}, {"expires_at": "2026-11-21T15:00:00Z"}, "EXPIRY_EXTENDED"),
        ({"expires_at": AT_TWO}, {}, "EXPIRY_EXTENDED"),
        ({"expires_at": AT_TWO}, {"expires_at": "2026-11-21T13:00:00Z"}, "EXPIRY_SHORTENED"),
        ({"prose": "a"}, {"prose": "b"}, "TEXT_CHANGED"),
        ({}, {"actor": "did:key:c"}, "IDENTITY_CHANGED"),
        ({}, {"unknowns": [{"id": "u1", "severity": "optional"}]}, "QUESTION_CHANGED"),
        ({}, {"references": [{"uri": "matrix://cortex/Fact/a"}]}, "REFERENCE_CHANGED"),
        (
            {"references": [{"uri": "matrix://cortex/Fact/a", "summary": "an a"}]},
            {"references": [{"uri": "matrix://cortex/Fact/a", "summary": "the a"}]},
            "TEXT_CHANGED",
        ),
    ],
)
def test_what_a_change_of_an_intent_is(before: dict[str, Any], after: dict[str, Any], code: str) -> None:
    assert codes(intent(**before), intent(**after)) == [code]


def hard(type: str, **fields: Any) -> dict[str, Any]:
    return {"type": type, "hard": True, **fields}


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        ([hard("rule", rule="r")], [], "CONSTRAINT_RELAXED"),
        ([], [hard("rule", rule="r")], "CONSTRAINT_TIGHTENED"),
        ([hard("rule", rule="r")], [{"type": "rule", "rule": "r"}], "CONSTRAINT_RELAXED"),
        ([{"type": "rule", "rule": "r"}], [hard("rule", rule="r")], "CONSTRAINT_TIGHTENED"),
        ([hard("rule", rule="r")], [hard("rule", rule="q")], "CONSTRAINT_RELAXED"),
        ([{"type": "rule", "rule": "r"}], [], "WISH_CHANGED"),
        (
            [hard("quality", metric="m", min=2.0)],
            [hard("quality", metric="m", min=3.0)],
            "CONSTRAINT_TIGHTENED",
        ),
        (
            [hard("quality", metric="m", min=3.0)],
            [hard("quality", metric="m", min=2.0)],
            "CONSTRAINT_RELAXED",
        ),
        (
            [hard("jurisdiction", allow=["SE"])],
            [hard("jurisdiction", allow=["SE", "NO"])],
            "CONSTRAINT_RELAXED",
        ),
        (
            [hard("jurisdiction", allow=["SE", "NO"])],
            [hard("jurisdiction", allow=["SE"])],
            "CONSTRAINT_TIGHTENED",
        ),
        ([hard("jurisdiction", allow=["SE"])], [hard("jurisdiction")], "CONSTRAINT_RELAXED"),
        ([hard("jurisdiction", deny=["SE"])], [hard("jurisdiction")], "CONSTRAINT_RELAXED"),
        ([hard("jurisdiction", deny=["SE", "NO"])], [hard("jurisdiction", deny=["NO", "SE"])], "SAME_VALUE"),
        ([hard("deadline", by=AT_TWO)], [hard("deadline", by="2026-11-21T14:10:00Z")], "DEADLINE_SHIFTED"),
        ([hard("deadline", by=AT_TWO)], [hard("deadline", by="2026-11-21T18:00:00Z")], "DEADLINE_MOVED"),
        ([{"type": "deadline", "by": AT_TWO}], [], "DEADLINE_MOVED"),
        (
            [hard("budget", max={"asset": "EUR", "amount": "5"})],
            [hard("budget", max={"asset": "EUR", "amount": "5.5"})],
            "BUDGET_RAISED",
        ),
        (
            [hard("budget", max={"asset": "EUR", "amount": "5"})],
            [hard("budget", max={"asset": "EUR", "amount": "5.00"})],
            "SAME_VALUE",
        ),
        ([{"type": "budget", "max": {"asset": "EUR", "amount": "5"}}], [], "BUDGET_RAISED"),
        ([], [{"type": "x:mine", "data": "1"}], "CONSTRAINT_UNKNOWN"),
        ([{"type": "x:mine", "data": "1"}], [{"type": "x:mine", "data": "2"}], "CONSTRAINT_UNKNOWN"),
        (
            [hard("rule", rule="r"), hard("rule", rule="q")],
            [hard("rule", rule="q"), hard("rule", rule="r")],
            "SAME_VALUE",
        ),
    ],
)
def test_what_a_change_of_a_constraint_is(before: list[Any], after: list[Any], code: str) -> None:
    assert codes(framed(constraints=before), framed(constraints=after)) == [code]


def test_another_verb_object_or_criterion_is_material_and_another_preference_is_not() -> None:
    assert codes(intent(), intent(frame={"verb": "build"})) == ["VERB_CHANGED"]
    assert codes(framed(objects=[{"name": "a"}]), framed(objects=[{"name": "b"}])) == ["OBJECT_CHANGED"]
    delivered = {"type": "delivered", "artifact": "a.md"}
    assert codes(framed(success_criteria=[delivered]), framed()) == ["CRITERION_CHANGED"]
    assert codes(framed(), framed(success_criteria=[delivered])) == ["CRITERION_CHANGED"]
    assert codes(framed(), framed(preferences=[{"prefer": "short"}])) == ["PREFERENCE_CHANGED"]


def test_a_further_wish_is_material_and_so_is_a_node_that_does_one() -> None:
    one = {"prose": "note it", "verb": "build", "skill_ref": "matrix://skill/note@1.0.0"}
    for before, after in (([], [one]), ([one], []), ([one], [{**one, "verb": "find"}]), ([one], [one, one])):
        (change,) = changes(framed(further=before), framed(further=after))
        assert (change.place, change.material) == ("frame.further", True)


def test_the_words_of_a_goal_count_where_somebody_is_asked_with_them() -> None:
    signed = {"verb": "find", "success_criteria": [{"type": "signed_off"}]}
    assert codes(intent(frame=signed, prose="a"), intent(frame=signed, prose="b")) == ["WORDS_USED"]
    asks = plan(
        sequence("n", step("m", inputs={"a": "b"}), tool("w", "fs/write", "write", path="${m.output.a}"))
    )
    idle = plan(sequence("n", step("m", inputs={"a": "b"}), WRITE))
    for with_plan, code in ((asks, "WORDS_USED"), (idle, "TEXT_CHANGED")):
        before, after = Documents(intent(prose="a"), with_plan), Documents(intent(prose="b"), with_plan)
        assert [change.code for change in compare(before, after, now=NOW)] == [code]


def test_a_place_is_written_as_a_correction_names_it() -> None:
    places = {
        "budget.max_calls": (intent(budget={"max_calls": 5}), intent(budget={"max_calls": 6})),
        "frame.constraints[1].by": (
            framed(constraints=[hard("rule", rule="r"), hard("deadline", by=AT_TWO)]),
            framed(constraints=[hard("rule", rule="r"), hard("deadline", by="2026-11-21T15:00:00Z")]),
        ),
        "plan.s.args.query": (plan(SEARCH), plan(tool("s", "fs/search", query="cat", path="notes"))),
        "plan.budget.max_time": (plan(READ), plan(READ, budget={"max_time": "PT5M"})),
    }
    for place, (before, after) in places.items():
        assert [change.place for change in changes(before, after)] == [place]


@pytest.mark.parametrize(
    ("before", "after", "code"),
    [
        (sequence("n", SEARCH, gate("g"), WRITE), sequence("n", SEARCH, WRITE, gate("g")), "GATE_MOVED"),
        (sequence("n", gate("g"), WRITE), parallel("n", gate("g"), WRITE), "GATE_MOVED"),
        (sequence("n", gate("g"), READ), sequence("n", READ, gate("g")), "GATE_MOVED"),
        (sequence("n", SEARCH, WRITE), sequence("n", WRITE, SEARCH), "ORDER_CHANGED"),
        (sequence("n", SEARCH, READ), sequence("n", READ, SEARCH), "NODE_MOVED"),
        (sequence("n", SEARCH, READ), parallel("n", SEARCH, READ), "NODE_MOVED"),
        (parallel("n", SEARCH, WRITE), parallel("n", WRITE, SEARCH), "NODE_MOVED"),
        (sequence("n", gate("g"), READ), sequence("n", READ), "GATE_REMOVED"),
        (sequence("n", READ, gate("g")), sequence("n", READ), "GATE_REMOVED"),
        (sequence("n", READ, WRITE), sequence("n", WRITE), "CHECK_REMOVED"),
        (sequence("n", READ, WRITE), sequence("n", READ), "NODE_REMOVED"),
        (sequence("n", WRITE), sequence("n", gate("g"), WRITE), "GATE_ADDED"),
        (sequence("n", READ), sequence("n", READ, WRITE), "EFFECT_ADDED"),
        (sequence("n", SEARCH), sequence("n", SEARCH, READ), "TOOL_ADDED"),
        (
            sequence("n", SEARCH),
            sequence("n", SEARCH, tool("t", "fs/search", query="x", path="notes/old")),
            "NODE_ADDED",
        ),
        (
            sequence("n", SEARCH),
            sequence("n", SEARCH, tool("t", "fs/search", query="x", path="src")),
            "SCOPE_WIDER",
        ),
        (sequence("n", SEARCH), sequence("n", SEARCH, tool("t", "fs/search", query="x")), "SCOPE_WIDER"),
        (sequence("n", SEARCH), sequence("n", SEARCH, step("m", inputs={"a": "b"})), "NODE_ADDED"),
        (
            sequence("n", READ),
            sequence(
                "n", READ, {"id": "d", "kind": "sub_dispatch", "sub_dispatch": {"skill_ref": "s@1.0.0"}}
            ),
            "SUB_AGENT_ADDED",
        ),
        (gate("g", "A?"), gate("g", "B?"), "GATE_CHANGED"),
        (gate("g", options=["a", "b"]), gate("g", options=["b", "a", "c"]), "GATE_OPTIONS_WIDER"),
        (gate("g", options=["a", "b"]), gate("g", options=["b"]), "GATE_OPTIONS_NARROWER"),
        (gate("g", options=["a", "b"]), gate("g", options=["b", "a"]), "SAME_VALUE"),
        (gate("g", options=["a", "b"]), gate("g"), "GATE_OPTIONS_WIDER"),
        (gate("g", timeout_ms=1000), gate("g", timeout_ms=2000), "GATE_TIMEOUT_CHANGED"),
        (gate("g", timeout_ms=2000), gate("g", timeout_ms=1000), "GATE_TIMEOUT_CHANGED"),
        (SEARCH, tool("s", "fs/search", version="1.0.1", query="fox", path="notes"), "TOOL_PIN_CHANGED"),
        (SEARCH, tool("s", "code/search", query="fox", path="notes"), "TOOL_CHANGED"),
        (SEARCH, tool("s", "fs/search", "network", query="fox", path="notes"), "EFFECT_CLASS_CHANGED"),
        (WRITE, tool("w", "fs/write", "write", path="out.md", content="other"), "ARGS_CHANGED"),
        (WRITE, tool("w", "fs/write", "write", path="out.md"), "ARGS_CHANGED"),
        (WRITE, {**WRITE, "tool_call": {**WRITE["tool_call"], "timeout_ms": 1}}, "TIMEOUT_CHANGED"),
        (SEARCH, {**SEARCH, "tool_call": {**SEARCH["tool_call"], "timeout_ms": 1}}, "READ_CHANGED"),
        (SEARCH, tool("s", "fs/search", query="cat", path="notes"), "READ_CHANGED"),
        (SEARCH, tool("s", "fs/search", query="fox", path="notes/old"), "ARGS_NARROWED"),
        (SEARCH, tool("s", "fs/search", query="fox", path="notes/../.."), "SCOPE_WIDER"),
        (SEARCH, tool("s", "fs/search", query="fox", path="src"), "SCOPE_WIDER"),
        (SEARCH, tool("s", "fs/search", query="fox"), "SCOPE_WIDER"),
        (READ, tool("r", "fs/read", path="notes/a.md", unheard_of="1"), "SCOPE_WIDER"),
        (tool("r", "fs/list", limit="20"), tool("r", "fs/list", limit="5"), "ARGS_NARROWED"),
        (tool("r", "fs/list", limit="5"), tool("r", "fs/list", limit="20"), "SCOPE_WIDER"),
        ({**READ, "description": "a"}, {**READ, "description": "b"}, "TEXT_CHANGED"),
        (step("m", inputs={"a": "b"}), step("m", inputs={"a": "c"}), "STEP_CHANGED"),
        (READ, {**gate("r"), "kind": "gate"}, "NODE_KIND_CHANGED"),
    ],
)
def test_what_a_change_of_a_plan_is(before: dict[str, Any], after: dict[str, Any], code: str) -> None:
    found = codes(plan(before), plan(after))
    assert ([one for one in found if one != "NODE_MOVED"] or found) == [code]
    assert is_material(changes(plan(before), plan(after))) == RULES[code].material


def test_what_an_effect_is_made_from_counts_as_its_argument() -> None:
    def reports(query: str, prompt: str = "short") -> ir.PlanTree:
        return plan(
            sequence(
                "n",
                tool("s", "fs/search", query=query, path="notes"),
                step("m", inputs={"found": "${s.output.text}", "how": prompt}),
                tool("w", "fs/write", "write", path="out.md", content="${m.output.text}"),
            )
        )

    assert codes(reports("fox"), reports("cat")) == ["ARGS_CHANGED"]
    assert codes(reports("fox"), reports("fox", "long")) == ["ARGS_CHANGED"]


def test_a_sub_dispatch_is_given_nothing_else_without_a_new_accept() -> None:
    def dispatch(**fields: Any) -> ir.PlanTree:
        given = {"skill_ref": "matrix://skill/a@1.0.0", **fields}
        return plan({"id": "d", "kind": "sub_dispatch", "sub_dispatch": given})

    for fields in (
        {"skill_ref": "matrix://skill/b@1.0.0"},
        {"agent_ref": "matrix://agent/x"},
        {"scope_uri": "matrix://scope/x"},
        {"sub_intent": {"verb": "find"}},
    ):
        assert codes(dispatch(), dispatch(**fields)) == ["SUB_AGENT_CHANGED"]


def test_a_terminal_with_children_is_not_taken_for_a_branch() -> None:
    odd = {**tool("w", "fs/write", "write", path="a"), "children": [tool("x", "fs/read", path="notes/a.md")]}
    found = changes(plan(sequence("n", READ)), plan(sequence("n", READ, odd)))
    assert any(change.material and change.place == "plan.w" for change in found)


def test_plans_whose_ids_do_not_tell_nodes_apart_are_not_compared_node_by_node() -> None:
    assert codes(plan(sequence("n", READ, READ)), plan(sequence("n", READ))) == ["FIELD_CHANGED"]


def test_a_plan_that_comes_or_goes_is_material() -> None:
    with_plan, without = Documents(intent(), plan(READ)), Documents(intent())
    assert [change.code for change in compare(with_plan, without, now=NOW)] == ["PLAN_CHANGED"]
    assert [change.code for change in compare(without, with_plan, now=NOW)] == ["PLAN_CHANGED"]


def test_values_are_compared_and_not_their_notation() -> None:
    assert (
        moment("2026-11-21T14:00:00+02:00")
        == moment("2026-11-21T12:00:00Z")
        == moment("2026-11-21T12:00:00.000Z")
    )
    assert moment("2026-11-21T12:00:00.000000001Z") > moment("2026-11-21T12:00:00Z")
    assert moment("2026-11-21T12:00:00.5+02:00") == moment("2026-11-21T10:00:00.500Z")
    assert seconds("P1D") == seconds("PT24H") == seconds("PT1440M")


@given(intents)
def test_an_intent_that_did_not_change_is_never_material(one: ir.Intent) -> None:
    assert changes(one, one.model_copy(deep=True)) == ()


@given(plans)
def test_a_plan_that_did_not_change_is_never_material(one: ir.PlanTree) -> None:
    assert changes(one, one.model_copy(deep=True)) == ()


@settings(max_examples=80)
@given(intents, intents)
def test_two_intents_that_differ_show_at_least_one_change(one: ir.Intent, other: ir.Intent) -> None:
    told = changes(one, other)
    assert bool(told) == (ir.content_hash(one) != ir.content_hash(other))
    json.dumps([change.to_json() for change in told])


@settings(max_examples=80)
@given(plans, plans)
def test_two_plans_that_differ_show_at_least_one_change(one: ir.PlanTree, other: ir.PlanTree) -> None:
    assert bool(changes(one, other)) == (ir.content_hash(one) != ir.content_hash(other))


names = st.text("abcdefg_", min_size=1, max_size=8)
values = st.text(max_size=12).filter(lambda text: "${" not in text)
effects = st.sampled_from([effect for effect in ir.SIDE_EFFECTS if effect != "read"])


@given(st.dictionaries(names, values, min_size=1, max_size=4), effects, st.data())
def test_every_change_of_an_argument_of_a_node_with_effects_is_material(
    args: dict[str, str], effect: str, data: st.DataObject
) -> None:
    name = data.draw(st.sampled_from([*args, "another"]))
    value = data.draw(st.none() | values.filter(lambda text: text != args.get(name)))
    changed = {key: text for key, text in {**args, name: value}.items() if text is not None}
    if changed == args:
        return
    call = {"tool_ref": "matrix://tool/a/b@1.0.0", "side_effect_class": effect}
    before, after = (
        plan({"id": "n", "kind": "tool_call", "tool_call": {**call, "args": one}}) for one in (args, changed)
    )
    assert codes(before, after) == ["ARGS_CHANGED"]
    assert codes(after, before) == ["ARGS_CHANGED"]


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.sampled_from(["max_calls", "max_agents"]))
def test_a_higher_limit_is_material_and_the_way_back_is_not(one: int, other: int, field: str) -> None:
    low, high = sorted((one, other))
    told = is_material(changes(intent(budget={field: low}), intent(budget={field: high})))
    assert told == (low != high)
    assert not is_material(changes(intent(budget={field: high}), intent(budget={field: low})))


@st.composite
def trees(draw: st.DrawFn) -> dict[str, Any]:
    """A plan of reads, writes and gates under branches, its ids in walk order."""
    number = iter(range(1000))

    def node(depth: int) -> dict[str, Any]:
        id, kind = f"n{next(number)}", draw(st.sampled_from(["read", "write", "gate", "branch"]))
        if kind == "branch" and depth < 3:
            branch = draw(st.sampled_from([sequence, parallel]))
            return branch(id, *(node(depth + 1) for _ in range(draw(st.integers(1, 3)))))
        if kind == "gate":
            return gate(id)
        return tool(id, "fs/write", "write", path=id) if kind == "write" else tool(id, "fs/read", path=id)

    return sequence("root", *(node(1) for _ in range(draw(st.integers(1, 4)))))


def branches(node: dict[str, Any]) -> list[dict[str, Any]]:
    below = [one for child in node.get("children", []) for one in branches(child)]
    return [node, *below] if "children" in node else below


@given(trees(), st.data())
def test_a_gate_may_be_added_anywhere_and_never_taken_away(root: dict[str, Any], data: st.DataObject) -> None:
    more = json.loads(json.dumps(root))
    branch = data.draw(st.sampled_from(branches(more)))
    branch["children"].insert(data.draw(st.integers(0, len(branch["children"]))), gate("new"))
    assert codes(plan(root), plan(more)) == ["GATE_ADDED"]
    assert not is_material(changes(plan(root), plan(more)))
    assert "GATE_REMOVED" in codes(plan(more), plan(root))


def guarded(node: dict[str, Any], before: frozenset[str] = frozenset()) -> dict[str, frozenset[str]]:
    """By leaf, the leaves that have completed before it: another reading of the rules, by walking."""
    if "children" not in node:
        return {node["id"]: before}
    found: dict[str, frozenset[str]] = {}
    for child in node["children"]:
        below = guarded(child, before)
        found |= below
        if node["kind"] == "sequential":
            before |= below.keys()
    return found


@given(trees(), st.data())
def test_children_in_another_order_are_material_exactly_where_an_effect_or_a_gate_notices(
    root: dict[str, Any], data: st.DataObject
) -> None:
    other = json.loads(json.dumps(root))
    branch = data.draw(st.sampled_from(branches(other)))
    branch["children"] = data.draw(st.permutations(branch["children"]))
    branch["kind"] = data.draw(st.sampled_from(["sequential", "parallel"]))
    kinds = {node.id: node for node, _ in plan(root).root.walk()}
    old, new = guarded(root), guarded(other)
    notices = any(
        kinds[earlier].kind == "gate"
        or (kinds[id].tool_call and kinds[id].tool_call.side_effect_class == "write")
        for id in old
        for earlier in old[id] - new[id]
    )
    assert is_material(changes(plan(root), plan(other))) == notices


def test_every_row_of_the_table_is_told_somewhere_and_nothing_else_is() -> None:
    package = Path(materiality.__file__).parent
    source = "".join(file.read_text() for file in package.glob("*.py") if file.name != "rules.py")
    assert set(re.findall(r'"([A-Z]{2,}_[A-Z_]+)"', source)) - {"FIXED_IN_INTENT", "FIXED_IN_PLAN"} == set(
        RULES
    )
    assert {rule.material for rule in RULES.values()} == {True, False}


def test_the_hash_that_a_document_carries_is_no_change() -> None:
    assert codes(intent(), intent(hash="0" * 64)) == []
    assert codes(plan(READ), plan(READ, hash="0" * 64)) == []


def test_the_page_on_corrections_shows_the_table() -> None:
    page = (Path(materiality.__file__).parents[3] / "docs" / "corrections.md").read_text()
    shown = re.findall(r"^\| `(\w+)` \| (yes|no) \| (.+) \|$", page, re.MULTILINE)
    assert shown == [(code, "yes" if rule.material else "no", rule.why) for code, rule in RULES.items()]
