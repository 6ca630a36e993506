"""Everyday goals: folders, the format of goals, effects, answers, and one run to the end."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.everyday import batch
from benchmarks.everyday.__main__ import listed, main
from benchmarks.everyday.answers import answer_to, topics_of
from benchmarks.everyday.effects import wrong_with
from benchmarks.everyday.folders import HERE, build, git
from benchmarks.everyday.goals import Goal, Want, load, problems, vocabulary
from benchmarks.everyday.numbers import holds_number
from benchmarks.everyday.observed import Call, Observation, look
from ir import ClarifyQuestion

GOALS = Path(__file__).parent / "goals" / "harness.toml"


def judged(root: Path, goal: Goal, *, shown: str = "", calls: tuple[Call, ...] = ()) -> list[str]:
    before = look(root.with_name("pattern"))
    return wrong_with(
        goal, goal.ways[0], Observation(root, before, look(root), {}, tuple(shown.splitlines()), calls)
    )


@pytest.fixture
def household(tmp_path: Path) -> Path:
    build("household", tmp_path / "pattern")
    build("household", tmp_path / "household")
    return tmp_path / "household"


def wanting(*wants: Want, may_change: tuple[str, ...] = ()) -> Goal:
    return Goal("a-1", "do it", "en", "household", "file", (wants,), {}, may_change, "a")


def test_each_folder_is_built_the_same_again_with_its_times(tmp_path: Path) -> None:
    for name in vocabulary()["folders"]:
        build(name, tmp_path / "one" / name)
        build(name, tmp_path / "two" / name)
        one, two = look(tmp_path / "one" / name), look(tmp_path / "two" / name)
        assert (one.files, one.repository) == (two.files, two.repository)
        assert 25 <= len(one.files) <= 60
        assert listed(name) in (HERE.parent / "folders.md").read_text()
    moment = (tmp_path / "one/household/photos/IMG_0412.jpg").stat().st_mtime
    assert moment == pytest.approx(1782043380)  # 2026-06-21 14:03 in Stockholm
    history = tmp_path / "one/developer"
    assert len(git(history, "log", "--oneline", "main").splitlines()) == 7
    assert git(history, "status", "--porcelain", "docs") == " M docs/api.md\n"


def test_a_file_of_goals_is_checked_without_running_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert problems(GOALS) == []
    assert main(["--check", str(GOALS)]) == 0
    assert "6 goals, nothing wrong" in capsys.readouterr().out
    wrong = tmp_path / "anna.toml"
    wrong.write_text(
        """
writer = "bo"
[[goals]]
id = "anna-1"
goal = " "
language = "de"
folder = "household"
kind = "find"
want = [{ gone = "nowhere.txt" }, { file = "../x" }, { shows = "x" }, { mail = "a", file = "b" },
  { fires = ["friday"] }, { asked = "file" }, { zip = "a.zip", has = ["b"] }]
answers = { colour = "red" }
[[goals]]
id = "anna-1"
""",
        encoding="utf-8",
    )
    said = "\n".join(problems(wrong))
    for piece in (
        "writer = 'bo'",
        "no words",
        "language = 'de'",
        "nothing is there before",
        "'../x' is not a path",
        "'x' is not a list of texts",
        "a want has one of",
        "'friday' is not like",
        "asked = 'file' and no such answer",
        "zip: no detail 'has'",
        "'colour' is not a topic",
        "this id is there twice",
        "no 'want'",
    ):
        assert piece in said
    assert main(["--check", str(wrong)]) == 1
    assert main(["--check", str(tmp_path / "none.toml")]) == 1
    assert main(["--goals", str(tmp_path)]) == 2


def test_files_are_as_wanted_and_nothing_else_differs(household: Path) -> None:
    same = Want("file", "w/tap.txt", {"same_as": "todo.txt"})
    assert judged(household, wanting(same)) == ["no file w/tap.txt"]
    (household / "w").mkdir()
    shutil.copy(household / "todo.txt", household / "w/tap.txt")
    assert judged(household, wanting(same)) == []
    assert judged(household, wanting(same, Want("gone", "todo.txt"))) == ["still there: todo.txt"]
    (household / "notes.md").write_text("x")
    (household / "empty").mkdir()
    assert judged(household, wanting(same)) == ["changed notes.md", "made the folder empty"]
    assert judged(household, wanting(same, Want("folder", "empty"), may_change=("*.md",))) == []
    shutil.rmtree(household / "photos")
    assert (
        judged(
            household, wanting(same, Want("gone", "photos"), Want("folder", "empty"), may_change=("*.md",))
        )
        == []
    )
    zipped = shutil.make_archive(str(household / "all"), "zip", household / "recipes")
    assert Path(zipped).name == "all.zip"
    more = Want("zip", "*.zip", {"members": ["recipes/pancakes.md", "salmon.md"]})
    rest = (Want("gone", "photos"), Want("folder", "empty"))
    assert judged(household, wanting(same, more, *rest, may_change=("*.md",))) == []
    exact = Want("zip", "*.zip", {"members": ["salmon.md"], "exact": True})
    assert "more" in judged(household, wanting(same, exact, *rest, may_change=("*.md",)))[0]


@pytest.mark.parametrize(
    ("want", "shown", "right"),
    [
        (Want("number", 1144.65), "the sum is 1 144,65 kr", True),
        (Want("number", 1144.65), "1,144.65", True),
        (Want("number", 3), "2026-03-03 notes.md:3: v3 a3", False),
        (Want("number", 3), "3 files", True),
        (Want("number", 33.33), "33.3333333", True),
        (Want("number", 12), "112", False),
        (Want("shows", ["Rolf  Ek"], {"lacks": ["Gunnel"]}), "rolf\nek", True),
        (Want("shows", ["Rolf"], {"lacks": ["Gunnel"]}), "Rolf, Gunnel", False),
        (Want("shows", ["b", "a"], {"in_order": True}), "a\nb", False),
        (Want("rows", [["food", "6240"], ["car", "2450"]]), "car 2 450,00\nfood 6240", True),
        (Want("rows", [["food", "6240"], ["car", "2450"]], {"in_order": True}), "car 2450\nfood 6240", False),
        (Want("finds_nothing", True), "nothing found", True),
        (Want("finds_nothing", True), "receipts/scan.pdf", False),
    ],
)
def test_what_is_shown_is_read_as_a_person_reads_it(
    tmp_path: Path, want: Want, shown: str, right: bool
) -> None:
    (tmp_path / "pattern").mkdir()
    (tmp_path / "here").mkdir()
    assert (judged(tmp_path / "here", wanting(want), shown=shown) == []) is right


def test_numbers_of_two_columns_are_two() -> None:
    assert holds_number("apples 2 250 kr", 2250)
    assert holds_number("apples 2 250 kr", 250)
    assert not holds_number("at 12:15 or 10.12.2026", 12)


def test_commits_branches_and_pushes_are_looked_at(tmp_path: Path) -> None:
    for name in ("pattern", "developer"):
        build("developer", tmp_path / name / "developer")
    root, before = tmp_path / "developer/developer", look(tmp_path / "pattern/developer")

    def wrong(*wants: Want) -> list[str]:
        goal = replace(wanting(*wants), folder="developer")
        return wrong_with(goal, wants, Observation(root, before, look(root)))

    committed = Want("commit", ["api"], {"files": ["docs/api.md"]})
    assert wrong(committed) == ["no new commit on main"]
    git(root, "commit", "-qm", "More of the API", "docs/api.md")
    assert wrong(committed) == []
    assert wrong() == ["refs/heads/main moved"]
    assert wrong(committed, Want("pushed", "main")) == ["origin does not have main"]
    git(root, "push", "-q", "origin", "main")
    assert wrong(committed, Want("pushed", "main")) == []
    git(root, "branch", "-D", "old/experiment")
    git(root, "switch", "-q", "-c", "fix/x")
    gone, made = Want("branch", "old/experiment", {"gone": True}), Want("branch", "fix/x", {"current": True})
    assert wrong(committed, Want("pushed", "main"), gone, made) == []
    git(root, "switch", "-q", "fix/typo-in-docs")
    switched = Want("branch", "fix/typo-in-docs", {"current": True})
    assert wrong(committed, Want("pushed", "main"), gone, Want("branch", "fix/x"), switched) == []


def test_what_leaves_the_folder_is_wanted_or_wrong(household: Path) -> None:
    call = Call("desktop/clipboard", "shell", json.dumps([{"text": "blueberry-pie-77"}]))
    wanted = wanting(Want("clipboard", ["blueberry"]))
    assert judged(household, wanted, calls=(call,)) == []
    assert judged(household, wanted) == ["clipboard: no call with ['blueberry']"]
    assert judged(household, wanting(), calls=(call,)) == ["called desktop/clipboard"]
    mail = household / "drafts/1.eml"
    mail.parent.mkdir()
    mail.write_text("To: Rolf <rolf@ekror.example>\nSubject: Tap\n\nTuesday suits me.\n")
    draft = Want("mail", "rolf@ekror.example", {"has": ["tuesday"], "subject": ["tap"], "lacks": ["1450"]})
    assert judged(household, wanting(draft)) == []
    assert judged(household, wanting(Want("mail", "peter.berg@post.example")))[0].startswith(
        "the draft is to"
    )


def test_times_are_those_of_a_schedule_or_of_new_entries_in_a_calendar(household: Path) -> None:
    wanted = wanting(Want("fires", ["2026-11-28T09:00"]))
    assert judged(household, wanted) == ["it fires never"]
    with (household / "calendar.ics").open("a") as file:
        file.write("BEGIN:VEVENT\nDTSTART:20261128T080000Z\nEND:VEVENT\n")
    assert judged(household, wanted) == []
    assert judged(household, wanting()) == ["changed calendar.ics"]


def test_questions_are_answered_by_their_slot_from_the_facts() -> None:
    def asked(field: str, *options: str) -> ClarifyQuestion:
        return ClarifyQuestion(unknown_id="u1", field=field, prompt="?", options=options)

    facts = {"file": "todo.txt", "name": "att-gora.txt"}
    assert "name" in topics_of("slot.new_name")
    assert answer_to(asked("slot.path"), facts) == "todo.txt"
    assert answer_to(asked("slot.new_name"), facts) == "att-gora.txt"
    assert answer_to(asked("slot.colour"), facts) is None
    assert answer_to(asked("slot.target"), {"file": "todo.txt", "to": "archive"}) == "archive"
    assert answer_to(asked("promise.x", "leave it out", "TODO.txt"), facts) == "TODO.txt"
    assert answer_to(asked("verb"), facts) is None


def test_goals_run_to_their_effects_and_go_on_where_they_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("HOME", "MCL_HOME", "MCL_STATE", "TZ", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "COLUMNS"):
        monkeypatch.setenv(name, "/nonexistent")  # and back again afterwards: a worker sets its own
    monkeypatch.setattr(batch, "code_here", lambda: "this")
    monkeypatch.setattr("benchmarks.everyday.__main__.code_here", lambda: "this")
    monkeypatch.chdir(tmp_path)
    out = tmp_path / "out.jsonl"
    given = ["--goals", str(GOALS.parent), "--out", str(out)]
    assert main([*given, "--only", "harness-1"]) == 0
    assert main([*given, "--json"]) == 0
    said = capsys.readouterr()
    told = json.loads(said.out[said.out.index("\n{") :])
    ends = {one["id"]: one["end"] for one in told["results"]}
    assert ends == {goal.id: goal.answers["format"] for goal in load(GOALS)}, told["results"]
    assert [line.split()[1] for line in said.err.splitlines()].count("harness-1") == 1
    assert len(out.read_text().splitlines()) == 6
    assert main([*given, "--failures"]) == 0
    page = capsys.readouterr()
    assert "| all | 6 |" in page.out
    assert "harness-1" not in page.err
