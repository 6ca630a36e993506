"""What was signed and then changed is found by `mcl log verify` and stops `mcl run` before any effect."""

from __future__ import annotations

import sqlite3

import pytest

import ir
from executor import Home


def rewrite(mcl, kind: str, change) -> None:
    """Replace the bytes of the last row of a kind, as somebody with the file in hand could."""
    with sqlite3.connect(mcl.home / "mcl.db") as connection:
        connection.execute("DROP TRIGGER IF EXISTS journal_keeps")
        seq, wire = connection.execute(
            "SELECT seq, wire FROM journal WHERE kind = ? ORDER BY seq DESC LIMIT 1", (kind,)
        ).fetchone()
        connection.execute("UPDATE journal SET wire = ? WHERE seq = ?", (change(wire), seq))
    connection.close()


def found_and_stopped(mcl, id: str) -> set[str]:
    """`log verify` says so with exit 6, `run` refuses, nothing was done; gives the codes of the findings."""
    verified = mcl("log", "verify", "--json")
    assert verified.code == 6
    assert not verified.document["ok"]
    told = mcl("log", "verify")
    assert told.code == 6
    ran = mcl("run", id, "--yes-gates", "--json")
    assert ran.code == 6, ran.out + ran.err
    assert "Traceback" not in ran.err
    assert not (mcl.folder / "report.md").exists()
    codes = {finding["code"] for finding in verified.document["findings"]}
    assert all(code in told.out for code in codes)
    return codes


@pytest.fixture
def id(mcl) -> str:
    """An accepted intent whose plan writes a file."""
    words = ["files-report" if word == "files-find" else word for word in mcl.COMPILE]
    done = mcl(*words, "--slot", "report=report.md", "--verb", "deliver", "--json")
    assert done.code == 0, done.out + done.err
    assert mcl("accept", done.document["id"], "--yes").code == 0
    return done.document["id"]


@pytest.mark.parametrize("place", [10, 100, -100, -1])
@pytest.mark.parametrize("kind", ["intent.draft", "intent.compiled", "plan.proposed", "intent.accept"])
def test_one_flipped_bit_anywhere_in_a_signed_row(mcl, id, kind, place):
    def flip(wire: bytes) -> bytes:
        at = place % len(wire)
        return wire[:at] + bytes([wire[at] ^ 1]) + wire[at + 1 :]

    rewrite(mcl, kind, flip)
    assert "LEAF_MISMATCH" in found_and_stopped(mcl, id)


def test_a_plan_signed_anew_by_the_agent_is_not_the_plan_that_was_accepted(mcl, id):
    def another(wire: bytes) -> bytes:
        with Home.open(mcl.home) as home:
            old = ir.open_envelope(wire, home.keyring.resolver)
            text = old.body.plan_json.replace(b"report.md", b"other.md")
            plan = ir.with_hash(ir.PlanTree.from_json(text))
            header = ir.Header(old.id, old.at, old.from_, old.intent, old.to, None, old.causation_id)
            body = ir.PlanProposedBody(ir.canonical_bytes(plan))
            return ir.seal("plan.proposed", body, header, home.keyring.agent.signing_key).wire

    rewrite(mcl, "plan.proposed", another)
    assert "PLAN_HASH_MISMATCH" in found_and_stopped(mcl, id)
    assert not (mcl.folder / "other.md").exists()


def test_an_intent_changed_without_its_hash(mcl, id):
    def another(wire: bytes) -> bytes:
        with Home.open(mcl.home) as home:
            old = ir.open_envelope(wire, home.keyring.resolver)
            header = ir.Header(old.id, old.at, old.from_, old.intent, old.to, None, old.causation_id)
            body = ir.IntentCompiledBody(old.body.intent_json.replace(b"report.md", b"other.md"))
            return ir.seal("intent.compiled", body, header, home.keyring.agent.signing_key).wire

    rewrite(mcl, "intent.compiled", another)
    assert "INTENT_HASH_MISMATCH" in found_and_stopped(mcl, id)


def test_an_accept_that_the_agent_signed_itself(mcl, id):
    def by_agent(wire: bytes) -> bytes:
        with Home.open(mcl.home) as home:
            old = ir.open_envelope(wire, home.keyring.resolver)
            header = ir.Header(old.id, old.at, home.keyring.agent.did, old.intent)
            return ir.seal("intent.accept", old.body, header, home.keyring.agent.signing_key).wire

    rewrite(mcl, "intent.accept", by_agent)
    assert "WRONG_ROLE" in found_and_stopped(mcl, id)


def test_a_removed_row_is_missed_against_a_head_kept_elsewhere(mcl, id):
    head = mcl("log", "head", "--json")
    (mcl.folder / "head.json").write_text(head.out)
    assert mcl("log", "verify", "--head", "head.json").code == 0
    with sqlite3.connect(mcl.home / "mcl.db") as connection:
        connection.execute("DROP TRIGGER journal_stays")
        connection.execute("DELETE FROM journal WHERE seq = (SELECT max(seq) FROM journal)")
        connection.execute("DELETE FROM heads")
    connection.close()
    done = mcl("log", "verify", "--head", "head.json", "--json")
    assert done.code == 6
    assert "TRUNCATED" in {finding["code"] for finding in done.document["findings"]}


def test_a_forged_head_is_refused_as_one(mcl, id):
    (mcl.folder / "head.json").write_text(
        mcl("log", "head", "--json").out.replace('"record": "a', '"record": "b')
    )
    done = mcl("log", "verify", "--head", "head.json")
    assert done.code == 6
    assert "head.json" in done.err
