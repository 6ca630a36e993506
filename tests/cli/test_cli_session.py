"""`mcl` alone on a terminal: goals and commands at a prompt, what is kept of them, and what Tab completes."""

from __future__ import annotations

import pytest

from mcl.cli.session import command_line
from tests.cli.test_cli_do import typing


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("list all markdown files in docs", ["do", "--", "list all markdown files in docs"]),
        ("show me the last 5 commits", ["do", "--", "show me the last 5 commits"]),
        ("what's new in notes", ["do", "--", "what's new in notes"]),
        ("-5 is a number", ["do", "--", "-5 is a number"]),
        ("undo that", ["do", "--", "undo that"]),
        ("ångra det", ["do", "--", "ångra det"]),
        ("/list invoice", ["list", "invoice"]),
        (":list invoice", ["list", "invoice"]),
        ("list", ["list"]),
        ("undo @last", ["undo", "@last"]),
        ("run @2 --resume", ["run", "@2", "--resume"]),
        ("config list", ["config", "list"]),
        ("skill show files-find", ["skill", "show", "files-find"]),
        ("lsit", ["lsit"]),
        ("help", ["--help"]),
        ("/", ["--help"]),
    ],
)
def test_a_line_is_a_command_only_where_it_could_be_no_goal(line, words):
    assert command_line(line) == words


def test_goals_and_commands_are_typed_at_a_prompt(mcl):
    session = typing(mcl)
    session.until("mcl> ")

    def says(line: str, *until: str) -> str:
        session.seen = ""
        session.type(line)
        for text in until:
            session.until(text)
        return session.seen

    says("which files in notes mention invoice\n", "ran at once", "mcl> ")
    assert "@1" in says("/list --limit 1\n", "completed", "mcl> ")
    assert "did you mean mcl list" in says("lsit\n", "COMMAND_UNKNOWN", "mcl> ")
    says("add milk to shopping.md\n", "hy > ")
    says("n\n", "nothing was signed", "mcl> ")
    session.type("half a line\x03")  # Ctrl-C takes a line back
    says(f"my token is ghp_{'a1B2' * 9}\n", "SECRET_INLINE", "mcl> ")
    says("/unknown\n", "mcl> ")
    says("/wh\t@la\t\n", "Why", "mcl> ")  # Tab
    session.type("\x04")
    assert session.end() == 0
    assert "Traceback" not in session.seen
    kept = (mcl.home / "history").read_text().splitlines()
    assert kept[:4] == [
        "which files in notes mention invoice",
        "/list --limit 1",
        "lsit",
        "add milk to shopping.md",
    ]
    assert not any("ghp_" in line or line == "n" for line in kept)
    assert (mcl.home / "history").stat().st_mode & 0o777 == 0o600
    again = typing(mcl)
    again.until("mcl> ")
    again.seen = ""
    again.type("\x1b[A\n")  # the line before, of the session before
    again.until("/why @last")
    again.until("mcl> ")
    again.type("/quit\n")
    assert again.end() == 0


def test_without_a_terminal_it_is_the_help(mcl):
    assert "Say and sign" in mcl().out
    assert "Say and sign" in mcl.other(stdin=b"which files mention invoice\n").out
