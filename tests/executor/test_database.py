"""The one SQLite file: durable or not at all, several processes, and every failure with a way out."""

from __future__ import annotations

import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from executor import Database, HomeError

STEPS = ["CREATE TABLE t (n INTEGER, note TEXT DEFAULT 'a;b'); INSERT INTO t VALUES (1, 'x;y');"]


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    opened = Database.open(tmp_path / "mcl.db")
    opened.migrate("part", STEPS)
    yield opened
    opened.close()


def numbers(db: Database) -> list[int]:
    return [number for (number,) in db.read("SELECT n FROM t ORDER BY n")]


def test_every_commit_is_written_through_in_a_file_that_only_its_owner_reads(db: Database) -> None:
    assert db.read("PRAGMA journal_mode") == [("wal",)]
    assert db.read("PRAGMA synchronous") == [(2,)]
    with db.write() as connection:
        connection.execute("INSERT INTO t (n) VALUES (2)")
    for file in db.path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_write_that_fails_leaves_no_trace(db: Database) -> None:
    with suppress(RuntimeError), db.write() as connection:
        connection.execute("INSERT INTO t (n) VALUES (2)")
        raise RuntimeError
    assert numbers(db) == [1]
    assert not db.writing


def test_a_write_inside_a_write_is_undone_alone_or_with_the_outer_one(db: Database) -> None:
    with db.write() as connection:
        connection.execute("INSERT INTO t (n) VALUES (2)")
        with suppress(RuntimeError), db.write():
            connection.execute("INSERT INTO t (n) VALUES (3)")
            raise RuntimeError
        with db.write():
            connection.execute("INSERT INTO t (n) VALUES (4)")
    assert numbers(db) == [1, 2, 4]
    with suppress(RuntimeError), db.write():
        with db.write() as connection:
            connection.execute("INSERT INTO t (n) VALUES (5)")
        raise RuntimeError
    assert numbers(db) == [1, 2, 4]


def test_threads_take_turns(db: Database) -> None:
    def add() -> None:
        for _ in range(5):
            with db.write() as connection:
                (most,) = connection.execute("SELECT max(n) FROM t").fetchone()
                connection.execute("INSERT INTO t (n) VALUES (?)", (most + 1,))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert numbers(db) == list(range(1, 22))


def test_a_snapshot_sees_one_moment_while_others_write(db: Database) -> None:
    with db.snapshot() as moment:
        before = moment.execute("SELECT count(*) FROM t").fetchone()
        with db.write() as connection:
            connection.execute("INSERT INTO t (n) VALUES (2)")
        assert moment.execute("SELECT count(*) FROM t").fetchone() == before == (1,)


def test_migrations_run_once_and_in_order(db: Database) -> None:
    more = [*STEPS, "ALTER TABLE t ADD COLUMN more TEXT; UPDATE t SET more = note"]
    for _ in range(2):
        db.migrate("part", more)
    assert db.read("SELECT * FROM t") == [(1, "x;y", "x;y")]


def test_a_migration_that_fails_changes_nothing(db: Database) -> None:
    with pytest.raises(HomeError):
        db.migrate("part", [*STEPS, "CREATE TABLE u (n INTEGER); SELECT nothing FROM nowhere"])
    assert db.read("SELECT count(*) FROM sqlite_schema WHERE name = 'u'") == [(0,)]
    db.migrate("part", [*STEPS, "CREATE TABLE u (n INTEGER)"])


def test_tables_of_a_later_program_are_refused(db: Database) -> None:
    db.migrate("part", [*STEPS, "CREATE TABLE u (n INTEGER)"])
    with pytest.raises(HomeError) as caught:
        db.migrate("part", STEPS)
    assert caught.value.code == "DATABASE_NEWER"
    assert caught.value.place == str(db.path)
    assert "newer" in caught.value.fix


@pytest.mark.parametrize(
    "content", [b"not a database at all, just some text " * 40, b"SQLite format 3\0" + b"\xff" * 4080]
)
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "mcl.db"
    path.write_bytes(content)
    with pytest.raises(HomeError) as caught:
        Database.open(path)
    assert caught.value.code == "DATABASE_CORRUPT"
    assert caught.value.exit == 6
    assert path.read_bytes() == content


def test_a_violated_constraint_is_the_callers_matter(db: Database) -> None:
    with db.write() as connection:
        connection.execute("CREATE UNIQUE INDEX once ON t (n)")
    with pytest.raises(sqlite3.IntegrityError), db.write() as connection:
        connection.execute("INSERT INTO t (n) VALUES (1)")


def test_another_process_waits_for_its_turn_instead_of_failing(db: Database) -> None:
    script = """
import sys
from pathlib import Path
from executor import Database
db = Database.open(Path(sys.argv[1]))
print("open", flush=True)
with db.write() as connection:
    connection.execute("INSERT INTO t (n) VALUES (3)")
"""
    with db.write() as connection:
        child = subprocess.Popen([sys.executable, "-c", script, str(db.path)], stdout=subprocess.PIPE)
        assert child.stdout
        assert child.stdout.readline() == b"open\n"
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.1)
        connection.execute("INSERT INTO t (n) VALUES (2)")
    assert child.wait(30) == 0
    child.stdout.close()
    assert numbers(db) == [1, 2, 3]


def test_a_forked_process_must_open_the_database_again(db: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.getpid", lambda: 1)
    with pytest.raises(HomeError) as caught:
        db.read("SELECT 1")
    assert caught.value.code == "DATABASE_FORKED"


def test_within_a_moment_a_question_is_asked_once_and_after_it_anew(tmp_path: Path) -> None:
    one, other = Database.open(tmp_path / "x.db"), Database.open(tmp_path / "x.db")
    with one.write() as connection:
        connection.execute("CREATE TABLE t (n INTEGER) STRICT")

    def add(database: Database, n: int) -> None:
        with database.write() as connection:
            connection.execute("INSERT INTO t VALUES (?)", (n,))

    def seen() -> list[int]:
        return [n for (n,) in one.read("SELECT n FROM t WHERE n < ? ORDER BY n", (10,))]

    with one.moment():
        assert seen() == []
        stamp = one.stamp("t")
        add(other, 1)
        assert seen() == []
        assert one.stamp("t") == stamp
        with one.moment():
            assert seen() == []
        with ThreadPoolExecutor(1) as threads:
            assert threads.submit(seen).result() == [1]  # the moment is this thread's alone
        add(one, 2)  # what is written here ends it
        assert seen() == [1, 2]
        with one.write() as connection:
            connection.execute("INSERT INTO t VALUES (3)")
            assert seen() == [1, 2, 3]
            connection.execute("INSERT INTO t VALUES (4)")
            assert seen() == [1, 2, 3, 4]
        assert seen() == [1, 2, 3, 4]
    add(other, 5)
    assert seen() == [1, 2, 3, 4, 5]
    assert one.stamp("t") != stamp


def test_a_stamp_differs_after_every_commit_that_could_matter(tmp_path: Path) -> None:
    one, other = Database.open(tmp_path / "x.db"), Database.open(tmp_path / "x.db")
    with one.write() as connection:
        connection.execute("CREATE TABLE t (n INTEGER) STRICT")
    stamps = [one.stamp("mine")]
    assert one.stamp("mine") == stamps[0]
    with one.write("theirs") as connection:
        connection.execute("INSERT INTO t VALUES (1)")
    assert one.stamp("mine") == stamps[0]
    for database, component in ((one, "mine"), (one, ""), (other, "theirs"), (other, "mine")):
        with database.write(component) as connection:
            connection.execute("INSERT INTO t VALUES (1)")
        stamps.append(one.stamp("mine"))
    assert len(set(stamps)) == 5


def test_room_in_the_log_changes_nothing_that_is_stored_and_what_follows_needs_no_more(
    tmp_path: Path,
) -> None:
    database, other = Database.open(tmp_path / "x.db"), Database.open(tmp_path / "x.db")
    with database.write() as connection:
        connection.execute("CREATE TABLE t (n INTEGER) STRICT")
        connection.execute("INSERT INTO t VALUES (1)")
    log = tmp_path / "x.db-wal"
    stamp = other.stamp("t")
    database.make_room(50)
    length = log.stat().st_size
    assert length >= 50 * 4 * 4096
    assert other.stamp("t") == stamp
    for _ in range(50):
        with database.write() as connection:
            connection.execute("INSERT INTO t VALUES (1)")
    assert log.stat().st_size == length
    database.make_room(20)  # there is room already
    assert log.stat().st_size == length
    assert other.read("SELECT count(*) FROM t") == [(51,)]
    assert other.read("SELECT name FROM sqlite_schema") == [("t",)]
    assert database.read("PRAGMA integrity_check") == [("ok",)]
    assert database.read("PRAGMA cache_size") == other.read("PRAGMA cache_size")


def test_a_process_that_dies_after_making_room_leaves_a_sound_file(tmp_path: Path) -> None:
    script = """
import os, sys
from pathlib import Path
from executor import Database
database = Database.open(Path(sys.argv[1]))
with database.write() as connection:
    connection.execute("CREATE TABLE t (n INTEGER) STRICT")
database.make_room(100)
for n in range(7):
    with database.write() as connection:
        connection.execute("INSERT INTO t VALUES (?)", (n,))
os.kill(os.getpid(), 9)
"""
    subprocess.run([sys.executable, "-c", script, str(tmp_path / "x.db")], check=False)
    database = Database.open(tmp_path / "x.db")
    assert database.read("SELECT n FROM t") == [(n,) for n in range(7)]
    assert database.read("PRAGMA integrity_check") == [("ok",)]


def test_within_a_transaction_no_room_is_made(tmp_path: Path) -> None:
    database = Database.open(tmp_path / "x.db")
    with database.write() as connection:
        connection.execute("CREATE TABLE t (n INTEGER) STRICT")
        database.make_room(100)
        connection.execute("INSERT INTO t VALUES (1)")
    assert database.read("SELECT n FROM t") == [(1,)]
