"""fs/edit and fs/delete: one place changed to the byte, one thing taken away."""

from __future__ import annotations

import hashlib
import os
import stat
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from walks import Says, Walks, tool

from executor import AlwaysDeny, Outcome, ToolError
from executor.tools.fs.edit import _replaced as replaced  # the pure part, for random texts


def edit(walks: Walks, path: str = "a.txt", **args: str) -> Outcome:
    return walks.go(tool("n1", "fs/edit", "write", path=path, **args))


def code_of(outcome: Outcome) -> str:
    assert outcome.failure is not None, outcome.outputs
    return outcome.failure.code


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def test_the_only_place_is_replaced_and_told(walks: Walks) -> None:
    place = walks.write("a.txt", "one\ntwo\nthree\n")
    place.chmod(0o751)
    found = edit(walks, old="two\n", new="zwei\nzwo\n").outputs["n1"]
    assert place.read_text() == "one\nzwei\nzwo\nthree\n"
    assert stat.S_IMODE(place.stat().st_mode) == 0o751
    assert found == {
        "path": "a.txt",
        "size": 19,
        "sha256": sha(place.read_bytes()),
        "count": 1,
        "line": 2,
        "text": "changed a.txt (line 2)",
    }


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "b\nc", "x\ny", b"a\r\nx\r\ny\r\n"),
        (b"a\r\nb\r\n", "b", "x\r\ny", b"a\r\nx\r\ny\r\n"),
        (b"a\nb\r\nc\n", "b", "x\ny", b"a\nx\ny\r\nc\n"),  # mixed ends are left as they are
        (b"a\rb\rc", "b", "x", b"a\rx\rc"),
        (b"\xef\xbb\xbfa\nb\n", "a", "x", b"\xef\xbb\xbfx\nb\n"),
        (b"\xef\xbb\xbfa\nb\n", "\ufeffa", "x", b"\xef\xbb\xbfx\nb\n"),
        (b"no end", "end", "line end", b"no line end"),
        ("grüße\n".encode(), "ü", "ue", "grueße\n".encode()),
        (b"caf\xe9 one\n", "one", "two", b"caf\xe9 two\n"),  # Latin-1 keeps its bytes
        (b"out\nin\n", "out\n", "", b"in\n"),
    ],
)
def test_bytes_line_ends_and_marks_stay_as_they_are(
    walks: Walks, before: bytes, old: str, new: str, after: bytes
) -> None:
    place = walks.workspace / "a.txt"
    place.write_bytes(before)
    outcome = edit(walks, old=old, new=new)
    assert outcome.failure is None, outcome.failure
    assert place.read_bytes() == after


def test_every_place_is_replaced_where_that_is_said(walks: Walks) -> None:
    place = walks.write("a.txt", "x = 1\ny = x\nx\n")
    found = edit(walks, old="x", new="xx", all="true").outputs["n1"]
    assert place.read_text() == "xx = 1\ny = xx\nxx\n"
    assert (found["count"], found["line"]) == (3, 1)  # type: ignore[index]  # an object


@pytest.mark.parametrize(
    ("before", "args", "code", "said"),
    [
        (b"a\nb\na\n", {"old": "a", "new": "x"}, "AMBIGUOUS_MATCH", "lines 1, 3"),
        (b"aaa", {"old": "aa", "new": "x"}, "AMBIGUOUS_MATCH", "lines 1, 1"),
        (b"one\n", {"old": "zwei", "new": "x"}, "NO_MATCH", "is not in 'a.txt'"),
        (
            b"def start():\n    go(now)\n",
            {"old": "def start( ):\n    go(now)", "new": "x"},
            "NO_MATCH",
            "line 1: 'def start():'",
        ),
        (
            b"if x:\n\treturn   1\n",
            {"old": "if x:\n    return 1", "new": "x"},
            "NO_MATCH",
            "line 1 has it with other white space",
        ),
        (b"one\n", {"old": "one", "new": "one"}, "NO_CHANGE", ""),
        (b"o\0ne\n", {"old": "one", "new": "x"}, "NOT_TEXT", "binary"),
        ("one\n".encode("utf-16"), {"old": "one", "new": "x"}, "NOT_TEXT", "binary"),
        (b"caf\xe9\n", {"old": "caf", "new": "café"}, "NOT_TEXT", "ASCII"),
        (b"one\n", {"old": "", "new": "x"}, "INVALID_ARGS", ""),
        (b"one\n", {"old": "one", "new": "x", "base": "0" * 64}, "STALE_FILE", ""),
        (b"x" * 2000, {"old": "x", "new": "y" * 900_000, "all": "true"}, "TOO_LARGE", ""),
    ],
)
def test_what_is_not_plain_is_refused_and_the_file_stays(
    walks: Walks, before: bytes, args: dict[str, str], code: str, said: str
) -> None:
    place = walks.workspace / "a.txt"
    place.write_bytes(before)
    outcome = edit(walks, **args)
    assert code_of(outcome) == code
    assert outcome.failure is not None
    assert said in outcome.failure.message
    assert place.read_bytes() == before


def test_a_base_that_holds_lets_the_edit_through(walks: Walks) -> None:
    place = walks.write("a.txt", "one\n")
    assert edit(walks, old="one", new="two", base=sha(b"one\n")).failure is None
    assert place.read_text() == "two\n"


def test_a_file_that_is_not_there_is_not_made_nor_are_its_folders(walks: Walks) -> None:
    assert code_of(edit(walks, "deep/er/a.txt", old="a", new="b")) == "NOT_FOUND"
    assert list(walks.workspace.iterdir()) == []


def test_what_a_message_quotes_of_a_file_moves_no_cursor_and_shows_no_secret(walks: Walks) -> None:
    token = "ghp_" + "a1B2" * 9
    walks.write("a.txt", f"a rather long line of words that holds a token {token} \x1b[2J\n")
    assert code_of(edit(walks, old="a rather long line of words that holds a token x", new="x")) == "NO_MATCH"
    [told] = [body.error for body in walks.records("plan.step") if body.error]  # type: ignore[attr-defined]
    assert "holds a token [redacted" in told
    assert token not in told
    assert "\x1b" not in told


@given(
    st.text(alphabet="ab\n\r é", max_size=40),
    st.text(alphabet="ab\n\r é", min_size=1, max_size=4),
    st.text(alphabet="abX\n é", max_size=4),
)
def test_an_edit_changes_one_place_or_nothing(text: str, old: str, new: str) -> None:
    before = text.encode()
    try:
        after, count, line = replaced(before, old, new, "a.txt", everywhere=False)
    except ToolError as problem:
        refused = problem.code
    else:
        refused = ""
    assert refused in ("", "NO_MATCH", "AMBIGUOUS_MATCH", "NO_CHANGE")
    if refused:
        return
    crlf = "\n" in text and text.count("\n") == text.count("\r\n")
    ends = (lambda one: one.replace("\r\n", "\n").replace("\n", "\r\n")) if crlf else (lambda one: one)
    head, _, tail = text.partition(ends(old))
    assert after == (head + ends(new) + tail).encode()
    assert (count, line) == (1, head.count("\n") + 1)
    assert ends(old) not in tail


def delete(walks: Walks, path: str, /, people: object = None, **args: str) -> Outcome:
    return walks.go(tool("n1", "fs/delete", "write", path=path, **args), people=people)


def test_a_file_is_deleted_when_a_person_approves_just_that(walks: Walks) -> None:
    place = walks.write("notes/a.txt", "one\n")
    people = Says("approve")
    found = delete(walks, "notes/a.txt", people).outputs["n1"]
    assert not place.exists()
    assert place.parent.exists()
    assert "notes/a.txt" in people.asked[0].question
    assert (people.asked[0].kind, people.asked[0].args) == ("approval", {"path": "notes/a.txt"})
    assert found == {
        "path": "notes/a.txt",
        "type": "file",
        "size": 4,
        "sha256": sha(b"one\n"),
        "text": "deleted notes/a.txt (4 bytes)",
    }


def test_nothing_is_deleted_where_nobody_approves(walks: Walks) -> None:
    place = walks.write("a.txt", "one\n")
    assert code_of(delete(walks, "a.txt", AlwaysDeny())) == "GATE_DENIED"
    assert place.read_text() == "one\n"


def test_an_empty_folder_is_deleted_and_a_full_one_is_kept(walks: Walks) -> None:
    (walks.workspace / "empty").mkdir()
    walks.write("full/.env", "SECRET=1")
    assert delete(walks, "empty").outputs["n1"]["type"] == "folder"  # type: ignore[index]
    assert not (walks.workspace / "empty").exists()
    assert code_of(delete(walks, "full")) == "NOT_EMPTY"
    assert (walks.workspace / "full/.env").exists()


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("missing.txt", "NOT_FOUND"),
        ("missing/a.txt", "NOT_FOUND"),
        (".", "OUT_OF_SCOPE"),
        ("../outside.txt", "OUT_OF_SCOPE"),
        ("link", "OUT_OF_SCOPE"),
        ("fifo", "OUT_OF_SCOPE"),
        ("one.txt", "OUT_OF_SCOPE"),  # has a second hard link
        (".env", "PROTECTED_PATH"),
        (".git", "PROTECTED_PATH"),
    ],
)
def test_what_is_no_plain_file_of_the_workspace_is_not_deleted(walks: Walks, path: str, code: str) -> None:
    outside = walks.write("../outside.txt", "out")
    (walks.workspace / "link").symlink_to(outside)
    os.mkfifo(walks.workspace / "fifo")
    one = walks.write("one.txt", "1")
    Path(one.parent / "two.txt").hardlink_to(one)
    walks.write(".env", "x")
    (walks.workspace / ".git").mkdir()
    before = sorted(place.name for place in walks.workspace.iterdir())
    assert code_of(delete(walks, path)) == code
    assert sorted(place.name for place in walks.workspace.iterdir()) == before
    assert outside.exists()


def test_a_file_that_changed_since_it_was_read_is_not_deleted(walks: Walks) -> None:
    place = walks.write("a.txt", "newer")
    assert code_of(delete(walks, "a.txt", base=sha(b"older"))) == "STALE_FILE"
    assert place.exists()
    assert delete(walks, "a.txt", base=sha(b"newer")).failure is None
    assert not place.exists()


def test_a_link_swapped_in_while_a_person_thinks_is_not_followed(walks: Walks) -> None:
    outside, place = walks.write("../outside/a.txt", "out"), walks.write("sub/a.txt", "in")

    async def swap(gate: object) -> object:
        place.unlink()
        place.parent.rmdir()
        place.parent.symlink_to(outside.parent)
        return await Says("approve").ask(gate)  # type: ignore[arg-type]

    assert code_of(delete(walks, "sub/a.txt", SimpleNamespace(ask=swap))) == "OUT_OF_SCOPE"
    assert outside.read_text() == "out"


@pytest.mark.parametrize(
    ("path", "code"),
    [
        *((path, "PROTECTED_PATH") for path in (".env", "sub/.env", ".ENV", ".env.local", ".git/config")),
        *(
            (path, "PROTECTED_PATH")
            for path in ("uv.lock", "./uv.lock", "sub//uv.lock", "UV.lock", "uv.lock.")
        ),
        *((path, "PROTECTED_PATH") for path in (".venv/pyvenv.cfg", "sub/.venv/lib/a.py", ".VENV/a.py")),
        *(
            (path, "NOT_TEXT")
            for path in ("a.png", "A.PNG", "lib/a.so", "a.tar.gz", "a.pyc", "a.sqlite", "a.pdf")
        ),
        ("../uv.lock", "OUT_OF_SCOPE"),
    ],
)
def test_what_is_not_edited_is_refused_and_stays(walks: Walks, path: str, code: str) -> None:
    if code != "OUT_OF_SCOPE":
        place = walks.write(path, "one two\n")
    assert code_of(edit(walks, path, old="one", new="ett")) == code
    if code != "OUT_OF_SCOPE":
        assert place.read_text() == "one two\n"


@pytest.mark.parametrize(
    "path", ["a.py", "Makefile", "poetry.txt", ".env.example", "venv.md", "a.svg", ".png", "uv.lock.md"]
)
def test_text_files_are_edited(walks: Walks, path: str) -> None:
    place = walks.write(path, "one two\n")
    assert edit(walks, path, old="one", new="ett").failure is None
    assert place.read_text() == "ett two\n"


@pytest.mark.parametrize("old", ["One", "one  two", " one", "one two\n\n", "on?", "^one", "o.e"])
def test_only_an_exact_match_is_replaced(walks: Walks, old: str) -> None:
    place = walks.write("a.txt", "one two\n")
    assert code_of(edit(walks, old=old, new="x")) == "NO_MATCH"
    assert place.read_text() == "one two\n"


def test_an_edit_commits_and_stages_nothing(walks: Walks) -> None:
    walks.write("a.txt", "one\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(walks.workspace)]
    for words in (["init", "-q"], ["add", "a.txt"], ["commit", "-q", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    kept = {path: path.read_bytes() for path in (walks.workspace / ".git").rglob("*") if path.is_file()}
    assert edit(walks, old="one", new="ett").failure is None
    assert {
        path: path.read_bytes() for path in (walks.workspace / ".git").rglob("*") if path.is_file()
    } == kept
