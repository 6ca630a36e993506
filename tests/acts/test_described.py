"""Texts that are described in other words than their names, and questions that a line of one answers."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcl
from executor import Home
from mcl.compiler.outcome import Compiled
from mcl.core.home import open_home

TEXTS = {
    "minutes/2026-10-05.md": "# Minutes 2026-10-05\n\nNew chairs for at most 3000 kr.\n",
    "minutes/2026-11-02.md": "# Minutes 2026-11-02\n\nTickets cost 120 kr.\n",
    "letters/school.txt": "To the school office\n\nEmma is on holiday.\n",
    "mails/tap.eml": "From: Rolf Ek <rolf@ek.example>\nSubject: Kitchen tap\n\nIt costs 1450 kr.\n",
    "contract.md": "# Contract with Nord\n\nNotice: three months.\nEnds 2026-12-31.\n",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A folder with texts, which is the current one, and a home."""
    here = tmp_path / "work"
    for name, text in TEXTS.items():
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(text)
    monkeypatch.chdir(here)
    return open_home(tmp_path / "home")


def chosen(goal: str, home: Home) -> tuple[str, dict[str, str]]:
    made = mcl.compile_goal(goal, home=home)
    if not isinstance(made, Compiled):
        return "", {}
    assert made.intent.compile_metadata is not None
    return made.intent.compile_metadata.skill_id, {one.name: one.value for one in made.intent.frame.objects}


@pytest.mark.parametrize(
    ("goal", "file"),
    [
        ("show me the minutes from 5 October", "minutes/2026-10-05.md"),
        ("visa protokollet från mötet den 2 november", "minutes/2026-11-02.md"),
        ("läs upp protokollet från den 5 oktober", "minutes/2026-10-05.md"),
        ("vad står det i brevet till skolan", "letters/school.txt"),
        ("vad skrev Rolf i mejlet", "mails/tap.eml"),
    ],
)
def test_a_text_is_shown_that_is_described(home: Home, goal: str, file: str) -> None:
    assert chosen(goal, home) == ("file-read", {"file": file})


@pytest.mark.parametrize("goal", ["what notice period does Nord have", "when does the Nord contract end?"])
def test_a_question_that_a_line_answers_is_answered(home: Home, goal: str) -> None:
    assert chosen(goal, home)[0] == "files-ask"


@pytest.mark.parametrize("goal", ["show me the minutes from 7 May", "delete the letter to the school"])
def test_nothing_else_is_shown(home: Home, goal: str) -> None:
    assert chosen(goal, home)[0] != "file-read"
