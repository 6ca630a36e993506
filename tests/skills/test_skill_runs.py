"""Every shipped skill from a person's words to the effect on disk: compiled, accepted, run and replayed."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import pytest
from websites import page, website

from executor import AlwaysApprove, Home, Outcome
from executor.gate.grants import Grants
from mcl import accept, compile_goal, open_home, replay, run
from mcl.compiler.outcome import Clarify, Compiled, Refused
from mcl.language.skills import find_skills, skill_folders
from mcl.memory import MemoryStore
from mcl.model import Model
from mcl.plugins.authoring.examples import try_examples
from mcl.usecases.models import Models

SHIPPED = find_skills(skill_folders(None)[:1]).ids
AT = "2026-11-21T10:00:00Z"
GIT = {
    "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_GLOBAL": "/dev/null", "PATH": "/usr/bin:/bin",
}  # fmt: skip


@pytest.fixture(scope="module")
def matcher(home: Home) -> Model:
    return Models(home).open(ai=False)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").write_text("Call the plumber.\nInvoice 4711 is due.\n")
    (tmp_path / "notes" / "b.md").write_text("Invoice 4712 came in.\n")
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "app.py").write_text("def load_settings(path):\n    return path\n")
    (tmp_path / "sales.csv").write_text("month,revenue\nJan,10\nFeb,12.5\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@dataclass
class Ran:
    """What became of a goal."""

    folder: Path
    intent: str
    outcome: Outcome
    slots: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """What the last tool told people."""
        return str([output["text"] for output in self.outcome.outputs.values() if "text" in output][-1])

    def file(self, name: str) -> str:
        """A file that was written."""
        return (self.folder / name).read_text()


@dataclass(frozen=True)
class Person:
    """Somebody in a folder, with a home and a model."""

    home: Home
    model: Model
    folder: Path

    def wants(self, goal: str, skill: str, verb: str, *, zone: str = "UTC", at: str | None = AT) -> Ran:
        """Compile, accept, run and replay a goal; it must be this skill and verb, and come to a good end."""
        made = compile_goal(goal, home=self.home, model=self.model, at=at, zone=zone)
        assert isinstance(made, Compiled), made
        metadata = made.intent.compile_metadata
        assert metadata is not None
        assert (metadata.skill_id, made.intent.frame.verb) == (skill, verb)
        accept(made.intent.id, home=self.home)
        outcome = run(made.intent.id, home=self.home, people=AlwaysApprove())
        assert outcome.state == "completed", outcome.failure
        again = replay(made.intent.id, home=self.home)
        assert again.same, [one for one in again.items if one.verdict != "same"]
        slots = {one.name: one.value for one in made.intent.frame.objects}
        return Ran(self.folder, made.intent.id, outcome, slots)


@pytest.fixture
def person(home: Home, bundled: Model, folder: Path) -> Person:
    return Person(home, bundled, folder)


@pytest.fixture
def repository(folder: Path) -> Path:
    for words in (("init", "-q", "-b", "main"), ("add", "-A"), ("commit", "-qm", "First of all")):
        subprocess.run(["git", *words], cwd=folder, env=GIT, check=True)
    return folder


@pytest.mark.parametrize("ai", [True, False], ids=["bundled", "no-ai"])
def test_every_example_is_understood_as_its_skill_and_most_without_a_question(home: Home, ai: bool) -> None:
    tried = list(try_examples(SHIPPED, home=home, ai=ai, at=AT))
    wrong = [
        (skill.id, one.text, one.chosen, one.outcome, one.message)
        for skill in tried
        for one in skill.examples
        if not one.ok
    ]
    assert len(wrong) <= (0 if ai else 9), wrong
    outcomes = [one.outcome for skill in tried for one in skill.examples]
    # Without a model every example finds its skill, but inputs and verbs are only found by English words:
    # most of the Swedish examples end in a question. That is so with these skills alone too.
    assert outcomes.count("compiled") >= (0.9 if ai else 0.85) * len(outcomes)


@pytest.mark.slow
@pytest.mark.parametrize("ai", [True, False], ids=["bundled", "no-ai"])
def test_most_examples_of_plug_ins_are_understood_and_most_that_are_not_for_them_left(
    home: Home, ai: bool
) -> None:
    ids = [id for id in find_skills(skill_folders(None)).ids if id not in SHIPPED]
    tried = list(try_examples(ids, home=home, ai=ai, at=AT))
    examples = [one for skill in tried for one in skill.examples]
    assert sum(one.ok for one in examples) >= (0.95 if ai else 0.7) * len(examples)
    assert sum(one.understood for one in examples) >= (0.8 if ai else 0.5) * len(examples)
    left = [one for skill in tried for one in skill.not_for]
    assert sum(one.ok for one in left) >= 0.75 * len(left)


@pytest.mark.parametrize("ai", [True, False], ids=["bundled", "no-ai"])
def test_goals_in_other_words_find_their_skill_and_most_of_their_inputs(
    home: Home, bundled: Model, matcher: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ai: bool
) -> None:
    # in an empty folder: in the checkout "letters" would be looked up as mcl/plugins/messages/letter.py
    monkeypatch.chdir(tmp_path)
    rows = [json.loads(line) for line in (Path(__file__).parent / "held_out.jsonl").open(encoding="utf-8")]
    chosen, exact, named = 0, 0, [row for row in rows if row["skill"] != "none"]
    for row in rows:
        model = bundled if ai else matcher
        made = compile_goal(row["goal"], home=home, model=model, at=AT, dry_run=True)
        if row["skill"] == "none":  # never silently something else: refused, asked, or kept only after a yes
            last = not isinstance(made, Refused) and made.intent.compile_metadata
            assert not isinstance(made, Compiled) or (last and last.skill_id == "general"), row["goal"]
            continue
        if isinstance(made, Refused) or made.intent.compile_metadata is None:
            continue
        if made.intent.compile_metadata.skill_id == row["skill"]:
            chosen += 1
            slots = {one.name: one.value for one in made.intent.frame.objects}
            exact += row["slots"].items() <= slots.items()
    assert chosen >= (0.88 if ai else 0.85) * len(named)
    assert exact >= 0.8 * len(named)


def test_files_find_finds_a_word_and_lists_a_folder(person: Person) -> None:
    found = person.wants("find the word invoice in the folder notes", "files-find", "find")
    assert found.text.splitlines() == [
        "notes/a.txt:2: Invoice 4711 is due.",
        "notes/b.md:1: Invoice 4712 came in.",
    ]
    listed = person.wants("list all markdown files in notes", "files-find", "find")
    assert (listed.slots["pattern"], listed.text) == ("*.md", "notes/b.md")


def test_files_report_writes_what_it_found_and_a_list_of_files(person: Person) -> None:
    done = person.wants(
        "write a report of every line with invoice in notes to r.md", "files-report", "deliver"
    )
    assert done.file("r.md").startswith("# Lines with: invoice\n\nnotes/a.txt:2: Invoice 4711")
    done = person.wants("save a list of all files in notes to inventory.md", "files-report", "deliver")
    assert done.file("inventory.md") == "# Files in: notes\n\nnotes/a.txt\nnotes/b.md\n"


def test_files_report_keeps_a_file_that_is_there_and_proposes_another_name(person: Person) -> None:
    (person.folder / "r.md").write_text("mine")
    goal = "write a report of every line with invoice in notes to r.md"
    made = compile_goal(goal, home=person.home, model=person.model)
    accept(made.intent.id, home=person.home)
    outcome = run(made.intent.id, home=person.home)
    assert (outcome.state, outcome.exit) == ("corrected", 10)
    assert outcome.failure is not None
    assert "call it r-2.md, as r.md is there already" in outcome.failure.message
    assert ((person.folder / "r.md").read_text(), (person.folder / "r-2.md").exists()) == ("mine", False)
    accept(made.intent.id, home=person.home)
    assert run(made.intent.id, home=person.home).state == "completed"
    assert (person.folder / "r.md").read_text() == "mine"
    assert "invoice" in (person.folder / "r-2.md").read_text().lower()


def test_code_search_finds_a_definition(person: Person) -> None:
    found = person.wants("where is the function load_settings defined", "code-search", "find")
    assert found.text.splitlines()[0] == "src/app.py:1: def load_settings(path):"


def test_repo_status_shows_changes_commits_and_lines(person: Person, repository: Path) -> None:
    (repository / "notes" / "b.md").write_text("Invoice 4712 is paid.\n")
    assert " M notes/b.md" in person.wants("git status", "repo-status", "analyze").text
    assert "First of all" in person.wants("show the last five commits", "repo-status", "analyze").text
    assert "+Invoice 4712 is paid." in person.wants("show the diff", "repo-status", "analyze").text


def test_repo_branch_makes_a_branch_and_lists_them(person: Person, repository: Path) -> None:
    person.wants("create a branch called fix-login", "repo-branch", "build")
    assert (repository / ".git" / "refs" / "heads" / "fix-login").is_file()
    assert person.wants("list the branches", "repo-branch", "find").text.split() == ["fix-login", "*", "main"]


def test_a_branch_begins_from_the_branch_that_the_goal_names(person: Person, repository: Path) -> None:
    person.wants("create a branch called old-way", "repo-branch", "build")
    subprocess.run(["git", "commit", "-qam", "Second"], cwd=repository, env=GIT, check=False)
    (repository / "new.txt").write_text("new\n")
    for words in (("add", "-A"), ("commit", "-qm", "Third")):
        subprocess.run(["git", *words], cwd=repository, env=GIT, check=True)
    made = person.wants("new branch fix-login from old-way", "repo-branch", "build")
    assert made.slots["start"] == "old-way"
    heads = repository / ".git" / "refs" / "heads"
    assert (heads / "fix-login").read_text() == (heads / "old-way").read_text()
    assert (heads / "fix-login").read_text() != (heads / "main").read_text()


def test_run_tests_tells_whether_they_pass(person: Person) -> None:
    (person.folder / "Makefile").write_text("test:\n\t@echo all is well\n")
    done = person.wants("run the tests", "run-tests", "build")
    assert done.outcome.outputs["tests"]["passed"] is True
    assert "all is well" in done.text
    (person.folder / "Makefile").write_text("test:\n\t@exit 1\n")
    assert person.wants("run the tests", "run-tests", "build").outcome.outputs["tests"]["passed"] is False


@pytest.fixture
def pages(home: Home) -> Iterator[str]:
    with website() as there:
        there.pages["/news"] = page("<html><body><h1>News</h1><p>All is well.</p></body></html>")
        Grants(home).grant_hosts(home.keyring.agent.did, [there.origin])
        yield there.origin


def test_web_fetch_shows_a_page_and_saves_it(person: Person, pages: str) -> None:
    shown = person.wants(f"fetch the web page {pages}/news", "web-fetch", "acquire")
    assert "All is well." in shown.text
    saved = person.wants(
        f"download the web page {pages}/news and save it as news.txt", "web-fetch", "acquire"
    )
    assert saved.file("news.txt") == shown.text


def test_data_summary_tells_figures_and_draws_a_chart(person: Person) -> None:
    assert "revenue" in person.wants("summarise sales.csv", "data-summary", "analyze").text
    goal = "draw a bar chart of revenue from sales.csv to revenue.svg"
    drawn = person.wants(goal, "data-summary", "build")
    assert drawn.slots == {"file": "sales.csv", "chart": "revenue.svg", "column": "revenue", "kind": "bar"}
    assert "<svg" in drawn.file("revenue.svg")
    by = person.wants(
        "draw a bar chart of revenue by month from sales.csv into by.svg", "data-summary", "build"
    )
    assert (by.slots["column"], by.slots["axis"]) == ("revenue", "month")


def test_note_write_begins_a_note_and_adds_to_it(person: Person) -> None:
    person.wants("make a note that the plumber comes on Thursday", "note-write", "build")
    done = person.wants("note down that the boiler makes a noise", "note-write", "build")
    assert done.file("notes.md") == "- the plumber comes on Thursday\n- the boiler makes a noise\n"
    done = person.wants('append "call the bank" to todo.txt', "note-write", "modify")
    assert done.file("todo.txt") == "- call the bank\n"


def test_schedule_reminder_sets_a_reminder_in_the_zone_of_the_person_and_lists_it(person: Person) -> None:
    goal = "remind me to call Anna tomorrow at 9:00"
    done = person.wants(goal, "schedule-reminder", "schedule", zone="Europe/Stockholm")
    assert done.slots["when"] == "2026-11-22T08:00:00.000Z"
    assert "SUMMARY:call Anna" in done.file("reminders.ics")
    assert "call Anna" in person.wants("which reminders do I have", "schedule-reminder", "find").text


def test_an_appointment_takes_as_long_as_the_goal_says(person: Person) -> None:
    goal = "schedule the team lunch for next Tuesday at 12:00 for 90 minutes"
    done = person.wants(goal, "schedule-reminder", "schedule")
    assert (done.slots["title"], done.slots["minutes"]) == ("the team lunch", "90")
    assert "DTEND:20261124T133000Z" in done.file("reminders.ics")


def test_what_changed_is_looked_up_in_this_folder_where_none_is_named(person: Person) -> None:
    done = person.wants("which files changed since yesterday", "monitor-path", "monitor")
    assert "src/app.py" in done.text


def test_monitor_path_watches_and_looks_back(person: Person) -> None:
    seen = person.wants("watch the folder notes for 1 second", "monitor-path", "monitor")
    assert "nothing changed" in seen.text
    goal = "which files in src were modified since Monday"  # they were written just now
    assert "src/app.py" in person.wants(goal, "monitor-path", "monitor").text


def test_delegate_task_writes_a_task_with_its_deadline_and_an_offer_with_its_terms(person: Person) -> None:
    person.wants(
        "ask Anna to review the contract by Friday", "delegate-task", "delegate", at=None
    )  # a deadline is in the run's time
    [task] = (person.folder / "tasks").iterdir()
    lines = dict(line.split(": ", 1) for line in task.read_text().splitlines() if ": " in line)
    due = datetime.fromisoformat(json.loads(lines["due"]))
    assert lines["assignee"] == '"Anna"'
    assert (due.isoweekday(), due.time()) == (5, time(23, 59, 59))
    assert due - datetime.now(UTC) < timedelta(days=8)
    person.wants("negotiate the rent with Brightline", "delegate-task", "negotiate")
    [offer] = (person.folder / "proposals").iterdir()
    assert 'terms: "negotiate the rent with Brightline"' in offer.read_text()


def test_delegate_task_knows_somebody_who_is_remembered(matcher: Model, tmp_path: Path) -> None:
    home = open_home(tmp_path)
    memory = MemoryStore(home).put("Identity", "Anna Svensson, lawyer", id="anna")
    for goal, uri in (("assign the contract to Anna", memory.uri), ("assign the contract to Omar", "")):
        made = compile_goal(goal, home=home, model=matcher, dry_run=True)
        assert isinstance(made, Compiled)
        [assignee] = [one for one in made.intent.frame.objects if one.name == "assignee"]
        assert assignee.uri == uri
        assert made.intent.unknowns == ()


def test_an_offer_that_is_not_approved_is_not_written(person: Person) -> None:
    made = compile_goal("negotiate the rent with Brightline", home=person.home, model=person.model)
    accept(made.intent.id, home=person.home)
    assert run(made.intent.id, home=person.home).state != "completed"
    assert not (person.folder / "proposals").exists()


def test_general_keeps_a_goal_as_a_note_after_a_yes(person: Person) -> None:
    done = person.wants("publish the press release", "general", "deliver")
    assert done.file(f"mcl-notes/{done.intent}.md") == "# To deliver\n\npublish the press release\n"


@pytest.mark.parametrize(
    ("goal", "skill", "field", "prompt"),
    [
        ("create a branch", "repo-branch", "slot.branch", "What should the new branch be called"),
        ("remind me to call Anna", "schedule-reminder", "slot.when", "When? Such as: tomorrow at 9:00"),
        ("fetch the web page", "web-fetch", "slot.url", "What is the address of the page"),
        ("write a report about invoices", "files-report", "slot.report", "Which new file should the report"),
        ("summarise the table", "data-summary", "slot.file", "Which CSV file holds the data?"),
    ],
)
def test_what_is_missing_is_asked_in_the_skill_s_own_words(
    home: Home, matcher: Model, goal: str, skill: str, field: str, prompt: str
) -> None:
    asked = compile_goal(goal, home=home, model=matcher, skill=skill, dry_run=True)
    assert isinstance(asked, Clarify)
    question = next(one for one in asked.questions if one.field == field)
    assert question.prompt.startswith(prompt)
