"""Which tables a goal means, and in which order, by what stands in them; from the goal to the file."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcl
from executor import AlwaysApprove, Home
from mcl.compiler.outcome import Compiled
from mcl.core.home import open_home

GUESTS = "name,born,paid\nOlle,1971-03-02,yes\nAda,1958-11-30,no\n"
NEW = "name,born,paid\nMia,2003-09-09,no\nOlle,1971-03-02,yes\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A folder with tables of one kind and one of another, which is the current one, and a home."""
    here = tmp_path / "work"
    here.mkdir()
    (here / "guests.csv").write_text(GUESTS)
    (here / "new-guests.csv").write_text(NEW)
    (here / "words.csv").write_text("svenska,tyska\nhund,Hund\näpple,Apfel\nhund,Hund\n")
    monkeypatch.chdir(here)
    return open_home(tmp_path / "home")


def done(goal: str, skill: str, home: Home) -> dict[str, str]:
    """The inputs of what a goal is compiled to, for this skill; it is run."""
    made = mcl.compile_goal(goal, home=home, skill=skill)
    assert isinstance(made, Compiled), (goal, made)
    mcl.accept(made.intent.id, home=home)
    outcome = mcl.run(made.intent.id, people=AlwaysApprove(), home=home)
    assert outcome.failure is None, outcome.failure
    assert mcl.replay(made.intent.id, home=home).same
    return {one.name: one.value for one in made.intent.frame.objects}


@pytest.mark.parametrize(
    ("goal", "names"),
    [
        (
            "put guests.csv and new-guests.csv together in all.csv, oldest first",
            ["Ada", "Olle", "Olle", "Mia"],
        ),
        ("slå ihop guests.csv och new-guests.csv till all.csv, utan dubbletter", ["Olle", "Ada", "Mia"]),
        ("merge the two guest lists into all.csv", ["Olle", "Ada", "Mia", "Olle"]),
        ("put the guests and the new guests together in all.csv", ["Olle", "Ada", "Mia", "Olle"]),
        ("slå ihop gästerna och de nya gästerna till all.csv", ["Olle", "Ada", "Mia", "Olle"]),
    ],
)
def test_tables_of_one_kind_go_one_below_the_other(goal: str, names: list[str], home: Home) -> None:
    done(goal, "table-join", home)
    rows = Path("all.csv").read_text().splitlines()
    assert rows[0] == "name,born,paid"
    assert [row.partition(",")[0] for row in rows[1:]] == names
    assert (Path("guests.csv").read_text(), Path("new-guests.csv").read_text()) == (GUESTS, NEW)


@pytest.mark.parametrize(
    "goal",
    [
        "append the rows of new-guests.csv to guests.csv, the new file stays",
        "för in de två i new-guests.csv sist i guests.csv",
        "Add the people of new-guests.csv to the bottom of guests.csv. No second header line, please.",
        "put the new guests at the end of guests.csv",
        "de nya gästerna ska stå sist i gästlistan",
    ],
)
def test_rows_are_added_to_the_table_that_is_named_for_it(goal: str, home: Home) -> None:
    done(goal, "table-join", home)
    assert Path("guests.csv").read_text() == GUESTS + NEW.partition("\n")[2]
    assert Path("new-guests.csv").read_text() == NEW


def test_a_column_by_which_rows_belong_together_is_no_order(home: Home) -> None:
    said = done("join guests.csv and new-guests.csv by name into both.csv", "table-join", home)
    assert (said["key"], "also" in said) == ("name", False)


@pytest.mark.parametrize(
    ("goal", "first"),
    [
        ("sort words.csv by the German word from A to Z", "äpple,Apfel"),
        ("sortera words.csv efter det svenska ordet, ö till a", "äpple,Apfel"),
        ("sort guests.csv oldest first", "Ada,1958-11-30,no"),
    ],
)
def test_an_order_is_said_in_words_of_its_own(goal: str, first: str, home: Home) -> None:
    said = done(goal, "table-sort", home)
    assert Path(said["file"]).read_text().splitlines()[1] == first


def test_tables_of_one_kind_are_asked_about_together(home: Home) -> None:
    goal = "who has not paid in guests.csv and the new guests? only names, in unpaid.csv"
    assert done(goal, "table-ask", home)["also"] == "new-guests.csv"
    assert Path("unpaid.csv").read_text() == "name\nAda\nMia\n"
    for goal in (
        "who has not paid, old guests and the new ones",
        "vilka har inte betalat, både gamla och nya gäster",
    ):
        assert "also" in done(goal, "table-ask", home)
    assert "also" not in done("which guests in guests.csv have paid", "table-ask", home)


def test_each_of_several_tables_is_asked_by_itself(home: Home) -> None:
    for name, last in (("reading1", "24.5"), ("reading2", "23.5")):
        Path(f"{name}.csv").write_text(f"minute,temperature\n0,21\n5,{last}\n")
    made = mcl.compile_goal("highest temperature in each of the two readings?", home=home)
    assert isinstance(made, Compiled), made
    mcl.accept(made.intent.id, home=home)
    told = str(mcl.run(made.intent.id, people=AlwaysApprove(), home=home).outputs)
    assert "24.5" in told
    assert "23.5" in told


@pytest.mark.parametrize(
    ("goal", "file"),
    [
        ("how many guests have paid", "guests.csv"),
        ("who of the guests has not paid? the two new ones are to be left in peace", "guests.csv"),
        ("which of the guests havent paid. Bo is waiting and i must ring them", "guests.csv"),
        ("how many of the new guests have paid", "new-guests.csv"),
        ("who of the guests has not paid, never mind the new ones", "guests.csv"),
        ("vilka gäster har inte betalt (alltså inte de nya, de får vänta)", "guests.csv"),
        ("vem är den yngsta gästen", "guests.csv"),
        ("vad heter äpple på tyska", "words.csv"),
    ],
)
def test_the_table_that_answers_is_the_one_of_which_most_is_said(goal: str, file: str, home: Home) -> None:
    assert done(goal, "table-ask", home)["file"] == file


@pytest.mark.parametrize("goal", ["how long is the warranty on the drill", "when is the next meeting"])
def test_no_table_answers_what_none_speaks_of(goal: str, home: Home) -> None:
    assert not isinstance(mcl.compile_goal(goal, home=home, skill="table-ask"), Compiled)


CASH = "date,what,way,amount\n2026-05-01,fees,in,400\n2026-05-02,tea,out,50\n2026-06-01,rent,out,100\n"


@pytest.mark.parametrize(
    ("goal", "numbers"),
    [
        ("how much came in and how much went out of the cash in may", ("400", "50")),
        ("vad har kommit in och vad har gått ut ur cash.csv, totalt", ("400", "150")),
        ("what is left in cash.csv if you take all that came in and subtract all that went out", ("250",)),
        ("be honest w me how much went out in may in cash.csv. dont tell Bo i paid for the tea", ("50",)),
        ("how much more went out in june than in may in cash.csv", ("50",)),
        ("hur mycket mer gick ut i juni än i maj enligt cash.csv", ("50",)),
        ("hur mycket gick ut i maj? kolla i cash.csv, det känns som allt bara försvinner", ("50",)),
        ("add up all that went out in cash.csv and tell me how bad it is", ("150",)),
        ("how much came in, everything in cash.csv. The last column says what it was if Bo knew", ("400",)),
        ("hur mycket blir kvar i cash.csv om man tar det som kom in och drar av det som gick ut", ("250",)),
        ("what is the total of cash.csv, the rent ones don't count", ("450",)),
    ],
)
def test_both_ways_and_both_sides_are_told(goal: str, numbers: tuple[str, ...], home: Home) -> None:
    Path("cash.csv").write_text(CASH)
    made = mcl.compile_goal(goal, home=home)
    assert isinstance(made, Compiled), (goal, made)
    mcl.accept(made.intent.id, home=home)
    outcome = mcl.run(made.intent.id, people=AlwaysApprove(), home=home)
    assert outcome.failure is None, outcome.failure
    told = str(outcome.outputs)
    assert all(one in told for one in numbers), told


def test_what_a_table_answers_is_asked_of_it_and_not_converted_or_counted(home: Home) -> None:
    Path("calls.json").write_text('[{"name": "Eve", "paid": false}, {"name": "Bo", "paid": true}]')
    Path("notes.txt").write_text("Ada asks who has paid; the guest list says who still has not.\n")
    for goal in (
        "who on the guest list still hasn't paid? names please",
        "visa de två yngsta gästerna i guests.csv, yngst överst",
        "hur många ord har jag i words.csv?",
        "i need the guests of guests.csv who paid as csv, in paid.csv",
        "which of the calls are not paid yet? it's in calls.json",
        "give me late.csv out of calls.json, just the calls with paid false. The boss opens only Excel",
    ):
        made = mcl.compile_goal(goal, home=home)
        assert isinstance(made, Compiled)
        assert made.intent.compile_metadata is not None
        assert made.intent.compile_metadata.skill_id == "table-ask", goal
