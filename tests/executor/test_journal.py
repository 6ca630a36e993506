"""The journal as its users see it: what it takes, what it gives back, what it proves."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from nacl.signing import SigningKey

import ir
from executor import (
    FixedClock,
    Head,
    Home,
    JournalError,
    KeyPair,
    KeyringError,
    LifecycleError,
    Record,
    Row,
    Statement,
    seal_record,
)

if TYPE_CHECKING:
    from tests.executor.conftest import Story

SOMEBODY = SigningKey(b"s" * 32)


def stranger(role: ir.Role) -> KeyPair:
    return KeyPair(ir.did_of(bytes(SOMEBODY.verify_key)), role, lambda: bytes(SOMEBODY))


def test_a_whole_story_is_kept_in_order_with_its_bytes(story: Story) -> None:
    journal = story.whole().home.journal
    rows = journal.rows(story.id)
    assert [row.kind for row in rows] == [
        "intent.draft",
        "intent.compiled",
        "plan.proposed",
        "intent.accept",
        "plan.step",
        "policy.gate",
        "policy.gate.resolve",
        "plan.output",
        "record.gate.decision",
        "intent.attest",
    ]
    assert [row.seq for row in rows] == list(range(1, 11))
    assert journal.rows(story.uri) == rows
    assert [envelope.wire for envelope in journal.envelopes(story.id)] == [
        row.wire for row in rows if row.kind != "record.gate.decision"
    ]
    decision = journal.open(rows[8].wire)
    assert isinstance(decision, Record)
    assert decision.body == {"verdict": "allow", "node": "n0"}
    assert journal.row(rows[4].id) == rows[4]
    assert journal.rows(after=8, limit=1) == rows[8:9]
    assert journal.rows(kind="plan.step") == rows[4:5]
    report = journal.verify()
    assert (report.ok, report.rows, report.findings) == (True, 10, [])


def test_the_view_is_the_same_from_memory_from_the_file_and_in_another_process(story: Story) -> None:
    journal = story.whole().home.journal
    view = journal.view(story.id)
    assert view.state == "completed"
    assert view.intent == story.intent
    assert view.accepted_by == story.home.keyring.user.did
    assert journal.view(story.uri, fresh=True) == view
    with Home.open(story.home.path) as other:
        assert other.journal.view(story.id) == view


def test_a_walk_that_was_cancelled_may_record_how_its_nodes_ended(story: Story) -> None:
    story.accepted().tell("plan.step", "intent.cancel")
    end = ir.PlanStepBody(plan_id=story.plan.id, node_id="n0", status="cancelled")
    story.home.journal.append(story.seal("plan.step", end))
    assert story.home.journal.view(story.id).state == "cancelled"
    assert story.home.journal.verify().findings == []


def test_intents_are_found_by_the_beginning_of_their_id_latest_first(home: Home) -> None:
    from tests.executor.conftest import Story

    stories = [Story(home) for _ in range(3)]
    for story in (*stories, stories[0]):
        kind = "intent.cancel" if home.journal.rows(story.id) else "intent.draft"
        story.tell(kind)
    home.journal.record("record.refusal", {"code": "MISSING_INTENT"})
    assert home.journal.intents() == (stories[0].id, stories[2].id, stories[1].id)
    assert home.journal.intents(stories[0].id[:1]) == home.journal.intents()
    assert home.journal.intents(stories[1].id) == (stories[1].id,)
    assert home.journal.intents("7ZZZ") == ()


@pytest.mark.parametrize(("kind", "role"), [("intent.draft", "agent"), ("intent.compiled", "user")])
def test_a_kind_signed_by_the_wrong_role_is_refused(story: Story, kind: str, role: str) -> None:
    if kind == "intent.compiled":
        story.tell("intent.draft")
    before = story.home.journal.size()
    signer = getattr(story.home.keyring, role)
    with pytest.raises(ir.EnvelopeError) as caught:
        story.home.journal.append(story.seal(kind, story.bodies()[kind], signer=signer))
    assert caught.value.code == "WRONG_ROLE"
    assert story.home.journal.size() == before


def test_an_accept_by_the_agent_never_counts(story: Story) -> None:
    story.tell("intent.draft", "intent.compiled", "plan.proposed")
    accept = story.seal("intent.accept", story.bodies()["intent.accept"], signer=story.home.keyring.agent)
    with pytest.raises(ir.EnvelopeError) as caught:
        story.home.journal.append(accept)
    assert caught.value.code == "WRONG_ROLE"
    assert story.home.journal.view(story.id).state == "proposed"
    with pytest.raises(LifecycleError):
        story.tell("plan.step")


def test_strangers_are_refused_until_trusted_and_again_when_revoked(story: Story) -> None:
    somebody = stranger("user")

    def draft() -> ir.Envelope:
        story.__init__(story.home)  # type: ignore[misc]  # a fresh intent
        return story.seal("intent.draft", story.bodies()["intent.draft"], signer=somebody)

    with pytest.raises(ir.EnvelopeError) as caught:
        story.home.journal.append(draft())
    assert caught.value.code == "UNKNOWN_KEY"
    story.home.keyring.trust(somebody.did, "user")
    story.home.journal.append(draft())
    story.home.keyring.revoke(somebody.did)
    with pytest.raises(ir.EnvelopeError) as caught:
        story.home.journal.append(draft())
    assert caught.value.code == "KEY_REVOKED"
    assert story.home.journal.verify().ok  # what was signed before stays good


def test_what_a_key_signed_in_the_moment_of_its_revocation_stays_good(tmp_path: Path, story: Story) -> None:
    """A journal that is fast enough takes an envelope and a revocation within one millisecond."""
    somebody = stranger("user")
    with Home.open(tmp_path / "moment", clock=FixedClock("2026-11-21T10:00:00.000Z", step_ms=0)) as home:

        def draft() -> ir.Envelope:
            story.__init__(home)  # type: ignore[misc]  # a fresh intent
            return story.seal("intent.draft", story.bodies()["intent.draft"], signer=somebody)

        home.keyring.trust(somebody.did, "user")
        first = draft()
        home.journal.append(first)
        home.keyring.revoke(somebody.did)
        assert home.journal.verify().ok
        assert [one.id for one in home.journal.envelopes(story.id)] == [first.id]
        with pytest.raises(ir.EnvelopeError) as caught:
            home.journal.append(draft())
        assert caught.value.code == "KEY_REVOKED"


def test_what_a_retired_key_signed_stays_good(story: Story) -> None:
    story.tell("intent.draft")
    story.home.keyring.new("user")
    story.home.keyring.new("agent")
    story.tell("intent.compiled", "plan.proposed", "intent.accept")
    assert story.home.journal.verify().ok


def test_an_id_is_used_once_whoever_uses_it(story: Story) -> None:
    row = story.tell("intent.draft")[0]
    again = story.seal("intent.fail", story.bodies()["intent.fail"], id=row.id)
    for message in (
        again,
        seal_record("record.x", {}, id=row.id, at=row.at, signer=story.home.keyring.agent),
    ):
        with pytest.raises(JournalError) as caught:
            story.home.journal.append(message)
        assert caught.value.code == "ID_REUSED"
        assert caught.value.place == row.id
    assert story.home.journal.size() == 1
    assert story.home.journal.view(story.id).state == "draft"


def test_of_several_in_one_commit_all_are_stored_or_none(story: Story) -> None:
    draft = story.make("intent.draft")
    fail, cancel = story.make("intent.fail"), story.make("intent.cancel")
    with pytest.raises(LifecycleError):
        story.home.journal.append_many([draft, fail, cancel])
    assert story.home.journal.size() == 0
    assert story.home.journal.view(story.id).state == "new"
    assert [row.seq for row in story.home.journal.append_many([draft, fail])] == [1, 2]
    assert story.home.journal.view(story.id).state == "failed"
    assert story.home.journal.verify().ok


def test_an_append_inside_a_larger_transaction_goes_with_it(story: Story) -> None:
    draft = story.make("intent.draft")
    with suppress(RuntimeError), story.home.db.write():
        story.home.journal.append(draft)
        story.home.journal.append(story.make("intent.fail"))
        raise RuntimeError
    assert story.home.journal.view(story.id).state == "new"
    story.home.journal.append(draft)
    assert story.home.journal.view(story.id).state == "draft"
    assert story.home.journal.verify().ok


def test_of_two_accepts_made_at_once_the_second_meets_the_state_that_the_first_left(story: Story) -> None:
    story.tell("intent.draft", "intent.compiled", "plan.proposed")
    accepts = [story.make("intent.accept") for _ in range(4)]
    homes = [Home.open(story.home.path) for _ in accepts]
    for home in homes:
        assert home.journal.view(story.id).state == "proposed"  # each remembers the state before the race
    barrier, refused = threading.Barrier(len(homes)), []

    def race(home: Home, accept: ir.Envelope) -> None:
        barrier.wait()
        try:
            home.journal.append(accept)
        except LifecycleError as error:
            refused.append(error)

    threads = [threading.Thread(target=race, args=pair) for pair in zip(homes, accepts, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for home in homes:
        home.close()
    assert [error.state for error in refused] == ["accepted"] * 3
    assert story.home.journal.size() == 4


def test_rows_can_be_neither_changed_nor_deleted_by_sql(story: Story) -> None:
    story.tell("intent.draft")
    for sql in ("UPDATE journal SET kind = 'x'", "DELETE FROM journal"):
        with pytest.raises(Exception, match="append-only"), story.home.db.write() as connection:
            connection.execute(sql)


@pytest.mark.parametrize(
    "kind", ["intent.draft", "record", "record.", "record.Big", "record.a b", "xrecord.a"]
)
def test_records_have_kinds_of_their_own(home: Home, kind: str) -> None:
    with pytest.raises(JournalError) as caught:
        home.journal.record(kind, {})
    assert caught.value.code == "RECORD_SHAPE"


def test_a_record_signed_by_the_user_or_a_stranger_is_refused(home: Home) -> None:
    for signer, code in ((home.keyring.user, "WRONG_ROLE"), (stranger("agent"), "UNKNOWN_KEY")):
        record = seal_record("record.x", {}, id=home.clock.new_id(), at=home.clock.now(), signer=signer)
        with pytest.raises(JournalError) as caught:
            home.journal.append(record)
        assert caught.value.code == code


def test_a_record_is_refused_where_it_could_not_be_read_again(home: Home) -> None:
    room = 4 * 1024 * 1024 - len(home.journal.record("record.x", {"text": "a" * 70_000}).wire) + 70_000
    row = home.journal.record("record.x", {"text": "a" * room})
    assert home.journal.open(row.wire).id == row.id
    for more in (1, 34, 35, 36, 67, 68, 1000):
        with pytest.raises(ir.MclError) as caught:
            home.journal.record("record.x", {"text": "a" * (room + more)})
        assert caught.value.code in ("RECORD_SHAPE", "CBOR_TOO_LARGE")


def test_records_told_together_are_all_there_or_none_with_what_belongs_to_them(home: Home) -> None:
    home.db.migrate("beside", ["CREATE TABLE beside (seq INTEGER) STRICT;"])
    told = [Statement("record.x", {"n": n}) for n in range(5)]

    def beside(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
        connection.executemany("INSERT INTO beside VALUES (?)", [(row.seq,) for row in rows])

    rows = home.journal.record_many(told, beside=beside)
    assert [row.seq for row in rows] == [seq for (seq,) in home.db.read("SELECT seq FROM beside")]
    assert [home.journal.open(row.wire).body for row in rows] == [{"n": n} for n in range(5)]
    with pytest.raises(JournalError):
        home.journal.record_many([*told, Statement("intent.draft", {})], beside=beside)

    def fails(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
        beside(connection, rows)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        home.journal.record_many(told, beside=fails)
    assert home.journal.size() == len(home.db.read("SELECT seq FROM beside")) == 5
    assert home.journal.record_many(told)[0].seq == 6
    assert home.journal.verify().ok


def test_any_flipped_byte_of_a_record_is_refused(home: Home) -> None:
    wire = home.journal.record("record.x", {"n": 1, "text": "a"}, intent=home.clock.new_id()).wire
    for place in range(len(wire)):
        with pytest.raises(ir.MclError):
            home.journal.open(wire[:place] + bytes([wire[place] ^ 1]) + wire[place + 1 :])


def test_heads_and_proofs_convince_somebody_who_has_only_the_keys(story: Story) -> None:
    journal = story.accepted().home.journal
    old = journal.head()
    story.tell("plan.step", "intent.attest")
    new = Head.from_json(journal.head().to_json(), story.home.keyring.resolver)
    assert (old.size, new.size) == (4, 6)
    assert journal.consistency(old.size).holds(old.root, new.root)
    assert not journal.consistency(old.size).holds(new.root, new.root)
    assert journal.consistency(old.size, new.size).to_json()["path"]
    for seq in range(1, 7):
        proof = journal.prove(seq)
        assert proof.holds(new.root)
        assert not proof.holds(old.root)
        assert proof.to_json()["leaf"] == journal.rows()[seq - 1].leaf.hex()
    assert journal.prove(4, size=4).holds(old.root)
    for impossible in (lambda: journal.prove(7), lambda: journal.prove(0), lambda: journal.consistency(7)):
        with pytest.raises(JournalError) as caught:
            impossible()
        assert caught.value.code == "ROW_UNKNOWN"


def test_a_head_with_another_root_is_no_head(story: Story) -> None:
    head = story.accepted().home.journal.head().to_json()
    wire = bytearray.fromhex(str(head["record"]))
    wire[-80] ^= 1
    for document in (head | {"record": wire.hex()}, {}, {"record": "zz"}):
        with pytest.raises(JournalError):
            Head.from_json(document, story.home.keyring.resolver)


@pytest.mark.slow  # opening a sealed key takes a second
def test_a_journal_with_sealed_keys_is_read_without_and_written_with_the_passphrase(tmp_path: Path) -> None:
    with Home.open(tmp_path / "home", passphrase=b"open sesame") as home:
        home.journal.record("record.x", {})
    with Home.open(tmp_path / "home") as home:
        assert home.journal.verify().ok
        with pytest.raises(KeyringError) as caught:
            home.journal.record("record.x", {})
        assert caught.value.code == "KEY_SEALED"
        assert home.journal.size() == 1


def test_what_a_key_signed_before_it_was_revoked_can_still_be_read_and_goes_on(story: Story) -> None:
    story.accepted()
    keyring, old = story.home.keyring, story.home.keyring.user
    keyring.new("user")
    keyring.revoke(old.did)
    with Home.open(story.home.path) as again:
        assert again.journal.view(story.id).accepted_by == old.did
        assert len(again.journal.envelopes(story.id)) == 4
        assert again.journal.verify(intent=story.id).ok
    late = story.seal("intent.cancel", story.bodies()["intent.cancel"], signer=old)
    with pytest.raises(ir.EnvelopeError) as caught:
        story.home.journal.append(late)
    assert caught.value.code == "KEY_REVOKED"
    story.tell("intent.cancel")
    assert story.home.journal.view(story.id, fresh=True).state == "cancelled"
