"""Files copied, moved, packed, tidied and taken away: what becomes of them, what is refused, and the undo."""

from __future__ import annotations

import io
import json
import os
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from test_undo import tree
from walks import Walks, tool

from executor.walker.undo import looker
from executor.walker.undo.images import Images
from executor.walker.undo.undo import undo

AT = "2026-11-21T10:00:00Z"


def call(walks: Walks, name: str, effect: str = "write", verb: str = "modify", /, **args: Any) -> Any:
    """The answer of one call, or the code of its failure."""
    texts = {name: one if isinstance(one, str) else json.dumps(one) for name, one in args.items()}
    outcome = walks.go(tool("n1", f"fs/{name}", effect, **texts), verb=verb)
    if outcome.failure is not None:
        return outcome.failure.code
    walks.last = outcome.intent_id  # type: ignore[attr-defined]
    return outcome.outputs["n1"]


def look(walks: Walks, name: str, /, **args: Any) -> Any:
    return call(walks, name, "read", "find", **args)


def undone(walks: Walks) -> str:
    return undo(walks.home, walks.last).state  # type: ignore[attr-defined]


def files(walks: Walks) -> dict[str, str]:
    found = (one for one in sorted(walks.workspace.rglob("*")) if one.is_file())
    return {str(one.relative_to(walks.workspace)): one.read_text("latin-1") for one in found}


def some(walks: Walks, *paths: str) -> None:
    for path in paths:
        walks.write(path, f"this is {path}\n")


# ---- Copying and moving.


@pytest.mark.parametrize(
    ("args", "there"),
    [
        ({"paths": ["a.txt"], "to": "notes/"}, "notes/a.txt"),
        ({"paths": ["a.txt"], "to": "notes"}, "notes/a.txt"),  # a folder that is there
        ({"paths": ["a.txt"], "to": "old"}, "old/a.txt"),  # no ending: a folder to be
        ({"paths": ["a.txt"], "to": "old/b.txt"}, "old/b.txt"),
        ({"paths": ["notes/c.md", "a.txt"], "to": "old"}, "old/a.txt"),
        ({"paths": ["notes"], "to": "kept"}, "kept/deep/d.JPG"),
        ({"paths": ["."], "glob": "*.TXT", "to": "old"}, "old/a.txt"),
        ({"paths": ["notes"], "glob": "*.{jpg,png}", "recursive": True, "to": "old"}, "old/d.JPG"),
        ({"paths": ["."], "glob": "deep notes", "to": "old"}, "old/d.JPG"),
    ],
)
@pytest.mark.parametrize("name", ["copy", "move"])
def test_what_is_carried_is_where_it_should_be_and_an_undo_takes_it_back(
    walks: Walks, name: str, args: Mapping[str, Any], there: str
) -> None:
    some(walks, "a.txt", "notes/c.md", "notes/deep/d.JPG")
    (walks.workspace / "a.txt").chmod(0o640)
    before, names = tree(walks.workspace), files(walks)
    answer = call(walks, name, **args)
    after = files(walks)
    assert there in after, answer
    assert answer["already"] == 0
    assert (
        sorted(after.values()) == sorted(names.values()) if name == "move" else names.items() < after.items()
    )
    assert undone(walks) == "undone"
    assert tree(walks.workspace) == before


@pytest.mark.parametrize(
    ("args", "code"),
    [
        ({"paths": ["nothing.txt"], "to": "x/"}, "NOT_FOUND"),
        ({"paths": ["a.txt"], "to": "b.txt"}, "EXISTS"),
        ({"paths": ["a.txt"], "to": "../out.txt"}, "OUT_OF_SCOPE"),
        ({"paths": ["../x"], "to": "x/"}, "OUT_OF_SCOPE"),
        ({"paths": [".env"], "to": "x/"}, "PROTECTED_PATH"),
        ({"paths": ["a.txt"], "to": ".git/hooks"}, "PROTECTED_PATH"),
        ({"paths": ["link"], "to": "x/"}, "OUT_OF_SCOPE"),
        ({"paths": ["a.txt"], "to": "away/x.txt"}, "OUT_OF_SCOPE"),
        ({"paths": ["notes"], "to": "notes/deep/er"}, "INTO_ITSELF"),
        ({"paths": ["."], "to": "x"}, "INTO_ITSELF"),
        ({"paths": ["notes/a.txt", "a.txt"], "to": "x/"}, "SAME_NAME"),
        ({"paths": ["a.txt"], "to": "a.txt"}, "SAME_PLACE"),
        ({"paths": ["."], "glob": "*.pdf", "to": "x"}, "NOTHING_FOUND"),
        ({"paths": ["a.txt"], "to": ""}, "INVALID_ARGS"),
        ({"paths": [], "to": "x"}, "INVALID_ARGS"),
        ({"paths": "a.txt", "to": "x"}, "INVALID_ARGS"),
    ],
)
@pytest.mark.parametrize("name", ["copy", "move"])
def test_what_cannot_be_carried_is_refused_and_nothing_is_touched(
    walks: Walks, tmp_path: Path, name: str, args: Mapping[str, Any], code: str
) -> None:
    some(walks, "a.txt", "b.txt", "notes/a.txt", ".env")
    (walks.workspace / "link").symlink_to("a.txt")
    (tmp_path / "outside").mkdir()
    (walks.workspace / "away").symlink_to(tmp_path / "outside")
    before = files(walks)
    assert call(walks, name, **args) == code
    assert files(walks) == before
    assert not list((tmp_path / "outside").iterdir())


def test_a_copy_that_is_there_is_left_and_so_is_what_was_moved_before(walks: Walks) -> None:
    some(walks, "a.txt")
    assert call(walks, "copy", paths=["a.txt"], to="b.txt")["count"] == 1
    assert call(walks, "copy", paths=["a.txt"], to="b.txt")["already"] == 1
    assert call(walks, "move", paths=["a.txt"], to="old/")["count"] == 1
    answer = call(walks, "move", paths=["a.txt"], to="old/")
    assert (answer["count"], answer["already"], answer["text"]) == (0, 1, "old/a.txt was there already")


@pytest.mark.parametrize(
    ("source", "name", "new"),
    [("a.txt", "b", "b.txt"), ("notes/c.md", "d.txt", "notes/d.txt"), ("notes", "letters", "letters/c.md")],
)
def test_a_new_name_keeps_folder_and_ending(walks: Walks, source: str, name: str, new: str) -> None:
    some(walks, "a.txt", "notes/c.md")
    before = tree(walks.workspace)
    call(walks, "move", paths=[source], name=name)
    assert new in files(walks)
    assert undone(walks) == "undone"
    assert tree(walks.workspace) == before


def test_a_name_with_another_folder_in_it_is_no_name(walks: Walks) -> None:
    some(walks, "notes/c.md")
    assert call(walks, "move", paths=["notes/c.md"], name="d in old/things") == "ONE_NAME"
    some(walks, "a.txt")
    assert call(walks, "move", paths=["a.txt"], name="/b.txt") == "ONE_NAME"
    call(walks, "move", paths=["notes/c.md"], name="notes/d")
    assert files(walks).keys() >= {"notes/d.md"}


def test_what_is_moved_is_never_too_large_and_what_is_taken_away_may_be(
    walks: Walks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looker, "FILE_LIMIT", 10)
    least = {"file_limit": 10, "store_limit": 1 << 30}
    monkeypatch.setattr(Images.__init__, "__kwdefaults__", least)
    some(walks, "notes/large.txt", "small")
    before = tree(walks.workspace)
    assert call(walks, "move", paths=["notes/large.txt"], to="old/")["count"] == 1
    assert undone(walks) == "undone"
    assert tree(walks.workspace) == before
    assert call(walks, "remove", paths=["notes"]) == "NOT_UNDOABLE"
    assert tree(walks.workspace) == before


def test_an_undo_of_a_move_leaves_what_changed_since(walks: Walks) -> None:
    some(walks, "a.txt", "b.txt")
    call(walks, "move", paths=["a.txt", "b.txt"], to="old/")
    walks.write("old/a.txt", "of a person\n")
    with pytest.raises(Exception, match=r"changed since the run: 'old/a\.txt'"):
        undone(walks)
    assert files(walks)["old/a.txt"] == "of a person\n"


def test_folders_are_made_once_and_are_gone_after_an_undo(walks: Walks) -> None:
    before = tree(walks.workspace)
    assert call(walks, "mkdir", paths=["2026/11", "2026/12"])["made"] == ["2026/11", "2026/12"]
    assert undone(walks) == "undone"
    assert tree(walks.workspace) == before
    some(walks, "a")
    assert call(walks, "mkdir", paths=["a"]) == "EXISTS"


# ---- Tidying and taking away.


@pytest.mark.parametrize(
    ("by", "more", "there"),
    [
        (
            "month",
            {},
            ["in/2024-05/IMG_20240517_1.jpg", "in/2026-01/letter.pdf", "in/2023-02/bill 2023-02.csv"],
        ),
        ("day", {}, ["in/2024-05-17/IMG_20240517_1.jpg", "in/2026-01-02/letter.pdf"]),
        ("year", {"recursive": True}, ["in/2024/IMG_20240517_1.jpg", "in/2026/song.MP3"]),
        (
            "kind",
            {"recursive": True},
            ["in/pictures/IMG_20240517_1.jpg", "in/music/song.MP3", "in/other/plain"],
        ),
        ("ending", {"glob": "*.pdf"}, ["in/pdf/letter.pdf", "in/IMG_20240517_1.jpg"]),
        ("kind", {"keep": True}, ["in/documents/letter.pdf", "in/letter.pdf", "in/deep/song.MP3"]),
    ],
)
def test_a_folder_is_tidied_and_an_undo_makes_it_what_it_was(
    walks: Walks, by: str, more: Mapping[str, Any], there: list[str]
) -> None:
    some(
        walks, "in/IMG_20240517_1.jpg", "in/letter.pdf", "in/deep/song.MP3", "in/bill 2023-02.csv", "in/plain"
    )
    some(walks, "in/.hidden")
    for path in walks.workspace.rglob("*"):
        os.utime(path, (1767348000, 1767348000))  # 2026-01-02
    before, count = tree(walks.workspace), len(files(walks))
    answer = call(walks, "arrange", path="in", by=by, **more)
    after = files(walks)
    assert set(there) <= set(after), answer
    assert "in/.hidden" in after
    assert len(after) == count + (answer["count"] if more.get("keep") else 0)
    assert undone(walks) == "undone"
    assert tree(walks.workspace) == before


def test_two_files_that_would_get_one_place_are_left(walks: Walks) -> None:
    some(walks, "in/a/x.pdf", "in/b/x.pdf")
    before = files(walks)
    assert call(walks, "arrange", path="in", by="kind", recursive=True) == "SAME_NAME"
    assert files(walks) == before


def test_what_fits_is_taken_away_after_a_person_approved_it_and_can_be_put_back(walks: Walks) -> None:
    some(walks, "logs/old.log", "logs/new.log", "logs/deep/x.log", "logs/a.md")
    os.utime(walks.workspace / "logs/old.log", (1_600_000_000, 1_600_000_000))
    for path in ("logs/new.log", "logs/deep/x.log"):
        os.utime(walks.workspace / path, (1_795_000_000, 1_795_000_000))
    before = tree(walks.workspace)
    answer = call(walks, "remove", paths=["logs"], glob="*.log", older_days=30, now=AT)
    assert (answer["gone"], answer["count"]) == (["logs/old.log"], 1)
    assert undone(walks) == "undone"
    assert tree(walks.workspace) == before
    assert call(walks, "remove", paths=["logs", "nothing"]) == "NOT_FOUND"
    assert call(walks, "remove", paths=["."]) == "NOT_EMPTY"
    assert call(walks, "remove", paths=["logs"], older_days=30) == "BAD_TIME"
    assert tree(walks.workspace) == before
    assert call(walks, "remove", paths=["logs"])["count"] == 4
    assert files(walks) == {}
    assert undone(walks) == "undone"
    assert tree(walks.workspace) == before
    some(walks, "logs/.env")
    assert call(walks, "remove", paths=["logs"]) == "NOT_EMPTY"


# ---- Archives.


def test_an_archive_is_the_same_for_the_same_files_and_unpacks_to_them(walks: Walks) -> None:
    some(walks, "notes/a.txt", "notes/deep/b.txt", "notes/.env")
    before = tree(walks.workspace)
    made = call(walks, "zip", paths=["notes"], to="out/")
    assert (made["path"], made["count"]) == ("out/notes.zip", 2)
    first = (walks.workspace / "out/notes.zip").read_bytes()
    assert undone(walks) == "undone"
    assert tree(walks.workspace) == before
    call(walks, "zip", paths=["notes"], to="out/")
    assert (walks.workspace / "out/notes.zip").read_bytes() == first
    assert call(walks, "zip", paths=["notes"], to="out/")["created"] is False
    dated = call(walks, "zip", paths=["notes"], to="out/", stamp=AT)["path"]
    assert dated == "out/notes-2026-11-21-1000.zip"
    assert look(walks, "contents", path="out/notes.zip")["count"] == 2
    call(walks, "unzip", path="out/notes.zip")
    assert files(walks)["notes/notes/deep/b.txt"] == "this is notes/deep/b.txt\n"
    assert undone(walks) == "undone"
    assert call(walks, "unzip", path="out/notes.zip", to="new")["path"] == "new"
    walks.write("new/notes/a.txt", "of a person\n")
    assert call(walks, "unzip", path="out/notes.zip", to="new") == "EXISTS"
    walks.write("notes/a.txt", "another\n")
    assert call(walks, "zip", paths=["notes"], to="out/notes.zip") == "EXISTS"
    assert call(walks, "zip", paths=["notes"], glob="*.pdf", to="x.zip") == "NOTHING_FOUND"


def packed(**entries: bytes | zipfile.ZipInfo) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries.items():
            file.writestr(
                name if isinstance(data, bytes) else data, data if isinstance(data, bytes) else b"a.txt"
            )
    return out.getvalue()


CENTRAL = b"PK\x01\x02\x14\x03\x14\x00"  # how an entry of the directory begins, before its flags


def linking() -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("link")
    entry.create_system, entry.external_attr = 3, 0o120777 << 16
    return entry


def tarred(kind: bytes, name: str = "x") -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as file:
        entry = tarfile.TarInfo(name)
        entry.type, entry.linkname = kind, "/etc/passwd"
        file.addfile(entry)
    return out.getvalue()


ARCHIVES: Mapping[str, tuple[Callable[[], bytes], str]] = {
    "up": (lambda: packed(**{"../out.txt": b"x"}), "UNSAFE_ARCHIVE"),
    "absolute": (lambda: packed(**{"/etc/x": b"x"}), "UNSAFE_ARCHIVE"),
    "down and up": (lambda: packed(**{"a/../../x": b"x"}), "UNSAFE_ARCHIVE"),
    "protected": (lambda: packed(**{".git/hooks/x": b"x"}), "UNSAFE_ARCHIVE"),
    "file and folder": (lambda: packed(**{"a": b"x", "a/b": b"x"}), "UNSAFE_ARCHIVE"),
    "link": (lambda: packed(link=linking()), "UNSAFE_ARCHIVE"),
    "link in a tar": (lambda: tarred(tarfile.SYMTYPE), "UNSAFE_ARCHIVE"),
    "hard link": (lambda: tarred(tarfile.LNKTYPE), "UNSAFE_ARCHIVE"),
    "device": (lambda: tarred(tarfile.CHRTYPE), "UNSAFE_ARCHIVE"),
    "up in a tar": (lambda: tarred(tarfile.REGTYPE, "../x"), "UNSAFE_ARCHIVE"),
    "bomb": (lambda: packed(bomb=bytes(70 << 20)), "TOO_LARGE"),
    "many": (lambda: packed(**{f"{n}": b"" for n in range(2001)}), "TOO_MANY_FILES"),
    "cut off": (lambda: packed(a=b"hello" * 99)[:-30], "BAD_ARCHIVE"),
    "locked": (lambda: packed(a=b"hello").replace(CENTRAL + b"\x00", CENTRAL + b"\x01"), "ARCHIVE_LOCKED"),
    "text": (lambda: b"no archive at all", "BAD_ARCHIVE"),
    "empty": (lambda: b"", "BAD_ARCHIVE"),
}


@pytest.mark.parametrize("which", ARCHIVES)
def test_an_archive_that_is_not_to_be_trusted_is_left_as_a_whole(walks: Walks, which: str) -> None:
    make, code = ARCHIVES[which]
    (walks.workspace / "x.zip").write_bytes(make())
    assert call(walks, "unzip", path="x.zip", to="out") == code
    assert [one.name for one in walks.workspace.iterdir()] == ["x.zip"]


def test_an_archive_that_says_less_than_it_holds_is_not_believed(walks: Walks) -> None:
    data = packed(a=bytes(100_000))
    (walks.workspace / "x.zip").write_bytes(data.replace((100_000).to_bytes(4, "little"), b"\x05\0\0\0"))
    assert call(walks, "unzip", path="x.zip", to="out") in ("UNSAFE_ARCHIVE", "BAD_ARCHIVE")
    assert not (walks.workspace / "out/a").exists()


# ---- Looking.


def test_files_are_found_counted_and_compared(walks: Walks) -> None:
    some(walks, "a.txt", "b/c.txt", "b/d.md", ".hidden", ".env")
    walks.write("b/same.txt", "this is a.txt\n")
    walks.write("large.bin", "x" * 5000)
    os.utime(walks.workspace / "a.txt", (1_600_000_000, 1_600_000_000))
    assert look(walks, "find", glob="*.TXT")["paths"] == ["a.txt", "b/c.txt", "b/same.txt"]
    assert look(walks, "find", older_days=365, now="2021-11-21")["paths"] == ["a.txt"]
    assert look(walks, "find", since="2021-01-01", glob="*.txt")["count"] == 2
    assert look(walks, "find", since="soon") == "BAD_TIME"
    assert look(walks, "largest", limit=1)["paths"] == ["large.bin"]
    counted = look(walks, "count")
    assert (counted["count"], counted["folders"]) == (5, 2)
    assert counted["endings"][0] == {"ending": ".txt", "count": 3}
    assert look(walks, "count", path="b", glob="*.md")["text"] == "1 file in b, 15 bytes (1 .md)"
    assert look(walks, "duplicates")["groups"] == [{"size": 14, "paths": ["a.txt", "b/same.txt"]}]
    assert look(walks, "compare", path="a.txt", other="b/same.txt")["same"]
    found = look(walks, "compare", path="a.txt", other="b/c.txt")
    assert (found["same"], found["added"], found["removed"]) == (False, 1, 1)
    assert look(walks, "compare", path="a.txt", other="b") == "TWO_KINDS"
    assert look(walks, "compare", path="b", other=".")["differences"][:2] == ["- c.txt", "- d.md"]
    assert look(walks, "find", path="nowhere") == "NOT_FOUND"
