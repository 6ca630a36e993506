"""The workspace: nothing outside it, no links, whole files at once."""

from __future__ import annotations

import fcntl
import hashlib
import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from executor import ScopeError, Workspace

pytestmark = pytest.mark.outside_dev  # what is refused is not refused for being in /dev


def nothing() -> None:
    pass


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    (root / "docs").mkdir(parents=True)
    (root / "docs/a.txt").write_text("hello")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/secret.txt").write_text("secret")
    return root


@pytest.fixture
def workspace(root: Path) -> Workspace:
    return Workspace(root)


def code_of(error: pytest.ExceptionInfo[ScopeError]) -> str:
    return error.value.code


def test_a_file_is_read_written_and_listed(workspace: Workspace, root: Path) -> None:
    assert workspace.read("docs/a.txt", 100) == (b"hello", 5)
    assert workspace.read("./docs//a.txt", 2) == (b"he", 5)
    written = workspace.write("new/deep/b.txt", b"data", replace=False)
    assert (written.path, written.size, written.created) == ("new/deep/b.txt", 4, True)
    assert written.sha256 == hashlib.sha256(b"data").hexdigest()
    assert (root / "new/deep/b.txt").read_bytes() == b"data"
    listed = [(entry.path, entry.kind) for entry in workspace.walk(".", check=nothing)]
    assert listed == [
        ("docs", "folder"),
        ("docs/a.txt", "file"),
        ("new", "folder"),
        ("new/deep", "folder"),
        ("new/deep/b.txt", "file"),
    ]


def test_an_existing_file_is_replaced_only_on_request_or_with_its_base(
    workspace: Workspace, root: Path
) -> None:
    with pytest.raises(ScopeError) as caught:
        workspace.write("docs/a.txt", b"other", replace=False)
    assert code_of(caught) == "EXISTS"
    base = hashlib.sha256(b"hello").hexdigest()
    (root / "docs/a.txt").chmod(0o640)
    assert not workspace.write("docs/a.txt", b"second", replace=False, base=base).created
    assert (root / "docs/a.txt").stat().st_mode & 0o777 == 0o640
    with pytest.raises(ScopeError) as caught:
        workspace.write("docs/a.txt", b"third", replace=True, base=base)
    assert code_of(caught) == "STALE_FILE"
    workspace.write("docs/a.txt", b"fourth", replace=True)
    assert (root / "docs/a.txt").read_bytes() == b"fourth"
    assert [found.name for found in (root / "docs").iterdir()] == ["a.txt"]


def test_a_write_that_changes_nothing_succeeds_and_touches_nothing(workspace: Workspace, root: Path) -> None:
    before = (root / "docs/a.txt").stat().st_mtime_ns
    assert not workspace.write("docs/a.txt", b"hello", replace=False).created
    assert (root / "docs/a.txt").stat().st_mtime_ns == before


def test_what_is_not_there_and_what_is_no_file_are_told_apart(workspace: Workspace) -> None:
    for path, code in [("no.txt", "NOT_FOUND"), ("docs", "NOT_A_FILE"), (".", "NOT_A_FILE")]:
        with pytest.raises(ScopeError) as caught:
            workspace.read(path, 10)
        assert code_of(caught) == code
    with pytest.raises(ScopeError) as caught:
        list(workspace.walk("docs/a.txt", check=nothing))
    assert code_of(caught) == "NOT_A_FOLDER"
    with pytest.raises(ScopeError) as caught:
        workspace.write("docs/a.txt/b", b"", replace=False)
    assert code_of(caught) == "NOT_A_FOLDER"


def test_the_home_inside_a_workspace_is_closed_and_a_workspace_inside_the_home_is_refused(root: Path) -> None:
    (root / "home/keys").mkdir(parents=True)
    (root / "home/x.txt").write_text("x")
    workspace = Workspace(root, forbidden=[root / "home"])
    for path in ("home/x.txt", "home/keys", "home"):
        with pytest.raises(ScopeError) as caught:
            workspace.check(path)
        assert code_of(caught) == "OUT_OF_SCOPE"
    with pytest.raises(ScopeError):
        workspace.write("home/y.txt", b"", replace=False)
    assert "home" not in [entry.path for entry in workspace.walk(".", check=nothing)]
    with pytest.raises(ScopeError):
        Workspace(root / "home/keys", forbidden=[root / "home"])


def test_folders_in_folders_without_end_are_walked_to_a_depth(workspace: Workspace, root: Path) -> None:
    for depth in (100, 300):
        place = root.joinpath(*["d"] * depth)
        place.mkdir(parents=True)
        (place / "f.txt").write_text("x")
    found = [entry.path for entry in workspace.walk("d", check=nothing) if entry.kind == "file"]
    assert found == ["d/" * 100 + "f.txt"]


def test_a_wait_for_another_writer_can_be_stopped(workspace: Workspace, root: Path) -> None:
    held = os.open(root, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)

    def stop() -> None:
        raise LookupError

    for act in (
        lambda: workspace.write("new.txt", b"x", replace=False, check=stop),
        lambda: workspace.append("new.txt", b"x", check=stop),
        lambda: workspace.update("new.txt", lambda _: b"x", limit=9, check=stop),
    ):
        with pytest.raises(LookupError):
            act()
    os.close(held)
    assert not (root / "new.txt").exists()


def test_a_socket_is_no_file(workspace: Workspace, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("talk")
        with pytest.raises(ScopeError) as caught:
            workspace.read("talk", 10)
    assert code_of(caught) == "OUT_OF_SCOPE"


@given(st.text(max_size=40))
def test_no_text_is_a_path_that_leaves_the_workspace(text: str) -> None:
    try:
        parts = Workspace.split(Workspace.__new__(Workspace), text)
    except ScopeError:
        return
    assert not any(part in ("", ".", "..") or "/" in part or "\0" in part for part in parts)


def test_a_workspace_whose_links_lead_in_a_circle_is_refused(root: Path) -> None:
    (root / "circle").symlink_to(root / "circle")
    with pytest.raises(ScopeError) as caught:
        Workspace(root / "circle")
    assert caught.value.code == "OUT_OF_SCOPE"
