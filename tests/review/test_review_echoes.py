"""What a small model says again and again is told once, and no label or place is lost."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scripted import Scripted
from yards import Yard

from mcl.plugins.review.answer import gathered, without_echoes
from mcl.plugins.review.finding import SEVERITIES, ReviewFinding
from mcl.plugins.review.usecases.run import review_code

WORDS = st.sampled_from(["No docstring.", "no docstring", "A price may be negative here.", "}", ""])
FINDINGS = st.lists(
    st.builds(
        ReviewFinding,
        st.sampled_from(SEVERITIES[:3]),
        st.sampled_from(["a.py", "b.py"]),
        st.integers(1, 40),
        st.lists(WORDS, min_size=1, max_size=4).map("\n".join),
    ),
    max_size=20,
)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("Slow.\nSlow.\nslow\nSlow.", "Slow."),
        ("It reads the file twice.\nIt reads the file twi", "It reads the file twice."),
        ("It is slow.\nIt", "It is slow.\nIt"),
        ("Write:\n}\n}\nX", "Write:\n}\n}\nX"),
        ("One.\nTwo.", "One.\nTwo."),
        ("", ""),
    ],
)
def test_a_body_says_each_line_once(body: str, told: str) -> None:
    assert without_echoes(ReviewFinding("NOTE", "a.py", 1, body)).body == told


def test_the_same_of_a_few_places_stays_and_of_many_becomes_one_that_names_them() -> None:
    many = [ReviewFinding("NOTE", "a.py", line, "No docstring.") for line in (9, 3, 4)]
    assert gathered(many) == many
    [one] = gathered([*many, ReviewFinding("NOTE", "a.py", 7, "no docstring")])
    assert (one.location, one.body) == ("a.py:3", "No docstring.\nThe same is said of the lines 4, 7, 9.")


@given(FINDINGS)
def test_no_label_of_a_file_and_no_line_is_lost(findings: list[ReviewFinding]) -> None:
    told = gathered(findings)
    for before in findings:
        [*same] = [one for one in told if (one.file, one.severity) == (before.file, before.severity)]
        assert any(one.line == before.line or str(before.line) in one.body for one in same)
    assert len(told) <= len(findings)


def test_a_review_tells_what_a_model_repeats_once(yard: Yard) -> None:
    answer = "\n\n".join(f"[NOTE] app.py:{line}\nNo docstring.\nNo docstring." for line in range(1, 7))
    with yard.opened() as home:
        result = review_code("app.py", model=Scripted(lambda request: answer), home=home)
    assert result.text == "[NOTE] app.py:1\nNo docstring.\nThe same is said of the lines 2, 3, 4, 5, 6."
