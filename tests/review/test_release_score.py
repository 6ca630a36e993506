"""The arithmetic of a release check: what was earned of the weights; the verdict follows the rules alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcl.plugins.review.release.report import CheckKind, ReleaseCheck, ReleaseReport, Status


def made(*statuses: Status) -> ReleaseReport:
    """A report of checks that weigh 10, 20, 30, … and have these statuses."""
    checks = (
        ReleaseCheck(CheckKind(f"c{n}", "", 10 * n, ""), status, "") for n, status in enumerate(statuses, 1)
    )
    return ReleaseReport(Path(), "", tuple(checks))


@pytest.mark.parametrize(
    ("statuses", "verdict", "score"),
    [
        (("pass", "pass"), "pass", 100),
        (("pass", "warning"), "warning", 66),  # (10 + 20 / 2) of 30
        (("warning", "pass"), "warning", 83),
        (("blocked", "pass", "pass", "pass"), "blocked", 90),  # 90 of 100: the score decides nothing
        (("warning", "warning", "warning"), "warning", 50),
        (("not run", "pass"), "warning", 66),
        (("does not apply", "pass"), "pass", 100),
        (("does not apply",), "pass", 100),
        (("blocked",), "blocked", 0),
    ],
)
def test_the_score_is_what_was_earned_of_the_weights_and_the_verdict_follows_the_rules(
    statuses: tuple[Status, ...], verdict: str, score: int
) -> None:
    report = made(*statuses)
    assert (report.verdict, report.score) == (verdict, score)


@given(st.lists(st.sampled_from(["pass", "warning", "blocked", "not run", "does not apply"]), max_size=11))
def test_100_and_pass_are_the_same_and_mending_never_costs(statuses: list[Status]) -> None:
    report = made(*statuses)
    assert (report.score == 100) is (report.verdict == "pass")
    for number, status in enumerate(statuses):
        if status not in ("pass", "does not apply"):
            mended = made(*statuses[:number], "pass", *statuses[number + 1 :])
            assert mended.score >= report.score
