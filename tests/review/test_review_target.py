"""What a review looks at: files, folders and differences, as they are and as somebody wants them to seem."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from yards import APP, Yard

from executor.sandbox.paths import MAX_DEPTH
from ir import MclError
from mcl.plugins.review.piece import MAX_FILE, piece_of, rows_of, shown


def refused(yard: Yard, *args: str, **more: bool) -> str:
    with pytest.raises(MclError) as problem:
        yard.look(*args, **more)
    assert problem.value.fix
    return problem.value.code


def test_a_file_is_judged_whole(yard: Yard) -> None:
    target = yard.look("app.py")
    [piece] = target.pieces
    assert (target.kind, piece.path, piece.text, piece.total) == ("file", "app.py", APP, 6)
    assert (piece.lines, piece.whole, piece.judged) == (((1, 6),), True, frozenset(range(1, 7)))


@pytest.mark.parametrize(
    ("data", "rows"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\rb\n\n", ["a", "b", ""]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        (b"caf\xe9\n", ["café"]),
        ("a\x0cb\u2028c\n".encode(), ["a\x0cb\u2028c"]),
    ],
)
def test_lines_are_counted_as_compilers_count_them(data: bytes, rows: list[str]) -> None:
    piece = piece_of("a", data)
    assert piece is not None
    assert (list(piece.rows), piece.total) == (rows, len(rows))
    assert piece.lines == (((1, len(rows)),) if rows else ())


@settings(max_examples=50)
@given(st.binary(max_size=200).filter(lambda data: b"\0" not in data))
def test_any_text_has_the_lines_that_are_judged(data: bytes) -> None:
    piece = piece_of("a", data)
    assert piece is not None
    assert piece.judged == frozenset(range(1, piece.total + 1))
    assert len(rows_of(piece.text)) == piece.total
    assert len(list(shown(piece, piece.around))) == piece.total


@pytest.mark.parametrize(
    ("target", "code"),
    [
        (("nosuch.py",), "NOT_FOUND"),
        (("logo.png",), "NOT_TEXT"),
        (("large.txt",), "TOO_LARGE"),
        ((".env",), "PROTECTED_PATH"),
        ((".git/config",), "PROTECTED_PATH"),
        (("../home/mcl.db",), "OUT_OF_SCOPE"),
        (("link.py",), "OUT_OF_SCOPE"),
        (("pipe",), "OUT_OF_SCOPE"),
        (("/etc/passwd",), "OUT_OF_SCOPE"),
        (("empty",), "NO_SOURCE"),
        ((), "NOTHING_NAMED"),
        (("app.py", "HEAD"), "TWO_TARGETS"),
        (("", "HEAD"), "NOTHING_CHANGED"),
        (("", "nosuch"), "UNKNOWN_REVISION"),
        (("", "main..HEAD"), "UNKNOWN_REVISION"),
        (("", "HEAD:app.py"), "UNKNOWN_REVISION"),
        (("", "a\nb"), "UNKNOWN_REVISION"),
        (("", "--output=stolen"), "LOOKS_LIKE_OPTION"),
        (("", "-p"), "LOOKS_LIKE_OPTION"),
    ],
)
def test_what_cannot_be_looked_at_is_refused_with_advice(
    yard: Yard, target: tuple[str, ...], code: str
) -> None:
    yard.git("config", "core.excludesFile", "none")
    yard.write(".git/info/exclude", "*\n")
    yard.write("logo.png", b"\x89PNG\0\0")
    yard.write("large.txt", b"a" * (MAX_FILE + 1))
    yard.write(".env", "TOKEN=1\n")
    (yard.folder / "empty").mkdir()
    (yard.folder / "link.py").symlink_to("/etc/passwd")
    os.mkfifo(yard.folder / "pipe")
    assert refused(yard, *target) == code
    assert not (yard.folder / "stolen").exists()


def test_without_a_repository_there_is_no_difference(yard: Yard) -> None:
    (yard.folder / ".git").rename(yard.folder.parent / "elsewhere")
    assert refused(yard, "", "HEAD") == "NOT_A_REPOSITORY"
    (yard.folder / ".git").symlink_to(yard.folder.parent / "elsewhere")
    assert refused(yard, "", "HEAD") == "NOT_A_REPOSITORY"


def test_a_difference_has_the_lines_that_are_new(yard: Yard) -> None:
    yard.write("app.py", APP.replace("sum(rows)", "sum(rows) or 0") + "\n\nprint(mean([1]))\n")
    target = yard.look(base="HEAD")
    [piece] = target.pieces
    assert (target.kind, target.base) == ("diff", yard.git("rev-parse", "HEAD"))
    assert (piece.state, piece.lines) == ("changed", ((2, 2), (7, 9)))
    assert [(one.after, one.text) for one in piece.removed] == [(1, ("    return sum(rows)",))]
    assert piece.excerpt().split("\n")[:3] == [
        "1   def total(rows):",
        "  -     return sum(rows)",
        "2 +     return sum(rows) or 0",
    ]


def test_lines_that_were_only_taken_away_are_shown_and_not_judged(yard: Yard) -> None:
    yard.write("app.py", APP.replace("    return sum(rows)\n", ""))
    piece = yard.piece("app.py")
    assert (piece.lines, piece.judged, piece.whole) == ((), frozenset(), False)
    assert piece.excerpt().startswith("1   def total(rows):\n  -     return sum(rows)\n2\n")
    yard.write("app.py", APP.partition("\n")[2])
    assert yard.piece("app.py").excerpt().startswith("  - def total(rows):\n1       return sum(rows)\n")
    yard.write("app.py", "")
    assert yard.piece("app.py").excerpt().startswith(" - def total(rows):")


def test_new_files_belong_to_a_difference_unless_git_ignores_them(yard: Yard) -> None:
    yard.write(".gitignore", "*.log\n")
    yard.write("new file.py", "x = 1\n")
    yard.write("noise.log", "x\n")
    yard.write("node_modules/left/pad.js", "x\n")
    yard.write("app.min.js", "x\n")
    found = {one.path: (one.state, one.lines) for one in yard.look(base="HEAD").pieces}
    assert found == {".gitignore": ("new", ((1, 1),)), "new file.py": ("new", ((1, 1),))}
    assert yard.skipped() == {"app.min.js": "generated", "node_modules/left/pad.js": "vendored"}


@pytest.mark.parametrize(
    "name", ["späť.py", "a b.py", 'quo"te.py', "back\\slash.py", "-x.py", "tab\there.py"]
)
def test_any_name_of_a_file_is_found_again(yard: Yard, name: str) -> None:
    yard.write(name, "a\nb\n")
    yard.git("add", "-A")
    yard.git("commit", "-q", "-m", "More")
    yard.write(name, "a\nB\n")
    if "\t" in name:
        assert yard.skipped() == {name: "name"}
    else:
        assert yard.piece(name).lines == ((2, 2),)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux: names are UTF-8 elsewhere")
def test_a_name_that_is_no_utf_8_is_told(yard: Yard) -> None:
    Path(os.fsdecode(os.fsencode(yard.folder) + b"/caf\xe9.py")).write_text("eval(x)\n")
    assert yard.skipped() == {"caf\ufffd.py": "name"}
    assert [(one.path, one.why) for one in yard.look(".").skipped] == [("caf\ufffd.py", "name")]


def test_a_renamed_file_is_judged_where_it_changed(yard: Yard) -> None:
    yard.git("mv", "app.py", "shop.py")
    assert yard.skipped() == {"shop.py": "unchanged"}
    yard.write("shop.py", APP + "x = 1\n")
    piece = yard.piece("shop.py")
    assert (piece.state, piece.was, piece.lines) == ("renamed", "app.py", ((7, 7),))


def test_what_is_gone_binary_a_link_or_only_of_another_mode_is_told(yard: Yard, tmp_path: Path) -> None:
    yard.commit(gone__py="x\n", kind__py="x\n", mode__sh="x\n", b__bin="x\n")
    (yard.folder / "gone.py").unlink()
    (yard.folder / "kind.py").unlink()
    (yard.folder / "kind.py").symlink_to("app.py")
    (yard.folder / "mode.sh").chmod(0o755)
    yard.write("b.bin", b"\0")
    yard.write("large.txt", b"a\n" * MAX_FILE)
    yard.write(".env", "TOKEN=1\n")
    yard.write("app.py", APP + "x = 1\n")
    target = yard.look(base="HEAD")
    assert [(one.path, one.lines) for one in target.pieces] == [("app.py", ((7, 7),))]
    assert yard.skipped() == {
        **{".env": "secret", "b.bin": "binary", "gone.py": "deleted", "kind.py": "link"},
        **{"large.txt": "too large", "mode.sh": "unchanged"},
    }


def test_line_ends_of_windows_and_none_at_the_end(yard: Yard) -> None:
    yard.commit(win__py="a\r\nb\r\n", end__py="a\nb")
    yard.write("win.py", "a\r\nc\r\nb\r\n")
    yard.write("end.py", "a\nb\nc")
    assert yard.piece("win.py").lines == ((2, 2),)
    assert yard.piece("win.py").rows == ("a", "c", "b")
    assert yard.piece("end.py").lines == ((2, 3),)


def test_what_is_staged_is_read_from_the_index(yard: Yard) -> None:
    yard.write("app.py", APP + "staged = 1\n")
    yard.git("add", "app.py")
    yard.write("app.py", APP + "later = 1\nlater = 2\n")
    yard.write("new.py", "x\n")
    piece = yard.piece("app.py", staged=True)
    assert (piece.rows[-1], piece.lines) == ("staged = 1", ((7, 7),))
    assert [one.path for one in yard.look(staged=True).pieces] == ["app.py"]
    assert yard.piece("app.py").lines == ((7, 8),)


def test_what_was_committed_since_a_revision_counts_and_what_others_did_there_does_not(yard: Yard) -> None:
    yard.git("checkout", "-q", "-b", "work")
    yard.commit(mine__py="x = 1\n")
    yard.git("checkout", "-q", "main")
    yard.commit(theirs__py="y = 1\n")
    yard.git("checkout", "-q", "work")
    assert [one.path for one in yard.look(base="main").pieces] == ["mine.py"]
    assert refused(yard, "", "HEAD") == "NOTHING_CHANGED"


def test_a_repository_without_a_commit_is_all_new(yard: Yard) -> None:
    yard.git("checkout", "-q", "--orphan", "fresh")
    assert [(one.path, one.state) for one in yard.look(base="HEAD").pieces] == [("app.py", "new")]
    assert yard.look(base="HEAD", staged=True).base == ""


def test_an_unresolved_conflict_is_told(yard: Yard) -> None:
    yard.git("checkout", "-q", "-b", "work")
    yard.commit(app__py=APP.replace("sum", "max"))
    yard.git("checkout", "-q", "main")
    yard.commit(app__py=APP.replace("sum", "min"))
    yard.git("merge", "work", ok=False)
    piece = yard.piece("app.py")
    assert (piece.state, piece.rows[piece.lines[0][0] - 1]) == ("conflict", "<<<<<<< HEAD")
    assert yard.skipped(staged=True) == {"app.py": "conflict"}


def test_a_submodule_is_told_and_not_entered(yard: Yard, tmp_path: Path) -> None:
    inner = Yard(tmp_path / "inner", yard.capture)
    inner.folder.mkdir()
    inner.git("init", "-q", "-b", "main", "--template=")
    inner.commit(a__py="x\n")
    yard.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.folder), "inner")
    assert yard.skipped(staged=True)["inner"] == "submodule"
    assert yard.skipped()["inner"] == "submodule"
    (yard.folder / "other").mkdir()
    Yard(yard.folder / "other", yard.capture).git("init", "-q", "--template=")
    Yard(yard.folder / "other", yard.capture).commit(a__py="x\n")
    assert yard.skipped()["other/"] == "submodule"


SETTINGS = {
    **{f"diff.{name}": "true" for name in ("noprefix", "mnemonicPrefix", "suppressBlankEmpty", "relative")},
    **{"diff.context": "9", "diff.interHunkContext": "9", "diff.renames": "false", "diff.orderFile": "none"},
    **{"diff.ignoreSubmodules": "all", "diff.colorMoved": "zebra", "diff.wsErrorHighlight": "all"},
    **{"color.diff": "always", "core.quotePath": "true", "diff.algorithm": "patience"},
}


@pytest.mark.parametrize("attribute", ["binary", "-diff", "diff=evil", "-text", "filter=evil"])
def test_attributes_and_settings_of_the_repository_hide_nothing(
    yard: Yard, tmp_path: Path, attribute: str
) -> None:
    evil = f"touch {tmp_path / 'ran'}"
    for name in ("external", "evil.textconv", "evil.command"):
        yard.git("config", f"diff.{name}", evil)
    yard.git("config", "filter.evil.clean", evil)
    yard.git("config", "core.fsmonitor", evil)
    for name, value in SETTINGS.items():
        yard.git("config", name, value)
    yard.write(".gitattributes", f"*.py {attribute}\n")
    yard.write("app.py", APP + "x = eval(input())\n")
    assert 7 in yard.piece("app.py").judged
    yard.write("app.py", "x = 1\n" + APP + "y = 2\n")
    hidden = attribute in ("binary", "-diff")
    assert yard.piece("app.py").lines == (((1, 8),) if hidden else ((1, 1), (8, 8)))
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("mark", ["--assume-unchanged", "--skip-worktree"])
def test_what_git_was_told_to_overlook_is_judged_whole_where_it_differs(yard: Yard, mark: str) -> None:
    yard.commit(same__py="x = 1\r\n", gone__py="x = 1\n", sealed__py="x = 1\n")
    yard.git("update-index", mark, "app.py", "same.py", "gone.py", "sealed.py")
    (yard.folder / "gone.py").unlink()
    assert refused(yard, "", "HEAD") == "NOTHING_CHANGED"
    yard.write("app.py", APP + "x = eval(input())\n")
    (yard.folder / "sealed.py").unlink()
    (yard.folder / "sealed.py").symlink_to("app.py")
    assert [(one.path, one.lines) for one in yard.look(base="HEAD").pieces] == [("app.py", ((1, 7),))]
    assert yard.skipped() == {"sealed.py": "link"}
    assert refused(yard, staged=True) == "NOTHING_CHANGED"


def test_a_file_of_the_same_size_and_time_is_compared(yard: Yard) -> None:
    place = yard.write("app.py", "x = 1234567890#\n")
    os.utime(place, (1_500_000_000, 1_500_000_000))
    yard.git("config", "core.checkStat", "minimal")
    yard.git("config", "core.trustctime", "false")
    yard.git("add", "-A")
    yard.git("commit", "-q", "-m", "More")
    place.write_text("x=eval(input())\n")
    os.utime(place, (1_500_000_000, 1_500_000_000))
    assert yard.git("status", "--short") == ""
    assert yard.piece("app.py").lines == ((1, 1),)


@pytest.mark.skipif(sys.platform != "linux", reason="Linux: file systems elsewhere fold names")
def test_a_new_file_does_not_hide_behind_one_whose_name_differs_in_case(yard: Yard) -> None:
    yard.git("config", "core.ignoreCase", "true")
    yard.write("App.py", "x = eval(input())\n")
    assert yard.git("status", "--short") == ""
    assert yard.piece("App.py").state == "new"


def test_a_file_does_not_pass_for_a_link(yard: Yard) -> None:
    (yard.folder / "link.py").symlink_to("app.py")
    yard.git("add", "-A")
    yard.git("commit", "-q", "-m", "More")
    yard.git("config", "core.symlinks", "false")
    (yard.folder / "link.py").unlink()
    yard.write("link.py", "x = eval(input())\n")
    assert yard.piece("link.py").lines == ((1, 1),)


def test_what_changed_in_a_submodule_is_not_passed_over(yard: Yard, tmp_path: Path) -> None:
    inner = Yard(tmp_path / "inner", yard.capture)
    inner.folder.mkdir()
    inner.git("init", "-q", "-b", "main", "--template=")
    inner.commit(a__py="x\n")
    yard.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner.folder), "inner")
    yard.git("commit", "-q", "-m", "More")
    yard.write("inner/a.py", "x = eval(input())\n")
    assert yard.skipped() == {"inner": "submodule"}
    folder = yard.look(".")
    assert {one.path: one.why for one in folder.skipped}["inner"] == "submodule"


def test_what_does_not_fit_into_gits_answer_is_judged_whole(
    yard: Yard, monkeypatch: pytest.MonkeyPatch
) -> None:
    yard.commit(a__py="1\n2\n", b__py="1\n2\n", c__py="1\n2\n")
    for name in "abc":
        yard.write(f"{name}.py", "1\n2\n3\n")
    monkeypatch.setattr("mcl.plugins.review.difference._MAX_PATCH", 550)
    target = yard.look(base="HEAD")
    assert [one.lines for one in target.pieces] == [((3, 3),), ((1, 3),), ((1, 3),)]
    assert target.truncated
    monkeypatch.setattr("mcl.plugins.review.difference.MAX_CHANGED", 2)
    target = yard.look(base="HEAD")
    assert (target.paths, target.truncated) == (("a.py", "b.py"), True)
    assert [(one.path, one.why) for one in target.skipped] == [("c.py", "too many")]


def test_lines_hidden_behind_a_carriage_return_are_judged(yard: Yard) -> None:
    yard.commit(cr__py="a\n# x\n")
    yard.write("cr.py", b"# harmless\rimport os\na\n# x\n")
    piece = yard.piece("cr.py")
    assert piece.rows == ("# harmless", "import os", "a", "# x")
    assert piece.whole


def test_a_carriage_return_above_moves_nothing_out_of_sight(yard: Yard) -> None:
    yard.write("cr.py", b"# p\rq\nrun()\n")
    yard.git("add", "-A")
    yard.git("commit", "-q", "-m", "More")
    yard.write("cr.py", b"# p\rq\nrun()\nrun()\n")
    assert yard.piece("cr.py").whole


def test_a_folder_has_what_git_knows_or_would_take(yard: Yard) -> None:
    yard.write("src/new.py", "x\n")
    yard.write("src/logo.png", b"\0")
    yard.write("src/.env", "x\n")
    yard.write(".gitignore", "*.log\n")
    yard.write("src/noise.log", "x\n")
    target = yard.look("src")
    assert (target.kind, target.paths) == ("folder", ("src/new.py",))
    assert {one.path: one.why for one in target.skipped} == {"src/logo.png": "binary", "src/.env": "secret"}
    assert "app.py" in yard.look(".").paths


def test_what_is_left_out_of_a_folder_is_told_once(yard: Yard) -> None:
    for name in (
        "web/node_modules/a/x.js",
        "web/node_modules/b/vendor/y.js",
        "web/app.min.js",
        "web/dist/z.js",
    ):
        yard.write(name, "eval(x)\n")
    yard.git("add", "-Af")
    other = Yard(yard.folder / "web/other", yard.capture)
    other.folder.mkdir()
    other.git("init", "-q", "--template=")
    other.commit(a__py="x\n")
    target = yard.look("web")
    assert target.paths == ("web/dist/z.js",)
    assert {one.path: one.why for one in target.skipped} == {
        **{"web/node_modules/": "vendored", "web/app.min.js": "generated", "web/other/": "submodule"},
    }


def test_what_is_left_out_where_there_is_no_git_is_told_too(yard: Yard) -> None:
    (yard.folder / ".git").rename(yard.folder.parent / "away")
    for name in (
        "src/a.py",
        "src/vendor/b.py",
        "src/build/c.py",
        "src/d\ne.py",
        "src/f\u202eg.py",
        "src/.env",
    ):
        yard.write(name, "x\n")
    (yard.folder / "src/link.py").symlink_to("a.py")
    os.mkfifo(yard.folder / "src/pipe.py")
    deep = "/".join("d" * (MAX_DEPTH + 5))
    yard.write(f"src/{deep}/far.py", "x\n")
    target = yard.look("src")
    assert target.paths == ("src/a.py",)
    why = {one.path: one.why for one in target.skipped}
    [far] = [path for path, reason in why.items() if reason == "too deep"]
    assert f"src/{deep}/".startswith(why.pop(far) and far)
    assert why == {
        **{"src/vendor/": "vendored", "src/build/": "built", "src/d\ne.py": "name", "src/.env": "secret"},
        **{"src/f\u202eg.py": "name", "src/link.py": "link", "src/pipe.py": "no file"},
    }


ROWS = ["a\n", "b\n", "\n", "c\r\n", "diff --git a/x b/x\n", "@@ -1 +1 @@\n"]
LINES = st.lists(st.sampled_from(ROWS), max_size=12)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=LINES, after=LINES, end=st.sampled_from(["", "end"]))
def test_what_is_not_judged_and_what_was_taken_away_is_the_file_before(
    yard: Yard, before: list[str], after: list[str], end: str
) -> None:
    yard.commit(any__txt="".join(before), other__txt="x\n")
    yard.write("any.txt", "".join(after) + end)
    yard.write("other.txt", "y\n")
    pieces = {one.path: one for one in yard.look(base="HEAD").pieces}
    assert ("any.txt" in pieces) == ("".join(before) != "".join(after) + end)
    if (piece := pieces.get("any.txt")) is not None:
        there: list[str] = []
        gone = {one.after: one.text for one in piece.removed}
        for number in range(piece.total + 1):
            there += [piece.rows[number - 1]] if number and number not in piece.judged else []
            there += gone.pop(number, ())
        assert there == [line.rstrip("\r\n") for line in before]
        assert not gone


def test_a_name_of_several_lines_is_told_on_one(yard: Yard) -> None:
    told = yard("x.py\n  code  NONE\nNo findings.", "--no-ai")
    assert told.code == 4
    assert [line.split()[0] for line in told.err.splitlines()] == ["error:", "at", "fix", "code"]
