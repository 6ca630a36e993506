"""Words for files: what they mean in a folder, what is asked about, and that a replay reads the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import mcl
from executor import Home
from mcl.compiler.outcome import Clarify, Compiled
from mcl.compiler.stages.file_names import FileNames, Meant, NamedFile, PathUse
from mcl.plugins.checking.replay import replay

FILES = (
    *("budget.csv", "shopping.txt", "inkop.txt", "todo.txt", "downloads/manual.pdf", "downloads/ticket.pdf"),
    *("letters/landlord.txt", "letters/old/landlord.txt", "photos/IMG_1.jpg", "photos/cabin.png"),
    *("receipts/2026-09-11-clas-ohlson.txt", "receipts/2026-11-09-clas-ohlson.txt", "receipts/ica.txt"),
)
FOLDERS = ("downloads", "letters", "letters/old", "photos", "receipts")
NAMES = FileNames((*(NamedFile(one, False) for one in FILES), *(NamedFile(one, True) for one in FOLDERS)))
CLAS = ("receipts/2026-09-11-clas-ohlson.txt", "receipts/2026-11-09-clas-ohlson.txt")


@pytest.mark.parametrize(
    ("text", "use", "most", "paths"),
    [
        ("the budget", "there", 1, ("budget.csv",)),
        ("Budget", "there", 9, ("budget.csv",)),
        ("budgeten", "there", 1, ("budget.csv",)),
        ("my shopping list", "there", 1, ("shopping.txt",)),
        ("inköpslistan", "there", 1, ("inkop.txt",)),
        ("shoping.txt", "there", 1, ("shopping.txt",)),
        ("manual.pdf", "there", 1, ("downloads/manual.pdf",)),
        ("the receipts folder", "there", 9, ("receipts",)),
        ("mappen photos", "there", 9, ("photos",)),
        ("all clas ohlson receipts", "there", 9, CLAS),
        ("the clas ohlson receipts", "there", 9, CLAS),
        ("all the photos", "there", 9, ("photos/IMG_1.jpg", "photos/cabin.png")),
        ("*.pdf", "there", 9, ("downloads/manual.pdf", "downloads/ticket.pdf")),
        ("alla pdf:er", "there", 9, ("downloads/manual.pdf", "downloads/ticket.pdf")),
        ("letters/old/landlord.txt.", "there", 1, ("letters/old/landlord.txt",)),
        ("sums.txt.", "new", 1, ("sums.txt",)),
        ("the shopping list", "new", 1, ("shopping.txt",)),
        ("the photos folder", "folder", 1, ("photos",)),
        ("a new folder called warranty", "folder", 1, ("warranty/",)),
    ],
)
def test_words_for_a_file_mean_what_is_called_so(
    text: str, use: PathUse, most: int, paths: tuple[str, ...]
) -> None:
    assert NAMES.meant(text, use, most) == Meant(paths)


@pytest.mark.parametrize(
    ("text", "use", "most"),
    [
        ("budget.csv", "there", 1),  # it is there
        ("receipts/", "there", 1),
        ("nothing.txt", "there", 1),
        ("the meeting", "there", 1),
        ("shoppings.md", "new", 1),  # a new file is what it is called
        ("archive", "folder", 1),
        ("../budget", "folder", 1),
        (".", "there", 1),
        ("the", "there", 1),
        ("x" * 300, "there", 1),
        ("[", "there", 9),
    ],
)
def test_other_words_are_taken_as_they_are(text: str, use: PathUse, most: int) -> None:
    assert NAMES.meant(text, use, most) is None


def test_the_name_of_a_folder_is_no_name_of_one_in_it() -> None:
    assert NAMES.meant("the folder photos", "folder", 1) == Meant(("photos",))
    assert NAMES.meant("2025 i photos", "folder", 1) == Meant(("photos/2025",))


def test_all_of_a_kind_are_meant_where_several_are_said() -> None:
    both = ("downloads/manual.pdf", "downloads/ticket.pdf")
    assert NAMES.meant("the pdfs", "there", 9) == Meant(both)
    assert NAMES.meant("that pdf", "there", 9) == Meant(both, unsure=True)


def test_where_two_are_called_so_a_person_says_which() -> None:
    found = NAMES.meant("the landlord letter", "there", 1)
    assert found == Meant(("letters/landlord.txt", "letters/old/landlord.txt"), unsure=True)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "work"
    for one in FILES:
        (place / one).parent.mkdir(parents=True, exist_ok=True)
        (place / one).write_text(one)
    monkeypatch.chdir(place)
    (place / "photos/IMG_0413 (1).jpg").write_text("a copy")
    (place / "photos/IMG_0413.jpg").write_text("a picture")
    return place


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Home]:
    with Home.open(tmp_path / "home") as opened:
        yield opened


@pytest.mark.parametrize(
    ("goal", "skill", "slots"),
    [
        ("rename the budget to economy", "file-rename", {"file": "budget.csv", "name": "economy"}),
        ("remove the shopping list", "files-delete", {"files": "shopping.txt"}),
        ("let me see the budget file please", "file-read", {"file": "budget.csv"}),
        ("zip the receipts folder", "files-zip", {"files": "receipts"}),
        ("delete the picture IMG_0413 (1).jpg", "files-delete", {"files": "photos/IMG_0413 (1).jpg"}),
        ("move everything in downloads to old", "files-move", {"pattern": "*", "folder": "downloads"}),
    ],
)
def test_a_goal_is_read_by_what_is_there_and_a_replay_elsewhere_reads_the_same(
    folder: Path, home: Home, monkeypatch: pytest.MonkeyPatch, goal: str, skill: str, slots: dict[str, str]
) -> None:
    made = mcl.compile_goal(goal, home=home)
    assert isinstance(made, Compiled)
    assert made.intent.compile_metadata is not None
    assert made.intent.compile_metadata.skill_id == skill
    assert slots.items() <= {one.name: one.value for one in made.intent.frame.objects}.items()
    monkeypatch.chdir(folder.parent)
    again = replay(made.intent.id, home=home)
    assert again.same, [one for one in again.items if one.verdict != "same"]


def test_a_goal_for_no_skill_is_read_again_by_the_name_of_the_file_that_it_calls(
    folder: Path, home: Home
) -> None:
    (folder / "pancakes.md").write_text("eggs\n")
    made = mcl.compile_goal("can i see the pancake recipe", home=home)
    assert isinstance(made, Compiled)
    assert [(one.name, one.value) for one in made.intent.frame.objects] == [("file", "pancakes.md")]


@pytest.mark.parametrize(
    ("goal", "skill", "field"),
    [
        ("count the ERROR lines in both logs pls one number", "files-count", "slot.folder"),
        ("can you copy that nice recipe into a folder called favourites", "files-copy", "slot.files"),
        ("copy the big report to old", "files-copy", "slot.files"),
        ("bilderna ligger i vägen, kan du flytta dem", "files-move", "slot.target"),
    ],
)
def test_words_that_name_nothing_here_are_asked_about(
    folder: Path, home: Home, goal: str, skill: str, field: str
) -> None:
    asked = mcl.compile_goal(goal, home=home)
    assert isinstance(asked, Clarify)
    assert asked.intent.compile_metadata is not None
    assert asked.intent.compile_metadata.skill_id == skill
    assert field in [one.field for one in asked.questions]


def test_what_may_be_several_files_is_asked_about_with_their_names(folder: Path, home: Home) -> None:
    asked = mcl.compile_goal("delete the file landlord", home=home)
    assert isinstance(asked, Clarify)
    [question] = [one for one in asked.questions if one.field == "slot.files"]
    assert set(question.options) == {"letters/landlord.txt", "letters/old/landlord.txt"}
    made = mcl.answer(asked.intent.id, {question.unknown_id: "letters/landlord.txt"}, home=home)
    assert isinstance(made, Compiled)
    assert made.plan is not None
    assert made.plan.root.tool_call is not None
    assert made.plan.root.tool_call.args["paths"] == '["letters/landlord.txt"]'


@pytest.mark.parametrize(
    "goal", ["how many hours have I logged for Nordlys in total", "biggest hour for Ugglan"]
)
def test_the_table_that_answers_is_taken_where_none_is_named_and_a_replay_elsewhere_reads_the_same(
    folder: Path, home: Home, monkeypatch: pytest.MonkeyPatch, goal: str
) -> None:
    (folder / "hours.csv").write_text("date,client,hours\n2026-10-05,Nordlys,4\n2026-10-08,Ugglan,3\n")
    made = mcl.compile_goal(goal, home=home)
    assert isinstance(made, Compiled)
    assert {one.name: one.value for one in made.intent.frame.objects}["file"] == "hours.csv"
    monkeypatch.chdir(folder.parent)
    again = replay(made.intent.id, home=home)
    assert again.same, [one for one in again.items if one.verdict != "same"]
