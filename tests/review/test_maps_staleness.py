"""Where maps are old: what changed, is new, is gone, and that HEAD moved."""

from __future__ import annotations

import os
from pathlib import Path

import anyio
from orchards import build, commit, git, orchard, write

from executor.sandbox.paths import Workspace
from mcl.plugins.review.maps.files import stale
from mcl.plugins.review.maps.maps import StaleEntry


def _stale(folder: Path, maps: object = None) -> list[tuple[str, str]]:
    found = stale(Workspace(folder), maps or build(Workspace(folder)))  # type: ignore[arg-type]
    return [(one.path, one.why) for one in found]


def test_maps_that_were_just_made_are_not_stale(tmp_path: Path) -> None:
    assert _stale(orchard(tmp_path)) == []


def test_what_changed_is_new_or_gone_is_told_in_the_order_of_paths(tmp_path: Path) -> None:
    maps = build(Workspace(orchard(tmp_path)))
    write(tmp_path, {"orchard/tree.py": "x = 1\n", "a_new.py": "x = 1\n"})
    (tmp_path / "README.md").unlink()

    assert _stale(tmp_path, maps) == [
        ("README.md", "gone"),
        ("a_new.py", "new"),
        ("orchard/tree.py", "changed"),
    ]


def test_a_file_that_was_written_again_as_it_was_is_not_stale(tmp_path: Path) -> None:
    maps = build(Workspace(orchard(tmp_path)))
    write(tmp_path, {"orchard/tree.py": (tmp_path / "orchard/tree.py").read_text()})
    os.utime(tmp_path / "orchard/fruit.py", (1, 1))

    assert _stale(tmp_path, maps) == []


def test_a_commit_makes_maps_stale_though_no_file_changed(tmp_path: Path) -> None:
    maps = build(Workspace(orchard(tmp_path)))
    head = commit(tmp_path, "2026-03-05T10:00:00Z")

    assert _stale(tmp_path, maps) == [("", f"the last commit is {head[:12]}, and was {maps.head[:12]}")]


def test_a_repository_that_is_gone_makes_maps_stale(tmp_path: Path) -> None:
    maps = build(Workspace(orchard(tmp_path)))
    (tmp_path / ".git").rename(tmp_path.parent / f"{tmp_path.name}-git")

    assert _stale(tmp_path, maps)[0][1] == f"the last commit is none, and was {maps.head[:12]}"


def test_a_renamed_file_is_gone_and_new(tmp_path: Path) -> None:
    maps = build(Workspace(orchard(tmp_path)))
    git(tmp_path, "mv", "orchard/fruit.py", "orchard/berry.py")

    assert _stale(tmp_path, maps) == [("orchard/berry.py", "new"), ("orchard/fruit.py", "gone")]


def test_a_file_that_became_a_link_is_gone(tmp_path: Path) -> None:
    maps = build(Workspace(orchard(tmp_path)))
    (tmp_path / "README.md").unlink()
    (tmp_path / "README.md").symlink_to("pyproject.toml")

    assert _stale(tmp_path, maps) == [("README.md", "gone")]


def test_inside_of_an_event_loop_they_are_compared_too(tmp_path: Path) -> None:
    folder = orchard(tmp_path)

    async def inside() -> tuple[StaleEntry, ...]:
        return stale(Workspace(folder), build(Workspace(folder)))

    assert anyio.run(inside) == ()
