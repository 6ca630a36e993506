"""process/editor: the person's own editor, on one file, and never a program of the workspace."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from walks import Walks, code, granted, tool

from executor import Outcome
from executor.walker.undo.undo import undo

REPORT = """#!/bin/sh
{ pwd; for one in "$@"; do echo "<$one>"; done; } > "$0.args"
env > "$0.env"
for last in "$@"; do :; done
"""


@pytest.fixture
def walks(walks: Walks, monkeypatch: pytest.MonkeyPatch) -> Walks:
    granted(walks, also=["shell"])
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.delenv("EDITOR", raising=False)
    walks.write("notes.md", "one\n")
    return walks


def editor(place: Path, does: str = 'echo two >> "$last"') -> Path:
    """An editor that reports how it was started, and does something to the file."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(REPORT + does + "\n")
    place.chmod(0o755)
    return place


def edit(walks: Walks, path: str = "notes.md") -> Outcome:
    return walks.go(tool("n1", "process/editor", "shell", path=path))


def answer(outcome: Outcome) -> dict[str, Any]:
    assert outcome.failure is None, outcome.failure
    found = outcome.outputs["n1"]
    assert isinstance(found, dict)
    return found


def test_the_file_is_opened_by_its_whole_path_and_the_answer_says_what_became_of_it(
    walks: Walks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = editor(tmp_path / "my editors/ed")
    monkeypatch.setenv("EDITOR", f"'{place}' --wait -n ; touch {tmp_path}/mark $(touch {tmp_path}/mark)")
    monkeypatch.setenv("MY_TOKEN", "hidden-from-it")
    outcome = edit(walks)
    found = answer(outcome)
    assert (found["editor"], found["status"], found["changed"]) == ("ed", 0, True)
    assert (walks.workspace / "notes.md").read_text() == "one\ntwo\n"
    cwd, *arguments = Path(f"{place}.args").read_text().splitlines()
    assert cwd == "/"
    assert arguments[:4] == ["<--wait>", "<-n>", "<;>", "<touch>"]
    assert arguments[-1] == f"<{walks.workspace}/notes.md>"
    assert not (tmp_path / "mark").exists()  # there is no shell
    seen = dict(line.split("=", 1) for line in Path(f"{place}.env").read_text().splitlines() if "=" in line)
    assert seen["HOME"] == os.environ["HOME"]
    assert not {"MY_TOKEN", "EDITOR", "PYTEST_CURRENT_TEST"} & set(seen)
    assert undo(walks.home, outcome.intent_id).state == "undone"
    assert (walks.workspace / "notes.md").read_text() == "one\n"


def test_visual_comes_first_and_a_failure_of_the_editor_is_an_answer(
    walks: Walks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EDITOR", str(editor(tmp_path / "ed")))
    monkeypatch.setenv("VISUAL", str(editor(tmp_path / "vis", "exit 3")))
    found = answer(edit(walks))
    assert (found["editor"], found["status"], found["changed"]) == ("vis", 3, False)
    assert found["text"] == "notes.md is as it was; vis ended with status 3"
    monkeypatch.setenv("VISUAL", str(editor(tmp_path / "gone", 'rm "$last"; kill -9 $$')))
    found = answer(edit(walks))
    assert (found["status"], found["changed"], "sha256" in found) == (-9, True, False)


def test_without_an_editor_it_is_said_how_to_name_one(walks: Walks, monkeypatch: pytest.MonkeyPatch) -> None:
    for value, expected in {
        "": "COMMAND_NOT_FOUND",
        " ": "COMMAND_NOT_FOUND",
        "no-such-editor-here": "COMMAND_NOT_FOUND",
        "/nowhere/ed": "COMMAND_NOT_FOUND",
        "ed 'x": "BAD_EDITOR",
        "''": "COMMAND_NOT_FOUND",
    }.items():
        monkeypatch.setenv("EDITOR", value)
        failure = edit(walks).failure
        assert failure is not None
        assert (failure.code, failure.fix) == (expected, "name your editor: export EDITOR=nano"), value


def test_no_program_of_the_workspace_is_the_editor(
    walks: Walks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = editor(walks.workspace / "bin/ed")
    (tmp_path / "links").mkdir()
    (tmp_path / "links/ed").symlink_to(own)
    monkeypatch.chdir(walks.workspace)
    monkeypatch.setenv("PATH", f"{own.parent}:bin:.:{tmp_path / 'links'}:/usr/bin:/bin")
    refused = ("COMMAND_NOT_FOUND", "BAD_EDITOR")
    for value in (
        "ed",
        "bin/ed",
        "./bin/ed",
        str(own),
        str(tmp_path / "links/ed"),
        f"/bin/sh {own}",
        f"/bin/sh {tmp_path}/links/../work/bin/ed",
        "../work/bin/ed",
    ):
        monkeypatch.setenv("EDITOR", value)
        assert code(edit(walks)) in refused, value
    assert not Path(f"{own}.args").exists()


def test_only_a_plain_file_of_the_workspace_is_opened(
    walks: Walks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = editor(tmp_path / "ed")
    monkeypatch.setenv("EDITOR", str(place))
    (tmp_path / "outside.txt").write_text("mine\n")
    (walks.workspace / "link.txt").symlink_to(tmp_path / "outside.txt")
    (walks.workspace / "second.txt").hardlink_to(tmp_path / "outside.txt")
    (walks.workspace / "sub").symlink_to(tmp_path)
    walks.write(".env", "A=1\n")
    walks.write(".git/config", "\n")
    os.mkfifo(walks.workspace / "pipe")
    paths = ("link.txt", "second.txt", "sub/outside.txt", "../outside.txt", ".env", "pipe", ".", "missing.md")
    for path in paths:
        assert code(edit(walks, path)) != "", path
    assert not Path(f"{place}.args").exists()
    assert (tmp_path / "outside.txt").read_text() == "mine\n"


def test_a_name_that_looks_like_an_option_or_an_address_is_a_file(
    walks: Walks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = editor(tmp_path / "ed", ":")
    monkeypatch.setenv("EDITOR", str(place))
    for path in ("+!touch mark", "--cmd", "ftp:/host/x", "$(touch mark)"):
        walks.write(path, "")
        answer(edit(walks, path))
        assert Path(f"{place}.args").read_text().splitlines()[1:] == [f"<{walks.workspace}/{path}>"]
