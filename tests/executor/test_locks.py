"""Locks between runs: two never write to one path at once, and who dies holds nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from walks import Walks, context_of, tool

from executor import Allow, Call, Deny, ScopeError, decide
from executor.gate.locks import Locks, Place, SharedLocks, clash
from executor.walker.undo.undo import undo

HOLDS = """
import sys
from pathlib import Path
from executor.gate.locks import Locks
from executor.gate.locks import SharedLocks
folder, root, who, path, mode = sys.argv[1:]
with Locks(SharedLocks(Path(folder), Path(root), who)).hold([(tuple(path.split("/")), mode)]):
    print("held", flush=True)
    sys.stdin.readline()
"""


@contextmanager
def holder(folder: Path, root: Path, path: str, mode: str = "write") -> Iterator[subprocess.Popen[str]]:
    """Another process that writes to a path."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(folder), str(root), "01OTHER", path, mode],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def locks(tmp_path: Path, root: str = "work") -> Locks:
    return Locks(SharedLocks(tmp_path / "locks", tmp_path / root, "01THIS"))


def place(path: str, mode: Any = "write") -> Place:
    return tuple(path.split("/")), mode


@pytest.mark.parametrize(
    ("path", "mode", "contended"),
    [
        ("a.txt", "write", True),
        ("a.txt", "add", True),
        ("a.txt/below", "write", True),
        ("b.txt", "write", False),
        ("a.txt2", "write", False),
    ],
)
def test_what_another_process_writes_is_kept_from_this_one(
    tmp_path: Path, path: str, mode: str, contended: bool
) -> None:
    with holder(tmp_path / "locks", tmp_path / "work", "a.txt"):
        mine = locks(tmp_path)
        found = mine.contended([place(path, mode)])
        assert bool(found) == contended
        if found is None:
            with mine.hold([place(path, mode)]):
                pass
            return
        assert (found.path, found.who) == (tuple(path.split("/")), "01OTHER")
        with pytest.raises(ScopeError) as refused, mine.hold([place(path, mode)]):
            pass
        assert refused.value.code == "SCOPE_CONTENTION"
        assert "01OTHER" in refused.value.message


def test_who_only_adds_does_not_keep_out_who_only_adds(tmp_path: Path) -> None:
    with holder(tmp_path / "locks", tmp_path / "work", "tasks", "add"):
        mine = locks(tmp_path)
        with mine.hold([place("tasks", "add")]):
            assert mine.contended([place("tasks/a.md", "write")])


@pytest.mark.parametrize(
    ("root", "path", "contended"),
    [("work/sub", "a.txt", True), ("work/sub", "b.txt", False), ("work2", "sub/a.txt", False)],
)
def test_workspaces_in_one_another_meet_and_others_do_not(
    tmp_path: Path, root: str, path: str, contended: bool
) -> None:
    with holder(tmp_path / "locks", tmp_path / "work", "sub/a.txt"):
        assert bool(locks(tmp_path, root).contended([place(path)])) == contended


def test_the_locks_of_a_killed_process_are_free_at_once(tmp_path: Path) -> None:
    with holder(tmp_path / "locks", tmp_path / "work", "a.txt") as process:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        mine = locks(tmp_path)
        assert mine.contended([place("a.txt")]) is None
        with mine.hold([place("a.txt")]):
            pass


def test_what_is_given_back_is_free_and_leaves_no_file(tmp_path: Path) -> None:
    one, other = locks(tmp_path), locks(tmp_path)
    with one.hold([place("a.txt")]):
        with one.hold([place("b.txt")]):
            assert other.contended([place("b.txt")])
        assert other.contended([place("b.txt")]) is None
        assert other.contended([place("a.txt")])
    assert other.contended([place("a.txt")]) is None
    assert [found.name for found in (tmp_path / "locks").iterdir()] == ["mutex"]


def test_a_run_that_writes_nothing_makes_no_folder(tmp_path: Path) -> None:
    with locks(tmp_path).hold([]):
        assert locks(tmp_path).contended([place("a.txt")]) is None
    assert not (tmp_path / "locks").exists()


def test_the_gate_refuses_a_path_that_another_run_writes_and_allows_it_afterwards(
    walks: Walks, tmp_path: Path
) -> None:
    node = tool("n1", "fs/write", "write", path="b.txt", content="x")
    folder, root = walks.home.path / "locks", walks.workspace.resolve()
    context = context_of(walks, walks.accept(node), locks=Locks(SharedLocks(folder, root, "01THIS")))
    call = Call("matrix://tool/fs/write@1.0.0", {"path": "b.txt", "content": "x"}, "write", "n1")
    with holder(folder, root, "b.txt"):
        reply = decide(call, context)
        assert isinstance(reply, Deny)
        assert (reply.code, reply.guard, reply.data["intent"]) == ("SCOPE_CONTENTION", "locks", "01OTHER")
        assert "01OTHER" in reply.reason
        assert reply.example
    assert isinstance(decide(call, context), Allow)


def test_a_path_that_another_run_takes_after_the_gate_looked_is_refused_before_the_node_begins(
    walks: Walks, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = tool("n1", "fs/write", "write", path="b.txt", content="x")
    monkeypatch.setattr(SharedLocks, "contended", lambda *_: None)  # as it was when the gate looked
    with holder(walks.home.path / "locks", walks.workspace.resolve(), "b.txt"):
        outcome = walks.go(node)
    assert outcome.state == "denied"
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.node_id) == ("SCOPE_CONTENTION", "n1")
    assert walks.watch.of("n1") == ["denied"]
    assert [body["code"] for body in walks.records("record.gate.refused")] == ["SCOPE_CONTENTION"]
    assert not (walks.workspace / "b.txt").exists()


def test_an_undo_does_not_write_where_a_run_writes(walks: Walks) -> None:
    outcome = walks.go(tool("n1", "fs/write", "write", path="b.txt", content="x"))
    with holder(walks.home.path / "locks", walks.workspace.resolve(), "b.txt"):
        with pytest.raises(ScopeError) as refused:
            undo(walks.home, outcome.intent_id)
        assert refused.value.code == "SCOPE_CONTENTION"
        assert (walks.workspace / "b.txt").read_text() == "x"
    assert undo(walks.home, outcome.intent_id).removed == ("b.txt",)


RACES = """
import sys, time
from pathlib import Path
from executor.core.errors import ScopeError
from executor.gate.locks import Locks
from executor.gate.locks import SharedLocks
folder, mark = Path(sys.argv[1]), Path(sys.argv[2])
locks, entered, met = Locks(SharedLocks(folder, Path("/work"), "01X")), 0, 0
end = time.monotonic() + 20
while entered < 30 and time.monotonic() < end:
    try:
        with locks.hold([(("a",), "write")]):
            try:
                mark.touch(exist_ok=False)
            except FileExistsError:
                met += 1
            else:
                mark.unlink()
            entered += 1
    except ScopeError:
        time.sleep(0.001)
print(entered, met)
"""


def test_of_racing_processes_never_two_are_inside(tmp_path: Path) -> None:
    arguments = [sys.executable, "-c", RACES, str(tmp_path / "locks"), str(tmp_path / "mark")]
    racers = [subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [racer.communicate(timeout=90)[0].split() for racer in racers] == [["30", "0"]] * 3


PARTS = st.lists(st.sampled_from("ab"), max_size=3).map(tuple)
PLACES = st.tuples(PARTS, st.sampled_from(["write", "add"]))


@given(PLACES, PLACES)
def test_two_places_clash_where_one_lies_in_the_other_unless_both_only_add(one: Place, other: Place) -> None:
    below = one[0][: len(other[0])] == other[0] or other[0][: len(one[0])] == one[0]
    assert clash(one, other) == clash(other, one) == (below and (one[1], other[1]) != ("add", "add"))
