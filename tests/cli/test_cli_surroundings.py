"""Locales, closed and full streams, and terminals without a width: the surroundings that scripts run in."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ASCII = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="Linux: /dev/full")


def in_shell(mcl, words: str) -> subprocess.CompletedProcess[bytes]:
    """Run `mcl` followed by `words`, which may redirect."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "MCL_HOME": str(mcl.home)}
    line = f'"{sys.executable}" -m mcl {words}'
    return subprocess.run(["sh", "-c", line], cwd=mcl.folder, env=env, capture_output=True, timeout=60)


def test_a_goal_is_utf_8_in_any_locale_and_so_is_its_document(mcl):
    goal = "find the word räksmörgås🎉 in the folder notes"
    words = ("compile", goal, "--no-ai", "--skill", "files-find", "--slot", "text=räksmörgås🎉", "--json")
    done = mcl.other(*words, env=ASCII)
    assert done.code == 0, done.err
    assert json.loads(done.out)["intent"]["prose"] == goal
    shown = mcl.other("show", "@last", "--json", env=ASCII | {"PYTHONIOENCODING": "latin-1"})
    assert json.loads(shown.out)["prose"] == goal


def test_a_module_in_the_current_folder_is_not_taken_for_one_of_ours(mcl):
    for name in ("typer", "httpx", "executor", "pydantic"):
        (mcl.folder / f"{name}.py").write_text("print('owned')\nraise SystemExit(9)\n")
    done = in_shell(mcl, "list")
    assert (done.returncode, b"owned" in done.stdout) == (0, False), done.stderr


@needs_full
@pytest.mark.parametrize("words", ["list", "list --json", "log", "skill list --json"])
def test_a_full_disk_behind_standard_output_is_an_error_without_a_traceback(mcl, words):
    mcl.compiled()
    done = in_shell(mcl, f"{words} >/dev/full")
    assert (done.returncode, b"Traceback" in done.stderr) == (5, False), done.stderr
    assert b"error: No space left on device" in done.stderr


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_closed_streams_swallow_what_they_are_given(mcl, closed):
    mcl.compiled()
    for words, code in (("list", 0), ("list --json", 0), ("list --nosuch", 2)):
        done = in_shell(mcl, f"{words} {closed}")
        assert (done.returncode, b"Traceback" in done.stderr + done.stdout) == (code, False), done.stderr


@pytest.mark.parametrize("width", ["0", "1", "10"])
def test_a_terminal_without_a_width_loses_nothing(mcl, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", width)
    shown = mcl(*mcl.COMPILE)
    digest = mcl("show", "@last", "--json").document["intent"]["hash"]
    assert digest in "".join(shown.out.split()).replace("↪", "")
    assert "invoice" in shown.out
