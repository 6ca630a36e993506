"""How often, in words, becomes a rule of RFC 5545; and a goal without those words."""

from datetime import datetime

import pytest

from mcl.values.recurrence import (
    Recurrence,
    UnclearTimeError,
    moments,
    read_once,
    read_recurrence,
    split_goal,
)

AT = "2026-11-27T10:00:00.000Z"  # a Friday, eleven o'clock in Stockholm
ZONE = "Europe/Stockholm"


@pytest.mark.parametrize(
    ("text", "rule", "start"),
    [
        ("every second friday", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR", "2026-12-04T09:00:00"),
        ("Every other Friday at 14:30", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR", "2026-11-27T14:30:00"),
        ("every morning at 7", "FREQ=DAILY", "2026-11-28T07:00:00"),
        ("every afternoon at 3", "FREQ=DAILY", "2026-11-27T15:00:00"),
        ("every weekday at seven", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "2026-11-30T07:00:00"),
        ("on the 1st of each month", "FREQ=MONTHLY;BYMONTHDAY=1", "2026-12-01T09:00:00"),
        ("the last friday of every month", "FREQ=MONTHLY;BYDAY=-1FR", "2026-12-25T09:00:00"),
        ("every 31st of the month", "FREQ=MONTHLY;BYMONTHDAY=31", "2026-12-31T09:00:00"),
        ("on mondays and thursdays at 5pm", "FREQ=WEEKLY;BYDAY=MO,TH", "2026-11-30T17:00:00"),
        ("every day at 8 and 17", "FREQ=DAILY;BYHOUR=8,17", "2026-11-27T17:00:00"),
        ("every year on 24 december", "FREQ=YEARLY;BYMONTH=12;BYMONTHDAY=24", "2026-12-24T09:00:00"),
        ("nightly", "FREQ=DAILY", "2026-11-28T03:00:00"),
        ("monthly", "FREQ=MONTHLY;BYMONTHDAY=1", "2026-12-01T09:00:00"),
        ("varannan fredag", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR", "2026-12-04T09:00:00"),
        ("varje måndag kl 8", "FREQ=WEEKLY;BYDAY=MO", "2026-11-30T08:00:00"),
        ("varje dag kl 5", "FREQ=DAILY", "2026-11-28T05:00:00"),
        ("på vardagar kl 7.30", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "2026-11-30T07:30:00"),
        ("första måndagen i månaden", "FREQ=MONTHLY;BYDAY=1MO", "2026-12-07T09:00:00"),
        ("den 25:e varje månad kl 10", "FREQ=MONTHLY;BYMONTHDAY=25", "2026-12-25T10:00:00"),
        ("var tredje dag", "FREQ=DAILY;INTERVAL=3", "2026-11-28T09:00:00"),
        (
            "every other friday at 15.00, starting on 4 december",
            "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR",
            "2026-12-04T15:00:00",
        ),
        ("varje måndag från och med den 7 december kl 18", "FREQ=WEEKLY;BYDAY=MO", "2026-12-07T18:00:00"),
        ("klockan 9 den sista dagen i varje månad", "FREQ=MONTHLY;BYMONTHDAY=-1", "2026-11-30T09:00:00"),
        ("den femtonde varje månad", "FREQ=MONTHLY;BYMONTHDAY=15", "2026-12-15T09:00:00"),
        ("varje vardag 06.30", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "2026-11-30T06:30:00"),
        ("måndag till fredag kl 7", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "2026-11-30T07:00:00"),
        ("mon-fri at 7", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "2026-11-30T07:00:00"),
        ("weekly on tuesdays at 9", "FREQ=WEEKLY;BYDAY=TU", "2026-12-01T09:00:00"),
        ("every two weeks on wednesday at 18", "FREQ=WEEKLY;INTERVAL=2;BYDAY=WE", "2026-12-02T18:00:00"),
        ("every night at 10", "FREQ=DAILY", "2026-11-27T22:00:00"),
    ],
)
def test_words_become_a_rule_and_its_first_moment(text, rule, start):
    found = read_recurrence(text, AT, ZONE)
    assert (found.rule, found.start, found.zone) == (rule, start, ZONE)


@pytest.mark.parametrize("text", ["every 15 minutes", "var 15:e minut"])
def test_minutes_and_hours_are_counted_apart_from_the_clocks_of_a_zone(text):
    found = read_recurrence(text, AT, ZONE)
    assert (found.rule, found.start, found.zone) == (
        "FREQ=MINUTELY;INTERVAL=15",
        "2026-11-27T10:15:00",
        "UTC",
    )


@pytest.mark.parametrize(
    ("text", "until", "count"),
    [
        ("every friday until christmas eve", "2026-12-24T22:59:59.000Z", 0),
        ("varje fredag fram till jul", "2026-12-24T22:59:59.000Z", 0),
        ("every day for three weeks", "2026-12-18T10:00:00.000Z", 0),
        ("varje dag tio gånger", "", 10),
    ],
)
def test_an_end_is_read_too(text, until, count):
    found = read_recurrence(text, AT, ZONE)
    assert (found.until, found.count) == (until, count)


@pytest.mark.parametrize(
    "text",
    [
        "every day at 5",
        "on friday",
        "every time",
        "every",
        "var",
        "every 0 days",
        "every day at 25:00",
        "every minute",
        "the first monday of the month after next",
        "",
        "x" * 300,
        "every friday until yesterday",
        "every 99999 days",
    ],
)
def test_what_is_unclear_or_no_recurrence_is_none(text):
    assert read_recurrence(text, AT, ZONE) is None


@pytest.mark.parametrize(
    ("goal", "rest", "rule"),
    [
        ("every second friday back up the notes", "back up the notes", "FREQ=WEEKLY;INTERVAL=2;BYDAY=FR"),
        ("back up notes to b every friday at 9", "back up notes to b", "FREQ=WEEKLY;BYDAY=FR"),
        ("Varje måndag kl 8: lista alla filer i inbox", "lista alla filer i inbox", "FREQ=WEEKLY;BYDAY=MO"),
        ("list the files, every morning at 7", "list the files", "FREQ=DAILY"),
    ],
)
def test_a_goal_is_split_from_how_often(goal, rest, rule):
    found = split_goal(goal, AT, ZONE)
    assert found is not None
    assert (found[0], found[1].rule) == (rest, rule)


@pytest.mark.parametrize(
    "goal",
    [
        "find every friday meeting",
        "find the report that is sent on mondays",
        "every friday",
        "every friday's report",
        "add a meeting tomorrow at 9",
        "list notes",
    ],
)
def test_a_thing_that_is_called_so_is_left_alone(goal):
    assert split_goal(goal, AT, ZONE) is None


def test_an_hour_that_is_two_hours_is_not_guessed():
    with pytest.raises(UnclearTimeError):
        split_goal("every day at 5 list the files", AT, ZONE)


@pytest.mark.parametrize(
    ("goal", "start"),
    [
        ("tomorrow at 9 list notes", "2026-11-28T09:00:00"),
        ("in two hours list notes", "2026-11-27T13:00:00"),
        ("list notes i morgon kl 9", "2026-11-28T09:00:00"),
    ],
)
def test_a_single_later_moment_is_read_where_it_is_asked_for(goal, start):
    assert split_goal(goal, AT, ZONE) is None
    rest, found = split_goal(goal, AT, ZONE, once=True)
    assert (rest, found.rule, found.start, found.count) == ("list notes", "", start, 1)
    assert read_once("yesterday", AT, ZONE) is None


def test_clocks_that_change_move_no_time_of_day_and_skip_no_day():
    nightly = Recurrence("FREQ=DAILY", "2027-03-27T02:30:00", ZONE)
    spring = moments(nightly, datetime.fromisoformat("2027-03-27T00:00:00+01:00"), 3)
    # 02:30 is skipped on the 28th: it happens that much later
    assert [moment.strftime("%d %H:%M") for _, moment in spring] == ["27 01:30", "28 01:30", "29 00:30"]
    autumn = moments(nightly, datetime.fromisoformat("2027-10-30T00:00:00+02:00"), 3)
    # 02:30 is there twice on the 31st: the first counts, once
    assert [moment.strftime("%d %H:%M") for _, moment in autumn] == ["30 00:30", "31 00:30", "01 01:30"]


def test_every_second_week_is_counted_from_the_first():
    found = read_recurrence("every second friday", AT, ZONE)
    coming = moments(found, datetime.fromisoformat("2026-12-05T00:00:00+00:00"), 2)
    assert [local for local, _ in coming] == ["2026-12-18T09:00:00", "2027-01-01T09:00:00"]
