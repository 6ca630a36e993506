"""The seed of a compile."""

from __future__ import annotations

import hashlib

import pytest

import ir

FIELDS = {
    "intent_id": "01ARZ3NDEKTSV4RRFFQ69G5FAV",
    "actor": "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp",
    "snapshot_hash": "11" * 32,
    "mtx_digest": "22" * 32,
    "model_digest": "33" * 32,
}


def test_the_seed_is_the_digest_of_the_five_texts_in_order() -> None:
    seed = ir.derive_seed(**FIELDS)
    text = "\x1f".join([FIELDS["intent_id"], FIELDS["actor"], "11" * 32, "22" * 32, "33" * 32])
    assert seed.hex == hashlib.sha256(text.encode("ascii")).hexdigest()
    assert seed.sampler == int(seed.hex[:16], 16) % 2**31


def test_the_seed_never_changes() -> None:
    assert ir.derive_seed(**FIELDS) == ir.Seed(
        "468ea230a89f8fe6256ad1ec7ad2256e88076e0223f164c9896218955132795b", 681545702
    )


def test_without_a_cortex_the_snapshot_is_sixty_four_zeros() -> None:
    assert ir.derive_seed(**{**FIELDS, "snapshot_hash": ""}) == ir.derive_seed(
        **{**FIELDS, "snapshot_hash": ir.NO_SNAPSHOT}
    )


@pytest.mark.parametrize("name", FIELDS)
def test_every_field_counts(name: str) -> None:
    other = "44" * 32 if name.endswith(("_hash", "_digest")) else "another"
    assert ir.derive_seed(**{**FIELDS, name: other}) != ir.derive_seed(**FIELDS)


@pytest.mark.parametrize("name", FIELDS)
def test_a_field_with_the_separator_is_an_error(name: str) -> None:
    with pytest.raises(ir.IrError) as caught:
        ir.derive_seed(**{**FIELDS, name: FIELDS[name] + "\x1f"})
    assert (caught.value.code, caught.value.place) == ("SEED_SEPARATOR", name)


@pytest.mark.parametrize("name", ["snapshot_hash", "mtx_digest", "model_digest"])
@pytest.mark.parametrize("value", ["AA" * 32, "aa" * 31, "model-name", "aa" * 32 + "\n"])
def test_a_digest_is_a_digest_and_never_a_name(name: str, value: str) -> None:
    with pytest.raises(ir.IrError) as caught:
        ir.derive_seed(**{**FIELDS, name: value})
    assert (caught.value.code, caught.value.place) == ("SEED_DIGEST", name)
