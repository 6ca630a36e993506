"""`mcl work check` on a terminal and for programs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from mcl.cli.main import main
from mcl.core.errors import WorkError
from mcl.plugins.agents.usecases import validate_work

EXAMPLE = Path(__file__).parent / "files" / "active_intents.yaml"
NAME = ".orchestration/active_intents.yaml"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the example, in which the command is run; there is no home, and none is made."""
    monkeypatch.setenv("MCL_HOME", str(tmp_path / "home"))
    place = tmp_path / "project"
    (place / ".orchestration").mkdir(parents=True)
    (place / NAME).write_bytes(EXAMPLE.read_bytes())
    monkeypatch.chdir(place)
    return place


def spoil(folder: Path, old: str, new: str) -> None:
    (folder / NAME).write_text((folder / NAME).read_text().replace(old, new))


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_valid_file_is_said_to_be_valid_and_no_home_is_made(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["work", "check"]) == 0

    assert capsys.readouterr().out == "4 intents  0 errors  0 warnings  valid\n"
    assert not (folder.parent / "home").exists()


def test_each_error_is_told_with_file_line_code_and_way_out(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(folder, '"DRAFT"', "Draft")

    assert main(["work", "check", NAME]) == 6

    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith(f"{NAME}:86: error INVALID_STATUS: INT-003: the status 'Draft' is none of DRAFT,")
    assert said.endswith("write DRAFT 4 intents 1 error 0 warnings not valid")


def test_programs_get_valid_errors_and_warnings_and_nothing_else(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(folder, '"DRAFT"', "Draft")
    spoil(folder, '"infrastructure/redis/**"', '"/infrastructure"')

    assert main(["work", "check", "--json"]) == 6

    document = printed(capsys)
    assert list(document) == ["valid", "errors", "warnings"]
    assert document["valid"] is False
    assert [(one["type"], one["line"], one["intent_id"], one["field"]) for one in document["errors"]] == [
        ("INVALID_STATUS", 86, "INT-003", "status")
    ]
    assert [(one["type"], one["line"]) for one in document["warnings"]] == [("ABSOLUTE_PATH", 61)]


def test_warnings_alone_leave_the_file_valid(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spoil(folder, 'owner: "auth-team"', 'colour: "red"')

    assert main(["work", "check", "--json"]) == 0
    assert [one["type"] for one in printed(capsys)["warnings"]] == ["UNKNOWN_FIELD"]


@pytest.mark.parametrize("where", ["src/deep/er", "."])
def test_the_nearest_file_above_is_meant_where_none_is_named(
    where: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / where).mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder / where)

    assert validate_work().path == str(folder.resolve() / NAME)
    assert validate_work(folder).path == str(folder / NAME)


@pytest.mark.parametrize("kind", ["missing", "folder", "pipe", "nul", "closed"])
def test_a_file_that_cannot_be_read_says_why_and_nobody_waits(
    kind: str, folder: Path, like_anybody: None
) -> None:
    path = folder / "x"
    if kind == "folder":
        (path / NAME).mkdir(parents=True)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "nul":
        path = Path("a\0b")
    elif kind == "closed":
        path.write_bytes(b"")
        path.chmod(0)

    with pytest.raises(WorkError) as refused:
        validate_work(path)

    assert refused.value.code == "FILE_UNREADABLE"
    assert refused.value.fix


def test_what_a_file_holds_cannot_drive_the_terminal(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spoil(folder, '"DRAFT"', r'"\e[2J\u202e\n\0"')

    assert main(["work", "check"]) == 6

    out = capsys.readouterr().out
    assert not set(out) & set("\x1b\u202e\0")
    assert out.count("\n") <= 4


def test_help_shows_an_example(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["work", "check", "--help"]) == 0
    assert "mcl work check .orchestration/active_intents.yaml --json" in capsys.readouterr().out
