"""What changed in a repository."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from walks import NODE, Walks, tool


@pytest.fixture
def repo(walks: Walks) -> Walks:
    walks.git("init", "-q", "-b", "main")
    walks.write("a.txt", "one\ntwo\nthree\n")
    walks.write("sub/b.txt", "b\n")
    walks.write(".env", "TOKEN=before\n")
    walks.git("add", "-f", ".")
    walks.git("commit", "-q", "-m", "Add")
    return walks


def diff(**args: str) -> NODE:
    return tool("n1", "git/diff", **args)


def test_a_clean_repository_has_no_changes(repo: Walks) -> None:
    found = repo.ask(diff())
    assert (found["files"], found["text"], found["patch"]) == ([], "nothing changed", "")


def test_a_diff_counts_lines_and_shows_them(repo: Walks) -> None:
    repo.write("a.txt", "one\n2\nthree\nfour\n")
    (repo.workspace / "sub/b.txt").unlink()
    found = repo.ask(diff())
    assert found["files"] == [
        {"path": "a.txt", "added": 2, "removed": 1},
        {"path": "sub/b.txt", "added": 0, "removed": 1},
    ]
    assert (found["count"], found["added"], found["removed"]) == (2, 2, 2)
    assert found["text"].startswith("+2 -1  a.txt\n+0 -1  sub/b.txt\n\ndiff --git a/a.txt b/a.txt\n")
    assert "\n-two\n+2\n three\n+four\n" in found["patch"]
    assert repo.ask(diff(path="sub"))["count"] == 1
    assert repo.ask(diff(path="*.txt"))["count"] == 0


def test_staged_changes_are_told_apart_from_the_others(repo: Walks) -> None:
    repo.write("a.txt", "staged\n")
    repo.git("add", "a.txt")
    repo.write("sub/b.txt", "not staged\n")
    assert [one["path"] for one in repo.ask(diff(staged="true"))["files"]] == ["a.txt"]
    assert [one["path"] for one in repo.ask(diff())["files"]] == ["sub/b.txt"]


def test_looking_leaves_the_index_as_it_is_also_where_git_would_note_down_what_it_found(repo: Walks) -> None:
    place = repo.workspace / "a.txt"
    os.utime(place, (1, 1))  # another time, the same content: git looks into the file, and would remember
    before = (repo.workspace / ".git/index").read_bytes()
    assert repo.ask(diff())["files"] == []
    assert (repo.workspace / ".git/index").read_bytes() == before
    repo.git("diff")
    assert (repo.workspace / ".git/index").read_bytes() != before


def test_a_repository_without_commits_shows_what_is_staged(walks: Walks) -> None:
    walks.git("init", "-q")
    walks.write("a.txt", "x\n")
    walks.git("add", "a.txt")
    assert walks.ask(diff(staged="true"))["files"] == [{"path": "a.txt", "added": 1, "removed": 0}]


def test_names_and_lines_move_no_cursor(repo: Walks) -> None:
    repo.write("x\x1b[2J.txt", "plain\n")
    repo.git("add", ".")
    repo.write("x\x1b[2J.txt", "changed\n")
    repo.write("a.txt", "\x1b[31mred\u2028on\r\n")
    found = repo.ask(diff())
    assert "\x1b" not in str(found)
    assert (found["count"], found["hidden"]) == (1, 1)  # no tool touches a path with such a name
    assert "\n+\\x1b[31mred\\u2028on\\r\n" in found["patch"] + "\n"


def test_a_diff_that_is_too_long_is_cut_at_a_line_and_says_so(repo: Walks) -> None:
    repo.write("a.txt", "é" * 80 + "\n" + ("line\n" * 200_000))
    found = repo.ask(diff())
    assert found["truncated"]
    assert found["added"] == 200_001
    assert found["text"].endswith("… there is more: the changes are cut")
    assert found["patch"].endswith("+line")


def test_a_binary_file_is_named_and_not_shown(repo: Walks) -> None:
    (repo.workspace / "a.txt").write_bytes(b"\0\1\2")
    found = repo.ask(diff())
    assert found["files"] == [{"path": "a.txt", "added": 0, "removed": 0}]
    assert "Binary files" in found["patch"]


def test_it_works_in_a_folder_of_the_workspace_only_there(repo: Walks) -> None:
    assert repo.refusal(diff(repo="sub")) == "NOT_A_REPOSITORY"
    assert repo.refusal(diff(repo="..")) == "OUT_OF_SCOPE"


def test_the_content_of_secret_files_is_not_shown(repo: Walks) -> None:
    repo.write(".env", "TOKEN=after\n")
    found = repo.ask(diff())
    assert (found["files"], found["hidden"]) == ([], 1)
    assert "TOKEN" not in str(found)
    repo.git("add", "-f", ".")
    assert "TOKEN" not in str(repo.ask(diff(staged="true")))
    assert "TOKEN" not in str(repo.ask(diff(path=".env", staged="true")))
    repo.write("a.txt", "changed\n")
    assert [one["path"] for one in repo.ask(diff())["files"]] == ["a.txt"]


def test_another_name_of_a_file_outside_is_not_shown(repo: Walks) -> None:
    outside = repo.workspace.parent / "secret.txt"
    outside.write_text("the-secret-outside\n")
    (repo.workspace / "a.txt").unlink()
    os.link(outside, repo.workspace / "a.txt")
    found = repo.ask(diff())
    assert (found["hidden"], "the-secret" in str(found)) == (1, False)


@pytest.fixture
def trap(repo: Walks) -> Path:
    """A program that leaves a mark when it runs, and changes that it could be run for."""
    program = repo.workspace.parent / "trap"
    program.write_text(f'#!/bin/sh\necho ran >> {repo.workspace.parent}/mark\ncat "$@"\nexit 0\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    repo.write("a.txt", "changed\n")
    repo.write(".gitattributes", "*.txt diff=trap filter=trap\n")
    return program


@pytest.mark.parametrize(
    "name", ["diff.external", "diff.trap.textconv", "diff.trap.command", "filter.trap.clean"]
)
def test_the_traps_work_on_a_git_that_is_not_careful(repo: Walks, trap: Path, name: str) -> None:
    repo.git("config", name, str(trap))
    repo.git("diff")
    assert (repo.workspace.parent / "mark").exists()


@pytest.mark.parametrize(
    "name",
    [
        "diff.external",
        "diff.trap.textconv",
        "diff.trap.command",
        "filter.trap.clean",
        "filter.trap.process",
        "core.fsmonitor",
        "core.pager",
        "pager.diff",
        "interactive.diffFilter",
        "alias.diff",
        "diff.tool",
    ],
)
def test_no_program_that_the_repository_names_is_run(repo: Walks, trap: Path, name: str) -> None:
    repo.git("config", name, f"!{trap}" if name.startswith("alias") else str(trap))
    for staged in ("false", "true"):
        repo.ask(diff(staged=staged))
    assert not (repo.workspace.parent / "mark").exists()


def test_the_repositorys_configuration_does_not_change_the_form(repo: Walks) -> None:
    repo.write("a.txt", "one\nzwei\nthree\n")
    plain = repo.ask(diff())
    for name, value in [
        ("diff.noprefix", "true"),
        ("diff.mnemonicPrefix", "true"),
        ("color.ui", "always"),
        ("color.diff", "always"),
        ("diff.context", "0"),
        ("diff.orderFile", str(repo.workspace.parent / "outside")),
        ("diff.wordRegex", "."),
        ("diff.algorithm", "minimal"),
        ("diff.relative", "true"),
        ("diff.statGraphWidth", "1"),
        ("core.quotePath", "false"),
    ]:
        repo.git("config", name, value)
    assert repo.ask(diff()) == plain


def test_contents_that_a_clone_was_made_without_are_told_and_not_fetched(repo: Walks, tmp_path: Path) -> None:
    repo.git("config", "uploadpack.allowFilter", "true")
    repo.write("a.txt", "later\n")
    repo.git("commit", "-q", "-a", "-m", "Change")
    origin = repo.workspace.rename(tmp_path / "origin")
    repo.workspace.mkdir()
    repo.git("clone", "-q", "--filter=blob:none", origin.as_uri(), ".")
    missing = repo.git("rev-list", "--objects", "--missing=print", "HEAD").count("?")
    outcome = repo.go(tool("n1", "git/show", commit="HEAD"))
    assert outcome.failure is not None
    assert (outcome.failure.code, outcome.failure.fix) == (
        "OBJECTS_MISSING",
        "fetch them: git fetch --refetch --no-filter",
    )
    assert repo.git("rev-list", "--objects", "--missing=print", "HEAD").count("?") == missing > 0


@pytest.mark.parametrize("path", ["--output=owned", "-p", ":(top)a.txt", "--no-index", "../outside"])
def test_a_path_that_looks_like_an_option_or_a_pattern_is_neither(repo: Walks, path: str) -> None:
    repo.write("a.txt", "changed\n")
    outcome = repo.go(diff(path=path))
    if outcome.failure is None:
        assert outcome.outputs["n1"]["files"] == []  # type: ignore[index]  # an object
    else:
        assert outcome.failure.code == ("LOOKS_LIKE_OPTION" if path.startswith("-") else "GIT_FAILED")
    assert not (repo.workspace / "owned").exists()
