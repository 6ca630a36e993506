"""What goals look for in texts, and in which of them."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

import mcl
from executor import Home
from mcl.compiler.outcome import Clarify, Compiled
from mcl.core.home import open_home

TEXTS = {
    "README.md": "# rooms\n\nTODO: say how it is started\n",
    "todo.txt": "[ ] water the plants\n[x] buy paint\n",
    "lib/door.py": "def opened():\n    pass  # TODO: knock first\n",
    "lib/window.py": "WIDE = 3\n",
    "page/main.js": "// TODO: show a spinner\n",
    "page/plain.css": "body { margin: 0 }\n",
    "minutes/2026-09-07.md": "# Minutes\n\nThe roof leaks again.\n",
    "minutes/2026-10-05.md": "# Minutes\n\nDecided: a barbecue on 12 June.\n",
    "brev/hyresvard.txt": "Hej,\n\nelementet i hallen är kallt.\n",
    "brev/skola.txt": "Hej,\n\nEmma är ledig på fredag.\n\nÄrende K-2041-7\n",
    "songs/first.txt": "First\nKey: G-flat\n",
    "songs/second.txt": "Second\nKey: A-flat\n",
    "songs/third.txt": "Third\nKey: G-flat\n",
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


def looked_for(goal: str, home: Home) -> tuple[str, str]:
    """The text that is looked for, and the pattern of the files."""
    made = mcl.compile_goal(goal, home=home)
    assert isinstance(made, Compiled), made
    said = {one.name: one.value for one in made.intent.frame.objects}
    below = f"{said['folder']}/**" if said.get("folder", ".") != "." else ""
    return said.get("text") or said.get("code", ""), said.get("pattern") or said.get("scope") or below


@pytest.mark.parametrize(
    ("goal", "pattern"),
    [
        ("where do we still have todos in this repo?", ""),
        ("any TODOs left? the release is on Friday", ""),
        ("where are the TODOs? readme too please", ""),
        ("grep the todos in lib + page, gimme file n line", "{lib/**,page/**}"),
        (
            "show me the TODO comments in lib and page. not the readme one, I know about that",
            "{lib/**,page/**}",
        ),
        ("every TODO please, but the readme does not count", "{lib/door.py,page/main.js}"),
        ("which TODOs are left in door.py", "lib/door.py"),
        ("visa alla TODO i lib och page", "{lib/**,page/**}"),
    ],
)
def test_marks_are_looked_for_where_they_are_meant(home: Home, goal: str, pattern: str) -> None:
    assert looked_for(goal, home) == ("TODO", pattern)


@pytest.mark.parametrize(
    ("goal", "found"),
    [
        ("do any of the minutes mention a barbecue? Bo swears they do", ("barbecue", "minutes/**")),
        ("do any of our minutes mention a piano?", ("piano", "minutes/**")),
        ("finns det nåt brev som nämner ett element", ("element", "brev/**")),
        ("vilka brev nämner fredagen", ("fredag", "brev/**")),
    ],
)
def test_what_files_mention_is_looked_for_as_they_write_it(
    home: Home, goal: str, found: tuple[str, str]
) -> None:
    assert looked_for(goal, home) == found


@pytest.mark.parametrize("goal", ["grep minutes for", "search the letters for", "leta i brev efter"])
def test_what_is_looked_for_is_asked_where_a_goal_ends_before_it(home: Home, goal: str) -> None:
    made = mcl.compile_goal(goal, home=home)
    assert isinstance(made, Clarify), made
    assert made.questions[0].field == "slot.text"


@pytest.mark.parametrize(
    ("goal", "pattern"),
    [
        ("how many of the minutes are from October", "minutes/2026-10-05.md"),
        ("hur många protokoll är från september?", "minutes/2026-09-07.md"),
        ("Bo says he was there. how many of the minutes mention the roof?", "minutes/2026-09-07.md"),
        ("hur många filer är det", "**"),
    ],
)
def test_files_are_counted_of_which_something_holds(home: Home, goal: str, pattern: str) -> None:
    made = mcl.compile_goal(goal, home=home)
    assert isinstance(made, Compiled), made
    said = {one.name: one.value for one in made.intent.frame.objects}
    assert said.get("pattern") == pattern


@pytest.mark.parametrize(
    "goal",
    [
        "what have I still got to do? just those in todo that have no tick",
        "what is left to do on the todo list",
    ],
)
def test_open_boxes_alone_are_shown(home: Home, goal: str) -> None:
    assert looked_for(goal, home) == ("[ ]", "**/todo.txt")


@pytest.mark.parametrize(
    "goal",
    [
        "whats in my calendar today + tomorrow",
        "vad har jag i kalendern idag och imorgon",
    ],
)
def test_days_that_are_named_together_are_listed_together(home: Home, goal: str) -> None:
    made = mcl.compile_goal(goal, home=home)
    assert isinstance(made, Compiled), made
    said = {one.name: one.value for one in made.intent.frame.objects}
    today = date.fromisoformat(made.intent.created_at[:10])
    assert (said["from"], said["to"]) == (str(today), str(today + timedelta(days=1)))


def test_the_newest_are_those_of_what_is_named(home: Home) -> None:
    made = mcl.compile_goal("vilka är de två senaste protokollen", home=home)
    assert isinstance(made, Compiled), made
    said = {one.name: one.value for one in made.intent.frame.objects}
    assert said == {"folder": ".", "pattern": "minutes/**", "count": "2"}


def test_a_list_of_things_to_do_is_no_mark(home: Home) -> None:
    made = mcl.compile_goal("show me the whole todo list", home=home)
    assert isinstance(made, Compiled), made
    assert not {one.name for one in made.intent.frame.objects} & {"code", "pattern", "text"}


@pytest.mark.parametrize(
    ("goal", "found"),
    [
        ("which of the songs in songs are in g-flat", ("g-flat", "{songs/first.txt,songs/third.txt}")),
        ("vilka av låtarna i songs går i a-flat", ("a-flat", "songs/second.txt")),
        ("which files have the school's case number in them? K-2041-7", ("K-2041-7", "")),
        ("vilka filer står ärendet i? K-2041-7", ("K-2041-7", "")),
        ("where in the minutes did i write abt the roof", ("roof", "minutes/**")),
    ],
)
def test_files_of_which_something_holds_are_looked_for_by_what_stands_in_them(
    home: Home, goal: str, found: tuple[str, str]
) -> None:
    made = mcl.compile_goal(goal, home=home, skill="files-find", ai=False)
    assert isinstance(made, Compiled), made
    said = {one.name: one.value for one in made.intent.frame.objects}
    below = f"{said['folder']}/**" if said.get("folder", ".") != "." else ""
    assert (said["text"], said.get("pattern") or below) == found


def test_what_no_line_of_the_files_meant_says_is_asked_about(home: Home) -> None:
    made = mcl.compile_goal(
        "which of the minutes is it where they raise the fee", home=home, skill="files-find", ai=False
    )
    assert isinstance(made, Clarify)
    assert [one.field for one in made.questions] == ["slot.text"]


@pytest.mark.parametrize(
    "goal", ["which of the minutes are from october", "vilka av minutes är från oktober"]
)
def test_files_of_a_month_are_told(home: Home, goal: str) -> None:
    made = mcl.compile_goal(goal, home=home, skill="files-recent", ai=False, at="2026-11-27T09:00:00Z")
    assert isinstance(made, Compiled)
    said = {one.name: one.value for one in made.intent.frame.objects}
    assert (said["pattern"], said["count"]) == ("minutes/2026-10-05.md", "1")
