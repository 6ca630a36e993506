"""`mcl activity` as a person and a program use it."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import re
import resource
import select
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from executor import Home
from mcl.cli.main import main
from mcl.core.home import open_home
from mcl.plugins.mcp.records import OPERATIONS, SENSITIVITIES, VERDICTS, Activity, CallRecord

pytestmark = pytest.mark.attended  # no command of a person is given, and rows are counted

ROOT = Path(__file__).resolve().parents[2]
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", "\t=1", " =1", "\uff1d1", "|calc")
CALLS = (
    CallRecord(
        "github",
        "delete_repo",
        "denied",
        variant="call_tool_destructive",
        code="GATE_DENIED",
        operation_type="destructive",
        data_sensitivity="private",
        reason="tidy \x1b[31mup\u202e",
        args={"name": "old\x1b]0;x\x07"},
        latency_ms=12.5,
        upstream_ms=10.0,
        client="inspector",
        warnings=("hidden \U000e0041",),
        gate_id="01M7Y6X000000000000000000A",
        intent_id="01M7Y6X0000000000000000009",
    ),
    CallRecord(
        "files", "read\x9b31m", "allowed", operation_type="read", variant="call_tool_read", result_bytes=9
    ),
    CallRecord("mcl", "retrieve_tools", "allowed", reason='=HYPERLINK("http://x")'),
)


@dataclass(frozen=True)
class Said:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Said]


def keep(home: Home, *told: CallRecord) -> None:
    async def talk() -> None:
        activity = Activity(home)
        for entry in told:
            await activity.keep(entry)

    asyncio.run(talk())


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Run]:
    """Runs `mcl activity` on a home with CALLS in it; rows 1 to 3."""
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.chdir(tmp_path)
    with open_home(tmp_path / "home") as home:
        keep(home, *CALLS)

    def command(*arguments: str, width: int = 100) -> Said:
        monkeypatch.setenv("COLUMNS", str(width))
        capsys.readouterr()
        code = main(["activity", *arguments])
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return command


def test_a_list_shows_calls_newest_first_and_nothing_in_it_drives_the_terminal(run: Run) -> None:
    done = run("list", width=110)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].split() == ["row", "at", "tool", "declared", "verdict", "ms", "says"]
    assert [line.split()[0] for line in lines[1:4]] == ["3", "2", "1"]
    assert "files:read\\x9b31m" in done.out
    said = " ".join(" ".join(lines).split())
    assert "GATE_DENIED warned: hidden \\U000e0041 tidy \\x1b[31mup\\u202e" in said
    assert done.out.isascii()
    assert all(character.isprintable() or character == "\n" for character in done.out)


def test_a_list_on_a_narrow_terminal_loses_nothing(run: Run) -> None:
    done = run("list", width=40)
    assert max(map(len, done.out.splitlines())) <= 40
    for word in ("github:delete_repo", "destructive", "denied", "GATE_DENIED", "12.5"):
        assert word in done.out


def test_a_list_on_a_terminal_is_coloured_and_says_no_more(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = run("list", width=110).out
    monkeypatch.delenv("NO_COLOR")
    ours, theirs = os.openpty()
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TERM": "xterm-256color", "COLUMNS": "110"}
    process = subprocess.Popen(
        [sys.executable, "-m", "mcl", "activity", "list"], stdout=theirs, env=environment
    )
    os.close(theirs)
    seen = b""
    while piece := _read(ours):
        seen += piece
    assert process.wait(60) == 0
    os.close(ours)
    text = seen.decode()
    assert "\x1b[31m" in text
    uncoloured = re.sub(r"\x1b\[[0-9;]*m", "", text)
    assert [line.rstrip() for line in uncoloured.splitlines()] == plain.splitlines()


def _read(handle: int) -> bytes:
    try:
        return os.read(handle, 65536)
    except OSError:  # the other end is closed
        return b""


def test_filters_limit_and_cursor_work_on_the_command_line(run: Run) -> None:
    assert [
        one["row"]
        for one in run("list", "--server", "github", "--server", "mcl", "--json").document["activity"]
    ] == [3, 1]
    assert [one["row"] for one in run("list", "--operation", "none", "--json").document["activity"]] == [3]
    first = run("list", "--limit", "2", "--json").document
    assert [one["row"] for one in first["activity"]] == [3, 2]
    last = run("list", "--limit", "2", "--cursor", first["next"], "--json").document
    assert ([one["row"] for one in last["activity"]], last["next"]) == ([1], "")
    assert f"--cursor {first['next']}" in run("list", "--limit", "2").err
    assert run("list", "--since", "1h", "--until", "2026-01-01").code == 2
    assert run("list", "--server", "nobody").out == "nothing\n"


@pytest.mark.parametrize("verb", ["list", "stats", "export", "watch"])
def test_a_bad_filter_is_refused_by_every_verb(run: Run, verb: str) -> None:
    for option, value in (("--status", "ok"), ("--since", "soon"), ("--server", ""), ("--text", "")):
        done = run(verb, option, value)
        assert done.code == 2
        assert "BAD_FILTER" in done.err
        assert "allowed:" in done.err


def test_the_words_that_are_completed_are_those_that_are_read() -> None:
    from mcl.plugins.mcp.cli import activity as arguments

    offered = [arguments._SEVERAL[name][2] for name in ("operation", "sensitivity", "status")]
    assert offered == [OPERATIONS, SENSITIVITIES, VERDICTS]


def test_a_call_is_shown_whole_with_its_row_intent_and_gate(run: Run) -> None:
    said = run("show", "1", "--json").document
    assert said["metadata"]["intent"]["reason"] == "tidy \x1b[31mup\u202e"
    assert said["args"] == {"name": "old\x1b]0;x\x07"}
    assert said["intent"]["id"] == CALLS[0].intent_id
    assert said["gate"] == {"id": CALLS[0].gate_id}
    assert said["journal"]["prove"] == "mcl log prove 1 --json"
    view = run("show", said["id"]).out
    for words in (
        "github:delete_repo",
        "denied",
        "GATE_DENIED",
        "destructive, private",
        "12.5 ms",
        "10.0 ms",
    ):
        assert words in view
    for words in ("old\\u001b]0;x\\u0007", "inspector", CALLS[0].gate_id, "mcl log prove 1"):
        assert words in view
    assert "\x1b" not in view
    assert run("show", "@last", "--json").document["tool"] == "retrieve_tools"
    unknown = run("show", "77")
    assert (unknown.code, "RECORD_UNKNOWN" in unknown.err) == (2, True)


def test_the_leaf_that_show_names_is_the_one_that_the_journal_proves(
    run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = run("show", "2", "--json").document["journal"]
    assert main(journal["prove"].split()[1:]) == 0
    assert json.loads(capsys.readouterr().out)["inclusion"]["leaf"] == journal["leaf"]


def test_every_format_tells_the_same_calls_oldest_first(run: Run) -> None:
    lines = [json.loads(line) for line in run("export").out.splitlines()]
    assert [one["row"] for one in lines] == [1, 2, 3]
    assert run("export", "--format", "json").document == lines
    table = list(csv.DictReader(io.StringIO(run("export", "--format", "csv").out, newline="")))
    assert [row["row"] for row in table] == ["1", "2", "3"]
    assert set(table[0]) == set(lines[0]) - {"metadata"}
    assert table[0]["operation_type"] == lines[0]["metadata"]["intent"]["operation_type"] == "destructive"
    assert [row["latency_ms"] for row in table] == [str(one["latency_ms"]) for one in lines]
    assert table[0]["reason"] == "tidy \\x1b[31mup\\u202e"
    for form in ("jsonl", "json", "csv"):
        assert not {"\x1b", "\x07", "\x9b", "\u202e", "\U000e0041"} & set(run("export", "--format", form).out)
    assert run("export", "--format", "json", "--server", "nobody").document == []
    assert run("export", "--format", "jsonl", "--server", "nobody").out == ""
    assert run("export", "--format", "xml").code == 2


def test_no_cell_of_a_csv_is_a_formula(run: Run, tmp_path: Path) -> None:
    with open_home(tmp_path / "home") as home:
        keep(home, *(CallRecord("s", "t", "allowed", reason=text, client=text) for text in FORMULAS))
    table = list(csv.reader(io.StringIO(run("export", "--format", "csv").out, newline="")))
    for row in table:
        for cell in row:
            assert not cell.lstrip().startswith(("=", "+", "-", "@", "\uff1d"))
            assert not cell.startswith("\t")
    assert '\'=HYPERLINK("http://x")' in table[3]


def test_an_export_to_a_file_is_there_whole_or_not_at_all(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "calls.jsonl"
    out.write_text("old")
    assert run("export", "--output", str(out), "--server", "github").code == 0
    assert len(out.read_text().splitlines()) == 1
    assert out.stat().st_mode & 0o077 == 0
    (tmp_path / "folder").mkdir()
    for path in ("folder", "nowhere/calls", "/dev/null"):
        done = run("export", "--output", path)
        assert (done.code, "OUT_UNWRITABLE" in done.err) == (5, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["calls.jsonl", "folder", "home"]


def test_an_export_that_fails_halfway_leaves_the_old_file(run: Run, tmp_path: Path) -> None:
    out = tmp_path / "calls.csv"
    out.write_text("old")
    with open_home(tmp_path / "home") as home:
        keep(home, *[CallRecord("s", "t", "allowed", args={"text": "x" * 4000})] * 20)
    done = subprocess.run(
        [sys.executable, "-m", "mcl", "activity", "export", "--format", "csv", "--output", str(out)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000)),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, "OUT_UNWRITABLE" in done.stderr) == (5, True)
    assert out.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["calls.csv", "home"]


def test_numbers_are_told_to_people_and_programs(run: Run) -> None:
    said = run("stats", "--json").document
    assert said["total"] == {"name": "", "calls": 3, "p50_ms": 0.0, "p95_ms": 12.5, "result_bytes": 9}
    assert {one["name"]: one["calls"] for one in said["by"]["status"]} == {"allowed": 2, "denied": 1}
    assert [one["name"] for one in said["by"]["code"]] == ["GATE_DENIED"]
    view = run("stats", "--server", "github").out
    assert "github:delete_repo" in view
    assert "files" not in view
    assert run("stats", "--server", "nobody").out == "nothing\n"


def test_a_record_that_does_not_verify_is_told_by_every_verb(run: Run, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "home" / "mcl.db") as file:
        file.execute("DROP TRIGGER journal_keeps")
        ((wire,),) = file.execute("SELECT wire FROM journal WHERE seq = 1")
        file.execute("UPDATE journal SET wire = ? WHERE seq = 1", (wire.replace(b"denied", b"dented"),))
    file.close()
    for verb in ("list", "export"):
        done = run(verb)
        assert (done.code, "BAD_SIGNATURE" in done.err) == (6, True)
        assert "delete_repo" not in done.out
        assert "retrieve_tools" in done.out
    assert run("list", "--json").document["flaws"][0]["row"] == 1
    assert run("show", "1").code == 6
    done = run("stats", "--fresh")
    assert (done.code, "rows 1" in done.err) == (6, True)
    assert "delete_repo" not in done.out


@pytest.fixture
def watching(run: Run) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts `mcl activity watch` in a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-m", "mcl", "activity", "watch", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def told_until(process: subprocess.Popen[str], home: Home, entries: Sequence[CallRecord]) -> str:
    """The first line that a watching process says; entries are kept until it says one."""
    assert process.stdout is not None
    for _ in range(200):
        keep(home, *entries)
        if select.select([process.stdout], [], [], 0.3)[0]:
            return process.stdout.readline()
    raise AssertionError("it said nothing")


def test_new_calls_of_other_processes_are_told_as_they_come_until_ctrl_c(
    watching: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    process, people = watching("--json", "--status", "denied"), watching()
    with open_home(tmp_path / "home") as home:
        first = json.loads(told_until(process, home, [CALLS[1], CALLS[0]]))
        assert (first["tool"], first["verdict"]) == ("delete_repo", "denied")
        assert first["metadata"]["tool_variant"] == "call_tool_destructive"
        line = told_until(people, home, CALLS)
        assert line.isprintable() or line[:-1].isprintable()
        keep(home, *CALLS)
    time.sleep(0.5)
    for one in (process, people):
        one.send_signal(signal.SIGINT)
        out, err = one.communicate(timeout=60)
        assert (one.returncode, err) == (0, "")
        if one is process:
            rows = [first["row"], *(json.loads(told)["row"] for told in out.splitlines())]
            assert rows == sorted(set(rows))


def test_watching_ends_when_nobody_reads_any_more(
    watching: Callable[..., subprocess.Popen[str]], tmp_path: Path
) -> None:
    process = watching()
    with open_home(tmp_path / "home") as home:
        told_until(process, home, CALLS)
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(60) == 0
    process.stdout = None
