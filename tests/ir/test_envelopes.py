"""Sealing and opening: what is signed comes back, anything else is refused with a code of its own."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ir_strategies import ULID, bodies, kinds_and_bodies
from nacl.signing import SigningKey

import ir

USER, AGENT, STRANGER = (SigningKey(bytes([number]) * 32) for number in (1, 2, 3))
AT = "2026-11-21T10:00:00.000Z"


def did(key: SigningKey) -> str:
    return ir.did_of(key.verify_key.encode())


def public(key: SigningKey, role: ir.Role, *, revoked: bool = False) -> ir.PublicKey:
    return ir.PublicKey(did(key), role, key.verify_key.encode(), revoked)


KNOWN = {did(USER): public(USER, "user"), did(AGENT): public(AGENT, "agent")}


def header(key: SigningKey, **changes: Any) -> ir.Header:
    return dataclasses.replace(
        ir.Header(id=ULID, at=AT, from_=did(key), intent=f"matrix://intent/{ULID}"), **changes
    )


def signer(kind: str) -> SigningKey:
    return USER if ir.ROLE_OF_KIND[kind] == "user" else AGENT


def sealed(kind: str, body: ir.Body) -> ir.Envelope:
    return ir.seal(kind, body, header(signer(kind)), signer(kind))


DRAFT = sealed("intent.draft", ir.IntentDraftBody("find my notes", {"what": "notes"}))


def resigned(change: Callable[[dict[int, Any]], object], key: SigningKey = USER) -> bytes:
    """The draft with its map changed, signed again: only the change can be the reason to refuse it."""
    message = ir.decode_cbor(DRAFT.wire)
    del message[11]
    change(message)
    message[11] = key.sign(ir.encode_cbor(message)).signature
    return ir.encode_cbor(message)


def refusal(
    wire: bytes, resolver: Callable[[str], ir.PublicKey | None] = KNOWN.get, **options: Any
) -> ir.IrError:
    with pytest.raises(ir.IrError) as caught:
        ir.open_envelope(wire, resolver, **options)
    assert caught.value.exit == 6
    return caught.value


# ---- what is signed comes back ----


@given(kinds_and_bodies)
def test_every_kind_comes_back_as_it_was_sealed(kind_and_body: tuple[str, ir.Body]) -> None:
    envelope = sealed(*kind_and_body)
    opened = ir.open_envelope(envelope.to_bytes(), KNOWN.get, seen=set(), now=AT)
    assert opened == envelope
    assert opened.body == kind_and_body[1]
    assert ir.read_unverified(envelope.wire) == envelope


@given(kinds_and_bodies, st.data())
def test_any_single_changed_byte_of_the_wire_is_refused(
    kind_and_body: tuple[str, ir.Body], data: Any
) -> None:
    wire = bytearray(sealed(*kind_and_body).to_bytes())
    place = data.draw(st.integers(0, len(wire) - 1))
    wire[place] ^= data.draw(st.integers(1, 255))
    refusal(bytes(wire))


def test_every_single_flipped_bit_of_one_envelope_is_refused() -> None:
    wire = sealed("intent.cancel", ir.IntentCancelBody(AT, "enough")).wire
    for place in range(len(wire)):
        for bit in range(8):
            changed = bytearray(wire)
            changed[place] ^= 1 << bit
            refusal(bytes(changed))


@given(st.data())
def test_an_envelope_cut_short_or_made_longer_is_refused(data: Any) -> None:
    refusal(DRAFT.wire[: data.draw(st.integers(0, len(DRAFT.wire) - 1))])
    refusal(DRAFT.wire + data.draw(st.binary(min_size=1, max_size=3)))


def test_the_bytes_of_an_envelope_never_change() -> None:
    everything = header(USER, to="did:key:someone", correlation_id="c1", causation_id="c2")
    envelope = ir.seal("intent.draft", ir.IntentDraftBody("find my notes"), everything, USER)
    signed = (
        "ab0001" "01676d636c2f302e31" "026c696e74656e742e6472616674"
        "03781a" + ULID.encode().hex() + "047818" + AT.encode().hex() + "057838" + did(USER).encode().hex()
        + "066f6469643a6b65793a736f6d656f6e65" + "07782a" + f"matrix://intent/{ULID}".encode().hex()
        + "08626331" "09626332" "0aa1006d66696e64206d79206e6f746573"
    )  # fmt: skip
    assert envelope.wire.hex() == "ac" + signed[2:] + "0b5840" + envelope.signature.hex()
    assert envelope.signature == USER.sign(bytes.fromhex(signed)).signature
    assert envelope.self_hash == hashlib.sha256(bytes.fromhex(signed)).hexdigest()


def test_header_fields_that_are_empty_are_left_out() -> None:
    assert set(ir.decode_cbor(DRAFT.wire)) == {0, 1, 2, 3, 4, 5, 7, 10, 11}


def test_there_are_fifteen_kinds_and_each_has_one_role() -> None:
    assert len(bodies) == len(ir.BODY_OF_KIND) == len(ir.ROLE_OF_KIND) == 15
    assert set(bodies) == set(ir.BODY_OF_KIND) == set(ir.ROLE_OF_KIND)
    assert {kind for kind, role in ir.ROLE_OF_KIND.items() if role == "user"} == {
        "intent.draft",
        "intent.answer",
        "intent.accept",
        "intent.correct",
        "intent.cancel",
        "policy.gate.resolve",
    }


# ---- one code for each reason ----


@pytest.mark.parametrize(
    ("wire", "code"),
    [
        (b"", "CBOR_SYNTAX"),
        (ir.encode_cbor([1]), "SCHEMA_VERSION"),
        (ir.encode_cbor({"a": 1}), "SCHEMA_VERSION"),
        (resigned(lambda m: m.update({0: 2})), "SCHEMA_VERSION"),
        (resigned(lambda m: m.update({0: True})), "SCHEMA_VERSION"),
        (resigned(lambda m: m.pop(0)), "SCHEMA_VERSION"),
        (resigned(lambda m: m.update({1: "mcl/0.2"})), "PROTOCOL"),
        (resigned(lambda m: m.update({13: "more"})), "UNKNOWN_FIELD"),
        (resigned(lambda m: m.pop(3)), "HEADER_MISSING"),
        (resigned(lambda m: m.pop(4)), "HEADER_MISSING"),
        (resigned(lambda m: m.pop(5)), "HEADER_MISSING"),
        (resigned(lambda m: m.pop(7)), "HEADER_MISSING"),
        (resigned(lambda m: m.update({3: ULID.lower()})), "HEADER_SHAPE"),
        (resigned(lambda m: m.update({4: "yesterday"})), "HEADER_SHAPE"),
        (resigned(lambda m: m.update({4: 1700000000})), "HEADER_SHAPE"),
        (resigned(lambda m: m.update({5: "did:web:example.org"})), "HEADER_SHAPE"),
        (resigned(lambda m: m.update({6: ""})), "HEADER_SHAPE"),
        (resigned(lambda m: m.update({7: "matrix://intent/1"})), "HEADER_SHAPE"),
        (resigned(lambda m: m.update({9: None})), "HEADER_SHAPE"),
        (resigned(lambda m: m.update({12: bytes(31)})), "HEADER_SHAPE"),
        (resigned(lambda m: m.update({12: "0" * 32})), "HEADER_SHAPE"),
        (resigned(lambda m: m.update({12: None})), "HEADER_SHAPE"),
        (resigned(lambda m: m.update({2: "chat.message"})), "UNKNOWN_KIND"),
        (resigned(lambda m: m.pop(2)), "UNKNOWN_KIND"),
        (resigned(lambda m: m.pop(10)), "BODY_SHAPE"),
        (resigned(lambda m: m.update({10: {}})), "BODY_SHAPE"),
        (resigned(lambda m: m.update({10: []})), "BODY_SHAPE"),
        (resigned(lambda m: m.update({10: {0: "x", 9: "y"}})), "BODY_SHAPE"),
        (resigned(lambda m: m.update({10: {0: "x", 2: ""}})), "BODY_SHAPE"),
        (resigned(lambda m: m.update({10: {0: "x", 1: {}}})), "BODY_SHAPE"),
        (resigned(lambda m: m.update({10: {0: b"x"}})), "BODY_SHAPE"),
        (resigned(lambda m: m.update({10: {"0": "x"}})), "BODY_SHAPE"),
        (resigned(lambda m: m.update({2: "intent.cancel"})), "BODY_SHAPE"),
        (resigned(lambda m: m, STRANGER), "BAD_SIGNATURE"),
        (ir.encode_cbor({**ir.decode_cbor(DRAFT.wire), 11: bytes(64)}), "BAD_SIGNATURE"),
        (ir.encode_cbor({**ir.decode_cbor(DRAFT.wire), 11: bytes(63)}), "UNSIGNED"),
        (ir.encode_cbor({**ir.decode_cbor(DRAFT.wire), 11: "text"}), "UNSIGNED"),
        (ir.encode_cbor({k: v for k, v in ir.decode_cbor(DRAFT.wire).items() if k != 11}), "UNSIGNED"),
        (resigned(lambda m: m.update({5: did(STRANGER)}), STRANGER), "UNKNOWN_KEY"),
        (resigned(lambda m: m.update({5: did(AGENT)}), AGENT), "WRONG_ROLE"),
    ],
)
def test_each_reason_to_refuse_has_its_code(wire: bytes, code: str) -> None:
    assert refusal(wire).code == code


def test_a_revoked_key_is_refused() -> None:
    assert refusal(DRAFT.wire, lambda _: public(USER, "user", revoked=True)).code == "KEY_REVOKED"


def test_a_resolver_cannot_pass_off_another_key() -> None:
    assert refusal(DRAFT.wire, lambda _: public(STRANGER, "user")).code == "KEY_MISMATCH"
    swapped = ir.PublicKey(did(USER), "user", STRANGER.verify_key.encode())
    assert refusal(DRAFT.wire, lambda _: swapped).code == "KEY_MISMATCH"


@pytest.mark.parametrize("kind", sorted(bodies))
@given(st.data())
def test_no_kind_is_believed_when_the_other_role_signed_it(kind: str, data: Any) -> None:
    other = AGENT if ir.ROLE_OF_KIND[kind] == "user" else USER
    envelope = ir.seal(kind, data.draw(bodies[kind]), header(other), other)
    assert refusal(envelope.wire).code == "WRONG_ROLE"


@pytest.mark.parametrize(
    ("now", "code"),
    [
        ("2026-11-21T10:15:01Z", "STALE"),
        ("2027-11-21T10:00:00Z", "STALE"),
        ("2026-11-21T09:57:59Z", "FROM_FUTURE"),
    ],
)
def test_an_envelope_too_far_from_now_is_refused(now: str, code: str) -> None:
    assert refusal(DRAFT.wire, now=now).code == code


@pytest.mark.parametrize("now", ["2026-11-21T10:15:00Z", "2026-11-21T09:58:00.000Z", None])
def test_an_envelope_of_now_and_any_when_age_is_not_asked_is_taken(now: str | None) -> None:
    assert ir.open_envelope(DRAFT.wire, KNOWN.get, now=now) == DRAFT


def test_an_id_is_used_once() -> None:
    assert ir.open_envelope(DRAFT.wire, KNOWN.get, seen={"another"}).id == ULID
    assert refusal(DRAFT.wire, seen={ULID}).code == "ID_REUSED"


def test_the_first_failing_check_in_the_documented_order_decides() -> None:
    """All is wrong at once; mending one thing after another shows the next reason."""
    message: dict[int, Any] = {0: 2, 1: "other", 2: "chat", 5: did(STRANGER), 10: {}, 13: 0}
    mends: list[tuple[str, dict[int, Any]]] = [
        ("SCHEMA_VERSION", {0: 1}),
        ("PROTOCOL", {1: "mcl/0.1"}),
        ("UNKNOWN_FIELD", {13: None}),
        ("HEADER_MISSING", {3: "x", 4: AT, 7: f"matrix://intent/{ULID}"}),
        ("HEADER_SHAPE", {3: ULID}),
        ("UNKNOWN_KIND", {2: "intent.draft"}),
        ("BODY_SHAPE", {10: {0: "find"}}),
        ("UNSIGNED", {11: bytes(64)}),
        ("UNKNOWN_KEY", {5: did(AGENT)}),
        ("KEY_REVOKED", {}),
        ("BAD_SIGNATURE", {}),
        ("WRONG_ROLE", {5: did(USER)}),
        ("STALE", {}),
        ("ID_REUSED", {}),
    ]
    keys = dict(KNOWN)
    keys[did(AGENT)] = public(AGENT, "agent", revoked=True)
    options: dict[str, Any] = {"now": "2027-01-01T00:00:00Z", "seen": {ULID}}
    for code, mend in mends:
        assert refusal(ir.encode_cbor(message), keys.get, **options).code == code
        message = {key: value for key, value in {**message, **mend}.items() if value is not None}
        unsigned = {key: value for key, value in message.items() if key != 11}
        if code == "KEY_REVOKED":
            keys = KNOWN
        elif code == "BAD_SIGNATURE":
            message[11] = AGENT.sign(ir.encode_cbor(unsigned)).signature
        elif code == "WRONG_ROLE":
            message[11] = USER.sign(ir.encode_cbor(unsigned)).signature
        elif code == "STALE":
            options["now"] = AT
    assert ir.open_envelope(ir.encode_cbor(message), keys.get, now=AT, seen=set()).kind == "intent.draft"


# ---- sealing ----


@pytest.mark.parametrize(
    ("kind", "body", "changes", "code"),
    [
        ("intent.draft", ir.IntentDraftBody("x"), {"id": ""}, "HEADER_MISSING"),
        ("intent.draft", ir.IntentDraftBody("x"), {"at": "now"}, "HEADER_SHAPE"),
        ("intent.draft", ir.IntentDraftBody("x"), {"from_": did(AGENT)}, "KEY_MISMATCH"),
        ("chat", ir.IntentDraftBody("x"), {}, "UNKNOWN_KIND"),
        ("intent.cancel", ir.IntentDraftBody("x"), {}, "BODY_SHAPE"),
        ("intent.draft", ir.IntentDraftBody(""), {}, "BODY_SHAPE"),
        ("intent.clarify", ir.IntentClarifyBody(()), {}, "BODY_SHAPE"),
        ("intent.accept", ir.IntentAcceptBody("A" * 64, AT), {}, "BODY_SHAPE"),
        ("intent.accept", ir.IntentAcceptBody("a" * 64, "today"), {}, "BODY_SHAPE"),
        ("plan.step", ir.PlanStepBody("p", "n", "done"), {}, "BODY_SHAPE"),
        ("plan.step", ir.PlanStepBody("p", "n", "running", latency_ms=-1), {}, "BODY_SHAPE"),
        ("intent.attest", ir.IntentAttestBody("perhaps", AT), {}, "BODY_SHAPE"),
        ("intent.attest", ir.IntentAttestBody("success", AT, cited_uris=(b"x",)), {}, "BODY_SHAPE"),  # type: ignore[arg-type]  # refused
    ],
)
def test_nothing_is_signed_that_could_not_be_opened(
    kind: str, body: ir.Body, changes: dict[str, Any], code: str
) -> None:
    with pytest.raises(ir.EnvelopeError) as caught:
        ir.seal(kind, body, header(USER, **changes), USER)
    assert caught.value.code == code


def test_a_body_names_the_field_that_is_wrong() -> None:
    question = ir.ClarifyQuestion("u1", "frame.objects[0]", "")
    with pytest.raises(ir.EnvelopeError) as caught:
        sealed("intent.clarify", ir.IntentClarifyBody((question,)))
    assert caught.value.place == "body.questions[0].prompt"
