"""A home whose clock goes where a test wants it, and schedules in it."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import pytest

from executor import FixedClock, Home
from executor.core.clock import instant
from executor.gate.grants import Grants
from mcl.core.home import open_home
from mcl.plugins.schedules.rounds import Happened, round_of
from mcl.plugins.schedules.scope import Terms
from mcl.plugins.schedules.usecases import add, proposal, sign

ZONE = "Europe/Stockholm"
# Whatever the matcher learns, what is asked for is said beforehand.
FIXED = {"text": "invoice", "folder": "notes", "pattern": "*"}
START = "2027-03-22T08:00:00.000Z"  # a Monday, nine in Stockholm; the clocks change on the 28th


class Machine:
    """A home that is opened anew for each act, at a moment of its own."""

    def __init__(self, path: Path) -> None:
        self.path, self.now, self.work = path, datetime.fromisoformat(START), path / "work"
        (self.work / "notes").mkdir(parents=True)
        (self.work / "notes" / "a.md").write_text("an invoice\n")
        open_home(path / "home", unattended=True).close()

    def open(self) -> Home:
        self.now += timedelta(seconds=1)  # no id comes twice
        return Home.open(self.path / "home", clock=FixedClock(self.now.isoformat()))

    def add(self, goal: str, *, skill: str = "files-find", **terms: object) -> str:
        with self.open() as home:
            given = Terms(**{"workspace": str(self.work), **terms})  # type: ignore[arg-type]
            slots = FIXED if skill == "files-find" else {}
            made = add(goal, given, zone=ZONE, skill=skill, slots=slots, ai=False, home=home)
            return made.require().intent.id

    def sign(self, intent: str) -> None:
        with self.open() as home:
            sign(proposal(intent, home=home), home=home)

    def signed(self, goal: str, **terms: object) -> str:
        intent = self.add(goal, **terms)
        self.sign(intent)
        return intent

    def round(self, at: str = "") -> list[Happened]:
        if at:
            self.now = datetime.fromisoformat(at)
        with self.open() as home:
            return list(round_of(home))

    def at(self) -> str:
        return instant(self.now)

    def states(self, schedule: str) -> list[str]:
        with self.open() as home:
            return [home.journal.view(one).state for one in home.journal.view(schedule).firings]

    def sound(self) -> bool:
        with self.open() as home:
            return home.journal.verify().ok

    def grant(self, name: str) -> None:
        with self.open() as home:
            Grants(home).give(home.keyring.agent.did, name)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(tmp_path)
    monkeypatch.chdir(made.work)  # names in a goal are those of the folder one is in
    return made
