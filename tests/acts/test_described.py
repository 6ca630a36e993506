"""Texts that are described in other words than their names, and questions that a line of one answers."""

from __future__ import annotations

from pathlib import Path

import pytest

import mcl
from executor import Home
from mcl.compiler.outcome import Compiled
from mcl.core.home import open_home

TEXTS = {
    "receipts/scan3.pdf": "%PDF-1.4\nstream\nBT (Vacuum cleaner, 1990 SEK) Tj ET\nendstream\n",
    "receipts/may.txt": "Paint and brushes\nTOTAL 200\n",
    "receipts/june.txt": "Garden hose\nTOTAL 300\n",
    "songs/drafts/thing.txt": "Working title: Morning\nLa la\n",
    "songs/evening.txt": "Evening comes\n",
    "songs/evening (1).txt": "Evening comes\n",
    "downloads/ticket.pdf": "%PDF-1.4\nstream\nBT (Train to Malm, seat 4) Tj ET\nendstream\n",
    "plans/spring.md": "# Trip\nhotels in Lisbon\n",
    "minutes/2026-10-05.md": "# Minutes 2026-10-05\n\nNew chairs for at most 3000 kr.\n",
    "minutes/2026-11-02.md": "# Minutes 2026-11-02\n\nTickets cost 120 kr.\n",
    "letters/school.txt": "To the school office\n\nEmma is on holiday.\n",
    "letters/bank.txt": "To the bank\n\nA new card, please.\n",
    "mails/tap.eml": "From: Rolf Ek <rolf@ek.example>\nSubject: Kitchen tap\n\nIt costs 1450 kr.\n",
    "contract.md": "# Contract with Nord\n\nNotice: three months.\nEnds 2026-12-31.\n",
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


def chosen(goal: str, home: Home) -> tuple[str, dict[str, str]]:
    made = mcl.compile_goal(goal, home=home)
    if not isinstance(made, Compiled):
        return "", {}
    assert made.intent.compile_metadata is not None
    return made.intent.compile_metadata.skill_id, {one.name: one.value for one in made.intent.frame.objects}


@pytest.mark.parametrize(
    ("goal", "file"),
    [
        ("show me the minutes from 5 October", "minutes/2026-10-05.md"),
        ("visa protokollet från mötet den 2 november", "minutes/2026-11-02.md"),
        ("läs upp protokollet från den 5 oktober", "minutes/2026-10-05.md"),
        ("vad står det i brevet till skolan", "letters/school.txt"),
        ("vad skrev Rolf i mejlet", "mails/tap.eml"),
        ("read us out what Rolf wrote, it's in with the mails", "mails/tap.eml"),
    ],
)
def test_a_text_is_shown_that_is_described(home: Home, goal: str, file: str) -> None:
    assert chosen(goal, home) == ("file-read", {"file": file})


@pytest.mark.parametrize("goal", ["what notice period does Nord have", "when does the Nord contract end?"])
def test_a_question_that_a_line_answers_is_answered(home: Home, goal: str) -> None:
    assert chosen(goal, home)[0] == "files-ask"


@pytest.mark.parametrize(
    "goal", ["kitchen tap price", "what notice does Nord have? the lawyer sent a parcel about rabbits"]
)
def test_few_words_ask_too_and_what_is_told_beside_counts_less(home: Home, goal: str) -> None:
    assert chosen(goal, home)[0] == "files-ask"


@pytest.mark.parametrize("goal", ["show me the minutes from 7 May", "delete the letter to the school"])
def test_nothing_else_is_shown(home: Home, goal: str) -> None:
    assert chosen(goal, home)[0] != "file-read"


@pytest.mark.parametrize(
    ("goal", "file"),
    [
        ("where's the receipt for the vacuum cleaner? it has died on me", "receipts/scan3.pdf"),
        ("var har jag lagt kvittot på dammsugaren, den har dött", "receipts/scan3.pdf"),
        ("which receipt was it that had the brushes in it", "receipts/may.txt"),
        ("so where'd I put that thing about hotels, the one with Lisbon in it", "plans/spring.md"),
        ("look out the agreement with Nord please, they are on the phone", "contract.md"),
        ("can't find that contract with Nord, the one with three months notice", "contract.md"),
    ],
)
def test_a_file_is_found_by_what_stands_in_it(home: Home, goal: str, file: str) -> None:
    assert chosen(goal, home) == ("file-locate", {"name": file, "folder": "."})


@pytest.mark.parametrize(
    ("goal", "skill", "said"),
    [
        (
            "There's an unfinished song in the drafts with only a working title. Rename it dawn.txt please.",
            "file-rename",
            {"file": "songs/drafts/thing.txt", "name": "dawn.txt"},
        ),
        (
            "rename the contract with the Nord people to nord-2027.md, will you",
            "file-rename",
            {"file": "contract.md", "name": "nord-2027.md"},
        ),
        (
            "flytta tågbiljetten från nedladdningarna till en ny mapp resor",
            "files-move",
            {"files": "downloads/ticket.pdf", "target": "resor", "folder": "."},
        ),
        (
            "we have the evening song twice. bin the spare one and keep the proper one",
            "files-delete",
            {"files": "songs/evening (1).txt", "folder": "."},
        ),
    ],
)
def test_what_is_done_with_a_file_may_describe_it(
    home: Home, goal: str, skill: str, said: dict[str, str]
) -> None:
    assert chosen(goal, home) == (skill, said)


@pytest.mark.parametrize(
    "goal",
    [
        "tidy receipts, everything with brushes in it can be deleted",
        "clean songs, the duplicate can be deleted",
    ],
)
def test_what_a_first_word_sums_up_is_no_wish_of_its_own(home: Home, goal: str) -> None:
    assert chosen(goal, home)[0] != "files-tidy-kind"


def test_nothing_is_deleted_of_which_more_is_said_than_a_file_says(home: Home) -> None:
    skill, said = chosen("delete the brushes receipt that aunt Vera scribbled on", home)
    assert skill != "files-delete" or "files" not in said


@pytest.mark.parametrize(
    "goal",
    [
        "Nord wants the contracts of old (just the two of them). Please put them in a zip called old.zip",
        "zippa de två gamla avtalen med Nord som old.zip",
    ],
)
def test_one_file_is_not_taken_where_several_are_meant(home: Home, goal: str) -> None:
    _, said = chosen(goal, home)
    assert said.get("files") != "contract.md"


@pytest.mark.parametrize(
    "goal",
    [
        "zip the whole letters folder as l.zip, Emma needs it before lunch",
        "zip the whole letters folder, bank and school and all, as l.zip",
        "packa hela mappen letters, bank och allt, som l.zip",
    ],
)
def test_a_whole_folder_is_taken_whole_whatever_is_told_beside(home: Home, goal: str) -> None:
    skill, said = chosen(goal, home)
    assert (skill, said["files"]) == ("files-zip", "letters")


def test_who_says_i_behind_a_wish_says_no_place(home: Home) -> None:
    made = mcl.compile_goal("rename contract.md to deal.md so I can actually find it", home=home)
    assert isinstance(made, Compiled)
    assert not made.intent.frame.further
