"""Goals of several wishes: the first is done, and a later one knows what an earlier one makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from executor import Home
from mcl import compile_goal
from mcl.compiler.outcome import Clarify, Compiled
from mcl.model import Model

FILES = {
    "shopping.txt": "milk\neggs\nmilk\n",
    "todo.txt": "[ ] book dentist\n[ ] order wood\n",
    "budget.csv": "month,spent\nMay,10\n",
    "receipts/adobe-10.txt": "Adobe\nTOTAL 729\n",
    "receipts/adobe-11.txt": "Adobe\nTOTAL 729\n",
    "receipts/ica.txt": "ICA\nTOTAL 20\n",
    "logs/server.log": "ERROR a\n",
    "logs/server-old.log": "ERROR b\n",
    "mails/maja.eml": "From: Maja <maja@nord.example>\nSubject: Hi\n\nHi\n",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / "w" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "w" / name).write_text(text)
    monkeypatch.chdir(tmp_path / "w")
    return tmp_path / "w"


def wished(home: Home, model: Model, goal: str) -> list[tuple[str, dict[str, list[str]]]]:
    """The skills of a goal, with what fills their inputs."""
    made = compile_goal(goal, home=home, model=model, at="2026-11-27T09:00:00Z", zone="Europe/Stockholm")
    assert isinstance(made, Compiled), (goal, made)
    assert made.intent.compile_metadata is not None
    frame, found = made.intent.frame, []
    skills = [made.intent.compile_metadata.skill_id, *(one.skill_ref for one in frame.further)]
    for skill, objects in zip(skills, [frame.objects, *(one.objects for one in frame.further)], strict=True):
        slots: dict[str, list[str]] = {}
        for one in objects:
            slots.setdefault(one.name, []).append(one.value)
        found.append((skill.rpartition("/")[2].partition("@")[0], slots))
    return found


@pytest.mark.parametrize(
    ("goal", "skills"),
    [
        ("sortera shopping.txt och ta bort raden eggs i todo.txt", "lines-sort list-edit"),
        ("First back up todo.txt as backup.zip. Then tick the dentist.", "files-backup list-edit"),
        ("copy the adobe receipts to returns and make a zip of them", "files-copy files-zip"),
        ("gör en mapp arkiv, flytta dit budget.csv", "folder-make files-move"),
        (
            "remind me on thursday at 8 of the exam and add 'read more' to todo.txt",
            "schedule-reminder note-write",
        ),
        ("please take away the doubles in shopping.txt and then put butter last", "lines-unique note-write"),
        ("add up spent in budget.csv and copy the sum to the clipboard", "table-ask clipboard-copy"),
        ("Two things please. 1) make a folder x. 2) delete shopping.txt", "folder-make files-delete"),
    ],
)
def test_the_first_wish_is_done_too(home: Home, bundled: Model, folder: Path, goal: str, skills: str) -> None:
    assert [skill for skill, _ in wished(home, bundled, goal)] == skills.split()


@pytest.mark.parametrize(
    ("goal", "slot", "values"),
    [
        ("move the adobe receipts to a new folder for-maja, zip that folder as a.zip", "files", ["for-maja"]),
        ("convert budget.csv to json and delete the csv", "files", ["budget.csv"]),
        (
            "zip the two server logs into nov.zip and then delete the originals",
            "files",
            ["logs/server-old.log", "logs/server.log"],
        ),
        ("zip the server logs as logs.zip, shopping.txt kan du slänga", "files", ["shopping.txt"]),
    ],
)
def test_a_later_wish_knows_what_is_there_then(
    home: Home, bundled: Model, folder: Path, goal: str, slot: str, values: list[str]
) -> None:
    _, (_, slots) = wished(home, bundled, goal)
    assert sorted(slots[slot]) == values


def test_a_later_wish_that_only_looks_is_about_what_the_earlier_ones_made(
    home: Home, bundled: Model, folder: Path
) -> None:
    goal = "move the adobe receipts to a folder called done and tell me how many there are"
    assert wished(home, bundled, goal)[1] == ("files-count", {"folder": ["done"]})


def test_a_condition_within_a_wish_counts(home: Home, bundled: Model, folder: Path) -> None:
    goal = "run the tests, and commit if they pass with the message ok"
    made = compile_goal(goal, home=home, model=bundled, at="2026-11-27T09:00:00Z")
    assert isinstance(made, Compiled), made
    [commit] = made.intent.frame.further
    assert commit.when is not None
    assert (commit.when.output, commit.when.value) == ("passed", "true")


def test_nothing_is_taken_away_on_a_guess(home: Home, bundled: Model, folder: Path) -> None:
    goal = "make a copy of budget.csv called b.csv and delete everything but the header in it"
    made = compile_goal(goal, home=home, model=bundled, at="2026-11-27T09:00:00Z")
    assert isinstance(made, Compiled | Clarify), made
    assert not made.intent.frame.further


def test_what_was_made_is_not_deleted_by_a_word_like_it(home: Home, bundled: Model, folder: Path) -> None:
    made = compile_goal("zip the logs to servers.zip and delete the servers", home=home, model=bundled)
    assert isinstance(made, Compiled | Clarify)
    assert not any(one.value == "servers.zip" for more in made.intent.frame.further for one in more.objects)


def test_a_text_is_told_to_the_letter(home: Home, bundled: Model, folder: Path) -> None:
    goal = "zip the server logs as logs.zip, and draft a mail to maja@nord.example, subject Logs, text: "
    _, (_, slots) = wished(home, bundled, f"{goal}all is in the zip. can you look")
    assert slots["message"] == ["all is in the zip. can you look"]


@pytest.mark.parametrize(
    ("goal", "skills"),
    [
        (
            "the wood came this afternoon so tick that off todo.txt and put salt in shopping.txt",
            "list-edit note-write",
        ),
        ("Two things: sort shopping.txt, and make a folder called old", "lines-sort folder-make"),
        ("delete setup.exe i dont trust it, and make a folder called old", "files-delete folder-make"),
        ("gör en mapp arkiv å budget.csv flyttar du dit", "folder-make files-move"),
        (
            "clean up shopping.txt for me: no doubles, and then stick salt on the end",
            "lines-unique note-write",
        ),
        (
            "put the rows of new.csv at the end of budget.csv and tell me how many months there are",
            "table-join table-ask",
        ),
    ],
)
def test_a_wish_is_heard_behind_what_is_told(
    home: Home, bundled: Model, folder: Path, goal: str, skills: str
) -> None:
    (folder / "setup.exe").write_text("x")
    (folder / "new.csv").write_text("month,spent\nJune,20\n")
    assert [skill for skill, _ in wished(home, bundled, goal)] == skills.split()


def test_what_files_come_to_is_asked_of_where_they_are_then(home: Home, bundled: Model, folder: Path) -> None:
    for number in (10, 11):
        (folder / f"receipts/adobe-{number}.txt").write_text(f"Adobe\n2026-{number}-01\nTOTAL 729.00 SEK\n")
    goal = "flytta adobekvittona till en ny mapp adobe, och säg sen vad de går på tillsammans"
    skill, slots = wished(home, bundled, goal)[-1]
    assert (skill, slots["file"]) == ("table-ask", ["adobe"])


def test_what_is_added_stands_behind_a_colon(home: Home, bundled: Model, folder: Path) -> None:
    made = wished(home, bundled, "tick the dentist in todo.txt and add a new one: send the wood back")
    assert len(made) == 2


@pytest.mark.parametrize(
    ("goal", "skill", "target"),
    [
        (
            "put the adobe receipts in a folder of their own inside receipts, call it adobe, the rest stay",
            "files-move",
            "receipts/adobe/",
        ),
        (
            "lägg adobekvittona i en egen mapp inne i receipts, döp den till adobe, resten får ligga kvar",
            "files-move",
            "receipts/adobe/",
        ),
        (
            "gör en mapp som heter adobe inne i receipts och lägg dit adobekvittona. resten får ligga kvar",
            "files-move",
            "receipts/adobe/",
        ),
        (
            "copy the adobe receipts into receipts/adobe, that folder doesn't exist yet so create it",
            "files-copy",
            "receipts/adobe",
        ),
    ],
)
def test_a_folder_that_is_told_beside_is_where_files_go(
    home: Home, bundled: Model, folder: Path, goal: str, skill: str, target: str
) -> None:
    (made, slots), *more = wished(home, bundled, goal)
    assert (made, slots["target"], more) == (skill, [target], [])
    assert sorted(slots["files"]) == ["receipts/adobe-10.txt", "receipts/adobe-11.txt"]


def test_what_is_said_behind_a_text_is_no_part_of_it(home: Home, bundled: Model, folder: Path) -> None:
    goal = "Draft a mail to maja@nord.example, subject Logs, and say: Hi Maja, all is in the zip. Yours, Bo. "
    (skill, slots), *_ = wished(home, bundled, f"{goal}Don't send it, I want to read it once more tomorrow.")
    assert (skill, slots["message"]) == ("mail-draft", ["Hi Maja, all is in the zip. Yours, Bo."])
