"""What was signed is altered, swapped, borrowed or forged: the run stops before any effect."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from walks import Says, Walks, gate, sequence, tool

from executor import Home, Outcome, WalkError
from ir import IntentAcceptBody, MclError, PlanProposedBody, PolicyGateResolveBody, canonical_bytes, with_hash

WRITES = tool("n1", "fs/write", "write", path="effect.txt", content="done")


def tamper(walks: Walks, change: Callable[[sqlite3.Connection], object]) -> None:
    """Change the database file behind the journal's back."""
    connection = sqlite3.connect(walks.home.path / "mcl.db")
    connection.execute("DROP TRIGGER IF EXISTS journal_keeps")
    connection.execute("DROP TRIGGER IF EXISTS journal_stays")
    before = connection.execute("SELECT * FROM journal").fetchall()
    change(connection)
    assert connection.execute("SELECT * FROM journal").fetchall() != before, "the attack changed nothing"
    connection.commit()
    connection.close()


def stopped(walks: Walks, intent_id: str) -> str:
    """Run in a fresh process's view of the home: it must stop, and leave nothing."""
    with Home.open(walks.home.path) as home, pytest.raises(MclError) as caught:
        Walks(home, walks.workspace).run(intent_id)
    assert caught.value.exit == 6, caught.value
    assert not (walks.workspace / "effect.txt").exists()
    assert not Home.open(walks.home.path).journal.verify().ok
    return caught.value.code


def flip(kind: str, needle: bytes, replacement: bytes) -> Callable[[sqlite3.Connection], None]:
    def change(connection: sqlite3.Connection) -> None:
        wire = connection.execute("SELECT wire FROM journal WHERE kind = ?", (kind,)).fetchone()[0]
        assert needle in wire
        assert len(needle) == len(replacement)
        changed = wire.replace(needle, replacement)
        connection.execute("UPDATE journal SET wire = ? WHERE kind = ?", (changed, kind))

    return change


@pytest.mark.parametrize(
    ("kind", "needle", "replacement"),
    [
        ("intent.compiled", b"a goal in words", b"a goal in swords"[:15]),
        ("plan.proposed", b"effect.txt", b"effect.bat"),
        ("plan.proposed", b'"write"', b'"chain"'),
        ("intent.draft", b"a goal in words", b"another goal..."),
    ],
)
def test_an_altered_intent_or_plan_stops_the_run(
    walks: Walks, kind: str, needle: bytes, replacement: bytes
) -> None:
    intent_id = walks.accept(WRITES)
    tamper(walks, flip(kind, needle, replacement))
    assert stopped(walks, intent_id) == "VERIFICATION_FAILED"


@pytest.mark.parametrize("kind", ["intent.draft", "intent.compiled", "plan.proposed", "intent.accept"])
def test_one_flipped_bit_of_a_signature_stops_the_run(walks: Walks, kind: str) -> None:
    def change(connection: sqlite3.Connection) -> None:
        wire = bytearray(connection.execute("SELECT wire FROM journal WHERE kind = ?", (kind,)).fetchone()[0])
        wire[-1] ^= 1  # the signature is the last thing in an envelope
        connection.execute("UPDATE journal SET wire = ? WHERE kind = ?", (bytes(wire), kind))

    intent_id = walks.accept(WRITES)
    tamper(walks, change)
    assert stopped(walks, intent_id) == "VERIFICATION_FAILED"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE journal SET kind = 'intent.draft' WHERE kind = 'plan.proposed'",
        "UPDATE journal SET leaf = zeroblob(32) WHERE kind = 'intent.accept'",
        "UPDATE journal SET self_hash = 'g' || substr(self_hash, 2) WHERE kind = 'intent.compiled'",
        "DELETE FROM journal WHERE kind = 'intent.draft'",
        "DELETE FROM journal WHERE kind = 'plan.proposed'",
    ],
)
def test_a_row_that_was_changed_or_taken_away_stops_the_run(walks: Walks, statement: str) -> None:
    intent_id = walks.accept(WRITES)
    tamper(walks, lambda connection: connection.execute(statement))
    stopped(walks, intent_id)


def test_a_plan_swapped_for_another_after_the_accept_stops_the_run(walks: Walks) -> None:
    intent_id = walks.accept(WRITES)
    plan = walks.home.journal.view(intent_id).plan
    assert plan is not None
    evil = with_hash(plan.model_copy(update={"created_by": "someone else"}))
    swapped = walks.seal(
        intent_id, "plan.proposed", PlanProposedBody(canonical_bytes(evil))
    )  # by the agent's key
    tamper(
        walks,
        lambda connection: connection.execute(
            "UPDATE journal SET wire = ? WHERE kind = 'plan.proposed'", (swapped.wire,)
        ),
    )
    assert stopped(walks, intent_id) == "VERIFICATION_FAILED"


def test_an_intent_that_the_agent_alone_accepts_never_runs(walks: Walks) -> None:
    intent_id = walks.propose(WRITES)
    view = walks.home.journal.view(intent_id)
    body = IntentAcceptBody(view.intent_hash, walks.home.clock.now(), plan_hash=view.plan_hash)
    agent = walks.home.keyring.agent
    with pytest.raises(MclError, match="signed by the user"):
        walks.home.journal.append(_sealed_by(walks, agent, intent_id, "intent.accept", body))
    with pytest.raises(WalkError) as caught:
        walks.run(intent_id)
    assert caught.value.code == "NOT_ACCEPTED"


def test_the_agent_cannot_open_a_gate(walks: Walks) -> None:
    class Forger:
        async def ask(self, question):  # type: ignore[no-untyped-def]  # stands in for a hostile caller
            from executor import GateAnswer

            body = PolicyGateResolveBody(question.gate_id, "approve", walks.home.clock.now())
            agent = walks.home.keyring.agent
            return GateAnswer(
                "approve",
                envelope=_sealed_by(walks, agent, question.intent_id, "policy.gate.resolve", body),
            )

    intent_id = walks.accept(sequence("n0", gate("n1"), WRITES | {"id": "n2"}))
    refused(walks.run(intent_id, people=Forger()), "GATE_DENIED")
    assert [record["code"] for record in walks.records("record.gate.refused")] == ["WRONG_ROLE"]
    assert not (walks.workspace / "effect.txt").exists()


def _sealed_by(walks, pair, intent_id, kind, body):  # type: ignore[no-untyped-def]  # a forger's tool
    import ir

    clock = walks.home.clock
    header = ir.Header(clock.new_id(), clock.now(), pair.did, f"matrix://intent/{intent_id}")
    return ir.seal(kind, body, header, pair.signing_key)


def refused(outcome: Outcome, code: str) -> None:
    assert (outcome.state, outcome.exit) == ("denied", 4)
    assert outcome.failure is not None
    assert outcome.failure.code == code


@pytest.mark.parametrize(
    ("node", "verb", "code"),
    [
        (tool("n2", "rm/everything"), "build", "UNKNOWN_TOOL"),
        (tool("n2", "fs/write", "read", path="x", content="y"), "build", "SERVER_MISMATCH"),
        (tool("n2", "fs/write", "write", path="x", content="y"), "find", "INTENT_MISMATCH"),
        (tool("n2", "fs/write", "write", path="../x", content="y"), "build", "OUT_OF_SCOPE"),
        (tool("n2", "fs/read", path=".env"), "build", "PROTECTED_PATH"),
        (tool("n2", "fs/read", nonsense="1"), "build", "INVALID_ARGS"),
    ],
)
def test_one_refused_node_stops_the_whole_plan_before_its_first(
    walks: Walks, node: dict[str, object], verb: str, code: str
) -> None:
    first = tool("n1", "time/now") if verb == "find" else WRITES
    outcome = walks.go(sequence("n0", first, node), verb=verb)
    refused(outcome, code)
    assert not (walks.workspace / "effect.txt").exists()
    assert outcome.nodes == {}
    record = walks.records("record.gate.refused")[0]
    assert (record["node"], record["code"]) == ("n2", code)
    assert record["fix"]


def test_a_capability_taken_back_stops_the_plan(walks: Walks) -> None:
    from executor import Grants

    grants = Grants(walks.home)
    grants.revoke(walks.home.keyring.agent.did, "write")
    refused(walks.go(WRITES), "CAPABILITY_DENIED")
    assert not (walks.workspace / "effect.txt").exists()


def test_an_approval_is_no_use_for_a_second_run(walks: Walks) -> None:
    walks.write("effect.txt", "before")
    node = tool("n1", "fs/write", "write", path="effect.txt", content="after", overwrite="true")
    assert walks.go(node, people=Says("approve")).state == "completed"
    walks.write("effect.txt", "before again")
    people = Says("deny")
    refused(walks.go(node, people=people), "GATE_DENIED")
    assert len(people.asked) == 1
    assert (walks.workspace / "effect.txt").read_text() == "before again"


def test_what_a_file_says_never_becomes_a_reference_or_an_option(walks: Walks) -> None:
    walks.write("evil.txt", "${n1.output.sha256} --force $(id)")
    outcome = walks.go(
        sequence(
            "n0",
            tool("n1", "fs/read", path="evil.txt"),
            tool("n2", "fs/write", "write", path="effect.txt", content="${n1.output.text}"),
        )
    )
    assert outcome.state == "completed"
    assert (walks.workspace / "effect.txt").read_text() == "${n1.output.sha256} --force $(id)"


def test_secrets_in_a_file_reach_neither_the_journal_nor_the_screen_nor_the_next_node(
    walks: Walks, tmp_path: Path
) -> None:
    token, value = "ghp_" + "a1B2" * 10, "correct-horse-battery"
    walks.write("notes.txt", f"token {token} and {value}")
    plan = sequence(
        "n0",
        tool("n1", "fs/read", path="notes.txt"),
        tool("n2", "fs/search", query="token"),
        tool("n3", "fs/write", "write", path="copy.txt", content="${n1.output.text}"),
    )
    outcome = walks.run(walks.accept(plan), environment={"MY_PASSWORD": value})
    assert outcome.state == "completed"
    everything = b"".join(row.wire for row in walks.home.journal.rows())
    shown = str(outcome.to_json()) + str(walks.watch.events) + (walks.workspace / "copy.txt").read_text()
    for secret in (token, value):
        assert secret.encode() not in everything
        assert secret not in shown
    assert "[redacted: GitHub token]" in shown
