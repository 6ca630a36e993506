"""Calendars in files: events added and listed."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from icalendar import Calendar
from walks import NODE, Walks, parallel, tool

from executor import FixedClock, Workspace
from mcl.plugins.data.tools.calendar.add import _add, run
from mcl.plugins.data.tools.calendar.file import events, parse


def add(title: str = "Call the bank", start: str = "2026-11-22T09:00:00+01:00", **args: str) -> NODE:
    return tool("n1", "calendar/add", "write", title=title, start=start, **args)


def listed(**args: str) -> NODE:
    return tool("n1", "calendar/list", **args)


def read(walks: Walks, path: str = "reminders.ics") -> Any:
    return Calendar.from_ical((walks.workspace / path).read_bytes())


def test_an_event_is_written_so_that_a_calendar_program_reads_it(walks: Walks) -> None:
    made = walks.ask(add(description="line 1\nline 2; with, marks", minutes="45", remind_minutes="15"))
    assert (made["path"], made["created"], made["added"]) == ("reminders.ics", True, True)
    assert made["start"] == "2026-11-22T08:00:00.000Z"
    calendar = read(walks)
    assert (calendar["VERSION"], "PRODID" in calendar) == ("2.0", True)
    (event,) = calendar.events
    assert str(event["SUMMARY"]) == "Call the bank"
    assert str(event["DESCRIPTION"]) == "line 1\nline 2; with, marks"
    assert event.start == datetime(2026, 11, 22, 8, tzinfo=UTC)
    assert event.end - event.start == timedelta(minutes=45)
    (alarm,) = event.walk("VALARM")
    assert (str(alarm["ACTION"]), alarm["TRIGGER"].dt) == ("DISPLAY", timedelta(minutes=-15))
    assert (walks.workspace / "reminders.ics").read_bytes().count(b"\n") == (
        walks.workspace / "reminders.ics"
    ).read_bytes().count(b"\r\n")


def test_the_same_event_twice_changes_nothing(walks: Walks) -> None:
    first = walks.ask(add())
    data = (walks.workspace / "reminders.ics").read_bytes()
    again = walks.ask(add(start="2026-11-22T08:00:00Z"))
    assert (again["uid"], again["added"], again["created"]) == (first["uid"], False, False)
    assert again["text"].startswith("in reminders.ics already: ")
    assert (walks.workspace / "reminders.ics").read_bytes() == data
    other = walks.ask(add(minutes="31"))
    assert (other["uid"] == first["uid"], other["added"]) == (False, True)


def test_a_date_alone_is_a_whole_day(walks: Walks) -> None:
    made = walks.ask(add(start="2026-12-24"))
    (event,) = read(walks).events
    assert (event.start, event.end) == (date(2026, 12, 24), date(2026, 12, 25))
    assert made["text"] == "added to reminders.ics: 2026-12-24, all day: Call the bank"


FOREIGN = (
    "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//Other//EN\nX-ODD:kept as it is\n"
    "BEGIN:VTIMEZONE\nTZID:Europe/Berlin\nBEGIN:STANDARD\nDTSTART:19701025T030000\nTZOFFSETFROM:+0200\n"
    "TZOFFSETTO:+0100\nEND:STANDARD\nEND:VTIMEZONE\n"
    "BEGIN:VEVENT\nUID:1\nDTSTAMP:20260101T000000Z\nDTSTART;TZID=Europe/Berlin:20260115T100000\n"
    "DURATION:PT1H\nSUMMARY:Meet\nX-OWN;X-P=a:\nEND:VEVENT\nEND:VCALENDAR\n"
)


def test_what_another_program_wrote_stays_byte_for_byte(walks: Walks) -> None:
    walks.write("c.ics", FOREIGN)
    walks.ask(add(path="c.ics"))
    data = (walks.workspace / "c.ics").read_text()
    head = FOREIGN.removesuffix("END:VCALENDAR\n")
    assert data.startswith(head)
    assert data.endswith("END:VEVENT\nEND:VCALENDAR\n")
    assert "\r" not in data
    assert [str(event["SUMMARY"]) for event in read(walks, "c.ics").events] == ["Meet", "Call the bank"]


@pytest.mark.parametrize(
    "text",
    [
        "hello\n",
        "",
        "BEGIN:VEVENT\nEND:VEVENT\n",
        "BEGIN:VCALENDAR\nVERSION:2.0\n",
        "BEGIN:VCALENDAR\nEND:VEVENT\nEND:VCALENDAR\n",
        "BEGIN:VCALENDAR\nnonsense\nEND:VCALENDAR\n",
        "BEGIN:X\n" * 3000,
        "BEGIN:VCALENDAR\nBEGIN:VTIMEZONE\nTZID:A\nTZID:B\nEND:VTIMEZONE\nEND:VCALENDAR\n",
        "BEGIN:VCALENDAR\nTZID:A\nEND:VTIMEZONE\nEND:VCALENDAR\n",
    ],
)
def test_what_is_no_calendar_is_refused_and_left(walks: Walks, text: str) -> None:
    place = walks.write("notes.txt", text)
    assert walks.refusal(add(path="notes.txt")) == "NOT_A_CALENDAR"
    assert place.read_text() == text


def test_a_file_in_another_encoding_is_refused(walks: Walks) -> None:
    (walks.workspace / "c.ics").write_bytes(FOREIGN.encode("utf-16"))
    assert walks.refusal(add(path="c.ics")) == "NOT_A_CALENDAR"
    assert walks.refusal(listed(path="c.ics")) == "NOT_A_CALENDAR"


@pytest.mark.parametrize(
    "start", ["tomorrow", "2026-11-22T09:00:00", "2026-02-30", "9999-12-31T23:59:00Z", "9999-12-31"]
)
def test_a_time_that_is_none_or_has_no_offset_is_refused(walks: Walks, start: str) -> None:
    assert walks.refusal(add(start=start, minutes="60")) == "BAD_TIME"
    assert not (walks.workspace / "reminders.ics").exists()


def test_a_title_cannot_add_lines_to_the_file(walks: Walks) -> None:
    walks.ask(add(title="A\r\nEND:VEVENT\r\nBEGIN:VEVENT\nSUMMARY:B", description="x\r\nEND:VCALENDAR\r\n"))
    (event,) = read(walks).events
    assert str(event["SUMMARY"]) == "A END:VEVENT BEGIN:VEVENT SUMMARY:B"
    assert walks.refusal(add(title=" ")) == "NO_TITLE"


def test_what_a_calendar_cannot_hold_is_left_out(walks: Walks) -> None:
    dirty = "a\x00\x1bb\x0bEND:VEVENT\x85\u2028c\td\r\re"
    made = walks.ask(add(title=dirty, description=dirty))
    (event,) = read(walks).events
    assert str(event["SUMMARY"]) == "ab END:VEVENT c d e"
    assert str(event["DESCRIPTION"]) == "ab\nEND:VEVENT\n\nc\td\n\ne"
    assert walks.ask(add(title="ab END:VEVENT c d e", description=dirty))["uid"] == made["uid"]
    data = (walks.workspace / "reminders.ics").read_bytes().decode()
    assert all(line.endswith("\r\n") for line in data.splitlines(keepends=True))
    assert walks.refusal(add(title="\x1b")) == "NO_TITLE"


def test_events_are_added_at_once_by_one_plan(walks: Walks) -> None:
    nodes = [{**add(title=f"Event {number}"), "id": f"n{number}"} for number in range(4)]
    outcome = walks.go(parallel("all", *nodes))
    assert outcome.failure is None, outcome.failure
    assert len(read(walks).events) == 4


def test_two_writers_at_once_lose_no_event(tmp_path: Path) -> None:
    class Bench:
        clock = FixedClock("2026-11-21T10:00:00Z")

    def write(name: str) -> None:
        bench: Any = Bench()
        bench.workspace = Workspace(tmp_path)
        for number in range(8):
            args = {"title": f"{name} {number}", "start": "2026-12-01", "path": "c.ics"}
            anyio.run(run, args, bench)
        bench.workspace.close()

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(write, "ab"))
    titles = [str(event["SUMMARY"]) for event in events(parse((tmp_path / "c.ics").read_bytes(), "c.ics"))]
    assert sorted(titles) == [f"{name} {number}" for name in "ab" for number in range(8)]


def test_a_calendar_that_is_too_large_is_refused(walks: Walks) -> None:
    with walks.write("reminders.ics", FOREIGN).open("r+b") as file:
        file.truncate(9 << 20)
    assert walks.refusal(add()) == "TOO_LARGE"
    assert walks.refusal(listed()) == "TOO_LARGE"


def test_events_are_listed_earliest_first_in_utc(walks: Walks) -> None:
    walks.write("reminders.ics", FOREIGN)
    for title, start in [
        ("Late", "2026-12-01T10:00:00Z"),
        ("Day", "2026-01-15"),
        ("Early", "2026-01-01T00:00:00Z"),
    ]:
        walks.ask(add(title=title, start=start))
    found = walks.ask(listed())
    assert [one["title"] for one in found["events"]] == ["Early", "Day", "Meet", "Late"]
    assert found["events"][2]["start"] == "2026-01-15T09:00:00.000Z"
    assert found["events"][2]["end"] == "2026-01-15T10:00:00.000Z"
    assert found["text"].splitlines()[1:3] == ["2026-01-15            Day", "2026-01-15 09:00 UTC  Meet"]


@pytest.mark.parametrize(
    ("since", "until", "titles"),
    [
        ("2026-01-15", "2026-01-15", ["Day", "Meet"]),
        ("2026-01-15T09:30:00Z", "", ["Day", "Meet", "Late"]),
        ("2026-01-15T10:00:00Z", "", ["Day", "Late"]),
        ("2026-01-16", "", ["Late"]),
        ("", "2026-01-15T09:00:00Z", ["Day", "Meet"]),
        ("", "2026-01-14", []),
        ("2026-12-01T10:00:00Z", "2026-12-01T10:00:00Z", ["Late"]),
    ],
)
def test_only_events_that_touch_the_time_asked_for_are_listed(
    walks: Walks, since: str, until: str, titles: list[str]
) -> None:
    walks.write("reminders.ics", FOREIGN)
    walks.ask(add(title="Late", start="2026-12-01T10:00:00Z"))
    walks.ask(add(title="Day", start="2026-01-15"))
    args = {name: value for name, value in (("from", since), ("to", until)) if value}
    assert [one["title"] for one in walks.ask(listed(**args))["events"]] == titles


def test_what_repeats_is_told_with_its_rule_also_after_its_first_time(walks: Walks) -> None:
    walks.write("c.ics", FOREIGN.replace("SUMMARY:Meet", "SUMMARY:Meet\nRRULE:FREQ=WEEKLY;COUNT=9"))
    found = walks.ask(listed(**{"path": "c.ics", "from": "2026-02-01"}))
    assert found["events"][0]["repeats"] == "FREQ=WEEKLY;COUNT=9"
    assert found["text"] == "2026-01-15 09:00 UTC  Meet (repeats: FREQ=WEEKLY;COUNT=9)"


def test_an_event_without_a_start_that_can_be_read_is_counted(walks: Walks) -> None:
    walks.write("c.ics", FOREIGN.replace("DTSTART;TZID=Europe/Berlin:20260115T100000", "DTSTART:soon"))
    found = walks.ask(listed(path="c.ics"))
    assert (found["events"], found["unread"]) == ([], 1)
    assert "1 without a start that can be read is left out" in found["text"]


def test_a_missing_calendar_has_no_events_to_list(walks: Walks) -> None:
    assert walks.refusal(listed()) == "NOT_FOUND"


def test_very_many_events_are_cut_and_counted(walks: Walks) -> None:
    event = "BEGIN:VEVENT\nUID:{n}\nDTSTART:20260101T000000Z\nSUMMARY:" + "é" * 200 + "\nEND:VEVENT\n"
    body = "".join(event.replace("{n}", str(number)) for number in range(1500))
    walks.write("c.ics", f"BEGIN:VCALENDAR\nVERSION:2.0\n{body}END:VCALENDAR\n")
    found = walks.ask(listed(path="c.ics"))
    assert (found["count"], found["truncated"]) == (1500, True)
    assert 100 < len(found["events"]) < 1500


TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=100)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    TEXT.filter(str.strip),
    TEXT | st.sampled_from(["a\nb", "\\n,;:", '"', "x" * 500]),
    st.datetimes(datetime(1971, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),
)
def test_any_title_and_description_come_back_as_they_were_said(
    tmp_path: Path, title: str, description: str, start: datetime
) -> None:
    (tmp_path / "c.ics").unlink(missing_ok=True)

    class Bench:
        clock = FixedClock("2026-11-21T10:00:00Z")
        workspace = Workspace(tmp_path)

    bench: Any = Bench()
    args = {"title": title, "description": description, "path": "c.ics"}
    first, second = _add(args, start, bench), _add(args, start, bench)
    assert (first["added"], second["added"]) == (True, False)
    (event,) = events(parse((tmp_path / "c.ics").read_bytes(), "c.ics"))
    assert str(event["SUMMARY"]) == " ".join(title.split())
    assert str(event["DESCRIPTION"]) == "\n".join(re.split("\r\n|[\r\x85\u2028\u2029]", description))
    bench.workspace.close()
