"""Homes that cannot be written to: what only shows, shows; what writes says so and loses nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import ROOT, Shell

COMMANDS = tomllib.loads((ROOT / "mcl/usecases/authority/commands.toml").read_text())["commands"]
SHOWS = sorted(name for name, row in COMMANDS.items() if row["who"] == "shows")
ALSO = ("replay", "log head")  # an agent's, and they change nothing either
# What each is given; a command that only shows and is not here needs nothing.
GIVEN = {
    "memory find": ["invoice"],
    "memory prove": ["matrix://cortex/Identity/anna"],
    "memory show": ["matrix://cortex/Identity/anna"],
    "gate show": ["GATE"],
    "work show": ["T-1"],
    "log prove": ["2", "--since", "1"],
    "log show": ["2"],
    "config get": ["zone"],
    "plan compare": ["notes/monday.txt", "notes/monday.txt"],
    "model show": ["bundled"],
    "plan check": ["@last"],
    "plan show": ["@last"],
    "replay": ["@last"],
    "review context show": ["notes/monday.txt"],
    "review parse": ["notes/monday.txt"],
    "server show": ["shop"],
    "show": ["@last"],
    "skill hash": ["SKILL.mtx"],
    "skill parse": ["SKILL.mtx"],
    "skill show": ["repo-status"],
    "tool show": ["fs/read"],
    "verify": ["notes/monday.txt"],
    "activity show": ["1"],
}
FAILS = {  # of what is given here: nothing of the kind is in this home, and a note is no review
    *("gate show", "work list", "work show", "work trace", "work map", "work check"),
    *("plan compare", "review context show", "review context status", "review parse", "activity show"),
    *("skill hash", "skill parse", "verify", "skill check"),
}
ONE_AFTER_THE_OTHER = """
import contextlib, io, json, sys
from mcl.cli.main import main
told = {}
for name, given in json.loads(sys.argv[1]).items():
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        told[name] = [main([*name.split(), *given]), out.getvalue()]
print(json.dumps(told))
"""


def all_of(home: Path, folder: Path, *, frozen: bool) -> dict[str, Any]:
    """What each command ends with and says in this home; frozen: nobody can write there."""
    freeze = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1" || exit 77; ' if frozen else ""
    script = f'{freeze}exec "$2" -c "$3" "$4"'
    commands = json.dumps({name: GIVEN.get(name, []) for name in (*SHOWS, *ALSO)})
    own = ["unshare", "--user", "--map-root-user", "--mount"] if frozen else []
    try:
        done = subprocess.run(
            [*own, "sh", "-c", script, "sh", home, sys.executable, ONE_AFTER_THE_OTHER, commands],
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "MCL_HOME": str(home),
                "MCL_STATE": str(home.parent / "s"),
            },
            capture_output=True,
            text=True,
            timeout=300,
        )
    except FileNotFoundError:
        pytest.skip("mounts: no read-only folder here, there is no `unshare` command")
    if frozen and (done.returncode == 77 or "unshare" in done.stderr):
        pytest.skip(f"mounts: no read-only folder here ({done.stderr.strip()})")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def contents(folder: Path) -> dict[Path, bytes]:
    return {one: one.read_bytes() for one in (folder / "home").rglob("*") if one.is_file()}


def test_every_command_that_only_shows_shows_on_a_copy_that_cannot_be_written_to(
    mcl: Shell, tmp_path: Path
) -> None:
    id = mcl.signed()
    assert mcl("memory", "add", "Identity", "name=Anna", "--id", "anna").code == 0
    assert mcl("server", "add", "shop", "--", "true").code == 0
    assert mcl("run", id).code == 0
    shutil.copytree(mcl.home, tmp_path / "kept" / "home")
    shutil.copytree(mcl.home, tmp_path / "other" / "home")
    before = contents(tmp_path / "kept")
    kept = all_of(tmp_path / "kept" / "home", mcl.folder, frozen=True)
    other = all_of(tmp_path / "other" / "home", mcl.folder, frozen=False)
    for name, (code, told) in kept.items():
        assert "HOME_READ_ONLY" not in told, (name, told)
        assert "Traceback" not in told, (name, told)
        assert code == other[name][0], (name, told, other[name][1])
        assert name in FAILS or code == 0, (name, told)
    assert contents(tmp_path / "kept") == before


def test_a_row_that_was_proven_on_such_a_copy_is_in_the_home_that_it_was_copied_from(
    mcl: Shell, tmp_path: Path
) -> None:
    mcl.compiled()
    shutil.copytree(mcl.home, tmp_path / "kept" / "home")
    _, told = all_of(tmp_path / "kept" / "home", mcl.folder, frozen=True)["log head"]
    root = next(line.split()[1] for line in told.splitlines() if line.strip().startswith("root"))
    assert mcl("log", "head", "--json").document["root"] == root


@pytest.mark.parametrize("trouble", ["readonly", "full"])
def test_on_a_read_only_or_full_disk_nothing_is_lost_and_nothing_half_written(
    mcl: Shell, tmp_path: Path, trouble: str
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    goal = " ".join(f"'{word}'" for word in mcl.COMPILE)
    spoil = 'mount -o remount,ro "$1"' if trouble == "readonly" else 'cat /dev/zero > "$1/ballast"'
    mend = 'mount -o remount,rw "$1"' if trouble == "readonly" else 'rm "$1/ballast"'
    script = f"""
        mount -t tmpfs -o size=4m tmpfs "$1" || exit 77
        export MCL_HOME="$1/home" PYTHONPATH="$3" PYTHON="$2"
        mcl() {{ "$PYTHON" -m mcl "$@"; }}
        mcl {goal} --json > "$4/first" 2>&1 || exit 1
        {spoil} 2> /dev/null
        mcl {goal} > "$4/refused" 2>&1; echo $? > "$4/code"
        {mend}
        mcl list --json > "$4/list" 2>&1
        mcl log verify > "$4/verify" 2>&1
    """
    own = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]
    done = subprocess.run(
        [*own, disk, sys.executable, ROOT, tmp_path],
        cwd=mcl.folder,
        capture_output=True,
        text=True,
        timeout=120,
    )
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip(f"mounts: no small disk here ({done.stderr.strip()})")
    assert done.returncode == 0, done.stderr
    told = (tmp_path / "refused").read_text()
    assert (tmp_path / "code").read_text().strip() == "5", told
    assert ("HOME_READ_ONLY" if trouble == "readonly" else "DISK_FULL") in told
    assert "Traceback" not in told
    assert len(json.loads((tmp_path / "list").read_text())["intents"]) == 1
    assert "nothing wrong" in (tmp_path / "verify").read_text()
