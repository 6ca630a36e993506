"""Folders for temporary files that killed processes left are removed by who comes next; those of the living,
of other users and of other programs are left alone."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from executor.sandbox import environment

ROOT = Path(__file__).resolve().parents[2]
OWNER = """
import sys
from pathlib import Path
import executor.sandbox.bubblewrap as bubblewrap
bubblewrap.find_bubblewrap = lambda: None
import mcl
with mcl.open_home() as home:
    mcl.grants.add(["shell"], home=home)
    called = mcl.call_tool("process/run-work", {}, agree=lambda _: True, home=home)
    print(called.outcome.state)
"""
STAYS = "touch began; while [ ! -e go ]; do sleep 0.05; done"


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for temporary files, which nobody has looked through yet."""
    place = tmp_path / "tmp"
    place.mkdir()
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setattr(tempfile, "tempdir", None)
    monkeypatch.setattr(environment, "_swept", set())
    yield place
    tempfile.tempdir = None


def start(tmp_path: Path, name: str, script: str) -> subprocess.Popen[str]:
    """A process of its own, in a workspace and a home of its own, that runs a declared command."""
    work, home = tmp_path / name / "work", tmp_path / name / "home"
    if not work.exists():
        work.mkdir(parents=True)
        home.mkdir(mode=0o700)
    (home / "commands.toml").write_text(f'[work]\ndescription = "Works."\nargv = ["sh", "-c", "{script}"]\n')
    env = {**os.environ, "MCL_HOME": str(home), "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        [sys.executable, "-c", OWNER], cwd=work, env=env, stdout=subprocess.PIPE, text=True
    )


def began(tmp_path: Path, name: str, process: subprocess.Popen[str]) -> None:
    until = time.monotonic() + 60
    while not (tmp_path / name / "work" / "began").exists():
        assert process.poll() is None, "it ended"
        assert time.monotonic() < until
        time.sleep(0.02)


def folders(place: Path) -> set[str]:
    return {one.name for one in place.iterdir() if one.name.startswith("mcl-")}


def test_what_a_killed_command_left_goes_with_the_next_and_what_lives_stays(
    tmp_path: Path, temporary: Path
) -> None:
    killed, living = start(tmp_path, "killed", STAYS), start(tmp_path, "living", STAYS)
    began(tmp_path, "killed", killed)
    began(tmp_path, "living", living)
    both = folders(temporary)
    assert len(both) == 2
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert folders(temporary) == both  # nobody was there to remove it
    third = start(tmp_path, "third", "true")
    assert third.communicate(timeout=60)[0] == "completed\n"
    [left] = folders(temporary)
    assert (temporary / left / "home").is_dir()  # whoever lives works on
    (tmp_path / "living" / "work" / "go").touch()
    assert living.communicate(timeout=60)[0] == "completed\n"
    assert folders(temporary) == set()


def test_only_folders_that_nobody_holds_any_more_are_removed(temporary: Path) -> None:
    def folder(name: str, *files: str, mode: int = 0o700, age: float = 0) -> Path:
        place = temporary / name
        place.mkdir()
        for file in files:
            (place / file).parent.mkdir(parents=True, exist_ok=True)
            (place / file).write_text("x")
        place.chmod(mode)
        os.utime(place, (time.time() - age,) * 2)
        return place

    outside = temporary.parent / "outside"
    outside.mkdir()
    (outside / "kept").touch()
    left = folder("mcl-left", ".held", "home/tmp/a", "home/b")
    (left / "home" / "out").symlink_to(outside)
    old = folder("mcl-empty", age=7200)
    stay = [
        folder("mcl-new"),  # about to get its lock
        folder("mcl-older", "home/tmp/a", age=7200),  # an earlier version may be at work there
        folder("mcl-shared", ".held", mode=0o755),
        folder("other", ".held"),
        folder("mclx", ".held"),
    ]
    (temporary / "mcl-file").touch()
    (temporary / "mcl-link").symlink_to(outside)
    held = folder("mcl-living", ".held")
    lock = os.open(held, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    environment.sweep_scratch(str(temporary))
    assert (left.exists(), old.exists()) == (False, False)
    assert all(one.exists() for one in (*stay, held, outside / "kept", temporary / "mcl-link"))
    assert (temporary / "mcl-file").exists()
    os.close(lock)
    environment.sweep_scratch(str(temporary))
    assert not held.exists()
    environment.sweep_scratch(str(temporary / "none"))  # there is nothing, and nothing is raised


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives folders away")
def test_folders_of_other_users_are_left_alone(temporary: Path) -> None:
    place = temporary / "mcl-theirs"
    place.mkdir(mode=0o700)
    (place / ".held").touch()
    os.chown(place, 12345, 12345)
    environment.sweep_scratch(str(temporary))
    assert place.exists()


def test_many_that_make_and_sweep_at_the_same_time_never_take_anothers(temporary: Path) -> None:
    code = (
        "import sys, os\n"
        "from executor.sandbox import environment\n"
        "for number in range(150):\n"
        "    with environment.scratch() as place:\n"
        "        (place / 'work').mkdir(); (place / 'work' / 'a').touch()\n"
        f"        environment.sweep_scratch({str(temporary)!r})\n"
        "        assert (place / 'work' / 'a').exists() and (place / '.held').exists()\n"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen([sys.executable, "-c", code], env=env, stderr=subprocess.PIPE) for _ in range(4)
    ]
    assert [(one.communicate(timeout=120)[1], one.returncode) for one in running] == [(b"", 0)] * 4
    assert folders(temporary) == set()


def test_a_folder_that_cannot_be_emptied_now_is_tried_again(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = temporary / "mcl-left"
    (left / "home").mkdir(parents=True)
    left.chmod(0o700)
    (left / ".held").touch()

    def busy(*_: object, **__: object) -> None:
        raise OSError("busy")

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", busy)
        environment.sweep_scratch(str(temporary))
    assert (left / ".held").exists()
    environment.sweep_scratch(str(temporary))
    assert not left.exists()
