"""The journal against who can write its file and holds no key: what verify says, and what a run does then.

Nothing that nobody approved happens, and nothing happens twice, whatever was kept outside: what this machine
has seen (the folder of states), and the signed heads in the file.
"""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tampering import file_of, refit, take_out
from walks import Says, Walks, probe, sequence, tool

from executor import Bench, Home, JournalError, Statement, WalkError
from ir import IntentCancelBody

APPENDS = sequence("root", tool("n1", "test/append", "write"), tool("n2", "time/now"))


@dataclass
class Place:
    """A home whose rows were written in other processes, and what its append did."""

    path: Path
    states: Path
    made: list[str] = field(default_factory=list)
    dies: bool = False
    intent: str = ""

    def opened(self) -> Home:
        return Home.open(self.path / "home", state=self.states)

    def walks(self, home: Home) -> Walks:
        async def append(args: Mapping[str, object], bench: Bench) -> dict[str, object]:
            self.made.append(bench.node_id)
            if self.dies:
                raise KeyboardInterrupt
            return {}

        walks = Walks(home, self.path / "work")
        walks.tools.append(probe("append", append, idempotent=False, effects=("write",)))
        return walks

    def rows(self, *kinds: str) -> list[int]:
        with self.opened() as home:
            return [row.seq for row in home.journal.rows(self.intent) if row.kind in kinds]


def cancelled(place: Place) -> None:
    with place.opened() as home:
        walks = place.walks(home)
        place.intent = walks.accept(APPENDS)
        home.journal.tell(place.intent, Statement("intent.cancel", IntentCancelBody(home.clock.now())))
        home.journal.head()


def completed(place: Place) -> None:
    with place.opened() as home:
        walks = place.walks(home)
        place.intent = walks.accept(APPENDS)
        assert walks.run(place.intent).state == "completed"


def interrupted(place: Place) -> None:
    place.dies = True
    with place.opened() as home:
        walks = place.walks(home)
        place.intent = walks.accept(APPENDS)
        with pytest.raises(KeyboardInterrupt):
            walks.run(place.intent)
    place.dies = False


def follow(place: Place) -> None:
    """Something stands behind it."""
    with place.opened() as home:
        home.journal.record("record.example", {})
        place.walks(home).propose(APPENDS)


def without(*kinds: str) -> Callable[[Place, bool], None]:
    def tamper(place: Place, heads: bool) -> None:
        rows = place.rows(*kinds)
        assert rows
        take_out(place.path / "home", *rows, heads=heads)

    return tamper


def replaced(*kinds: str) -> Callable[[Place, bool], None]:
    """The same number of rows: what is taken out is filled up with rows of no weight."""

    def tamper(place: Place, heads: bool) -> None:
        rows = place.rows(*kinds)
        with file_of(place.path / "home") as file:
            for row in rows:
                file.execute(
                    "UPDATE journal SET intent = NULL, kind = 'record.example', wire = x'00', leaf = ? "
                    "WHERE seq = ?",
                    (bytes(32), row),
                )
            refit(file, heads=heads)

    return tamper


def hidden(*kinds: str) -> Callable[[Place, bool], None]:
    """The bytes stay; the column says that they are about something else."""

    def tamper(place: Place, heads: bool) -> None:
        rows = place.rows(*kinds)
        with file_of(place.path / "home") as file:
            file.executemany("UPDATE journal SET intent = NULL WHERE seq = ?", [(row,) for row in rows])
            refit(file, heads=heads)

    return tamper


def cut(*kinds: str) -> Callable[[Place, bool], None]:
    def tamper(place: Place, heads: bool) -> None:
        first = min(place.rows(*kinds))
        with file_of(place.path / "home") as file:
            file.execute("DELETE FROM journal WHERE seq >= ?", (first,))
            refit(file, heads=heads)

    return tamper


RUN = ("plan.step", "intent.attest")
TABLE = {
    "the cancel of an accepted intent": (cancelled, without("intent.cancel")),
    "the steps and the end of a completed append": (completed, without(*RUN)),
    "the start of an interrupted call": (interrupted, without("plan.step")),
    "the cancel, filled up": (cancelled, replaced("intent.cancel")),
    "the run, filled up": (completed, replaced(*RUN)),
    "the start, filled up": (interrupted, replaced("plan.step")),
    "the cancel, hidden": (cancelled, hidden("intent.cancel")),
    "the run, hidden": (completed, hidden(*RUN)),
}


@pytest.fixture
def place(tmp_path: Path) -> Place:
    (tmp_path / "work").mkdir()
    return Place(tmp_path, tmp_path / "states")


def holds(place: Place, before: list[str]) -> None:
    """Nothing more happens, whoever runs it, and however often."""
    for resume in (False, True):
        with place.opened() as home:
            with pytest.raises(WalkError) as caught:
                place.walks(home).run(place.intent, resume=resume, people=Says(None))
            assert (caught.value.code, caught.value.exit) == ("VERIFICATION_FAILED", 6)
            assert place.made == before


@pytest.mark.parametrize("heads", [True, False], ids=["heads kept", "heads dropped"])
@pytest.mark.parametrize(
    ("followed", "states"),
    # Rows cut off the end where nothing outside was kept are an older copy: nothing can show it.
    [(True, True), (True, False), (False, True)],
    ids=["followed", "followed, states lost", "last"],
)
@pytest.mark.parametrize("what", TABLE)
def test_what_is_taken_out_or_hidden_is_found_and_no_run_obeys(
    place: Place, what: str, followed: bool, states: bool, heads: bool
) -> None:
    prepare, tamper = TABLE[what]
    prepare(place)
    if followed:
        follow(place)
    before = list(place.made)
    tamper(place, heads)
    if not states:
        shutil.rmtree(place.states)
    with place.opened() as home:
        assert not home.journal.verify().ok
    holds(place, before)


@pytest.mark.parametrize("what", ["cancelled", "completed", "interrupted"])
def test_a_tail_cut_off_or_an_older_copy_is_told_at_the_open_with_its_place_and_nothing_is_written(
    place: Place, what: str
) -> None:
    {"cancelled": cancelled, "completed": completed, "interrupted": interrupted}[what](place)
    kind = "intent.cancel" if what == "cancelled" else "plan.step"
    before, first = list(place.made), min(place.rows(kind))
    cut(kind)(place, False)
    with place.opened() as home:
        assert home.journal.trouble is not None
        told = home.journal.trouble
        assert (told.code, told.place) == ("JOURNAL_ROLLED_BACK", f"journal:{first}")
        assert "mcl log restored" in told.fix
        with pytest.raises(JournalError) as caught:
            home.journal.record("record.example", {})
        assert caught.value.code == "JOURNAL_ROLLED_BACK"
    holds(place, before)


def test_a_backup_that_a_person_restored_is_gone_on_from_and_shown_ever_after(place: Place) -> None:
    cancelled(place)
    shutil.copytree(place.path / "home", place.path / "backup")
    with place.opened() as home:
        size = home.journal.size()
        home.journal.record("record.example", {})
    shutil.rmtree(place.path / "home")
    (place.path / "backup").rename(place.path / "home")
    with place.opened() as home:
        assert home.journal.trouble is not None
        row = home.journal.restored()
        assert (row.kind, row.seq, home.journal.trouble) == ("record.journal.restored", size + 1, None)
        assert home.journal.open(row.wire).from_ == home.keyring.user.did
        home.journal.record("record.example", {})
    with place.opened() as home:
        report = home.journal.verify()
        assert (report.findings, [seq for seq, _ in report.notes]) == ([], [size + 1])
        with pytest.raises(JournalError) as caught:
            home.journal.restored()
        assert caught.value.code == "NOT_ROLLED_BACK"


@pytest.mark.parametrize("how", ["gone", "gap", "damaged"])
def test_a_break_that_a_person_accepted_is_gone_on_from_and_shown_ever_after(place: Place, how: str) -> None:
    cancelled(place)
    follow(place)
    home_path = place.path / "home"
    with file_of(home_path) as file:
        if how == "damaged":
            wire = file.execute("SELECT wire FROM journal WHERE seq = 2").fetchone()[0]
            file.execute("UPDATE journal SET wire = ? WHERE seq = 2", (wire[:-1] + bytes((wire[-1] ^ 1,)),))
        else:
            file.execute("DELETE FROM journal WHERE seq = 2")
        if how == "gone":
            refit(file)
    with place.opened() as home:
        report = home.journal.verify()
        assert {one.seq for one in report.findings} >= {2}
        for row in sorted({one.seq for one in report.findings if one.seq}):
            if any(one.seq == row for one in home.journal.verify().findings):
                assert home.journal.accept_break(row).kind == "record.journal.break_accepted"
        assert home.journal.verify().findings == []
        home.journal.record("record.example", {})
    with place.opened() as home:
        assert home.journal.trouble is None
        report = home.journal.verify()
        assert report.findings == []
        assert any("row 2 does not hold" in told for _, told in report.notes)
        with pytest.raises(JournalError) as caught:
            home.journal.accept_break(1)
        assert caught.value.code == "NO_BREAK"
    take_out(home_path, 3)  # what was accepted was that break, of just those rows
    with place.opened() as home:
        assert not home.journal.verify().ok


def test_a_folder_of_states_that_was_lost_is_told_once_and_said_in_the_journal(place: Place) -> None:
    cancelled(place)
    shutil.rmtree(place.states)
    with place.opened() as home:
        size = home.journal.size()
        assert "nothing was known here" in home.journal.notice
    with place.opened() as home:  # nothing is written by looking
        assert (home.journal.notice, home.journal.size()) == ("", size)
        home.journal.record("record.example", {})
        assert [row.kind for row in home.journal.rows(after=size)] == [
            "record.journal.unseen",
            "record.example",
        ]
    with place.opened() as home:
        home.journal.record("record.example", {})
        report = home.journal.verify()
        assert (report.findings, [seq for seq, _ in report.notes], report.rows) == ([], [size + 1], size + 3)


def test_processes_that_write_at_once_never_leave_what_was_seen_ahead_of_what_is_there(place: Place) -> None:
    with place.opened() as first, place.opened() as second:
        size = first.journal.size()
        for turn in range(20):
            (first, second)[turn % 2].journal.record("record.example", {"n": turn})
            seen = place.states / "heads"
            [rows] = seen.glob("*.rows")
            connection = sqlite3.connect(place.path / "home/mcl.db")
            assert (
                rows.stat().st_size // 48 <= connection.execute("SELECT count(*) FROM journal").fetchone()[0]
            )
            connection.close()
        assert first.journal.verify().ok
    with place.opened() as home:
        assert home.journal.trouble is None
        assert (home.journal.verify().rows, home.journal.verify().notes) == (size + 20, [])


def test_what_was_seen_is_for_its_owner_alone_and_a_copy_is_another_home(place: Place) -> None:
    cancelled(place)
    files = list((place.states / "heads").iterdir())
    assert files
    assert all(one.stat().st_mode & 0o077 == 0 for one in (*files, place.states / "heads"))
    shutil.copytree(place.path / "home", place.path / "copy")
    with Home.open(place.path / "copy", state=place.states) as copy:
        copy.journal.record("record.example", {})
    with place.opened() as home:
        assert home.journal.trouble is None
        home.journal.record("record.other", {})
        assert home.journal.verify().ok
