"""A goal that first says of what it speaks, and then points at it."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcl
from executor import Home

THERE = ("todo.txt", "shopping.txt", "downloads/song.mp3", "downloads/setup.exe", "notes.md", "docs/api.md")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path in THERE:
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text("[ ] order firewood\n[ ] call the plumber\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("goal", "skill", "field", "value"),
    [
        ("Rörmokaren är bokad. Kryssa den i todo.txt", "list-edit", "line", "call the plumber"),
        ("the firewood is ordered, mark that as done in todo.txt", "list-edit", "line", "order firewood"),
        ("I bought the milk. Take it off shopping.txt", "list-edit", "line", "milk"),
        ("We're out of butter, put it on shopping.txt", "note-write", "note", "butter"),
        ("Smöret är slut. Lägg till det sist i shopping.txt", "note-write", "note", "Smöret"),
        ("song.mp3 i downloads behövs inte längre, släng den", "files-delete", "files", "downloads/song.mp3"),
        ("i downloads ligger setup.exe, släng den", "files-delete", "files", "downloads/setup.exe"),
        ("song.mp3 is no longer needed, throw it away", "files-delete", "files", "downloads/song.mp3"),
        ("docs/api.md is a mess, make a copy of it called old.md", "files-copy", "files", "docs/api.md"),
        ("butter on the shopping list please", "note-write", "note", "butter"),
        ("get notes.md and delete it", "files-delete", "files", "notes.md"),
        ("make a docs.zip out of docs", "files-zip", "archive", "docs.zip"),
    ],
)
def test_a_wish_is_about_what_the_clause_before_it_speaks_of(
    folder: Path, home: Home, goal: str, skill: str, field: str, value: str
) -> None:
    made = mcl.compile_goal(goal, home=home)
    assert made.intent.compile_metadata is not None
    assert made.intent.compile_metadata.skill_id == skill
    assert {"name": field, "value": value}.items() <= {
        key: one for entry in made.intent.frame.objects if entry.name == field for key, one in entry
    }.items()
    assert made.intent.prose == goal


@pytest.mark.parametrize(
    ("goal", "wrong"),
    [
        ("kim is ill. add it to shopping.txt", "kim"),
        ("the bakery called, put it in todo.txt", "bakery"),
        ("Bo is asking for the total. add it to notes.md", "Bo"),
        ("the meeting is on Friday at 10, write that down in notes.md", "the meeting"),
        ("canoe is 550 a day now. fix that in notes.md", "canoe"),
    ],
)
def test_what_was_told_of_something_else_is_not_what_is_meant(
    folder: Path, home: Home, goal: str, wrong: str
) -> None:
    made = mcl.compile_goal(goal, home=home)
    changed = {one.value for one in made.intent.frame.objects if one.name != "word"}  # what is looked for
    assert wrong not in changed


@pytest.mark.parametrize(
    ("goal", "skills"),
    [
        ("sort songs.csv by minutes into r.csv and tell me the total minutes", ("table-sort", "table-ask")),
        ("sortera songs.csv på minutes till r.csv och säg sen hur många minuter det blir totalt",
         ("table-sort", "table-ask")),
        ("sort songs.csv by minutes, put the longest on top and save it as r.csv", ("table-sort",)),
        ("run the tests and if everything's green tag it v1", ("run-tests", "git-tag")),
        ("kör testerna och om alla är ok tagga v1", ("run-tests", "git-tag")),
    ],
)  # fmt: skip
def test_what_is_wanted_behind_the_first_wish_is_one_of_its_own(
    folder: Path, home: Home, goal: str, skills: tuple[str, ...]
) -> None:
    (folder / "songs.csv").write_text("song,minutes\nLux,5\nSanta,3\n")
    made = mcl.compile_goal(goal, home=home)
    assert isinstance(made, mcl.Compiled)
    assert made.intent.compile_metadata is not None
    found = (made.intent.compile_metadata.skill_id, *(one.skill_ref for one in made.intent.frame.further))
    assert tuple(one.rpartition("/")[2].partition("@")[0] for one in found) == skills
    assert not any(
        one.name in ("also", "result") for wish in made.intent.frame.further for one in wish.objects
    )


@pytest.mark.parametrize(
    "goal",
    [
        "men var fan har vi song.mp3, han har slängt den å nu är han ledsen",
        "where the hell is setup.exe? he threw it away again",
        "vart har jag lagt notes.md, jag har nog raderat den",
    ],
)
def test_a_question_takes_nothing_away(folder: Path, home: Home, goal: str) -> None:
    made = mcl.compile_goal(goal, home=home)
    assert made.intent.compile_metadata is not None
    assert made.intent.compile_metadata.skill_id in (
        "files-ask",
        "file-locate",
        "files-find",
        "file-read",
        "general",
    )
