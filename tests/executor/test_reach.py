"""Reading outside the workspace: only where a person said so, and never through a link."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from executor.core.errors import ScopeError
from executor.sandbox.paths import Workspace
from executor.sandbox.reach import Reach, look_elsewhere, plain_place, reaching
from executor.sandbox.removal import remove

pytestmark = pytest.mark.outside_dev  # folders are granted


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder elsewhere with a file, a folder, a secret and ways out."""
    found = tmp_path / "elsewhere"
    (found / "below").mkdir(parents=True)
    (found / "a.txt").write_text("hello")
    (found / "below" / "b.txt").write_text("there")
    (found / ".env").write_text("KEY=1")
    (tmp_path / "outside.txt").write_text("no")
    (found / "link.txt").symlink_to(tmp_path / "outside.txt")
    (found / "way").symlink_to(tmp_path)
    return found


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Workspace]:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "in.txt").write_text("inside")
    (tmp_path / "home").mkdir()
    found = Workspace(tmp_path / "work", forbidden=[tmp_path / "home"])
    yield found
    found.close()


def code(reach: Workspace, path: object) -> str:
    try:
        reach.read(str(path), 100)
    except ScopeError as refused:
        return refused.code
    return "READ"


def test_a_granted_folder_is_read_like_the_workspace_and_so_is_the_workspace(
    workspace: Workspace, place: Path
) -> None:
    with reaching(workspace, [str(place)]) as reach:
        assert reach.read(str(place / "a.txt"), 100) == (b"hello", 5)
        assert reach.read(f"{place}//./below/b.txt", 100)[0] == b"there"
        assert reach.read("in.txt", 100)[0] == b"inside"
        assert "/".join(reach.split(str(place / "a.txt"))) == str(place / "a.txt")
        found = [entry.path for entry in reach.walk(str(place), check=lambda: None)]
        assert found[:3] == [f"{place}/a.txt", f"{place}/below", f"{place}/below/b.txt"]
        assert not [path for path in found if path.endswith((".env", "outside.txt"))]
        assert reach.check(str(place)) is not None
        with reach.open_folder(str(place)) as folder:
            assert os.stat("a.txt", dir_fd=folder).st_size == 5


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("link.txt", "OUT_OF_SCOPE"),
        ("way/outside.txt", "OUT_OF_SCOPE"),
        ("../outside.txt", "OUT_OF_SCOPE"),
        (".env", "PROTECTED_PATH"),
        ("below/.ssh/id", "PROTECTED_PATH"),
        ("below", "NOT_A_FILE"),
        ("missing.txt", "NOT_FOUND"),
    ],
)
def test_below_a_granted_folder_links_and_secrets_are_refused(
    workspace: Workspace, place: Path, path: str, expected: str
) -> None:
    with reaching(workspace, [str(place)]) as reach:
        assert code(reach, f"{place}/{path}") == expected


def test_hard_links_below_a_granted_folder_are_refused(workspace: Workspace, place: Path) -> None:
    os.link(place.parent / "outside.txt", place / "hard.txt")
    with reaching(workspace, [str(place)]) as reach:
        assert code(reach, place / "hard.txt") == "OUT_OF_SCOPE"


def test_beside_a_granted_folder_nothing_is_read(workspace: Workspace, place: Path) -> None:
    (place.parent / "elsewhere2").mkdir()
    (place.parent / "elsewhere2" / "a.txt").write_text("no")
    with reaching(workspace, [str(place)]) as reach:
        for path in (place.parent / "outside.txt", place.parent / "elsewhere2" / "a.txt", place.parent, "/"):
            assert code(reach, path) == "OUT_OF_SCOPE"


def test_one_approved_file_opens_that_file_and_no_neighbour(workspace: Workspace, place: Path) -> None:
    with reaching(workspace, [str(place / "a.txt")]) as reach:
        assert code(reach, place / "a.txt") == "READ"
        assert code(reach, place / "below" / "b.txt") == "OUT_OF_SCOPE"
        assert code(reach, place / "a.txt" / "x") == "OUT_OF_SCOPE"
        with pytest.raises(ScopeError), reach.open_folder(str(place)):
            pass


def test_nothing_is_ever_written_there(workspace: Workspace, place: Path) -> None:
    with reaching(workspace, [str(place)]) as reach:
        path = str(place / "new.txt")
        for write in (
            lambda: reach.write(path, b"x", replace=True),
            lambda: reach.append(path, b"x"),
            lambda: reach.append(str(place / "a.txt"), b"x"),
            lambda: reach.write(str(place / "a.txt"), b"x", replace=True),
            lambda: reach.update(path, lambda there: b"x", limit=10),
            lambda: reach.make_folder(path),
            lambda: remove(reach, str(place / "a.txt")),
            lambda: remove(reach, str(place)),
        ):
            with pytest.raises(ScopeError) as refused:
                write()
            assert refused.value.code == "OUT_OF_SCOPE"
        reach.write("new.txt", b"x", replace=False)
    assert sorted(one.name for one in place.iterdir()) == [".env", "a.txt", "below", "link.txt", "way"]
    assert (place / "a.txt").read_text() == "hello"
    assert (workspace.root / "new.txt").read_text() == "x"


def test_a_place_is_not_reached_through_a_link_nor_through_a_closed_folder(
    workspace: Workspace, place: Path, tmp_path: Path
) -> None:
    (tmp_path / "shortcut").symlink_to(place)
    (tmp_path / "home" / "keys").mkdir()
    for path in ("shortcut", "shortcut/below", "home", "home/keys"):
        with pytest.raises(ScopeError) as refused:
            Reach(workspace, [str(tmp_path / path)]).check(str(tmp_path / path))
        assert refused.value.code == "OUT_OF_SCOPE"
    with reaching(workspace, [str(tmp_path)]) as reach:
        assert code(reach, tmp_path / "home" / "mcl.db") == "OUT_OF_SCOPE"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/", "OUT_OF_SCOPE"),
        ("//", "OUT_OF_SCOPE"),
        ("/proc/self/environ", "OUT_OF_SCOPE"),
        ("/proc/self/root/etc/passwd", "OUT_OF_SCOPE"),
        ("/./dev/mem", "OUT_OF_SCOPE"),
        ("/sys", "OUT_OF_SCOPE"),
        ("/etc/../etc/passwd", "OUT_OF_SCOPE"),
        ("etc/passwd", "OUT_OF_SCOPE"),
        ("~/notes", "OUT_OF_SCOPE"),
        ("/etc/pass\x00wd", "OUT_OF_SCOPE"),
        ("/home/me/.ssh/id_rsa", "PROTECTED_PATH"),
        ("/home/me/.ENV", "PROTECTED_PATH"),
    ],
)
def test_the_machine_itself_and_secrets_are_no_places(path: str, expected: str) -> None:
    with pytest.raises(ScopeError) as refused:
        plain_place(path)
    assert refused.value.code == expected


def test_looking_at_a_place_opens_no_file_and_follows_no_link(workspace: Workspace, place: Path) -> None:
    os.mkfifo(place / "pipe")
    look_elsewhere(workspace, str(place / "a.txt"))
    look_elsewhere(workspace, str(place))
    look_elsewhere(workspace, str(place / "missing.txt"))
    for path in ("link.txt", "way/outside.txt", "pipe"):
        with pytest.raises(ScopeError) as refused:
            look_elsewhere(workspace, str(place / path))
        assert refused.value.code == "OUT_OF_SCOPE"


def test_no_descriptor_is_left_open(workspace: Workspace, place: Path) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in ("a.txt", "below", "missing.txt", "link.txt", "below/b.txt/x", "way/x"):
        try:
            with reaching(workspace, [str(place / path)]) as reach:
                code(reach, place / path)
        except ScopeError:
            pass
    assert len(list(Path("/proc/self/fd").iterdir())) == before
