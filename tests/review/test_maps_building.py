"""Maps of whole repositories: what they say, that they are always the same bytes, and what is left out."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from orchards import begun, build, commit, git, orchard, write

from executor.core.errors import ScopeError
from executor.sandbox.paths import Workspace
from mcl.plugins.review.maps import files
from mcl.plugins.review.maps.documents import documents
from mcl.plugins.review.maps.files import MapCache, stale
from mcl.plugins.review.maps.maps import Maps


def _built(folder: Path, cache: Path | None = None, **more: Any) -> Maps:
    return build(Workspace(folder), cache=cache, **more)


def _document(folder: Path, name: str, **more: Any) -> Any:
    return json.loads(documents(_built(folder, **more))[f"generated/architecture/{name}.json"])


def test_maps_answer_what_a_file_is_what_it_offers_and_who_owns_it(tmp_path: Path) -> None:
    maps = _built(orchard(tmp_path))

    assert maps.role("orchard/__main__.py") == "entry point"
    assert maps.why("orchard/__main__.py") == "named as the file that a program starts with"
    assert [one.name for one in maps.symbols("orchard/tree.py")] == ["HEIGHT", "Tree", "Tree.pick"]
    assert maps.symbols("orchard/tree.py")[2].signature == "Tree.pick(self, n: int, secret=…) -> 'Fruit'"
    assert maps.hub("orchard/fruit.py") == round(
        1 / 11, 3
    )  # the tree imports it; that a test does, does not count
    assert maps.owner("orchard/fruit.py") == "Ada"
    assert (maps.role("no"), maps.why("no"), maps.symbols("no"), maps.hub("no"), maps.owner("no")) == (
        "", "", (), 0.0, ""
    )  # fmt: skip


def test_the_architecture_map_has_the_fields_of_its_schema(tmp_path: Path) -> None:
    at = "2026-11-22T10:00:00.000Z"
    said = _document(orchard(tmp_path), "architecture_map", reviews={"orchard/tree.py": at})

    assert said["schema"] == "architecture_map.v1"
    assert said["head"] == git(tmp_path, "rev-parse", "HEAD")
    assert said["files"].keys() == {
        *("README.md", "pyproject.toml", "orchard/__init__.py", "orchard/__main__.py", "orchard/fruit.py"),
        *("orchard/tree.py", "tests/test_tree.py"),
    }
    assert said["files"]["orchard/tree.py"] == {
        "role": "library module",
        "role_rule": "library-module",
        "public_symbols": ["HEIGHT", "Tree"],
        "last_review_timestamp": at,
        "hub_score": 0.091,
        "importers": 1,
    }
    assert said["files"]["orchard/fruit.py"]["last_review_timestamp"] is None


def test_the_ownership_map_has_the_fields_of_its_schema(tmp_path: Path) -> None:
    said = _document(orchard(tmp_path), "ownership_map")

    assert (said["schema"], said["history"]) == ("ownership_map.v1", "whole")
    assert said["files"]["orchard/fruit.py"] == {
        "author": "Ada",
        "change_frequency": 2,
        "last_modified": "2026-02-05T10:00:00Z",
    }
    assert "example.org" not in json.dumps(said)


def test_the_symbol_index_has_the_fields_of_its_schema(tmp_path: Path) -> None:
    said = _document(orchard(tmp_path), "symbol_index")

    assert said["schema"] == "symbol_index.v1"
    entry = said["files"]["orchard/fruit.py"]
    assert entry["symbols"][1] == {"name": "ripe", "kind": "function", "line": 5, "signature": "ripe(one)"}
    assert {name: entry[name] for name in ("size", "lines", "language", "read")} == {
        "size": 85, "lines": 12, "language": "python", "read": "ast"
    }  # fmt: skip


def test_a_file_that_git_does_not_know_yet_is_mapped_without_an_owner(tmp_path: Path) -> None:
    write(orchard(tmp_path), {"orchard/new.py": "x = 1\n"})

    assert _document(tmp_path, "ownership_map")["files"]["orchard/new.py"] == {
        "author": None, "change_frequency": 0, "last_modified": None
    }  # fmt: skip


@pytest.mark.parametrize("git_dir", [False, True])
def test_without_a_commit_maps_are_made_all_the_same(tmp_path: Path, git_dir: bool) -> None:
    if git_dir:
        begun(tmp_path)
    write(tmp_path, {"a.py": "def run(): ...\n"})

    maps = _built(tmp_path)

    assert (maps.head, maps.history) == ("", "empty" if git_dir else "none")
    assert (maps.role("a.py"), maps.owner("a.py")) == ("library module", "")


def test_an_empty_folder_has_empty_maps(tmp_path: Path) -> None:
    assert _built(tmp_path).files == {}
    assert json.loads(documents(_built(tmp_path))["generated/architecture/symbol_index.json"])["files"] == {}


def test_the_same_repository_gives_the_same_bytes_wherever_it_lies(tmp_path: Path) -> None:
    orchard(tmp_path / "one")
    git(tmp_path, "clone", "-q", "one", "two")
    for path in (tmp_path / "two").rglob("*.py"):
        os.utime(path, (1, 1))

    assert documents(_built(tmp_path / "one")) == documents(_built(tmp_path / "two", tmp_path / "cache"))


def test_what_is_ignored_vendored_or_made_by_this_is_not_mapped(tmp_path: Path) -> None:
    orchard(tmp_path)
    write(
        tmp_path,
        {
            ".gitignore": "*.log\n",
            "a.log": "x",
            "node_modules/x.js": "x",
            "app.min.js": "x",
            "generated/architecture/architecture_map.json": "{}",
            "generated/.gitignore": "/architecture/\n",
            "generated/own.py": "x = 1\n",
        },
    )
    git(tmp_path, "add", "-f", "generated")

    found = _built(tmp_path).files

    assert "generated/own.py" in found
    assert not {"a.log", "node_modules/x.js", "app.min.js"} & found.keys()
    assert not [path for path in found if path.startswith(("generated/architecture", "generated/.git"))]


def test_what_cannot_be_mapped_is_left_out_and_said(tmp_path: Path) -> None:
    orchard(tmp_path)
    write(
        tmp_path, {".env": "KEY=1\n", "gone.py": "x = 1\n", "two\nlines.py": "x = 1\n", "hard.py": "x = 1\n"}
    )
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.py"))).write_text("x = 1\n")
    git(tmp_path, "add", "-A", "-f")
    (tmp_path / "gone.py").unlink()
    os.link(tmp_path / "hard.py", tmp_path.parent / f"{tmp_path.name}-hard.py")
    os.mkfifo(tmp_path / "pipe.py")  # git does not list it

    maps = _built(tmp_path)

    assert maps.left_out == {
        "git knows them, and they are not there": 1,
        "links, hard links, devices, and names that cannot be used": 3,
        "names that are not UTF-8": 1,
        "protected names (secrets, keys, …)": 1,
    }
    assert len(maps.files) == 7


def test_a_file_of_fifty_megabytes_and_a_binary_one_are_mapped_without_symbols(tmp_path: Path) -> None:
    begun(tmp_path, {"data.py": b"def run(): ...\n\0", "logo.png": b"\x89PNG\0"})
    with (tmp_path / "large.py").open("wb") as file:
        file.write(b"def run(): ...\n" + b"#" * (5 << 20))
        file.truncate(50 << 20)

    maps = _built(tmp_path)

    assert (maps.files["large.py"].size, maps.files["large.py"].lines) == (50 << 20, 2)
    assert maps.symbols("large.py") == maps.symbols("data.py") == ()
    assert maps.files["data.py"].lines == 0
    assert maps.left_out == {"symbols of files with very many, or above 1 MiB of text": 1}


def test_a_change_at_the_end_of_a_large_file_of_the_same_size_is_not_seen_and_any_other_is(
    tmp_path: Path,
) -> None:
    begun(tmp_path, {"large.txt": b"#" * (5 << 20)})
    maps = _built(tmp_path)

    write(tmp_path, {"large.txt": b"#" * ((5 << 20) - 1) + b"x"})
    assert stale(Workspace(tmp_path), maps) == ()
    write(tmp_path, {"large.txt": b"x" + b"#" * ((5 << 20) - 1)})
    assert [one.path for one in stale(Workspace(tmp_path), maps)] == ["large.txt"]


def test_of_more_files_than_maps_hold_the_first_are_mapped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "MAX_FILES", 3)

    maps = _built(orchard(tmp_path))

    assert list(maps.files) == ["README.md", "orchard/__init__.py", "orchard/__main__.py"]
    assert list(maps.left_out.values()) == [4]


def test_a_workspace_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ScopeError):
        build(Workspace(tmp_path / "none"))


def test_what_was_read_once_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, cache = orchard(tmp_path / "work"), tmp_path / "cache"
    _old(folder)
    first = _built(folder, cache)
    read: list[str] = []
    real = Workspace.read

    def watched(self: Workspace, path: str, limit: int) -> tuple[bytes, int]:
        read.append(path)
        return real(self, path, limit)

    monkeypatch.setattr(Workspace, "read", watched)

    assert _built(folder, cache) == first
    assert read == []
    write(folder, {"orchard/tree.py": "x = 1\n"})
    assert _built(folder, cache).symbols("orchard/tree.py")[0].name == "x"
    assert read == ["orchard/tree.py"]


def _old(folder: Path) -> None:
    """Let what is there be older than the cache that is made next: a moment passes."""
    import time

    newest = max(path.stat().st_ctime_ns for path in folder.rglob("*.*") if path.is_file())
    while time.time_ns() < newest + 150_000_000:
        time.sleep(0.02)


def test_a_file_that_changed_just_now_is_not_kept(tmp_path: Path) -> None:
    folder, cache = orchard(tmp_path / "work"), tmp_path / "cache"
    _old(folder)
    write(folder, {"orchard/tree.py": "x = 1\n"})
    _built(folder, cache)

    kept = MapCache(cache, folder.resolve())

    def known(path: str) -> bool:
        status = (folder / path).stat()
        stamp = (status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
        return kept.get(path, stamp) is not None

    assert known("orchard/fruit.py")
    assert not known("orchard/tree.py")


@pytest.mark.parametrize("damage", [b"", b"{}", b"x" * 100, b"\x78\x01"])
def test_a_damaged_cache_is_not_used(tmp_path: Path, damage: bytes) -> None:
    folder, cache = orchard(tmp_path / "work"), tmp_path / "cache"
    first = _built(folder, cache)
    (place,) = (cache / "maps").glob("*.z")
    place.write_bytes(damage)

    assert _built(folder, cache) == first


def test_a_cache_that_others_can_write_is_not_used(tmp_path: Path) -> None:
    folder, cache = orchard(tmp_path / "work"), tmp_path / "cache"
    _old(folder)
    _built(folder, cache)
    (place,) = (cache / "maps").glob("*.z")
    place.chmod(0o666)

    assert MapCache(cache, folder.resolve()).log is None


def test_a_cache_that_cannot_be_written_costs_time_only(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")

    assert _built(orchard(tmp_path / "work"), tmp_path / "cache").files


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    _built(orchard(tmp_path), progress=lambda done, total, what: told.append((what, done, total)))

    assert told == [("reading files", 0, 7)]


_EDITS = st.lists(
    st.tuples(
        st.sampled_from(["a.py", "b/c.py", "b/d.js", "e.md", "b/__init__.py"]),
        st.sampled_from(
            [None, "", "x = 1\n", "import a\n", "from b.c import x\n", "export class A {}\n", "\0"]
        ),
        st.booleans(),
    ),
    max_size=6,
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(_EDITS)
def test_with_a_cache_maps_are_what_they_are_without(
    tmp_path_factory: pytest.TempPathFactory, edits: list[tuple[str, str | None, bool]]
) -> None:
    place = tmp_path_factory.mktemp("edits")
    folder = begun(place / "work")
    for number, (path, content, committed) in enumerate(edits):
        if content is None:
            (folder / path).unlink(missing_ok=True)
        else:
            write(folder, {path: content})
        if committed:
            commit(folder, f"2026-01-{number + 1:02}T00:00:00Z")
        maps = _built(folder, place / "cache")
        assert documents(maps) == documents(_built(folder))
        assert stale(Workspace(folder), maps, cache=place / "cache") == ()
