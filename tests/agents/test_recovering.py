"""A server that was killed between a write and its line of the trace: whoever comes next writes the line."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from offices import Agent, Office

from executor.store.home import Home
from mcl.cli.main import main
from mcl.core.home import open_home
from mcl.plugins.agents import governance as writing
from mcl.plugins.agents.trace.line import TraceLine
from mcl.plugins.agents.usecases import trace_work
from mcl.plugins.agents.writes import callers as recovering
from mcl.plugins.agents.writes.callers import Callers, recover
from tests.agents.hosting import ClaudeCode

AUTH = {"id": "INT-001", "name": "Auth", "owned_scope": ["src/**"]}


@pytest.fixture
def office(tmp_path: Path) -> Iterator[Office]:
    root = (tmp_path / "work").resolve()
    root.mkdir()
    with ExitStack() as stack:
        home = stack.enter_context(open_home(tmp_path / "home"))
        office = Office(home, root, stack, stack.enter_context(start_blocking_portal()))
        office.sign(AUTH)
        yield office


def working(office: Office) -> Agent:
    agent = office.serve(agent="one").agent("claude-code")
    agent.call("select_active_intent", intent_id="INT-001")
    return agent


def lines(office: Office, home: Home | None = None) -> list[TraceLine]:
    found = trace_work(root=office.root, home=home or office.home)
    assert found.report.ok
    return list(found.report.lines)


def hash_of(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def killed_while_writing(office: Office, monkeypatch: pytest.MonkeyPatch, where: str = "_traced") -> None:
    """A write whose process is gone before the line was signed: before anything of it was noted, or after."""
    agent = working(office)
    agent.write("src/a.py", "one\n")
    with monkeypatch.context() as patch:
        patch.setattr(writing, where, lambda *args, **named: None)
        agent.write("src/a.py", "one\ntwo\n")
    assert [line.change.after for line in lines(office)] == [hash_of("one\n")]
    assert recover(office.home, office.root, Callers(office.home)) == ()  # it lives, and may go on
    office.face._session.folders.close()  # as the system does it


@pytest.mark.parametrize("where", ["_traced", "trace_writes"])
def test_the_next_server_signs_the_line_of_one_that_was_killed_once(office, monkeypatch, where) -> None:
    killed_while_writing(office, monkeypatch, where)
    for _ in range(2):
        office.serve(agent="one")
    first, second = lines(office)
    change = second.change
    assert (change.recovered, first.change.recovered) == (True, False)
    assert (change.label, change.tool, change.agent) == ("INT-001", "mcl:fs/write", "one")
    assert (change.before, change.after) == (hash_of("one\n"), hash_of("one\ntwo\n"))
    assert change.lines == ((2, 2),)
    assert second.prev == first.hash
    assert trace_work(root=office.root, home=office.home).unended == ()


def test_the_next_call_by_either_door_signs_it_first(office, monkeypatch, capsys) -> None:
    killed_while_writing(office, monkeypatch)
    host = ClaudeCode(office.home, office.root)
    host.read(office.root / "src/a.py")
    assert host.write(office.root / "src/a.py", "three\n").verdict == "allow"
    changes = [line.change for line in lines(office)]
    assert [(one.recovered, one.after) for one in changes] == [
        (False, hash_of("one\n")),
        (True, hash_of("one\ntwo\n")),
        (False, hash_of("three\n")),
    ]
    assert changes[2].before == changes[1].after
    monkeypatch.setenv("MCL_HOME", str(office.home.path))
    monkeypatch.chdir(office.root)
    assert main(["work", "trace"]) == 0
    assert capsys.readouterr().out.count("recovered") == 1


def test_open_calls_of_the_living_keep_no_dead_one_waiting(office, monkeypatch) -> None:
    monkeypatch.setattr(recovering, "_MOST", 1)
    agent = working(office)
    with monkeypatch.context() as patch:
        patch.setattr(writing, "_traced", lambda *args, **named: None)
        agent.write("src/b.py", "one\n")
        agent.call("release_active_intent")
        living = office.face
        working(office).write("src/a.py", "one\n")
    assert office.face is not living
    office.face._session.folders.close()
    (line,) = recover(office.home, office.root, Callers(office.home))
    assert (line.change.file, line.change.recovered) == ("src/a.py", True)


def test_of_a_killed_call_that_had_written_nothing_there_is_no_line(office, monkeypatch) -> None:
    agent = working(office)
    agent.write("src/a.py", "one\n")
    monkeypatch.setattr(writing, "_traced", lambda *args: None)
    agent.write("src/a.py", "one\n")
    office.face._session.folders.close()
    assert recover(office.home, office.root, Callers(office.home)) == ()
    assert len(lines(office)) == 1
    assert office.home.db.read("SELECT count(*) FROM agent_kept") == [(0,)]


def test_what_others_traced_since_is_not_told_as_the_killed_calls(office, monkeypatch) -> None:
    killed_while_writing(office, monkeypatch)
    monkeypatch.setattr("mcl.plugins.agents.guard.judge.recover", lambda *args: ())
    host = ClaudeCode(office.home, office.root)
    host.read(office.root / "src/a.py")
    assert host.write(office.root / "src/a.py", "three\n").verdict == "allow"
    (line,) = recover(office.home, office.root, Callers(office.home))
    assert (line.change.before, line.change.after) == (hash_of("one\n"), hash_of("one\ntwo\n"))


def test_of_many_that_find_a_killed_call_at_once_one_signs_it(office, monkeypatch) -> None:
    killed_while_writing(office, monkeypatch)
    found: list[int] = []
    together = threading.Barrier(4)

    def one() -> None:
        with open_home(office.home.path) as home:
            together.wait()
            found.append(len(recover(home, office.root, Callers(home))))

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [0, 0, 0, 1]
    assert [line.change.recovered for line in lines(office)] == [False, True]


def test_a_caller_counts_as_gone_when_its_process_is_killed(office, tmp_path) -> None:
    script = (
        "import sys\nfrom pathlib import Path\nfrom mcl.core.home import open_home\n"
        "from mcl.plugins.agents.writes.callers import Callers\n"
        "home = open_home(Path(sys.argv[1]))\nprint(Callers(home).name, flush=True)\nsys.stdin.read()\n"
    )
    command = [sys.executable, "-c", script, str(office.home.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        name, callers = other.stdout.readline().strip(), Callers(office.home)
        assert callers.lives(name)
        assert callers.lives(callers.name)
        other.kill()
        other.wait()
        assert not callers.lives(name)
        assert not callers.lives(name)
        assert [one.name for one in (office.home.path / "callers").iterdir()] == [callers.name]
