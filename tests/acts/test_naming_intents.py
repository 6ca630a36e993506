"""An intent is named by its id, a unique beginning of it, or @last."""

from __future__ import annotations

import pytest

from mcl.core.errors import InputError
from mcl.usecases.intents import find_intent

A, B, C = "01KAGZ3M5N0000000000000001", "01KAGZ3M5N0000000000000002", "01KAHZ3M5N0000000000000003"


def test_a_whole_id_an_address_and_a_unique_beginning_all_name_it(home, write):
    for id in (A, B, C):
        write(id=id)
    assert find_intent(home, A) == A
    assert find_intent(home, f"matrix://intent/{A}") == A
    assert find_intent(home, "01KAH") == C
    assert find_intent(home, "01kah") == C


def test_last_is_the_one_last_written_about(home, write):
    write(id=B)
    write(id=A)
    assert find_intent(home, "@last") == A


def test_an_ambiguous_beginning_names_the_candidates(home, write):
    for id in (A, B, C):
        write(id=id)
    with pytest.raises(InputError) as caught:
        find_intent(home, "01KAG")
    assert caught.value.code == "INTENT_AMBIGUOUS"
    assert sorted(caught.value.data["nearest"]) == [A, B]
    assert caught.value.exit == 2


@pytest.mark.parametrize("text", ["01KAHX", "nonsense", "", "%", "../../etc/passwd", "x" * 40, "01KAH\x00"])
def test_an_unknown_name_lists_the_nearest_first(home, write, text):
    for id in (A, C):
        write(id=id)
    with pytest.raises(InputError) as caught:
        find_intent(home, text)
    assert caught.value.code == "INTENT_UNKNOWN"
    if text == "01KAHX":
        assert caught.value.data["nearest"][0] == C


def test_an_empty_home_says_how_to_begin(home):
    for text in ("@last", "01"):
        with pytest.raises(InputError) as caught:
            find_intent(home, text)
        assert "mcl compile" in caught.value.fix
