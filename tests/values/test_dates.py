from zoneinfo import ZoneInfoNotFoundError

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ir import DeadlineConstraint
from mcl.values.dates import read_moment
from mcl.values.durations import read_duration

SATURDAY = "2026-11-21T10:00:00.000Z"


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("tomorrow", "2026-11-22T23:59:59"),
        ("by friday 5pm", "2026-11-27T17:00:00"),
        ("friday at 17:00", "2026-11-27T17:00:00"),
        ("5pm tomorrow", "2026-11-22T17:00:00"),
        ("tomorrow at noon", "2026-11-22T12:00:00"),
        ("by tomorrow evening", "2026-11-22T21:00:00"),
        ("this evening", "2026-11-21T21:00:00"),
        ("this afternoon", "2026-11-21T18:00:00"),
        ("in half a year", "2027-05-21T10:00:00"),
        ("vendredi 25 décembre 2026", "2026-12-25T23:59:59"),
        ("no later than 3 pm on Tuesday", "2026-11-24T15:00:00"),
        ("in 3 days", "2026-11-24T10:00:00"),
        ("in 3 days at 5pm", "2026-11-24T17:00:00"),
        ("within 2 hours", "2026-11-21T12:00:00"),
        ("in half an hour", "2026-11-21T10:30:00"),
        ("in 1.5 hours", "2026-11-21T11:30:00"),
        ("within the next 48 hours", "2026-11-23T10:00:00"),
        ("a week from now", "2026-11-28T10:00:00"),
        ("in 2 months", "2027-01-21T10:00:00"),
        ("in 5 business days", "2026-11-27T10:00:00"),
        ("two weeks from friday", "2026-12-11T23:59:59"),
        ("2026-12-01", "2026-12-01T23:59:59"),
        ("before 2026-12-01", "2026-12-01T00:00:00"),
        ("2026-12-01T10:00", "2026-12-01T10:00:00"),
        ("2026-12-01T10:00+02:00", "2026-12-01T08:00:00"),
        ("end of the month", "2026-11-30T23:59:59"),
        ("by the end of next week", "2026-11-29T23:59:59"),
        ("before the end of the year", "2026-12-31T23:59:59"),
        ("next week", "2026-11-29T23:59:59"),
        ("this weekend", "2026-11-22T23:59:59"),
        ("next month", "2026-12-31T23:59:59"),
        ("by friday", "2026-11-27T23:59:59"),
        ("before friday", "2026-11-27T00:00:00"),
        ("next friday", "2026-11-27T23:59:59"),
        ("saturday", "2026-11-28T23:59:59"),
        ("monday morning", "2026-11-23T12:00:00"),
        ("eod", "2026-11-21T23:59:59"),
        ("end of the day tomorrow", "2026-11-22T23:59:59"),
        ("december 1", "2026-12-01T23:59:59"),
        ("1st of December", "2026-12-01T23:59:59"),
        ("Dec 1st, 2027", "2027-12-01T23:59:59"),
        ("November 30th, 2026 at 5:30 pm", "2026-11-30T17:30:00"),
        ("Tuesday the 24th", "2026-11-24T23:59:59"),
        ("the 5th", "2026-12-05T23:59:59"),
        ("january 5", "2027-01-05T23:59:59"),
        ("12/24", "2026-12-24T23:59:59"),
        ("24/12/2026", "2026-12-24T23:59:59"),
        ("1.12.2026", "2026-12-01T23:59:59"),
        ("in march", "2027-03-31T23:59:59"),
        ("q1", "2027-03-31T23:59:59"),
        ("end of q1 2027", "2027-03-31T23:59:59"),
        ("2027", "2027-12-31T23:59:59"),
        ("17:00", "2026-11-21T17:00:00"),
        ("9:30am", "2026-11-22T09:30:00"),
        ("midnight on friday", "2026-11-28T00:00:00"),
        ("imorgon", "2026-11-22T23:59:59"),
        ("senast fredag kl 17:00", "2026-11-27T17:00:00"),
        ("innan fredag", "2026-11-27T00:00:00"),
        ("om tre dagar", "2026-11-24T10:00:00"),
        ("den 1 december", "2026-12-01T23:59:59"),
        ("slutet av månaden", "2026-11-30T23:59:59"),
        ("dans 3 jours", "2026-11-24T10:00:00"),
        ("1er décembre 2026", "2026-12-01T23:59:59"),
        ("demain à 17h", "2026-11-22T17:00:00"),
        ("in 2 wochen", "2026-12-05T10:00:00"),
        ("dans 2 mois", "2027-01-21T10:00:00"),
    ],
)
def test_a_deadline_in_words_is_a_moment_after_it_was_said(text: str, moment: str) -> None:
    assert read_moment(text, SATURDAY) == f"{moment}.000Z"


@pytest.mark.parametrize(
    "text",
    ["", "12/01", "at 5", "friday 5", "friday the 13th", "30 february", "asap", "soon", "in", "christmas",
    "to Oslo", "5",
     "in 99999999999 days", "in 100000000 days", "13/13/2026", "25:00", "13 pm", "0000-01-01",
     "tomorrow at 5", "13 pm tomorrow", "morgen um 5", "demain à 5", "in 3.5 months", "3.5", "5-6 december",
     "5 may 15", "tuesday 23 november", "sunday 25 december 2026", "dimanche 25 décembre 2026"],
)  # fmt: skip
def test_an_unclear_or_impossible_deadline_is_not_read(text: str) -> None:
    assert read_moment(text, SATURDAY) is None


def test_days_begin_and_end_in_the_zone_of_the_person() -> None:
    assert read_moment("tomorrow", SATURDAY, "Europe/Stockholm") == "2026-11-22T22:59:59.000Z"
    assert read_moment("today", "2026-11-21T23:30:00.000Z", "Europe/Stockholm") == "2026-11-22T22:59:59.000Z"
    assert read_moment("17:00", SATURDAY, "America/New_York") == "2026-11-21T22:00:00.000Z"
    assert read_moment("17:00 UTC", SATURDAY, "America/New_York") == "2026-11-21T17:00:00.000Z"


def test_days_ahead_keep_the_time_of_day_across_a_change_of_the_clocks() -> None:
    assert (
        read_moment("in 2 days", "2026-10-24T10:00:00.000Z", "Europe/Stockholm") == "2026-10-26T11:00:00.000Z"
    )


def test_an_unknown_zone_is_an_error() -> None:
    with pytest.raises(ZoneInfoNotFoundError):
        read_moment("tomorrow", SATURDAY, "Mars/Olympus")


@pytest.mark.parametrize(
    ("text", "duration"),
    [("2 hours", "PT2H"), ("90 minutes", "PT90M"), ("1h30m", "PT1H30M"), ("half an hour", "PT30M"),
     ("two and a half hours", "PT2H30M"), ("a day and a half", "P1DT12H"), ("3 days", "P3D"), ("2 weeks",
     "P2W"),
     ("3 months", "P3M"), ("1 year", "P1Y"), ("pt2h", "PT2H"), ("2 hours and 5 minutes", "PT2H5M"),
     ("at most 20 minutes", "PT20M"), ("30 minuter", "PT30M"), ("5", None), ("two fish", None), ("", None)],
)  # fmt: skip
def test_lengths_of_time_become_iso_durations(text: str, duration: str | None) -> None:
    assert read_duration(text) == duration


_VOCABULARY = """by before in at the of next this end start friday monday march may 1 2 3 12 31 2026 5pm 17:00
noon hours days weeks months year day week month tomorrow today 1st the- / . , a an half and q1 12/1 30.2
från om tre"""
_WORDS = st.lists(st.sampled_from(_VOCABULARY.split()), max_size=7)


@settings(max_examples=150)
@given(_WORDS, st.sampled_from(["UTC", "Europe/Stockholm", "Asia/Kathmandu"]))
def test_no_words_of_time_make_the_reader_fail_and_all_it_reads_is_a_moment(
    words: list[str], zone: str
) -> None:
    text = " ".join(words)
    moment = read_moment(text, SATURDAY, zone)
    if moment is not None:
        assert DeadlineConstraint(by=moment).by == moment
    read_duration(text)


@given(st.text(max_size=100))
def test_no_text_makes_the_reader_of_durations_fail(text: str) -> None:
    read_duration(text)
