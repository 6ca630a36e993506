"""Slot text is data: whatever it is, the plan keeps its shape and its references."""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_finding_skills import SKILL

from executor.gate.references import typed_args
from ir import Intent, PlanTree, parse_references
from ir.references import OutputRef
from mcl.catalog.tools import registry
from mcl.core.errors import SkillError
from mcl.language.plans.planner import make_plan
from mcl.language.skills import Skill, load_skill
from mcl.plugins.authoring.checks import validate_skill

PLAN = """version: 1
plans:
  - when: {verb: find, slot.what: [x, y]}
    root:
      id: all
      kind: sequential
      children:
        - id: one
          kind: tool_call
          tool_call:
            tool_ref: matrix://tool/fs/search@1.0.0
            side_effect_class: read
            args:
              alone: "${slot.text}"
              address: "${slot.text.uri}"
              many: "${slot.tags}"
              inside: "a${slot.text}${prose}$${slot.text} ${slot.tags}!"
              flag: true
              number: 5
        - id: two
          kind: tool_call
          tool_call:
            tool_ref: matrix://tool/fs/write@1.0.0
            side_effect_class: write
            timeout_ms: 1000
            args:
              content: "${slot.text}: ${one.output.text} ${one.output.matches[0].line}${slot.text}"
              id: "${intent.id}"
        - {id: three, kind: gate, gate: {question: "Is ${slot.text} right?", options: [approve]}}
"""
AGENT = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"


@pytest.fixture(scope="module")
def skill(tmp_path_factory: pytest.TempPathFactory) -> Skill:
    folder = tmp_path_factory.mktemp("skills") / "one"
    folder.mkdir()
    text = SKILL.format(id="one", version="1.0.0").replace(
        "§CORTEX", "slot text: string\n  optional\n§CORTEX"
    )
    text = text.replace("§TOOLS\nnone", "§TOOLS\nmatrix://tool/fs/search@1.0.0\nmatrix://tool/fs/write@1.0.0")
    (folder / "SKILL.mtx").write_text(text, encoding="utf-8")
    (folder / "plan.yaml").write_text(PLAN, encoding="utf-8")
    return load_skill(folder)


def made(
    skill: Skill, prose: str, *objects: tuple[str, str, str], verb: str = "find", registry: object = None
) -> PlanTree:
    intent = Intent.from_json(
        json.dumps(
            {
                "id": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
                "v": "mcl/0.1",
                "actor": AGENT,
                "agent": AGENT,
                "prose": prose,
                "frame": {
                    "verb": verb,
                    "objects": [{"name": name, "value": value, "uri": uri} for name, value, uri in objects],
                },
                "state": "proposed",
                "created_at": "2026-11-21T10:00:00.000Z",
            }
        )
    )
    return make_plan(
        skill,
        intent,
        id="01ARZ3NDEKTSV4RRFFQ69G5FAW",
        created_at="2026-11-21T10:00:01.000Z",
        created_by=AGENT,
        registry=registry,
    )


def literal(text: str) -> str:
    pieces = parse_references(text)
    assert all(isinstance(piece, str) for piece in pieces), text
    return "".join(str(piece) for piece in pieces)


hostile = st.text(st.sampled_from("${}a.n\\\"'\n: one.outputé"), max_size=12) | st.sampled_from(
    ["${one.output}", "$${one.output}", "$", "{one.output}", "${slot.text}", "$env:HOME", "*", "}"]
)


@given(hostile.filter(bool), hostile, st.lists(hostile.filter(bool), min_size=1, max_size=3))
@settings(max_examples=80, deadline=None)
def test_slot_text_never_changes_the_plan_and_never_becomes_a_reference(
    skill: Skill, text: str, prose: str, tags: list[str]
) -> None:
    tree = made(skill, prose, ("what", "x", ""), ("text", text, ""), *(("tags", tag, "") for tag in tags))
    _, one, two, three = (node for node, _ in tree.root.walk())
    assert [node.id for node, _ in tree.root.walk()] == ["all", "one", "two", "three"]
    assert one.tool_call
    assert two.tool_call
    assert three.gate
    args = one.tool_call.args
    assert set(args) == {"alone", "many", "inside", "flag", "number"}
    assert literal(args["alone"]) == text
    assert json.loads(literal(args["many"])) == tags
    assert literal(args["inside"]) == f"a{text}{prose}" + "${slot.text} " + ", ".join(tags) + "!"
    assert parse_references(two.tool_call.args["content"]) == (
        f"{text}: ",
        OutputRef("one", ("text",)),
        " ",
        OutputRef("one", ("matches", 0, "line")),
        text,
    )
    assert literal(three.gate.question) == f"Is {text} right?"


@pytest.fixture(scope="module")
def posting(tmp_path_factory: pytest.TempPathFactory) -> Skill:
    """A skill whose argument is an object with places in it."""
    folder = tmp_path_factory.mktemp("skills") / "one"
    folder.mkdir()
    text = SKILL.format(id="one", version="1.0.0").replace(
        "§CORTEX", "slot text: string\n  optional\n§CORTEX"
    )
    text = text.replace("§TOOLS\nnone", "§TOOLS\nmatrix://tool/http/request@1.0.0")
    (folder / "SKILL.mtx").write_text(text, encoding="utf-8")
    document = {"title": "about ${slot.text}!", "tags": ["${slot.text}", "${prose}"], "n": 1}
    call = {
        "tool_ref": "matrix://tool/http/request@1.0.0",
        "side_effect_class": "network",
        "args": {"json": document, "body": "{${slot.text}}"},
    }
    node = {"id": "one", "kind": "tool_call", "tool_call": call}
    (folder / "plan.yaml").write_text(json.dumps({"version": 1, "plans": [{"root": node}]}), encoding="utf-8")
    return load_skill(folder)


@given(hostile.filter(bool), hostile)
@settings(max_examples=80, deadline=None)
def test_slot_text_in_a_json_document_stays_a_text_of_it(posting: Skill, text: str, prose: str) -> None:
    (node,) = (node for node, _ in made(posting, prose, ("text", text, "")).root.walk())
    assert node.tool_call
    call, tool = node.tool_call, registry().find(node.tool_call.tool_ref)
    args = typed_args(call.args, tool, {}, call.documents)
    assert args["json"] == {"title": f"about {text}!", "tags": [text, prose], "n": 1}
    assert args["body"] == f"{{{text}}}"


def test_an_argument_that_nothing_fills_is_left_out_and_numbers_become_text(skill: Skill) -> None:
    tree = made(skill, "p", ("what", "x", ""), ("text", "t", "matrix://cortex/Fact/t@v1"))
    call = tree.root.children[0].tool_call
    assert call is not None
    assert dict(call.args) == {
        "alone": "t",
        "address": "matrix://cortex/Fact/t@v1",
        "many": '["a"]',
        "inside": "atp${slot.text} a!".replace("${", "$${"),
        "flag": "true",
        "number": "5",
    }
    second = tree.root.children[1].tool_call
    assert second is not None
    assert second.timeout_ms == 1000


def test_a_text_that_needs_an_empty_slot_is_told_with_the_way_out(skill: Skill) -> None:
    with pytest.raises(SkillError) as refused:
        made(skill, "p", ("what", "x", ""))
    assert (refused.value.code, refused.value.place, refused.value.exit) == ("SLOT_EMPTY", "slot.text", 3)


def test_no_case_that_holds_is_told(skill: Skill) -> None:
    with pytest.raises(SkillError) as refused:
        made(skill, "p", ("text", "t", ""))
    assert refused.value.code == "NO_PLAN"


def test_a_tool_that_is_not_installed_is_told(skill: Skill) -> None:
    class Nothing:
        def find(self, reference: str) -> None:
            return None

        def fault(self, reference: str) -> None:
            return None

    with pytest.raises(SkillError) as refused:
        made(skill, "p", ("what", "x", ""), ("text", "t", ""), registry=Nothing())
    assert refused.value.code == "TOOL_MISSING"


def test_a_plan_that_breaks_the_rules_of_plans_is_told_with_all_findings(
    skill: Skill, tmp_path: Path
) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "SKILL.mtx").write_bytes((skill.path / "SKILL.mtx").read_bytes())
    plan = 'version: 1\nplans: [{root: {id: a, kind: tool_call, tool_call: {tool_ref: "matrix://tool/x@latest"}}}]\n'
    (folder / "plan.yaml").write_text(plan)
    with pytest.raises(SkillError) as refused:
        made(load_skill(folder), "p", ("what", "x", ""))
    assert refused.value.code == "PLAN_FLAWED"
    assert {finding["code"] for finding in refused.value.data["findings"]} >= {"REF_UNPINNED"}


def test_the_same_intent_gives_the_same_plan(skill: Skill) -> None:
    objects = (("what", "x", ""), ("text", "t", ""))
    assert made(skill, "p", *objects).hash == made(skill, "p", *objects).hash


ASKING = """version: 1
plans:
  - root: {{id: ask, kind: gate, gate: {{question: "Send it?", options: {options}}}}}
"""


@pytest.mark.parametrize(
    ("options", "names", "refuses", "codes"),
    [
        ("[send, {name: drop it, continues: false}]", ("send", "drop it"), ("drop it",), []),
        ("[{name: send, continues: true}, deny]", ("send", "deny"), (), []),
        ("[send, nope]", ("send", "nope"), (), ["OPTIONS_NONE_REFUSES"]),
        ("[send, {name: no, continues: true}]", None, (), ["PLAN_INVALID"]),
        ("[send, {name: yes, continues: false}]", None, (), ["OPTION_INVALID"]),
        ("[{name: stop, continues: false}]", None, (), ["OPTIONS_ALL_REFUSE"]),
        ("[send, {name: stop, continues: perhaps}]", None, (), ["PLAN_INVALID"]),
        ("[send, {name: stop, refuses: true}]", None, (), ["PLAN_INVALID"]),
        ("[send, {continues: false}]", None, (), ["PLAN_INVALID"]),
        ("[send], refuses: [send]", None, (), ["PLAN_INVALID", "PLAN_INVALID"]),
    ],
)
def test_an_option_says_whether_it_goes_on(
    tmp_path: Path, options: str, names: tuple[str, ...] | None, refuses: tuple[str, ...], codes: list[str]
) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    text = SKILL.format(id="one", version="1.0.0")
    (folder / "SKILL.mtx").write_text(text, encoding="utf-8")
    (folder / "plan.yaml").write_text(ASKING.format(options=options), encoding="utf-8")
    [_, report] = validate_skill(folder)
    found = [*report.errors, *report.warnings]
    assert sorted({one.code for one in found}) == sorted(set(codes)), found
    assert all(one.line == 3 for one in found)
    if names is not None:
        gate = made(load_skill(folder), "x").root.gate
        assert gate is not None
        assert (gate.options, gate.refuses) == (names, refuses)
