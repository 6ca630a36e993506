"""Members of closed lists that a goal names."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from mcl.model.cues import places_of
from mcl.model.protocol import SlotForm


def test_a_member_that_is_one_letter_is_found_where_it_stands() -> None:
    sizes = SlotForm("size", "enum", "", options=("s", "m"))
    assert places_of("a shirt of size s please", sizes, "s") == [(16, 17)]
    assert places_of("a shirt please", sizes, "s") == []


@given(st.text(max_size=40), st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4, unique=True))
def test_a_member_is_only_found_where_there_are_words_of_it(prose: str, options: list[str]) -> None:
    slot = SlotForm("kind", "enum", "", options=tuple(options))
    for option in options:
        assert all(0 <= place.start < place.end <= len(prose) for place in places_of(prose, slot, option))
