"""One value, one sequence of bytes: RFC 8949, appendix A, and what a lenient decoder would let through."""

from __future__ import annotations

import math
from typing import Any

import cbor2
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir
from ir.cbor import MAX_BYTES, MAX_DEPTH

APPENDIX_A: list[tuple[str, Any]] = [
    ("00", 0),
    ("01", 1),
    ("0a", 10),
    ("17", 23),
    ("1818", 24),
    ("1819", 25),
    ("1864", 100),
    ("1903e8", 1000),
    ("1a000f4240", 1000000),
    ("1b000000e8d4a51000", 1000000000000),
    ("1bffffffffffffffff", 18446744073709551615),
    ("3bffffffffffffffff", -18446744073709551616),
    ("20", -1),
    ("29", -10),
    ("3863", -100),
    ("3903e7", -1000),
    ("f90000", 0.0),
    ("f98000", -0.0),
    ("f93c00", 1.0),
    ("fb3ff199999999999a", 1.1),
    ("f93e00", 1.5),
    ("f97bff", 65504.0),
    ("fa47c35000", 100000.0),
    ("fa7f7fffff", 3.4028234663852886e38),
    ("fb7e37e43c8800759c", 1.0e300),
    ("f90001", 5.960464477539063e-8),
    ("f90400", 0.00006103515625),
    ("f9c400", -4.0),
    ("fbc010666666666666", -4.1),
    ("f97c00", math.inf),
    ("f97e00", math.nan),
    ("f9fc00", -math.inf),
    ("f4", False),
    ("f5", True),
    ("f6", None),
    ("40", b""),
    ("4401020304", b"\x01\x02\x03\x04"),
    ("60", ""),
    ("6161", "a"),
    ("6449455446", "IETF"),
    ("62225c", '"\\'),
    ("62c3bc", "\u00fc"),
    ("63e6b0b4", "\u6c34"),
    ("64f0908591", "\U00010151"),
    ("80", []),
    ("83010203", [1, 2, 3]),
    ("8301820203820405", [1, [2, 3], [4, 5]]),
    ("98190102030405060708090a0b0c0d0e0f101112131415161718181819", list(range(1, 26))),
    ("a0", {}),
    ("a201020304", {1: 2, 3: 4}),
    ("a26161016162820203", {"a": 1, "b": [2, 3]}),
    ("826161a161626163", ["a", {"b": "c"}]),
    ("a56161614161626142616361436164614461656145", {"a": "A", "b": "B", "c": "C", "d": "D", "e": "E"}),
]
# Appendix A once more: what has another or no deterministic form here.
REFUSED_OF_APPENDIX_A = {
    "big numbers": ["c249010000000000000000", "c349010000000000000000"],
    "longer floats": [
        "fa7f800000",
        "fa7fc00000",
        "faff800000",
        "fb7ff0000000000000",
        "fb7ff8000000000000",
        "fbfff0000000000000",
    ],
    "simple values": ["f7", "f0", "f8ff"],
    "tags": [
        "c074323031332d30332d32315432303a30343a30305a",
        "c11a514b67b0",
        "c1fb41d452d9e8200000",
        "d74401020304",
        "d818456449455446",
        "d82076687474703a2f2f7777772e6578616d706c652e636f6d",
    ],
    "indefinite lengths": [
        "5f42010243030405ff",
        "7f657374726561646d696e67ff",
        "9fff",
        "9f018202039f0405ffff",
        "9f01820203820405ff",
        "83018202039f0405ff",
        "83019f0203ff820405",
        "9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff",
        "bf61610161629f0203ffff",
        "826161bf61626163ff",
        "bf6346756ef563416d7421ff",
    ],
}


def same(one: Any, other: Any) -> bool:
    if isinstance(one, float) and math.isnan(one):
        return isinstance(other, float) and math.isnan(other)
    return bool(one == other) and type(one) is type(other) and repr(one) == repr(other)


@pytest.mark.parametrize(("text", "value"), APPENDIX_A)
def test_appendix_a_is_read_and_written_byte_for_byte(text: str, value: Any) -> None:
    assert ir.encode_cbor(value).hex() == text
    assert same(ir.decode_cbor(bytes.fromhex(text)), value)


@pytest.mark.parametrize("text", [text for group in REFUSED_OF_APPENDIX_A.values() for text in group])
def test_the_rest_of_appendix_a_is_refused(text: str) -> None:
    with pytest.raises(ir.CborError):
        ir.decode_cbor(bytes.fromhex(text))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "CBOR_SYNTAX"),
        ("18", "CBOR_SYNTAX"),
        ("8201", "CBOR_SYNTAX"),
        ("61ff", "CBOR_SYNTAX"),
        ("1c", "CBOR_SYNTAX"),
        ("0000", "CBOR_NOT_CANONICAL"),
        ("1800", "CBOR_NOT_CANONICAL"),
        ("1b0000000000000000", "CBOR_NOT_CANONICAL"),
        ("580100", "CBOR_NOT_CANONICAL"),
        ("980101", "CBOR_NOT_CANONICAL"),
        ("a203000100", "CBOR_NOT_CANONICAL"),
        ("a2616200616100", "CBOR_NOT_CANONICAL"),
        ("f97e01", "CBOR_NOT_CANONICAL"),
        ("fb3ff0000000000000", "CBOR_NOT_CANONICAL"),
        ("a201000100", "CBOR_SYNTAX"),
        ("a2010018010000", "CBOR_SYNTAX"),
        ("d81c81d81d00", "CBOR_SYNTAX"),
        ("d82363612b29", "CBOR_SYNTAX"),
        ("d9010080", "CBOR_SYNTAX"),
        ("d903e800", "CBOR_SYNTAX"),
        ("d9d9f700", "CBOR_NOT_CANONICAL"),
        ("a1f400", "CBOR_TYPE"),
        ("a12000", "CBOR_TYPE"),
        ("a20100616100", "CBOR_TYPE"),
        ("a18000", "CBOR_TYPE"),
        ("a14000", "CBOR_TYPE"),
        ("81" * (MAX_DEPTH + 1) + "00", "CBOR_TOO_DEEP"),
        ("81" * 100_000, "CBOR_SYNTAX"),
    ],
)
def test_what_a_lenient_decoder_takes_is_refused_with_a_code(text: str, code: str) -> None:
    with pytest.raises(ir.CborError) as caught:
        ir.decode_cbor(bytes.fromhex(text))
    assert caught.value.code == code


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (2**64, "CBOR_TYPE"),
        (-(2**64) - 1, "CBOR_TYPE"),
        ({1: 0, "a": 0}, "CBOR_TYPE"),
        ({-1: 0}, "CBOR_TYPE"),
        ({0: "\ud800"}, "CBOR_TYPE"),
        ({"\ud800": 0}, "CBOR_TYPE"),
        ({True: 0}, "CBOR_TYPE"),
        ({1, 2}, "CBOR_TYPE"),
        (cbor2.CBORTag(1, 0), "CBOR_TYPE"),
        (cbor2.undefined, "CBOR_TYPE"),
        (object(), "CBOR_TYPE"),
    ],
)
def test_values_outside_the_allow_list_are_not_written(value: Any, code: str) -> None:
    with pytest.raises(ir.CborError) as caught:
        ir.encode_cbor([value])
    assert caught.value.code == code


def test_nesting_and_size_have_limits_both_ways() -> None:
    deep: list[Any] = []
    for _ in range(MAX_DEPTH):
        deep = [deep]
    for refused, code in ((deep, "CBOR_TOO_DEEP"), (b"x" * MAX_BYTES, "CBOR_TOO_LARGE")):
        with pytest.raises(ir.CborError) as caught:
            ir.encode_cbor(refused)
        assert caught.value.code == code
    assert ir.decode_cbor(ir.encode_cbor(deep[0])) == deep[0]
    with pytest.raises(ir.CborError) as caught:
        ir.decode_cbor(b"\x00" * (MAX_BYTES + 1))
    assert caught.value.code == "CBOR_TOO_LARGE"


letters = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**64), 2**64 - 1)
    | st.floats()
    | letters
    | st.binary(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(letters, inner, max_size=4)
        | st.dictionaries(st.integers(0, 2**64 - 1), inner, max_size=4)
    ),
    max_leaves=10,
)


@given(values)
def test_every_value_comes_back_from_its_bytes(value: Any) -> None:
    data = ir.encode_cbor(value)
    assert ir.encode_cbor(ir.decode_cbor(data)) == data


@given(st.binary(max_size=60))
def test_any_bytes_are_refused_or_are_the_encoding_of_what_was_read(data: bytes) -> None:
    try:
        value = ir.decode_cbor(data)
    except ir.CborError:
        return
    assert ir.encode_cbor(value) == data


@given(st.sets(st.integers(0, 2**64 - 1)) | st.sets(letters) | st.just(set(range(12))))
def test_for_our_keys_the_order_of_cbor2_is_the_bytewise_order_of_rfc_8949(keys: set[Any]) -> None:
    encoded = sorted(ir.encode_cbor(key) for key in keys)
    data = ir.encode_cbor(dict.fromkeys(keys, 0))
    head = data[: len(data) - sum(len(key) + 1 for key in encoded)]
    assert data == head + b"".join(key + b"\x00" for key in encoded)
