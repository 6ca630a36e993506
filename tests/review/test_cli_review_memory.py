"""`mcl review history`, `decide`, `decisions`, `remember`, `recall` and `bootstrap` on the command line."""

from __future__ import annotations

import io
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from executor import Home
from mcl.cli.main import main
from mcl.plugins.review.finding import ReviewFinding
from mcl.plugins.review.memory.history import ReviewMemories


class Shell:
    """A folder with a home, and commands run in it."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder, self.home, self._capture = folder / "work", folder / "home", capture
        self.folder.mkdir()

    def __call__(self, *arguments: str, code: int = 0) -> str:
        self._capture.readouterr()
        ended = main(["review", *arguments])
        said = self._capture.readouterr()
        assert ended == code, said.err
        return said.out if code in (0, 1) and said.out else said.err

    def json(self, *arguments: str, code: int = 0) -> Any:
        return json.loads(self(*arguments, "--json", code=code))

    @property
    def memories(self) -> ReviewMemories:
        return ReviewMemories(Home.open(self.home), self.folder)


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    made = Shell(tmp_path, capsys)
    monkeypatch.setenv("MCL_HOME", str(made.home))
    monkeypatch.chdir(made.folder)
    return made


def test_a_decision_is_written_shown_checked_and_read_again(shell: Shell) -> None:
    told = shell.json("decide", "One file", "--decision", "All in one.", "--about", "store/**")
    assert (told["id"], told["new"], told["files"]) == ("ADR-0001", True, ["store/**"])
    path = shell.folder / told["path"]
    assert path.is_file()
    assert (
        shell.json("decide", "One file", "--decision", "All in one.", "--about", "store/**")["new"] is False
    )
    assert "All in one." in shell("decisions", "adr-0001")
    assert "ADR-0001" in shell("decisions", "--about", "store/db.py")
    assert shell.json("decisions", "--about", str(shell.folder / "a.py"))["decisions"] == []
    assert "the same" in shell("decisions", "--check")
    path.write_text(path.read_text().replace("accepted", "deprecated"))
    [differs] = shell.json("decisions", "--check", code=1)["differences"]
    assert (differs["what"], differs["id"], differs["why"]) == ("changed", "ADR-0001", "status")
    assert "changed" in shell("decisions", "--read")
    assert shell.json("decisions")["decisions"][0]["status"] == "deprecated"
    assert shell.json("decisions", "--check")["differences"] == []


def test_a_bad_file_is_told_with_its_line_and_nothing_is_remembered(shell: Shell) -> None:
    folder = shell.folder / "architecture_memory" / "decisions"
    folder.mkdir(parents=True)
    (folder / "ADR-0001-x.md").write_text("---\nid: !!python/name:os.system\n---\n")
    said = shell("decisions", "--read", code=4)
    assert "architecture_memory/decisions/ADR-0001-x.md:2" in said
    assert "DECISION_FILE" in said
    assert shell.json("decisions")["decisions"] == []


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["decide", "x", "--decision", "y", "--kind", "law"], 4, "DECISION_SHAPE"),
        (["decide", "x", "--decision", ""], 4, "DECISION_SHAPE"),
        (["decide", "x", "--decision", "y", "--about", "/etc/*"], 4, "DECISION_SHAPE"),
        (["decide", "x", "--decision", "y", "--about", "a["], 4, "DECISION_SHAPE"),
        (["decisions", "ADR-0009"], 4, "DECISION_UNKNOWN"),
        (["decisions", "ADR-0009", "--check"], 2, "one at a time"),
        (["decisions", "--about", "/etc/passwd"], 4, "REVIEW_PATH"),
        (["history", "../x"], 4, "REVIEW_PATH"),
        (["history", "x", "--limit", "11"], 2, "--limit"),
        (["remember", "x", "--kind", "rumour"], 4, "MEANING_SHAPE"),
        (["remember", "x", "--tag", "pinned"], 4, "MEANING_SHAPE"),
        (["remember", ""], 4, "MEANING_SHAPE"),
    ],
)
def test_what_is_wrong_is_told_with_a_code(shell: Shell, arguments: list[str], code: int, said: str) -> None:
    assert said in shell(*arguments, code=code)


def test_no_file_is_written_where_none_is_wanted_or_none_can_be(shell: Shell, tmp_path: Path) -> None:
    assert shell.json("decide", "a", "--decision", "y", "--no-file")["id"] == "ADR-0001"
    assert list(shell.folder.iterdir()) == []
    (tmp_path / "outside").mkdir()
    (shell.folder / "architecture_memory").symlink_to(tmp_path / "outside")
    assert "OUT_OF_SCOPE" in shell("decide", "b", "--decision", "y", code=4)
    assert list((tmp_path / "outside").iterdir()) == []
    assert len(shell.json("decisions")["decisions"]) == 1


def test_standard_input_is_read_where_a_text_is_a_dash(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    def given(data: bytes) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))

    given("Målet är klart.\n".encode())
    assert shell.json("remember", "-")["text"] == "Målet är klart."
    given(b"\xff\xfe")
    assert "TEXT_UNREADABLE" in shell("remember", "-", code=4)
    given(b"x" * 70_000)
    assert "TEXT_UNREADABLE" in shell("decide", "x", "--decision", "-", code=4)
    monkeypatch.setattr("sys.stdin", None)
    assert "TEXT_UNREADABLE" in shell("remember", "-", code=4)


def test_texts_are_remembered_and_recalled(shell: Shell) -> None:
    made = shell.json(
        "remember", "Only store talks to SQLite", "--kind", "convention", "--tag", "store", "--id", "s"
    )
    assert (made["kind"], made["tags"], made["id"]) == ("convention", ["store"], "s")
    shell("remember", "Another room")
    assert "Only store talks" in shell("recall", "sqlite")
    assert [one["id"] for one in shell.json("recall", "sqlite room", "--limit", "1")["meanings"]] != []
    assert len(shell.json("recall", "--limit", "0")["meanings"]) == 2
    assert "nothing" in shell("recall", "absent")


def test_a_secret_that_was_taken_out_is_said(shell: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["review", "remember", "the key AKIA" + "ABCDEFGHIJKLMNOP"]) == 0
    said = capsys.readouterr()
    assert "a secret was taken out of it" in said.err
    assert "AKIA" not in said.out


def test_the_history_of_a_file_and_of_all_files_is_shown(shell: Shell) -> None:
    assert "nothing" in shell("history")
    history = shell.memories.history
    for line in range(12):
        found = [
            ReviewFinding("RISK", "a.py", line, "run \x1b[2J it"),
            ReviewFinding("NOTE", "a.py", 1, "hm"),
        ]
        history.record("a.py", findings=found, mode="risk", model="small.gguf")
    history.record("b.py", findings=[], mode="comment")
    told = shell("history", "a.py")
    assert "[RISK] a.py:11" in told
    assert "\\x1b[2J" in told
    assert "\x1b[2J" not in told
    assert "small.gguf" in told
    assert len(shell.json("history", "a.py")["reviews"]) == 10
    assert len(shell.json("history", "a.py", "--limit", "2")["reviews"]) == 2
    assert [one["file"] for one in shell.json("history")["reviews"]] == ["a.py", "b.py"]
    assert "1 RISK, 1 NOTE" in shell("history")


def test_bootstrap_says_what_it_read_and_left_out(shell: Shell, tmp_path: Path) -> None:
    (shell.folder / "README.md").write_text("# Shop\n\nIt sells paper.\n")
    (shell.folder / "SECURITY.md").symlink_to(tmp_path / "x")
    told = shell("bootstrap")
    assert "README.md" in told
    assert "left out  SECURITY.md" in told
    assert "1 remembered, 0 were known" in told
    done = shell.json("bootstrap")
    assert (done["written"], done["unchanged"], done["documents"][0]["sections"]) == (0, 1, 1)


def test_another_folder_is_named_with_workspace(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    shell("decide", "x", "--decision", "y", "--workspace", str(tmp_path / "other"))
    assert (tmp_path / "other" / "architecture_memory" / "decisions" / "ADR-0001-x.md").is_file()
    assert shell.json("decisions")["decisions"] == []


def test_the_page_shows_what_is_written_and_said(shell: Shell) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "review-memory.md").read_text()
    said = re.search(r"^\$ mcl (review decide .*)\n(ADR-0001(?:.*\n)+?)\$ ", page, re.MULTILINE)
    assert said is not None
    told = shell(*shlex.split(said[1])[1:])
    day = re.compile(r"\b\d{4}-\d\d-\d\d\b")
    masked = [
        day.sub("DAY", re.sub(r"mcl\.review\.[0-9a-f]{16}", "KEY", text.rstrip())) for text in (told, said[2])
    ]
    assert masked[0] == masked[1]
    shown = re.search(r"^```markdown\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert shown is not None
    [file] = shell.folder.rglob("*.md")
    assert day.sub("DAY", file.read_text()) == day.sub("DAY", shown[1])
