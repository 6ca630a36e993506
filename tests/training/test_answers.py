"""What is counted of answers: values that are right, and how well stated probabilities are kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from training.answers import Scores, calibration_error


def test_values_are_counted_over_all_and_by_field() -> None:
    scores = Scores()
    scores.add({("a", 1), ("b", 2)}, {("a", 1), ("b", 3)})
    scores.add({("a", 5)}, {("a", 5)})
    assert scores.total.f1 == pytest.approx(2 * 2 / 6)
    assert (scores.fields["a"].f1, scores.fields["b"].f1) == (1.0, 0.0)
    assert (scores.frames, scores.exact, scores.macro) == (2, 1, 0.5)


def test_the_calibration_error_weighs_each_bin_by_what_is_in_it() -> None:
    assert calibration_error([(0.75, True)] * 3 + [(0.75, False)]) == pytest.approx(0.0)
    assert calibration_error([(1.0, False), (0.5, True)]) == pytest.approx(0.75)
    assert calibration_error([]) == 0.0


@given(st.lists(st.tuples(st.floats(0.001, 1), st.booleans()), min_size=1))
def test_the_calibration_error_is_a_share(rows: list[tuple[float, bool]]) -> None:
    assert 0.0 <= calibration_error(rows) <= 1.0
