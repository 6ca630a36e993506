"""Locks between runs: two never write to one path at once, and who dies holds nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from walks import NODE, Walks, Watch, context_of, parallel, sequence, tool

from executor import Allow, Call, Deny, ScopeError, WalkEvent, decide
from executor.gate.budget import Spending
from executor.gate.locks import Locks, Place, SharedLocks, clash
from executor.gate.mandate import Mandate
from executor.walker.undo.undo import undo
from ir import IntentCancelBody

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


WRITES_B = tool("n1", "fs/write", "write", path="b.txt", content="x")


def patient(walks: Walks, seconds: int) -> None:
    (walks.home.path / "policy.toml").write_text(f"lock_seconds = {seconds}\n")


def beside(walks: Walks) -> Any:
    """Another process that is writing to b.txt."""
    return holder(walks.home.path / "locks", walks.workspace.resolve(), "b.txt")


def test_a_path_that_another_run_takes_after_the_gate_looked_is_waited_for_and_the_run_rests(
    walks: Walks, monkeypatch: pytest.MonkeyPatch
) -> None:
    patient(walks, 0)
    monkeypatch.setattr(SharedLocks, "contended", lambda *_: None)  # as it was when the gate looked
    with beside(walks):
        outcome = walks.go(WRITES_B)
    assert outcome.state == "paused"
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.node_id) == ("SCOPE_CONTENTION", "n1")
    assert walks.watch.of("n1") == []
    assert {body["code"] for body in walks.records("record.gate.refused")} == {"SCOPE_CONTENTION"}
    assert not (walks.workspace / "b.txt").exists()


def test_a_run_waits_until_the_other_one_is_done(walks: Walks) -> None:
    with beside(walks) as process:
        timer = threading.Timer(1.6, process.kill)  # kill -9: the operating system frees what it held
        timer.start()
        began = time.monotonic()
        outcome = walks.go(WRITES_B)
        timer.join()
    assert (outcome.state, (walks.workspace / "b.txt").read_text()) == ("completed", "x")
    assert time.monotonic() - began > 1.5
    events = [event for event in walks.watch.events if event.node_id == "n1"]
    assert [event.state for event in events] == ["pending", "running", "completed"]
    assert "waits: the run of the intent 01OTHER is writing to 'b.txt' now" in events[0].error
    assert walks.home.journal.view(outcome.intent_id).state == "completed"


def test_what_waits_too_long_rests_and_goes_on_where_it_was(walks: Walks) -> None:
    patient(walks, 1)
    root = sequence("s", tool("a", "fs/write", "write", path="a.txt", content="x"), WRITES_B)
    with beside(walks):
        outcome = walks.go(root)
    assert (outcome.state, outcome.exit, outcome.envelope_id) == ("paused", 4, "")
    assert outcome.failure is not None
    assert outcome.failure.fix == f"go on when it is: mcl run {outcome.intent_id} --resume"
    view = walks.home.journal.view(outcome.intent_id)
    assert (view.state, dict(view.nodes)) == ("executing", {"s": "pending", "a": "completed"})
    assert walks.records("record.gate.refused")[-1]["code"] == "SCOPE_CONTENTION"
    again = walks.run(outcome.intent_id, resume=True)
    assert (again.state, (walks.workspace / "b.txt").read_text()) == ("completed", "x")
    assert walks.home.journal.verify().ok


def test_branches_beside_the_one_that_waits_go_on_to_their_end(walks: Walks) -> None:
    patient(walks, 1)
    other = sequence("t", tool("c", "time/now"), tool("d", "fs/write", "write", path="d.txt", content="x"))
    with beside(walks):
        outcome = walks.go(parallel("p", WRITES_B, other))
    assert outcome.state == "paused"
    assert dict(walks.home.journal.view(outcome.intent_id).nodes) == {
        "p": "pending",
        "t": "completed",
        "c": "completed",
        "d": "completed",
    }
    assert walks.run(outcome.intent_id, resume=True).state == "completed"


def test_a_person_may_cancel_what_waits(walks: Walks) -> None:
    intent = walks.accept(WRITES_B)

    class Cancels(Watch):
        def on(self, event: WalkEvent) -> None:
            super().on(event)
            if event.state == "pending":
                walks.tell(intent, "intent.cancel", IntentCancelBody(walks.home.clock.now()))

    with beside(walks):
        began = time.monotonic()
        outcome = walks.run(intent, listener=Cancels())
    assert outcome.state == "cancelled"
    assert time.monotonic() - began < 20
    assert not (walks.workspace / "b.txt").exists()


def test_a_deadline_ends_what_waits(walks: Walks) -> None:
    with beside(walks):
        outcome = walks.go(WRITES_B, budget={"max_time": "PT1S"})
    assert outcome.failure is not None
    assert (outcome.state, outcome.failure.code) == ("denied", "BUDGET_EXCEEDED")


def test_contention_with_others_is_no_call_that_is_refused_again_and_again(walks: Walks) -> None:
    folder, root = walks.home.path / "locks", walks.workspace.resolve()
    intent = walks.accept(WRITES_B)
    mandate = Mandate.of(walks.home.journal.view(intent))
    assert mandate is not None
    spending = Spending(mandate.intent, mandate.plan, walks.home.clock, started_at=walks.home.clock.now())
    locks = Locks(SharedLocks(folder, root, "01THIS"))
    context = context_of(walks, intent, locks=locks, spending=spending)
    call = Call("matrix://tool/fs/write@1.0.0", {"path": "b.txt", "content": "x"}, "write", "n1")
    with beside(walks):
        for _ in range(5):
            reply = decide(call, context)
            assert isinstance(reply, Deny)
            assert (reply.code, reply.passes) == ("SCOPE_CONTENTION", True)
    assert isinstance(decide(call, context), Allow)


RUNS = """
import sys
from pathlib import Path
import anyio
from executor import AlwaysApprove, Home, Walker
from mcl.catalog.tools.registry import shipped_tools
from executor import Registry

async def run(home, folder, intent):
    tools = Registry(shipped_tools())
    async with Walker(home, tools, workspace=Path(folder), people=AlwaysApprove()) as walker:
        print((await walker.run(intent)).state, flush=True)

with Home.open(Path(sys.argv[1])) as home:
    anyio.run(run, home, sys.argv[2], sys.argv[3])
"""


def test_runs_in_several_processes_that_write_one_file_all_end_well(walks: Walks) -> None:
    def lines(run: int) -> list[NODE]:
        return [
            tool(f"n{one}", "fs/append", "write", path="log.txt", content=f"{run} {one}") for one in range(8)
        ]

    intents = [walks.accept(sequence("s", *lines(run))) for run in range(3)]
    where = [str(walks.home.path), str(walks.workspace)]
    runs = [
        subprocess.Popen([sys.executable, "-c", RUNS, *where, one], stdout=subprocess.PIPE, text=True)
        for one in intents
    ]
    assert [run.communicate(timeout=120)[0] for run in runs] == ["completed\n"] * 3
    found = (walks.workspace / "log.txt").read_text().split("\n")
    assert sorted(line for line in found if line) == sorted(
        f"{run} {one}" for run in range(3) for one in range(8)
    )


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
