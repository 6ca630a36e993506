"""What stands beside a model: aims beside what was reached, misses told as misses."""

from __future__ import annotations

from training.report import AIMS, LIMITS, aims, by_row, report, table

FIGURES = {
    "public": {
        "choosing": {"snips": {"accuracy": 98.8, "n": 400}},
        "extraction": {"snips": {"slot F1": 94.9}},
    },
    "goals": {"en": {"verb": 80.0, "asked": 20.0, "invented": 0, "ECE": 5.1}},
    "calibration": [["by hand", "pick", 12, 0.5, 0.031]],
}


def test_every_aim_is_told_with_what_was_reached() -> None:
    lines = aims(FIGURES)
    assert len(lines) == 2 + len(AIMS) + len(LIMITS)
    assert "| SNIPS, skill | >= 98.7 | 98.8 | yes |" in lines
    assert "| SNIPS, slot F1 | >= 95 | 94.9 | no |" in lines
    assert "| unseen writers, English: asked | <= 25 | 20.0 | yes |" in lines
    assert "| unseen writers, English: ECE | <= 5 | 5.1 | no |" in lines
    assert "| values not in the prose | <= 0 | 0 | yes |" in lines
    assert "| BANKING77, skill | >= 94.5 | – | not measured |" in lines


def test_all_figures_are_in_the_report() -> None:
    text = report(FIGURES)
    assert "| snips | 98.8 | 400 |" in text
    assert "| by hand | pick | 12 | 50.0 | 3.1 |" in text


def test_a_figure_that_one_row_lacks_is_a_dash_there() -> None:
    rows = {"a": {"x": 1}, "b": {"y": 2.0}}
    assert by_row("", rows) == ["|  | x | y |", "|---|---|---|", "| a | 1 | – |", "| b | – | 2.0 |"]


def test_cells_do_not_break_their_table() -> None:
    assert table(["a"], [["x|y"]])[-1] == r"| x\|y |"
