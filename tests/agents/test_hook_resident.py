"""The resident process behind the hooks: where it is not sound, nobody waits for it or believes it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from executor.core.clock import SystemClock
from executor.store.home import Home
from mcl.cli.main import main
from mcl.core.home import locate
from mcl.plugins.agents.hook import answer, entry, resident
from mcl.plugins.agents.hook.messages import FOLDER, SOCKET, packed, received
from mcl.plugins.agents.hook.resident import Resident, is_running
from tests.agents.conftest import Project, Written
from tests.agents.hosting import ClaudeCode

ROOT = Path(__file__).resolve().parents[2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Linux: it is asked who is at the other end")


@pytest.fixture
def governed(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A governed folder with INT-001 checked out now, its home named, and no process started by itself."""
    monkeypatch.setenv("MCL_HOME", str(project.home.path))
    monkeypatch.setenv("MCL_NO_HELPER", "1")
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    monkeypatch.delenv("CLAUDE_PROJECT_DIR", raising=False)
    project.clock.at = SystemClock().now()
    project.sign(Written("INT-001"))
    assert project.select("INT-001", "claude-code").success
    return project


@pytest.fixture
def ask(
    governed: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> Callable[..., tuple[int, str]]:
    """The hook's command in this process: an event in, exit code and decision out."""
    host = ClaudeCode(governed.home, governed.root)

    def once(tool: str, given: object, when: str = "pre") -> tuple[int, str]:
        host.calls += 1
        place = tmp_path / f"event-{host.calls}"
        place.write_text(json.dumps(host.event(when, tool, given)))
        capsys.readouterr()
        with monkeypatch.context() as patch, place.open() as stdin:
            patch.setattr(sys, "stdin", stdin)
            code = main(["hook", "pre-tool-use" if when == "pre" else "post-tool-use"])
        out = json.loads(capsys.readouterr().out or "{}")
        return code, out.get("hookSpecificOutput", {}).get("permissionDecision", "")

    return once


@contextmanager
def running(place: Path, **how: float) -> Iterator[Resident]:
    """The resident process of a home, as a thread of this one."""
    one = Resident(place, **how)
    thread = threading.Thread(target=one.serve)
    thread.start()
    _wait(lambda: _listens(place))
    try:
        yield one
    finally:
        one.end()
        thread.join(60)
        assert not thread.is_alive()


def _listens(place: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as link:
        return link.connect_ex(str(place / FOLDER / SOCKET)) == 0


def _wait(holds: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.01)


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often a process had to decide by itself."""
    times: list[int] = []
    own = answer.answer_once

    def counted(*given: object) -> object:
        times.append(1)
        return own(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(answer, "answer_once", counted)
    return times


def test_with_and_without_it_the_decisions_are_the_same(governed, ask, alone):
    root = governed.root
    calls = [
        ("Write", {"file_path": f"{root}/src/auth/x.py"}, (0, "allow")),
        ("Write", {"file_path": f"{root}/docs/x.md"}, (2, "deny")),
        ("Bash", {"command": "ls"}, (0, "allow")),
        ("Bash", {"command": "make"}, (0, "ask")),
        ("Read", {"file_path": "/etc/hostname"}, (0, "")),
        ("Write", {}, (2, "deny")),
    ]
    without = [ask(tool, given) for tool, given, _ in calls]
    assert len(alone) == len(calls)
    with running(governed.home.path):
        within = [ask(tool, given) for tool, given, _ in calls]
    assert without == within == [wanted for _, _, wanted in calls]
    assert len(alone) == len(calls), "the resident process answered"


def test_what_it_lets_through_is_traced_by_whoever_hears_of_it_afterwards(governed, ask, alone):
    place = governed.root / "src/auth/x.py"
    given = {"file_path": str(place), "content": "x"}
    with running(governed.home.path):
        assert ask("Write", given) == (0, "allow")
    place.parent.mkdir(parents=True)
    place.write_text("x")
    assert ask("Write", given, "post") == (0, "")
    assert '"file":"src/auth/x.py"' in (governed.root / ".orchestration/agent_trace.jsonl").read_text()


def test_many_at_once_are_all_answered(governed, alone):
    event = json.dumps(ClaudeCode(governed.home, governed.root).event("pre", "Bash", {"command": "ls"}))
    codes: list[int] = []
    with running(governed.home.path):
        command = [sys.executable, "-m", "mcl", "hook", "pre-tool-use"]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        started = [
            subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment)
            for _ in range(6)
        ]
        for one in started:
            codes.append(0 if b'"allow"' in one.communicate(event.encode(), timeout=60)[0] else 1)
    assert codes == [0] * 6


def test_it_ends_when_nothing_happens_and_there_is_only_one(governed):
    with running(governed.home.path) as first:
        assert is_running(governed.home.path)
        assert Resident(governed.home.path).serve() == 0  # at once: the place is taken
        first.end()
        _wait(lambda: not (governed.home.path / FOLDER / SOCKET).exists())
    assert Resident(governed.home.path, idle_s=0.0).serve() == 0
    assert not (governed.home.path / FOLDER / SOCKET).exists()
    assert not is_running(governed.home.path)


def test_it_ends_where_its_home_or_its_socket_is_another(governed, ask):
    place = governed.home.path
    for change in (
        lambda: (place / FOLDER / SOCKET).rename(place / FOLDER / "away"),
        lambda: os.utime(next((place / "keys").iterdir())),
        lambda: (shutil.copy(place / "mcl.db", place / "copy"), (place / "copy").rename(place / "mcl.db")),
    ):
        one = Resident(place)
        thread = threading.Thread(target=one.serve)
        thread.start()
        _wait(lambda: _listens(place))
        change()
        thread.join(60)
        assert not thread.is_alive()


def test_the_folder_is_its_owners_alone(governed):
    with running(governed.home.path):
        assert (governed.home.path / FOLDER).stat().st_mode & 0o777 == 0o700
        assert (governed.home.path / FOLDER / SOCKET).stat().st_mode & 0o777 == 0o600
    (governed.home.path / FOLDER).chmod(0o755)
    with pytest.raises(OSError, match="open to others"):
        Resident(governed.home.path).serve()


@contextmanager
def pretender(place: Path, said: bytes | None, *, mode: int = 0o700) -> Iterator[None]:
    """Somebody else's socket in the home. said: what is answered to whatever comes; None: nothing, ever."""
    folder = place / FOLDER
    folder.mkdir(exist_ok=True)
    folder.chmod(mode)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(folder / SOCKET))
        listening.listen()
        held: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    link = listening.accept()[0]
                except OSError:
                    return
                held.append(link)
                if said is not None:
                    with link:
                        received(link.recv)
                        link.sendall(said)

        threading.Thread(target=serve, daemon=True).start()
        yield
        listening.shutdown(socket.SHUT_RDWR)
        for link in held:
            link.close()
    (folder / SOCKET).unlink()


ALLOWED = packed([b"answer", b"0", b'{"hookSpecificOutput": {"permissionDecision": "allow"}}', b""])


UNSOUND = [
    None,
    b"",
    b"\xff\xff\xff\xff",
    packed([b"another"]),
    packed([b"answer", b"x", b"{}", b""]),
    ALLOWED[:30],
    packed([b"answer", b"0", b"\xff", b""]),
    packed([b"a"] * 90),
    b"HTTP/1.1 200 OK\r\n\r\n",
]


def test_whoever_gets_no_sound_answer_decides_alone(governed, ask, alone, monkeypatch):
    monkeypatch.setattr(entry, "ASK_S", 0.1)
    for said in UNSOUND:
        with pretender(governed.home.path, said):
            assert ask("Bash", {"command": "ls"}) == (0, "allow"), said
            assert ask("Read", {"file_path": str(governed.root / ".env")}) == (0, "ask"), said
    assert len(alone) == 2 * len(UNSOUND)


def test_a_socket_that_others_could_have_put_there_is_not_asked(governed, ask, alone, tmp_path):
    denied = ("Write", {"file_path": f"{governed.root}/docs/x.md"})
    with pretender(governed.home.path, ALLOWED, mode=0o755):
        assert ask(*denied) == (2, "deny")
    folder = governed.home.path / FOLDER
    shutil.rmtree(folder)
    with pretender(tmp_path, ALLOWED):
        folder.symlink_to(tmp_path / FOLDER)
        assert ask(*denied) == (2, "deny")
        folder.unlink()
        folder.mkdir(mode=0o700)
        (folder / SOCKET).symlink_to(tmp_path / FOLDER / SOCKET)
        assert ask(*denied) == (2, "deny")
    (folder / SOCKET).unlink()
    (folder / SOCKET).write_text("no socket")
    assert ask(*denied)[0] == 2
    assert len(alone) == 4


def test_a_socket_that_a_dead_process_left_is_in_nobodys_way(governed, ask, alone):
    folder = governed.home.path / FOLDER
    folder.mkdir(mode=0o700)
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(folder / SOCKET))
    assert ask("Bash", {"command": "ls"}) == (0, "allow")
    with running(governed.home.path):
        assert ask("Bash", {"command": "ls"}) == (0, "allow")
    assert alone == [1]


def test_what_comes_over_the_socket_is_no_more_trusted(governed):
    frames = [
        b"",
        b"\xff\xff\xff\xff",
        packed([b"x"]),
        packed([b"mcl-hook-1"] + [b""] * 6),
        b"\x00\x00\x00\x09abc",
    ]
    with running(governed.home.path):
        for frame in frames:
            with socket.socket(socket.AF_UNIX) as link:
                link.connect(str(governed.home.path / FOLDER / SOCKET))
                link.sendall(frame)
                link.shutdown(socket.SHUT_WR)
                link.settimeout(60)
                assert b'"allow"' not in link.recv(1 << 16)


def test_a_decision_that_takes_too_long_is_a_refusal_before_and_nothing_after(governed, ask, monkeypatch):
    monkeypatch.setattr(entry, "JUDGE_S", 0.1)
    monkeypatch.setattr(answer, "answer_once", lambda *given: time.sleep(0.5))
    assert ask("Bash", {"command": "ls"})[0] == 2
    assert ask("Bash", {"command": "ls"}, "post")[0] == 0


def test_a_fault_of_ours_is_a_refusal_before_and_nothing_after(governed, ask, monkeypatch):
    for fault in (RuntimeError("x"), MemoryError(), KeyboardInterrupt(), SystemExit(0)):

        def fails(*given: object, fault: BaseException = fault) -> None:
            raise fault

        monkeypatch.setattr(answer, "answer_once", fails)
        assert ask("Bash", {"command": "ls"})[0] == 2, fault
        assert ask("Bash", {"command": "ls"}, "post")[0] == 0, fault


def test_a_home_that_cannot_be_read_refuses_and_none_decides_nothing(governed, ask, monkeypatch, tmp_path):
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "none"))
    assert ask("Write", {"file_path": f"{governed.root}/docs/x.md"}) == (0, "")
    assert not (tmp_path / "none").exists()
    (tmp_path / "none").mkdir()
    (tmp_path / "none/mcl.db").write_text("no database")
    assert ask("Write", {"file_path": f"{governed.root}/docs/x.md"})[0] == 2


def test_where_the_home_is_the_hook_knows_as_every_command_does(monkeypatch, tmp_path):
    for name, value in (
        ("MCL_HOME", str(tmp_path)),
        ("MCL_HOME", "~/x"),
        ("MCL_HOME", "relative"),
        ("MCL_HOME", ""),
        ("XDG_DATA_HOME", str(tmp_path)),
        ("XDG_DATA_HOME", ""),
    ):
        monkeypatch.delenv("MCL_HOME", raising=False)
        monkeypatch.setenv(name, value)
        assert entry._home() == str(locate())


# ---- with real processes ----


def mcl(project: Project, event: str, **environment: str) -> tuple[int, str]:
    """The hook as a host starts it."""
    own = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "MCL_HOME": str(project.home.path)}
    done = subprocess.run(
        [sys.executable, "-m", "mcl", "hook", "pre-tool-use"],
        input=event.encode(),
        capture_output=True,
        cwd=project.root,  # Python would load modules from the current folder first
        env={**own, **environment},
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout.decode()


def residents(place: Path) -> list[int]:
    """The resident processes of a home."""
    found = []
    for one in Path("/proc").iterdir():
        if one.name.isdigit():
            try:
                words = (one / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if os.fsencode(place) in words and any(b"hook.resident" in word for word in words):
                found.append(int(one.name))
    return found


@pytest.mark.slow
def test_it_starts_by_itself_and_again_when_it_was_killed(governed):
    place = governed.home.path
    event = json.dumps(ClaudeCode(governed.home, governed.root).event("pre", "Bash", {"command": "ls"}))
    try:
        for _ in range(2):
            # Several at once find none, and all start one.
            many = [threading.Thread(target=mcl, args=(governed, event)) for _ in range(3)]
            for one in many:
                one.start()
            for one in many:
                one.join()
            _wait(lambda: _listens(place))
            _wait(lambda: len(residents(place)) == 1)
            (pid,) = residents(place)
            environment = Path(f"/proc/{pid}/environ").read_bytes()
            assert b"MCL_HOME" not in environment
            assert b"PYTHONPATH" not in environment
            assert os.getsid(pid) == pid
            assert mcl(governed, event) == mcl(governed, event, MCL_NO_HELPER="1")
            os.kill(pid, signal.SIGKILL)
            _wait(lambda: not residents(place))
            code, out = mcl(governed, event, MCL_NO_HELPER="1")
            assert (code, '"allow"' in out) == (0, True)
    finally:
        for pid in residents(place):
            os.kill(pid, signal.SIGKILL)


@pytest.mark.slow
def test_it_makes_room_for_new_code(governed, tmp_path):
    place, code = governed.home.path, tmp_path / "code"
    for package in ("ir", "executor", "mcl", "grammars", "skills"):
        shutil.copytree(
            ROOT / package, code / package, ignore=shutil.ignore_patterns("__pycache__", "*.gguf")
        )
    event = json.dumps(ClaudeCode(governed.home, governed.root).event("pre", "Bash", {"command": "ls"}))
    try:
        assert mcl(governed, event, PYTHONPATH=str(code))[0] == 0
        _wait(lambda: len(residents(place)) == 1 and _listens(place))
        (first,) = residents(place)
        assert mcl(governed, event)[0] == 0  # of another installation: it decides alone
        assert residents(place) == [first]
        with (code / "mcl/plugins/agents/guard/judge.py").open("a") as file:
            file.write("# newer\n")
        assert mcl(governed, event, PYTHONPATH=str(code), MCL_NO_HELPER="1")[0] == 0
        _wait(lambda: first not in residents(place))
    finally:
        for pid in residents(place):
            os.kill(pid, signal.SIGKILL)


def test_a_hung_process_ends_itself(governed, monkeypatch):
    ended: list[int] = []
    monkeypatch.setattr(resident, "HUNG_S", 0.05)
    monkeypatch.setattr(resident.os, "_exit", lambda code: ended.append(code))
    with running(governed.home.path) as one:
        one._since = time.monotonic()
        _wait(lambda: bool(ended))
        one._since = 0.0
    assert ended[0] == 1


def test_the_hook_imports_next_to_nothing(governed):
    event = json.dumps(ClaudeCode(governed.home, governed.root).event("pre", "Bash", {"command": "ls"}))
    script = (
        "import sys\nfrom mcl.cli.main import main\ncode = main(['hook', 'pre-tool-use'])\n"
        "heavy = 'typing json pathlib re pydantic typer ir executor sqlite3 subprocess'.split()\n"
        "sys.stderr.write(' '.join(sorted(set(heavy) & set(sys.modules))))\nsys.exit(code)"
    )
    with running(governed.home.path):
        done = subprocess.run(
            [sys.executable, "-S", "-c", script],
            input=event.encode(),
            capture_output=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stderr.decode()) == (0, "")
    assert b'"allow"' in done.stdout


def test_an_open_home_of_somebody_else_does_not_keep_it_waiting(governed, ask):
    with running(governed.home.path), Home.open(governed.home.path) as other:
        assert ask("Bash", {"command": "ls"}) == (0, "allow")
        assert other.journal.size() > 0
