"""Skills for commits, mail, the desktop and writing: from words to the effect, or to what is said before."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from executor import AlwaysApprove, Home, Outcome
from executor.walker.undo.undo import undo
from mcl import accept, compile_goal, run
from mcl.compiler.outcome import Clarify, Compiled, Refused
from mcl.model import Model
from mcl.usecases.documents import of_unanswerable

AT = "2026-11-21T10:00:00Z"
CALENDAR = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//EN
BEGIN:VEVENT
UID:1@test
DTSTAMP:20260101T000000Z
DTSTART;VALUE=DATE:{day}
SUMMARY:Team lunch
END:VEVENT
END:VCALENDAR
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    (folder / "notes.md").write_text("# Notes\n")
    monkeypatch.chdir(folder)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "First of all")
    return folder


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def wants(home: Home, model: Model, goal: str, skill: str) -> Compiled:
    made = compile_goal(goal, home=home, model=model, at=AT, zone="UTC")
    assert isinstance(made, Compiled), made
    assert made.intent.compile_metadata is not None
    assert made.intent.compile_metadata.skill_id == skill
    return made


def done(home: Home, model: Model, goal: str, skill: str) -> Outcome:
    made = wants(home, model, goal, skill)
    accept(made.intent.id, home=home)
    outcome = run(made.intent.id, home=home, people=AlwaysApprove())
    assert outcome.state == "completed", outcome.failure
    return outcome


def said(outcome: Outcome) -> str:
    return "\n".join(str(one["text"]) for one in outcome.outputs.values() if "text" in one)


def test_changes_are_committed_staged_and_told_in_words(home: Home, bundled: Model, repository: Path) -> None:
    (repository / "notes.md").write_text("# Notes\nMilk\n")
    (repository / "list.txt").write_text("bread\n")
    done(home, bundled, "git add list.txt", "git-stage")
    assert sorted(git(repository, "status", "--short").splitlines()) == [" M notes.md", "A  list.txt"]
    outcome = done(home, bundled, "committa allt med meddelandet ny lista", "git-commit")
    assert git(repository, "log", "--format=%s").splitlines() == ["ny lista", "First of all"]
    assert "ny lista" in said(done(home, bundled, "vem ändrade list.txt", "commit-search"))
    undo(home, outcome.intent_id)
    assert git(repository, "log", "--format=%s").splitlines() == ["First of all"]


def test_branches_are_merged_and_deleted_in_words(home: Home, bundled: Model, repository: Path) -> None:
    git(repository, "checkout", "-qb", "new-menu")
    (repository / "menu.txt").write_text("soup\n")
    git(repository, "add", "-A")
    git(repository, "commit", "-qm", "Menu")
    git(repository, "checkout", "-q", "main")
    done(home, bundled, "merge the branch new-menu into main", "branch-merge")
    assert (repository / "menu.txt").exists()
    done(home, bundled, "ta bort grenen new-menu", "branch-delete")
    assert git(repository, "branch").split() == ["*", "main"]


def test_branches_are_switched_dropped_and_tags_told_in_words(
    home: Home, bundled: Model, repository: Path
) -> None:
    for name in ("side/menu", "old/one", "old/two"):
        git(repository, "branch", name)
    git(repository, "tag", "v1.0")
    done(home, bundled, "byt till grenen menu", "branch-switch")
    assert git(repository, "branch", "--show-current").strip() == "side/menu"
    done(home, bundled, "delete old/one then go back to main", "branch-delete")
    assert git(repository, "branch").split() == ["*", "main", "old/two", "side/menu"]
    done(home, bundled, "drop the branches that are already merged, but not side/menu", "branch-delete")
    assert git(repository, "branch").split() == ["*", "main", "side/menu"]
    done(home, bundled, "make a branch late/one from side/menu and switch to it", "repo-branch")
    assert git(repository, "branch", "--show-current").strip() == "late/one"
    assert "v1.0" in said(done(home, bundled, "vilka taggar finns det", "tag-list"))
    for goal in ("delete the branch", "släng grenen tack"):
        asked = compile_goal(goal, home=home, model=bundled, at=AT)
        assert isinstance(asked, Clarify)
        assert [one.field for one in asked.questions] == ["slot.branch"]


def test_the_last_commit_alone_is_told(home: Home, bundled: Model, repository: Path) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", "Second")
    for goal, skill in (
        ("what was the last thing Ada commited?", "commit-search"),
        ("visa senaste committen", "repo-status"),
    ):
        told = said(done(home, bundled, goal, skill))
        assert ("Second" in told, "First" in told) == (True, False)


@pytest.mark.parametrize(
    "goal", ["git pull", "squash my last two commits", "ångra senaste commiten", "git stash"]
)
def test_what_git_itself_has_to_do_is_refused(
    home: Home, bundled: Model, repository: Path, goal: str
) -> None:
    refused = compile_goal(goal, home=home, model=bundled, at=AT)
    assert isinstance(refused, Refused)
    assert "git itself" in refused.message


def test_branches_and_messages_are_read_in_words(home: Home, bundled: Model, repository: Path) -> None:
    git(repository, "branch", "feature/waiting-list")
    done(home, bundled, "switch to the waiting list branch", "branch-switch")
    assert git(repository, "branch", "--show-current").strip() == "feature/waiting-list"
    told = said(done(home, bundled, "list the branches that arent merged into main yet", "branch-unmerged"))
    assert "waiting" not in told
    (repository / "notes.md").write_text("# Notes\nMilk\n")
    done(
        home,
        bundled,
        "save my change in notes.md in git and write Beware of milk as the message",
        "git-commit",
    )
    assert git(repository, "log", "-1", "--format=%s").strip() == "Beware of milk"


def test_changes_of_a_file_are_given_up_and_a_wish_behind_the_message_of_a_commit_is_done(
    home: Home, bundled: Model, repository: Path
) -> None:
    git(repository, "branch", "side/menu")
    (repository / "notes.md").write_text("# Notes\nwrong\n")
    done(home, bundled, "throw away my changes in notes.md", "changes-discard")
    assert (repository / "notes.md").read_text() == "# Notes\n"
    (repository / "list.txt").write_text("bread\n")
    done(home, bundled, "commit everything as a new list and switch to side/menu", "git-commit")
    assert git(repository, "log", "-1", "--format=%s", "main").strip() == "a new list"
    assert git(repository, "branch", "--show-current").strip() == "side/menu"


def test_a_standup_tells_what_was_done_and_what_is_coming(
    home: Home, bundled: Model, repository: Path
) -> None:
    assert "First of all" in said(done(home, bundled, "prepare my standup", "standup"))
    day = git(repository, "log", "-1", "--date=format:%Y%m%d", "--format=%ad").strip()
    (repository / "reminders.ics").write_text(CALENDAR.format(day=day))
    told = said(done(home, bundled, "ge mig min standup", "standup"))
    assert "First of all" in told
    assert "Team lunch" in told


@pytest.mark.parametrize(
    ("goal", "subject", "text"),
    [
        (
            "draft a mail to a@b.example, subject Plan. Hi Bo, it is done. See you!",
            "Plan",
            "Hi Bo, it is done. See you!",
        ),
        (
            "skriv ett mejl till a@b.example, ämne Menyn. Hej Per! Den är klar.",
            "Menyn",
            "Hej Per! Den är klar.",
        ),
        ("mail draft to a@b.example subject plan body ready tomorrow", "plan", "ready tomorrow"),
        ("draft a mail to a@b.example, text: tomorrow is fine", "", "tomorrow is fine"),
        ("write to a@b.example that the logo is done", "", "the logo is done"),
    ],
)
def test_the_text_of_a_mail_begins_where_it_is_said_to_or_with_a_greeting(
    home: Home, bundled: Model, repository: Path, goal: str, subject: str, text: str
) -> None:
    made = wants(home, bundled, goal, "mail-draft")
    told = {one.name: one.value for one in made.intent.frame.objects}
    assert (told.get("headline", ""), told["message"]) == (subject, text)


def test_a_mail_is_drafted_and_is_sent_to_nobody_whose_address_is_not_said(
    home: Home, bundled: Model, repository: Path
) -> None:
    done(home, bundled, "draft a mail to Anna about the meeting on Thursday", "mail-draft")
    [draft] = (repository / "drafts").iterdir()
    assert "Subject: meeting on Thursday" in draft.read_text()
    asked = compile_goal("mail it to Anna", home=home, model=bundled, at=AT)
    assert isinstance(asked, Clarify)
    assert "mail address" in asked.questions[0].prompt
    team = compile_goal("post it to the team", home=home, model=bundled, at=AT)
    assert isinstance(team, Clarify)
    assert any("webhook" in one.prompt for one in team.questions)


def test_a_text_that_no_model_here_can_write_is_refused_before_anybody_signs(
    home: Home, bundled: Model, repository: Path
) -> None:
    for goal, skill in (
        ("translate notes.md to Swedish", "file-translate"),
        ("sammanfatta notes.md", "file-summarise"),
        ("reply to notes.md that I can come on Friday", "message-reply"),
    ):
        made = wants(home, bundled, goal, skill)
        assert made.plan is not None
        [told] = of_unanswerable(home, made.plan)
        assert told["code"] == "NO_MODEL", skill
        assert "mcl model add" in str(told["fix"]), skill
    assert git(repository, "status", "--short") == ""
