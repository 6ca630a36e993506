"""Temperatures: the one that makes what was said with a probability come true as often as that."""

from __future__ import annotations

import math

import pytest

pytest.importorskip("torch", reason="training needs torch")

from training.calibrate import TEMPERATURES, Row, best_temperatures, loss, told


def rows(right: int, wrong: int, p: float) -> list[Row]:
    """Answers that say p of the first of two; it is right `right` times."""
    return [([p, 1 - p], 0)] * right + [([p, 1 - p], 1)] * wrong


def test_what_is_said_too_surely_is_cooled() -> None:
    sure = rows(75, 25, 0.9)  # 0.9 ** (1 / 2) against 0.1 ** (1 / 2) is 0.75
    assert best_temperatures([{"pick": sure}]) == {"pick": 2.0}
    assert loss(sure, 2.0) == pytest.approx(-0.75 * math.log(0.75) - 0.25 * math.log(0.25))


def test_what_is_said_too_weakly_is_sharpened_and_what_is_true_is_left() -> None:
    assert best_temperatures([{"verb": rows(9, 1, 0.75)}])["verb"] == pytest.approx(0.5)
    assert best_temperatures([{"verb": rows(75, 25, 0.75)}])["verb"] == pytest.approx(1.0)


def test_each_kind_has_its_own_and_kinds_that_were_not_asked_have_none() -> None:
    found = best_temperatures([{"pick": rows(75, 25, 0.9), "tag": rows(9, 1, 0.9)}])
    assert found == {"pick": 2.0, "tag": 1.0}


def test_groups_count_alike_whatever_their_size() -> None:
    large, small = rows(900, 100, 0.9), rows(5, 5, 0.9)
    alone = best_temperatures([{"tag": large}])["tag"]
    both = best_temperatures([{"tag": large}, {"tag": small}])["tag"]
    assert alone == pytest.approx(1.0)
    assert both > alone


def test_a_temperature_changes_no_order() -> None:
    p = [0.2, 0.5, 0.3]
    for t in TEMPERATURES:
        scaled = [x ** (1 / t) for x in p]
        assert sorted(range(3), key=scaled.__getitem__) == sorted(range(3), key=p.__getitem__)


def test_the_card_is_told_each_temperature() -> None:
    assert "pick 1.35, tag 1.05" in told({"pick": 1.35, "tag": 1.05})
