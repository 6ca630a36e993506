"""What is found wrong with a plan: every code, every flaw, and nothing in a sound plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from ir_strategies import plans

import ir
import ir.checks
import ir.plan

TOOL = "matrix://tool/fs/read@1.0.0"
SUB_SKILL = "matrix://skill/notes@2.1.0"


@dataclass(frozen=True)
class Skill:
    tools: tuple[str, ...] = (TOOL,)
    sub_skills: tuple[str, ...] = (SUB_SKILL,)


def call(node_id: str = "n1", **changes: Any) -> ir.PlanNode:
    payload = {"tool_ref": TOOL, "side_effect_class": "read", **changes}
    return ir.PlanNode(id=node_id, kind="tool_call", tool_call=ir.ToolCall.model_validate(payload))


def step(node_id: str = "n1", **changes: Any) -> ir.PlanNode:
    payload = {"prompt_name": "summarise", **changes}
    return ir.PlanNode(id=node_id, kind="step", step=ir.Step.model_validate(payload))


def branch(kind: str, *children: ir.PlanNode, node_id: str = "n0") -> ir.PlanNode:
    return ir.PlanNode(id=node_id, kind=kind, children=children)


def plan(root: ir.PlanNode, **changes: Any) -> ir.PlanTree:
    fields = {
        "id": "p1",
        "intent_id": "i1",
        "skill_ref": "matrix://skill/files@1.0.0",
        "root": root,
        **changes,
    }
    return ir.PlanTree.model_validate(fields)


def found(root: ir.PlanNode, **changes: Any) -> list[tuple[str, str]]:
    findings = ir.check_plan(plan(root, **changes), Skill(), intent_id="i1")
    assert all(finding.message and finding.fix for finding in findings)
    return [(finding.code, finding.place) for finding in findings]


GATE = ir.PlanNode(id="n3", kind="gate", gate=ir.Gate(question="Go on?"))
DISPATCH = ir.PlanNode(id="n4", kind="sub_dispatch", sub_dispatch=ir.SubDispatch(skill_ref=SUB_SKILL))
SOUND = branch("sequential", call(), step("n2", inputs={"text": "${n1.output.lines[0]}"}), GATE, DISPATCH)


def test_nothing_is_found_in_a_sound_plan() -> None:
    assert found(SOUND) == []
    assert ir.check_plan(plan(SOUND)) == []


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"id": ""}, "PLAN_ID_MISSING"),
        ({"intent_id": ""}, "INTENT_ID_MISSING"),
        ({"intent_id": "i2"}, "INTENT_ID_MISMATCH"),
        ({"skill_ref": ""}, "SKILL_REF_MISSING"),
        ({"skill_ref": "matrix://skill/files"}, "REF_UNPINNED"),
    ],
)
def test_a_flaw_of_the_tree_has_no_node(changes: dict[str, str], code: str) -> None:
    assert found(SOUND, **changes) == [(code, "")]


@pytest.mark.parametrize(
    ("root", "expected"),
    [
        (call(""), [("NODE_ID_MISSING", "")]),
        (branch("sequential", call(), call()), [("NODE_ID_REPEATED", "n1")]),
        (ir.PlanNode(id="n1"), [("KIND_UNKNOWN", "n1")]),
        (ir.PlanNode(id="n1", kind="loop"), [("KIND_UNKNOWN", "n1")]),
        (branch("sequential"), [("BRANCH_EMPTY", "n0")]),
        (branch("parallel"), [("BRANCH_EMPTY", "n0")]),
        (
            branch("sequential", call()).model_copy(update={"gate": GATE.gate}),
            [("BRANCH_HAS_PAYLOAD", "n0")],
        ),
        (GATE.model_copy(update={"children": (call(),)}), [("TERMINAL_HAS_CHILDREN", "n3")]),
        (ir.PlanNode(id="n1", kind="gate"), [("PAYLOAD_MISSING", "n1")]),
        (
            ir.PlanNode(id="n1", kind="step", gate=GATE.gate),
            [("PAYLOAD_MISSING", "n1"), ("PAYLOAD_FOREIGN", "n1")],
        ),
        (call().model_copy(update={"gate": GATE.gate}), [("PAYLOAD_FOREIGN", "n1")]),
        (call(tool_ref=""), [("REF_UNPINNED", "n1")]),
        (call(tool_ref="matrix://tool/fs/write@1.0.0"), [("TOOL_UNDECLARED", "n1")]),
        (call(tool_ref="matrix://tool/fs/read@1.0.00"), [("REF_UNPINNED", "n1"), ("TOOL_UNDECLARED", "n1")]),
        (
            ir.PlanNode(id="n1", kind="sub_dispatch", sub_dispatch=ir.SubDispatch(skill_ref="a@1.0.0")),
            [("SUB_SKILL_UNDECLARED", "n1")],
        ),
        (call(side_effect_class=""), [("SIDE_EFFECT_UNKNOWN", "n1")]),
        (call(side_effect_class="READ"), [("SIDE_EFFECT_UNKNOWN", "n1")]),
        (step(prompt_name=""), [("STEP_EMPTY", "n1")]),
        (step(kind="think"), [("STEP_KIND_UNKNOWN", "n1")]),
        (ir.PlanNode(id="n1", kind="gate", gate=ir.Gate(question=" \n\t")), [("QUESTION_BLANK", "n1")]),
        (step(inputs={"a": "${n9.output}"}), [("REFERENCE_UNKNOWN", "n1")]),
        (step(inputs={"a": "${n1.output}"}), [("REFERENCE_NOT_EARLIER", "n1")]),
        (step(inputs={"a": "${n1}"}), [("REFERENCE_MALFORMED", "n1")]),
        (step(inputs={"a": "$${n1}"}), []),
        (call(args={"token": "hunter2"}), [("SECRET_INLINE", "n1")]),
        (branch("sequential", call("n1"), call("n2", args={"path": "${n1.output}"})), []),
        (
            branch("sequential", call("n1", args={"path": "${n2.output}"}), call("n2")),
            [("REFERENCE_NOT_EARLIER", "n1")],
        ),
        (branch("sequential", call(args={"path": "${n0.output}"})), [("REFERENCE_NOT_EARLIER", "n1")]),
        (
            branch("parallel", call("n1"), call("n2", args={"path": "${n1.output}"})),
            [("REFERENCE_PARALLEL", "n2")],
        ),
    ],
)
def test_each_flaw_of_a_node_has_its_code_and_names_the_node(
    root: ir.PlanNode, expected: list[tuple[str, str]]
) -> None:
    assert found(root) == expected


def test_references_are_ordered_by_what_is_done_not_by_where_it_stands() -> None:
    tree = branch(
        "sequential",
        branch("parallel", call("a"), branch("sequential", call("b"), call("c"), node_id="s"), node_id="p"),
        branch(
            "parallel", step("d", inputs={"x": "${a.output} ${c.output} ${p.output}"}), call("e"), node_id="q"
        ),
        ir.PlanNode(id="g", kind="gate", gate=ir.Gate(question="Send ${d.output.text}?")),
    )
    assert found(tree) == []
    cousin = step("d", inputs={"x": "${a.output}"})
    inside = branch("parallel", call("a"), branch("sequential", call("b"), cousin, node_id="s"))
    assert found(inside) == [("REFERENCE_PARALLEL", "d")]


def test_every_text_that_may_hold_a_reference_is_looked_at() -> None:
    frame = ir.Frame(verb="find", objects=(ir.SlotEntry(name="what", value="${gone.output}"),))
    made = ir.Frame(verb="find", success_criteria=(ir.DeliveredPredicate(artifact="${gone.output}"),))
    for node in (
        ir.PlanNode(
            id="n1", kind="sub_dispatch", sub_dispatch=ir.SubDispatch(skill_ref=SUB_SKILL, sub_intent=made)
        ),
        step(inputs={"a": "${gone.output}"}),
        call(args={"a": "${gone.output}"}),
        ir.PlanNode(id="n1", kind="gate", gate=ir.Gate(question="${gone.output}?")),
        ir.PlanNode(
            id="n1", kind="sub_dispatch", sub_dispatch=ir.SubDispatch(skill_ref=SUB_SKILL, sub_intent=frame)
        ),
    ):
        assert found(node) == [("REFERENCE_UNKNOWN", "n1")]


def test_a_secret_is_found_in_what_is_handed_to_another_skill() -> None:
    frame = ir.Frame(verb="find", objects=(ir.SlotEntry(name="key", value=f"ghp_{'a' * 36}"),))
    sub = ir.SubDispatch(skill_ref=SUB_SKILL, sub_intent=frame)
    assert found(ir.PlanNode(id="n1", kind="sub_dispatch", sub_dispatch=sub)) == [("SECRET_INLINE", "n1")]


def test_all_flaws_are_reported_not_only_the_first() -> None:
    root = branch(
        "sequential", call("", tool_ref="x", side_effect_class="y"), step("n2", prompt_name="", kind="z")
    )
    codes = [code for code, _ in found(root, id="", skill_ref="@latest")]
    assert codes == [
        "PLAN_ID_MISSING",
        "REF_UNPINNED",
        "NODE_ID_MISSING",
        "REF_UNPINNED",
        "TOOL_UNDECLARED",
        "SIDE_EFFECT_UNKNOWN",
        "STEP_EMPTY",
        "STEP_KIND_UNKNOWN",
    ]


def chain(levels: int) -> ir.PlanNode:
    node = call(f"n{levels}")
    for level in range(levels - 1, 0, -1):
        node = branch("sequential", node, node_id=f"n{level}")
    return node


def test_sixty_four_levels_are_allowed_and_sixty_five_are_not() -> None:
    assert found(chain(64)) == []
    assert found(chain(65)) == [("TOO_DEEP", "n65")]


def test_ten_thousand_nodes_are_allowed_and_one_more_is_not() -> None:
    many = [call(f"n{number}") for number in range(1, 10_000)]
    assert found(branch("parallel", *many)) == []
    assert found(branch("parallel", *many, call("last"))) == [("TOO_MANY_NODES", "last")]


@pytest.mark.parametrize(
    "ref",
    [
        "matrix://tool/fs/read@1.0.0",
        "t@0.0.0",
        "t@10.20.30",
        "t@1.0.0-alpha.1",
        "t@1.0.0+build.5",
        "t@1.0.0-rc.1+x",
        "t@sha256:" + "0a" * 32,
    ],
)
def test_a_version_or_a_digest_pins(ref: str) -> None:
    assert ir.is_pinned(ref)


@pytest.mark.parametrize(
    "ref",
    [
        "",
        "@",
        "@1.0.0",
        "t",
        "t@",
        "t@latest",
        "t@1",
        "t@1.0",
        "t@v1.0.0",
        "t@01.0.0",
        "t@1.0.0.0",
        "t@1.0.0-",
        "t@1.0.0 ",
        "t@1.0.0\n",
        "t@^1.0.0",
        "t@1.0.x",
        "t@\u0661.0.0",
        "t@sha256:" + "0A" * 32,
        "t@sha256:" + "0a" * 31,
        "t@1.0.0@latest",
        "two words@1.0.0",
    ],
)
def test_anything_else_is_a_bare_reference(ref: str) -> None:
    assert not ir.is_pinned(ref)


SECRETS = {
    "private key": "-----BEGIN OPENSSH " + "PRIVATE KEY-----\nabc",
    "aws": "AKIA" + "ABCDEFGHIJKLMNOP",
    "github": "token ghp_" + "a1B2" * 9,
    "fine-grained github": "github_pat_" + "a1B2c3_" * 10,
    "gitlab": "glpat-" + "a" * 20,
    "slack": "xoxb-" + "1" * 12,
    "stripe": "sk_live_" + "a" * 24,
    "google": "AIza" + "b" * 35,
    "npm": "npm_" + "c" * 36,
    "api": "sk-proj-" + "d" * 30,
    "api of words and more": "sk-or-v1-" + "0a" * 32,
    "api that begins like a name": "sk-learn-notes-" + "d" * 30,
    "password with a question mark": "https://me:" + "12345x?y@example.org/x",
    "jwt": "eyJhbGciOiJI." + "eyJzdWIiOiIx." + "SflKxwRJSMeK",
    "bearer": "Authorization: Bearer " + "e" * 32,
    "address": "https://me:" + "hunter22@example.org/x",
    "sendgrid": "SG." + "a1B2c3D4e5F6g7H8i9J0k1" + "." + "d" * 43,
    "azure": "AccountName=a;AccountKey=" + "e" * 86 + "==",
    "telegram": "bot 7482910365" + ":AA" + "f" * 33,
    "slack webhook": "https://hooks.slack.com/services" + "/T7K2PQ9RM/B4W8ZL3XN/" + "g" * 24,
}


@pytest.mark.parametrize("value", SECRETS.values(), ids=SECRETS)
def test_keys_and_tokens_are_found_by_their_shape(value: str) -> None:
    assert found(call(args={"text": value})) == [("SECRET_INLINE", "n1")]
    assert found(step(inputs={"text": value})) == [("SECRET_INLINE", "n1")]


@pytest.mark.parametrize(
    "name", ["password", "PASSWORD", "db_password", "api_key", "apiKey", "access-token", "secret"]
)
def test_a_literal_under_a_secret_name_is_found(name: str) -> None:
    assert found(call(args={name: "hunter2"})) == [("SECRET_INLINE", "n1")]
    assert found(call(args={name: "$env:SERVICE_PASSWORD"})) == []
    assert found(branch("sequential", call("a"), call("b", args={name: "${a.output.value}"}))) == []
    assert found(call(args={name: ""})) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("path", "notes/2026/risk-assessment.md"),
        ("max_tokens", "500"),
        ("key", "created_at"),
        ("url", "https://example.org:8080/a?b=c"),
        ("email", "someone@example.org"),
        ("sha", "0a" * 32),
        ("text", "task-skill disk-usage sk-"),
        ("text", "set password = hunter2 in the docs, and token: 'q8WnR4tY7uKpL2xVb9sDc5Fg'"),
        ("text", "AWS_SECRET_ACCESS_KEY is read where the deploy begins"),
        ("path", "sk-learn-notebook-classification.ipynb"),
        ("path", "notes/sk-sk-translation-guidelines-2026.md"),
        ("text", "div.sk-toggleable__label-arrow and sk-container-id-1-very-long-name-of-a-class"),
        ("text", "pypi-attestations-are-a-new-thing-for-python-packaging.md"),
        ("text", "what are glpat-prefixed-tokens-in-the-documentation?"),
        ("text", "mail a@b.example about https://example.org:443?next=x@y.example"),
        (
            "text",
            "MSG.something.else at 10:00:00:AA, AccountKey=<key>; hooks.slack.com/services/ is a prefix",
        ),
    ],
)
def test_ordinary_arguments_are_no_secrets(name: str, value: str) -> None:
    assert found(call(args={name: value})) == []


def test_the_table_of_codes_is_the_list_of_codes_in_use() -> None:
    import inspect
    import re

    documented = set(re.findall(r"^\| ([A-Z_]+) \|", ir.checks.__doc__ or "", re.MULTILINE))
    used = set(re.findall(r'"([A-Z]+(?:_[A-Z]+)+)"', inspect.getsource(ir.checks)))
    assert documented == used | {"REFERENCE_MALFORMED"}


@given(plans)
def test_any_plan_that_can_be_written_can_be_checked(tree: ir.PlanTree) -> None:
    for finding in ir.check_plan(tree, Skill(), intent_id="i1"):
        assert finding.code
        assert finding.fix


# ---- references by themselves ----


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", ()),
        ("plain $ {text}", ("plain $ {text}",)),
        ("${n1.output}", (ir.OutputRef("n1"),)),
        ("a ${n1.output.b} c", ("a ", ir.OutputRef("n1", ("b",)), " c")),
        ("${n1.output.path.to[0].field}", (ir.OutputRef("n1", ("path", "to", 0, "field")),)),
        ("${n1.output[10][0]}", (ir.OutputRef("n1", (10, 0)),)),
        ("${a.output}${b.output}", (ir.OutputRef("a"), ir.OutputRef("b"))),
        ("${a.output.output}", (ir.OutputRef("a", ("output",)),)),
        ("$${n1.output}", ("${n1.output}",)),
        ("x $${a} ${n1.output} $${b}", ("x ${a} ", ir.OutputRef("n1"), " ${b}")),
        ("$$${n1.output}", ("$${n1.output}",)),
    ],
)
def test_references_are_told_from_literal_text(text: str, pieces: tuple[object, ...]) -> None:
    assert ir.parse_references(text) == pieces


@pytest.mark.parametrize(
    "text",
    [
        "${",
        "${}",
        "${n1}",
        "${n1.outputs}",
        "${.output}",
        "${n1.output.}",
        "${n1.output[01]}",
        "${n1.output[-1]}",
        "${a b.output}",
        "${${a.output}.output}",
        "ok ${n1.output} ${HOME}",
    ],
)
def test_an_opening_that_starts_no_reference_is_an_error(text: str) -> None:
    with pytest.raises(ir.IrError) as caught:
        ir.parse_references(text)
    assert caught.value.code == "REFERENCE_MALFORMED"


def test_each_kind_of_terminal_node_has_its_field_and_names_fields_of_its_own() -> None:
    for kind, payload in ir.plan.PAYLOADS.items():
        assert ir.PlanNode.model_fields[kind].annotation == payload | None
        assert set(payload.referring) <= payload.model_fields.keys()
