"""The tree of RFC 6962, against the vectors of Certificate Transparency and a plain reading of the RFC."""

from __future__ import annotations

from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor.store.journal.merkle import (
    EMPTY_ROOT,
    Frontier,
    consistency_path,
    inclusion_path,
    leaf_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)

# The eight entries of the Certificate Transparency reference tests and the roots after each of them.
ENTRIES = [
    bytes.fromhex(text)
    for text in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
ROOTS = [
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
]
# (leaf from 1, tree size) -> audit path
PATHS = {
    (1, 1): [],
    (1, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (6, 8): [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (3, 3): ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"],
    (2, 5): [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
# (old size, new size) -> proof
PROOFS = {
    (1, 1): [],
    (1, 8): [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ],
    (6, 8): [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ],
    (2, 5): [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ],
}
LEAVES = [leaf_hash(entry) for entry in ENTRIES]
trees = st.lists(st.binary(max_size=8), min_size=1, max_size=70).map(
    lambda data: [leaf_hash(item) for item in data]
)


def as_the_rfc_says(leaves: list[bytes]) -> bytes:
    """MTH of section 2.1, word by word."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = 1
    while k * 2 < len(leaves):
        k *= 2
    return sha256(b"\x01" + as_the_rfc_says(leaves[:k]) + as_the_rfc_says(leaves[k:])).digest()


@pytest.mark.parametrize("size", range(1, 9))
def test_the_roots_are_those_of_certificate_transparency(size: int) -> None:
    assert root_of(LEAVES[:size]).hex() == ROOTS[size - 1]


def test_an_empty_tree_has_the_hash_of_nothing() -> None:
    assert Frontier().root() == EMPTY_ROOT == sha256(b"").digest()


@pytest.mark.parametrize(("leaf", "size"), PATHS)
def test_the_audit_paths_are_those_of_certificate_transparency(leaf: int, size: int) -> None:
    assert [step.hex() for step in inclusion_path(LEAVES[:size], leaf - 1)] == PATHS[leaf, size]


@pytest.mark.parametrize(("old", "new"), PROOFS)
def test_the_consistency_proofs_are_those_of_certificate_transparency(old: int, new: int) -> None:
    assert [step.hex() for step in consistency_path(LEAVES[:new], old)] == PROOFS[old, new]


@given(trees)
def test_the_frontier_has_the_root_that_the_rfc_defines(leaves: list[bytes]) -> None:
    assert root_of(leaves) == as_the_rfc_says(leaves)


@given(trees, st.data())
def test_a_frontier_that_was_stored_goes_on_as_if_it_had_not_been(
    leaves: list[bytes], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(leaves)))
    tree = Frontier.of(leaves[:cut])
    tree = Frontier.from_bytes(tree.size, tree.to_bytes())
    for leaf in leaves[cut:]:
        tree.append(leaf)
    assert (tree.size, tree.root()) == (len(leaves), as_the_rfc_says(leaves))


def test_a_frontier_whose_bytes_do_not_fit_its_size_is_refused() -> None:
    with pytest.raises(ValueError, match="3 leaves"):
        Frontier.from_bytes(3, b"\0" * 32)


@given(trees, st.data())
def test_every_leaf_is_proved_and_no_other_leaf_place_size_or_path_is(
    leaves: list[bytes], data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(leaves) - 1))
    path, root = inclusion_path(leaves, index), root_of(leaves)
    assert verify_inclusion(leaves[index], index, len(leaves), path, root)
    assert not verify_inclusion(leaf_hash(b"another one"), index, len(leaves), path, root)
    assert not verify_inclusion(leaves[index], len(leaves), len(leaves), path, root)
    assert not verify_inclusion(leaves[index], index, len(leaves), (*path, root), root)
    if path:
        assert not verify_inclusion(leaves[index], index, len(leaves), path[:-1], root)
        turned = data.draw(st.integers(0, len(path) - 1))
        broken = [leaf_hash(step) if place == turned else step for place, step in enumerate(path)]
        assert not verify_inclusion(leaves[index], index, len(leaves), broken, root)


@given(trees, st.data())
def test_growth_is_proved_and_a_changed_past_is_not(leaves: list[bytes], data: st.DataObject) -> None:
    old = data.draw(st.integers(0, len(leaves)))
    path = consistency_path(leaves, old)
    old_root, new_root = root_of(leaves[:old]), root_of(leaves)
    assert verify_consistency(old, old_root, len(leaves), new_root, path)
    assert not verify_consistency(old, leaf_hash(b"another past"), len(leaves), new_root, path)
    assert not verify_consistency(old, old_root, len(leaves), leaf_hash(b"another present"), path) or old == 0
    assert not verify_consistency(len(leaves), new_root, old, old_root, path) or old == len(leaves)
    assert not verify_consistency(old, old_root, len(leaves), new_root, (*path, new_root))


def test_proofs_of_what_is_not_there_are_not_made() -> None:
    with pytest.raises(IndexError):
        inclusion_path(LEAVES, 8)
    with pytest.raises(IndexError):
        consistency_path(LEAVES, 9)
