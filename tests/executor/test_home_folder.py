"""Opening a home: quickly, by many at once, on bad disks; never half of anything."""

from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from executor import Home, HomeError, KeyringError

if TYPE_CHECKING:
    from tests.executor.conftest import Disk, Story


def test_a_new_home_is_for_its_owner_only_and_opens_again_with_the_same_keys(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "home"
    with Home.open(path) as first:
        dids = first.keyring.user.did, first.keyring.agent.did
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE((path / "keys").stat().st_mode) == 0o700
    assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in path.rglob("*") if file.is_file())
    with Home.open(path) as again:
        assert (again.keyring.user.did, again.keyring.agent.did) == dids


def test_opening_a_home_again_takes_a_few_milliseconds(story: Story) -> None:
    story.whole()
    times = []
    for _ in range(20):
        start = time.perf_counter()
        Home.open(story.home.path).close()
        times.append(time.perf_counter() - start)
    assert min(times) < 0.050


def test_processes_that_make_the_same_home_at_once_all_get_the_same_keys(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from executor import Home
print('ready', flush=True)
sys.stdin.read()
with Home.open(Path(sys.argv[1])) as home:
    home.journal.record("record.hello", {})
    print(home.keyring.user.did, home.keyring.agent.did)
"""
    path = tmp_path / "home"
    children = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(6)
    ]
    assert [child.stdout.readline() for child in children if child.stdout] == ["ready\n"] * 6
    for child in children:  # let go of all at once
        assert child.stdin
        child.stdin.close()
        child.stdin = None
    outputs = [child.communicate(timeout=60) for child in children]
    assert all(child.returncode == 0 for child in children), outputs
    assert len({out for out, _ in outputs}) == 1
    with Home.open(path) as home:
        assert home.journal.verify().to_json()["findings"] == []
        assert home.journal.size() == 6


@pytest.mark.parametrize("gone", ["keys/user.json", "keys/agent.json", "keys"])
def test_keys_that_are_gone_are_not_replaced_where_the_journal_was_signed_with_them(
    story: Story, gone: str
) -> None:
    story.tell("intent.draft")
    target = story.home.path / gone
    target.rename(story.home.path / "lost")
    with pytest.raises(KeyringError) as caught:
        Home.open(story.home.path)
    assert caught.value.code == "KEY_MISSING"
    assert "backup" in caught.value.fix
    assert not list(target.glob("*.json"))


def test_a_first_start_that_was_interrupted_between_the_keys_is_completed(tmp_path: Path) -> None:
    with Home.open(tmp_path) as home:
        did = home.keyring.user.did
    (tmp_path / "keys" / "agent.json").unlink()
    with Home.open(tmp_path) as home:
        assert home.keyring.user.did == did


@pytest.mark.parametrize("name", ["file", "file/below", "x" * 300])
def test_a_path_that_is_no_folder_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(HomeError) as caught:
        Home.open(tmp_path / name)
    assert caught.value.code == "HOME_UNREADABLE"
    assert "MCL_HOME" in caught.value.fix


def test_a_keys_folder_that_may_not_be_entered_is_told_at_the_next_question(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    def closed(path: object, **_: object) -> os.stat_result:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, "stat", closed)
    with pytest.raises(HomeError) as caught:
        story.home.keyring.entries()
    monkeypatch.undo()
    assert caught.value.code == "HOME_READ_ONLY"


def test_a_damaged_database_is_refused_with_its_place(story: Story) -> None:
    story.whole()
    path = story.home.path
    story.home.close()
    (path / "mcl.db").write_bytes(b"\x13" * 8192)
    with pytest.raises(HomeError) as caught:
        Home.open(path)
    assert caught.value.code == "DATABASE_CORRUPT"
    assert caught.value.place == str(path / "mcl.db")


def test_a_read_only_disk_is_named_and_nothing_is_written(disk: Disk) -> None:
    refused = disk.run("""
made = Home.open(DISK / "home")
made.journal.record("record.hello", {})
made.close()
read_only()
codes = []
for path in (DISK / "home", DISK / "new"):
    try:
        home = Home.open(path)
        assert home.journal.verify().ok
        home.journal.record("record.hello", {})
    except HomeError as error:
        codes.append(error.to_json())
print(json.dumps(codes))
""")
    assert [error["code"] for error in refused] == ["HOME_READ_ONLY"] * 2
    assert all(error["fix"] and error["place"] for error in refused)


def test_on_a_full_disk_a_home_is_made_whole_or_not_at_all(disk: Disk) -> None:
    outcomes = disk.run("""
codes = []
for pages in range(0, 60, 2):
    path = DISK / "home"
    fill(leave=pages * 4096)
    try:
        Home.open(path).close()
        codes.append("")
    except HomeError as error:
        codes.append(error.code)
    (DISK / "ballast").unlink()
    with Home.open(path) as home:
        home.journal.record("record.hello", {})
        assert home.journal.verify().ok
    subprocess.run(["rm", "-r", str(path)], check=True)
print(json.dumps(codes))
""")
    assert set(outcomes) == {"DISK_FULL", ""}
    assert outcomes[0] == "DISK_FULL"
    assert outcomes[-1] == ""


def test_when_the_disk_fills_up_what_was_stored_stays_and_the_rest_is_refused(disk: Disk) -> None:
    told = disk.run("""
home = Home.open(DISK / "home")
fill(leave=400_000)
stored, codes = 0, set()
for number in range(400):
    try:
        home.journal.record("record.note", {"text": "x" * 900})
        stored += 1
    except HomeError as error:
        codes.add(error.code)
        if number > stored + 5:
            break
try:
    home.keyring.new("agent")
except HomeError as error:
    codes.add(error.code)
report = home.journal.verify()
again = Home.open(DISK / "home")
still = again.journal.size()
(DISK / "ballast").unlink()
home.journal.record("record.note", {})
after = home.journal.verify()
print(json.dumps([stored, sorted(codes), report.to_json(), still, after.to_json()]))
""")
    stored, codes, report, still, after = told
    assert codes == ["DISK_FULL"]
    assert 15 < stored < 400
    assert report["findings"] == after["findings"] == []
    assert report["rows"] == still == stored
    assert after["rows"] == stored + 1


def test_errors_are_objects_for_programs_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HomeError) as caught:
        Home.open(tmp_path / "file")
    assert json.loads(json.dumps(caught.value.to_json())).keys() == {"code", "message", "place", "fix"}
