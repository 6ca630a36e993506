"""When something begins and since when, as slots of type iso8601 read it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcl.values.dates import read_moment, read_since, read_start
from mcl.values.slots import read_slot

AT = "2026-11-21T10:00:00.000Z"  # a Saturday


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("tomorrow", "2026-11-22T09:00"),
        ("tomorrow at 9", "2026-11-22T09:00"),
        ("on Friday at 14:30", "2026-11-27T14:30"),
        ("Friday morning", "2026-11-27T09:00"),
        ("tomorrow evening", "2026-11-22T18:00"),
        ("tonight", "2026-11-21T18:00"),
        ("in two hours", "2026-11-21T12:00"),
        ("2 January 2027 at 8:15", "2027-01-02T08:15"),
        ("3 December at noon", "2026-12-03T12:00"),
        ("2026-12-03", "2026-12-03T09:00"),
        ("next Tuesday at 12:00", "2026-11-24T12:00"),
        ("tomorrow at 7pm", "2026-11-22T19:00"),
        ("imorgon kl 9:00", "2026-11-22T09:00"),
        ("klockan tre i eftermiddag", "2026-11-21T15:00"),
        ("at 3 this afternoon", "2026-11-21T15:00"),
        ("at 7 tomorrow morning", "2026-11-22T07:00"),
        ("klockan sju i morgon bitti", "2026-11-22T07:00"),
        ("fredag kväll klockan sex", "2026-11-27T18:00"),
        ("fredag kväll kl 18", "2026-11-27T18:00"),
        ("ikväll halv åtta", "2026-11-21T19:30"),
        ("den 3:e kl 10", "2026-12-03T10:00"),
        ("den femtonde december klockan nio", "2026-12-15T09:00"),
    ],
)
def test_something_begins_when_its_words_say(text: str, moment: str) -> None:
    assert read_start(text, AT) == f"{moment}:00.000Z"


@pytest.mark.parametrize("text", ["", "tomorrow at 5", "next week", "today", "31 February", "12/01", "soon"])
def test_a_beginning_that_is_unclear_or_over_is_not_read(text: str) -> None:
    assert read_start(text, AT) is None


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("yesterday", "2026-11-20T00:00"),
        ("since yesterday", "2026-11-20T00:00"),
        ("today", "2026-11-21T00:00"),
        ("Monday", "2026-11-16T00:00"),
        ("last Monday", "2026-11-16T00:00"),
        ("last week", "2026-11-09T00:00"),
        ("this week", "2026-11-16T00:00"),
        ("last month", "2026-10-01T00:00"),
        ("3 days ago", "2026-11-18T10:00"),
        ("an hour ago", "2026-11-21T09:00"),
        ("the past two hours", "2026-11-21T08:00"),
        ("the last hour", "2026-11-21T09:00"),
        ("1 November", "2026-11-01T00:00"),
        ("1 December", "2025-12-01T00:00"),
        ("2026-11-01", "2026-11-01T00:00"),
        ("2026-11-01T08:00Z", "2026-11-01T08:00"),
        ("last year", "2025-01-01T00:00"),
    ],
)
def test_what_counts_since_some_day_counts_from_its_beginning(text: str, moment: str) -> None:
    assert read_since(text, AT) == f"{moment}:00.000Z"


@pytest.mark.parametrize("text", ["", "tomorrow", "2027-01-01", "now", "31 February", "in two hours", "soon"])
def test_what_is_not_past_is_no_since(text: str) -> None:
    assert read_since(text, AT) is None


def test_a_day_is_the_one_of_the_zone() -> None:
    assert read_since("yesterday", AT, "Europe/Stockholm") == "2026-11-19T23:00:00.000Z"
    assert read_start("tomorrow", AT, "Europe/Stockholm") == "2026-11-22T08:00:00.000Z"


@given(st.text(st.sampled_from("since at last 0123456789:-/ ago monday tomorrowweekhour"), max_size=40))
@settings(max_examples=300, deadline=None)
def test_any_text_is_read_or_not_and_a_since_is_never_to_come(text: str) -> None:
    read_start(text, AT)
    assert (read_since(text, AT) or AT) <= AT


@pytest.mark.parametrize(
    ("name", "type", "text", "value"),
    [
        ("seconds", "uint", "two minutes", "120"),
        ("seconds", "uint", "90", "90"),
        ("minutes", "uint", "for an hour and a half", "90"),
        ("days", "uint", "36 hours", "2"),
        ("count", "uint", "two minutes", "2"),
        ("since", "iso8601", "yesterday", "2026-11-20T00:00:00.000Z"),
        ("when", "iso8601", "Friday", "2026-11-27T09:00:00.000Z"),
        ("due", "iso8601", "Friday", "2026-11-27T23:59:59.000Z"),
        ("url", "string", "example.org/news", "https://example.org/news"),
        ("url", "string", "http://example.org", "http://example.org"),
        ("url", "string", "the news", "the news"),
        ("pattern", "string", "markdown", "*.md"),
        ("pattern", "string", "all PDF files", "*.pdf"),
        ("pattern", "string", "src/**/*.py", "src/**/*.py"),
        ("pattern", "string", "reports", "reports"),
        ("site", "string", "example.org", "example.org"),
    ],
)
def test_the_name_of_a_slot_says_how_its_text_is_meant(name: str, type: str, text: str, value: str) -> None:
    assert read_slot(text, type, (), AT, "UTC", name) == value


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("tomorrow at nine", "2026-11-22T09:00"),
        ("imorgon klockan nio om att", "2026-11-22T09:00"),
        ("kl halv nio imorgon", "2026-11-22T08:30"),
        ("halvnio imorgon", "2026-11-22T08:30"),
        ("tomorrow at half nine", "2026-11-22T09:30"),
        ("monday morning at half nine", "2026-11-23T09:30"),
        ("2026-11-23 at half nine", "2026-11-23T09:30"),
        ("2026-11-23 kl 19", "2026-11-23T19:00"),
        ("kvart över åtta på måndag", "2026-11-23T08:15"),
        ("tomorrow at quarter to ten", "2026-11-22T09:45"),
        ("tomorrow at nine thirty", "2026-11-22T09:30"),
        ("tomorrow at half past eight in the evening", "2026-11-22T20:30"),
        ("on monday at 16:00 to", "2026-11-23T16:00"),
        ("måndag 16.00", "2026-11-23T16:00"),
        ("this evening", "2026-11-21T18:00"),
        ("i kväll kl 20", "2026-11-21T20:00"),
        ("i eftermiddag", "2026-11-21T13:00"),
        ("fredag kväll", "2026-11-27T18:00"),
    ],
)
def test_hours_in_words_begin_something_where_they_are_clear(text: str, moment: str) -> None:
    assert read_start(text, AT) == f"{moment}:00.000Z"


@pytest.mark.parametrize(
    "text",
    [
        "tomorrow at four",
        "tomorrow at half past three",
        "tomorrow at half four",
        "at 15:30, half an hour",
        "nine tomorrow",
        "klockan tre på måndag",
    ],
)
def test_an_hour_that_is_not_clear_is_never_left_out(text: str) -> None:
    assert read_start(text, AT) is None
    assert read_moment(text, AT) is None
