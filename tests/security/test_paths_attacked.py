"""Ways out of the workspace, each refused with its code; nothing outside is read, written or made."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from walks import NODE, Says, Walks, context_of, tool

from executor import Call, Outcome, ScopeError, Workspace
from executor.gate.guards.call import scope

SECRET = "the-secret-outside"


def attempts(path: str) -> list[NODE]:
    return [
        tool("n1", "fs/read", path=path),
        tool("n1", "fs/list", path=path),
        tool("n1", "fs/search", query="secret", path=path),
        tool("n1", "fs/write", "write", path=path, content="owned"),
        tool("n1", "fs/write", "write", path=path, content="owned", overwrite="true"),
        tool("n1", "fs/append", "write", path=path, content="owned"),
        tool("n1", "fs/changes", path=path, since="2020-01-01"),
        tool("n1", "fs/watch", path=path, seconds="1"),
        tool("n1", "code/search", path=path, pattern="secret"),
        tool("n1", "data/summary", path=path),
        tool("n1", "data/chart", "write", path=path, out="c.svg"),
        tool("n1", "data/chart", "write", path="t.csv", out=path),
        tool("n1", "calendar/add", "write", path=path, title="owned", start="2026-01-01"),
        tool("n1", "calendar/list", path=path),
        tool("n1", "task/assign", "write", folder=path, assignee="ada", task="owned"),
        tool("n1", "git/diff", repo=path),
    ]


def closed(walks: Walks, path: str, code: str) -> None:
    """The guard refuses every tool this path, and the workspace refuses it again to a tool that got past."""
    context = context_of(walks, None)
    for node in attempts(path):
        planned = node["tool_call"]
        reply = scope(Call(planned["tool_ref"], planned["args"], planned["side_effect_class"]), context)
        assert reply is not None
        assert reply.code == code
    uses: list[Callable[[], object]] = [
        lambda: context.workspace.read(path, 10),
        lambda: context.workspace.digest(path),
        lambda: list(context.workspace.walk(path, check=lambda: None)),
        lambda: context.workspace.write(path, b"owned", replace=False),
        lambda: context.workspace.write(path, b"owned", replace=True),
        lambda: context.workspace.append(path, b"owned"),
        lambda: context.workspace.update(path, lambda data: b"owned", limit=100),
    ]
    for use in uses:
        with pytest.raises(ScopeError) as caught:
            use()
        # A link asked for as a folder is no folder, a folder asked for as a file no file: refused too.
        assert caught.value.code in (code, "NOT_A_FOLDER", "NOT_A_FILE")


def refused(outcome: Outcome, *codes: str) -> None:
    assert outcome.state in ("denied", "failed")
    assert outcome.failure is not None
    assert outcome.failure.code in codes, outcome.failure
    assert SECRET not in str(outcome.to_json())


@pytest.mark.parametrize(
    "path",
    [
        "../outside/secret.txt",
        "a/../../outside/secret.txt",
        "..",
        "./..",
        "a/..",
        "/proc/self/root/etc/passwd",
        "/etc/../etc/passwd",
        "/",
        "~/secret",
        "a\0.txt",
        "a\n.txt",
        "a\x1b[31m",
        "x" * 256,
        "/".join(["x" * 200] * 25),
    ],
)
def test_a_path_that_leads_out_or_is_malformed_is_refused_by_every_tool(walks: Walks, path: str) -> None:
    (walks.workspace / "a").mkdir()
    closed(walks, path, "OUT_OF_SCOPE")
    assert sorted(found.name for found in walks.workspace.parent.iterdir()) == ["home", "outside", "work"]


@pytest.mark.parametrize("way", ["{}", "/{}", "/.{}"])
def test_a_place_outside_is_read_when_a_person_says_so_and_never_written(walks: Walks, way: str) -> None:
    path = way.format(walks.workspace.parent / "outside" / "secret.txt")
    before = Path(path).read_bytes()
    for node in attempts(path):
        writes = (
            node["tool_call"]["side_effect_class"] == "write"
            and node["tool_call"]["args"].get("path") == path
        )
        people = Says("deny")
        outcome = walks.go(node, people=people)
        assert SECRET not in str(outcome.to_json())
        assert outcome.failure is not None
        if not people.asked:
            assert outcome.failure.code in ("OUT_OF_SCOPE", "INVALID_ARGS")  # of arguments, all flaws at once
        else:
            assert outcome.failure.code == "GATE_DENIED"
            assert not writes or "data/chart" in node["tool_call"]["tool_ref"]
            assert "outside the workspace" in people.asked[0].question
        with pytest.raises(ScopeError):
            context_of(walks, None).workspace.read(path, 10)
    assert Path(path).read_bytes() == before
    assert sorted(found.name for found in Path(path).parent.iterdir()) == ["secret.txt"]


@pytest.mark.parametrize(
    "path",
    [
        ".env",
        ".ENV",
        "sub/.env.production",
        "．env",
        ".env.",
        ".env ",
        ".git/config",
        ".GIT/hooks/post-checkout",
        "sub/.git/HEAD",
        ".ssh/id_ed25519",
        "id_rsa",
        "server.pem",
        "tls/private.KEY",
        ".netrc",
        ".npmrc",
        ".aws/credentials",
        ".orchestration/active_intents.yaml",
        ".git-credentials",
    ],
)
def test_secret_files_are_closed_whatever_the_tool(walks: Walks, path: str) -> None:
    place = walks.write(path, SECRET)
    closed(walks, path, "PROTECTED_PATH")
    assert place.read_text() == SECRET


def test_a_search_passes_secret_files_over(walks: Walks) -> None:
    for path in (".env", "sub/.git/config", "id_rsa", "tls/server.pem"):
        walks.write(path, SECRET)
    found = walks.go(tool("n1", "fs/search", query=SECRET))
    assert found.outputs["n1"]["count"] == 0  # type: ignore[index]  # an object


def test_a_link_to_a_file_or_folder_outside_is_not_followed(walks: Walks) -> None:
    outside = walks.workspace.parent / "outside"
    (walks.workspace / "file").symlink_to(outside / "secret.txt")
    (walks.workspace / "folder").symlink_to(outside)
    (walks.workspace / "dangling").symlink_to(outside / "made-by-you.txt")
    (walks.workspace / "self").symlink_to("/proc/self/root")
    for path in ("file", "folder/secret.txt", "folder", "dangling", "self/etc/passwd", "folder/new.txt"):
        closed(walks, path, "OUT_OF_SCOPE")
    refused(walks.go(tool("n1", "fs/read", path="file")), "OUT_OF_SCOPE")
    found = walks.go(tool("n1", "fs/search", query="secret"))
    assert found.outputs["n1"]["count"] == 0  # type: ignore[index]  # an object
    assert [one.name for one in outside.iterdir()] == ["secret.txt"]
    assert (outside / "secret.txt").read_text() == SECRET


def test_a_hard_link_to_a_file_outside_is_neither_read_nor_written(walks: Walks) -> None:
    outside = walks.workspace.parent / "outside/secret.txt"
    os.link(outside, walks.workspace / "innocent.txt")
    refused(walks.go(tool("n1", "fs/read", path="innocent.txt")), "OUT_OF_SCOPE")
    refused(
        walks.go(tool("n1", "fs/write", "write", path="innocent.txt", content="x", overwrite="true")),
        "OUT_OF_SCOPE",
    )
    found = walks.go(tool("n1", "fs/search", query=SECRET))
    assert found.outputs["n1"]["count"] == 0  # type: ignore[index]  # an object
    assert outside.read_text() == SECRET


def test_fifos_and_devices_are_refused_without_waiting_on_them(walks: Walks) -> None:
    os.mkfifo(walks.workspace / "pipe")
    made = ["pipe"]
    try:
        os.mknod(walks.workspace / "zero", 0o600 | 0o020000, os.makedev(1, 5))
        made.append("zero")
    except PermissionError:
        pass  # only root makes devices; the FIFO stands for both then
    for path in made:
        refused(walks.go(tool("n1", "fs/read", path=path)), "OUT_OF_SCOPE")
        refused(
            walks.go(tool("n1", "fs/write", "write", path=path, content="x", overwrite="true")),
            "OUT_OF_SCOPE",
        )
    assert walks.go(tool("n1", "fs/search", query="x")).state == "completed"


def test_the_home_is_closed_even_when_it_lies_in_the_workspace(walks: Walks) -> None:
    walks.workspace = walks.workspace.parent
    for path in ("home/mcl.db", "home/keys/user.json", "home/policy.toml", "home"):
        closed(walks, path, "OUT_OF_SCOPE")
    listed = walks.go(tool("n1", "fs/list", recursive="true")).outputs["n1"]
    assert "home" not in listed["text"]  # type: ignore[index]  # an object


def test_a_folder_that_becomes_a_link_during_the_call_never_leads_out(tmp_path: Path) -> None:
    root, outside = tmp_path / "work", tmp_path / "outside"
    (root / "real").mkdir(parents=True)
    (root / "real/f.txt").write_text("inside")
    outside.mkdir()
    (outside / "f.txt").write_text(SECRET)
    (root / "link").symlink_to(outside)
    workspace = Workspace(root)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (root / "real").rename(root / "kept")
            with suppress(OSError):  # a write may have made the folder anew, just then
                (root / "link").rename(root / "real")
                (root / "real").rename(root / "link")
            while (root / "kept").exists():
                shutil.rmtree(root / "real", ignore_errors=True)
                with suppress(OSError):
                    (root / "kept").rename(root / "real")

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen: set[str] = set()
    try:
        for number in range(100_000):
            assert swapping.is_alive()
            if number > 1500 and {"inside", "OUT_OF_SCOPE"} <= seen:
                break  # on a busy machine the two threads may long meet at the same moment of the swap
            try:
                seen.add(workspace.read("real/f.txt", 100)[0].decode())
                if number % 50 == 0:
                    workspace.write("real/g.txt", str(number).encode(), replace=True)
            except ScopeError as problem:
                seen.add(problem.code)
    finally:
        stop.set()
        swapping.join()
    assert {"inside", "OUT_OF_SCOPE"} <= seen <= {"inside", "OUT_OF_SCOPE", "NOT_FOUND", "NOT_A_FOLDER"}
    assert [found.name for found in outside.iterdir()] == ["f.txt"]


def test_a_file_that_becomes_a_link_during_the_call_is_never_read_through(tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    (tmp_path / "secret").write_text(SECRET)
    (root / "f").write_text("inside")
    (root / "l").symlink_to(tmp_path / "secret")
    workspace = Workspace(root)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (root / "f").rename(root / "k")
            (root / "l").rename(root / "f")
            (root / "f").rename(root / "l")
            (root / "k").rename(root / "f")

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen: set[str] = set()
    try:
        for _ in range(1500):
            try:
                seen.add(workspace.read("f", 100)[0].decode())
            except ScopeError as problem:
                seen.add(problem.code)
    finally:
        stop.set()
        swapping.join()
    assert seen <= {"inside", "OUT_OF_SCOPE", "NOT_FOUND"}


def test_a_value_that_came_from_a_tool_is_a_path_like_any_other(walks: Walks) -> None:
    walks.write("where.txt", "../outside/secret.txt")
    node = {
        "id": "n0",
        "kind": "sequential",
        "children": [
            tool("n1", "fs/read", path="where.txt"),
            tool("n2", "fs/read", path="${n1.output.text}"),
        ],
    }
    outcome = walks.go(node)
    refused(outcome, "OUT_OF_SCOPE")
    assert outcome.nodes["n2"] == "denied"
