"""A review of many files shows how far it is: a bar on a terminal, after a second; lines elsewhere."""

from __future__ import annotations

import io

import pytest

from executor.walker.interfaces import WalkEvent
from mcl.cli import progress as waiting
from mcl.plugins.review.cli.review import StepProgress


class Screen(io.StringIO):
    """Standard error of a terminal, or of none."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self.terminal = terminal

    def isatty(self) -> bool:
        return self.terminal


def shown(monkeypatch: pytest.MonkeyPatch, *, terminal: bool, quiet: float) -> str:
    screen = Screen(terminal=terminal)
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(waiting, "_QUIET", quiet)
    with StepProgress() as progress:
        progress.on(WalkEvent("scan", "tool_call", "running", description="Search it by fixed rules"))
        for done in range(3):
            progress.advanced("scan", done, 2)
    return screen.getvalue()


def test_a_bar_is_shown_on_a_terminal_and_taken_away_again(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = shown(monkeypatch, terminal=True, quiet=-1.0)
    assert "Search it by fixed rules" in seen
    assert "2/2" in seen
    assert seen.endswith("\x1b[2K")


def test_nothing_is_shown_before_a_moment_or_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(monkeypatch, terminal=True, quiet=60.0) == ""
    assert shown(monkeypatch, terminal=False, quiet=-1.0) == ""
