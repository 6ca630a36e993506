import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcl.compiler.stages.request import normalise
from mcl.core.errors import InputError


@pytest.mark.parametrize(
    ("goal", "text"),
    [
        ("  find\t the\u00a0 word ", "find the word"),
        ("one\r\ntwo\rthree\n\n\n\nfour", "one\ntwo\nthree\n\nfour"),
        ("cafe\u0301", "café"),
        ("bell\x07 and\x1b[31m red", "bell and[31m red"),
        ("pay \u202e$005\u202c now\u200b", "pay $005 now"),
        ("tag\U000e0041\U000e0042ged", "tagged"),
        ("på svenska: åäö — ok", "på svenska: åäö — ok"),
        ("emoji 👩\u200d💻 stays", "emoji 👩\u200d💻 stays"),
        (b"bytes \xc3\xa5", "bytes å"),
    ],
)
def test_a_goal_is_cleaned_without_changing_what_it_says(goal: str | bytes, text: str) -> None:
    assert normalise(goal, longest=100) == text


@given(st.text(max_size=300))
def test_cleaning_again_changes_nothing(goal: str) -> None:
    try:
        text = normalise(goal, longest=200, truncate=True)
    except InputError:
        return
    assert normalise(text, longest=200) == text
    assert unicodedata.is_normalized("NFC", text)
    assert 0 < len(text) <= 200


def test_a_word_longer_than_the_limit_is_cut_inside() -> None:
    assert normalise("x" * 50, longest=20, truncate=True) == "x" * 20
    assert normalise("one two " + "x" * 50, longest=20, truncate=True) == "one two"
