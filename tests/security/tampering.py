"""Whoever can write the database file, and holds no key: rows taken out, put in, cut off; all made to fit."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from executor.store.journal.merkle import Frontier


@contextmanager
def file_of(home: Path) -> Iterator[sqlite3.Connection]:
    """The database file past all rules; afterwards everything is as it was, but for what was done."""
    connection = sqlite3.connect(home / "mcl.db", isolation_level=None)
    rules = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'").fetchall()
    for name, _ in rules:
        connection.execute(f"DROP TRIGGER {name}")
    try:
        yield connection
    finally:
        for _, sql in rules:
            connection.execute(sql)
        connection.close()


def refit(file: sqlite3.Connection, *, heads: bool = False) -> None:
    """Number the rows anew and make the tree fit; heads: keep the signed heads."""
    for new, (old,) in enumerate(file.execute("SELECT seq FROM journal ORDER BY seq").fetchall(), 1):
        file.execute("UPDATE journal SET seq = ? WHERE seq = ?", (new, old))
    tree = Frontier.of(leaf for (leaf,) in file.execute("SELECT leaf FROM journal ORDER BY seq"))
    file.execute("UPDATE tree SET size = ?, peaks = ?, root = ?", (tree.size, tree.to_bytes(), tree.root()))
    if not heads:
        file.execute("DELETE FROM heads")


def take_out(home: Path, *rows: int, heads: bool = False) -> None:
    """Take rows out of the journal, as if they had never been."""
    with file_of(home) as file:
        file.executemany("DELETE FROM journal WHERE seq = ?", [(row,) for row in rows])
        refit(file, heads=heads)
