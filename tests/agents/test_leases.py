"""Leases: one holder for each piece of work, whoever asks at the same moment, and until when."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from executor.core.errors import PolicyError
from executor.store.home import Home
from executor.store.journal.rows import Message
from mcl.core.errors import WorkError
from mcl.plugins.agents.work.leases import BoundCheckouts, Lease, Leases
from mcl.plugins.agents.work.store import SignedWork
from tests.agents.conftest import Project, SetClock, Written

ROOT = Path(__file__).resolve().parents[2]
TWO = (Written("INT-001"), Written("INT-002", "Write it down", scope=("docs/**",)))


def renew(project: Project, agent: str) -> Lease | None:
    """What an agent holds, renewed; None where it holds nothing."""
    held = project.leases.held(project.root, agent)
    return project.leases.renew(held) if held is not None else None


def test_agents_work_side_by_side_on_different_files(project: Project) -> None:
    project.sign(*TWO)
    assert project.select("INT-001", "one").success
    assert project.select("INT-002", "two").success
    held = project.leases.all(project.root)
    assert [(lease.label, lease.agent) for lease in held] == [("INT-001", "one"), ("INT-002", "two")]
    assert held[0].number < held[1].number


def test_a_lease_that_nobody_renews_expires_and_is_taken_over(project: Project) -> None:
    project.sign(*TWO)
    project.select("INT-001", "one")
    first = project.leases.held(project.root, "one")
    assert first is not None
    project.clock.later(minutes=14)
    assert project.select("INT-001", "two").code == "LEASED"
    project.clock.later(minutes=1)  # to the very moment
    assert project.leases.held(project.root, "one") is None
    assert renew(project, "one") is None
    assert project.select("INT-001", "two").success
    second = project.leases.held(project.root, "two")
    assert second is not None
    assert second.number > first.number
    assert project.leases.release(project.root, "one") is None
    assert project.leases.held(project.root, "two") == second


def test_a_clock_that_is_set_back_keeps_no_work_with_an_agent_that_died(project: Project) -> None:
    project.sign(*TWO)
    project.select("INT-001", "one")
    project.clock.later(minutes=-10)  # a little: it holds
    assert project.leases.held(project.root, "one") is not None
    assert project.select("INT-001", "two").code == "LEASED"
    project.clock.later(minutes=-600)
    assert project.leases.held(project.root, "one") is None
    assert renew(project, "one") is None
    assert project.leases.all(project.root) == ()
    assert project.select("INT-001", "two").success
    assert project.select("INT-002", "one").success
    assert [lease.agent for lease in project.leases.all(project.root)] == ["two", "one"]


def test_whoever_lost_a_lease_may_check_out_again(project: Project) -> None:
    project.sign(*TWO)
    project.select("INT-001", "one")
    project.clock.later(minutes=20)
    assert project.select("INT-002", "one").success
    assert [lease.label for lease in project.leases.all(project.root)] == ["INT-002"]
    assert project.select("INT-001", "two").success


def test_a_call_renews_a_lease_once_a_third_of_its_time_has_gone(project: Project) -> None:
    project.sign(*TWO)
    project.select("INT-001", "one")
    project.clock.later(minutes=4.9)
    stamp = project.home.db.stamp("work")
    kept = renew(project, "one")
    assert kept is not None
    assert (kept.expires_at, project.home.db.stamp("work")) == ("2026-11-21T10:15:00.000Z", stamp)
    project.clock.later(minutes=0.2)
    renewed = renew(project, "one")
    assert renewed is not None
    assert renewed.expires_at == "2026-11-21T10:20:06.000Z"
    assert renewed.number == kept.number


def test_the_operator_says_how_long_a_lease_holds(project: Project) -> None:
    project.sign(*TWO)
    policy = project.home.path / "policy.toml"
    policy.write_text("[agents]\nlease_minutes = 1\n")
    assert project.select("INT-001").expires_at == "2026-11-21T10:01:00.000Z"
    for wrong in ("lease_minutes = 0", "lease_minutes = 1441", 'lease_minutes = "15"', "other = 1"):
        policy.write_text(f"[agents]\n{wrong}\n")
        with pytest.raises(PolicyError, match="agents"):
            renew(project, "one")


@pytest.mark.parametrize("ended", ["cancelled", "blocked", "released"])
def test_the_gate_is_told_of_no_checkout_once_it_has_ended(project: Project, ended: str) -> None:
    project.sign(*TWO)
    bound = BoundCheckouts(project.work, project.leases, project.root, "one")
    assert (bound.governed(), bound.held(), bound.labels()) == (True, None, ("INT-001", "INT-002"))
    project.select("INT-001", "one")
    held = bound.held()
    assert held is not None
    assert (held.label, held.agent, held.intent_id) == ("INT-001", "one", project.item().intent_id)
    assert held.scope.matches("src/auth/token.py")
    assert not held.scope.matches("docs/auth.md")
    assert bound.owners("docs/auth.md") == ("INT-002",)
    if ended == "cancelled":
        from mcl.usecases.intents import cancel

        cancel(held.intent_id, home=project.home)
    elif ended == "released":
        project.leases.release(project.root, "one")
    else:
        project.clock.later(minutes=16)
        project.sign(Written(status="BLOCKED"), TWO[1])
    assert bound.held() is None


# ---- several processes ----

# Opens the home, says it is ready, waits for a line, checks out what its arguments say.
RACER = """
import sys
from pathlib import Path
from mcl.plugins.agents.usecases import select_work
from mcl.core.home import open_home
home = open_home(Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
done = select_work(sys.argv[4], agent=sys.argv[3], root=Path(sys.argv[2]), home=home)
print(done.code or "had", flush=True)
"""
# Checks out, and then neither ends nor renews; or is stopped within the transaction.
HOLDER = """
import sys, time
from pathlib import Path
from mcl.plugins.agents.work.leases import Leases
from mcl.plugins.agents.work.store import SignedWork
from mcl.plugins.agents.work.store import SignedWork
from mcl.core.home import open_home
home = open_home(Path(sys.argv[1]))
work = SignedWork(home)
item = work.item(sys.argv[2], "INT-001")
with home.db.write():
    Leases(home, work).select(sys.argv[2], item, "holder")
    if sys.argv[3] == "within":
        print("has it", flush=True)
        time.sleep(60)
print("has it", flush=True)
time.sleep(60)
"""


@contextmanager
def started(script: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    assert process.stderr is not None
    said = process.stdout.readline().strip()
    assert said, process.stderr.read()
    return said


def race(project: Project, *wishes: tuple[str, str]) -> list[str]:
    """What becomes of (agent, label), each wished for in a process of its own at the same moment."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        runners = [
            stack.enter_context(started(RACER, str(project.home.path), str(project.root), agent, label))
            for agent, label in wishes
        ]
        assert [line(one) for one in runners] == ["ready"] * len(runners)
        for one in runners:
            assert one.stdin is not None
            one.stdin.write("go\n")
            one.stdin.flush()
        return [line(one) for one in runners]


def test_of_processes_that_want_the_same_work_one_has_it(project: Project) -> None:
    project.sign(*TWO)
    said = race(project, ("a", "INT-001"), ("b", "INT-001"), ("c", "INT-001"))
    assert sorted(said) == ["LEASED", "LEASED", "had"]
    selected = project.home.journal.rows(project.item().intent_id, kind="record.work.selected")
    assert len(selected) == 1
    assert project.home.journal.verify().ok


@pytest.mark.slow
def test_of_many_processes_none_loses_what_it_has_and_no_two_share_files(project: Project) -> None:
    project.sign(
        *(Written(f"INT-{n:03}", scope=(f"src/{n}/**",)) for n in range(1, 5)),
        Written("INT-009", scope=("src/**",)),
    )
    wishes = [(f"agent-{n}", f"INT-00{1 + n % 4}") for n in range(8)]
    said = race(project, *wishes, ("greedy", "INT-009"), ("agent-0", "INT-004"))
    assert set(said) <= {"had", "LEASED", "SCOPE_OVERLAP", "INTENT_ALREADY_ACTIVE"}
    with Home.open(project.home.path) as home:
        held = Leases(home).all(project.root)
        numbers = [lease.number for lease in held]
        assert len(set(numbers)) == len(numbers) == said.count("had")
        assert len({lease.agent for lease in held}) == len(held)
        scopes = [project.item(lease.label).checkout_scope for lease in held]
        assert not any(
            one.meeting(other) for place, one in enumerate(scopes) for other in scopes[place + 1 :]
        )
        assert home.journal.verify().ok
    text = project.file.read_text()  # each of them edited it
    assert text.count("status: IN_PROGRESS") == len(held)


@pytest.mark.parametrize("stopped", ["after", "within"])
def test_what_a_killed_agent_had_is_free_at_once_or_when_its_lease_expires(
    project: Project, stopped: str
) -> None:
    project.sign(*TWO)
    with started(HOLDER, str(project.home.path), str(project.root), stopped) as holder:
        assert line(holder) == "has it"
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
    now = SetClock(time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()))
    with Home.open(project.home.path, clock=now) as home:
        other = Project(project.root, home, now)
        if stopped == "within":  # it was never committed
            assert other.leases.all(project.root) == ()
        else:
            assert other.select("INT-001", "two").code == "LEASED"
            now.later(minutes=16)
        assert other.select("INT-001", "two").success
        assert [lease.agent for lease in other.leases.all(project.root)] == ["two"]


def test_an_error_after_the_lease_leaves_neither_lease_nor_record(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.sign(*TWO)
    size = project.home.journal.size()

    def full(*_: object) -> None:
        raise WorkError("DISK", "full")

    monkeypatch.setattr(project.home.journal, "append_many", full)
    assert not project.select("INT-001").success
    assert project.leases.all(project.root) == ()
    kept = [row.kind for row in project.home.journal.rows() if row.seq > size]
    assert [kind for kind in kept if kind.startswith("record.work.")] == ["record.work.refused"]
    assert project.item().status == "DRAFT"


def test_what_agents_wrote_is_not_read_again_at_each_call(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.sign(*TWO)
    project.select("INT-001", "one")
    bound = BoundCheckouts(project.work, project.leases, project.root, "one")
    assert bound.held() is not None
    intent = project.item().intent_id
    for number in range(20):
        project.home.journal.record("record.agent.wrote", {"number": number}, intent=intent)
    opened, plain = list[bytes](), project.home.journal.open

    def counting(wire: bytes) -> Message:
        opened.append(wire)
        return plain(wire)

    monkeypatch.setattr(project.home.journal, "open", counting)
    assert bound.held() is not None
    assert opened == []
    cold = BoundCheckouts(SignedWork(project.home), project.leases, project.root, "one")
    assert cold.held() is not None
    assert len(opened) == 6  # what counts for the folder, draft, Intent, accept, and two statuses
