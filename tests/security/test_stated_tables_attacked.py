"""Whoever can write the database file and holds no key grants nothing, approves nothing, takes nothing back.

What stands in grants, pins, servers and used approvals is what rows of the journal say, or it is told, and
nothing runs until a person has it made what was signed.
"""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from walks import Walks, sequence, tool

from executor import Grants, Home, HomeError, JournalError, Pins, WalkError
from executor.gate.approvals import Approvals
from executor.store.journal.standing import Standing
from executor.store.journal.witness import heard
from executor.walker.dispatch import Agents
from mcl.catalog.servers import Servers

WRITES = sequence("root", tool("n1", "fs/write", "write", path="effect.txt", content="x"))
TABLES = (
    *("grants", "grants_hosts", "grants_roots", "grants_calls"),
    *("tool_pins", "tool_classes", "approvals_used", "agents", "servers"),
)

UNIQUE = {("grants_calls", "agent"), ("agents", "name"), ("servers", "name")}  # beside the keys


@pytest.fixture
def walks(tmp_path: Path) -> Walks:
    """A home in which something stands in each of the tables."""
    home = Home.open(tmp_path / "home", state=tmp_path / "states")
    workspace, elsewhere = tmp_path / "work", tmp_path / "elsewhere"
    workspace.mkdir()
    elsewhere.mkdir()
    agent, grants = home.keyring.agent.did, Grants(home)
    grants.grant(agent, ["network", "shell"], by=home.keyring.user.did, max_calls=3)
    grants.grant_hosts(agent, ["example.org"])
    grants.grant_roots(agent, [elsewhere])
    grants.revoke(agent, "shell")
    grants.count(agent, ["network"])
    Approvals(home).use("gate", intent="intent", node="n1", binding="b")
    Agents(home).add(
        "shop", did="did:key:z6MkfKJcduERTc6a1Q39pXmphXpG3iXqGVo1d4BXbo323rdm", endpoint="https://e.org/"
    )
    Servers(home).add("files", command=["true"], folder=workspace)
    made = Walks(home, workspace)
    done = made.run(made.accept(WRITES))
    assert done.state == "completed", done
    (workspace / "effect.txt").unlink()
    manifest = made.registry().own[0]
    with home.journal.tables.changing() as connection:
        connection.execute(
            "INSERT INTO tool_classes VALUES (?, ?, 'read', 'read', 'did', '2026-01-01T00:00:00.000Z')",
            (manifest.uri, manifest.pin),
        )
    return made


def written(home: Home, sql: str) -> None:
    with sqlite3.connect(home.path / "mcl.db") as connection:
        assert connection.execute(sql).rowcount
    connection.close()


def values(home: Home, table: str) -> list[str]:
    """An SQL value for each column, of a line that is like one that is there."""
    columns = home.db.read(f"PRAGMA table_info({table})")
    return [
        f"{name} || 'x'" if (kind == "TEXT" and key) or (table, name) in UNIQUE else name
        for _, name, kind, _, _, key in columns
    ]


def attacks() -> dict[str, Callable[[Home], None]]:
    made: dict[str, Callable[[Home], None]] = {}
    for table in TABLES:
        made[f"a line taken from {table}"] = lambda home, table=table: written(
            home, f"DELETE FROM {table} WHERE rowid = (SELECT min(rowid) FROM {table})"
        )
        made[f"a line put into {table}"] = lambda home, table=table: written(
            home,
            f"INSERT OR IGNORE INTO {table} SELECT {', '.join(values(home, table))} FROM {table} LIMIT 1",
        )
    changes = {
        "grants": "revoked_at = '' WHERE revoked_at != ''",
        "grants_hosts": "host = 'https://evil.example'",
        "grants_roots": "root = '/'",
        "grants_calls": "at = '2020-01-01T00:00:00.000Z'",
        "tool_pins": "quarantined = 1",
        "tool_classes": "effects = 'write'",
        "agents": "endpoint = 'https://evil.example/'",
        "servers": "command = '[\"sh\"]', trusted = 1",
    }
    for table, change in changes.items():
        made[f"a line of {table} changed"] = lambda home, table=table, change=change: written(
            home, f"UPDATE {table} SET {change}"
        )
    return made


ATTACKS = attacks()


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_no_row_says_is_told_runs_nothing_and_is_put_right(walks: Walks, attack: str) -> None:
    intent = walks.accept(WRITES)
    ATTACKS[attack](walks.home)
    report = walks.home.journal.verify()
    assert {one.code for one in report.findings} == {"TABLE_CHANGED"}
    with Home.open(walks.home.path, state=walks.home.path.parent / "states") as home:
        again = Walks(home, walks.workspace)
        with pytest.raises(WalkError) as caught:
            again.run(intent)
        assert (caught.value.code, caught.value.exit) == ("VERIFICATION_FAILED", 6)
        for asked in (
            lambda: Grants(home).classes("x"),
            lambda: Pins(home).approved(),
            lambda: Servers(home).list(),
        ):
            with pytest.raises(JournalError):
                asked()
        with pytest.raises(JournalError):
            Grants(home).grant(home.keyring.agent.did, ["shell"])
        assert not (walks.workspace / "effect.txt").exists()
        home.journal.tables.restore()
        assert home.journal.verify().ok
        assert any("tables made what rows say" in told for _, told in home.journal.verify().notes)
        assert again.run(intent).state == "completed"


def test_what_changes_under_a_long_running_process_is_found_at_its_next_question(walks: Walks) -> None:
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    assert "shell" not in grants.classes(agent)
    written(walks.home, "UPDATE grants SET revoked_at = ''")
    with pytest.raises(JournalError):
        grants.classes(agent)


def test_what_another_process_grants_is_no_trouble(walks: Walks) -> None:
    grants, agent = Grants(walks.home), walks.home.keyring.agent.did
    assert "shell" not in grants.classes(agent)
    with Home.open(walks.home.path, state=walks.home.path.parent / "states") as other:
        Grants(other).grant(agent, ["shell"])
        assert "shell" in grants.classes(agent)
        grants.revoke(agent, "shell")
        assert "shell" not in Grants(other).classes(agent)
    assert walks.home.journal.verify().ok


def test_threads_that_ask_while_others_change_are_told_of_nothing(walks: Walks) -> None:
    agent, ended = walks.home.keyring.agent.did, threading.Event()
    Grants(walks.home).grant(agent, ["chain"], max_calls=10_000)

    def asks() -> int:
        grants, asked = Grants(walks.home), 0
        while not ended.is_set():
            assert "chain" in grants.classes(agent)
            asked += 1
        return asked

    def changes() -> None:
        grants = Grants(walks.home)
        for _ in range(40):
            assert grants.count(agent, ["chain"]) is None

    with ThreadPoolExecutor(8) as pool:
        asking = [pool.submit(asks) for _ in range(4)]
        changing = [pool.submit(changes) for _ in range(3)]
        try:
            for one in changing:
                one.result(timeout=120)
        finally:
            ended.set()
        assert all(one.result(timeout=60) for one in asking)
    assert Grants(walks.home).used(agent, "chain") == 120
    assert walks.home.journal.verify().ok


def test_an_older_copy_of_the_tables_is_told_though_each_of_its_lines_was_once_signed(walks: Walks) -> None:
    """Everything of before, put beside the rows of now."""
    home, agent = walks.home, walks.home.keyring.agent.did
    with sqlite3.connect(home.path / "mcl.db") as connection:
        before = connection.execute("SELECT * FROM grants_hosts").fetchall()
    Grants(home).revoke_hosts(agent, ["example.org"])
    with sqlite3.connect(home.path / "mcl.db") as connection:
        connection.execute("DELETE FROM grants_hosts")
        marks = ", ".join("?" * len(before[0]))
        connection.executemany(f"INSERT INTO grants_hosts VALUES ({marks})", before)
    with pytest.raises(JournalError):
        Grants(home).hosts(agent)


FOREIGN = {
    "a trigger on the journal": "CREATE TRIGGER x AFTER INSERT ON journal BEGIN DELETE FROM heads; END",
    "a trigger on grants": "CREATE TRIGGER x AFTER INSERT ON grants BEGIN DELETE FROM grants_calls; END",
    "a view": "CREATE VIEW x AS SELECT 1",
    "a view in place of a table": "ALTER TABLE grants RENAME TO g; CREATE VIEW grants AS SELECT * FROM g",
    "a table with other rules": "ALTER TABLE tree RENAME TO kept; CREATE TABLE tree AS SELECT * FROM kept",
    "a column that computes": "ALTER TABLE heads ADD COLUMN more TEXT AS (hex(wire))",
    "a table that is gone": "DROP TABLE heads",
}


@pytest.mark.parametrize("what", FOREIGN)
def test_what_somebody_else_put_into_the_schema_is_refused_wherever_it_is_met(
    walks: Walks, what: str
) -> None:
    home = walks.home
    intent, size = walks.accept(WRITES), home.journal.size()
    with sqlite3.connect(home.path / "mcl.db") as connection:
        connection.executescript(FOREIGN[what])
    with pytest.raises(HomeError) as caught:  # of a process that was there before
        home.journal.record("record.example", {})
    assert (caught.value.code, caught.value.exit) == ("SCHEMA_CHANGED", 6)
    with pytest.raises(HomeError) as caught, Home.open(home.path) as again:
        Walks(again, walks.workspace).run(intent)
    assert caught.value.code == "SCHEMA_CHANGED"
    assert "backup" in caught.value.fix
    with sqlite3.connect(home.path / "mcl.db") as connection:
        assert connection.execute("SELECT count(*) FROM journal").fetchone() == (size,)


def test_an_approval_is_good_once_whatever_is_done_to_the_table(walks: Walks) -> None:
    approvals = Approvals(walks.home)
    assert approvals.use("another", intent="intent", node="n1", binding="b")
    written(walks.home, "DELETE FROM approvals_used WHERE gate = 'another'")
    with pytest.raises(JournalError):
        approvals.use("another", intent="intent", node="n1", binding="b")
    walks.home.journal.tables.restore()
    assert not approvals.use("another", intent="intent", node="n1", binding="b")


def test_a_policy_that_was_opened_is_told_ever_after(walks: Walks) -> None:
    policy = walks.home.path / "policy.toml"
    policy.write_text('deny = ["fs/delete"]\n')
    assert walks.run(walks.accept(WRITES)).state == "completed"
    policy.unlink()
    walks.run(walks.accept(sequence("root", tool("n1", "time/now"))))
    report = walks.home.journal.verify()
    assert report.ok
    assert [told for _, told in report.notes if "policy.toml" in told] == [
        "from here on policy.toml denies no more: fs/delete"
    ]
    kinds = [row.kind for row in walks.home.journal.rows(kind="record.policy.read")]
    assert len(kinds) == 2


def test_a_copy_that_cannot_be_written_to_is_judged_as_well(walks: Walks, tmp_path: Path) -> None:
    written(walks.home, "UPDATE grants SET revoked_at = ''")
    shutil.copytree(walks.home.path, tmp_path / "copy")
    with Home.open(tmp_path / "copy", state=tmp_path / "others") as copy:
        assert {one.code for one in copy.journal.verify().findings} == {"TABLE_CHANGED"}


def test_who_sees_an_older_journal_than_others_heard_of_takes_nothing_back() -> None:
    """As from within a moment, while another thread commits: else the rows between would be heard twice."""

    def older(sql: str, values: object) -> list[tuple[object, ...]]:
        return [(3,)] if "max(seq)" in sql else []

    known = 5, Standing()
    assert heard(older, None, lambda did: None, known) == known
