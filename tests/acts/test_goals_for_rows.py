"""Goals for each row of a table, and what only tells something beside what is to be gone."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcl
from executor import AlwaysApprove, Home
from mcl.compiler.outcome import Clarify, Compiled
from mcl.core.home import open_home

CLIENTS = """name,city,paid
Nordlys,Oslo,yes
Havre & Co,Malmö,no
Tidvatten,Göteborg,no
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A folder with some files, which is the current one, and a home."""
    here = tmp_path / "work"
    for name in ("logs/server.log", "logs/old.log", "old-invoice.txt", "report.txt", "logs/notes.tmp"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).write_text(name)
    (here / "clients.csv").write_text(CLIENTS, encoding="utf-8")
    monkeypatch.chdir(here)
    return open_home(tmp_path / "home")


def values_of(goal: str, slot: str, home: Home) -> tuple[str, list[str]]:
    made = mcl.compile_goal(goal, home=home)
    assert isinstance(made, Compiled), made
    assert made.intent.compile_metadata is not None
    named = [one.value for one in made.intent.frame.objects if one.name == slot]
    return made.intent.compile_metadata.skill_id, named


@pytest.mark.parametrize(
    ("goal", "folders"),
    [
        ("make a folder for every client in clients.csv", ["Nordlys", "Havre & Co", "Tidvatten"]),
        ("skapa en mapp för varje kund i clients.csv utom Tidvatten", ["Nordlys", "Havre & Co"]),
        ("make a folder per client who has not paid, under late", ["late/Havre & Co", "late/Tidvatten"]),
        ("create one folder for each client in Oslo (clients.csv)", ["Nordlys"]),
        ("make a folder called clients 2027", ["clients 2027"]),
    ],
)
def test_a_folder_is_made_for_each_row_that_is_meant(home: Home, goal: str, folders: list[str]) -> None:
    assert values_of(goal, "folders", home) == ("folder-make", folders)


def test_rows_are_also_those_of_which_a_cell_is_empty(home: Home) -> None:
    Path("clients.csv").write_text(f"{CLIENTS}Solo,,yes\n", encoding="utf-8")
    goal = "för varje kund i clients.csv där city är tomt: gör en mapp här"
    assert values_of(goal, "folders", home) == ("folder-make", ["Solo"])


@pytest.mark.parametrize(
    ("goal", "new"),
    [
        ("everyone in clients.csv with a no for paid, put their rows in a new file late.csv", "late.csv"),
        ("lägg raderna för Oslo ur clients.csv i en ny fil oslo.csv, med rubriker", "oslo.csv"),
        ("copy the Oslo rows in clients.csv to oslo.csv, headings at the top", "oslo.csv"),
        ("lägg Oslo-raderna ur clients.csv i oslo.csv, behåll första raden med rubrikerna", "oslo.csv"),
    ],
)
def test_rows_that_are_meant_are_written_to_a_new_table(home: Home, goal: str, new: str) -> None:
    assert values_of(goal, "result", home) == ("table-ask", [new])


@pytest.mark.parametrize(
    "goal",
    [
        "mail everyone in people.csv who hasn't paid, one draft each, subject Fee, message please do",
        "Varenda en som inte har betalt enligt people.csv ska ha ett eget mejl med ämnet Fee, text: snälla",
    ],
)
def test_each_person_of_rows_gets_a_draft(home: Home, goal: str) -> None:
    table = "name,email,paid\nAnna,anna@a.example,no\nBo,bo@a.example,yes\nCia,cia@a.example,no\n"
    Path("people.csv").write_text(table, encoding="utf-8")
    assert values_of(goal, "to", home) == ("mail-draft", ["anna@a.example, cia@a.example"])


@pytest.mark.parametrize(
    ("goal", "gone"),
    [
        ("delete report.txt, it is too old to be of any use", ["report.txt"]),
        ("släng report.txt, den är för gammal för att vara till nytta", ["report.txt"]),
        ("since nobody reads it any more, delete report.txt", ["report.txt"]),
        ("släng allt i logs, server.log är inte med", ["logs/notes.tmp", "logs/old.log"]),
        (
            "delete everything in logs, but server.log is not to be touched",
            ["logs/notes.tmp", "logs/old.log"],
        ),
    ],
)
def test_what_only_tells_something_adds_no_file_to_what_is_gone(
    home: Home, goal: str, gone: list[str]
) -> None:
    skill, files = values_of(goal, "files", home)
    assert (skill, sorted(files)) == ("files-delete", gone)


STAFF = """name,phone,born,hours,paid
Ada Berg,070-555 01 22,1971-03-02,12,yes
"Holm, Olle",070-555 19 40,1958-11-30,7.5,no
Mia Sand,,2003-09-09,12,no
"""
OLLE = '"Holm, Olle",070-555 19 40,1958-11-30,7.5,'


def table_after(goal: str, home: Home) -> str:
    """What a table holds when a goal is done; "" where it is not clear what that is."""
    Path("staff.csv").write_text(STAFF)
    made = mcl.compile_goal(goal, home=home)
    if not isinstance(made, Compiled):
        return ""
    mcl.accept(made.intent.id, home=home)
    outcome = mcl.run(made.intent.id, people=AlwaysApprove(), home=home)
    return "" if outcome.failure else Path("staff.csv").read_text()


@pytest.mark.parametrize(
    ("goal", "old", "new"),
    [
        ("mark Olle as paid in staff.csv", f"{OLLE}no", f"{OLLE}yes"),
        ("markera Ada som inte betald i staff.csv", "02,12,yes", "02,12,no"),
        ("set Ada's hours to 14,5 in staff.csv", "02,12,yes", "02,14.5,yes"),
        ("change the phone of Mia Sand to 070-111 22 33 in staff.csv", "Sand,,", "Sand,070-111 22 33,"),
        ("Mias telefon är 070-111 22 33, ändra i staff.csv", "Sand,,", "Sand,070-111 22 33,"),
        ("sätt timmar till 9 för Mia i staff.csv", "09,12,no", "09,9,no"),
        ("Olle came by with his money, put him down as paid on the staff list", f"{OLLE}no", f"{OLLE}yes"),
        ("Olle swishade nyss! sätt yes på honom i staff.csv", f"{OLLE}no", f"{OLLE}yes"),
        ("Hooray, Mia gave me it all last night. Change her to yes on the staff list", "12,no", "12,yes"),
        (
            "Mia ringde igår, hennes telefon är 070-111 22 33 nu. ändra det i staff.csv",
            "Sand,,",
            "Sand,070-111 22 33,",
        ),
        ("Mia paid on Friday so put her down as yes on the staff list", "12,no", "12,yes"),
        ("Amend staff.csv. For Mia we have 12 as hours. With Tuesday's shift it is 14", "12,no", "14,no"),
        ("remove Mia Sand from staff.csv", "Mia Sand,,2003-09-09,12,no\n", ""),
        ("ta bort raden för Ada ur staff.csv", "Ada Berg,070-555 01 22,1971-03-02,12,yes\n", ""),
    ],
)
def test_a_cell_or_a_row_is_changed_and_all_else_stays(home: Home, goal: str, old: str, new: str) -> None:
    assert table_after(goal, home) == STAFF.replace(old, new), goal


TEA = "2026-05-12,tea,out,60\n"
BOOK = "date,what,way,amount\n2026-05-01,fees,in,400\n2026-05-02,tea,out,50\n2026-05-09,tea,out,45\n"


@pytest.mark.parametrize(
    ("goal", "row"),
    [
        ("enter in book.csv: tea on 12 May 2026, 60 kr out", "2026-05-12,tea,out,60\n"),
        ("skriv upp i book.csv: tea 2026-05-12 60 kr", "2026-05-12,tea,out,60\n"),
        ("add a row to book.csv: 2026-05-12, cake, out, 60", "2026-05-12,cake,out,60\n"),
        (
            "popped in on the way home, 60 kr on tea. put it in book.csv for 12 May 2026, way out",
            TEA,
        ),
        (
            "på vägen hem, sextio kronor för tea. skriv in det i book.csv 12 maj 2026, out som vanligt",
            TEA,
        ),
        ("put another line in the cash book. 12 May 2026. tea. 60 out. no, I have no receipt", TEA),
        ("skriv upp i kassan tea 2026-05-12 40 nej vänta 60 var det, out", TEA),
        ("add to the accounts: tea, 2026-05-12, 60", TEA),
        ("lägg in i kassan: cake 2026-05-12 60 kr", ""),
        ("put tea, 40 or maybe 60, in the accounts", ""),
        ("add a row to book.csv: tea and cake, 60 kr", ""),
        ("add to book.csv that Bo was here on 12 May 2026", ""),
    ],
)
def test_a_row_is_told_in_words_as_the_table_writes_its_cells(home: Home, goal: str, row: str) -> None:
    name = "book.csv" if "book.csv" in goal else "cash.csv"
    Path(name).write_text(BOOK)
    made = mcl.compile_goal(goal, home=home, skill="note-write")
    if isinstance(made, Compiled):
        mcl.accept(made.intent.id, home=home)
        mcl.run(made.intent.id, people=AlwaysApprove(), home=home)
    assert Path(name).read_text() == BOOK + row, goal


HOURS = """date,client,task,hours,rate
2026-05-04,Oat & Co,packaging,8,800
2026-05-05,Northern,logo,3,850
2026-05-06,Oat & Co,packaging,6,800
2026-05-07,Northern,cards,3,850
"""


@pytest.mark.parametrize(
    ("goal", "row"),
    [
        (
            "log an hour and a half on my timesheet for 8 May 2026, Oat, task packaging, usual rate",
            "2026-05-08,Oat & Co,packaging,1.5,800\n",
        ),
        ("skriv upp 2 timmar 2026-05-08 på tidrapporten, Northern, logo", "2026-05-08,Northern,logo,2,850\n"),
        ("log 2 hours on my timesheet for 8 May 2026, Northern, usual rate", ""),  # which task
    ],
)
def test_a_row_has_what_like_rows_have_and_nothing_that_is_not_said(home: Home, goal: str, row: str) -> None:
    Path("hours.csv").write_text(HOURS)
    made = mcl.compile_goal(goal, home=home)
    if isinstance(made, Compiled):
        mcl.accept(made.intent.id, home=home)
        mcl.run(made.intent.id, people=AlwaysApprove(), home=home)
    assert Path("hours.csv").read_text() == HOURS + row, goal


@pytest.mark.parametrize(
    "goal",
    [
        "change Ada Sjö's hours to 14 in staff.csv",
        "set the hours to 14 in staff.csv",
        "change Mia's wage to 14 in staff.csv",
        "mark everyone except Ada as paid in staff.csv",
        "remove Ada's phone from staff.csv",
        "remove Ada Sjö from staff.csv",
        "ta bort alla utom Mia ur staff.csv",
        "delete everyone who has not paid from staff.csv",
    ],
)
def test_what_is_not_clear_of_a_row_changes_none(home: Home, goal: str) -> None:
    assert table_after(goal, home) in ("", STAFF), goal


@pytest.mark.parametrize(
    "goal",
    [
        "the clock was 1 off. take 1 off every hours in staff.csv and save it as s.csv, dont touch it",
        "klockan gick fel. dra av 1 från alla hours i staff.csv och spara det som s.csv, rör inte originalet",
    ],
)
def test_a_changed_column_is_written_to_a_table_of_its_own(home: Home, goal: str) -> None:
    Path("staff.csv").write_text(STAFF)
    made = mcl.compile_goal(goal, home=home)
    assert isinstance(made, Compiled), made
    mcl.accept(made.intent.id, home=home)
    outcome = mcl.run(made.intent.id, people=AlwaysApprove(), home=home)
    assert outcome.failure is None, outcome.failure
    assert Path("s.csv").read_text() == STAFF.replace(",12,", ",11,").replace("7.5", "6.5")
    assert Path("staff.csv").read_text() == STAFF


@pytest.mark.parametrize(
    ("goal", "rows"),
    [
        ("fix words.csv, Hund is in there twice", "hund,Hund\nbok,Buch\n"),
        ("hund finns med dubbelt i words.csv, ta bort den ena raden", "hund,Hund\nbok,Buch\n"),
    ],
)
def test_a_row_that_is_there_twice_is_kept_once(home: Home, goal: str, rows: str) -> None:
    Path("words.csv").write_text("ord,tyska\nhund,Hund\nbok,Buch\nhund,Hund\n")
    made = mcl.compile_goal(goal, home=home, skill="lines-unique")
    if isinstance(made, Compiled):
        mcl.accept(made.intent.id, home=home)
        mcl.run(made.intent.id, people=AlwaysApprove(), home=home)
    assert Path("words.csv").read_text() == f"ord,tyska\n{rows}", goal


def test_of_what_is_not_named_nothing_is_taken_away(home: Home) -> None:
    made = mcl.compile_goal("delete the logs in logs. it is important that server.log stays", home=home)
    taken = [one.value for one in made.intent.frame.objects] if isinstance(made, Compiled) else []
    assert "logs/server.log" not in taken


@pytest.mark.parametrize(
    "goal",
    [
        'draft a mail to each client in clients.csv, subject "Closed", text "We are closed."',
        'skriv ett mejlutkast till alla kunder i clients.csv med ämnet "Stängt" och texten "Vi har stängt."',
    ],
)
def test_a_list_of_people_is_no_name_of_somebody(home: Home, goal: str) -> None:
    made = mcl.compile_goal(goal, home=home)
    assert isinstance(made, Clarify)
    assert [one.field for one in made.questions] == ["slot.to"]


def test_what_is_asked_first_says_with_what_something_is_done(home: Home, tmp_path: Path) -> None:
    goal = "which files mention report? copy them to a folder called reports"
    made = mcl.compile_goal(goal, home=home)
    assert isinstance(made, Compiled), made
    mcl.accept(made.intent.id, home=home)
    assert mcl.run(made.intent.id, people=AlwaysApprove(), home=home).failure is None
    assert [one.name for one in (tmp_path / "work/reports").iterdir()] == ["report.txt"]


def test_a_folder_that_is_made_for_what_is_put_into_it_is_one_wish_or_two(home: Home) -> None:
    made = mcl.compile_goal("make a folder called tax and put report.txt in it", home=home)
    assert isinstance(made, Compiled)
    frame = made.intent.frame
    given = {one.name: one.value for one in (frame.further[0].objects if frame.further else frame.objects)}
    assert (given["files"], given["target"].rstrip("/")) == ("report.txt", "tax")


def test_a_word_of_the_other_language_names_the_same_files(home: Home) -> None:
    assert values_of("zippa fakturan till f.zip", "files", home) == ("files-zip", ["old-invoice.txt"])


MEMBERS = """name,email,joined,paid
Ada Ek,ada@choir.example,2019,yes
Bo Lind,bo@choir.example,2021,no
Mia Öst,mia@choir.example,2024,no
"""
UNPAID = "bo@choir.example, mia@choir.example"


@pytest.mark.parametrize(
    ("goal", "to", "apart"),
    [
        ("draft a mail to each member who has not paid, subject Fee, text: Please pay", UNPAID, "each"),
        (
            "gör ett mejlutkast var till dom som inte betalt i members.csv, ämne Avgift, text: Hej",
            UNPAID,
            "each",
        ),
        ("skriv mejl till var och en i members.csv utom Ada Ek, ämne Rep, texten: Vi ses", UNPAID, "each"),
        ("for each member that hasn't paid make a mail draft, subject Fee, text: Hello", UNPAID, "each"),
        (
            "draft one mail to all members who have not paid, subject Fee, text: Please pay",
            UNPAID,
            "together",
        ),
        ("draft a mail to Bo, subject Each of us, text: to every member", "bo@choir.example", "together"),
    ],
)
def test_a_mail_goes_to_the_rows_that_are_meant(home: Home, goal: str, to: str, apart: str) -> None:
    Path("members.csv").write_text(MEMBERS, encoding="utf-8")
    skill, named = values_of(goal, "to", home)
    assert (skill, named) == ("mail-draft", [to])
    assert ("each" in values_of(goal, "apart", home)[1]) == (apart == "each")


@pytest.mark.parametrize(
    "goal",
    [
        "draft a mail to everybody who sings alto, subject Fee, text: Please pay",
        "draft a mail to each member who joined last month, subject Fee, text: Please pay",
        "draft a mail to every member with the highest joined, subject Fee, text: Please pay",
    ],
)
def test_rows_that_no_column_says_are_asked_for(home: Home, goal: str) -> None:
    Path("members.csv").write_text(MEMBERS, encoding="utf-8")
    assert isinstance(mcl.compile_goal(goal, home=home), Clarify)


CASH = "day,what,way,amount\n2026-11-03,chairs,out,2790\n2026-11-24,coffee,out,412.5\n"


@pytest.mark.parametrize(
    ("goal", "row"),
    [
        ("add a row at the end of cash.csv: 2026-11-27, coffee, out, 350", "2026-11-27,coffee,out,350"),
        ("add 27 nov, fika, ut, 298,50 kr to cash.csv", "2026-11-27,fika,ut,298.50"),
        ("lägg till 2026-11-27;hyra, lokal;ut;2000 i cash.csv", '2026-11-27,"hyra, lokal",ut,2000'),
        ("put 2026-11-27,rent,out,2000 at the bottom of cash.csv", "2026-11-27,rent,out,2000"),
        ("add chairs 3 Dec 350 out in cash.csv, sorry im on the bus", "2026-12-03,chairs,out,350"),
    ],
)
def test_a_row_is_added_as_the_table_writes_its_cells(home: Home, goal: str, row: str) -> None:
    Path("cash.csv").write_text(CASH)
    made = mcl.compile_goal(goal, home=home)
    assert isinstance(made, Compiled), made
    mcl.accept(made.intent.id, home=home)
    assert mcl.run(made.intent.id, people=AlwaysApprove(), home=home).failure is None
    assert Path("cash.csv").read_text() == f"{CASH}{row}\n"


def test_a_row_is_added_with_what_stands_between_the_cells_of_the_table(home: Home) -> None:
    Path("cash.csv").write_text(CASH.replace(",", "|"))
    skill, note = values_of("add a row to cash.csv: 2026-11-27, coffee, out, 350", "note", home)
    assert (skill, note) == ("note-write", ["2026-11-27|coffee|out|350"])


@pytest.mark.parametrize("note", ["coffee", "27 nov, coffee", "2026-11-27,a,b,1,2"])
def test_what_is_no_row_never_goes_into_a_table(home: Home, note: str) -> None:
    Path("cash.csv").write_text(CASH)
    made = mcl.compile_goal("add it", home=home, skill="note-write", slots={"note": note, "file": "cash.csv"})
    assert isinstance(made, Compiled), made
    mcl.accept(made.intent.id, home=home)
    failure = mcl.run(made.intent.id, people=AlwaysApprove(), home=home).failure
    assert failure is not None
    assert "BAD_ROW" in str(failure)
    assert Path("cash.csv").read_text() == CASH
