"""The canonical bytes: against public vectors, an outside oracle and a second implementation."""

from __future__ import annotations

import hashlib
import json
import math
import struct
from pathlib import Path

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st
from independent_canonical import canonical as independent
from ir_strategies import ULID, documents, frames, intents, plans, texts

import ir
from ir.canonical import number_text

doubles = st.integers(0, 2**64 - 1).map(lambda bits: struct.unpack(">d", struct.pack(">Q", bits))[0])


@pytest.mark.parametrize("name", ["arrays", "french", "structures", "unicode", "values", "weird"])
def test_the_public_jcs_vectors_give_their_published_bytes(shared: Path, name: str) -> None:
    given_bytes = (shared / "vectors/jcs/input" / f"{name}.json").read_bytes()
    published = (shared / "vectors/jcs/output" / f"{name}.json").read_bytes()
    assert ir.canonical_bytes(ir.parse_json(given_bytes)) == published.rstrip(b"\n")


# RFC 8785, appendix B.
@pytest.mark.parametrize(
    ("bits", "text"),
    [
        ("0000000000000000", "0"),
        ("8000000000000000", "0"),
        ("0000000000000001", "5e-324"),
        ("8000000000000001", "-5e-324"),
        ("7fefffffffffffff", "1.7976931348623157e+308"),
        ("ffefffffffffffff", "-1.7976931348623157e+308"),
        ("4340000000000000", "9007199254740992"),
        ("c340000000000000", "-9007199254740992"),
        ("4430000000000000", "295147905179352830000"),
        ("44b52d02c7e14af5", "9.999999999999997e+22"),
        ("44b52d02c7e14af6", "1e+23"),
        ("44b52d02c7e14af7", "1.0000000000000001e+23"),
        ("444b1ae4d6e2ef4e", "999999999999999700000"),
        ("444b1ae4d6e2ef4f", "999999999999999900000"),
        ("444b1ae4d6e2ef50", "1e+21"),
        ("3eb0c6f7a0b5ed8c", "9.999999999999997e-7"),
        ("3eb0c6f7a0b5ed8d", "0.000001"),
        ("41b3de4355555553", "333333333.3333332"),
        ("41b3de4355555554", "333333333.33333325"),
        ("41b3de4355555555", "333333333.3333333"),
        ("41b3de4355555556", "333333333.3333334"),
        ("41b3de4355555557", "333333333.33333343"),
        ("becbf647612f3696", "-0.0000033333333333333333"),
        ("43143ff3c1cb0959", "1424953923781206.2"),
    ],
)
def test_doubles_are_written_as_rfc_8785_lists_them(bits: str, text: str) -> None:
    assert ir.canonical_bytes([struct.unpack(">d", bytes.fromhex(bits))[0]]).decode() == f"[{text}]"


@given(doubles.filter(math.isfinite))
def test_every_double_is_written_as_the_oracle_writes_it(value: float) -> None:
    assert number_text(value).encode() == rfc8785.dumps(value)


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(json_values)
def test_plain_values_get_the_bytes_of_the_oracle(value: object) -> None:
    try:
        published = rfc8785.dumps(value)  # type: ignore[arg-type]  # a JSON value
    except rfc8785.CanonicalizationError:  # lone surrogates
        with pytest.raises(ir.DocumentError):
            ir.canonical_bytes(value)
    else:
        assert ir.canonical_bytes(value) == published


@given(documents)
def test_documents_get_the_bytes_of_a_second_implementation(document: ir.Document) -> None:
    assert ir.canonical_bytes(document) == independent(document)
    assert ir.canonical_bytes(document) == rfc8785.dumps(ir.as_document(document))


@given(st.one_of(intents, plans, frames))
def test_reading_canonical_bytes_gives_the_same_document_and_the_same_bytes(document: ir.Document) -> None:
    data = ir.canonical_bytes(document)
    read = type(document).from_json(data, canonical=True)
    assert read == document
    assert ir.canonical_bytes(read) == data


@given(st.dictionaries(texts, texts, max_size=3), st.dictionaries(texts, texts, max_size=3))
def test_different_arguments_never_share_bytes(one: dict[str, str], other: dict[str, str]) -> None:
    same = ir.canonical_bytes(ir.ToolCall(args=one)) == ir.canonical_bytes(ir.ToolCall(args=other))
    assert same == (one == other)


@pytest.mark.parametrize(
    ("document", "text"),
    [
        (ir.Frame(), "{}"),
        (ir.SubDispatch(sub_intent=ir.Frame()), '{"sub_intent":{}}'),
        (ir.BudgetConstraint(max=ir.AssetAmount()), '{"max":{},"type":"budget"}'),
        (ir.PlanNode(tool_call=ir.ToolCall()), '{"tool_call":{}}'),
        (ir.PlanNode(children=(ir.PlanNode(), ir.PlanNode())), '{"children":[{},{}]}'),
        (ir.ToolCall(args={}), "{}"),
        (ir.ToolCall(args={"a": ""}), '{"args":{"a":""}}'),
        (ir.Gate(options=("", "b")), '{"options":["","b"]}'),
        (ir.QualityConstraint(min=-0.0, hard=False), '{"type":"quality"}'),
        (ir.QualityConstraint(min=1e-7), '{"min":1e-7,"type":"quality"}'),
        (ir.QualityConstraint(min=2.0), '{"min":2,"type":"quality"}'),
        (ir.AssetAmount(amount="0"), '{"amount":"0"}'),
        (ir.Budget(), "{}"),
        (ir.Budget(max_calls=0), '{"max_calls":0}'),
        (ir.Budget(max_agents=0, max_calls=2), '{"max_agents":0,"max_calls":2}'),
        (ir.SlotEntry(value="<a href='x'>&</a>"), '{"value":"<a href=\'x\'>&</a>"}'),
        (ir.ToolCall(args={"\ue000": "1", "\U0001f600": "2"}), '{"args":{"\U0001f600":"2","\ue000":"1"}}'),
    ],
)
def test_only_schema_fields_are_left_out_and_only_when_empty_themselves(
    document: ir.Document, text: str
) -> None:
    assert ir.canonical_bytes(document).decode() == text
    assert independent(document).decode() == text


def test_an_empty_frame_stays_in_its_intent() -> None:
    assert b'"frame":{}' in ir.canonical_bytes(small_intent(frame=ir.Frame()))


@pytest.mark.parametrize("value", [2**53 + 1, -(2**53) - 1, [10**30], {"a": {"b": 2**60}}])
def test_integers_beyond_two_to_the_53_are_refused_and_never_rounded(value: object) -> None:
    with pytest.raises(ir.DocumentError) as caught:
        ir.canonical_bytes(value)
    assert caught.value.code == "INTEGER_TOO_LARGE"


def test_two_to_the_53_itself_is_written() -> None:
    assert (
        ir.canonical_bytes([2**53, -(2**53), 2.0**53])
        == b"[9007199254740992,-9007199254740992,9007199254740992]"
    )


def test_a_number_smuggled_past_the_types_is_refused() -> None:
    step = ir.ToolCall(timeout_ms=1).model_copy(update={"timeout_ms": 2**53 + 1})
    with pytest.raises(ir.DocumentError) as caught:
        ir.canonical_bytes(ir.PlanNode(tool_call=step))
    assert (caught.value.code, caught.value.place) == ("INTEGER_TOO_LARGE", "$.tool_call.timeout_ms")


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (math.nan, "NOT_A_NUMBER"),
        ([math.inf], "NOT_A_NUMBER"),
        ({"a": ["\ud800"]}, "LONE_SURROGATE"),
        ({"\udfff": 1}, "LONE_SURROGATE"),
        ({1: 2}, "NOT_JSON"),
        ([b"bytes"], "NOT_JSON"),
    ],
)
def test_what_json_cannot_hold_is_refused(value: object, code: str) -> None:
    with pytest.raises(ir.DocumentError) as caught:
        ir.canonical_bytes(value)
    assert caught.value.code == code


def test_a_lone_surrogate_smuggled_into_a_document_is_named() -> None:
    entry = ir.SlotEntry(name="x").model_copy(update={"value": "\ud800"})
    with pytest.raises(ir.DocumentError) as caught:
        ir.canonical_bytes(ir.Frame(objects=(entry,)))
    assert (caught.value.code, caught.value.place) == ("LONE_SURROGATE", "$.objects[0].value")


def test_a_value_of_no_json_type_smuggled_into_a_document_is_named() -> None:
    for value in ({"a"}, b"bytes", ({"a"},)):
        entry = ir.SlotEntry(name="x").model_copy(update={"value": value})
        with pytest.raises(ir.DocumentError) as caught:
            ir.canonical_bytes(ir.Frame(objects=(entry,)))
        assert caught.value.code == "NOT_JSON"


def test_a_plan_nested_without_end_is_an_error_and_no_crash() -> None:
    node = ir.PlanNode(id="n")
    for _ in range(20_000):
        node = ir.PlanNode.model_construct(children=(node,))
    with pytest.raises(ir.DocumentError) as caught:
        ir.canonical_bytes(node)
    assert caught.value.code == "TOO_DEEP"
    plan = ir.PlanTree.model_construct(id="p", intent_id="i", skill_ref="s@1.0.0", root=node)
    assert "TOO_DEEP" in {finding.code for finding in ir.check_plan(plan)}


def test_nesting_without_end_is_an_error_and_no_crash() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ir.DocumentError) as caught:
        ir.canonical_bytes(value)
    assert caught.value.code == "TOO_DEEP"


# ---- hashes ----


def small_intent(**changes: object) -> ir.Intent:
    fields: dict[str, object] = {
        "id": ULID,
        "actor": "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp",
        "agent": "matrix://agent/local",
        "prose": "find three notes about Oslo, at most 20 EUR",
        "frame": ir.Frame(
            verb="find",
            objects=(
                ir.SlotEntry(name="what", value="notes about Oslo"),
                ir.SlotEntry(name="count", value="3"),
            ),
            constraints=(ir.BudgetConstraint(hard=True, max=ir.AssetAmount(asset="EUR", amount=20)),),
            success_criteria=(ir.DeliveredPredicate(artifact="matrix://artifact/notes@v1"),),
            preferences=(ir.Preference(rank=1, prefer="recent"),),
        ),
        "state": "proposed",
        "confidence": 0.95,
        "created_at": "2026-11-21T10:00:00.000Z",
        **changes,
    }
    return ir.Intent.model_validate(fields)


PLAN = ir.PlanTree(
    id="01ARZ3NDEKTSV4RRFFQ69G5FAW",
    intent_id=ULID,
    created_at="2026-11-21T10:00:01.000Z",
    created_by="matrix://agent/local",
    skill_ref="matrix://skill/files@1.0.0",
    root=ir.PlanNode(
        id="n0",
        kind="sequential",
        children=(
            ir.PlanNode(
                id="n1",
                kind="tool_call",
                tool_call=ir.ToolCall(
                    tool_ref="matrix://tool/fs/search@1.0.0",
                    args={"text": "Oslo", "path": ""},
                    side_effect_class="read",
                ),
            ),
            ir.PlanNode(id="n2", kind="gate", gate=ir.Gate(question="Keep it?", options=("yes", "no"))),
        ),
    ),
)


@pytest.mark.parametrize(
    ("document", "digest"),
    [
        (ir.Frame(), "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"),
        (small_intent(), "3642b1ffc819f0bb6f874a098480073e4589047b486e2a3665057a0b41371c4f"),
        (
            small_intent(frame=ir.Frame(), confidence=0),
            "d001b2a7ce694b1dd18c1fdf59f4784a521469d1de1b84c507d18fc0ace62496",
        ),
        (small_intent().frame, "a74e9ace95ef752459dd6aa4ae4f082f58de8184042a579227ae96e96212b7ea"),
        (PLAN, "d46c1f61960b481bbd89006bf2fb31c1cc8ce72d8c15f08ccbe610900d767f79"),
    ],
    ids=["empty frame", "intent", "intent with an empty frame", "frame", "plan"],
)
def test_the_hash_of_an_old_document_never_changes(document: ir.Document, digest: str) -> None:
    assert ir.content_hash(document) == digest


def test_a_hash_does_not_depend_on_the_hash_field() -> None:
    once = ir.with_hash(small_intent())
    assert once.hash == ir.content_hash(once) == ir.with_hash(once).hash
    assert once.hash == hashlib.sha256(ir.canonical_bytes(small_intent())).hexdigest()


def test_the_frame_digest_is_the_same_whoever_asked_and_when() -> None:
    later = small_intent(created_at="2027-01-01T00:00:00Z", actor="someone else", confidence=0.1)
    assert ir.frame_digest(later.frame) == ir.frame_digest(small_intent().frame)
    assert ir.content_hash(later) != ir.content_hash(small_intent())


def _number(text: str) -> int | float:
    """As others read JSON: a double written without a point may be beyond what rfc8785 takes as an int."""
    return int(text) if abs(int(text)) < 2**53 else float(text)


@given(intents)
def test_the_hash_is_that_of_the_text_anyone_can_make(intent: ir.Intent) -> None:
    document = json.loads(independent(intent), parse_int=_number)
    document.pop("hash", None)
    assert ir.content_hash(intent) == hashlib.sha256(rfc8785.dumps(document)).hexdigest()
