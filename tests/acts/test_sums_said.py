"""Sums in everyday words: the expression that is signed, and what is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcl
from executor import Home
from mcl.compiler.outcome import Compiled
from mcl.core.home import open_home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """An empty folder, which is the current one, and a home."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return open_home(tmp_path / "home")


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        ("vad blir 14,5 timmar à 800 kr plus 25 procent moms?", "14.5 * 800 + 25 %"),
        ("what's fourteen and a half hours at 800, and then 25% VAT on top of that?", "14.5 * 800 + 25 %"),
        ("vad blir hundra biljetter för 120 styck minus tretusen i hyra", "100 * 120 - 3000"),
        ("how much are two dozen buns at 15 each", "24 * 15"),
        ("i bill 6.5 hours at 850 an hour, what's that with 25% vat?", "6.5 * 850 + 25 %"),
        ("what do 3 tickets at 149 kr each come to", "3 * 149"),
        ("each lesson is 450 kr and we take 12, minus a 10% discount, how much is it", "450 * 12 - 10 %"),
        ("dela 1 450 kr på tre personer", "1450 / 3"),
        ("we are 7 people splitting a bill of 1845 kr, what's each", "1845 / 7"),
    ],
)
def test_words_between_numbers_say_what_is_done(home: Home, goal: str, said: str) -> None:
    made = mcl.compile_goal(goal, home=home, skill="calculate")
    assert isinstance(made, Compiled), made
    assert [one.value for one in made.intent.frame.objects] == [said]


@pytest.mark.parametrize(
    "goal", ["what are 120 guests worth, 3 canapes each and 45", "how much is the ticket on 12 May for 2"]
)
def test_numbers_that_no_words_join_are_no_sum(home: Home, goal: str) -> None:
    made = mcl.compile_goal(goal, home=home, skill="calculate")
    named = [one.value for one in made.intent.frame.objects] if isinstance(made, Compiled) else []
    assert not any(sign in one for one in named for sign in "*+/")


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        ("4 naps a day, 30 minutes each, 7 days. how many hours is that", "4 * 30 * 7 / 60"),
        ("hur många timmar är 12 lektioner på 50 minuter", "12 * 50 / 60"),
        ("if sixty of us pay 150 each and the hall takes 2500 off us, what's left", "60 * 150 - 2500"),
        ("we sold 90 cakes at 2.50 apiece and the flour cost 61.40. what have we made?", "90 * 2.50 - 61.40"),
        ("18000 plus 25 % moms, va blir det", "18000 plus 25 %"),
        (
            "jag fick 9000, minus 3500 i hyra, 640 för kort och 200 för mobilen, vad är kvar",
            "9000 - 3500 - 640 - 200",
        ),
        ("what's 1000 minus 200 and 300", "1000 - 200 - 300"),
        ("12 h * 55 eur + 19% mwst = ?", "12 * 55 + 19 %"),
        ("vi är 30 som betalar 150 kr var och lokalen tar 1800, vad blir över", "30 * 150 - 1800"),
        ("a backup of 450 GB took 5 hours, how many GB per minute", "450 / (5 * 60)"),
        ("bilen drog 31 liter på 420 km, hur många liter per mil", "31 / (420 / 10)"),
    ],
)
def test_what_is_taken_off_and_the_unit_that_is_asked_for_are_computed(
    home: Home, goal: str, said: str
) -> None:
    made = mcl.compile_goal(goal, home=home, skill="calculate")
    assert isinstance(made, Compiled), made
    assert [one.value for one in made.intent.frame.objects] == [said]


@pytest.mark.parametrize(
    ("goal", "said"),
    [
        ("what the roofer wants for the gutter split four ways, whats that each", "2600 / 4"),
        ("how much is 5 % of what the roofer wants for the gutter", "5 % of 2600"),
    ],
)
def test_an_amount_that_one_file_gives_is_computed_with(home: Home, goal: str, said: str) -> None:
    (Path.cwd() / "roofer.eml").write_text(
        "From: Roofer Ann <ann@roof.example>\nSubject: Gutter\n\nI can do it on Monday for 2600 kr.\n"
    )
    (Path.cwd() / "notes.txt").write_text("ring the roofer about the gutter\n")
    made = mcl.compile_goal(goal, home=home, skill="calculate")
    assert isinstance(made, Compiled), made
    assert [one.value for one in made.intent.frame.objects] == [said]
