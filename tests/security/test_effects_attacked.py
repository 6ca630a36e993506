"""What has happened and what happens beside us: undo led astray, commands that pry, flood and hide."""

from __future__ import annotations

import ctypes
import json
import os
import sys
import tracemalloc
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import pytest
from walks import Walks, sequence, tool

from executor import Grants
from executor.sandbox.process import Finished, run_command
from executor.walker.undo.undo import undo
from ir import IntentCancelBody, MclError

SECRET = "the-secret-outside"


# ---- undo -------------------------------------------------------------------------------------------------


def wrote(walks: Walks) -> str:
    """An intent that has changed two files."""
    walks.write("deep/a.txt", "before\n")
    outcome = walks.go(
        sequence(
            "n0",
            tool("n1", "fs/append", "write", path="deep/a.txt", content="after"),
            tool("n2", "fs/write", "write", path="deep/new.txt", content="new"),
        )
    )
    assert outcome.failure is None, outcome.failure
    return outcome.intent_id


def link(walks: Walks) -> None:
    outside = walks.workspace.parent / "outside"
    (outside / "a.txt").write_text((walks.workspace / "deep/a.txt").read_text())
    (walks.workspace / "deep/a.txt").unlink()
    (walks.workspace / "deep/a.txt").symlink_to(outside / "a.txt")


def hard_link(walks: Walks) -> None:
    outside = walks.workspace.parent / "outside/a.txt"
    os.link(walks.workspace / "deep/a.txt", outside)


def linked_folder(walks: Walks) -> None:
    outside = walks.workspace.parent / "outside"
    (walks.workspace / "deep").rename(outside / "deep")
    (walks.workspace / "deep").symlink_to(outside / "deep")


def pipe(walks: Walks) -> None:
    (walks.workspace / "deep/a.txt").unlink()
    os.mkfifo(walks.workspace / "deep/a.txt")


def new_file_is_a_link(walks: Walks) -> None:
    outside = walks.workspace.parent / "outside/new.txt"
    outside.write_text("new")
    (walks.workspace / "deep/new.txt").unlink()
    (walks.workspace / "deep/new.txt").symlink_to(outside)


@pytest.mark.parametrize("swap", [link, hard_link, linked_folder, pipe, new_file_is_a_link])
def test_an_undo_follows_nothing_that_was_put_in_the_way(walks: Walks, swap: Callable[[Walks], None]) -> None:
    intent = wrote(walks)
    swap(walks)
    outside = walks.workspace.parent / "outside"
    before = {str(one): one.read_text() for one in outside.rglob("*") if one.is_file()}
    with pytest.raises(MclError) as caught:
        undo(walks.home, intent)
    assert caught.value.code in ("CHANGED_SINCE", "OUT_OF_SCOPE")
    assert {str(one): one.read_text() for one in outside.rglob("*") if one.is_file()} == before


@pytest.mark.parametrize(
    "path", ["../outside/secret.txt", "/etc/hosts", ".git/config", ".env", "a\0b", "link/secret.txt"]
)
def test_a_record_that_names_a_place_outside_undoes_nothing_there(walks: Walks, path: str) -> None:
    """Signed by the agent's own key: what a program that holds it could write into the journal."""
    (walks.workspace / "link").symlink_to(walks.workspace.parent / "outside")
    intent = wrote(walks)
    kept = next(one for one in walks.records("record.undo.kept") if one["files"])
    entry = {**kept["files"][0], "path": path}
    row = walks.home.journal.record(
        "record.undo.kept", {**kept, "node": "n9", "files": [entry]}, intent=intent
    )
    left = {"of": row.id, "files": [{"path": path, "is": "absent"}], "folders": [], "uncovered": []}
    walks.home.journal.record("record.undo.left", left, intent=intent)
    with pytest.raises(MclError):
        undo(walks.home, intent)
    assert (walks.workspace.parent / "outside/secret.txt").read_text() == SECRET
    assert [one.name for one in (walks.workspace.parent / "outside").iterdir()] == ["secret.txt"]
    assert not (walks.workspace / ".env").exists()


# ---- commands ---------------------------------------------------------------------------------------------


def ended(code: str, environment: Mapping[str, str] | None = None, limit: int = 1000) -> Finished:
    async def go() -> Finished:
        return await run_command(
            [sys.executable, "-c", code], cwd=Path("/"), environment=environment or {}, max_output=limit
        )

    return anyio.run(go)


def test_a_flood_on_both_pipes_takes_no_memory_and_loses_no_end() -> None:
    code = (
        "import os, threading\n"
        "def flood(fd):\n"
        "    for _ in range(1600): os.write(fd, b'x' * 65536)\n"
        "    os.write(fd, b'END')\n"
        "two = [threading.Thread(target=flood, args=(fd,)) for fd in (1, 2)]\n"
        "[one.start() for one in two]; [one.join() for one in two]\n"
    )
    tracemalloc.start()
    found = ended(code)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (found.status, found.truncated, len(found.out), len(found.err)) == (0, True, 1000, 1000)
    assert peak < 4 << 20


def test_a_command_inherits_no_descriptor_no_variable_and_no_terminal(tmp_path: Path) -> None:
    held = os.open(tmp_path, os.O_RDONLY)
    os.set_inheritable(held, True)
    code = (
        "import os, json\n"
        "print(json.dumps([sorted(map(int, os.listdir('/proc/self/fd')))[:9], sorted(os.environ),"
        " os.getsid(0) == os.getpid()]))\n"
    )
    try:
        descriptors, variables, own = json.loads(ended(code, {"LC_ALL": "C"}).out)
    finally:
        os.close(held)
    assert held not in descriptors
    assert set(variables) <= {"LC_ALL", "LC_CTYPE"}
    assert own is True


@pytest.mark.skipif(sys.platform != "linux", reason="Linux: /proc, to read them from")
def test_a_command_without_bubblewrap_does_not_read_our_variables_or_memory() -> None:
    libc = ctypes.CDLL(None)
    libc.prctl(4, 1, 0, 0, 0)  # as a process begins: others of this user may look into it
    found = ended(
        "import os\n"
        "for name in ('environ', 'mem', 'maps'):\n"
        "    try: print(open(f'/proc/{os.getppid()}/{name}', 'rb').read(1) and name)\n"
        "    except OSError: pass\n"
    )
    assert libc.prctl(3, 0, 0, 0, 0) == 0  # nobody may, but root
    if os.getuid():
        assert found.out == b""


PRIES = """
import os, pathlib, signal
def read(place):
    try:
        return pathlib.Path(place).read_bytes()
    except OSError:
        return b""
def test_pries():
    seen = b"".join(read(f"/proc/{one}/{name}") for one in os.listdir("/proc") if one.isdigit()
                    for name in ("environ", "cmdline", "cwd/.env", "root/etc/hostname"))
    seen += read("/proc/1/root" + HOME) + read(HOME) + read("/proc/self/root" + HOME)
    pathlib.Path("seen").write_bytes(seen)
    for number in range(2, 400):
        try:
            os.kill(number, 0)
            pathlib.Path("alive").open("a").write(f"{number} ")
        except OSError:
            pass
"""


def test_a_confined_command_sees_neither_our_variables_nor_our_keys_nor_our_processes(
    walks: Walks, sandboxed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "hunter2hunter2hunter2")
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    grants.grant(agent, ["shell"])
    walks.write("test_it.py", f"HOME = {str(walks.home.path / 'keys/user.json')!r}\n{PRIES}")
    outcome: Any = walks.go(tool("n1", "process/tests", "shell"), verb="build")
    assert outcome.outputs["n1"]["passed"] is True, outcome
    seen = (walks.workspace / "seen").read_bytes()
    assert b"hunter2hunter2" not in seen
    assert b"seed" not in seen
    alive = (walks.workspace / "alive").read_text() if (walks.workspace / "alive").exists() else ""
    assert len(alive.split()) < 20


def test_an_artifact_without_end_holds_up_nobody_who_cancels(walks: Walks) -> None:
    """Its hash would take an hour; the run is still the person's to stop."""
    with (walks.workspace / "report.md").open("wb") as file:
        file.truncate(1 << 42)
    criteria = [{"type": "delivered", "artifact": "report.md"}]
    intent = walks.accept(tool("n1", "time/now"), verb="find", criteria=criteria)

    async def go() -> Any:
        async with walks.walker() as walker, anyio.create_task_group() as tasks:

            async def cancel() -> None:
                while walks.home.journal.view(intent).nodes.get("n1") != "completed":
                    await anyio.sleep(0.01)
                walks.tell(intent, "intent.cancel", IntentCancelBody(walks.home.clock.now()))

            tasks.start_soon(cancel)
            return await walker.run(intent)

    assert anyio.run(go).state == "cancelled"
