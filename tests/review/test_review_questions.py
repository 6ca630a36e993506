"""What a step of a review hands over, read strictly."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import inputs, piece

from mcl.core.errors import ReviewError, SkillError
from mcl.plugins.review.question import read_pass, read_question

CODE = "def f(name):\n    return name\n"


def test_another_contract_than_the_plans_is_refused():
    with pytest.raises(SkillError) as caught:
        read_question("review", {**inputs(piece(CODE)), "contract": "0" * 64})
    assert caught.value.code == "SKILL_CHANGED"


def test_a_prompt_that_is_none_is_refused():
    with pytest.raises(SkillError) as caught:
        read_question("praise", inputs(piece(CODE)))
    assert caught.value.code == "NO_PROMPT"


@pytest.mark.parametrize("key", ["mode", "contract", "pieces"])
def test_a_step_without_what_it_needs_is_refused(key):
    given = inputs(piece(CODE))
    del given[key]
    with pytest.raises(ReviewError) as caught:
        read_question("review", given)
    assert (caught.value.code, caught.value.place) == ("BAD_STEP", key)


@pytest.mark.parametrize(
    "pieces",
    [
        "",
        "{}}",
        "[1]",
        '["a"]',
        "[" * 100_000,
        [{**piece(CODE), "path": ""}],
        [{**piece(CODE), "path": 3}],
        [{**piece(CODE), "text": None}],
        [{**piece(CODE), "total": 4}],
        [{**piece(CODE), "lines": [[1, 99]]}],
        [{**piece(CODE), "lines": [[0, 2]]}],
        [{**piece(CODE), "lines": [[3, 2]]}],
        [{**piece(CODE), "lines": [[1, 3], [2, 4]]}],
        [{**piece(CODE), "lines": [[1]]}],
        [{**piece(CODE), "lines": [[1, "2"]]}],
        [{**piece(CODE), "lines": [[True, 2]]}],
        [{**piece(CODE), "removed": [{"after": 1, "text": [1]}]}],
        [{**piece(CODE), "removed": [{"after": "1", "text": []}]}],
    ],
)
def test_pieces_that_are_none_are_refused(pieces):
    text = pieces if isinstance(pieces, str) else json.dumps(pieces)
    with pytest.raises(ReviewError) as caught:
        read_question("review", {**inputs(), "pieces": text})
    assert (caught.value.code, caught.value.place) == ("BAD_STEP", "pieces")


def test_an_input_that_no_step_reads_is_refused():
    with pytest.raises(ReviewError) as caught:
        read_question("review", inputs(piece(CODE), orders="x"))
    assert (caught.value.code, caught.value.place) == ("BAD_STEP", "orders")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.just("path"),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["path", "text", "lines", "total", "sha256"]), inner, max_size=5
            )
        ),
        max_leaves=12,
    )
)
def test_any_other_document_is_refused_as_no_pieces(value):
    if value != []:
        with pytest.raises(ReviewError) as caught:
            read_question("review", {**inputs(), "pieces": json.dumps(value)})
        assert caught.value.code == "BAD_STEP"


def test_a_pass_that_is_written_wrongly_is_refused():
    good = b"---\nschema: review-pass.v1\npass: review\nmax_tokens: 2048\n---\nLook.\n"
    assert read_pass(good, place="review.md").max_tokens == 2048
    for old, new in [(b"2048", b"2049"), (b"pass: review", b"pass: other"), (b"Look.", b"")]:
        with pytest.raises(ReviewError) as caught:
            read_pass(good.replace(old, new), place="review.md")
        assert caught.value.code == "CONTRACT_INVALID"
