"""ed25519 against the Wycheproof vectors, and did:key against published examples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir

# https://w3c-ccg.github.io/did-key-spec/, test vectors for ed25519.
PUBLISHED = {
    "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp": (
        "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"
    ),
    "did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw": None,
}


def test_every_wycheproof_case_is_decided_as_published(shared: Path) -> None:
    groups = json.loads((shared / "vectors/wycheproof/ed25519_test.json").read_text())
    wrong, count = [], 0
    for group in groups["testGroups"]:
        key = bytes.fromhex(group["publicKey"]["pk"])
        for case in group["tests"]:
            count += 1
            held = ir.verify_signature(key, bytes.fromhex(case["msg"]), bytes.fromhex(case["sig"]))
            if held != (case["result"] == "valid"):
                wrong.append(case["tcId"])
    assert count == groups["numberOfTests"] == 151
    assert wrong == []


@pytest.mark.parametrize("key", ["00" * 32, "01" + "00" * 31, "ec" + "ff" * 30 + "7f"])
def test_keys_of_small_order_sign_nothing(key: str) -> None:
    assert not ir.verify_signature(bytes.fromhex(key), b"", bytes.fromhex(key) + bytes(32))


def test_signatures_and_keys_of_other_lengths_hold_for_nothing() -> None:
    assert not ir.verify_signature(bytes(31), b"", bytes(64))
    assert not ir.verify_signature(bytes(32), b"", bytes(65))


@pytest.mark.parametrize(("did", "key"), PUBLISHED.items())
def test_published_did_keys_are_read_and_written(did: str, key: str | None) -> None:
    assert ir.did_of(ir.key_of(did)) == did
    assert key is None or ir.key_of(did).hex() == key


@given(st.binary(min_size=32, max_size=32))
def test_every_key_comes_back_from_its_did(key: bytes) -> None:
    did = ir.did_of(key)
    assert did.startswith("did:key:z6Mk")
    assert ir.key_of(did) == key


@pytest.mark.parametrize(
    "did",
    [
        "",
        "did:key:",
        "did:web:example.org",
        "z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp",
        "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooW",
        "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWpp",
        "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooW0",
        "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWl",
        "did:key:z6Mk" + "z" * 44,
        "did:key:z6Mk" + "1" * 44,
        "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme",
        " did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp",
    ],
)
def test_anything_else_is_no_key(did: str) -> None:
    with pytest.raises(ir.KeyTextError) as caught:
        ir.key_of(did)
    assert caught.value.code == "DID_NOT_ED25519"


@pytest.mark.parametrize("length", [0, 31, 33])
def test_a_key_has_thirty_two_bytes(length: int) -> None:
    with pytest.raises(ir.KeyTextError) as caught:
        ir.did_of(bytes(length))
    assert caught.value.code == "KEY_LENGTH"
