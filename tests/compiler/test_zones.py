"""Where a person is: days and times of day are theirs at every door, and each draft says where that was."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from functools import partial
from pathlib import Path
from zoneinfo import ZoneInfo

import anyio
import pytest

from executor import Home
from ir import IntentDraftBody
from mcl import compile_batch, compile_goal, config, grants, replay
from mcl.cli.main import main
from mcl.compiler.stages.request import GoalRequest
from mcl.core.environment import system_zone
from mcl.core.errors import InputError
from mcl.plugins.mcp.service import GoalCompiler
from mcl.values.dates import read_moment

ZONES = ("UTC", "Europe/Stockholm", "America/St_Johns")
AT = "2026-11-21T10:00:00Z"
REMIND = "remind me to call Anna tomorrow at nine in the morning"
GIVEN = {"skill": "schedule-reminder", "verb": "schedule", "at": AT, "ai": False}


def nine_there(zone: str) -> str:
    return moment_there("2026-11-22T09:00", zone)


def moment_there(local: str, zone: str) -> str:
    said = datetime.fromisoformat(local).replace(tzinfo=ZoneInfo(zone)).astimezone(ZoneInfo("UTC"))
    return said.strftime("%Y-%m-%dT%H:%M:%S.000Z")


@pytest.fixture(params=ZONES)
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TZ", request.param)
    return str(request.param)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    assert main(["init", "--unattended"]) == 0
    with Home.open(tmp_path / "home") as opened:
        yield opened


def said_in(home: Home, id: str) -> tuple[str, str]:
    """The zone of the draft, and when the reminder is for."""
    view = home.journal.view(id)
    assert view.draft is not None
    assert view.intent is not None
    when = next(one.value for one in view.intent.frame.objects if one.name == "when")
    return view.draft.slot_values["@zone"], when


def test_every_door_reads_a_goal_in_the_zone_of_the_person(
    home: Home, zone: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by_library = compile_goal(REMIND, home=home, **GIVEN)
    words = ("compile", REMIND, "--no-ai", "--skill", "schedule-reminder", "--verb", "schedule", "--at", AT)
    capsys.readouterr()
    assert main([*words, "--json"]) == 0
    by_command = json.loads(capsys.readouterr().out)["id"]
    line = {"id": "1", "prose": REMIND, "skill": "schedule-reminder", "verb": "schedule", "at": AT}
    (tmp_path / "in.jsonl").write_text(json.dumps(line) + "\n")
    compile_batch(tmp_path / "in.jsonl", tmp_path / "out.jsonl", ai=False, home=home)
    by_batch = json.loads((tmp_path / "out.jsonl").read_text())["intent"]
    given = {"skill": GIVEN["skill"], "verb": GIVEN["verb"]}
    over_mcp = anyio.run(partial(GoalCompiler(home, ai=False).compile, REMIND, **given)).intent
    assert home.journal.view(over_mcp.id).draft.slot_values["@zone"] == zone
    for id in (by_library.intent.id, by_command, by_batch):
        assert said_in(home, id) == (zone, nine_there(zone))


def test_a_replay_reads_the_goal_in_the_zone_of_its_draft(
    home: Home, zone: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = compile_goal(REMIND, home=home, **GIVEN)
    for other in ZONES:
        monkeypatch.setenv("TZ", other)
        assert replay(made.intent.id, home=home).same


def test_a_draft_of_old_without_a_zone_is_read_in_utc(zone: str) -> None:
    old = IntentDraftBody(prose="x", slot_values={}, preferred_skill="")
    said = GoalRequest.of_draft(old, (), id="0" * 26, at=AT, actor="a", agent="b")
    assert said.zone == "UTC"
    assert said.draft().slot_values["@zone"] == "UTC"


def test_the_chosen_zone_of_a_home_stands_above_that_of_the_machine(
    home: Home, zone: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert config.zone(home=home) == (zone, False)
    capsys.readouterr()
    assert main(["config", "zone", "Asia/Kolkata", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"zone": "Asia/Kolkata", "chosen": True}
    made = compile_goal(REMIND, home=home, **GIVEN)
    assert said_in(home, made.intent.id) == ("Asia/Kolkata", nine_there("Asia/Kolkata"))
    given = compile_goal(REMIND, home=home, zone=zone, **GIVEN)
    assert said_in(home, given.intent.id) == (zone, nine_there(zone))
    assert main(["config", "zone", "system"]) == 0
    assert zone in capsys.readouterr().out
    assert main(["config", "zone", "Mars/Olympus"]) == 2
    assert "ZONE_UNKNOWN" in capsys.readouterr().err
    assert config.zone(home=home) == (zone, False)


def test_a_day_until_which_something_is_granted_ends_where_the_person_is(home: Home, zone: str) -> None:
    held = grants.add(["shell"], until="2031-01-31", home=home)
    [until] = [one.until for one in held.classes if one.side_effect == "shell"]
    assert until == moment_there("2031-02-01T00:00", zone)


@pytest.mark.parametrize(
    ("said", "at", "local"),
    [
        ("tomorrow at 9:00", "2026-11-21T12:00:00Z", "2026-11-22T09:00"),
        ("2026-12-24 18:30", AT, "2026-12-24T18:30"),
        ("2026-07-01 08:00", AT, "2026-07-01T08:00"),
        # The hour that is left out in spring counts on from before it; of one that comes twice, the first.
        ("2027-03-28 02:30", AT, "2027-03-28T02:30"),
        ("2027-03-14 02:30", AT, "2027-03-14T02:30"),
        ("2026-10-25 02:30", AT, "2026-10-25T02:30"),
        ("2026-11-01 01:30", AT, "2026-11-01T01:30"),
    ],
)
def test_a_time_of_day_is_that_of_the_zone(zone: str, said: str, at: str, local: str) -> None:
    assert read_moment(said, at, zone) == moment_there(local, zone)


@pytest.mark.parametrize(
    ("tz", "name"),
    [
        ("Europe/Stockholm", "Europe/Stockholm"),
        (":America/St_Johns", "America/St_Johns"),
        ("/usr/share/zoneinfo/Asia/Tokyo", "Asia/Tokyo"),
        ("", "UTC"),
        ("UTC0", "UTC"),
        ("CET-1CEST", ""),
        ("../../etc/passwd", "UTC"),
    ],
)
def test_the_zone_of_the_machine_by_its_name(tz: str, name: str) -> None:
    script = "from mcl.core.environment import system_zone; print(system_zone())"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "TZ": tz},
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).resolve().parents[2],
    )
    if name:
        assert done.stdout.strip() == name
    else:
        assert "ZONE_UNKNOWN" in done.stderr or "has no name" in done.stderr


def test_a_zone_without_a_name_is_refused_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    import time

    monkeypatch.setenv("TZ", "XYZ-3")
    time.tzset()
    try:
        with pytest.raises(InputError) as caught:
            system_zone()
    finally:
        monkeypatch.undo()
        time.tzset()
    assert (caught.value.code, caught.value.place) == ("ZONE_UNKNOWN", "zone")
    assert "mcl config zone" in caught.value.fix
