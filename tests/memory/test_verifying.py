"""All memories are checked from their bytes, and what is wrong is told with its place."""

from __future__ import annotations

import random
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from executor import FixedClock, Home
from executor.core.errors import HomeError
from executor.store.journal.record import Record, seal_record
from mcl.core.errors import MemoryStoreError
from mcl.memory import MemoryStore
from mcl.memory.memory import Memory
from mcl.memory.proof import prove
from mcl.memory.words import document_in
from mcl.plugins.memories.verification import MemoryReport, verify_home
from tests.memory.conftest import AT


@pytest.fixture
def filled(home: Home, cortex: MemoryStore) -> Home:
    for place in range(8):
        cortex.put("Fact", f"the invoice of month {place} was paid", id=f"m{place}", tags=("money",))
    cortex.put("Fact", "the invoice of month 3 is open", id="m3")
    cortex.forget("matrix://cortex/Fact/m5")
    return home


def flaws(home: Home) -> set[tuple[str, str]]:
    return {(flaw.code, flaw.place) for flaw in verify_home(home).flaws}


def force(home: Home, *statements: str) -> None:
    """Do what the triggers forbid."""
    connection = sqlite3.connect(home.path / "mcl.db")
    for name in ("journal_keeps", "journal_stays"):
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_sound_memories_are_counted_and_nothing_is_wrong(filled: Home) -> None:
    report = verify_home(filled)
    assert report.flaws == []
    assert (report.mutations, report.records, report.memories) == (10, 10, 7)
    assert report.root == MemoryStore(filled).snapshot().root


def test_an_empty_home_has_nothing_wrong(home: Home) -> None:
    MemoryStore(home)
    assert verify_home(home) == MemoryReport()


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE memories SET type = 'Goal' WHERE seq = 4", ("INDEX_MISMATCH", "index 4")),
        ("UPDATE memories SET id = 'zz' WHERE seq = 4", ("INDEX_MISMATCH", "index 4")),
        ("UPDATE memories SET words = 99 WHERE seq = 4", ("INDEX_MISMATCH", "index 4")),
        ("UPDATE memories SET forgotten = 1 WHERE seq = 4", ("INDEX_MISMATCH", "index 4")),
        ("UPDATE memories SET version = 7 WHERE seq = 4", ("INDEX_MISMATCH", "index 4")),
        ("UPDATE memories SET root = zeroblob(32) WHERE seq = 4", ("INDEX_MISMATCH", "index 4")),
        ("UPDATE memories SET record = 'another' WHERE seq = 4", ("INDEX_MISMATCH", "index 4")),
        ("UPDATE memory_tree SET peaks = x'00'", ("INDEX_MISMATCH", "index 0")),
        ("UPDATE memory_tree SET size = 3", ("INDEX_MISMATCH", "index 0")),
        ("DELETE FROM memories WHERE seq = 10", ("INDEX_MISMATCH", "index 10")),
        ("DELETE FROM memories WHERE seq = 4", ("INDEX_MISMATCH", "index 4")),
        ("DELETE FROM journal WHERE seq = 10", ("RECORD_MISSING", "memory 10")),
        ("DELETE FROM journal WHERE seq = 4", ("SEQUENCE", "memory 4")),
        (
            "UPDATE journal SET wire = CAST(substr(wire, 1, 200) || x'00' || substr(wire, 202) AS BLOB) "
            "WHERE seq = 4",
            ("BAD_SIGNATURE", "journal 4"),
        ),
        ("UPDATE memories SET until = NULL WHERE seq = 4", ("INDEX_MISMATCH", "index 4")),
        ("UPDATE memories SET importance = 1.0 WHERE seq = 4", ("INDEX_MISMATCH", "index 4")),
        ("INSERT INTO memory_words (rowid, words) VALUES (4, 'gold')", ("INDEX_MISMATCH", "index 4")),
    ],
)
def test_whatever_is_changed_is_told_with_its_place(
    filled: Home, statement: str, found: tuple[str, str]
) -> None:
    force(filled, statement)
    assert found in flaws(filled)


def resign(home: Home, seq: int, **changed: object) -> None:
    """Have the agent sign another body in a row, as a program that has the home's key could."""
    row = home.journal.numbered(seq)
    told = home.journal.open(row.wire)
    assert isinstance(told, Record)
    body = {**told.body, **changed}
    made = seal_record(told.kind, body, id=told.id, at=told.at, signer=home.keyring.agent)
    force(home)
    with home.db.write() as connection:
        connection.execute("UPDATE journal SET wire = ? WHERE seq = ?", (made.wire, seq))


@pytest.mark.parametrize(
    ("changed", "code"),
    [
        ({"document": b"{}"}, "MEMORY_DOCUMENT"),
        ({"document": b"\xff"}, "MEMORY_DOCUMENT"),
        ({"size": 9}, "SEQUENCE"),
        ({"root": bytes(32)}, "ROOT_MISMATCH"),
        ({"uri": "matrix://cortex/Fact/m9@v1"}, "RECORD_MISMATCH"),
        (
            {"document": Memory("Fact", "m3", 7, AT, "signed anew").document()},
            "VERSION_GAP",
        ),
    ],
)
def test_what_was_signed_anew_does_not_fit_the_rest(
    filled: Home, changed: dict[str, object], code: str
) -> None:
    resign(filled, 4, **changed)
    assert (code, "memory 4") in flaws(filled)


def test_a_document_that_was_signed_anew_does_not_fit_the_roots(filled: Home) -> None:
    """Even where the index is made right again: every later root still says what was."""
    was = Memory.of_document(document_in(filled.journal.numbered(3).wire), 3)
    resign(filled, 3, document=replace(was, text=was.text.replace("paid", "owed")).document())
    MemoryStore(filled).index_again()
    assert {("ROOT_MISMATCH", f"memory {seq}") for seq in range(3, 11)} <= flaws(filled)


def test_a_broken_index_is_made_again_from_the_memories(filled: Home) -> None:
    cortex = MemoryStore(filled)
    before = cortex.memories().find(near="invoice month", limit=20)
    force(filled, "DELETE FROM memories", "INSERT INTO memory_words (memory_words) VALUES ('delete-all')")
    assert not verify_home(filled).ok
    cortex.index_again()
    assert verify_home(filled).flaws == []
    assert cortex.memories().find(near="invoice month", limit=20) == before


def test_the_journal_alone_gives_the_memories_back(filled: Home, tmp_path: Path) -> None:
    records = [
        filled.journal.open(row.wire).body
        for row in filled.journal.rows()
        if row.kind.startswith("record.cortex.")
    ]
    memories = [Memory.of_document(body["document"]) for body in records]
    with Home.open(tmp_path / "again", clock=FixedClock(AT)) as again:
        cortex = MemoryStore(again)
        cortex.write(memories)
        assert cortex.snapshot() == MemoryStore(filled).snapshot()
        near = "invoice month"
        assert cortex.memories().find(near=near) == MemoryStore(filled).memories().find(near=near)


def logical(path: Path) -> object:
    """Everything that is remembered, and what finding goes by."""
    connection = sqlite3.connect(path)
    connection.text_factory = bytes
    try:
        return [
            connection.execute(sql).fetchall()
            for sql in (
                "SELECT * FROM memories NOT INDEXED ORDER BY seq",
                "SELECT * FROM memory_tree",
                "SELECT term, doc FROM memory_terms ORDER BY term, doc",
                "SELECT seq, wire FROM journal NOT INDEXED ORDER BY seq",
            )
        ]
    finally:
        connection.close()


@pytest.fixture
def whole(filled: Home) -> Path:
    """The home's one file, closed."""
    with filled.db.write() as connection:
        connection.execute("CREATE TABLE spare (x)")
    filled.close()
    connection = sqlite3.connect(filled.path / "mcl.db")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    return filled.path


def test_any_flipped_bit_of_the_file_is_told_unless_it_changes_nothing(whole: Path, tmp_path: Path) -> None:
    file = whole / "mcl.db"
    good, truth = file.read_bytes(), logical(file)
    chance = random.Random(11)
    told = 0
    for _ in range(60):
        broken = bytearray(good)
        place = chance.randrange(100, len(good))
        broken[place] ^= 1 << chance.randrange(8)
        shutil.rmtree(tmp_path / "broken", ignore_errors=True)
        shutil.copytree(whole, tmp_path / "broken")
        (tmp_path / "broken" / "mcl.db").write_bytes(bytes(broken))
        try:
            with Home.open(tmp_path / "broken", clock=FixedClock(AT)) as home:
                report = verify_home(home)
                ok = report.ok
        except HomeError:
            ok = False
        if ok:
            assert logical(tmp_path / "broken" / "mcl.db") == truth
        told += not ok
    assert told > 5


def test_a_home_of_before_gets_its_index_from_the_journal(filled: Home) -> None:
    """Where memories and their tree lay in tables of their own."""
    cortex = MemoryStore(filled)
    before = cortex.snapshot(), cortex.memories().find(near="invoice month", limit=20)
    proof = prove(cortex, "matrix://cortex/Fact/m3", since=cortex.snapshot(2))
    with filled.db.write() as connection:
        for table in ("memories", "memory_tree", "memory_terms", "memory_words"):
            connection.execute(f"DROP TABLE {table}")
        connection.execute("CREATE TABLE cortex_memories (seq INTEGER PRIMARY KEY)")
        connection.execute("UPDATE components SET version = 2 WHERE name = 'cortex'")
    path = filled.path
    filled.close()
    with Home.open(path, clock=FixedClock(AT)) as home:
        cortex = MemoryStore(home)
        assert (cortex.snapshot(), cortex.memories().find(near="invoice month", limit=20)) == before
        assert verify_home(home).flaws == []
        assert prove(cortex, "matrix://cortex/Fact/m3", since=cortex.snapshot(2)) == proof
        assert home.db.read("SELECT name FROM sqlite_schema WHERE name LIKE 'cortex%'") == []
        assert cortex.put("Fact", "new", id="m1").version == 2


def test_nothing_is_signed_over_an_index_that_was_changed(filled: Home) -> None:
    force(filled, "DELETE FROM memories WHERE seq = 10")
    with pytest.raises(MemoryStoreError) as caught:
        MemoryStore(filled).put("Fact", "one more")
    assert caught.value.code == "INDEX_MISMATCH"
    MemoryStore(filled).index_again()
    assert MemoryStore(filled).put("Fact", "one more").seq == 11
    assert verify_home(filled).flaws == []
