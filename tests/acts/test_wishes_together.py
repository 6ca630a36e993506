"""Goals of two and three wishes, from their words to what is done: what one gives the next is given."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

import mcl
from executor import AlwaysApprove, Home, Outcome
from mcl.compiler.outcome import Compiled
from mcl.core.home import open_home


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    """A folder with some files, which is the current one, and a home."""
    here = tmp_path / "work"
    (here / "docs").mkdir(parents=True)
    for name in "abcd":
        (here / "docs" / f"{name}.md").write_text(f"invoice {name}\n")
    for name in "ab":
        (here / f"{name}.csv").write_text("name,amount\nx,1\ny,2\n")
    monkeypatch.chdir(here)
    return open_home(tmp_path / "home")


def compiled(goal: str, home: Home, *, ai: bool = True) -> Compiled:
    made = mcl.compile_goal(goal, ai=ai, home=home)
    assert isinstance(made, Compiled), made
    return made


def run(made: Compiled, home: Home) -> Outcome:
    mcl.accept(made.intent.id, home=home)
    done: Outcome = mcl.run(made.intent.id, people=AlwaysApprove(), home=home)
    return done


LIST = "docs/a.md\ndocs/b.md\ndocs/c.md\ndocs/d.md\n"


@pytest.mark.parametrize("ai", [True, False])
def test_what_one_wish_gives_the_next_is_given(home: Home, ai: bool) -> None:
    made = compiled("list all markdown files in docs and save them as a list", home, ai=ai)
    (wish,) = made.intent.frame.further
    assert [(one.slot, one.wish, one.output, one.each) for one in wish.given] == [("text", 0, "text", False)]
    outcome = run(made, home)
    assert outcome.failure is None, outcome.failure
    assert Path("result.txt").read_text() == LIST
    assert mcl.replay(made.intent.id, home=home).same


def test_files_that_are_found_are_handed_on_within_a_scope_that_was_signed(home: Home) -> None:
    made = compiled("find all csv files and copy them to archive", home)
    (wish,) = made.intent.frame.further
    assert wish.scope_uri == "matrix://scope/read+write?path=**/*.csv&folder=archive"
    outcome = run(made, home)
    assert outcome.failure is None, outcome.failure
    assert sorted(one.name for one in Path("archive").iterdir()) == ["a.csv", "b.csv"]


def wishes(goal: str, home: Home) -> list[tuple[str, dict[str, str]]]:
    made = compiled(goal, home)
    further = made.intent.frame.further
    return [
        (one.skill_ref.rpartition("/")[2].partition("@")[0], {it.name: it.value for it in one.objects})
        for one in further
    ]


@pytest.mark.parametrize(
    ("goal", "skill", "inputs"),
    [
        ("add butter to shopping.txt and take off bananas", "list-edit", {"file": "shopping.txt"}),
        ("sort shopping.txt and count the lines", "text-count", {"files": "shopping.txt"}),
        ("show me shopping.txt and add tea", "note-write", {"file": "shopping.txt"}),
        ("stryk bananas i shopping.txt och skriv upp mjölk", "note-write", {"file": "shopping.txt"}),
        ("zip the docs into docs.zip and delete them afterwards", "files-delete", {"files": "docs"}),
        ("copy a.csv to keep and show me what is in keep", "files-find", {"folder": "keep"}),
    ],
)  # fmt: skip
def test_a_wish_is_about_the_file_or_folder_of_the_one_before(
    goal: str, skill: str, inputs: dict[str, str], home: Home
) -> None:
    Path("shopping.txt").write_text("milk\nbananas\nmilk\n")
    ((chosen, said),) = wishes(goal, home)
    assert chosen == skill
    assert inputs.items() <= said.items()


@pytest.mark.parametrize(
    "goal", ["skapa mappen skatt och kopiera a.csv dit", "make a folder skatt and copy a.csv there"]
)
def test_a_new_folder_and_what_goes_into_it_are_both_made(goal: str, home: Home) -> None:
    outcome = run(compiled(goal, home), home)
    assert outcome.failure is None, outcome.failure
    assert Path("skatt/a.csv").read_bytes() == Path("a.csv").read_bytes()


@pytest.mark.parametrize(
    ("goal", "path", "text"),
    [
        ("copy docs/a.md to docs/e.md and replace invoice with bill in the new one", "docs/e.md", "bill a\n"),
        ("kopiera docs/a.md till docs/e.md och byt invoice mot faktura i kopian", "docs/e.md", "faktura a\n"),
        ("copy docs/a.md to docs/e.md and in the new one swap invoice for bill", "docs/e.md", "bill a\n"),
        ("in list.txt tick off tea, and at the end add '[ ] rice'", "list.txt", "[x] tea\n[ ] rice\n"),
        ("bocka av tea i list.txt och skriv rice sist i b.md", "b.md", "old\nrice\n"),
        ("count the files in docs and write the number in notes.md", "notes.md", "- 4\n"),
        ("lista filerna i docs och skriv deras namn i namn.txt", "namn.txt", LIST),
        ("hur många filer finns i docs? skriv antalet sist i notes.md", "notes.md", "- 4\n"),
    ],
)
def test_a_wish_is_about_what_the_one_before_makes_or_finds(
    goal: str, path: str, text: str, home: Home
) -> None:
    Path("list.txt").write_text("[ ] tea\n")
    Path("b.md").write_text("old\n")
    made = compiled(goal, home)
    assert run(made, home).failure is None
    assert Path(path).read_text() == text
    assert Path("docs/a.md").read_text() == "invoice a\n"
    assert mcl.replay(made.intent.id, home=home).same


def test_a_folder_that_is_made_is_packed_by_its_noun_alone(home: Home) -> None:
    made = compiled("make a folder called press, copy a.csv into it and zip the folder as press.zip", home)
    assert run(made, home).failure is None
    with ZipFile("press.zip") as archive:
        assert [name.rpartition("/")[2] for name in archive.namelist()] == ["a.csv"]


def test_what_names_a_file_of_its_own_keeps_it(home: Home) -> None:
    Path("shopping.txt").write_text("milk\n")
    Path("todo.txt").write_text("[ ] call\n")
    goal = "add butter to shopping.txt and tick off call in todo.txt"
    ((skill, inputs),) = wishes(goal, home)
    assert (skill, inputs["file"]) == ("list-edit", "todo.txt")


def test_a_wish_about_the_file_before_runs_and_replays_the_same(home: Home) -> None:
    Path("shopping.txt").write_text("milk\nbananas\n")
    made = compiled("add butter to shopping.txt and take off bananas", home)
    assert made.review  # it was said nowhere that both are about one file
    assert run(made, home).failure is None
    assert Path("shopping.txt").read_text() == "milk\nbutter\n"
    assert mcl.replay(made.intent.id, home=home).same


def test_a_text_of_a_later_wish_that_begins_with_no_is_its_text(home: Home) -> None:
    made = compiled(
        "copy b.csv to c.csv and draft a mail to bo@x.example saying: No worries, we will manage", home
    )
    (wish,) = made.intent.frame.further
    assert {one.name: one.value for one in wish.objects}["message"] == "No worries, we will manage"


@pytest.fixture
def lists(home: Home) -> Home:
    """The same with two lists, some invoices and a folder with a download."""
    Path("shopping.txt").write_text("milk\neggs\nmilk\n")
    Path("todo.txt").write_text("[ ] order firewood\n[ ] call the plumber\n")
    Path("downloads").mkdir()
    Path("downloads/setup.exe").write_bytes(b"x")
    Path("downloads/song.mp3").write_bytes(b"x")
    Path("bills").mkdir()
    for number, status in (("041", "unpaid"), ("042", "overdue"), ("043", "paid 2026-11-20")):
        Path(f"bills/{number}-bakery.txt").write_text(f"Bill {number}\nStatus: {status}\n")
    return home


@pytest.mark.parametrize(
    ("goal", "skills"),
    [
        ("plasters on the shopping list and tick off order firewood in todo.txt", "note-write list-edit"),
        ("plåster på shopping.txt, å bocka av order firewood i todo.txt", "note-write list-edit"),
        ("tidy downloads a bit: delete setup.exe and move song.mp3 to music", "files-delete files-move"),
        ("copy the docs to a folder spare and make a spare.zip of it", "files-copy files-zip"),
        ("milk is on shopping.txt twice, take one off, and add salt at the end", "lines-unique note-write"),
        (
            "The bakery has paid. In bills/041-bakery.txt change unpaid to paid, and add call Bo to todo.txt",
            "text-replace note-write",
        ),
    ],
)
def test_the_first_of_two_wishes_is_read_as_if_it_were_alone(lists: Home, goal: str, skills: str) -> None:
    made = compiled(goal, lists)
    refs = [one.skill_ref.split("/")[3].split("@")[0] for one in made.intent.frame.further]
    assert made.intent.compile_metadata is not None
    assert " ".join([made.intent.compile_metadata.skill_id or "", *refs]) == skills


def test_a_state_that_is_changed_is_that_of_the_text_which_has_it(lists: Home) -> None:
    made = compiled("The bakery has paid at last. Change unpaid to paid on bills/041-bakery.txt", lists)
    values = {one.name: one.value for one in made.intent.frame.objects}
    assert values["files"] == "bills/041-bakery.txt"
    assert values["new"].startswith(("paid", "Status: paid"))


def test_the_place_at_the_end_of_a_list_is_no_file_of_the_wish_before(lists: Home) -> None:
    made = compiled("kryssa order firewood i todo.txt, å sätt upp salt sist på shopping.txt", lists)
    (wish,) = made.intent.frame.further
    assert {one.name: one.value for one in wish.objects} == {"note": "salt", "file": "shopping.txt"}


def test_one_of_two_that_are_alike_is_no_file_of_the_wish_before(lists: Home) -> None:
    outcome = mcl.compile_goal("milk står på shopping.txt, ta bort den ena", home=lists)
    removed = outcome.intent.frame.further if isinstance(outcome, Compiled) else ()
    assert not any("files-delete" in one.skill_ref for one in removed)


@pytest.mark.parametrize(
    ("goal", "title"),
    [
        ("put call the bakery on todo.txt and remind me about it tomorrow at 9", "call the bakery"),
        ("skriv upp ringa bagaren i todo.txt och påminn mig om det imorgon klockan 9", "ringa bagaren"),
        ("tick off order firewood in todo.txt and remind me about their letter tomorrow at 9", "letter"),
    ],
)
def test_what_the_wish_before_writes_is_reminded_of(lists: Home, goal: str, title: str) -> None:
    (wish,) = compiled(goal, lists).intent.frame.further
    assert {one.name: one.value for one in wish.objects}["title"].endswith(title)


def test_what_is_asked_behind_a_new_file_is_asked_of_that(lists: Home) -> None:
    Path("hours.csv").write_text("client,hours\nBo,2\nKim,3\nBo,4\n")
    made = compiled("copy the Bo rows from hours.csv into bo.csv and say how many hours that is", lists)
    (wish,) = made.intent.frame.further
    assert {one.name: one.value for one in wish.objects}["file"] == "bo.csv"


def test_another_file_that_is_put_there_too_is_a_wish_of_its_own(lists: Home) -> None:
    made = compiled("copy shopping.txt to a new folder spare and put a copy of todo.txt there too", lists)
    (wish,) = made.intent.frame.further
    first = {one.name: one.value for one in made.intent.frame.objects}
    then = {one.name: one.value for one in wish.objects}
    assert (first["files"], first["target"].strip("/")) == ("shopping.txt", "spare")
    assert (then["files"], then["target"].strip("/")) == ("todo.txt", "spare")
