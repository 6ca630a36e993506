"""What people want done, in their words: versions, lists, reminders, mails; what nothing here can do."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from executor import AlwaysApprove, Home
from mcl import accept, answer, compile_goal, grants, run
from mcl.compiler.outcome import Clarify, Compiled, Outcome, Refused
from mcl.model import Model
from mcl.usecases.documents import of_unanswerable

AT = "2026-11-27T09:00:00Z"
ZONE = "Europe/Stockholm"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    (folder / "docs").mkdir(parents=True)
    (tmp_path / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(folder)
    (folder / "docs/api.md").write_text("# API\n")
    (folder / "prices.txt").write_text("tea 30\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "First of all")
    git(folder, "tag", "v1.0")
    return folder


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout


def understood(home: Home, model: Model, goal: str) -> Outcome:
    return compile_goal(goal, home=home, model=model, at=AT, zone=ZONE)


def wants(home: Home, model: Model, goal: str, skill: str) -> dict[str, str]:
    """What fills the inputs of the skill that was chosen."""
    made = understood(home, model, goal)
    assert isinstance(made, Compiled), (goal, made)
    assert made.intent.compile_metadata is not None
    assert made.intent.compile_metadata.skill_id == skill, goal
    return {one.name: one.value for one in made.intent.frame.objects}


def done(home: Home, model: Model, goal: str) -> str:
    """What is shown in the end."""
    made = understood(home, model, goal)
    assert isinstance(made, Compiled), (goal, made)
    accept(made.intent.id, home=home)
    outcome = run(made.intent.id, home=home, people=AlwaysApprove())
    assert outcome.state == "completed", (goal, outcome.failure)
    return "\n".join(str(one["text"]) for one in outcome.outputs.values() if "text" in one)


@pytest.mark.parametrize(
    "goal",
    [
        "pay the electricity bill",
        "betala räkningen från Vattenfall, 640 kr",
        "ugh it hangs again. ssh in and restart it",
        "log into the bank with what is in keys.txt and pay Bo his 300",
        "orkar inte vänta, ring hyresvärden åt mig och säg att det är kallt",
        "skicka ett sms till Amina",
        "turn off the lights in the kitchen",
        "kan du ringa banken och fråga varför",
        "hey can you call Bo and tell him tuesday at 10 is fine",
        "boka ett bord för två på lördag klockan sju",
        "phone Maria at the hall and tell her we need 40 chairs",
        "kindly dial Bo for me and ask about the tap",
        "move 900 kr to Bo from our bank account",
        "settle the invoice with the plumber from the business account",
        "put prices.txt back to how it was on monday, please",
        "radera allt på hela datorn",
    ],
)
def test_what_nothing_here_can_do_is_refused_before_anything_is_asked(
    home: Home, bundled: Model, folder: Path, goal: str
) -> None:
    made = understood(home, bundled, goal)
    assert isinstance(made, Refused), made
    assert made.reason == "out_of_scope"
    assert made.message.startswith("nothing here")


@pytest.mark.parametrize(
    ("goal", "skill"),
    [
        ("remind me to pay the rent tomorrow at 9", "schedule-reminder"),
        ("add ring the plumber to todo.txt", "note-write"),
        ("phone numbers are in a mess, remind me tomorrow at 9 to sort them", "schedule-reminder"),
        ("draft a mail to bo@example.org that I will pay on Friday", "mail-draft"),
        (
            "Spara en ny fil, den ska heta katter.txt och det ska stå så här:\nMisse ska ut\nRing Gun-Britt",
            "text-save",
        ),
        (
            "bo cant do fika on friday, anna is in, bless her, so put coffee instead of tea in prices.txt",
            "text-replace",
        ),
        (
            "can you translate docs/api.md to Swedish? it is for my mum, she does not read English",
            "file-translate",
        ),
    ],
)
def test_what_is_only_said_of_it_is_done(
    home: Home, bundled: Model, folder: Path, goal: str, skill: str
) -> None:
    wants(home, bundled, goal, skill)


@pytest.mark.parametrize(
    "goal",
    [
        "hitta på en vers om laget, fyra rader som rimmar räcker",
        "sum up docs/api.md in three sentences, nothing about prices, i cant be bothered to read it",
        "översätt docs/api.md till engelska och spara som api-en.md, stilen ska vara formell",
    ],
)
def test_a_model_that_writes_is_told_how_a_text_must_be(
    home: Home, bundled: Model, folder: Path, goal: str
) -> None:
    made = understood(home, bundled, goal)
    assert isinstance(made, Compiled), made
    assert made.plan is not None
    assert of_unanswerable(home, made.plan)


def test_a_further_wish_of_a_text_is_still_asked_about(home: Home, bundled: Model, folder: Path) -> None:
    made = understood(home, bundled, "write a letter to the landlord, then delete the old one")
    assert isinstance(made, Clarify)


def test_just_what_is_meant_is_committed(home: Home, bundled: Model, folder: Path) -> None:
    for name in ("docs/api.md", "prices.txt", "new.txt"):
        (folder / name).write_text("changed\n")
    goal = 'commit just the api docs, message "docs: tell more", no push'
    assert wants(home, bundled, goal, "git-commit")["files"] == "docs/api.md"
    done(home, bundled, goal)
    assert git(folder, "show", "--name-only", "--format=%s", "HEAD").split("\n\n") == [
        "docs: tell more",
        "docs/api.md\n",
    ]
    done(home, bundled, "commit my work as 'the rest', leave the untracked stuff out of it")
    assert git(folder, "show", "--name-only", "--format=", "HEAD") == "prices.txt\n"
    assert git(folder, "status", "--short") == "?? new.txt\n"


def test_branches_and_commits_are_told_by_what_they_lack(home: Home, bundled: Model, folder: Path) -> None:
    git(folder, "switch", "-qc", "bo/idea")
    git(folder, "commit", "-q", "--allow-empty", "-m", "An idea")
    git(folder, "switch", "-q", "main")
    assert done(home, bundled, "which branches arent in main yet").split() == ["bo/idea"]
    assert "An idea" not in done(home, bundled, "what's landed on main since v1.0?")
    done(home, bundled, "merge bo's idea branch into main, then tag that v1.1-rc1. local only, no push")
    assert "An idea" in done(home, bundled, "which commits came after v1.0")
    assert "First of all" not in done(home, bundled, "what commits went in since 1.0")
    assert "First of all" not in done(home, bundled, "vad har committats sen v1.0")
    assert git(folder, "tag").split() == ["v1.0", "v1.1-rc1"]


def test_a_branch_that_is_named_beside_the_wish_goes(home: Home, bundled: Model, folder: Path) -> None:
    for name in ("bo/idea", "fix/door"):
        git(folder, "branch", name)
    done(home, bundled, "fix/door can go, main has all of it already. delete the branch")
    done(home, bundled, "vi behöver inte bo/idea längre, ta bort grenen")
    assert git(folder, "branch", "--format=%(refname:short)").split() == ["main"]
    asked = understood(home, bundled, "delete the branch")
    assert isinstance(asked, Clarify)


def test_a_file_that_is_not_said_is_asked_for_and_nothing_is_written_into_a_folder(
    home: Home, bundled: Model, folder: Path
) -> None:
    for goal in (
        "please put a copy of that file in the docs folder",
        "släng filen, den ligger bara i vägen",
    ):
        asked = understood(home, bundled, goal)
        assert isinstance(asked, Clarify), goal
        assert [one.field for one in asked.questions] == ["slot.files"], goal


def test_what_is_saved_under_a_name_is_no_commit(home: Home, bundled: Model, folder: Path) -> None:
    (folder / "docs/api.md").write_text("# API 2\n")
    done(home, bundled, "spara docs/api.md som docs/api-old.md")
    assert (folder / "docs/api-old.md").read_text() == "# API 2\n"
    assert git(folder, "log", "--format=%s").split("\n") == ["First of all", ""]


def branched(folder: Path, name: str) -> None:
    git(folder, "switch", "-qc", name)
    git(folder, "commit", "-q", "--allow-empty", "-m", f"Of {name}")
    git(folder, "switch", "-q", "main")


@pytest.mark.parametrize(
    ("goal", "gone"),
    [
        ("merge fix/door into main and delete that branch afterwards. don't push anything yet", True),
        ("the branch fix/door is reviewed. merge it into main, the branch can go after that", True),
        ("merga fix/door i main, sen kan den branchen tas bort lokalt", True),
        ("merge the door branch into main and then delete it", True),
        ("merge fix/door into main but keep the branch, bo/idea is not ready, leave it", False),
    ],
)
def test_a_branch_is_merged_and_goes_where_that_is_said(
    home: Home, bundled: Model, folder: Path, goal: str, gone: bool
) -> None:
    branched(folder, "fix/door")
    branched(folder, "bo/idea")
    done(home, bundled, goal)
    assert "Of fix/door" in git(folder, "log", "--format=%s", "main")
    names = git(folder, "branch", "--format=%(refname:short)").split()
    assert names == ["bo/idea", *([] if gone else ["fix/door"]), "main"]


@pytest.mark.parametrize(
    ("goal", "files"),
    [
        ("committa bara api-filen inget annat meddelandet ska va bokningar kan tas bort", "docs/api.md"),
        (
            'commit prices.txt and new.txt, message "bokningar kan tas bort", don\'t push',
            "new.txt prices.txt",
        ),
        (
            "commit everything except new.txt with the message bokningar kan tas bort",
            "docs/api.md prices.txt",
        ),
    ],
)
def test_the_files_of_a_commit_are_those_that_are_named_or_left(
    home: Home, bundled: Model, folder: Path, goal: str, files: str
) -> None:
    for name in ("docs/api.md", "prices.txt", "new.txt"):
        (folder / name).write_text("changed\n")
    done(home, bundled, goal)
    told = git(folder, "show", "--name-only", "--format=%s", "HEAD").split("\n\n")
    assert told == ["bokningar kan tas bort", "\n".join(files.split()) + "\n"]


@pytest.mark.parametrize("fails", [False, True])
def test_what_depends_on_the_tests_is_done_where_they_pass(
    home: Home, bundled: Model, folder: Path, fails: bool
) -> None:
    (folder / "Makefile").write_text(f"test:\n\t{'false' if fails else 'true'}\n")
    done(home, bundled, "run make test and if theyre green tag it v1.1, if not dont. dont push anything yet")
    assert ("v1.1" in git(folder, "tag").split()) is not fails


def test_entries_of_a_list_are_added_as_they_stand_there_taken_off_and_ticked(
    home: Home, bundled: Model, folder: Path
) -> None:
    (folder / "shopping.txt").write_text("milk\neggs\nmilk\n")
    (folder / "todo.txt").write_text("[ ] call the plumber\n[x] buy a ticket\n")
    done(home, bundled, "dedupe shopping.txt but keep the order, and whack butter on the end")
    done(home, bundled, "take eggs off the shopping list")
    done(home, bundled, "add honey and nappies to the shopping list please!")
    assert (folder / "shopping.txt").read_text() == "milk\nbutter\nhoney\nnappies\n"
    done(home, bundled, "mark the plumber as done in todo.txt")
    done(home, bundled, "lägg till ringa banken i todo.txt")
    assert (folder / "todo.txt").read_text() == "[x] call the plumber\n[x] buy a ticket\n[ ] ringa banken\n"
    asked = understood(home, bundled, "could you take one thing off the shopping list?")
    assert isinstance(asked, Clarify)
    assert [one.field for one in asked.questions] == ["slot.line"]


def test_words_are_replaced_as_people_say_it(home: Home, bundled: Model, folder: Path) -> None:
    (folder / "fikalista.txt").write_text("7 december: Lisa\n")
    done(home, bundled, "det ska stå Elsa i stället för Lisa på fikalistan")
    assert (folder / "fikalista.txt").read_text() == "7 december: Elsa\n"
    done(home, bundled, "swap 30 for 32 in prices.txt")
    assert (folder / "prices.txt").read_text() == "tea 32\n"


@pytest.mark.parametrize(
    ("goal", "rule", "first"),
    [
        ("nag me about standup at 9:25 every weekday", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", "20261130T092500"),
        (
            "reminder varje måndag halv åtta på morgonen: packa rocken",
            "FREQ=WEEKLY;BYDAY=MO",
            "20261130T073000",
        ),
        (
            "påminn mig varje onsdag klockan fem på eftermiddagen om nyckeln",
            "FREQ=WEEKLY;BYDAY=WE",
            "20261202T170000",
        ),
        ("daily reminder at 8pm: take the pills", "FREQ=DAILY", "20261127T200000"),
    ],
)
def test_a_reminder_that_repeats_stands_in_the_calendar_with_its_rule(
    home: Home, bundled: Model, folder: Path, goal: str, rule: str, first: str
) -> None:
    done(home, bundled, goal)
    written = (folder / "reminders.ics").read_text()
    assert f"RRULE:{rule}" in written
    assert f"DTSTART:{first}" in written


def test_a_mail_is_drafted_with_what_is_named_in_it(home: Home, bundled: Model, folder: Path) -> None:
    goal = "draft a mail to kim@example.org, subject release today, text: 1.4 goes out at 14:00. dont send it"
    found = wants(home, bundled, goal, "mail-draft")
    assert found["headline"] == "release today"
    assert found["message"].startswith("1.4 goes out at 14:00")


@pytest.fixture
def people(folder: Path) -> Path:
    """A folder in which some people's addresses stand."""
    (folder / "contacts.csv").write_text(
        "name,email,relation\nBo Ek,bo@ek.example,plumber\nAnna Berg,anna@berg.example,mother\n"
        "Anna Lind,anna.lind@kor.example,ordförande\n"
    )
    (folder / "hall.eml").write_text("From: Maria Frost <hall@sofia.example>\nSubject: Chairs\n\nHow many?\n")
    return folder


@pytest.mark.parametrize(
    ("goal", "to", "subject", "says"),
    [
        (
            "draft a mail to Bo, subject Kitchen tap. text: Monday at 10 is fine, 900 kr too. don't send it",
            "bo@ek.example",
            "Kitchen tap",
            "Monday at 10 is fine, 900 kr too.",
        ),
        (
            "write an email to Bo the plumber saying we are at home, ring twice",
            "bo@ek.example",
            "",
            "we are at home, ring twice",
        ),
        (
            "drafta ett mejl till Maria Frost, ämne Stolar, text: Vi tar 80 st. /Eva",
            "hall@sofia.example",
            "Stolar",
            "Vi tar 80 st. /Eva",
        ),
        (
            "gör ett utkast till ordföranden och säg att jag kommer på onsdag",
            "anna.lind@kor.example",
            "",
            "jag kommer på onsdag",
        ),
        (
            "skriv ett mejl till Maria, vi hämtar nycklarna sen",
            "hall@sofia.example",
            "",
            "vi hämtar nycklarna sen",
        ),
        (
            "maria frost wants to know how many chairs. draft an email to her saying that we need 40, "
            'with "Chairs" as the subject, but do not send it',
            "hall@sofia.example",
            "Chairs",
            "we need 40",
        ),
        (
            "draft, don't send: mail to bo and Maria (their mails are in contacts.csv), with the text We "
            "come at six and the subject Supper",
            "bo@ek.example, hall@sofia.example",
            "Supper",
            "We come at six",
        ),
        (
            "draft a mail to Bo. Subject, Supper. Say: Come at six.",
            "bo@ek.example",
            "Supper",
            "Come at six.",
        ),
        (
            "draft a mail to Bo, subject Tap. text: it drips again, could you come by please",
            "bo@ek.example",
            "Tap",
            "it drips again, could you come by please",
        ),
        (
            "draft Bo a mail say come on Friday no make that Sunday, please",
            "bo@ek.example",
            "",
            "come on Sunday",
        ),
        (
            "Gör i ordning ett mejl till hall@sofia.example, rubriken Stolar. Där skall bara stå: 40 räcker.",
            "hall@sofia.example",
            "Stolar",
            "40 räcker.",
        ),
    ],
)
def test_a_mail_goes_to_the_address_that_stands_beside_a_name_here(
    home: Home, bundled: Model, people: Path, goal: str, to: str, subject: str, says: str
) -> None:
    slots = wants(home, bundled, goal, "mail-draft")
    assert (slots["to"], slots.get("headline", ""), slots["message"]) == (to, subject, says)
    assert "file" not in slots


@pytest.mark.parametrize(
    ("goal", "says"),
    [
        ('answer Maria\'s mail: "40 will do"', "40 will do"),
        ("svara på mejlet från Maria att 40 räcker", "40 räcker"),
        ("reply to hall.eml that we need 40", "we need 40"),
        ("write back to Maria. say forty will do", "forty will do"),
        (
            "reply to Maria - we take forty. You get them back clean.",
            "we take forty. You get them back clean.",
        ),
        ("kan du svara Maria och skriva att 40 räcker?", "40 räcker"),
    ],
)
def test_an_answer_whose_words_are_said_needs_no_model(
    home: Home, bundled: Model, people: Path, goal: str, says: str
) -> None:
    slots = wants(home, bundled, goal, "message-reply")
    assert (slots["to"], slots["headline"], slots["message"]) == ("hall@sofia.example", "Re: Chairs", says)
    assert "wrote drafts/" in done(home, bundled, goal)
    polite = understood(home, bundled, "reply politely to hall.eml that we need 40")
    assert isinstance(polite, Compiled), polite
    assert polite.plan is not None
    assert of_unanswerable(home, polite.plan)


def test_the_words_of_a_mail_are_no_wishes(home: Home, bundled: Model, people: Path) -> None:
    goal = (
        "remind me monday at 9 to ring Bo and draft him a mail, subject Tap, text: come at ten. bring a key"
    )
    made = understood(home, bundled, goal.replace("draft him", "draft Bo"))
    assert isinstance(made, Compiled), made
    [mail] = made.intent.frame.further
    assert {one.name: one.value for one in mail.objects}["message"] == "come at ten. bring a key"


@pytest.mark.parametrize(
    ("goal", "options"),
    [
        ("draft a mail to Anna saying hello", ("anna@berg.example", "anna.lind@kor.example")),
        ("skriv ett mejl till henne och säg att jag kommer på onsdag", ()),
    ],
)
def test_who_is_not_clear_is_asked(
    home: Home, bundled: Model, people: Path, goal: str, options: tuple[str, ...]
) -> None:
    made = understood(home, bundled, goal)
    assert isinstance(made, Clarify), made
    [gap] = [one for one in made.intent.unknowns if one.field == "slot.to"]
    assert tuple(gap.options) == options


@pytest.mark.parametrize(
    ("goal", "options"),
    [
        (
            "draft a mail to Bo saying the tap drips again, i am so fed up with it",
            ("the tap drips again", "the tap drips again, i am so fed up with it"),
        ),
        (
            "skriv till Bo att det droppar igen, orkar inte bråka mer",
            ("det droppar igen", "det droppar igen, orkar inte bråka mer"),
        ),
    ],
)
def test_whether_a_mood_is_a_part_of_a_text_is_asked(
    home: Home, bundled: Model, people: Path, goal: str, options: tuple[str, ...]
) -> None:
    made = understood(home, bundled, goal)
    assert isinstance(made, Clarify), made
    [gap] = [one for one in made.intent.unknowns if one.field == "slot.message"]
    assert tuple(gap.options) == options


@pytest.mark.parametrize(
    ("goal", "to", "says"),
    [
        ("draft a mail to the lady who asked how many chairs, tell her we need 40", "hall@sofia.example", ""),
        ("draft an email to the sourdough guy, text: Two loaves please.", "kim@ovenandco.example", ""),
        ("skriv ett mejlutkast till morsan, rubrik Kaka, text: Tack för kakan.", "anna@berg.example", ""),
        ("draft a mail to my mum saying the cake was good", "anna@berg.example", ""),
        (
            "Maria på hallen undrade hur många stolar det blir. Gör ett mejlutkast till henne där det bara "
            "står: Det blir 40.",
            "hall@sofia.example",
            "Det blir 40.",
        ),
        (
            'draft an email to Bo with the subject "Tap" saying: Ten is fine. (he never picks up btw)',
            "bo@ek.example",
            "Ten is fine.",
        ),
    ],
)
def test_a_mail_goes_to_who_is_described(
    home: Home, bundled: Model, people: Path, goal: str, to: str, says: str
) -> None:
    (people / "shops.csv").write_text(
        "shop,email,town\nOven & Co,kim@ovenandco.example,Oslo\nYarn,yo@yarn.example,Bergen\n"
    )
    (people / "shop.md").write_text("# Oven & Co\n\nBakes sourdough and rye.\n")
    slots = wants(home, bundled, goal, "mail-draft")
    assert slots["to"] == to
    assert not says or slots["message"] == says


@pytest.mark.parametrize(
    "goal",
    [
        "draft a mail to the guy who plays the tuba, subject Hi, text: hello there",
        "draft an email to my accountant saying hi",
    ],
)
def test_nobody_who_is_described_gets_a_mail_under_a_made_up_name(
    home: Home, bundled: Model, people: Path, goal: str
) -> None:
    made = understood(home, bundled, goal)
    assert isinstance(made, Clarify), made
    assert [one.field for one in made.questions] == ["slot.to"]


@pytest.fixture
def planned(folder: Path) -> Path:
    """A folder with a calendar and a list."""
    (folder / "plans.ics").write_text(
        "BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//x//EN\nBEGIN:VEVENT\nUID:a@x\nDTSTAMP:20261101T080000Z\n"
        "DTSTART:20261130T183000\nSUMMARY:Repetition\nEND:VEVENT\nEND:VCALENDAR\n"
    )
    (folder / "todo.txt").write_text("[ ] wash the car, 14.00 on Sunday\n")
    (folder / "papers.md").write_text("- passport runs out 2026-12-10\n")
    return folder


@pytest.mark.parametrize(
    ("goal", "title", "when", "calendar"),
    [
        (
            "påminn mig en timme före repetitionen på måndag",
            "Repetition",
            "2026-11-30T16:30",
            "reminders.ics",
        ),
        ("remind me an hour before the rehearsal", "Repetition", "2026-11-30T16:30", "reminders.ics"),
        (
            "dinner with Eva on 4 dec at 18. put it in the calendar",
            "dinner with Eva",
            "2026-12-04T17:00",
            "plans.ics",
        ),
        ("dentist friday at 14:30, calendar please", "dentist", "2026-12-04T13:30", "plans.ics"),
        ("add the sauna to my plans on 3 december at 13", "sauna", "2026-12-03T12:00", "plans.ics"),
        ("påminn mig den 3/12 kl 14.30 om å ringa mamma", "ringa mamma", "2026-12-03T13:30", "reminders.ics"),
        ("remind me next week on tuesday at 10 to call", "call", "2026-12-01T09:00", "reminders.ics"),
        ("nudge me at the end of the month about the fees", "fees", "2026-11-30T08:00", "reminders.ics"),
        ("sätt en timer på 20 minuter", "sätt en timer", "2026-11-27T09:20", "reminders.ics"),
        ("set the alarm for 7 tomorrow", "set the alarm", "2026-11-28T06:00", "reminders.ics"),
        ("ping me half an hour before the car wash", "wash the car", "2026-11-29T12:30", "reminders.ics"),
        (
            "påminn mig dagen före julafton att köpa skinka",
            "köpa skinka",
            "2026-12-23T08:00",
            "reminders.ics",
        ),
        ("lägg in tandläkaren i kalendern den 3 dec kl 14", "tandläkaren", "2026-12-03T13:00", "plans.ics"),
        ("remind me the day before wash at 18:00", "wash the car", "2026-11-28T17:00", "reminders.ics"),
        ("väck mig kl 7 på måndag", "väck mig", "2026-11-30T06:00", "reminders.ics"),
        (
            "påminn mig på måndag halv sex på eftermiddan att ringa",
            "ringa",
            "2026-11-30T16:30",
            "reminders.ics",
        ),
        ("put the sauna in the calendar, tue 1 dec 17-19", "sauna", "2026-12-01T16:00", "plans.ics"),
        ("påminn mej imorgon bitti att ringa Bo", "ringa Bo", "2026-11-28T08:00", "reminders.ics"),
        (
            "säg till mig klockan tre i eftermiddag att hämta Bo",
            "hämta Bo",
            "2026-11-27T14:00",
            "reminders.ics",
        ),
        (
            "lägg in middagen i kalendern, 18 december kl 18 på Eken",
            "middagen på Eken",
            "2026-12-18T17:00",
            "plans.ics",
        ),
        ("boka in däckbyte 8 december 10.15 i kalendern", "däckbyte", "2026-12-08T09:15", "plans.ics"),
        ("set a reminder: call mum, Saturday at 11", "call mum", "2026-11-28T10:00", "reminders.ics"),
        (
            "remind me on sunday to call mum at half past three in the afternoon",
            "call mum",
            "2026-11-29T14:30",
            "reminders.ics",
        ),
        ("put lunch with Bo in the calendar on Tuesday", "lunch with Bo", "2026-12-01T08:00", "plans.ics"),
        ("påminn mig kvällen före repetitionen", "Repetition", "2026-11-29T17:00", "reminders.ics"),
        (
            "remind me on monday morning at half nine to send the form",
            "send the form",
            "2026-11-30T08:30",
            "reminders.ics",
        ),
        (
            "the rehearsal is in my calendar. nudge me an hour before it starts",
            "Repetition",
            "2026-11-30T16:30",
            "plans.ics",
        ),
        (
            "remind me at ten in the morning the day before the passport runs out",
            "passport runs out",
            "2026-12-09T09:00",
            "reminders.ics",
        ),
        ("påminn mig på måndag halvnio om soporna", "soporna", "2026-11-30T07:30", "reminders.ics"),
        ("påminn mig en timme innan mötet på måndag kl 14", "mötet", "2026-11-30T12:00", "reminders.ics"),
        ("the show is at 14:00 today, ping me quarter to", "the show", "2026-11-27T12:45", "reminders.ics"),
        ("party is at 6pm tomorrow, remind me at 16:30", "party", "2026-11-28T15:30", "reminders.ics"),
        ("paminn mig pa sondag kl 9 om soporna", "soporna", "2026-11-29T08:00", "reminders.ics"),
        ("i want a reminder tomorrow at 8: buy coffee", "buy coffee", "2026-11-28T07:00", "reminders.ics"),
        (
            "påminn mig kl 19 kvällen innan repetitionen att packa noterna",
            "packa noterna",
            "2026-11-29T18:00",
            "reminders.ics",
        ),
    ],
)
def test_a_reminder_is_called_and_set_as_the_goal_and_the_files_here_say(
    home: Home, bundled: Model, planned: Path, goal: str, title: str, when: str, calendar: str
) -> None:
    slots = wants(home, bundled, goal, "schedule-reminder")
    assert (slots["title"], slots["when"][:16], slots["calendar"]) == (title, when, calendar)
    assert slots.get("minutes") == ("120" if "17-19" in goal else None)


def test_a_mail_is_kept_as_a_draft_where_no_server_is_set_up_and_goes_to_somebody(
    home: Home, bundled: Model, folder: Path
) -> None:
    told = done(home, bundled, "email bo@example.org that dinner is at six")
    assert "nothing is sent" in told
    [draft] = (folder / "drafts").iterdir()
    assert "bo@example.org" in draft.read_text()
    for goal in (
        "write an email saying I'll be late",
        "skriv ett mejl där det står att jag är sjuk i morgon",
    ):
        asked = understood(home, bundled, goal)
        assert isinstance(asked, Clarify), goal
        assert [one.field for one in asked.questions] == ["slot.to"], goal


@pytest.mark.parametrize(
    ("goal", "tag"),
    [
        ("tag this commit as v1.4.3", "v1.4.3"),
        ("sätt taggen v1.5.0 på senaste committen", "v1.5.0"),
        ("put tag v1.5.0-rc1 on main", "v1.5.0-rc1"),
    ],
)
def test_a_tag_is_called_by_the_number_of_a_version(
    home: Home, bundled: Model, folder: Path, goal: str, tag: str
) -> None:
    done(home, bundled, goal)
    assert tag in git(folder, "tag").split()


def test_a_new_branch_is_checked_out_where_that_is_said(home: Home, bundled: Model, folder: Path) -> None:
    done(home, bundled, "i need a new branch called check-room, and switch me over to it")
    assert git(folder, "branch", "--show-current").strip() == "check-room"
    done(home, bundled, "create a branch called colours")
    assert git(folder, "branch", "--show-current").strip() == "check-room"
    done(home, bundled, "move my changes onto a new branch called walls")
    assert git(folder, "branch", "--show-current").strip() == "walls"
    asked = understood(home, bundled, "put a tag on main for me please")
    assert isinstance(asked, Clarify)
    assert [one.field for one in asked.questions] == ["slot.tag"]


def test_a_push_goes_to_a_folder_too(home: Home, bundled: Model, folder: Path) -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as away:
        place = Path(away).resolve() / "site.git"
        git(folder, "init", "-q", "--bare", str(place))
        shutil.rmtree(place / "hooks", ignore_errors=True)
        git(folder, "remote", "add", "origin", str(place))
        grants.add(["network"], home=home)
        assert "site.git has main" in done(home, bundled, "push main to origin")
        assert (
            git(folder, "ls-remote", str(place), "main").split()[0]
            == git(folder, "rev-parse", "main").strip()
        )


def test_a_moment_that_is_read_in_part_is_asked_for_and_what_repeats_has_no_other_day(
    home: Home, bundled: Model, planned: Path
) -> None:
    part = understood(home, bundled, "remind me to call mum on sunday at half past three")
    assert isinstance(part, Clarify)
    assert [one.field for one in part.questions] == ["slot.when"]
    made = understood(home, bundled, "Starting 4 December, remind me every Friday at 15 to count the cash")
    assert isinstance(made, Compiled)
    assert made.review
    assert "when" not in {one.name for one in made.intent.frame.objects}


@pytest.mark.parametrize(
    ("goal", "said", "title", "when", "shown"),
    [
        (
            "remind me on tuesday at half four to call",
            "2026-12-01",
            "call",
            "2026-12-01T08:00",
            "at half four",
        ),
        ("remind me on tuesday at half four to call", "16:30", "call", "2026-12-01T15:30", ""),
        ("påminn mig på måndag vid halvfem att ringa", "måndag", "ringa", "2026-11-30T08:00", "vid halvfem"),
        (
            "remind me about the talk at 4 on friday",
            "2026-12-04 16:00",
            "talk at 4",
            "2026-12-04T15:00",
            "",
        ),
        (
            "paminn mig en timme innan tandläkaren på måndag",
            "2026-11-30",
            "tandläkaren",
            "2026-11-30T07:00",
            "en timme innan",
        ),
        (
            "paminn mig en timme innan tandläkaren på måndag",
            "kl 14.30",
            "tandläkaren",
            "2026-11-30T12:30",
            "",
        ),
        ("remind me two hours before the vet", "friday at 10", "the vet", "2026-12-04T07:00", ""),
        (
            "påminn mig imorgon att ta med pärmen en timme innan mötet",
            "12:00",
            "ta med pärmen",
            "2026-11-28T10:00",
            "",
        ),
        (
            "påminn mig kl 19 kvällen innan biologiprovet att packa räknaren",
            "2026-12-03",
            "packa räknaren",
            "2026-12-02T18:00",
            "",
        ),
        (
            "remind me the day before the exam to charge the laptop at 21",
            "2026-12-11",
            "charge the laptop",
            "2026-12-10T20:00",
            "",
        ),
    ],
)
def test_an_answer_keeps_what_the_goal_says_of_the_moment_or_it_is_shown(
    home: Home, bundled: Model, planned: Path, goal: str, said: str, title: str, when: str, shown: str
) -> None:
    asked = understood(home, bundled, goal)
    assert isinstance(asked, Clarify), asked
    assert [one.field for one in asked.questions] == ["slot.when"]
    made = answer(asked.intent.id, {"slot.when": said}, model=bundled, home=home)
    assert isinstance(made, Compiled), made
    slots = {one.name: one.value for one in made.intent.frame.objects}
    assert (slots["title"], slots["when"][:16]) == (title, when)
    assert made.review == bool(shown)
    assert shown in made.advice


@pytest.mark.parametrize(
    "goal",
    [
        "remind me next week at 10 to call the bank",
        "påminn mig nästa vecka kl 10 att ringa banken",
        "two days before the car's inspection remind me to buy soap",
        "påminn mig tio dagar före repetitionen",
    ],
)
def test_a_moment_that_is_not_said_or_over_is_asked_about(
    home: Home, bundled: Model, planned: Path, goal: str
) -> None:
    asked = understood(home, bundled, goal)
    assert isinstance(asked, Clarify), asked
    assert "slot.when" in [one.field for one in asked.questions]


def test_a_reminder_before_each_of_something_is_shown_as_one(
    home: Home, bundled: Model, planned: Path
) -> None:
    made = understood(home, bundled, "remind me 2 hours before every rehearsal")
    assert isinstance(made, Compiled)
    assert made.review
    assert "every rehearsal" in made.advice


def test_the_exam_of_a_subject_is_found_by_a_word_for_both(home: Home, bundled: Model, planned: Path) -> None:
    events = "".join(
        f"BEGIN:VEVENT\nUID:{day}@y\nDTSTAMP:20261101T080000Z\nDTSTART:202612{day}T091500\n"
        f"SUMMARY:{title}\nEND:VEVENT\n"
        for day, title in (("01", "Biologi labb"), ("03", "Prov biologi"))
    )
    text = (planned / "plans.ics").read_text()
    (planned / "plans.ics").write_text(text.replace("END:VCALENDAR\n", f"{events}END:VCALENDAR\n"))
    goal = "påminn mig kl 19 kvällen innan biologiprovet att packa räknaren"
    slots = wants(home, bundled, goal, "schedule-reminder")
    assert (slots["title"], slots["when"][:16]) == ("packa räknaren", "2026-12-02T18:00")
    asked = understood(home, bundled, "påminn mig en timme innan tandläkaren på måndag")
    assert isinstance(asked, Clarify)
    assert "“tandläkaren på måndag”" in asked.questions[0].prompt


def test_a_calendar_is_listed_for_a_period(home: Home, bundled: Model, planned: Path) -> None:
    assert "Repetition" in done(home, bundled, "vad har jag i kalendern nästa vecka")
    assert "no events" in done(home, bundled, "what's in my calendar next month").casefold()


@pytest.mark.parametrize(
    ("goal", "text"),
    [
        ("put the guest wifi password on the clipboard pls, I need to paste it for a friend", "plum-cake-12"),
        ("gäst-wifit, lösenordet, på clipboard. snabbt", "plum-cake-12"),
        (
            "My nephew wants the guest wifi password. Put it on the clipboard, so that he can type it",
            "plum-cake-12",
        ),
        ("the membership number is somewhere in notes.md, stick it on the clipboard", "K-77-1"),
        ("kopiera Bos telefonnummer till urklipp", "070-123 45 67"),
        ("copy Anna Berg's email address to the clipboard", "anna@berg.example"),
        ("put see you at nine on the clipboard", "see you at nine"),
    ],
)
def test_what_is_copied_is_looked_up_where_one_line_here_says_it(
    home: Home, bundled: Model, people: Path, goal: str, text: str
) -> None:
    (people / "notes.md").write_text(
        "- wifi password for guests: plum-cake-12\n- membership number K-77-1, renew in May\n"
        "- Bo the plumber, 070-123 45 67\n- wifi at work: ask Lena\n"
    )
    slots = wants(home, bundled, goal, "clipboard-copy")
    assert slots == {"text": text}


@pytest.mark.parametrize(
    ("goal", "first"),
    [
        ("Each Friday, four o'clock afternoon, remind me to write down my hours", "2026-11-27T16:00:00"),
        ("every sunday, 7 in the evening, remind me to water the plants", "2026-11-29T19:00:00"),
        ("remind me each Monday at half nine to take the bins out", "2026-11-30T09:30:00"),
        ("every Friday at four, starting today, remind me to log hours", "2026-11-27T16:00:00"),
        ("varje söndag kväll kl sju ska du påminna mig om blommorna", "2026-11-29T19:00:00"),
    ],
)
def test_what_repeats_comes_at_the_hour_that_is_said(
    home: Home, bundled: Model, planned: Path, goal: str, first: str
) -> None:
    slots = wants(home, bundled, goal, "schedule-reminder")
    assert (slots["first"], slots.get("minutes")) == (first, None)


def test_a_calendar_is_read_where_a_question_asks_for_days_in_it(
    home: Home, bundled: Model, planned: Path
) -> None:
    for goal in (
        "vad har vi inskrivet nästa vecka?",
        "what's in my calendar on monday",
        "what's on next week",
    ):
        assert "Repetition" in done(home, bundled, goal), goal


@pytest.mark.parametrize(
    ("goal", "says"),
    [
        (
            "mejla bo@ek.example, ämne Hej, text: vi ses kl 8, puss o kram (nä ta bort puss o kram)",
            "vi ses kl 8",
        ),
        (
            "Mail to Bo, subject Late. Write him so: Pay today. You fool! (this last one don't write)",
            "Pay today.",
        ),
        ('draft a mail to Bo, subject Tap, and write just "Ten is fine." such a nice man', "Ten is fine."),
        ("draft a mail to Bo, subject Tap. text: See you (at noon)", "See you (at noon)"),
        ("draft a mail to Bo, subject Tap. text: Just a nudge. Keep it as a draft.", "Just a nudge."),
    ],
)
def test_a_mail_says_what_is_left_of_its_text(
    home: Home, bundled: Model, people: Path, goal: str, says: str
) -> None:
    assert wants(home, bundled, goal, "mail-draft")["message"] == says


def test_a_commit_of_one_file_takes_no_other_that_is_named_behind_it(
    home: Home, bundled: Model, folder: Path
) -> None:
    (folder / "docs/api.md").write_text("# API 2\n")
    (folder / "notes.md").write_text("mine\n")
    done(home, bundled, 'commit docs/api.md w the msg "Two". ONLY that file, my notes r not going in')
    assert git(folder, "show", "--stat", "--format=%s").split()[:2] == ["Two", "docs/api.md"]
    assert "?? notes.md" in git(folder, "status", "--short")
    told = done(home, bundled, "how many commits has each of us got on main?")
    assert told.splitlines()[0] == "Ada: 2"


@pytest.mark.parametrize("last", ["then nuke the branch", "n bin the branch", "and get shot of it after"])
def test_a_branch_goes_once_it_is_merged_in_many_words(
    home: Home, bundled: Model, folder: Path, last: str
) -> None:
    slots = wants(home, bundled, f"merge fix/typo into main, {last}", "branch-merge")
    assert (slots["branch"], slots["target"], slots["after"]) == ("fix/typo", "main", "delete")
    asked = understood(home, bundled, "nuke that branch already")
    assert isinstance(asked, Clarify)
    assert asked.questions[0].field == "slot.branch"


@pytest.mark.parametrize(
    ("goal", "skill", "branch"),
    [
        (
            "bin the branch for that old prototype. nobody has looked at it all year",
            "branch-delete",
            "prototype",
        ),
        (
            "Ada's search box work only exists on this machine. Please push that branch to origin.",
            "git-push",
            "Adas-search-box",
        ),
        ("merge adas typo fix into main. leave her branch", "branch-merge", "adas-typo"),
    ],
)
def test_a_branch_is_told_by_whose_and_for_what_it_is(
    home: Home, bundled: Model, folder: Path, goal: str, skill: str, branch: str
) -> None:
    assert wants(home, bundled, goal, skill)["branch"] == branch


def test_boxes_are_counted_by_what_they_are_and_a_notice_says_what_is_quoted(
    home: Home, bundled: Model, planned: Path
) -> None:
    for goal in ("how many things are left to do in todo.txt", "hur många rutor är obockade i todo.txt"):
        assert "1 time" in done(home, bundled, goal), goal
    slots = wants(home, bundled, 'skicka en notis till mig nu direkt: "drick, vila"', "screen-notify")
    assert slots == {"message": "drick, vila"}
    assert isinstance(understood(home, bundled, "phone the plumber about the tap"), Refused)
