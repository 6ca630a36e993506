"""What a person signed decides: an agent that writes over the file, the trace, the map or the journal gains
nothing by it."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import pytest
from nacl.signing import SigningKey

from executor.store.journal.record import Record, seal_record
from executor.store.journal.rows import insert, row_of
from executor.store.keys.keyring import KeyPair
from ir import (
    Envelope,
    EnvelopeError,
    Header,
    IntentAcceptBody,
    IntentCompiledBody,
    IntentDraftBody,
    MclError,
    canonical_bytes,
    did_of,
    seal,
)
from mcl.plugins.agents.file.document import read_file
from mcl.plugins.agents.work.item import WorkItem
from mcl.plugins.agents.work.leases import BoundCheckouts
from mcl.plugins.agents.work.signature import intent_of
from mcl.plugins.agents.work.store import SIGNED, SignedWork, status_record
from tests.agents.conftest import Project, Written, yaml_of

OURS, WIDE = Written(), Written(scope=("**",), constraints=(), criteria=())


def bound(project: Project, agent: str = "one") -> BoundCheckouts:
    return BoundCheckouts(SignedWork(project.home), project.leases, project.root, agent)


def scope_held(project: Project) -> tuple[bool, bool]:
    """Whether the agent may change a file of its work, and one that is none."""
    held = bound(project).held()
    return (held.scope.matches("src/auth/a.py"), held.scope.matches("secret.txt")) if held else (False, False)


def stranger() -> KeyPair:
    """A key that nobody here knows, of somebody who says that they are the user."""
    key = SigningKey.generate()
    return KeyPair(did_of(key.verify_key.encode()), "user", lambda: bytes(key))


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_wider_scope_in_the_file_widens_nothing(project: Project, when: str) -> None:
    project.sign(OURS)
    if when == "before":
        project.write(WIDE)
    done = project.select("INT-001")
    assert done.success
    if when == "before":
        assert done.warnings[0].startswith("FILE_DIFFERS: ")
        for field in ("owned_scope", "constraints", "acceptance_criteria"):
            assert field in done.warnings[0]
    project.write(WIDE)
    assert "<pattern>src/auth/**</pattern>" in done.context
    assert "<constraint>Hash passwords with bcrypt</constraint>" in done.context
    assert scope_held(project) == (True, False)
    assert project.complete().code == "SIGN_OFF_PENDING"  # the criteria are those that were signed


def test_another_status_in_the_file_changes_none(project: Project) -> None:
    project.sign(
        Written(status="BLOCKED", more=('blocked_reason: "no keys"',)),
        Written("INT-002", scope=("docs/**",), status="IN_PROGRESS"),
    )
    project.write(Written(status="DRAFT"), Written("INT-002", scope=("docs/**",), status="DONE"))
    assert project.select("INT-001").code == "BLOCKED"
    assert project.item("INT-002").status == "IN_PROGRESS"
    done = project.select("INT-002")
    assert done.success
    assert "status" in done.warnings[0]


def test_without_its_file_the_folder_stays_governed_and_work_stays_what_it_is(project: Project) -> None:
    project.sign(OURS)
    project.select("INT-001")
    project.file.unlink()
    project.file.parent.rmdir()
    assert bound(project).governed()
    assert scope_held(project) == (True, False)
    assert project.work.root_of(project.root / "src") == project.root
    assert project.select("INT-001", "two").code == "FILE_UNREADABLE"
    assert bound(project, "two").held() is None
    assert project.complete().code == "SIGN_OFF_PENDING"


def test_an_entry_that_an_agent_writes_is_nothing_until_a_person_signs_it(project: Project) -> None:
    project.sign(OURS)
    project.file.write_text(yaml_of(OURS, Written("INT-777", scope=("**",))))
    assert project.select("INT-777").code == "NOT_IMPORTED"
    assert bound(project).labels() == ("INT-001",)
    assert bound(project).owners("secret.txt") == ()


def test_an_entry_that_an_agent_takes_out_of_the_file_is_still_signed(project: Project) -> None:
    project.sign(OURS, Written("INT-002", scope=("docs/**",)))
    project.write(Written("INT-002", scope=("docs/**",)))
    done = project.select("INT-001")
    assert done.success
    assert "no longer has INT-001" in done.warnings[0]


def test_a_file_of_an_agents_own_in_a_folder_below_governs_nothing(project: Project) -> None:
    project.sign(OURS)
    inner = Project(project.root / "src", project.home, project.clock)
    inner.root.mkdir()
    inner.write(Written("INT-777", scope=("**",)))
    assert project.work.root_of(inner.root) == project.root
    assert inner.select("INT-777").code in ("NOT_IMPORTED", "NOT_FOUND")
    assert bound(project).held() is None


def test_the_trace_and_the_map_are_asked_about_nothing(project: Project) -> None:
    project.sign(OURS, Written("INT-002", scope=("docs/**",)))
    project.select("INT-001")
    folder = project.file.parent
    (folder / "agent_trace.jsonl").write_text('{"intent": "INT-001", "file": "secret.txt"}\n')
    (folder / "intent_map.json").write_text('{"secret.txt": ["INT-001"], "docs/a.md": ["INT-001"]}')
    assert scope_held(project) == (True, False)
    assert bound(project).owners("docs/a.md") == ("INT-002",)
    assert bound(project).owners("secret.txt") == ()


# ---- forgeries in the journal ----


def forged(project: Project, signer: KeyPair) -> tuple[str, list[Envelope]]:
    """Draft, Intent and accept of wide work as an agent would have it, all signed by one key."""
    home = project.home
    entry = read_file(yaml_of(WIDE).encode()).entries[0]
    intent = intent_of(entry, str(project.root), {"INT-001": home.clock.new_id()}, home)
    at = home.clock.now()
    bodies = {
        "intent.draft": IntentDraftBody("wide"),
        "intent.compiled": IntentCompiledBody(canonical_bytes(intent)),
        "intent.accept": IntentAcceptBody(intent_hash=intent.hash, accepted_at=at),
    }
    made = [
        seal(
            kind,
            body,
            Header(home.clock.new_id(), at, signer.did, f"matrix://intent/{intent.id}"),
            signer.signing_key,
        )
        for kind, body in bodies.items()
    ]
    return intent.id, made


@pytest.mark.parametrize(("who", "code"), [("agent", "WRONG_ROLE"), ("stranger", "UNKNOWN_KEY")])
def test_an_accept_that_is_not_the_persons_is_not_taken(project: Project, who: str, code: str) -> None:
    project.sign(OURS)
    _, made = forged(project, project.home.keyring.agent if who == "agent" else stranger())
    size = project.home.journal.size()
    with pytest.raises(EnvelopeError) as caught:
        project.home.journal.append(made[-1])
    assert caught.value.code == code
    with pytest.raises(MclError):
        project.home.journal.append_many(made)
    assert project.home.journal.size() == size


@pytest.mark.parametrize("who", ["agent", "stranger"])
def test_rows_that_are_put_past_the_journal_count_for_nothing(project: Project, who: str) -> None:
    project.sign(OURS)
    project.select("INT-001")
    home = project.home
    signer = home.keyring.agent if who == "agent" else stranger()
    intent, made = forged(project, signer)
    body = {"root": str(project.root), "intents": [["INT-001", intent]], "file": ""}
    record = seal_record(SIGNED, body, id=home.clock.new_id(), at=home.clock.now(), signer=signer)
    with home.db.write() as connection:
        size = home.journal.size()
        messages: list[Envelope | Record] = [*made, record]
        for place, message in enumerate(messages, 1):
            insert(connection, row_of(message, size + place))
        connection.execute("UPDATE work_roots SET row = ?", (record.id,))
    assert SignedWork(home).governed(project.root)  # denied, not let go
    seen: tuple[WorkItem, ...] = ()
    with suppress(MclError):
        seen = SignedWork(home).items(project.root)
    assert seen == ()
    for agent in ("one", "two"):
        assert bound(project, agent).held() is None
        assert bound(project, agent).labels() == ()
    assert not home.journal.verify().ok


def test_the_accept_of_one_intent_is_none_of_another(project: Project) -> None:
    project.sign(OURS)
    home = project.home
    intent, made = forged(project, home.keyring.user)  # draft and Intent as if a person had begun them
    theirs = next(
        one for one in home.journal.envelopes(project.item().intent_id) if one.kind == "intent.accept"
    )
    draft = made[0]
    compiled = seal(
        "intent.compiled",
        made[1].body,
        Header(home.clock.new_id(), home.clock.now(), home.keyring.agent.did, f"matrix://intent/{intent}"),
        home.keyring.agent.signing_key,
    )
    home.journal.append_many([draft, compiled])
    with pytest.raises(MclError) as reused:
        home.journal.append(theirs)
    assert reused.value.code in ("ID_REUSED", "ILLEGAL_EVENT")
    turned = replace(theirs, wire=theirs.wire.replace(project.item().intent_id.encode(), intent.encode()))
    with pytest.raises(MclError):
        home.journal.append(turned)
    assert SignedWork(home).by_id(intent) is None  # compiled, never accepted


def test_a_status_that_another_key_signed_closes_the_work_and_opens_none(project: Project) -> None:
    project.sign(Written(status="BLOCKED"))
    home, item = project.home, project.item()
    signer = stranger()
    record = status_record(
        home, item.intent_id, "INT-001", before="BLOCKED", after="IN_PROGRESS", at=home.clock.now(), by="one"
    )
    body = dict(record.body)
    uri = f"matrix://intent/{item.intent_id}"
    bad = seal_record(record.kind, body, id=home.clock.new_id(), at=record.at, intent=uri, signer=signer)
    with home.db.write() as connection:
        insert(connection, row_of(bad, home.journal.size() + 1))
        row = (
            str(project.root),
            "INT-001",
            item.intent_id,
            "one",
            home.clock.now(),
            "2027-01-01T00:00:00.000Z",
            9,
        )
        connection.execute("INSERT INTO agent_leases VALUES (?, ?, ?, ?, ?, ?, ?)", row)
    assert bound(project).governed()
    assert bound(project).held() is None
    assert bound(project).labels() == ()


def test_a_lease_of_another_intent_than_the_signed_one_holds_nothing(project: Project) -> None:
    project.sign(OURS)
    project.select("INT-001")
    assert scope_held(project) == (True, False)
    with project.home.db.write() as connection:
        connection.execute("UPDATE agent_leases SET intent_id = ?", (project.home.clock.new_id(),))
    assert bound(project).held() is None
