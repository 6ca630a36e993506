"""Which files a goal means: by name, kind, folder, date and content, less what stays, and where they go."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import mcl
from executor import Home
from mcl.compiler.outcome import Clarify, Compiled
from mcl.plugins.checking.replay import replay

FILES = {
    "bills/2026-03-04-power.txt": ("Power\nSUM 812.00\nOverdue", "2026-03-04"),
    "bills/2026-09-12-power.txt": ("Power\nSUM 640.50", "2026-09-12"),
    "bills/2026-10-02-water.txt": ("Water\nSUM 1 240.00\nOverdue", "2026-10-02"),
    "bills/scan.pdf": ("-", "2026-10-02"),
    "shots/DSC_1.jpg": ("-", "2026-05-02"),
    "shots/DSC_2.jpg": ("-", "2026-05-20"),
    "shots/DSC_3.png": ("-", "2026-08-20"),
    "shots/older/DSC_0.jpg": ("-", "2024-05-02"),
    "temp/setup.msi": ("-", "2024-01-01"),
    "temp/talk.mp3": ("-", "2025-01-01"),
    "temp/bundle.zip": ("-", "2024-02-01"),
    "temp/guide.pdf": ("-", "2026-11-01"),
    "ljud/genrep-2026-10-01.mp3": ("-", "2026-10-01"),
    "ljud/genrep-2026-11-05.mp3": ("-", "2026-11-05"),
    "ljud/konsert-2025.mp3": ("-", "2025-12-01"),
    "claims/first.txt": ("Claim 1\nState: settled 2026-10-01", "2026-10-02"),
    "claims/second.txt": ("Claim 2\nState: pending", "2026-10-03"),
    "claims/third.txt": ("Claim 3\nState: refused", "2026-10-04"),
    "essay.md": ("-", "2026-11-01"),
    "essay (1).md": ("-", "2026-11-02"),
    "test_clocks_that_jump.py": ("-", "2026-11-02"),
}
BILLS = ("2026-03-04-power", "2026-09-12-power", "2026-10-02-water")
POWER = ("bills/2026-03-04-power.txt", "bills/2026-09-12-power.txt")
GENREP = ("ljud/genrep-2026-10-01.mp3", "ljud/genrep-2026-11-05.mp3")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("work")
    for name, (text, day) in FILES.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        moment = datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC).timestamp()
        os.utime(path, (moment, moment))
    return place


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with Home.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def read(folder: Path, home: Home, skill: str, goal: str, *, dry_run: bool = True) -> Compiled | Clarify:
    made = mcl.compile_goal(
        goal, home=home, skill=skill, dry_run=dry_run, ai=False, workspace=folder, at="2026-11-27T09:00:00Z"
    )
    assert isinstance(made, Compiled | Clarify)
    return made


def slots(made: Compiled | Clarify, name: str) -> tuple[str, ...]:
    return tuple(one.value for one in made.intent.frame.objects if one.name == name)


@pytest.mark.parametrize(
    ("skill", "goal", "files", "target"),
    [
        ("files-delete", "bin setup.msi and the mp3 from temp. rest stays",
         "temp/setup.msi temp/talk.mp3", ""),
        ("files-delete", "temp is a mess. bin whatever is over a year old in there, but keep the zip",
         "temp/setup.msi temp/talk.mp3", ""),
        ("files-delete", "släng dubbletten av essay", "essay (1).md", ""),
        ("files-copy", "copy the .txt bills with a sum above 700 to bills/big, originals stay put",
         "bills/2026-03-04-power.txt bills/2026-10-02-water.txt", "bills/big"),
        ("files-copy", 'bills where it says "overdue" i want copies of in a new folder called late',
         "bills/2026-03-04-power.txt bills/2026-10-02-water.txt", "late"),
        ("files-copy", "gör mapp till-bo o kopiera in alla genrep, men inte konserten från ifjol. "
         "originalen ska ligga kvar", " ".join(GENREP), "till-bo"),
        ("files-move", "allt som e plåtat i maj, lägg i shots/maj",
         "shots/DSC_1.jpg shots/DSC_2.jpg", "shots/maj"),
        ("files-move", "move the photos in shots to best, not the png",
         "shots/DSC_1.jpg shots/DSC_2.jpg", "best"),
        ("files-zip", "packa höstens genrep ur ljud i en zip som heter rep.zip så jag kan ge den till Bo",
         " ".join(GENREP), "rep.zip"),
        ("files-move", "make a folder paid inside of bills and move there the two power bills",
         "bills/2026-03-04-power.txt bills/2026-09-12-power.txt", "bills/paid/"),
        ("files-zip", "packa mappen shots i shots.zip, men utan older och DSC_3.png",
         "shots/DSC_1.jpg shots/DSC_2.jpg", "shots.zip"),
        ("files-zip", "zip the bills from september and october as autumn.zip, only the txts",
         "bills/2026-09-12-power.txt bills/2026-10-02-water.txt", "autumn.zip"),
        ("files-copy", "copy all settled claims to done", "claims/first.txt", "done"),
        ("files-copy", "copy the pending and the refused claims to a new folder open",
         "claims/second.txt claims/third.txt", "open"),
        ("files-copy", "copy every claim that hasn't been settled to a folder open. not third.txt, of course",
         "claims/second.txt", "open"),
        ("files-copy", "kopiera de claims som inte är settled till öppna",
         "claims/second.txt claims/third.txt", "öppna"),
        ("files-delete", "delete the refused claims", "claims/third.txt", ""),
        ("files-delete", "släng dubbletten av essay va", "essay (1).md", ""),
        ("files-zip", "pack the contents of claims into out/claims.zip. originals stay put, of course",
         "claims/first.txt claims/second.txt claims/third.txt",
         "out/claims.zip"),
        ("files-zip", "i want to send all the claims to my sister, can you pack them in claims.zip",
         "claims",
         "claims.zip"),
        ("files-zip", "pack the power bills into p.zip so that i may hand them over. "
         "the bills themselves stay put",
         "bills/2026-03-04-power.txt bills/2026-09-12-power.txt",
         "p.zip"),
        ("files-zip", "DSC_1 + DSC_3 i b.zip, lägg den här i top level. essay ska INTE med",
         "shots/DSC_1.jpg shots/DSC_3.png",
         "b.zip"),
        ("files-copy", "copy the three stormy shots to best",
         "shots/DSC_1.jpg shots/DSC_2.jpg shots/DSC_3.png",
         "best"),
        ("files-copy", "put a copy of essay.md in claims called old.md",
         "essay.md",
         "claims/old.md"),
        ("files-move", "in ljud make a folder rep and move all the genrep ones there, the konsert one stays",
         " ".join(GENREP), "ljud/rep/"),
        ("files-move", "move DSC_1 and DSC_2 to a new folder called documents",
         "shots/DSC_1.jpg shots/DSC_2.jpg",
         "documents"),
        ("files-zip", "packa shots i shots.zip, men ta inte med older och DSC_3.png",
         "shots/DSC_1.jpg shots/DSC_2.jpg", "shots.zip"),
        ("files-move", "to a folder called pair go DSC_1 and DSC_2",
         "shots/DSC_1.jpg shots/DSC_2.jpg",
         "pair"),
        ("files-move", "alla bilder som ar tagna i maj, flytta dem till shots/maj. "
         "ovriga bilder later du ligga",
         "shots/DSC_1.jpg shots/DSC_2.jpg",
         "shots/maj"),
        ("files-copy", "de claims som har Claim 2 i sig vill jag ha samlade i en ny mapp som heter tva",
         "claims/second.txt",
         "tva"),
        ("files-move", "flytta augustibilderna till en ny mapp sen, inne i shots",
         "shots/DSC_3.png", "shots/sen/"),
        ("files-delete", "tidy temp, everything from before 2025 can be deleted",
         "temp/bundle.zip temp/setup.msi", ""),
        ("files-delete", "the essay is there twice, delete the extra copy and keep the original",
         "essay (1).md", ""),
        ("files-delete", "delete the mp3 in temp since nobody wants it. the zip must be kept",
         "temp/talk.mp3", ""),
        ("files-delete", "ta bort allt med talk i namnet ur temp", "temp/talk.mp3", ""),
        ("files-zip", "min syster vill ha alla våra claims, packa dem i c.zip. third.txt ska inte med",
         "claims/first.txt claims/second.txt", "c.zip"),
        ("files-copy", "copy the 2 newest bills to a folder called desk. the originals stay where they are",
         "bills/2026-10-02-water.txt bills/scan.pdf", "desk"),
        ("files-move", "flytta de två äldsta genrepen till ljud/gamla", " ".join(GENREP), "ljud/gamla"),
        ("files-delete", "delete the oldest shot", "shots/older/DSC_0.jpg", ""),
        ("files-delete", "släng det som slutar på msi i temp", "temp/setup.msi", ""),
        ("files-delete", "släng skräpet som slutar på msi i temp, och så talk.mp3",
         "temp/setup.msi temp/talk.mp3", ""),
        ("files-copy", "copy the bills (september or october) to fall",
         "bills/2026-09-12-power.txt bills/2026-10-02-water.txt bills/scan.pdf", "fall"),
        ("files-zip", "zip at most the two newest claims as two.zip",
         "claims/second.txt claims/third.txt", "two.zip"),
        ("files-delete", "släng kopian av essay, inget annat", "essay (1).md", ""),
        ("files-move", "move the files in shots that start with DSC_1 to a folder of their own, shots/one",
         "shots/DSC_1.jpg", "shots/one"),
        ("files-move", "move this year's genrep recordings to a new folder called repet, "
         "but leave the konsert one alone", " ".join(GENREP), "repet"),
        ("files-copy", "copy the bill for the water to bills/big, but leave the original alone",
         "bills/2026-10-02-water.txt", "bills/big"),
        ("text-join", "put the three claims together in one file, claims.txt. leave the originals",
         "claims/first.txt claims/second.txt claims/third.txt", "claims.txt"),
        ("text-join", "slå ihop first.txt, second.txt och third.txt till alla.txt",
         "claims/first.txt claims/second.txt claims/third.txt", "alla.txt"),
        ("files-delete", "clear out the .msi files and the duplicate essay",
         "temp/setup.msi essay (1).md", ""),
        ("files-delete", "there are two of essay here, bin the (1) one", "essay (1).md", ""),
        ("files-delete", "there's an essay in here twice, the one with (1) at the end. bin it",
         "essay (1).md", ""),
        ("files-delete", "trash everything in temp bar the pdf",
         "temp/bundle.zip temp/setup.msi temp/talk.mp3", ""),
        ("files-copy", "put a copy of talk.mp3 and the 20 May shots in a folder called may",
         "temp/talk.mp3 shots/DSC_2.jpg", "may"),
        ("files-copy", "copy the bills (september, october) to a folder called fall",
         "bills/2026-09-12-power.txt bills/2026-10-02-water.txt bills/scan.pdf", "fall"),
        ("files-copy", "copy third.txt to third-safe.txt before Ada rewrites it", "claims/third.txt",
         "third-safe.txt"),
        ("files-copy", "the guide to Rome is in temp. put a copy in a folder called trip so i can find it",
         "temp/guide.pdf", "trip"),
        ("files-move", "DSC_1 and DSC_2 go into a subfolder called best. the png stays",
         "shots/DSC_1.jpg shots/DSC_2.jpg", "shots/best/"),
        ("files-move", "move second.txt in with the other bills", "claims/second.txt", "bills"),
        ("files-zip", "Bo wants our claims so zip first.txt, second.txt into c.zip",
         "claims/first.txt claims/second.txt", "c.zip"),
        ("files-zip", "Bo wants last year's recordings. Put them in a zip called b.zip",
         "ljud/konsert-2025.mp3 temp/talk.mp3", "b.zip"),
        ("files-zip", "zip up the claims for the lawyer as c.zip, but not third.txt",
         "claims/first.txt claims/second.txt", "c.zip"),
        ("files-zip", "zip the bills from september and october, call it fall.zip, leave out the pdf tho",
         "bills/2026-09-12-power.txt bills/2026-10-02-water.txt", "fall.zip"),
    ],
)  # fmt: skip
def test_a_goal_chooses_the_files_that_are_signed(
    folder: Path, home: Home, skill: str, goal: str, files: str, target: str
) -> None:
    made = read(folder, home, skill, goal)
    assert isinstance(made, Compiled), made
    wanted = tuple(one for one in ("essay (1).md",) if one in files)
    wanted += tuple(files.replace("essay (1).md", "").split())
    assert sorted(slots(made, "files")) == sorted(wanted)
    places = [one for name in ("target", "archive", "result") for one in slots(made, name)]
    assert places == ([target] if target else [])


@pytest.mark.parametrize(
    ("skill", "goal"),
    [
        ("files-move", "flytta filen till arkiv"),
        ("files-move", "move it to archive"),
        ("file-rename", "that one has a silly name, rename it"),
        ("files-delete", "could you take one thing off the essay"),
        ("files-delete", "delete the bills that i have paid already"),
        ("files-delete", "do not delete the pdfs"),
        ("files-delete", "delete the claims that mum settled"),
        ("files-delete", "knit a jumper for the cat"),
        ("files-copy", "copy the photos that mum likes to mum"),
        ("files-copy", "copy the four stormy shots to best"),
        ("files-delete", "delete the bills that went to Ada"),
        ("files-delete", "delete some of the bills"),
        ("files-zip", "pack them in c.zip but not the essay"),
    ],
)
def test_words_that_say_more_than_which_files_choose_none(
    folder: Path, home: Home, skill: str, goal: str
) -> None:
    made = read(folder, home, skill, goal)
    chosen = {*slots(made, "files"), *slots(made, "file")}
    assert not chosen.intersection(FILES)
    assert isinstance(made, Clarify) or not chosen


def test_one_name_of_several_files_is_asked_about_and_a_replay_reads_the_same(
    folder: Path, home: Home
) -> None:
    asked = read(folder, home, "files-delete", "delete the power bill", dry_run=False)
    assert isinstance(asked, Clarify)
    [question] = [one for one in asked.questions if one.field == "slot.files"]
    assert question.options == ("bills/2026-03-04-power.txt", "bills/2026-09-12-power.txt")
    made = read(folder, home, "files-move", "move the bills from march to spring", dry_run=False)
    assert isinstance(made, Compiled)
    assert slots(made, "files") == ("bills/2026-03-04-power.txt",)
    again = replay(made.intent.id, home=home)
    assert again.same, [one for one in again.items if one.verdict != "same"]


@pytest.mark.parametrize(
    ("skill", "goal", "files", "target"),
    [
        ("files-zip", "zippa alla genrep från ljud till rep.zip, inte konserten",
         " ".join(GENREP), "rep.zip"),
        ("files-zip", "zip everything in claims into claims.zip please and thank you",
         "claims", "claims.zip"),
        ("files-zip", "pack all the 2026 bills plus everything that's in claims as x.zip, no pdf",
         " ".join([*(f"bills/{one}.txt" for one in BILLS), *(one for one in FILES if "claims" in one)]),
         "x.zip"),
        ("files-zip", "pack the bills from october to one zip, name oct.zip, leave it in the main folder",
         "bills/2026-10-02-water.txt bills/scan.pdf", "oct.zip"),
        ("files-move", "in shots mak a folder cald best and move DSC_1 and DSC_2 in ther. no the png!",
         "shots/DSC_1.jpg shots/DSC_2.jpg", "shots/best"),
        ("files-move", "flytta båda genrepen (mp3) från ljud till en ny mapp som ska heta rep",
         " ".join(GENREP), "rep"),
        ("files-move", "lägg oktoberräkningarna i en egen mapp inne i bills, döp den till oktober",
         "bills/2026-10-02-water.txt bills/scan.pdf", "bills/oktober"),
        ("files-copy", "take a copy of the power bill from march and call it 2026-12-power.txt, same folder",
         "bills/2026-03-04-power.txt", "bills/2026-12-power.txt"),
        ("files-delete", "there's an essay with (1) in its name. chuck the (1) one. nothing else!",
         "essay (1).md", ""),
        ("files-delete", "essay (1).md is a copy, bin it", "essay (1).md", ""),
        ("files-move", "move the october bills tae a folder archive",
         "bills/2026-10-02-water.txt bills/scan.pdf", "archive"),
        ("files-zip", "zip all the genrep in ljud n DSC_1 n call it all.zip, no the other sounds",
         f"{' '.join(GENREP)} shots/DSC_1.jpg", "all.zip"),
    ],
)  # fmt: skip
def test_slips_and_asides_of_names_do_not_hide_what_is_meant(
    folder: Path, home: Home, skill: str, goal: str, files: str, target: str
) -> None:
    made = read(folder, home, skill, goal)
    assert isinstance(made, Compiled)
    wanted = (files,) if files.startswith("essay") else tuple(files.split())
    assert sorted(slots(made, "files")) == sorted(wanted)
    assert [one.strip("/") for name in ("target", "archive") for one in slots(made, name)] == [target] * bool(
        target
    )


@pytest.mark.parametrize(
    ("goal", "targets"),
    [
        ("rename DSC_2 and DSC_1, call them first.jpg and last.jpg, in that order", ("last", "first")),
        ("alla i shots som heter DSC_nåt ska heta kor_nåt istället", ("kor_1", "kor_2")),
        ("bilderna DSC_1 och DSC_2 ska heta a- först å sen det dom heter nu", ("a-DSC_1", "a-DSC_2")),
    ],
)
def test_new_names_are_told_one_by_one_or_by_a_piece(
    folder: Path, home: Home, goal: str, targets: tuple[str, ...]
) -> None:
    made = read(folder, home, "files-rename", goal)
    found = dict(zip(slots(made, "sources"), slots(made, "targets"), strict=True))
    assert [found[f"shots/DSC_{at}.jpg"] for at in (1, 2)] == [f"shots/{one}.jpg" for one in targets]


@pytest.mark.parametrize(
    ("goal", "kept"),
    [
        ("put the photos in shots into a folder per year, but keep the originals", ("keep",)),
        ("lägg bilderna i shots i en mapp per år, men rör inte DSC_3.png", ()),
        ("sort the photos in shots into shots/2025 and shots/2026 by when they were taken. "
         "not DSC_3.png", ()),
        ("shots is a mess. make a folder in it for each year, 2025 and 2026, and move each photo into the "
         "right one going by the file date. leave DSC_3.png", ()),
    ],
)  # fmt: skip
def test_files_go_into_folders_by_date_or_copies_of_them(
    folder: Path, home: Home, goal: str, kept: tuple[str, ...]
) -> None:
    made = read(folder, home, "files-tidy-date", goal)
    assert isinstance(made, Compiled)
    last = ("shots/2026/DSC_3.png",) if kept else ()
    assert slots(made, "targets") == ("shots/2026/DSC_1.jpg", "shots/2026/DSC_2.jpg", *last)
    assert slots(made, "originals") == kept


@pytest.mark.parametrize(
    ("skill", "goal"),
    [
        ("files-move", "move the claim to bills, please"),
        ("files-move", "move that pdf to a new folder done. i mean one, not all of them"),
        ("files-move", "put that file in bills"),
    ],
)
def test_one_file_of_several_is_asked_about(folder: Path, home: Home, skill: str, goal: str) -> None:
    made = read(folder, home, skill, goal)
    assert isinstance(made, Clarify)
    assert [one.field for one in made.questions] == ["slot.files"]


@pytest.mark.parametrize(
    ("skill", "goal", "files", "target"),
    [
        ("files-move", "move the power bills from 2026 to old/, they annoy me", " ".join(POWER), "old"),
        ("files-copy", "make a folder bo and put copies of DSC_1 DSC_2 and DSC_3 in there",
         "shots/DSC_1.jpg shots/DSC_2.jpg shots/DSC_3.png", "bo"),
        ("files-move", "first.txt and third.txt are done with, put them both in old",
         "claims/first.txt claims/third.txt", "old"),
        ("files-move", "the power bills are only in the way move them to old", " ".join(POWER), "old"),
        ("files-zip", "zip up the shots folder for me, call it s.zip, need to hand it to bo before noon",
         "shots", "s.zip"),
        ("files-zip", "zip claims as c.zip for bo", "claims", "c.zip"),
        ("files-zip", "packa hela mappen claims åt bo i c.zip", "claims", "c.zip"),
        ("files-zip", "zip claims as c.zip for bo but not the third one",
         "claims/first.txt claims/second.txt", "c.zip"),
        ("files-zip", "zip the bills (march, september) as b.zip", " ".join(POWER), "b.zip"),
        ("files-zip", "packa claims (first och third) i c.zip", "claims/first.txt claims/third.txt", "c.zip"),
        ("files-copy", "copy third.txt so we have something to go by, it should be called fourth.txt and be "
         "with the other claims", "claims/third.txt", "claims/fourth.txt"),
        ("files-copy", "kopiera third.txt så vi har nåt till mötet, ska heta fourth.txt och ligga med dom "
         "andra claims", "claims/third.txt", "claims/fourth.txt"),
        ("files-move", "new folder x inside claims, move the 3 claims in there",
         "claims/first.txt claims/second.txt claims/third.txt", "claims/x"),
        ("files-delete", "get rid of the .jpg junk in shots/older", "shots/older/DSC_0.jpg", ""),
        ("files-zip", "packa DSC_1 i s.zip så kan jag se på den ikväll, fast inte DSC_2 för där är jag ful",
         "shots/DSC_1.jpg", "s.zip"),
        ("files-delete", "setup.msi and talk.mp3 in temp can go. keep the rest",
         "temp/setup.msi temp/talk.mp3", ""),
    ],
)  # fmt: skip
def test_which_files_are_listed_told_before_or_packed_for_somebody(
    folder: Path, home: Home, skill: str, goal: str, files: str | None, target: str
) -> None:
    made = read(folder, home, skill, goal)
    assert sorted(slots(made, "files")) == sorted((files or "").split())
    assert isinstance(made, Compiled if files else Clarify)
    assert [one.strip("/") for name in ("target", "archive") for one in slots(made, name)] == [target] * bool(
        target
    )


@pytest.mark.parametrize(
    "goal", ["zip the bills (march, those of bo) as b.zip", "zip the bills (march, december) as b.zip"]
)
def test_a_list_in_brackets_that_is_not_all_understood_is_asked_about(
    folder: Path, home: Home, goal: str
) -> None:
    made = read(folder, home, "files-zip", goal)
    assert isinstance(made, Clarify)
    assert [one.field for one in made.questions] == ["slot.files"]


@pytest.mark.parametrize(
    ("second", "wishes"), [("Move the file first.txt to old.", 0), ("Move the file second.txt to old.", 1)]
)
def test_a_file_is_not_moved_twice(folder: Path, home: Home, second: str, wishes: int) -> None:
    goal = f"move the file first.txt to done. {second}"
    made = mcl.compile_goal(goal, home=home, dry_run=True, workspace=folder, at="2026-11-27T09:00:00Z")
    assert isinstance(made, Compiled | Clarify)
    assert len(made.intent.frame.further) == wishes
    assert wishes or isinstance(made, Clarify) or made.review
