"""What fills a place of a plan is one value: it adds, removes and changes nothing beside itself.

The way is the real one: plan.yaml, its check, the plan of an Intent, the walk, and what the tool takes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from test_finding_skills import SKILL
from walks import Walks, probe

import ir
from executor import Bench, Home, Manifest, Registry
from executor.gate.references import typed_args
from ir.references import place_in_json
from mcl.catalog.manifests import manifest_of
from mcl.catalog.tools.registry import shipped_tools
from mcl.core.errors import SkillError
from mcl.language.plans.planner import make_plan
from mcl.language.plans.template import read_shape
from mcl.language.skills import Skill, load_skill
from mcl.plugins.authoring.checks import validate_skill

KINDS: dict[str, dict[str, Any]] = {
    "object": {"type": "object"},
    "string": {"type": "string"},
}
SLOTS = (
    "slot product: string\n  optional\nslot amount: uint\n  optional\nslot price: float\n  optional\n"
    "slot gift: bool\n  optional\nslot notes: string[]\n  optional\n§CORTEX"
)
ORDER = """
                product: "${slot.product}"
                amount: "${slot.amount}"
                price: "${slot.price}"
                gift: "${slot.gift}"
                notes: "${slot.notes}"
                said: "for ${slot.product}, from ${first.output.text}"
                found: "${first.output}"
                lines:
                  - {text: "${slot.product}", n: 1}
                  - [null, true, 2.5, "$${literal}", "${slot.product.uri}"]"""
PLAN = """version: 1
plans:
  - root:
      id: all
      kind: sequential
      children:
        - id: first
          kind: tool_call
          tool_call: {tool_ref: "matrix://tool/test/first@1.0.0", side_effect_class: read}
        - id: order
          kind: tool_call
          tool_call:
            tool_ref: matrix://tool/test/order@1.0.0
            side_effect_class: read
            args:
              body: BODY
"""


def skill_of(folder: Path, body: str) -> Skill:
    return load_skill(written(folder, body))


def written(folder: Path, body: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    text = SKILL.format(id=folder.name, version="1.0.0").replace("§CORTEX", SLOTS)
    tools = "§TOOLS\nmatrix://tool/test/first@1.0.0\nmatrix://tool/test/order@1.0.0"
    (folder / "SKILL.mtx").write_text(text.replace("§TOOLS\nnone", tools), encoding="utf-8")
    (folder / "plan.yaml").write_text(PLAN.replace("BODY", body), encoding="utf-8")
    return folder


class Shop:
    """A home with a tool that takes an order, and one whose words come before it."""

    def __init__(self, walks: Walks, kind: str) -> None:
        self.walks, self.taken, self.words = walks, list[object](), ""

        async def order(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
            self.taken.append(args["body"])
            return {}

        async def first(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
            return {"text": self.words}

        schema = {"type": "object", "additionalProperties": False, "properties": {"body": KINDS[kind]}}
        walks.tools[:] = [probe("order", order, args=schema), probe("first", first)]

    def order(self, skill: Skill, words: str, slots: Mapping[str, str]) -> Any:
        """What the tool is called with, its text read as JSON."""
        self.words = words
        keys, clock = self.walks.home.keyring, self.walks.home.clock
        intent = ir.Intent.model_validate(
            {
                **{"id": clock.new_id(), "v": "mcl/0.1", "actor": keys.user.did, "agent": keys.agent.did},
                **{"prose": "order", "state": "proposed", "created_at": clock.now()},
                "frame": {
                    "verb": "find",
                    "objects": [
                        {"name": name, "value": value} for name, values in slots.items() for value in [values]
                    ],
                },
            }
        )
        plan = make_plan(
            skill,
            ir.with_hash(intent),
            id=clock.new_id(),
            created_at=clock.now(),
            created_by=keys.agent.did,
            registry=Registry([*shipped_tools(), *self.walks.tools]),
        )
        outcome = self.walks.run(self.walks.accept(json.loads(plan.root.model_dump_json(exclude_none=True))))
        assert outcome.failure is None, outcome.failure
        return self.taken.pop()


@pytest.fixture(scope="module")
def shops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Shop]]:
    folder = tmp_path_factory.mktemp("shops")
    homes = [Home.open(folder / kind) for kind in KINDS]
    made = {}
    for kind, home in zip(KINDS, homes, strict=True):
        (folder / f"{kind}-work").mkdir()
        made[kind] = Shop(Walks(home, folder / f"{kind}-work"), kind)
    yield made
    for home in homes:
        home.close()


@pytest.fixture(scope="module")
def skill(tmp_path_factory: pytest.TempPathFactory) -> Skill:
    return skill_of(tmp_path_factory.mktemp("skills") / "one", ORDER)


EVIL = (
    'x", "admin": true, "y": "',
    '"}, {"a": 1',
    "${first.output.text}",
    "$${",
    '\\", "a": 1',
    "{}",
    "7",
    "true",
    "null",
)
hostile = (st.sampled_from(EVIL) | st.text(alphabet=st.sampled_from('"{}[],:\\$ .ab\n0')) | st.text()).filter(
    bool
)


@given(product=hostile, words=hostile, amount=st.integers(0, 10**9), notes=hostile, data=st.data())
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@pytest.mark.parametrize("kind", KINDS)
def test_no_value_adds_removes_or_changes_another_field(
    shops: dict[str, Shop],
    skill: Skill,
    kind: str,
    product: str,
    words: str,
    amount: int,
    notes: str,
    data: Any,
) -> None:
    slots = {"product": product, "amount": str(amount), "price": "2.50", "gift": "true", "notes": notes}
    left_out = data.draw(st.sampled_from(["", "amount", "gift", "notes"]))
    slots.pop(left_out, None)
    body = shops[kind].order(skill, words, slots)
    if kind == "string":
        body = json.loads(body)
    wanted = {
        "product": product,
        "amount": amount,
        "price": 2.5,
        "gift": True,
        "notes": [notes],
        "said": f"for {product}, from {words}",
        "found": {"text": words},
        "lines": [{"text": product, "n": 1}, [None, True, 2.5, "${literal}"]],
    }
    wanted.pop(left_out, None)
    assert body == wanted
    assert {name: type(value) for name, value in body.items()} == {
        name: type(value) for name, value in wanted.items()
    }


IN_JSON = [
    """'{"product": "${slot.product}", "amount": ${slot.amount}}'""",
    """'{"product": "${slot.product}", "amount": 1}'""",
    """'{"${slot.product}": 1}'""",
    """'{${slot.product}: 1}'""",
    """' [1, ${slot.amount}] '""",
    """'["a", "${slot.product}"]'""",
    """'[{"a": "${prose}"}]'""",
    """'{"a": {"b": ["${slot.product}"]}}'""",
    """'{"a": 1 ${slot.product} "b": 2}'""",
    """'{"a": tr${slot.product}'""",
    """'{"text": "${first.output.text}"}'""",
    """'{"a": 1}\n\n{"a": "${slot.product}"}'""",
    """'order={"a": "${slot.product}"}&x=1'""",
    """'```json {"a": "${slot.product}"} ```'""",
    """{inner: '{"a": "${slot.product}"}'}""",
    """['{"a": "${slot.product}"}']""",
]


@pytest.mark.parametrize("body", IN_JSON)
def test_a_place_in_a_text_of_json_is_refused_with_place_and_mend(
    tmp_path: Path, body: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    folder = written(tmp_path / "one", body)
    [flaw] = [one for one in validate_skill(folder)[1].errors if one.code == "PLACE_IN_JSON"]
    assert (flaw.line, flaw.column > 1) == (16, True)
    assert "object or a list" in flaw.hint
    with pytest.raises(SkillError) as refused:
        load_skill(folder)
    assert "PLACE_IN_JSON" in str(refused.value.data)


PROSE = [
    """'${slot.product}'""",
    """'[${slot.product}](${slot.product})'""",
    """'[${slot.product}] and [${slot.product}]'""",
    """'- [ ] ${slot.product} {soon}'""",
    """'He said "${slot.product}": {${slot.product}}'""",
    """'{"a": 1} is not ${slot.product}'""",
    """'$${slot.product} {"a": 1}'""",
]


@pytest.mark.parametrize("body", PROSE)
def test_a_place_beside_json_or_in_prose_is_none_of_it(tmp_path: Path, body: str) -> None:
    skill = skill_of(tmp_path / "one", body)
    assert skill.template is not None


@given(st.lists(st.none() | st.text(alphabet=st.sampled_from('"{}[],:\\ a1\n\x00')) | st.text(), max_size=6))
def test_looking_for_json_ends_and_finds_a_place_in_every_document(pieces: list[str | None]) -> None:
    place_in_json(pieces)
    assert not place_in_json([piece for piece in pieces if piece is not None])


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    ).filter(lambda value: bool(value) and isinstance(value, dict | list)),
    st.data(),
)
def test_a_place_anywhere_in_a_document_is_found(value: Any, data: Any) -> None:
    text = json.dumps(value, ensure_ascii=data.draw(st.booleans()))
    at = data.draw(st.integers(1, len(text) - 1))
    assert place_in_json([text[:at], None, text[at:]]) or text[at - 1] == "\\" or at < 3


def test_a_reference_in_a_text_of_json_is_refused_before_the_run_too(tmp_path: Path) -> None:
    with Home.open(tmp_path / "home") as home:
        (tmp_path / "work").mkdir()
        walks = Walks(home, tmp_path / "work")
        shop = Shop(walks, "string")
        call = {
            "tool_ref": "matrix://tool/test/order@1.0.0",
            "side_effect_class": "read",
            "args": {"body": '{"a": "${first.output.text}"}'},
        }
        first = {"tool_ref": "matrix://tool/test/first@1.0.0", "side_effect_class": "read"}
        nodes = [
            {"id": "first", "kind": "tool_call", "tool_call": first},
            {"id": "order", "kind": "tool_call", "tool_call": call},
        ]
        outcome = walks.run(walks.accept({"id": "all", "kind": "sequential", "children": nodes}))
        assert outcome.state == "denied"
        assert shop.taken == []
        assert outcome.failure is not None
        assert (outcome.failure.code, outcome.failure.node_id) == ("PLACE_IN_JSON", "order")
        assert "object or a list" in outcome.failure.fix


class Finds:
    """The tools of a build with one of another server."""

    def __init__(self, manifest: Manifest) -> None:
        self.manifest = manifest

    def find(self, reference: str) -> Manifest | None:
        return self.manifest if reference == self.manifest.uri else None


def anything(schema: dict[str, Any]) -> Manifest:
    names = ("product", "amount", "said")
    args = {"type": "object", "properties": dict.fromkeys(names, schema)}
    return manifest_of("shop", {"name": "order", "inputSchema": args}, trusted=True)


OPEN: list[dict[str, Any]] = [{}, {"type": ["string", "object", "number"]}]


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Skill:
    folder = tmp_path_factory.mktemp("skills") / "one"
    folder.mkdir()
    uri = anything({}).uri
    text = SKILL.format(id="one", version="1.0.0").replace("§CORTEX", SLOTS)
    (folder / "SKILL.mtx").write_text(text.replace("§TOOLS\nnone", f"§TOOLS\n{uri}"), encoding="utf-8")
    args = {"product": "${slot.product}", "amount": "${slot.amount}", "said": "[${slot.product}"}
    call = {"tool_ref": uri, "side_effect_class": "network", "args": args}
    node = {"id": "one", "kind": "tool_call", "tool_call": call}
    (folder / "plan.yaml").write_text(json.dumps({"version": 1, "plans": [{"root": node}]}), encoding="utf-8")
    return load_skill(folder)


@given(product=hostile | st.sampled_from(['{"$ne": null}', "[1]", "7", '"x"', "null"]))
@pytest.mark.parametrize("schema", OPEN)
def test_where_a_tool_takes_anything_a_slot_stays_what_it_is(
    outside: Skill, schema: dict[str, Any], product: str
) -> None:
    manifest = anything(schema)
    objects = [{"name": "product", "value": product}, {"name": "amount", "value": "7"}]
    intent = ir.Intent.model_validate(
        {
            **{"id": "0" * 26, "v": "mcl/0.1", "actor": "a", "agent": "b", "prose": "order"},
            **{"state": "proposed", "created_at": "2026-11-21T10:00:00.000Z"},
            "frame": {"verb": "find", "objects": objects},
        }
    )
    at = {"id": "1" * 26, "created_at": "2026-11-21T10:00:00.000Z", "created_by": "b"}
    call = make_plan(outside, intent, registry=Finds(manifest), **at).root.tool_call
    assert call is not None
    typed = typed_args(call.args, manifest, {}, call.documents)
    assert typed == {"product": product, "amount": 7, "said": f"[{product}"}


def test_json_in_what_is_handed_to_a_skill_below_has_no_places(tmp_path: Path) -> None:
    frame = {"verb": "find", "objects": [{"name": "what", "value": '{"a": "${slot.product}"}'}]}
    sub = {"skill_ref": "matrix://skill/x@1.0.0", "sub_intent": frame}
    node = {"id": "n1", "kind": "sub_dispatch", "sub_dispatch": sub}
    data = json.dumps({"version": 1, "plans": [{"root": node}]}).encode()
    assert [flaw.code for flaw in read_shape(data, None).findings] == ["PLACE_IN_JSON"]
