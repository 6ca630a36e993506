import sqlite3
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from executor import Home
from mcl.core.errors import MemoryStoreError
from mcl.memory import NEVER_USED, Memory, MemoryStore, Snapshot, new_memory
from mcl.memory.lessons import bundle
from mcl.memory.proof import prove
from mcl.plugins.memories.verification import verify_home


def test_a_cortex_that_was_never_used_has_the_root_of_zeros(cortex: MemoryStore) -> None:
    assert cortex.snapshot() == Snapshot(0, NEVER_USED)
    assert cortex.snapshot_of(NEVER_USED) == Snapshot(0, NEVER_USED)
    assert cortex.memories().find(near="anything") == []


def test_each_new_saying_is_a_new_version_and_the_old_one_stays(cortex: MemoryStore) -> None:
    first = cortex.put("Fact", "The office is in Oslo", id="office")
    second = cortex.put("Fact", "The office is in Bergen", id="office")
    assert (first.uri, second.uri) == ("matrix://cortex/Fact/office@v1", "matrix://cortex/Fact/office@v2")
    memories = cortex.memories()
    assert memories.resolve(first.uri) == first
    assert memories.resolve("matrix://cortex/Fact/office") == second
    assert memories.find(near="office") == [second]


def test_saying_the_same_again_changes_nothing(cortex: MemoryStore) -> None:
    first = cortex.put("Fact", "The office is in Oslo", tags=("place",))
    assert cortex.put("Fact", "The office is in Oslo", tags=("place",)) == first
    assert cortex.snapshot().size == 1


def test_what_is_forgotten_is_gone_now_and_there_in_the_snapshot_before(cortex: MemoryStore) -> None:
    memory = cortex.put("Preference", "Likes window seats", id="seat")
    before = cortex.snapshot()
    cortex.forget(memory.uri)
    assert cortex.memories().find(near="window") == []
    assert cortex.memories().resolve("matrix://cortex/Preference/seat") is None
    assert cortex.memories(before).find(near="window") == [memory]
    assert cortex.put("Preference", "Likes aisle seats", id="seat").version == 3


def test_memories_are_found_by_type_tag_and_words_best_first(cortex: MemoryStore) -> None:
    cortex.put("Fact", "Invoices are kept in the folder accounting/2026", id="a", tags=("files",))
    both = cortex.put("Fact", "Invoices from Acme are paid within ten days", id="b", tags=("files", "money"))
    cortex.put("Goal", "Pay all invoices in time", id="c")
    found = cortex.memories().find(type="Fact", near="acme invoices", limit=5)
    assert [one.id for one in found] == ["b", "a"]
    assert cortex.memories().find(tags=("money",)) == [both]
    assert cortex.memories().find(near="INVOICES", limit=1, types=("Goal",))[0].id == "c"
    assert cortex.memories().find(near="dragons") == []
    assert cortex.memories().find(near="?!") == []


def test_accents_and_case_do_not_hide_a_memory(cortex: MemoryStore) -> None:
    memory = cortex.put("Fact", "Möte på Café Örnen")
    assert cortex.memories().find(near="cafe ornen") == [memory]


def test_what_a_snapshot_answers_never_changes_when_more_is_remembered(cortex: MemoryStore) -> None:
    for place in range(6):
        cortex.put("Fact", f"report number {place} about sales", id=f"r{place}")
    snapshot = cortex.snapshot()
    before = cortex.memories(snapshot).find(near="sales report 3", limit=6)
    bytes_before = bundle(cortex.memories(snapshot), "sales report", types=("Fact",), tags=(), tokens=80)
    for place in range(30):
        cortex.put("Fact", f"sales sales sales {place}", id=f"x{place}")
    cortex.put("Fact", "something else", id="r3")
    assert cortex.memories(snapshot).find(near="sales report 3", limit=6) == before
    assert (
        bundle(cortex.memories(snapshot), "sales report", types=("Fact",), tags=(), tokens=80) == bytes_before
    )
    assert cortex.snapshot(6) == snapshot
    assert cortex.snapshot_of(snapshot.root) == snapshot


def test_a_bundle_puts_pinned_memories_first_and_keeps_within_its_tokens(cortex: MemoryStore) -> None:
    cortex.put("Fact", "Sales are reported in euros", id="euros")
    pinned = cortex.put("Identity", "My name is Kim", id="me", tags=("pinned",))
    cortex.put("Event", "The sales report of May was late", id="late")
    whole = bundle(
        cortex.memories(), "write the sales report", types=("Fact", "Identity"), tags=(), tokens=400
    )
    assert whole.uris[0] == pinned.uri
    assert set(whole.uris) == {
        f"matrix://cortex/{path}@v1" for path in ("Identity/me", "Fact/euros", "Event/late")
    }
    small = bundle(
        cortex.memories(), "write the sales report", types=("Fact", "Identity"), tags=(), tokens=20
    )
    assert small.tokens <= 20
    assert small.uris == (pinned.uri,)
    assert bundle(cortex.memories(), "x", types=(), tags=(), tokens=0).text == ""


def test_every_mutation_is_a_signed_record_in_the_journal(home: Home, cortex: MemoryStore) -> None:
    memory = cortex.put("Fact", "Water is wet", id="water")
    cortex.forget(memory.uri)
    assert [row.kind for row in home.journal.rows()] == ["record.cortex.put", "record.cortex.forget"]
    assert home.journal.verify().ok


def test_a_proof_covers_the_document_itself(cortex: MemoryStore) -> None:
    for place in range(5):
        cortex.put("Fact", f"fact {place}", id=f"f{place}")
    snapshot = cortex.snapshot()
    cortex.put("Fact", "later", id="later")
    proof = prove(cortex, "matrix://cortex/Fact/f2", snapshot=snapshot)
    assert proof.holds()
    assert b"fact 2" in proof.document
    forged = replace(proof, document=proof.document.replace(b"fact 2", b"fact 9"))
    assert not forged.holds()
    with pytest.raises(MemoryStoreError, match="no such memory"):
        prove(cortex, "matrix://cortex/Fact/later", snapshot=snapshot)


def test_rows_can_neither_be_changed_nor_deleted_and_verify_names_a_forged_one(
    home: Home, cortex: MemoryStore
) -> None:
    cortex.put("Fact", "one", id="a")
    cortex.put("Fact", "two", id="b")
    for statement in ("UPDATE journal SET id = 'x'", "DELETE FROM journal"):
        with pytest.raises(sqlite3.IntegrityError), home.db.write() as connection:
            connection.execute(statement)
    assert verify_home(home).ok
    wire = home.journal.numbered(2).wire.replace(b"two", b"six")
    with home.db.write() as connection:
        connection.execute("DROP TRIGGER journal_keeps")
        connection.execute("UPDATE journal SET wire = ? WHERE seq = 2", (wire,))
    places = {flaw.place for flaw in verify_home(home).flaws}
    assert "journal 2" in places
    assert not {"memory 1", "journal 1"} & places


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"type": "Thing", "text": "x"}, "MEMORY_SHAPE"),
        ({"type": "Fact", "text": "  "}, "MEMORY_SHAPE"),
        ({"type": "Fact", "text": "x" * 20_000}, "MEMORY_SHAPE"),
        ({"type": "Fact", "text": "x", "id": "../etc"}, "MEMORY_SHAPE"),
        ({"type": "Fact", "text": "x", "tags": ("UPPER",)}, "MEMORY_SHAPE"),
        ({"type": "Fact", "text": "x", "importance": 2.0}, "MEMORY_SHAPE"),
    ],
)
def test_what_cannot_be_a_memory_is_refused(
    cortex: MemoryStore, fields: dict[str, object], code: str
) -> None:
    with pytest.raises(MemoryStoreError) as caught:
        cortex.put(**fields)  # type: ignore[arg-type]  # wrong on purpose
    assert caught.value.code == code
    assert cortex.snapshot().size == 0


@pytest.mark.parametrize(
    "uri", ["", "matrix://cortex/Fact", "matrix://cortex/Thing/a", "matrix://cortex/Fact/a@v0", "x"]
)
def test_what_is_no_address_is_refused(cortex: MemoryStore, uri: str) -> None:
    with pytest.raises(MemoryStoreError) as caught:
        cortex.memories().resolve(uri)
    assert caught.value.code == "MEMORY_ADDRESS"


@settings(max_examples=40, deadline=None)
@given(near=st.text(max_size=60))
def test_no_words_looked_for_break_the_search(tmp_path_factory: pytest.TempPathFactory, near: str) -> None:
    path = tmp_path_factory.getbasetemp() / "search"
    with Home.open(path) as home:
        cortex = MemoryStore(home)
        cortex.put("Fact", 'quotes " and AND or NOT * ^ near', id="odd")
        cortex.memories().find(near=near)


def test_a_write_that_fails_inside_a_larger_one_leaves_no_trace_of_itself(
    home: Home, cortex: MemoryStore
) -> None:
    def failing() -> Iterator[Memory]:
        yield new_memory({"type": "Fact", "text": "half of it", "id": "half"}, at="2026-11-21T10:00:00.000Z")
        raise MemoryStoreError("MEMORY_SHAPE", "the other half")

    with home.db.write():
        cortex.put("Fact", "before it", id="before")
        with pytest.raises(MemoryStoreError, match="the other half"):
            cortex.write(failing())
        cortex.put("Fact", "after it", id="after")
    assert [one.id for one in cortex.memories().find(near="it")] == ["after", "before"]
    assert cortex.memories().find(near="half") == []
    assert verify_home(home).flaws == []
    assert home.journal.verify().ok


def test_forgetting_twice_is_told_and_putting_again_goes_on(cortex: MemoryStore) -> None:
    cortex.put("Fact", "here", id="a")
    cortex.forget("matrix://cortex/Fact/a")
    with pytest.raises(MemoryStoreError, match="no such memory"):
        cortex.forget("matrix://cortex/Fact/a")
    assert cortex.put("Fact", "here", id="a").version == 3
