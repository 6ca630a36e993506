"""Rows that are taken out, put in or exchanged by somebody without a key, with all else made to fit."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from nacl.signing import SigningKey
from tampering import file_of, refit, take_out
from walks import Says, Walks, gate, sequence, tool

import ir
from executor import Home, Statement
from executor.store.journal.rows import BOUND, CHAINED
from ir import IntentCancelBody, IntentDraftBody

PLAN = sequence(
    "root", tool("n1", "fs/write", "write", path="a.txt", content="a"), gate("n2"), tool("n3", "time/now")
)


@pytest.fixture
def told(walks: Walks) -> Walks:
    """A home with a run to its end, a cancelled intent and a proposed one."""
    walks.go(PLAN, people=Says("approve", "approve"))
    cancelled = walks.accept(tool("n1", "fs/write", "write", path="b.txt", content="b"))
    body = IntentCancelBody(walks.home.clock.now())
    walks.home.journal.tell(cancelled, Statement("intent.cancel", body))
    walks.propose(PLAN)
    return walks


def copy_of(walks: Walks, name: str) -> Path:
    walks.home.db.read("PRAGMA wal_checkpoint(TRUNCATE)")
    place = walks.home.path.with_name(name)
    shutil.copytree(walks.home.path, place)
    return place


@pytest.mark.parametrize("heads", [False, True])
def test_whichever_row_of_the_middle_is_taken_out_it_is_found(told: Walks, heads: bool) -> None:
    size = told.home.journal.size()
    assert told.home.journal.verify().ok
    for row in range(1, size):
        place = copy_of(told, f"without-{row}")
        take_out(place, row, heads=heads)
        with Home.open(place) as home:
            found = {(one.code, one.seq) for one in home.journal.verify().findings}
        assert ("CHAIN_BROKEN", row) in found, row


def test_rows_next_to_each_other_that_are_exchanged_are_found(told: Walks) -> None:
    for row in range(1, told.home.journal.size()):
        place = copy_of(told, f"exchanged-{row}")
        with file_of(place) as file:
            for old, new in ((row, -1), (row + 1, row), (-1, row + 1)):
                file.execute("UPDATE journal SET seq = ? WHERE seq = ?", (new, old))
            refit(file)
        with Home.open(place) as home:
            assert "CHAIN_BROKEN" in {one.code for one in home.journal.verify().findings}, row


def test_what_others_signed_is_bound_by_a_row_of_ours_and_counts_nowhere_else(told: Walks) -> None:
    home = told.home
    key = SigningKey.generate()
    did = ir.did_of(bytes(key.verify_key))
    home.keyring.trust(did, "user")
    intent = home.clock.new_id()

    def draft() -> ir.Envelope:
        header = ir.Header(home.clock.new_id(), home.clock.now(), did, f"matrix://intent/{intent}")
        return ir.seal("intent.draft", IntentDraftBody("find it"), header, key)

    row = home.journal.append(draft())
    assert row.wire == draft().wire or not home.journal.open(row.wire).previous
    assert home.journal.rows(after=row.seq)[0].kind == BOUND
    assert home.journal.verify().ok
    intent = home.clock.new_id()
    stray = home.journal.append(draft())
    place = copy_of(told, "stray")
    take_out(place, stray.seq + 1)  # the row that binds it
    with Home.open(place) as other:
        assert ("CHAIN_BROKEN", stray.seq) in {(one.code, one.seq) for one in other.journal.verify().findings}


def test_a_row_put_in_that_is_signed_by_nobody_of_ours_is_found(told: Walks) -> None:
    """The person's own words of another time, signed, without a place: they count nowhere."""
    home = told.home
    unplaced = told.seal(home.clock.new_id(), "intent.draft", IntentDraftBody("find it"))
    for row in (1, 3, home.journal.size()):
        place = copy_of(told, f"with-{row}")
        with file_of(place) as file:
            file.execute("UPDATE journal SET seq = -1 - seq WHERE seq > ?", (row,))
            file.execute("UPDATE journal SET seq = -seq WHERE seq < 0")
            from executor.store.journal.rows import insert, row_of

            insert(file, row_of(unplaced, row + 1))
            refit(file)
        with Home.open(place) as other:
            found = {(one.code, one.seq) for one in other.journal.verify().findings}
        assert {("CHAIN_BROKEN", row + 1), ("CHAIN_BROKEN", row + 2)} & found


@pytest.mark.attended
def test_a_journal_of_before_is_bound_once_and_what_follows_is_chained(
    told: Walks, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = told.home.path.with_name("before")
    with Home.open(place) as home, monkeypatch.context() as before:
        before.setattr(
            "executor.store.journal.journal.read_end",
            lambda connection: _of_before(connection),
        )
        before.setattr("executor.store.journal.journal.begun", lambda *_: None)
        home.journal._end = (None, home.journal._end[1])
        walks = Walks(home, told.workspace)
        intent = walks.accept(PLAN)
        assert not any(home.journal.open(row.wire).previous for row in home.journal.rows())
        assert home.journal.verify().ok
    with Home.open(place) as home:
        size = home.journal.size()
        home.journal.record("record.example", {})
        home.journal.record("record.example", {})
        rows = home.journal.rows(after=size)
        assert [row.kind for row in rows] == [CHAINED, "record.example", "record.example"]
        assert home.journal.verify().ok
        assert home.journal.view(intent).state == "accepted"
    for row in range(1, size + 3):
        other = place.with_name(f"before-without-{row}")
        shutil.copytree(place, other)
        take_out(other, row)
        with Home.open(other) as home:
            assert "CHAIN_BROKEN" in {one.code for one in home.journal.verify().findings}, row


def _of_before(connection: object) -> object:
    from executor.store.journal.rows import read_end

    end = read_end(connection)  # type: ignore[arg-type]
    end.chained = False
    return end
