"""What may be read: one JSON document, strictly, with the place named where it is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ('{"a":1,"a":1}', "DUPLICATE_KEY", "$"),
        ('{"frame":{"objects":[{},{"name":"a","name":"b"}]}}', "DUPLICATE_KEY", "$.frame.objects[1]"),
        ('{"a":{"b":1,"b":1},"a":2}', "DUPLICATE_KEY", "$"),
        ('{"a":[1,NaN]}', "NOT_A_NUMBER", "$.a[1]"),
        ('{"a":Infinity}', "NOT_A_NUMBER", "$.a"),
        ("[-Infinity]", "NOT_A_NUMBER", "$[0]"),
        ('{"a":1e400}', "NOT_A_NUMBER", "$.a"),
        ('{"a":["\\ud800"]}', "LONE_SURROGATE", "$.a[0]"),
        ('{"\\udc00":1}', "LONE_SURROGATE", "$"),
        ('{"a":{"b":9007199254740993}}', "INTEGER_TOO_LARGE", "$.a.b"),
        ('{"a":-9007199254740993}', "INTEGER_TOO_LARGE", "$.a"),
        ("9" * 100_000, "INTEGER_TOO_LARGE", "$"),
        ("[" * 65 + "]" * 65, "TOO_DEEP", "$" + "[0]" * 64),
        ('{"a":' * 65 + "1" + "}" * 65, "TOO_DEEP", "$" + ".a" * 64),
        ('[[],{"a":' + "[" * 63 + "]" * 63 + "}]", "TOO_DEEP", "$[1].a" + "[0]" * 62),
        ("[" * 1_000_000, "TOO_DEEP", "$"),
        ("", "JSON_SYNTAX", "1:1"),
        ("{'a':1}", "JSON_SYNTAX", "1:2"),
        ('{"a":1}\n{"b":2}', "JSON_SYNTAX", "2:1"),
        ('{"a":01}', "JSON_SYNTAX", "1:7"),
        ('["\t"]', "JSON_SYNTAX", "1:3"),
        ("\ufeff{}", "JSON_SYNTAX", "1:1"),
    ],
)
def test_bad_json_is_refused_with_code_and_place(text: str, code: str, place: str) -> None:
    for data in (text, text.encode()):
        with pytest.raises(ir.DocumentError) as caught:
            ir.parse_json(data)
        assert (caught.value.code, caught.value.place) == (code, place)


@pytest.mark.parametrize("data", [b"\xff\xfe{\x00}\x00", b'{"a":"\xff"}', b'"\xed\xa0\x80"'])
def test_bytes_that_are_not_utf8_are_refused(data: bytes) -> None:
    with pytest.raises(ir.DocumentError) as caught:
        ir.parse_json(data)
    assert caught.value.code == "NOT_UTF8"


@pytest.mark.parametrize(
    "text", ["[" * 64 + "]" * 64, "9007199254740992", "-9007199254740992", '"\\ud83d\\ude00"']
)
def test_the_limits_themselves_are_allowed(text: str) -> None:
    assert ir.parse_json(text) == json.loads(text)


@given(st.binary(max_size=40) | st.text(alphabet='{}[]":,0123456789eE+-.truefalsn \\u', max_size=40))
def test_any_input_is_read_as_json_reads_it_or_refused_with_an_error_of_ours(data: bytes | str) -> None:
    try:
        value = ir.parse_json(data)
    except ir.DocumentError:
        return
    assert value == json.loads(data)


@pytest.mark.parametrize(
    ("model", "text", "place"),
    [
        (ir.Frame, '{"verb":"find","colour":"red"}', "$.colour"),
        (ir.Frame, '{"verb":"fly"}', "$.verb"),
        (ir.Frame, '{"verb":"x:"}', "$.verb"),
        (ir.Frame, '{"verb":"Find"}', "$.verb"),
        (ir.Frame, '{"verb":"x:a\\n"}', "$.verb"),
        (ir.Frame, '{"objects":[{"name":"a"},{"name":1}]}', "$.objects[1].name"),
        (ir.Frame, '{"objects":{}}', "$.objects"),
        (ir.Frame, '{"constraints":[{"type":"fuel"}]}', "$.constraints[0]"),
        (ir.Frame, '{"constraints":[{"hard":true}]}', "$.constraints[0]"),
        (ir.Frame, '{"constraints":[{"type":"rule","hard":1}]}', "$.constraints[0].hard"),
        (ir.Frame, '{"constraints":[{"type":"quality","min":"1"}]}', "$.constraints[0].min"),
        (ir.Frame, '{"constraints":[{"type":"deadline","by":"tomorrow"}]}', "$.constraints[0].by"),
        (
            ir.Frame,
            '{"constraints":[{"type":"deadline","by":"2026-02-30T10:00:00Z"}]}',
            "$.constraints[0].by",
        ),
        (
            ir.Frame,
            '{"constraints":[{"type":"budget","max":{"amount":"-1"}}]}',
            "$.constraints[0].max.amount",
        ),
        (ir.AssetAmount, '{"amount":true}', "$.amount"),
        (ir.AssetAmount, '{"amount":"1e3"}', "$.amount"),
        (ir.AssetAmount, '{"amount":null}', "$.amount"),
        (ir.AssetAmount, '{"amount":-0.5}', "$.amount"),
        (ir.Frame, '{"preferences":[{"rank":1.5}]}', "$.preferences[0].rank"),
        (ir.Budget, '{"max_calls":-1}', "$.max_calls"),
        (ir.Budget, '{"max_calls":true}', "$.max_calls"),
        (ir.Budget, '{"max_time":"30 minutes"}', "$.max_time"),
        (ir.PlanTree, '{"root":{"children":[{"result_text":"x"}]}}', "$.root.children[0].result_text"),
        (ir.PlanTree, '{"root":{"tool_call":{"args":{"n":3}}}}', "$.root.tool_call.args.n"),
        (ir.PlanTree, '{"v":"mcl/9"}', "$.v"),
        (ir.Intent, "{}", "$.id"),
        (ir.Unknown, '{"id":"u1","severity":"fatal"}', "$.severity"),
        (ir.Frame, "[]", "$"),
    ],
)
def test_a_document_of_the_wrong_shape_is_refused_at_its_place(
    model: type[ir.Document], text: str, place: str
) -> None:
    with pytest.raises(ir.DocumentError) as caught:
        model.from_json(text)
    assert (caught.value.code, caught.value.place) == ("DOCUMENT_SHAPE", place)


OWN_FIELDS = {
    "budget": {"max": {}},
    "deadline": {"by": ""},
    "jurisdiction": {"allow": [], "deny": []},
    "quality": {"metric": "", "min": 0},
    "rule": {"rule": ""},
    "policy": {"policy": ""},
    "x:mine": {"schema": "", "data": ""},
}
OWN_PREDICATE_FIELDS = {
    "delivered": {"artifact": ""},
    "signed_off": {"by": ""},
    "external": {"url": "", "check": ""},
    "attestation": {"source": "", "topic": ""},
    "x:mine": {"schema": "", "data": ""},
}


@pytest.mark.parametrize(
    ("where", "table"), [("constraints", OWN_FIELDS), ("success_criteria", OWN_PREDICATE_FIELDS)]
)
def test_each_type_takes_its_own_fields_and_no_others(
    where: str, table: dict[str, dict[str, object]]
) -> None:
    every = {name: value for fields in table.values() for name, value in fields.items()}
    for kind, own in table.items():
        for name, value in every.items():
            text = json.dumps({where: [{"type": kind, name: value}]})
            if name in own:
                ir.Frame.from_json(text)
            else:
                with pytest.raises(ir.DocumentError) as caught:
                    ir.Frame.from_json(text)
                assert caught.value.place == f"$.{where}[0].{name}"


def test_every_flaw_of_a_shape_is_listed() -> None:
    with pytest.raises(ir.DocumentError) as caught:
        ir.Frame.from_json('{"verb":"fly","objects":[{"nme":"a"}]}')
    flaws = caught.value.to_json()["flaws"]
    assert isinstance(flaws, list)
    assert [flaw["place"] for flaw in flaws] == ["$.verb", "$.objects[0].nme"]


def test_canonical_reading_refuses_other_bytes_of_the_same_document() -> None:
    assert ir.Frame.from_json('{"verb": "find"}').verb == "find"
    for text in ('{"verb": "find"}', '{"verb":"find","objects":[]}', '{"verb":"\\u0066ind"}'):
        with pytest.raises(ir.DocumentError) as caught:
            ir.Frame.from_json(text, canonical=True)
        assert caught.value.code == "NOT_CANONICAL"


def test_a_plan_of_sixty_four_levels_can_be_read() -> None:
    node = ir.PlanNode(id="n64", kind="gate", gate=ir.Gate(question="?"))
    for level in range(63, 0, -1):
        node = ir.PlanNode(id=f"n{level}", kind="sequential", children=(node,))
    plan = ir.PlanTree(id="p", intent_id="i", skill_ref="matrix://skill/a@1.0.0", root=node)
    assert ir.PlanTree.from_json(ir.canonical_bytes(plan)) == plan


def test_documents_and_their_free_maps_are_frozen() -> None:
    call = ir.ToolCall(args={"a": "1"})
    with pytest.raises(ValueError, match="frozen"):
        call.tool_ref = "x"  # type: ignore[misc]  # that it is refused is what is tested
    for change in (
        lambda: call.args.__setitem__("a", "2"),
        lambda: call.args.update(a="2"),
        lambda: call.args.pop("a"),
        lambda: call.args.setdefault("b", "2"),
        call.args.clear,
    ):
        with pytest.raises(TypeError):
            change()
    assert json.dumps(call.args) == '{"a": "1"}'
    assert call.model_copy(deep=True) == call


@pytest.mark.parametrize(("given", "value"), [("12.50", "12.50"), (12, "12"), (12.5, "12.5"), (0.1, "0.1")])
def test_an_amount_is_kept_as_given_and_compared_as_a_decimal(given: str | float, value: str) -> None:
    amount = ir.AssetAmount(asset="EUR", amount=given)
    assert amount.amount == given
    assert type(amount.amount) is type(given)
    assert str(amount.value) == value
    assert ir.AssetAmount(amount="12.50").value == ir.AssetAmount(amount=12.5).value


def test_python_values_are_not_converted_either() -> None:
    for fields in ({"max_calls": "1"}, {"max_calls": True}, {"max_calls": 1.0}, {"max_time": 3}):
        with pytest.raises(ValueError, match="validation error"):
            ir.Budget.model_validate(fields)
