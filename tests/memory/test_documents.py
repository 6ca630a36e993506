"""The document of a memory: what is said in it comes back, and nothing else is taken for one."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcl.core.errors import MemoryStoreError
from mcl.memory.memory import TYPES, Memory, new_memory, parse_uri
from tests.memory.conftest import AT

TEXT = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=80).filter(str.strip)
GIVEN = st.fixed_dictionaries(
    {"type": st.sampled_from(TYPES), "text": TEXT},
    optional={
        "id": st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True),
        "tags": st.lists(st.from_regex(r"[a-z0-9][a-z0-9._:-]{0,10}", fullmatch=True), max_size=4),
        "edges": st.lists(
            st.tuples(st.from_regex(r"[a-z][a-z0-9_.-]{0,8}", fullmatch=True), st.just("matrix://x/y")),
            max_size=3,
        ),
        "importance": st.floats(0, 1) | st.integers(0, 1),
        "confidence": st.floats(0, 1),
        "source": st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=40),
        "data": st.dictionaries(st.from_regex(r"[a-z][a-z0-9_.-]{0,8}", fullmatch=True), TEXT, max_size=3),
    },
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)


@settings(max_examples=150, deadline=None)
@given(given_=GIVEN)
def test_what_is_said_comes_back_from_the_document(given_: dict[str, Any]) -> None:
    memory = new_memory(given_, at=AT)
    again = Memory.of_document(memory.document())
    assert again == memory
    assert again.document() == memory.document()
    assert parse_uri(memory.uri) == (memory.type, memory.id, 1)
    for name in ("text", "source"):
        assert name not in given_ or getattr(memory, name) == given_[name]


@settings(max_examples=150, deadline=None)
@given(
    given_=st.dictionaries(st.sampled_from(("type", "text", "id", "tags", "edges", "data", "at", "x")), JSON)
)
def test_values_of_any_kind_are_stored_or_refused_with_a_code(given_: dict[str, Any]) -> None:
    try:
        memory = new_memory(given_, at=AT)
    except MemoryStoreError as error:
        assert error.code == "MEMORY_SHAPE"  # noqa: PT017  # either outcome is right
    else:
        assert Memory.of_document(memory.document()) == memory


@settings(max_examples=150, deadline=None)
@given(data=st.binary(max_size=60) | JSON.map(lambda value: json.dumps(value).encode()))
def test_bytes_that_no_memory_made_are_told_as_such(data: bytes) -> None:
    with pytest.raises(MemoryStoreError) as caught:
        Memory.of_document(data)
    assert caught.value.code == "MEMORY_DOCUMENT"


def test_a_document_in_another_order_or_with_more_in_it_is_none() -> None:
    good = new_memory({"type": "Fact", "text": "x", "data": {"a": "b"}}, at=AT)
    said = json.loads(good.document())
    wrong = [
        dict(reversed(said.items())),
        {**said, "more": 1},
        {**said, "data": {}},
        {**said, "version": 1.5},
    ]
    wrong += [{name: said[name] for name in said if name != left} for left in said if left != "data"]
    for one in wrong:
        with pytest.raises(MemoryStoreError):
            Memory.of_document(json.dumps(one, separators=(",", ":")).encode())


def test_data_is_left_out_of_the_document_where_there_is_none() -> None:
    assert b"data" not in new_memory({"type": "Fact", "text": "x"}, at=AT).document()


def test_a_secret_is_in_neither_text_nor_id() -> None:
    one, other = (new_memory({"type": "Fact", "text": f"AKIAABCDEFGHIJKLMNO{c}"}, at=AT) for c in "PQ")
    assert one == other
    assert "AKIA" not in one.text
