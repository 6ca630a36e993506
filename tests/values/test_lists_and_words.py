"""Lists, numbers in words, and times in words, as people say them in English and Swedish."""

from decimal import Decimal

import pytest

from mcl.model.cues import load_cues, pattern_spans
from mcl.model.protocol import SlotForm
from mcl.values.lists import list_entries, next_entry
from mcl.values.numbers import only_number
from mcl.values.slots import read_slot

AT, ZONE = "2026-11-21T10:00:00.000Z", "Europe/Stockholm"


@pytest.mark.parametrize(
    ("said", "entries"),
    [
        ("folk, jazz and bossa nova", ["folk", "jazz", "bossa nova"]),
        ("tea, scarves and a drum", ["tea", "scarves", "drum"]),
        ("a, b och c", ["a", "b", "c"]),
        ("jan & feb + mar", ["jan", "feb", "mar"]),
        ('"salt and pepper" and oil', ["salt and pepper", "oil"]),
        ("1,200 and 3", ["1,200", "3"]),
        ("Sandra", ["Sandra"]),
        (" , ", []),
    ],
)
def test_each_entry_of_a_list_is_found(said: str, entries: list[str]) -> None:
    assert [said[start:end] for start, end in list_entries(said)] == entries


def test_a_list_goes_on_with_entries_of_its_kind_alone() -> None:
    for said, more in (
        ("Omar and Beatrice for salsa", "Beatrice"),
        ("article and total", "total"),
        ("eggs and send me", None),
        ("eggs and Beatrice", None),
        ("eggs", None),
    ):
        found = next_entry(said, said.split()[0], len(said.split()[0]))
        assert (said[slice(*found)] if found else None) == more, said


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("60 oak boards", "60"),
        ("channel two", "2"),
        ("thirty-nine and a half kilos", "39.5"),
        ("half a gram", "0.5"),
        ("three dozen rye loaves", "36"),
        ("tre och en halv liter", "3.5"),
        ("två dussin ägg", "24"),
        ("two grown-ups and three kids", None),
        ("twice a day", None),
        ("sensor-4", None),
        ("-3", None),
        ("4-2", None),
        ("no number", None),
    ],
)
def test_one_number_among_words_is_read_and_never_one_of_two(said: str, number: str | None) -> None:
    assert only_number(said) == (None if number is None else Decimal(number))


@pytest.mark.parametrize(
    ("said", "moment"),
    [
        ("on 3 May at 14:30", "2027-05-03T12:30:00.000Z"),
        ("8 December at 9.15", "2026-12-08T08:15:00.000Z"),
        ("seven tonight", "2026-11-21T18:00:00.000Z"),
        ("tonight at half past eight", "2026-11-21T19:30:00.000Z"),
        ("quarter to six in the morning", "2026-11-22T04:45:00.000Z"),
        ("thursday half past six in the morning", "2026-11-26T05:30:00.000Z"),
        ("at three in the night", "2026-11-22T02:00:00.000Z"),
        ("halv åtta på kvällen", "2026-11-21T18:30:00.000Z"),
        ("kvart i sju på morgonen", "2026-11-22T05:45:00.000Z"),
        ("tomorow", "2026-11-22T22:59:59.000Z"),
        ("the last of november", "2026-11-30T22:59:59.000Z"),
        ("the third of march", "2027-03-03T22:59:59.000Z"),
        ("igår", "2026-11-20T22:59:59.000Z"),
        ("half past eight", None),
    ],
)
def test_times_in_words_are_read_where_they_mean_one_moment(said: str, moment: str | None) -> None:
    assert read_slot(said, "iso8601", (), AT, ZONE) == moment


def test_an_amount_for_each_of_something_is_that_amount() -> None:
    for said in ("140 euros a night", "140 euros each", "140 euros per person"):
        assert read_slot(said, "AssetAmount", (), AT, ZONE) == "140 EUR"


def marked(goal: str, *slots: SlotForm) -> dict[str, str]:
    return {one.field[5:]: one.value for one in pattern_spans(goal, slots, load_cues(), [])}


def test_of_several_slots_each_takes_the_number_that_its_name_counts() -> None:
    cpus = SlotForm("cpus", "uint", "number of cores")
    memory = SlotForm("memory_gb", "uint", "memory in gigabytes")
    assert marked("give web-03 32 gigs and eight cores", cpus, memory) == {"cpus": "eight", "memory_gb": "32"}
    assert marked("pack for the 2 of us", cpus, memory) == {"cpus": "2"}, "nothing tells: the first has it"


def test_of_two_moments_one_is_a_day_and_one_a_time() -> None:
    day, time = SlotForm("date", "iso8601", "day of the hearing"), SlotForm("at", "iso8601", "time it begins")
    assert marked("on 8 December at 9.15", day, time) == {"date": "on 8 December", "at": "9.15"}
    assert marked("on 8 December at 9.15", time) == {"at": "8 December at 9.15"}


def test_yes_or_no_where_a_goal_says_the_name_of_a_switch() -> None:
    shed = SlotForm("shed", "bool", "", ("true", "false"))
    assert marked("a plot, no shed though", shed) == {"shed": "false"}
    assert marked("a plot with a shed", shed) == {"shed": "true"}
    assert marked("a plot", shed) == {}
