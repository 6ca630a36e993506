"""Tools that add to files, search, watch and read tables, in folders made to lead them astray."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from walks import NODE, Walks, tool

from executor import ScopeError, Workspace

SECRET = "the-secret-outside"
EVERY = {
    "append": tool("n1", "fs/append", "write", path="x", content="owned"),
    "summary": tool("n1", "data/summary", path="x"),
    "chart": tool("n1", "data/chart", "write", path="x", out="c.svg"),
    "calendar add": tool("n1", "calendar/add", "write", path="x", title="owned", start="2026-01-01"),
    "calendar list": tool("n1", "calendar/list", path="x"),
}


def refused(walks: Walks, node: NODE, *codes: str) -> None:
    outcome = walks.go(node)
    assert outcome.failure is not None
    assert outcome.failure.code in codes, outcome.failure
    assert SECRET not in str(outcome.to_json())


@pytest.mark.parametrize("node", EVERY.values(), ids=EVERY)
@pytest.mark.parametrize("kind", ["link", "hard link", "dangling link", "FIFO", "socket"])
def test_what_is_no_plain_file_is_neither_read_nor_written(walks: Walks, node: NODE, kind: str) -> None:
    outside, place = walks.workspace.parent / "outside/secret.txt", walks.workspace / "x"
    if kind == "link":
        place.symlink_to(outside)
    elif kind == "hard link":
        os.link(outside, place)
    elif kind == "dangling link":
        place.symlink_to(outside.with_name("made-by-you"))
    elif kind == "FIFO":
        os.mkfifo(place)
    else:
        import socket

        folder = os.open(walks.workspace, os.O_RDONLY)  # a short name: the path of a test is too long for one
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(f"/proc/self/fd/{folder}/x")
        os.close(folder)
    refused(walks, node, "OUT_OF_SCOPE")
    assert outside.read_text() == SECRET
    assert [one.name for one in outside.parent.iterdir()] == ["secret.txt"]


def test_defaults_are_paths_like_any_other(walks: Walks) -> None:
    outside = walks.workspace.parent / "outside"
    (walks.workspace / "reminders.ics").symlink_to(outside / "secret.txt")
    (walks.workspace / "tasks").symlink_to(outside)
    refused(walks, tool("n1", "calendar/add", "write", title="owned", start="2026-01-01"), "OUT_OF_SCOPE")
    refused(walks, tool("n1", "calendar/list"), "OUT_OF_SCOPE")
    refused(walks, tool("n1", "task/assign", "write", assignee="ada", task="owned"), "OUT_OF_SCOPE")
    assert [one.name for one in outside.iterdir()] == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == SECRET


@pytest.mark.parametrize("git", [False, True])
def test_a_search_and_a_look_at_changes_pass_all_of_it_over(walks: Walks, git: bool) -> None:
    outside = walks.workspace.parent / "outside"
    if git:
        walks.git("init", "-q")
    for path in (".env", "deep/id_rsa", "tls/server.pem", ".aws/credentials"):
        walks.write(path, SECRET)
    (walks.workspace / "file").symlink_to(outside / "secret.txt")
    (walks.workspace / "folder").symlink_to(outside)
    os.link(outside / "secret.txt", walks.workspace / "innocent.txt")
    os.mkfifo(walks.workspace / "pipe")
    if git:
        walks.git("add", "-f", ".env", "deep/id_rsa", "file", "innocent.txt")
    found = walks.ask(tool("n1", "code/search", pattern="the-secret"))
    assert (found["matches"], SECRET in found["text"]) == ([], False)
    changed = walks.ask(tool("n1", "fs/changes", since="2020-01-01"))
    assert [one["path"] for one in changed["changes"]] == ["innocent.txt"]  # its name, never its content
    watched = walks.ask(tool("n1", "fs/watch", path=".", seconds="1"))
    assert (watched["files"], watched["count"]) == (1, 0)


def test_a_repository_made_to_run_something_runs_nothing_when_it_is_searched(walks: Walks) -> None:
    mark, trap = walks.workspace.parent / "mark", walks.workspace.parent / "trap"
    trap.write_text(f"#!/bin/sh\necho ran >> {mark}\nexit 0\n")
    trap.chmod(0o755)
    walks.git("init", "-q")
    walks.write("a.py", "needle\n")
    walks.git("add", "a.py")
    walks.git("config", "core.fsmonitor", str(trap))
    walks.git("config", "filter.trap.clean", str(trap))
    walks.git("config", "alias.ls-files", f"!{trap}")
    walks.write(".gitattributes", "*.py filter=trap\n")
    mark.unlink(missing_ok=True)
    assert walks.ask(tool("n1", "code/search", pattern="needle"))["count"] == 1
    assert not mark.exists()


@pytest.mark.parametrize("kind", ["file", "link", "alternates"])
def test_a_repository_that_leads_elsewhere_is_searched_as_a_plain_folder(walks: Walks, kind: str) -> None:
    walks.git("init", "-q")
    walks.write("a.py", "needle\n")
    repository, elsewhere = walks.workspace / ".git", walks.workspace.parent / "elsewhere"
    if kind == "alternates":
        (repository / "objects/info/alternates").write_text("/elsewhere\n")
    else:
        repository.rename(elsewhere)
        if kind == "file":
            repository.write_text(f"gitdir: {elsewhere}\n")
        else:
            repository.symlink_to(elsewhere)
    assert walks.ask(tool("n1", "code/search", pattern="needle"))["count"] == 1


def test_names_in_the_index_lead_nowhere(walks: Walks) -> None:
    """git refuses to add such names, but an index can be written by hand."""
    walks.git("init", "-q")
    walks.write("a.py", "needle\n")
    blob = walks.git("hash-object", "-w", "a.py").strip()
    walks.git("update-index", "--add", "--cacheinfo", f"100644,{blob},linked/secret.txt")
    (walks.workspace / "linked").symlink_to(walks.workspace.parent / "outside")
    found = walks.ask(tool("n1", "code/search", pattern="secret"))
    assert found["matches"] == []


def race(swap: Callable[[], None], use: Callable[[], object], times: int) -> set[str]:
    """The codes that a use ends with while another thread swaps things below it."""
    stop = threading.Event()

    def swapping() -> None:
        while not stop.is_set():
            swap()

    other = threading.Thread(target=swapping)
    other.start()
    seen: set[str] = set()
    try:
        for _ in range(times):
            try:
                use()
                seen.add("")
            except ScopeError as problem:
                seen.add(problem.code)
    finally:
        stop.set()
        other.join()
    return seen


@pytest.mark.parametrize("what", ["append", "update"])
def test_a_file_that_becomes_a_link_during_the_call_is_never_written_through(
    tmp_path: Path, what: str
) -> None:
    root, outside = tmp_path / "work", tmp_path / "secret"
    root.mkdir()
    outside.write_text(SECRET)
    (root / "f").write_text("inside\n")
    (root / "l").symlink_to(outside)
    workspace = Workspace(root)

    def swap() -> None:
        with suppress(OSError):
            (root / "f").rename(root / "k")
            (root / "l").rename(root / "f")
            (root / "f").rename(root / "l")
        with suppress(OSError):
            (root / "k").rename(root / "f")

    def use() -> None:
        if what == "append":
            workspace.append("f", b"owned\n")
        else:
            workspace.update("f", lambda data: (data or b"")[-1000:] + b"owned\n", limit=1 << 20)

    seen = race(swap, use, 400)
    assert seen <= {"", "OUT_OF_SCOPE", "NOT_FOUND", "STALE_FILE", "EXISTS"}
    assert outside.read_text() == SECRET


def test_a_folder_that_becomes_a_link_during_an_append_never_leads_out(tmp_path: Path) -> None:
    root, outside = tmp_path / "work", tmp_path / "outside"
    (root / "real").mkdir(parents=True)
    (root / "real/f.txt").write_text("inside\n")
    outside.mkdir()
    (outside / "f.txt").write_text(SECRET)
    (root / "link").symlink_to(outside)
    workspace = Workspace(root)

    def swap() -> None:
        with suppress(OSError):
            (root / "real").rename(root / "kept")
            (root / "link").rename(root / "real")
            (root / "real").rename(root / "link")
        with suppress(OSError):
            (root / "kept").rename(root / "real")

    seen = race(swap, lambda: workspace.append("real/f.txt", b"x\n"), 400)
    assert seen <= {"", "OUT_OF_SCOPE", "NOT_FOUND", "NOT_A_FOLDER", "UNREADABLE"}
    assert (outside / "f.txt").read_text() == SECRET
    assert [one.name for one in outside.iterdir()] == ["f.txt"]


def test_a_folder_held_by_another_program_is_given_up_after_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    import executor.sandbox.writing as writing

    monkeypatch.setattr(writing, "_PATIENCE", 0.05)
    workspace = Workspace(tmp_path)
    held = os.open(tmp_path, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    with pytest.raises(ScopeError) as caught:
        workspace.write("a.txt", b"x", replace=False)
    assert caught.value.code == "BUSY"
    os.close(held)
    assert workspace.write("a.txt", b"x", replace=False).created


def test_two_writers_with_one_base_never_both_win(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"0")

    def write(workspace: Workspace, data: bytes, base: str) -> str:
        try:
            workspace.write("a.txt", data, replace=False, base=base)
        except ScopeError as problem:
            return problem.code
        return "won"

    ours, theirs = Workspace(tmp_path), Workspace(tmp_path)
    with ThreadPoolExecutor(2) as pool:
        for step in range(60):
            base = hashlib.sha256((tmp_path / "a.txt").read_bytes()).hexdigest()
            data = (f"{step}-a".encode(), f"{step}-b".encode())
            assert sorted(pool.map(write, (ours, theirs), data, (base, base))) == ["STALE_FILE", "won"]
