"""The trace of a folder: what it says of a change, what a crash leaves, and what shows that was rewritten."""

from __future__ import annotations

import itertools
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor import Home
from executor.core.errors import ScopeError
from mcl.cli.main import main
from mcl.core.home import open_home
from mcl.plugins.agents.trace.line import (
    MOST_RANGES,
    NO_LINE,
    FileChange,
    TraceLine,
    changed_lines,
    read_line,
)
from mcl.plugins.agents.trace.trace import Trace, TraceReport, read_trace

CHANGE = FileChange("INT-001", "", "fs/write", "src/a.py", None, "a" * 64, ((1, 3),), "agent", "coder")


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with open_home(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    return folder


def file_of(root: Path) -> Path:
    return root / ".orchestration" / "agent_trace.jsonl"


def codes(report: TraceReport) -> list[str]:
    return [one.code for one in report.findings]


def test_each_change_is_a_line_of_json_bound_to_the_one_before(home: Home, root: Path) -> None:
    trace = Trace(home, root)
    first = trace.append(CHANGE)
    second = trace.append(replace(CHANGE, before="a" * 64, after=None, author="person", agent=""))
    told = [json.loads(line) for line in file_of(root).read_text().splitlines()]
    assert [one["hash"] for one in told] == [first.hash, second.hash]
    assert [one["prev"] for one in told] == [NO_LINE, first.hash]
    assert told[0].keys() == {
        *("id", "time", "intent", "intent_id", "tool", "file", "lines", "before", "after"),
        *("author", "agent", "prev", "hash"),
    }
    assert (told[0]["intent"], told[0]["file"], told[0]["lines"]) == ("INT-001", "src/a.py", [[1, 3]])
    report = read_trace(home, root)
    assert (report.ok, report.unsigned, report.lines) == (True, 0, (first, second))
    assert home.journal.verify().ok


def test_the_map_names_the_intents_of_each_file_and_keeps_what_others_put_there(
    home: Home, root: Path
) -> None:
    trace = Trace(home, root)
    place = root / ".orchestration" / "intent_map.json"
    trace.append(CHANGE)
    told = json.loads(place.read_text())
    told["files"]["theirs.py"] = ["INT-900"]
    place.write_text(json.dumps(told))
    trace.extend([replace(CHANGE, label="INT-002"), replace(CHANGE, file="b.py")])
    assert json.loads(place.read_text())["files"] == {
        "b.py": ["INT-001"],
        "src/a.py": ["INT-001", "INT-002"],
        "theirs.py": ["INT-900"],
    }


@pytest.mark.parametrize("cut", [1, 2, 40, 300])
def test_half_a_line_that_a_crash_left_is_put_right_by_the_next_one(home: Home, root: Path, cut: int) -> None:
    trace, place = Trace(home, root), file_of(root)
    lines = [trace.append(CHANGE) for _ in range(3)]
    place.write_bytes(place.read_bytes()[:-cut])
    assert read_trace(home, root).ok
    lines.append(trace.append(CHANGE))
    report = read_trace(home, root)
    assert (report.ok, report.torn, report.lines) == (True, False, tuple(lines))


def test_a_line_that_was_signed_and_never_written_is_written_before_the_next(home: Home, root: Path) -> None:
    trace, place = Trace(home, root), file_of(root)
    lines = [trace.append(CHANGE) for _ in range(3)]
    place.write_bytes(lines[0].wire + lines[1].wire)
    before = read_trace(home, root)
    assert (before.ok, before.torn) == (True, True)
    lines.append(trace.append(CHANGE))
    assert read_trace(home, root).lines == tuple(lines)


def test_a_trace_that_was_cut_short_shows_and_is_whole_again_after_the_next_line(
    home: Home, root: Path
) -> None:
    trace, place = Trace(home, root), file_of(root)
    lines = [trace.append(CHANGE) for _ in range(4)]
    place.write_bytes(lines[0].wire)
    assert codes(read_trace(home, root)) == ["MISSING_LINE"] * 3
    place.unlink()
    assert codes(read_trace(home, root)) == ["MISSING_LINE"] * 4
    lines.append(trace.append(CHANGE))
    report = read_trace(home, root)
    assert (report.ok, report.lines) == (True, tuple(lines))
    assert len(home.journal.rows(kind="record.agent.trace_mended")) == 1


def test_every_way_of_rewriting_a_line_shows(home: Home, root: Path) -> None:
    trace, place = Trace(home, root), file_of(root)
    one, two, three = (trace.append(CHANGE) for _ in range(3))
    whole = [one.wire, two.wire, three.wire]

    def after(*lines: bytes) -> list[str]:
        place.write_bytes(b"".join(lines))
        return codes(read_trace(home, root))

    assert after(*whole) == []
    assert after(one.wire, three.wire) == ["BROKEN_CHAIN", "MISSING_LINE"]
    assert after(one.wire, two.wire.replace(b"src/a.py", b"src/b.py"), three.wire)[0] == "DAMAGED_LINE"
    assert "BROKEN_CHAIN" in after(two.wire, one.wire, three.wire)
    other = TraceLine.of(replace(CHANGE, file="b.py"), id=two.id, time=two.time, prev=one.hash)
    forged = TraceLine.of(three.change, id=three.id, time=three.time, prev=other.hash)
    assert after(one.wire, other.wire, forged.wire) == ["CHANGED_LINE", "CHANGED_LINE"]
    assert after(*whole, b"x" * 100_000, b"\n")[:1] == ["DAMAGED_LINE"]


def test_what_another_program_put_there_is_left_and_shows(home: Home, root: Path) -> None:
    trace, place = Trace(home, root), file_of(root)
    trace.append(CHANGE)
    with place.open("ab") as file:
        file.write(b"x" * 200_000)
    trace.append(CHANGE)
    assert place.stat().st_size > 200_000
    report = read_trace(home, root)
    assert (len(report.lines), report.torn) == (2, False)
    assert set(codes(report)) == {"DAMAGED_LINE", "BROKEN_CHAIN"}


def test_lines_of_another_home_travel_with_the_folder_and_are_counted(
    home: Home, root: Path, tmp_path: Path
) -> None:
    first = Trace(home, root).append(CHANGE)
    with open_home(tmp_path / "theirs") as theirs:
        Trace(theirs, root).append(CHANGE)
        Trace(theirs, root).append(CHANGE)
        assert (read_trace(theirs, root).ok, read_trace(theirs, root).unsigned) == (True, 1)
    Trace(home, root).append(CHANGE)
    report = read_trace(home, root)
    assert (report.ok, report.unsigned, len(report.lines)) == (True, 2, 4)
    assert report.lines[0] == first


def test_what_is_no_plain_file_is_not_written_to_and_the_change_is_not_forgotten(
    home: Home, root: Path, tmp_path: Path
) -> None:
    trace, place = Trace(home, root), file_of(root)
    lines = [trace.append(CHANGE)]
    victim = tmp_path / "victim"
    victim.write_text("theirs\n")
    place.rename(tmp_path / "aside")
    place.symlink_to(victim)
    for _ in range(2):
        with pytest.raises(ScopeError):
            trace.append(CHANGE)
    assert victim.read_text() == "theirs\n"
    place.unlink()
    os.mkfifo(place)
    with pytest.raises(ScopeError):
        trace.append(CHANGE)
    place.unlink()
    (tmp_path / "aside").rename(place)
    lines.append(trace.append(CHANGE))
    report = read_trace(home, root)
    assert (report.ok, len(report.lines)) == (True, 5)
    assert (report.lines[0], report.lines[-1]) == (lines[0], lines[-1])
    folder = root / ".orchestration"
    folder.rename(tmp_path / "elsewhere")
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ScopeError):
        trace.append(CHANGE)


def test_processes_that_write_at_once_make_one_chain(tmp_path: Path, root: Path) -> None:
    """Each has its own connection and descriptors, as processes have."""

    def work() -> None:
        with open_home(tmp_path / "home") as home:
            trace = Trace(home, root)
            for _ in range(8):
                trace.append(CHANGE)

    open_home(tmp_path / "home").close()
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with open_home(tmp_path / "home") as home:
        report = read_trace(home, root)
        assert (report.ok, len(report.lines)) == (True, 32)


WRITES = """
import sys
from pathlib import Path
from mcl.plugins.agents.trace import FileChange, Trace
from mcl.core.home import open_home
with open_home(Path(sys.argv[1])) as home:
    trace = Trace(home, Path(sys.argv[2]))
    while True:
        trace.append(FileChange("INT-001", "", "t", "a", None, "a" * 64))
        print("+", flush=True)
"""


@pytest.mark.slow
def test_a_process_that_is_killed_while_it_writes_loses_no_line(tmp_path: Path, root: Path) -> None:
    for round in range(6):
        command = [sys.executable, "-c", WRITES, str(tmp_path / "home"), str(root)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            for _ in range(1 + round * 3):
                process.stdout.readline()
            process.send_signal(signal.SIGKILL)
        with open_home(tmp_path / "home") as home:
            assert read_trace(home, root).ok
            Trace(home, root).append(CHANGE)
            signed = len(home.journal.rows(kind="record.agent.wrote"))
            report = read_trace(home, root)
            assert (report.ok, report.torn, len(report.lines)) == (True, False, signed)


def test_the_commands_show_the_trace_and_the_map_and_fail_where_it_was_rewritten(
    home: Home, root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MCL_HOME", str(home.path))
    monkeypatch.chdir(root)
    trace = Trace(home, root)
    trace.append(CHANGE)
    trace.append(replace(CHANGE, label="INT-002", file="b.py", lines=((4, 4), (9, 12))))
    assert main(["work", "trace", "--intent", "INT-002", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert ([one["file"] for one in said["lines"]], said["total"], said["ok"]) == (["b.py"], 2, True)
    assert main(["work", "trace", "--last", "1"]) == 0
    shown = capsys.readouterr().out
    assert "b.py:4, 9-12" in shown
    assert "src/a.py" not in shown
    assert main(["work", "map", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == {"b.py": ["INT-002"], "src/a.py": ["INT-001"]}
    file_of(root).write_text(file_of(root).read_text().replace("b.py", "c.py"))
    assert main(["work", "trace"]) == 6
    assert "DAMAGED_LINE" in capsys.readouterr().out


# ---- lines that differ ----

TEXTS = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d"]), max_size=12).map(b"".join)


@given(before=TEXTS, after=TEXTS)
def test_outside_the_ranges_nothing_is_new(before: bytes, after: bytes) -> None:
    """What is not told as changed stands in the old file, in the same order."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    ranges = changed_lines(before, after)
    assert bool(ranges) == (before != after and bool(after))
    assert all(1 <= first <= last <= len(new) for first, last in ranges)
    assert all(one[1] + 1 < other[0] for one, other in itertools.pairwise(ranges))
    touched = {number for first, last in ranges for number in range(first, last + 1)}
    rest = iter(old)
    assert all(line in rest for number, line in enumerate(new, 1) if number not in touched)


@pytest.mark.parametrize(
    ("before", "after", "ranges"),
    [
        ("a\nb\nc\n", "a\nX\nc\n", ((2, 2),)),
        ("a\nb\nc\n", "a\nc\n", ((2, 2),)),
        ("a\nb\n", "a\n", ((1, 1),)),
        ("", "a\nb", ((1, 2),)),
        ("a\n", "", ()),
        ("a\nb\nc\nd\ne\n", "A\nb\nc\nd\nE\n", ((1, 1), (5, 5))),
    ],
)
def test_the_ranges_are_those_that_a_reader_would_name(
    before: str, after: str, ranges: tuple[tuple[int, int], ...]
) -> None:
    assert changed_lines(before.encode(), after.encode()) == ranges


def test_of_many_changes_the_nearest_are_told_together_and_of_a_rewritten_file_one() -> None:
    old = [f"{number}\n" for number in range(4000)]
    some = [line if number % 20 else "new\n" for number, line in enumerate(old)]
    ranges = changed_lines("".join(old).encode(), "".join(some).encode())
    assert len(ranges) in (1, MOST_RANGES)
    few = [line if number % 40 else "new\n" for number, line in enumerate(old)]
    assert len(changed_lines("".join(old).encode(), "".join(few).encode())) == MOST_RANGES
    assert changed_lines("".join(old).encode(), b"x\n" * 30_000) == ((1, 30_000),)


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_what_is_no_line_is_none(data: bytes) -> None:
    assert read_line(data) is None


@given(
    st.builds(
        FileChange,
        st.text(max_size=20),
        st.text(max_size=20),
        st.text(max_size=300),
        st.text(max_size=300),
        st.none() | st.just("b" * 64),
        st.none() | st.just("c" * 64),
        st.just(((1, 2), (5, 9))),
        st.sampled_from(["agent", "person"]),
        st.text(max_size=20),
    )
)
def test_a_line_is_read_as_it_was_written_whatever_it_names(change: FileChange) -> None:
    line = TraceLine.of(
        change, id="01M81BCK7H7VHMDV44C3EPZT1E", time="2026-11-22T10:03:51.409Z", prev=NO_LINE
    )
    assert read_line(line.wire) == line
    assert line.wire.count(b"\n") == 1
