"""What people say is wrong in a text, and what is right, in clauses of their own."""

from pathlib import Path

import pytest

from executor import AlwaysApprove, Home
from mcl import accept, compile_goal, run
from mcl.compiler.outcome import Compiled
from mcl.model import Model

AT = "2026-11-27T09:00:00Z"
SIGN = "OPEN HOUSE\nSaturday 12 May at 14\nWaffles 40 kr\n"
BILLS = {
    "bills/1-nord.txt": "BILL 1\nFrom: Kiosk Nord\nState: paid 2026-11-02\n",
    "bills/2-lind.txt": "BILL 2\nFrom: Bageriet Lind\nState: unpaid\n",
    "bills/3-ek.txt": "BILL 3\nFrom: Ek\nState: late\n",
}
PRICES = "| boat | day | week |\n|---|---|---|\n| raft | 450 | 1900 |\n| barge | 500 | 2100 |\n"

ROTA = "3 maj: Vera\n10 maj: Sixten\n17 maj: Olof\n"
NEWS = "# News\n\n## 2.1\n- boats can be swapped\n\n## 2.0\n- a new lake\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "work"
    (folder / "lake/website").mkdir(parents=True)
    (folder / "fair").mkdir()
    (folder / "fair/sign.txt").write_text(SIGN)
    (folder / "fair/menu.txt").write_text("Tea 20\nCoffee 25\nJuice 30\n")
    (folder / "bills").mkdir()
    for path, text in BILLS.items():
        (folder / path).write_text(text)
    (folder / "lake.md").write_text("Payment within 14 days.\n")
    (folder / "lake/website/prices.md").write_text(PRICES)
    (folder / "vaktlista.txt").write_text(ROTA)
    (folder / "NEWS.md").write_text(NEWS)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("goal", "path", "text"),
    [
        (
            "The sign still says 40 for waffles. They are 45. Put it right please.",
            "fair/sign.txt",
            SIGN.replace("40", "45"),
        ),
        (
            "the sign has the waffles at 40 kr, we agreed 45 ages ago. correct it",
            "fair/sign.txt",
            SIGN.replace("40", "45"),
        ),
        (
            "det står 40 kr på skylten i sign.txt, det ska vara 45 kr. rätta till!",
            "fair/sign.txt",
            SIGN.replace("40", "45"),
        ),
        (
            "The coffee should cost 28 on the menu, not 25 as it says now, the rest is right.",
            "fair/menu.txt",
            "Tea 20\nCoffee 28\nJuice 30\n",
        ),
        (
            "The sign for it still says 40 for waffles. It's 45, we agreed on 3 May. Correct it.",
            "fair/sign.txt",
            SIGN.replace("40", "45"),
        ),
        (
            "the barge is going up from 500 to 550 a day, put that on the lake prices page",
            "lake/website/prices.md",
            PRICES.replace("500", "550"),
        ),
        (
            "the bakery paid this morning, mark their bill paid with the date like the other one",
            "bills/2-lind.txt",
            BILLS["bills/2-lind.txt"].replace("unpaid", "paid 2026-11-27"),
        ),
        (
            "sixten cant do the 10 may in vaktlista.txt, put Ebba instead",
            "vaktlista.txt",
            ROTA.replace("Sixten", "Ebba"),
        ),
        (
            "Vera är sjuk den 3 maj, Ebba tar det istället. Ändra i vaktlistan",
            "vaktlista.txt",
            ROTA.replace("Vera", "Ebba"),
        ),
        (
            "in NEWS.md where it says boats can be swapped change it to boats can be traded",
            "NEWS.md",
            NEWS.replace("swapped", "traded"),
        ),
        (
            "the waffle line on the sign is silly. replace the whole line with: See the menu in menu.txt.",
            "fair/sign.txt",
            SIGN.replace("Waffles 40 kr", "See the menu in menu.txt."),
        ),
        (
            "byt ut raden om kaffe i menu.txt mot: Kaffe med bulle 40",
            "fair/menu.txt",
            "Tea 20\nKaffe med bulle 40\nJuice 30\n",
        ),
        (
            'news: new section 2.2 above 2.1, with the line "- oars are free"',
            "NEWS.md",
            NEWS.replace("## 2.1", "## 2.2\n- oars are free\n\n## 2.1"),
        ),
        (
            "markera räkningen från Ek som betald igår",
            "bills/3-ek.txt",
            BILLS["bills/3-ek.txt"].replace("late", "paid 2026-11-26"),
        ),
        (
            "a barge is 550 a day now. fix that in the lake prices, the week price stays",
            "lake/website/prices.md",
            PRICES.replace("500", "550"),
        ),
    ],
)
def test_what_a_text_says_is_put_right_in_one_place(
    home: Home, bundled: Model, folder: Path, goal: str, path: str, text: str
) -> None:
    before = {one: one.read_text() for one in folder.rglob("*.*")}
    made = compile_goal(goal, home=home, model=bundled, at=AT, zone="Europe/Stockholm")
    assert isinstance(made, Compiled), (goal, made)
    accept(made.intent.id, home=home)
    assert run(made.intent.id, home=home, people=AlwaysApprove()).state == "completed"
    assert {one: one.read_text() for one in before} == before | {folder / path: text}


@pytest.mark.parametrize(
    "goal",
    [
        "The sign says 40 for waffles and 14 for the time. It is 45. Put it right.",
        "the sign says 33 and it is 45. correct it",
    ],
)
def test_nothing_is_put_right_where_it_is_not_clear_what(
    home: Home, bundled: Model, folder: Path, goal: str
) -> None:
    made = compile_goal(goal, home=home, model=bundled, at=AT, zone="Europe/Stockholm")
    if isinstance(made, Compiled):
        assert not {"45"} & {one.value for one in made.intent.frame.objects if one.name == "new"}, goal
