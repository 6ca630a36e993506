"""The report of a model: aims beside what was reached, tables by set, the surest of the wrong answers."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from training.answers import FoundValue, GoalAnswer, by_skill, confusions, figures_of, kinds
from training.report import TARGETS, Measured, case, percent, report, table, write

RIGHT = GoalAnswer(
    text="order a lamp | by Friday",
    wanted_skill="general",
    wanted_verb="acquire",
    wanted=frozenset({FoundValue("slot.target", "a lamp"), FoundValue("deadline", "Friday")}),
    skill="general",
    verb="acquire",
    found=frozenset({FoundValue("slot.target", "a lamp"), FoundValue("deadline", "Friday")}),
    confidence=0.97,
    skill_probability=0.97,
    outcome="compiled",
)
WRONG = replace(RIGHT, verb="build", found=frozenset({FoundValue("slot.target", "lamp")}), confidence=0.91)


def measured(answers: list[GoalAnswer]) -> Measured:
    figures = figures_of(answers)
    own = {"bare": figures, "whole": figures, "by skill": by_skill(answers), "errors": kinds(answers)}
    own["confusions"] = confusions(answers)
    network = {"limit": 9, "intent": {"snips": figures}, "slots": {"snips": figures}}
    network["confusions"] = {"snips": confusions(answers)["skill"]}
    whole = {"choosing": {"snips": {"n": 2, "accuracy": 0.99, "ECE": 0.01}}, "extraction": {}}
    return Measured(network, whole, own, answers, {"snips": answers})


def test_every_aim_is_told_with_what_was_reached() -> None:
    text = report(measured([RIGHT, WRONG]))
    assert all(f"| {name} | {aim:g} |" in text for name, _, _, aim in TARGETS)
    assert "| SNIPS, skill | 98.5 | 99.0 | yes |" in text
    assert "| own goals, verb | 92 | 50.0 | no |" in text
    assert "| own goals, values not in the prose | 0 | 0.0 | yes |" in text
    assert "| SNIPS, slot F1 | 94 | – | not measured |" in text


def test_wrong_answers_are_told_with_what_was_missed_and_what_came() -> None:
    told = case(WRONG)
    assert told.startswith("- 0.91 “order a lamp | by Friday” — general/acquire → general/build; ")
    assert "missed deadline “Friday”, target “a lamp”; came target “lamp”" in told
    assert case(replace(RIGHT, wanted_skill="none")).endswith("none/acquire → general/acquire")
    text = report(measured([RIGHT, WRONG]))
    assert told in text
    assert case(RIGHT) not in text


def test_cells_do_not_break_their_table() -> None:
    assert table(["a"], [["x|y"]])[-1] == r"| x\|y |"
    assert [percent(value) for value in (0.1234, 3, None, "x")] == ["12.3", "3", "–", "x"]


def test_words_of_the_public_corpora_are_written_beside_the_run_only(tmp_path: Path) -> None:
    beside, out = tmp_path / "beside", tmp_path / "out"
    beside.mkdir()
    out.mkdir()
    public = replace(WRONG, text="play some jazz")
    write(replace(measured([RIGHT]), answers={"snips": [public]}), beside, out)
    assert "play some jazz" not in (beside / "REPORT.md").read_text(encoding="utf-8")
    assert "play some jazz" in (out / "worst.md").read_text(encoding="utf-8")
    assert json.loads((beside / "figures.json").read_text(encoding="utf-8"))["own"]["whole"]["exact"] == 1.0
