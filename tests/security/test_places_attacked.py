"""Places outside: the machine itself, granted folders swapped meanwhile, races that are never won."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from walks import Says, Walks, tool

from executor import Grants, Outcome, ScopeError, Workspace
from executor.sandbox.reach import reaching
from executor.sandbox.removal import remove

SECRET = "the-secret-outside"


# ---- the machine itself -----------------------------------------------------------------------------------


@pytest.mark.parametrize("root", ["/proc", "/sys", "/dev", "/proc/self", "/proc/PID/fd", "/proc/self/cwd/.."])
def test_the_machine_itself_is_no_workspace(root: str) -> None:
    root = root.replace("PID", str(os.getpid()))
    if Path(root).resolve().is_relative_to("/proc") or root in ("/sys", "/dev"):
        with pytest.raises(ScopeError) as caught:
            Workspace(Path(root))
        assert caught.value.code == "OUT_OF_SCOPE"


@pytest.mark.parametrize(
    "path",
    [
        *("proc", "proc/PID/environ", "proc/self/environ", "proc/1/root/etc/passwd", "proc/kcore"),
        *("dev/zero", "dev/mem", "dev/stdin", "dev/fd/0", "sys/kernel", "proc/self/root/proc/self/environ"),
    ],
)
def test_in_a_workspace_that_is_the_whole_disk_the_machine_is_closed(path: str) -> None:
    path = path.replace("PID", str(os.getpid()))
    workspace = Workspace(Path("/"))
    try:
        for use in (
            lambda: workspace.check(path),
            lambda: workspace.read(path, 10),
            lambda: workspace.write(path, b"owned", replace=True),
            lambda: list(workspace.walk(path, check=lambda: None)),
        ):
            with pytest.raises(ScopeError) as caught:
                use()
            assert caught.value.code in ("OUT_OF_SCOPE", "NOT_A_FILE", "NOT_FOUND")
        found = [entry.path for entry in workspace.walk(".", check=lambda: None, recursive=False)]
        assert not {"proc", "sys", "dev"} & set(found)
    finally:
        workspace.close()


# ---- granted folders --------------------------------------------------------------------------------------


def reads(walks: Walks, path: Path | str, *, people: object = None) -> Outcome:
    return walks.go(tool("n1", "fs/read", path=str(path)), verb="find", people=people or Says())


@pytest.fixture
def granted(walks: Walks) -> Path:
    """A folder outside that the agent may read."""
    place = walks.workspace.parent / "granted"
    place.mkdir()
    (place / "open.txt").write_text("hello")
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    grants.grant_roots(agent, [place])
    return place


def test_a_granted_folder_is_no_way_to_its_neighbours(walks: Walks, granted: Path) -> None:
    assert reads(walks, granted / "open.txt").state == "completed"
    outside = walks.workspace.parent / "outside/secret.txt"
    (granted / "link").symlink_to(outside)
    (granted / "folder").symlink_to(outside.parent)
    os.link(outside, granted / "hard")
    (granted / ".env").write_text(SECRET)
    os.mkfifo(granted / "pipe")
    for path in (
        *(
            "link",
            "folder/secret.txt",
            "hard",
            ".env",
            "pipe",
            "../outside/secret.txt",
            "/../outside/secret.txt",
        ),
        *("./../outside/secret.txt", "folder/../../outside/secret.txt", "open.txt/../../outside/secret.txt"),
    ):
        outcome = reads(walks, f"{granted}/{path}")
        assert outcome.state in ("denied", "failed"), path
        assert SECRET not in str(outcome.to_json())
    for beside in (
        f"{granted}-too/x",
        f"{granted}x",
        str(granted.parent),
        f"{granted}/../outside/secret.txt",
    ):
        assert reads(walks, beside, people=Says("deny")).state == "denied"


def test_a_granted_folder_that_becomes_a_link_leads_nowhere(walks: Walks, granted: Path) -> None:
    granted.rename(granted.with_name("kept"))
    granted.symlink_to(walks.workspace.parent / "outside")
    outcome = reads(walks, granted / "secret.txt")
    assert outcome.failure is not None
    assert outcome.failure.code == "OUT_OF_SCOPE"
    assert SECRET not in str(outcome.to_json())


@pytest.mark.parametrize(
    "place", ["/", "//", "/proc", "/proc/self/root", "/dev/..", "/nowhere/at/all", "/a\nb", "/etc/passwd"]
)
def test_what_is_no_plain_folder_is_not_granted(walks: Walks, place: str) -> None:
    from ir import MclError

    grants = Grants(walks.home)
    with pytest.raises(MclError):
        grants.grant_roots(walks.home.keyring.agent.did, [Path(place)])
    assert not grants.roots(walks.home.keyring.agent.did)


def test_the_home_is_read_by_nobody_whatever_was_granted(walks: Walks) -> None:
    home = walks.home.path
    for path in ("keys/user.json", "mcl.db", "policy.toml", "undo"):
        outcome = reads(walks, home / path, people=Says("approve", "approve"))
        assert outcome.state in ("denied", "failed"), path
        assert "seed" not in str(outcome.to_json())


def test_an_approval_of_one_file_outside_opens_no_other_one(walks: Walks) -> None:
    outside = walks.workspace.parent / "outside"
    (outside / "plain.txt").write_text("hello")
    assert reads(walks, outside / "plain.txt", people=Says("approve")).state == "completed"
    assert reads(walks, outside / "secret.txt", people=Says("deny")).state == "denied"


# ---- races with another process ---------------------------------------------------------------------------


def _swap_folder(root: str, stop: object) -> None:
    place, lost = Path(root), itertools.count()
    while not stop.is_set():  # type: ignore[attr-defined]  # an event between processes
        if (place / "kept").exists():  # while it was away a writer made another in its place
            with suppress(OSError):
                (place / "real").rename(place / f"made{next(lost)}")
                (place / "kept").rename(place / "real")
        with suppress(OSError):
            (place / "real").rename(place / "kept")
            (place / "link").rename(place / "real")
        with suppress(OSError):
            (place / "real").rename(place / "link")
            (place / "kept").rename(place / "real")


def _swap_file(root: str, stop: object) -> None:
    place = Path(root) / "real"
    while not stop.is_set():  # type: ignore[attr-defined]  # an event between processes
        for other in ("link.txt", "hard.txt", "pipe"):
            with suppress(OSError):
                (place / "f.txt").rename(place / "kept.txt")
                (place / other).rename(place / "f.txt")
            with suppress(OSError):
                (place / "f.txt").rename(place / other)
                (place / "kept.txt").rename(place / "f.txt")


@contextmanager
def swapping(how: Callable[[str, object], None], root: Path) -> Iterator[None]:
    """Another process that swaps things in a folder as fast as it can."""
    context = multiprocessing.get_context("fork")
    stop = context.Event()
    other = context.Process(target=how, args=(str(root), stop))
    other.start()
    try:
        yield
    finally:
        stop.set()
        other.join(10)


@pytest.fixture
def arena(tmp_path: Path) -> Path:
    root, outside = tmp_path / "work", tmp_path / "outside"
    (root / "real").mkdir(parents=True)
    outside.mkdir()
    (root / "real/f.txt").write_text("inside\n")
    (outside / "f.txt").write_text(SECRET)
    (root / "link").symlink_to(outside)
    (root / "real/link.txt").symlink_to(outside / "f.txt")
    os.link(outside / "f.txt", root / "real/hard.txt")
    os.mkfifo(root / "real/pipe")
    return root


def uses(workspace: Workspace) -> list[Callable[[], object]]:
    return [
        lambda: workspace.read("real/f.txt", 100)[0],
        lambda: workspace.digest("real/f.txt"),
        lambda: workspace.check("real/f.txt"),
        lambda: [entry.path for entry in workspace.walk("real", check=lambda: None)],
        lambda: workspace.append("real/f.txt", b"x\n"),
        lambda: workspace.write("real/f.txt", b"inside\n", replace=True),
        lambda: workspace.write("real/new/deep.txt", b"inside\n", replace=True),
        lambda: workspace.update("real/f.txt", lambda data: b"inside\n", limit=1 << 20),
        lambda: remove(workspace, "real/new/deep.txt"),
        lambda: remove(workspace, "real/new"),
    ]


def raced(arena: Path, how: Callable[[str, object], None], seconds: float) -> set[str]:
    """What uses of a workspace end with while another process swaps; what is outside stays as it was."""
    outside = arena.parent / "outside"
    workspace = Workspace(arena)
    seen: set[str] = set()
    with swapping(how, arena):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for use in uses(workspace):
                try:
                    assert SECRET not in str(use())
                    seen.add("")
                except ScopeError as problem:
                    seen.add(problem.code)
    workspace.close()
    assert [one.name for one in outside.iterdir()] == ["f.txt"]
    assert (outside / "f.txt").read_text() == SECRET
    return seen


@pytest.mark.parametrize("how", [_swap_folder, _swap_file])
def test_another_process_that_swaps_links_in_wins_nothing(
    arena: Path, how: Callable[[str, object], None]
) -> None:
    assert "" in raced(arena, how, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("how", [_swap_folder, _swap_file])
def test_nor_does_it_in_a_minute(arena: Path, how: Callable[[str, object], None]) -> None:
    assert {"", "OUT_OF_SCOPE"} <= raced(arena, how, 30.0)


def _swap_root(root: str, stop: object) -> None:
    place = Path(root)
    while not stop.is_set():  # type: ignore[attr-defined]  # an event between processes
        with suppress(OSError):
            (place / "granted").rename(place / "kept")
            (place / "granted").symlink_to(place / "outside")
        with suppress(OSError):
            (place / "granted").unlink()
        with suppress(OSError):
            (place / "kept").rename(place / "granted")


def test_a_granted_folder_that_is_swapped_for_a_link_while_it_is_opened_leads_nowhere(tmp_path: Path) -> None:
    for name, text in (("granted", "inside"), ("outside", SECRET)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "f.txt").write_text(text)
    (tmp_path / "work").mkdir()
    workspace, place = Workspace(tmp_path / "work"), str(tmp_path / "granted")
    seen: set[str] = set()
    with swapping(_swap_root, tmp_path):
        end = time.monotonic() + 1.0
        while time.monotonic() < end:
            try:
                with reaching(workspace, [place]) as reach:
                    seen.add(reach.read(f"{place}/f.txt", 100)[0].decode())
            except ScopeError as problem:
                seen.add(problem.code)
    workspace.close()
    assert "inside" in seen
    assert SECRET not in seen


def test_a_workspace_that_is_moved_away_while_it_is_used_is_still_the_same_folder(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "outside").mkdir()
    workspace = Workspace(tmp_path / "work")
    (tmp_path / "work").rename(tmp_path / "moved")
    (tmp_path / "work").symlink_to(tmp_path / "outside")
    workspace.write("a.txt", b"hello", replace=False)
    workspace.close()
    assert (tmp_path / "moved/a.txt").read_text() == "hello"
    assert list((tmp_path / "outside").iterdir()) == []
    shutil.rmtree(tmp_path / "moved")
