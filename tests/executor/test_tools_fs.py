"""Files: adding to them, telling which changed, watching them."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from walks import Walks, parallel, tool

from executor import Workspace
from mcl.catalog.tools import registry
from mcl.plugins.files.tools.fs import watch


def append(path: str, content: str) -> dict[str, Any]:
    return tool("n1", "fs/append", "write", path=path, content=content)


def test_append_makes_a_missing_file_and_then_adds_on_a_line_of_its_own(walks: Walks) -> None:
    made = walks.ask(append("notes/day.md", "first"))
    assert (made["created"], made["size"], made["path"]) == (True, 5, "notes/day.md")
    more = walks.ask(append("notes/day.md", "second\n"))
    assert not more["created"]
    walks.ask(append("notes/day.md", "third"))
    data = (walks.workspace / "notes/day.md").read_bytes()
    assert data == b"first\nsecond\nthird"
    assert more["sha256"] == hashlib.sha256(b"first\nsecond\n").hexdigest()
    assert more["size"] == len(b"first\nsecond\n")


def test_append_keeps_the_line_ends_the_mode_and_the_identity_of_a_file(walks: Walks) -> None:
    place = walks.workspace / "a.txt"
    place.write_bytes(b"one\r\ntwo")
    place.chmod(0o640)
    before = place.stat()
    walks.ask(append("a.txt", "three"))
    assert place.read_bytes() == b"one\r\ntwo\r\nthree"
    assert (place.stat().st_mode, place.stat().st_ino) == (before.st_mode, before.st_ino)


def test_append_to_an_empty_file_adds_no_empty_line(walks: Walks) -> None:
    place = walks.write("empty.txt")
    walks.ask(append("empty.txt", "x"))
    assert place.read_text() == "x"


def test_append_refuses_a_binary_file_and_a_folder_and_leaves_them(walks: Walks) -> None:
    (walks.workspace / "b").write_bytes(b"\x7fELF\0")
    (walks.workspace / "folder").mkdir()
    assert walks.refusal(append("b", "x")) == "NOT_TEXT"
    assert walks.refusal(append("folder", "x")) == "NOT_A_FILE"
    assert (walks.workspace / "b").read_bytes() == b"\x7fELF\0"


def test_append_is_a_write_that_a_verb_of_looking_may_not_make(walks: Walks) -> None:
    outcome = walks.go(append("a.txt", "x"), verb="find")
    assert outcome.state == "denied"
    assert not (walks.workspace / "a.txt").exists()


def test_two_appends_to_one_file_at_once_are_refused(walks: Walks) -> None:
    first, second = append("a.txt", "x"), {**append("a.txt", "y"), "id": "n2"}
    outcome = walks.go(parallel("n0", first, second))
    assert outcome.failure is not None
    assert outcome.failure.code == "SCOPE_CONTENTION"


def test_an_append_that_the_disk_has_no_room_for_leaves_the_file_as_it_was(disk: Any) -> None:
    said = disk.run(
        """
from executor import ScopeError, Workspace
(DISK / "work").mkdir()
(DISK / "work/a.txt").write_text("before\\n")
fill(8192)
workspace = Workspace(DISK / "work")
try:
    workspace.append("a.txt", b"x" * 100_000)
    code = ""
except ScopeError as problem:
    code = problem.code
print(json.dumps([code, (DISK / "work/a.txt").read_text()]))
"""
    )
    assert said == ["DISK_FULL", "before\n"]


def test_what_somebody_adds_at_the_same_moment_is_kept(tmp_path: Path) -> None:
    place = tmp_path / "log.txt"
    place.write_text("")
    workspace, done = Workspace(tmp_path), threading.Event()

    def other() -> None:
        for number in range(300):
            with place.open("a") as file:
                file.write(f"other {number}\n")
        done.set()

    writing = threading.Thread(target=other)
    writing.start()
    ours = 0
    try:
        while not done.is_set() or ours < 20:
            written = workspace.append("log.txt", f"ours {ours}\n".encode())
            ours += 1
            assert len(written.sha256) == 64
    finally:
        writing.join()
    written = workspace.append("log.txt", f"ours {ours}\n".encode())
    ours += 1
    lines = place.read_text().splitlines()
    assert [line for line in lines if line.startswith("ours")] == [f"ours {number}" for number in range(ours)]
    assert [line for line in lines if line.startswith("oth")] == [f"other {number}" for number in range(300)]
    assert written.sha256 == hashlib.sha256(place.read_bytes()).hexdigest()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)))
def test_appending_gives_all_pieces_in_order(tmp_path: Path, pieces: list[str]) -> None:
    place = tmp_path / "a.txt"
    place.unlink(missing_ok=True)
    workspace, expected = Workspace(tmp_path), b""
    for piece in pieces:
        written = workspace.append("a.txt", piece.encode())
        between = b""
        if expected and not expected.endswith(b"\n"):
            between = b"\r\n" if b"\r\n" in expected[-4096:] else b"\n"
        expected += between + piece.encode()
        assert (written.size, written.sha256) == (len(expected), hashlib.sha256(expected).hexdigest())
    assert (place.read_bytes() if pieces else b"") == expected


def aged(walks: Walks, path: str, moment: float) -> None:
    os.utime(walks.write(path, "x"), (moment, moment))


def test_changes_are_newest_first_and_from_the_moment_on(walks: Walks) -> None:
    aged(walks, "old.txt", 1_700_000_000)
    aged(walks, "src/b.py", 1_700_000_100)
    aged(walks, "src/a.py", 1_700_000_100)
    aged(walks, "new.txt", 1_700_000_200.5)
    found = walks.ask(tool("n1", "fs/changes", since="2023-11-14T22:15:00Z"))
    assert [one["path"] for one in found["changes"]] == ["new.txt", "src/a.py", "src/b.py"]
    assert found["changes"][0]["modified"] == "2023-11-14T22:16:40.500Z"
    assert "2023-11-14 22:16 UTC" in found["text"]
    only = walks.ask(tool("n1", "fs/changes", since="2023-11-14T22:15:00Z", glob="*.py", path="src"))
    assert only["count"] == 2
    none = walks.ask(tool("n1", "fs/changes", since="2030-01-01"))
    assert (none["count"], none["text"]) == (0, "nothing changed since 2030-01-01 00:00 UTC")


def test_changes_takes_the_moment_itself_in_and_any_offset(walks: Walks) -> None:
    aged(walks, "a.txt", 1_700_000_000)
    for since, count in [
        ("2023-11-14T22:13:20Z", 1),
        ("2023-11-14T22:13:20.001Z", 0),
        ("2023-11-14T23:13:20+01:00", 1),
        ("2023-11-14", 1),
        ("2023-11-15", 0),
    ]:
        assert walks.ask(tool("n1", "fs/changes", since=since))["count"] == count, since


@pytest.mark.parametrize(
    "since", ["yesterday", "2023-11-14T22:13:20", "2023-13-01", "20231114", "2023-W46", "1", "2023-11-14T"]
)
def test_changes_refuses_what_is_no_moment_and_does_not_guess_a_zone(walks: Walks, since: str) -> None:
    assert walks.refusal(tool("n1", "fs/changes", since=since)) == "BAD_TIME"


def test_changes_tells_no_secret_files_and_no_times_beyond_the_calendar(walks: Walks) -> None:
    walks.write(".env", "x")
    walks.write(".git/index", "x")
    walks.write("far.txt", "x")
    os.utime(walks.workspace / "far.txt", (2**37, 2**37))  # the year 6325; some file systems stop in 2446
    found = walks.ask(tool("n1", "fs/changes", since="2020-01-01"))
    assert [one["path"] for one in found["changes"]] == ["far.txt"]


def test_changes_says_how_many_there_are_where_it_shows_only_some(walks: Walks) -> None:
    (walks.workspace / "many").mkdir()
    for number in range(2100):
        (walks.workspace / f"many/{number}.txt").touch()
    found = walks.ask(tool("n1", "fs/changes", since="2020-01-01"))
    assert (found["count"], len(found["changes"]), found["truncated"]) == (2100, 2000, True)
    assert found["text"].endswith("… and 100 more")


def watched(walks: Walks, do: Callable[[], None], *, path: str = ".", **args: str) -> dict[str, Any]:
    """Watch while somebody does something, as soon as the first look is taken."""
    begun, look = threading.Event(), watch._look

    def looked(*given: Any) -> Any:
        seen = look(*given)
        begun.set()
        return seen

    def act() -> None:
        assert begun.wait(60)
        do()

    acting = threading.Thread(target=act)
    acting.start()
    intent_id = walks.accept(tool("n1", "fs/watch", path=path, **args))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(watch, "_look", looked)
        outcome = walks.run(intent_id)
    acting.join()
    assert outcome.failure is None, outcome.failure
    found = outcome.outputs["n1"]
    assert isinstance(found, dict)
    return found


def told(found: dict[str, Any]) -> list[tuple[str, str]]:
    return [(one["path"], one["what"]) for one in found["changes"]]


def test_watch_tells_what_was_created_modified_and_deleted(walks: Walks) -> None:
    walks.write("gone.txt", "x")
    walks.write("same.txt", "x")
    changed = walks.write("changed.txt", "x")

    def do() -> None:
        walks.write("new.txt", "x")
        changed.write_text("longer")
        (walks.workspace / "gone.txt").unlink()

    found = watched(walks, do, seconds="3")
    assert sorted(told(found)) == [
        ("changed.txt", "modified"),
        ("gone.txt", "deleted"),
        ("new.txt", "created"),
    ]
    assert (found["count"], found["files"], found["truncated"]) == (3, 3, False)
    assert found["text"].startswith("watched . (3 files) for 3 s: 3 changes\n")
    assert found["from"] < found["changes"][0]["at"] < found["to"]


def test_watch_until_the_first_change_ends_early(walks: Walks) -> None:
    started = time.monotonic()
    found = watched(walks, lambda: walks.write("in/report.pdf", "x") and None, seconds="60", until="first")
    assert told(found) == [("in/report.pdf", "created")]
    assert time.monotonic() - started < 30


def test_watch_waits_for_a_file_that_is_not_there_yet(walks: Walks) -> None:
    found = watched(
        walks, lambda: walks.write("later.txt", "x") and None, path="later.txt", seconds="60", until="first"
    )
    assert told(found) == [("later.txt", "created")]


def test_watch_notices_a_file_replaced_by_one_of_the_same_size_and_time(walks: Walks) -> None:
    place = walks.write("a.txt", "one")
    moment = place.stat()

    def do() -> None:
        spare = walks.write("other.tmp", "two")
        os.utime(spare, ns=(moment.st_atime_ns, moment.st_mtime_ns))
        spare.rename(place)

    assert told(watched(walks, do, path="a.txt", seconds="60", until="first")) == [("a.txt", "modified")]


@pytest.mark.slow
def test_watch_fits_the_glob_and_leaves_secrets_and_unfinished_writes_out(walks: Walks) -> None:
    def do() -> None:
        for path in ("a.py", "b.txt", ".env", ".git/index", ".mcl-0123456789abcdef.tmp"):
            walks.write(path, "x")

    assert told(watched(walks, do, seconds="3", glob="*.py")) == [("a.py", "created")]


def test_a_cancelled_watch_ends_at_once(walks: Walks) -> None:
    intent_id = walks.accept(tool("n1", "fs/watch", path=".", seconds="3600"))
    started = time.monotonic()

    async def run() -> None:
        async with walks.walker() as walker:
            with anyio.move_on_after(1):
                await walker.run(intent_id)

    anyio.run(run)
    assert time.monotonic() - started < 20
    assert walks.watch.of("n1")[-1] == "cancelled"


def test_watch_may_take_its_longest_time_under_its_own_limit() -> None:

    manifest = registry().find("matrix://tool/fs/watch@1.0.0")
    assert manifest is not None
    seconds: Any = manifest.properties["seconds"]
    assert manifest.timeout_ms > seconds["maximum"] * 1000


@pytest.mark.parametrize("seconds", ["0", "3601", "-1", "1.5", "soon"])
def test_watch_refuses_other_times(walks: Walks, seconds: str) -> None:
    assert walks.refusal(tool("n1", "fs/watch", path=".", seconds=seconds)) == "INVALID_ARGS"


def test_a_search_and_a_list_without_a_hit_say_so(walks: Walks) -> None:
    walks.write("a.txt", "x")
    assert walks.ask(tool("n1", "fs/search", "read", query="zebra"))["text"] == "nothing found in 1 file"
    assert walks.ask(tool("n1", "fs/list", "read", glob="*.md"))["text"] == "nothing found"
