"""code/grep: lines that a real ripgrep finds, with options that are ours alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from walks import Walks, granted, tool

from executor import Outcome


@pytest.fixture
def walks(walks: Walks) -> Walks:
    granted(walks, also=["shell"])
    return walks


def grep(walks: Walks, query: str, **args: Any) -> Outcome:
    return walks.go(tool("n1", "code/grep", "shell", query=query, **args))


def answer(outcome: Outcome) -> dict[str, Any]:
    assert outcome.failure is None, outcome.failure
    found = outcome.outputs["n1"]
    assert isinstance(found, dict)
    return found


def places(walks: Walks, query: str, **args: Any) -> list[str]:
    return [f"{one['path']}:{one['line']}" for one in answer(grep(walks, query, **args))["matches"]]


@pytest.fixture
def tree(walks: Walks) -> Walks:
    walks.write("a.py", "nothing\nx = 'needle'\n")
    walks.write("pkg/b.py", "# Needle\nneedle, needle\n")
    walks.write("pkg/c.txt", "hay\n")
    return walks


@pytest.mark.usefixtures("ripgrep", "unsandboxed")
class TestWithRipgrep:
    def test_matching_lines_come_in_the_order_of_paths(self, tree: Walks) -> None:
        found = answer(grep(tree, "needle"))
        assert found["matches"] == [
            {"path": "a.py", "line": 2, "text": "x = 'needle'"},
            {"path": "pkg/b.py", "line": 2, "text": "needle, needle"},
        ]
        told = {name: found[name] for name in ("query", "status", "count", "files", "truncated")}
        assert told == {"query": "needle", "status": 0, "count": 2, "files": 2, "truncated": False}
        assert found["text"] == "a.py:2: x = 'needle'\npkg/b.py:2: needle, needle"

    def test_that_nothing_is_found_is_an_answer(self, tree: Walks) -> None:
        found = answer(grep(tree, "camel"))
        assert (found["status"], found["matches"], found["text"]) == (1, [], "nothing found")

    def test_the_query_is_a_regular_expression_of_ripgrep(self, tree: Walks) -> None:
        assert places(tree, "[Nn]eedle$") == ["pkg/b.py:1", "pkg/b.py:2"]
        assert places(tree, r"^\w+ = '") == ["a.py:2"]

    def test_a_folder_is_searched_alone_and_its_paths_are_those_of_the_workspace(self, tree: Walks) -> None:
        assert places(tree, "needle", path="pkg") == ["pkg/b.py:2"]

    def test_a_query_that_ripgrep_does_not_understand_is_told_with_what_it_says(self, tree: Walks) -> None:
        for query in ("n(", "a\\", "a\nb", "a\0b"):
            failure = grep(tree, query).failure
            assert failure is not None
            assert failure.code == "BAD_PATTERN", query
            assert "regex" in failure.message

    def test_a_query_that_looks_like_an_option_is_searched_for(self, tree: Walks) -> None:
        for query in ("--files", "-f/etc/passwd", "--pre=/bin/sh", "--"):
            tree.write("options.txt", f"here is {query} as text\n")
            assert places(tree, query) == ["options.txt:1"], query

    def test_ignored_hidden_and_binary_files_are_passed_over(self, tree: Walks) -> None:
        tree.git("init", "-q")
        tree.write(".gitignore", "built/\n")
        tree.write("built/b.py", "needle\n")
        tree.write(".hidden.py", "needle\n")
        (tree.workspace / "b.bin").write_bytes(b"needle\n\0\0")
        (tree.workspace / "late.bin").write_bytes(b"needle\n" + b"x" * 80_000 + b"\n\0\0needle\n")
        assert places(tree, "needle") == ["a.py:2", "late.bin:1", "pkg/b.py:2"]

    def test_a_folder_obeys_the_ignore_files_above_it(self, tree: Walks) -> None:
        tree.git("init", "-q")
        tree.write(".gitignore", "*.log\n")
        tree.write("pkg/a.log", "needle\n")
        assert places(tree, "needle", path="pkg") == ["pkg/b.py:2"]

    def test_what_is_beyond_the_limit_is_said_to_be_there(self, walks: Walks) -> None:
        walks.write("a.txt", "needle\n" * 3)
        walks.write("b.txt", "needle\n" * 3)
        found = answer(grep(walks, "needle", limit="4"))
        assert [one["path"] for one in found["matches"]] == ["a.txt"] * 3 + ["b.txt"]
        assert found["truncated"] is True
        assert found["text"].endswith("only the first 4 matching lines are shown")
        assert answer(grep(walks, "needle", limit="6"))["truncated"] is False

    def test_of_a_long_line_the_place_of_the_match_is_shown(self, walks: Walks) -> None:
        walks.write("a.js", "ä" * 2000 + "needle" + "b" * 2000 + "\n")
        (match,) = answer(grep(walks, "needle"))["matches"]
        assert "needle" in match["text"]
        assert len(match["text"]) < 310

    def test_what_is_no_utf8_and_what_a_terminal_would_obey_is_escaped(self, walks: Walks) -> None:
        (walks.workspace / "a.txt").write_bytes(b"\x1b[31mneedle \xff\r\n")
        (match,) = answer(grep(walks, "needle"))["matches"]
        assert match["text"] == "\\x1b[31mneedle \ufffd"

    def test_a_flood_of_matches_is_cut(self, walks: Walks) -> None:
        for number in range(20):
            walks.write(f"{number:02}.txt", ("needle " + "x" * 290 + "\n") * 2000)
        found = answer(grep(walks, "needle", limit="2000"))
        assert found["truncated"] is True
        assert 500 < found["count"] < 2000


@pytest.mark.usefixtures("ripgrep")
def test_in_bubblewrap_the_same_is_found(tree: Walks, sandboxed: str) -> None:
    found = answer(grep(tree, "needle"))
    assert found["sandbox"] == "bubblewrap"
    assert [one["path"] for one in found["matches"]] == ["a.py", "pkg/b.py"]
    failure = grep(tree, "n(").failure
    assert failure is not None
    assert failure.code == "BAD_PATTERN"


@pytest.mark.usefixtures("unsandboxed")
def test_without_ripgrep_it_is_told_what_is_missing(
    walks: Walks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("executor.sandbox.environment._SYSTEM", (str(tmp_path / "empty"),))
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    failure = grep(walks, "needle").failure
    assert failure is not None
    assert (failure.code, failure.fix) == ("COMMAND_NOT_FOUND", "install ripgrep")
