"""`mcl schedule` as people and schedulers give it."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mcl.plugins.schedules.timers import timer
from tests.cli.conftest import Shell

# Whatever the matcher learns, what is asked for is said beforehand.
FIXED = (
    *("--no-ai", "--skill", "files-find", "--slot", "folder=notes"),
    *("--slot", "text=hello", "--slot", "pattern=*"),
)
GOAL = ("every friday at 9 find the word hello in the folder notes", *FIXED)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    from mcl.core.home import open_home

    home, work = tmp_path / "home", tmp_path / "work"
    (work / "notes").mkdir(parents=True)
    (work / "notes" / "a.md").write_text("hello\n")
    open_home(home, unattended=True).close()
    monkeypatch.setenv("MCL_HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("TZ", "Europe/Stockholm")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.chdir(work)
    return Shell(work, home, capsys)


def added(shell: Shell, *more: str) -> str:
    done = shell("schedule", "add", *GOAL, *more, "--json")
    assert (done.code, done.document["status"]) == (0, "compiled"), done.err
    return str(done.document["id"])


def test_added_signed_listed_and_revoked(shell: Shell) -> None:
    id = added(shell, "--count", "5")
    assert "FREQ=WEEKLY;BYDAY=FR" in shell("show", id).out
    refused = shell("accept", id, "--yes")
    assert refused.code == 4
    assert "SCHEDULE_MISSING" in refused.err
    assert "mcl schedule sign" in refused.err
    signed = shell("schedule", "sign", id, "--yes", "--json")
    assert signed.code == 0, signed.err
    scope = signed.document["schedule"]
    assert (scope["rule"], scope["count"], scope["effects"]) == ("FREQ=WEEKLY;BYDAY=FR", 5, ["read"])
    assert scope["workspace"] == str(shell.folder)
    (one,) = shell("schedule", "list", "--json").document["schedules"]
    assert (one["id"], one["state"], one["fired"]) == (id, "in force", 0)
    assert one["next"]
    assert shell("schedule", "show", id).code == 0
    ran = shell("run", id)
    assert ran.code != 0
    assert "SCHEDULED" in ran.err
    assert shell("schedule", "run", "--once").code == 0
    gone = shell("schedule", "revoke", id, "--json")
    assert gone.document["state"] == "revoked"
    assert shell("schedule", "list", "--json").document == {"schedules": []}
    assert shell("schedule", "list", "--all", "--json").document["schedules"][0]["state"] == "revoked"
    assert shell("schedule", "revoke", id).code != 0
    assert shell("log", "verify").code == 0


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (("every day at 5 find the word hello in the folder notes",), "WHEN_UNCLEAR"),
        (("find the word hello in the folder notes",), "WHEN_MISSING"),
        (("find the word hello in the folder notes", "--when", "now and then"), "WHEN_UNCLEAR"),
        (("find the word hello in the folder notes", "--when", ""), "WHEN_MISSING"),
        (("every friday",), "WHEN_MISSING"),
        (("",), "WHEN_MISSING"),
        (("every friday \x00 list", "--when", "every friday"), "GOAL_BINARY"),
        (("every friday list the files", "--zone", "Mars/Base"), "ZONE_UNKNOWN"),
    ],
)
def test_what_is_no_schedule_is_told_without_a_traceback(
    shell: Shell, given: tuple[str, ...], code: str
) -> None:
    done = shell("schedule", "add", *given, "--no-ai")
    assert done.code == 2
    assert f"code  {code}" in done.err
    assert shell("schedule", "list", "--all", "--json").document == {"schedules": []}


def test_what_cannot_be_signed_is_refused(shell: Shell) -> None:
    id = added(shell)
    assert "UNTIL_INVALID" in shell("schedule", "sign", id, "--yes", "--until", "yesterday").err
    assert "SCHEDULE_MISMATCH" in shell("schedule", "sign", id, "--yes", "--calls", "5").err
    plain = shell(*Shell.COMPILE, "--json").document["id"]
    assert "NOT_SCHEDULED" in shell("schedule", "sign", plain, "--yes").err
    assert "NOT_SCHEDULED" in shell("schedule", "show", plain).err
    assert shell("schedule", "list", "--json").document == {"schedules": []}


def test_the_timer_is_shown_written_and_removed(shell: Shell, tmp_path: Path) -> None:
    done = shell("schedule", "install", "--systemd", "--yes", "--json")
    assert done.code == 0, done.err
    files = [Path(one) for one in done.document["files"]]
    assert {one.name for one in files} == {"mcl-schedule.service", "mcl-schedule.timer"}
    service = files[0].read_text()
    assert f'Environment="MCL_HOME={shell.home}"' in service
    assert "schedule run --once" in service
    assert "OnCalendar=*:0/5" in files[1].read_text()
    id = added(shell)
    assert shell("schedule", "sign", id, "--yes").code == 0
    removed = shell("schedule", "revoke", id, "--json").document["removed"]
    assert sorted(removed) == sorted(map(str, files))
    assert not any(one.exists() for one in files)
    assert shell("schedule", "install", "--remove").code == 0


def test_the_crontab_keeps_what_others_wrote(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A crontab of the test's own: the program keeps its lines in a file, as the system's does."""
    table, program = tmp_path / "table", tmp_path / "bin" / "crontab"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nif [ "$1" = -l ]; then cat {table}; else cat > {table}; fi\n')
    program.chmod(0o755)
    table.write_text("0 5 * * * true\n")
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    assert shell("schedule", "install", "--cron", "--yes").code == 0
    assert shell("schedule", "install", "--cron", "--yes").code == 0  # once more changes nothing
    first, ours = table.read_text().splitlines()
    assert (first, ours.startswith("*/5 * * * * MCL_HOME=")) == ("0 5 * * * true", True)
    assert shell("schedule", "install", "--remove", "--json").document == {"removed": ["crontab"]}
    assert table.read_text() == "0 5 * * * true\n"


def test_a_path_that_a_scheduler_would_read_otherwise_is_refused(tmp_path: Path) -> None:
    from executor import Home

    with Home.open(tmp_path / "ho%me") as home, pytest.raises(Exception, match="read otherwise"):
        timer(home, "cron")


def test_run_tells_each_firing_as_a_line(shell: Shell) -> None:
    goal = "when notes/a.md changes, find the word hello in the folder notes"
    done = shell("schedule", "add", goal, *FIXED, "--json")
    id = done.document["id"]
    assert shell("schedule", "sign", id, "--yes").code == 0
    (shell.folder / "notes" / "a.md").write_text("changed\n")
    ran = shell("schedule", "run", "--once", "--json")
    (line,) = [json.loads(one) for one in ran.out.splitlines()]
    assert (ran.code, line["event"], line["schedule"], line["outcome"]) == (0, "fired", id, "completed")
    assert shell("show", line["child"], "--json").document["state"] == "completed"
    assert shell("replay", line["child"]).code == 0
    assert shell("replay", id).code == 0
    assert "fired for" in shell("log", "show", id).out


@pytest.mark.parametrize("command", ["compile", "do"])
@pytest.mark.parametrize(
    "goal",
    [
        "every friday find the word hello in the folder notes",
        "hitta ordet hello i mappen notes varje måndag kl 8",
        "when notes/a.md mentions invoice, find the word hello in the folder notes",
    ],
)
def test_a_goal_that_says_how_often_is_proposed_as_a_schedule(shell: Shell, command: str, goal: str) -> None:
    done = shell(command, goal, *FIXED, "--json")
    assert (done.code, done.document["status"]) == (0, "compiled"), done.err
    intent, (after, _) = done.document["intent"], done.document["next"]
    assert [one["role"] for one in intent["references"]] == ["recurrence"]
    assert after == f"mcl schedule sign {done.document['id']}"
    assert shell("accept", intent["id"], "--yes").code == 4
    assert shell("schedule", "sign", intent["id"], "--yes").code == 0
    assert shell("replay", intent["id"]).code == 0
    assert shell("show", intent["id"], "--json").document["next"][0] == "mcl schedule list"


@pytest.mark.parametrize(
    "goal",
    [
        "every now and then find the word hello in the folder notes",
        "find the word hello in the folder notes every so often",
    ],
)
def test_what_cannot_be_read_of_how_often_is_asked_about(shell: Shell, goal: str) -> None:
    done = shell("compile", goal, *FIXED, "--json")
    assert done.code == 3 or "recurrence" not in done.out
    assert not [one for one in done.document["intent"].get("references", ()) if one["role"] == "recurrence"]


@pytest.mark.parametrize("file", ["../home/mcl.db", ".env", "/etc/passwd.txt", "notes/../../x.md"])
def test_a_file_elsewhere_or_a_secret_is_not_waited_for(shell: Shell, file: str) -> None:
    done = shell(
        "schedule", "add", f'when "{file}" changes, find the word hello in the folder notes', *FIXED, "--json"
    )
    refused = shell("schedule", "sign", done.document["id"], "--yes")
    assert refused.code != 0
    assert "Traceback" not in refused.err
    assert shell("schedule", "list", "--json").document == {"schedules": []}
