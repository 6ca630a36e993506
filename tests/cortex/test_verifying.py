"""All memories are checked from their bytes, and what is wrong is told with its place."""

from __future__ import annotations

import random
import shutil
import sqlite3
from pathlib import Path

import pytest

from executor import FixedClock, Home
from executor.core.errors import HomeError
from mcl.memory import Cortex
from mcl.memory.memory import Memory
from mcl.memory.store import STEPS
from mcl.memory.verification import CortexReport, verify_home
from tests.cortex.conftest import AT


@pytest.fixture
def filled(home: Home, cortex: Cortex) -> Home:
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
    for name in ("cortex_never_changes", "cortex_never_deletes", "journal_keeps", "journal_stays"):
        connection.execute(f"DROP TRIGGER IF EXISTS {name}")
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def test_sound_memories_are_counted_and_nothing_is_wrong(filled: Home) -> None:
    report = verify_home(filled)
    assert report.flaws == []
    assert (report.mutations, report.records, report.memories) == (10, 10, 7)
    assert report.root == Cortex(filled).snapshot().root


def test_an_empty_home_has_nothing_wrong(home: Home) -> None:
    Cortex(home)
    assert verify_home(home) == CortexReport()


@pytest.mark.parametrize(
    ("statement", "found"),
    [
        ("UPDATE cortex_memories SET type = 'Goal' WHERE seq = 4", ("COLUMN_MISMATCH", "memory 4")),
        ("UPDATE cortex_memories SET id = 'zz' WHERE seq = 4", ("COLUMN_MISMATCH", "memory 4")),
        ("UPDATE cortex_memories SET words = 99 WHERE seq = 4", ("COLUMN_MISMATCH", "memory 4")),
        ("UPDATE cortex_memories SET forgotten = 1 WHERE seq = 4", ("COLUMN_MISMATCH", "memory 4")),
        ("UPDATE cortex_memories SET version = 7 WHERE seq = 4", ("COLUMN_MISMATCH", "memory 4")),
        ("UPDATE cortex_memories SET leaf = zeroblob(32) WHERE seq = 4", ("LEAF_MISMATCH", "memory 4")),
        ("UPDATE cortex_memories SET root = zeroblob(32) WHERE seq = 4", ("ROOT_MISMATCH", "memory 4")),
        ("UPDATE cortex_memories SET peaks = x'00' WHERE seq = 4", ("ROOT_MISMATCH", "memory 4")),
        (
            "UPDATE cortex_memories SET document = CAST(replace(document, 'paid', 'owed') AS BLOB) "
            "WHERE seq = 4",
            ("RECORD_MISMATCH", "memory 4"),
        ),
        ("UPDATE cortex_memories SET document = x'7b7d' WHERE seq = 4", ("MEMORY_DOCUMENT", "memory 4")),
        ("UPDATE cortex_memories SET document = x'ff' WHERE seq = 4", ("MEMORY_DOCUMENT", "memory 4")),
        ("DELETE FROM cortex_memories WHERE seq = 10", ("MEMORY_MISSING", "journal 10")),
        ("DELETE FROM cortex_memories WHERE seq = 4", ("SEQUENCE", "memory 4")),
        ("DELETE FROM journal WHERE seq = 10", ("RECORD_MISSING", "memory 10")),
        (
            "UPDATE journal SET wire = CAST(substr(wire, 1, 200) || x'00' || substr(wire, 202) AS BLOB) "
            "WHERE seq = 4",
            ("BAD_SIGNATURE", "journal 4"),
        ),
        ("UPDATE cortex_versions SET until = NULL WHERE seq = 4", ("INDEX_MISMATCH", "index 4")),
        ("UPDATE cortex_versions SET importance = 1.0 WHERE seq = 4", ("INDEX_MISMATCH", "index 4")),
        ("DELETE FROM cortex_versions WHERE seq = 4", ("INDEX_MISMATCH", "index 4")),
        ("INSERT INTO cortex_words (rowid, words) VALUES (4, 'gold')", ("INDEX_MISMATCH", "index 4")),
        ("UPDATE cortex_indexed SET seq = 3", ("INDEX_MISMATCH", "index 0")),
    ],
)
def test_whatever_is_changed_is_told_with_its_place(
    filled: Home, statement: str, found: tuple[str, str]
) -> None:
    force(filled, statement)
    assert found in flaws(filled)


def test_a_whole_history_that_was_written_anew_does_not_fit_the_journal(filled: Home) -> None:
    """Leaf, root and peaks made right again: the signed record still says what was."""
    from executor.store.journal.merkle import Frontier, leaf_hash

    force(filled)
    rows = filled.db.read("SELECT seq, document FROM cortex_memories ORDER BY seq")
    tree = Frontier()
    for seq, document in rows:
        document = document.replace(b"month 2 was paid", b"month 2 was owed")
        tree.append(leaf_hash(document))
        with filled.db.write() as connection:
            connection.execute(
                "UPDATE cortex_memories SET document = ?, leaf = ?, root = ?, peaks = ? WHERE seq = ?",
                (document, leaf_hash(document), tree.root(), tree.to_bytes(), seq),
            )
    Cortex(filled).index_again()
    assert ("RECORD_MISMATCH", "memory 3") in flaws(filled)


def test_a_broken_index_is_made_again_from_the_memories(filled: Home) -> None:
    cortex = Cortex(filled)
    before = cortex.memories().find(near="invoice month", limit=20)
    force(
        filled, "DELETE FROM cortex_versions", "INSERT INTO cortex_words (cortex_words) VALUES ('delete-all')"
    )
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
        cortex = Cortex(again)
        cortex.write(memories)
        assert cortex.snapshot() == Cortex(filled).snapshot()
        near = "invoice month"
        assert cortex.memories().find(near=near) == Cortex(filled).memories().find(near=near)


def logical(path: Path) -> object:
    """Everything that is remembered, and what finding goes by."""
    connection = sqlite3.connect(path)
    connection.text_factory = bytes
    try:
        return [
            connection.execute(sql).fetchall()
            for sql in (
                "SELECT * FROM cortex_memories NOT INDEXED ORDER BY seq",
                "SELECT * FROM cortex_versions NOT INDEXED ORDER BY seq",
                "SELECT term, doc FROM cortex_terms ORDER BY term, doc",
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


def test_a_home_of_the_first_form_is_indexed_when_it_is_opened(home: Home) -> None:
    home.db.migrate("cortex", STEPS[:1])
    memories = [Memory("Fact", f"m{n}", 1, AT, f"old fact {n}", seq=n) for n in (1, 2)]
    with home.db.write() as connection:
        from executor.store.journal.merkle import Frontier, leaf_hash

        tree = Frontier()
        for one in memories:
            tree.append(leaf_hash(one.document()))
            row = (one.seq, one.type, one.id, 1, 0, 4, one.document(), leaf_hash(one.document()))
            connection.execute(
                "INSERT INTO cortex_memories VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*row, tree.root(), tree.to_bytes()),
            )
            body = {"uri": one.uri, "document": one.document(), "size": one.seq, "root": tree.root()}
            home.journal.record("record.cortex.put", body)
    cortex = Cortex(home)
    assert [one.id for one in cortex.memories().find(near="old fact 2")] == ["m2", "m1"]
    assert verify_home(home).flaws == []
    assert cortex.put("Fact", "new", id="m1").version == 2
