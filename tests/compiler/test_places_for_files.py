"""Goals that give each of some files a new name, or a folder by its date: both are signed, file by file."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

import mcl
from executor import Home
from mcl.compiler.outcome import Clarify, Compiled

FILES = {
    "shots/DSC_1.jpg": "2026-05-02",
    "shots/DSC_2.jpg": "2026-05-20",
    "shots/beach.png": "2025-08-20",
    "ljud/genrep-2026-10-01.mp3": "2026-10-01",
    "ljud/genrep-2026-11-05.mp3": "2026-11-05",
    "ljud/konsert-2025.mp3": "2025-12-01",
    "bills/2026-03-power.txt": "2026-03-04",
    "bills/2026-10-water.txt": "2026-10-02",
    "bills/scan.pdf": "2026-10-02",
    "draft.md": "2026-11-01",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("work")
    for name, day in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("-")
        moment = datetime.fromisoformat(day).replace(hour=12, tzinfo=UTC).timestamp()
        os.utime(place / name, (moment, moment))
    return place


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    with Home.open(tmp_path_factory.mktemp("home")) as opened:
        yield opened


def places(folder: Path, home: Home, skill: str, goal: str) -> dict[str, str]:
    made = mcl.compile_goal(
        goal, home=home, skill=skill, dry_run=True, ai=False, workspace=folder, at="2026-11-27T09:00:00Z"
    )
    assert isinstance(made, Compiled | Clarify)
    read = made.intent.frame.objects
    sources, targets = ([one.value for one in read if one.name == name] for name in ("sources", "targets"))
    return dict(zip(sources, targets, strict=True))


DSC = ("shots/DSC_1.jpg", "shots/DSC_2.jpg")
GENREP = ("ljud/genrep-2026-10-01.mp3", "ljud/genrep-2026-11-05.mp3")


@pytest.mark.parametrize(
    ("goal", "files", "new"),
    [
        ('put "camp-" in front of the picture names in shots', (*DSC, "shots/beach.png"), "shots/camp-"),
        ("sätt camp- framför namnen på alla filer i shots", (*DSC, "shots/beach.png"), "shots/camp-"),
        (
            "rename the bills so that they begin with el-",
            tuple(f for f in FILES if "bills" in f),
            "bills/el-",
        ),
    ],
)
def test_a_piece_is_put_before_the_names_of_the_files_that_are_meant(
    folder: Path, home: Home, goal: str, files: tuple[str, ...], new: str
) -> None:
    read = places(folder, home, "files-rename", goal)
    assert read == {one: f"{new}{one.rpartition('/')[2]}" for one in files}


@pytest.mark.parametrize(
    "goal",
    [
        "replace genrep with ovning in the names of the recordings in ljud",
        "byt ut genrep mot ovning i namnen i ljud, konserten rör du inte",
        "i namnen i ljud ska genrep bli ovning",
        "rename the recordings in ljud, genrep-2026-10-01 -> ovning-2026-10-01 and so on",
    ],
)
def test_a_piece_of_names_is_another_in_those_that_have_it(folder: Path, home: Home, goal: str) -> None:
    read = places(folder, home, "files-rename", goal)
    assert read == {one: one.replace("genrep", "ovning") for one in GENREP}


@pytest.mark.parametrize(
    "goal",
    [
        "prefix the jpgs in shots with their date",
        "döp om jpg-bilderna i shots så att datumet står först i namnet",
    ],
)
def test_the_day_of_a_file_is_put_before_its_name(folder: Path, home: Home, goal: str) -> None:
    read = places(folder, home, "files-rename", goal)
    assert read == {one: f"shots/{FILES[one]}_{one.rpartition('/')[2]}" for one in DSC}


@pytest.mark.parametrize(
    ("goal", "length"),
    [
        ("put the pictures in shots in a folder per year", 4),
        ("sortera bilderna i shots i mappar efter år", 4),
        ("move the pictures in shots into subfolders by month", 7),
        ("lägg filerna i ljud i en undermapp per månad, dvs 2026-10 osv, men rör inte konserten", 7),
    ],
)
def test_files_go_into_a_folder_by_their_date(folder: Path, home: Home, goal: str, length: int) -> None:
    read = places(folder, home, "files-tidy-date", goal)
    files = GENREP if "ljud" in goal else (*DSC, "shots/beach.png")
    assert read == {one: f"/{FILES[one][:length]}/".join(one.split("/")) for one in files}


@pytest.mark.parametrize(
    "goal",
    [
        "rename draft.md to final.md",
        "replace draft with final in draft.md",
        "rename some of the pictures so that they begin with camp-",
        "rename the pictures from lisbon so that they begin with camp-",
        "put x- in front of something",
        "change milk to oats in the names",
    ],
)
def test_no_file_gets_a_place_that_the_goal_does_not_say(folder: Path, home: Home, goal: str) -> None:
    assert places(folder, home, "files-rename", goal) == {}
