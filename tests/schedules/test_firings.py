"""Schedules over weeks: what fires, what is missed, what waits for a person, and what a crash leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

from ir import MclError
from mcl.plugins.checking.replay import replay
from mcl.plugins.schedules.firing import fire
from mcl.plugins.schedules.rounds import MISSED, round_of
from mcl.plugins.schedules.scope import Terms
from mcl.plugins.schedules.usecases import add, list_schedules, proposal, revoke, show_schedule, sign
from mcl.usecases.compile import answer
from mcl.usecases.gates import decide_gate
from mcl.usecases.intents import list_intents, shown
from mcl.usecases.runs import undo
from tests.schedules.conftest import FIXED, ZONE, Machine

GOAL = "find the word invoice in the folder notes"


def told(happened: list) -> list[tuple[str, str, str]]:
    return [(one.what, one.due, one.outcome) for one in happened]


def test_each_moment_fires_once_and_runs(machine: Machine) -> None:
    schedule = machine.signed(f"every day at 9:30 {GOAL}")
    assert machine.round("2027-03-22T08:29:00+00:00") == []
    assert told(machine.round("2027-03-22T08:30:00+00:00")) == [("fired", "2027-03-22T09:30:00", "completed")]
    assert machine.round("2027-03-22T08:31:00+00:00") == []
    assert told(machine.round("2027-03-23T08:30:01+00:00")) == [("fired", "2027-03-23T09:30:00", "completed")]
    assert machine.states(schedule) == ["completed", "completed"]
    assert machine.sound()


def test_clocks_that_change_skip_no_day_and_double_none(machine: Machine) -> None:
    machine.signed(f"varje dag kl 2.30: {GOAL}")
    machine.round("2027-03-26T01:30:05+00:00")
    fired = [told(machine.round(f"2027-03-{day}T{hour}:30:05+00:00")) for day, hour in
             ((27, "01"), (28, "00"), (28, "01"), (29, "00"), (29, "01"))]  # fmt: skip
    dues = [[due for _, due, _ in one] for one in fired]
    # on the 28th half past two is skipped: it is half past three, which is 01:30 in UTC
    assert dues == [["2027-03-27T02:30:00"], [], ["2027-03-28T02:30:00"], ["2027-03-29T02:30:00"], []]


def test_of_what_a_sleeping_machine_missed_the_last_is_made_up_for_and_the_others_are_told(
    machine: Machine,
) -> None:
    schedule = machine.signed(f"every day at 9:30 {GOAL}")
    happened = machine.round("2027-03-26T12:00:00+00:00")
    assert told(happened) == [
        ("missed", "2027-03-25T09:30:00", ""),
        ("fired", "2027-03-26T09:30:00", "completed"),
    ]
    assert happened[0].many == 4
    assert machine.round() == []
    with machine.open() as home:
        assert len(home.journal.rows(schedule, kind=MISSED)) == 1
        assert show_schedule(schedule, home=home).missed == 4


def test_what_is_missed_may_be_left_out(machine: Machine) -> None:
    machine.signed(f"every day at 9:30 {GOAL}", missed="skip")
    assert told(machine.round("2027-03-23T12:00:00+00:00")) == [("missed", "2027-03-23T09:30:00", "")]
    assert told(machine.round("2027-03-24T08:35:00+00:00")) == [("fired", "2027-03-24T09:30:00", "completed")]


def test_it_ends_by_its_count_and_its_time(machine: Machine) -> None:
    counted = machine.signed(f"every day at 9:30 {GOAL}", count=1)
    timed = machine.signed(f"every day at 10:00 {GOAL}", until="2027-03-22T10:00:00Z")
    later = machine.signed(f"in two hours {GOAL}")
    assert len(machine.round("2027-03-22T10:30:00+00:00")) == 2  # the second of them is past its time
    assert machine.round("2027-03-23T12:00:00+00:00") == []
    with machine.open() as home:
        states = {one.id: one.state for one in list_schedules(home=home, every=True)}
    assert states == {counted: "ended", timed: "ended", later: "ended"}


def test_a_file_that_comes_to_mention_a_word_fires_once_a_change(machine: Machine) -> None:
    machine.signed(f"when notes/a.md mentions urgent, {GOAL}")
    file = machine.work / "notes" / "a.md"
    assert machine.round("2027-03-22T09:00:00+00:00") == []
    for text, fires in (
        ("nothing", 0),
        ("URGENT: call", 1),
        ("URGENT: call", 0),
        ("no more", 0),
        ("urgent", 1),
    ):
        file.write_text(text)
        machine.now = machine.now.replace(minute=machine.now.minute + 2)
        assert [one.what for one in machine.round()] == ["fired"] * fires
    file.unlink()
    assert machine.round("2027-03-22T10:00:00+00:00") == []
    assert machine.sound()


def test_a_revoked_schedule_never_fires(machine: Machine) -> None:
    schedule = machine.signed(f"every day at 9:30 {GOAL}")
    with machine.open() as home:
        assert revoke(schedule, home=home) == (schedule, ())
        with pytest.raises(MclError, match="revoked already"):
            revoke(schedule, home=home)
        found = shown(home, schedule)
        with pytest.raises(MclError):
            fire(
                home,
                found,
                "2027-03-22T09:30:00",
                at="2027-03-22T09:00:00.000Z",
            )
    assert machine.round("2027-03-23T12:00:00+00:00") == []


@pytest.mark.parametrize(
    ("due", "code"),
    [
        ("2027-03-22T09:31:00", "FIRING_NOT_DUE"),
        ("2027-03-30T09:30:00", "FIRING_NOT_DUE"),
        ("2027-03-22T09:30:00", "FIRING_REPEATED"),
        ("2027-03-21T09:30:00", "CLOCK_BACK"),
    ],
)
def test_a_forged_call_is_refused_and_journalled(machine: Machine, due: str, code: str) -> None:
    schedule = machine.signed(f"every day at 9:30 {GOAL}")
    machine.round("2027-03-22T08:30:00+00:00")
    with machine.open() as home:
        with pytest.raises(MclError) as refused:
            fire(home, shown(home, schedule), due, at=machine.at())
        assert refused.value.code == code
        (row,) = home.journal.rows(schedule, kind="record.schedule.refused")
        assert home.journal.open(row.wire).body["code"] == code
    assert machine.sound()
    assert machine.states(schedule) == ["completed"]


def test_a_clock_that_is_set_back_fires_nothing_twice(machine: Machine) -> None:
    schedule = machine.signed(f"every day at 9:30 {GOAL}")
    assert len(machine.round("2027-03-24T08:30:00+00:00")) == 2
    for at in ("2027-03-23T08:30:00+00:00", "2027-03-24T08:30:00+00:00"):
        assert machine.round(at) == []
    assert told(machine.round("2027-03-25T08:30:00+00:00")) == [("fired", "2027-03-25T09:30:00", "completed")]
    assert machine.states(schedule) == ["completed", "completed"]


def test_two_at_once_fire_once(machine: Machine) -> None:
    schedule = machine.signed(f"every day at 9:30 {GOAL}")
    machine.now = machine.now.replace(minute=31)
    with machine.open() as home, machine.open() as other:
        rounds = round_of(home)
        assert next(rounds).what == "fired"
        with pytest.raises(MclError) as busy:  # the first round has not ended
            next(round_of(other))
        assert busy.value.code == "ALREADY_RUNNING"
        assert list(rounds) == []
        found = shown(other, schedule)
        with pytest.raises(MclError) as twice:  # who goes around the rounds
            fire(other, found, "2027-03-22T09:30:00", at=machine.at())
        assert twice.value.code == "FIRING_REPEATED"
    assert machine.states(schedule) == ["completed"]


def test_a_firing_that_needs_a_person_waits_and_nothing_else_of_it_fires(machine: Machine) -> None:
    """A sign-off at the end: the run rests until a person signs, and goes on then; what was due meanwhile is
    missed, and the last of it made up for."""
    with machine.open() as home:
        said = f"every day at 9:30 {GOAL}, and I sign it off at the end"
        terms = Terms(workspace=str(machine.work))
        asked = add(said, terms, zone=ZONE, skill="files-find", slots=FIXED, ai=False, home=home)
        (question,) = asked.questions
        schedule = answer(asked.intent.id, {question.unknown_id: question.options[0]}, home=home).intent.id
    machine.sign(schedule)
    (fired,) = machine.round("2027-03-22T08:30:00+00:00")
    assert (fired.what, fired.outcome, fired.code) == ("fired", "paused", "WAITS_FOR_PERSON")
    assert [one.what for one in machine.round("2027-03-23T08:30:00+00:00")] == ["waits"]
    with machine.open() as home:
        (now,) = list_schedules(home=home)
        (gate,) = now.waits
        assert [one.waits for one in list_intents(home=home) if one.id == fired.child] == [1]
        decide_gate(gate, "approve", home=home)
    happened = machine.round("2027-03-23T08:40:00+00:00")
    assert [(one.what, one.outcome) for one in happened] == [("resumed", "completed"), ("fired", "paused")]
    assert machine.states(schedule) == ["completed", "executing"]


def test_what_was_killed_in_a_firing_is_gone_on_with_and_not_fired_twice(machine: Machine) -> None:
    schedule = machine.signed(f"every day at 9:30 {GOAL}")
    machine.now = machine.now.replace(day=23)
    script = f"""
import os, sys
from executor import FixedClock, Home
import mcl.plugins.schedules.rounds as rounds
rounds.run_child = lambda *a, **b: (print("fired", flush=True), __import__("time").sleep(60))
path = __import__("pathlib").Path({str(machine.path / "home")!r})
with Home.open(path, clock=FixedClock({machine.at()!r})) as home:
    list(rounds.round_of(home))
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"fired\n"
        os.kill(process.pid, signal.SIGKILL)
    assert machine.states(schedule) == ["accepted"]
    happened = machine.round()
    assert [(one.what, one.outcome) for one in happened] == [("resumed", "completed")]
    assert machine.round() == []
    assert machine.states(schedule) == ["completed"]


def test_what_means_another_day_each_time_moves_with_it(machine: Machine) -> None:
    schedule = machine.signed(
        "every morning at 7 list what changed in notes since yesterday", skill="monitor-path"
    )
    with machine.open() as home:
        scope = show_schedule(schedule, home=home).scope
        assert "/plan/root/tool_call/args/since" in scope.moving
    for day in (23, 24):
        (fired,) = machine.round(f"2027-03-{day}T06:00:01+00:00")
        assert fired.outcome == "completed"
        with machine.open() as home:
            view = home.journal.view(fired.child)
            assert view.plan.root.tool_call.args["since"] == f"2027-03-{day - 2}T23:00:00.000Z"
            assert view.under.plan == scope.plan
    assert machine.sound()


def test_no_key_of_a_person_is_needed_at_a_firing(machine: Machine) -> None:
    machine.signed(f"every day at 9:30 {GOAL}")
    with machine.open() as home:
        home.keyring.seal("user", b"a phrase")
    (fired,) = machine.round("2027-03-22T08:30:00+00:00")
    assert (fired.what, fired.outcome) == ("fired", "completed")


def test_a_run_that_was_killed_in_the_middle_goes_on(machine: Machine) -> None:
    schedule = machine.signed(f"every day at 9:30 {GOAL}")
    machine.now = machine.now.replace(day=23)
    script = f"""
import pathlib, sys, time
from executor import FixedClock, Home
from mcl.plugins.files.tools.fs import search as tool
from mcl.plugins.schedules.rounds import round_of
async def slow(*args, **more):
    print("begun", flush=True)
    time.sleep(60)
tool.run = slow
with Home.open(pathlib.Path({str(machine.path / "home")!r}), clock=FixedClock({machine.at()!r})) as home:
    list(round_of(home))
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        os.kill(process.pid, signal.SIGKILL)
    assert machine.states(schedule) == ["executing"]
    assert [(one.what, one.outcome) for one in machine.round()] == [("resumed", "completed")]
    assert machine.round() == []
    assert machine.states(schedule) == ["completed"]
    assert machine.sound()


def test_a_backup_every_friday_is_another_file_each_time_and_can_be_undone(machine: Machine) -> None:
    schedule = machine.signed("every friday at 9 back up notes", skill="files-backup")
    for day in ("2027-03-26T08:00:01", "2027-04-02T07:00:01"):
        (fired,) = machine.round(f"{day}+00:00")
        assert (fired.what, fired.outcome) == ("fired", "completed"), fired.message
    made = sorted(one.name for one in machine.work.rglob("*.zip"))
    assert len(made) == 2
    with machine.open() as home:
        assert replay(fired.child, home=home).same
        undo(fired.child, home=home, workspace=machine.work)
        assert [one["state"] for one in show_schedule(schedule, home=home).firings] == ["completed"] * 2
    assert sorted(one.name for one in machine.work.rglob("*.zip")) == made[:1]
    assert machine.sound()


def test_what_a_part_of_the_plan_brings_beyond_the_signed_effects_is_refused(machine: Machine) -> None:
    """A further wish is planned when it runs: what that does is held to what was signed, too."""
    intent = machine.add("every day at 9:30 find the word invoice in notes and zip notes to out.zip")
    with machine.open() as home:
        made = proposal(intent, home=home)
        assert made.scope.effects == ("dispatch", "read", "write")
        less = made.scope.model_copy(update={"effects": ("dispatch", "read")})
        sign(replace(made, scope=less), home=home)
    (fired,) = machine.round("2027-03-22T08:30:00+00:00")
    assert (fired.outcome, fired.code) == ("denied", "OUT_OF_SCHEDULE")
    assert not list(machine.work.rglob("*.zip"))
    assert machine.states(intent) == ["failed"]
    assert machine.round() == []
    assert [one.code for one in machine.round("2027-03-23T08:30:00+00:00")] == ["OUT_OF_SCHEDULE"]
    assert machine.sound()


def test_several_wishes_run_at_each_moment(machine: Machine) -> None:
    machine.signed("every day at 9:30 find the word invoice in notes and zip notes to out.zip")
    (fired,) = machine.round("2027-03-22T08:30:00+00:00")
    assert (fired.outcome, fired.code) == ("completed", "")
    assert [one.name for one in machine.work.rglob("*.zip")] == ["out.zip"]


def test_a_folder_that_is_gone_is_told_and_gone_on_with_when_it_is_back(machine: Machine) -> None:
    schedule = machine.signed(f"every day at 9:30 {GOAL}")
    machine.work.rename(machine.path / "away")
    (fired,) = machine.round("2027-03-22T08:30:00+00:00")
    assert (fired.outcome, machine.states(schedule)) == ("refused", ["accepted"])
    (machine.path / "away").rename(machine.work)
    assert [(one.what, one.outcome) for one in machine.round()] == [("resumed", "completed")]
