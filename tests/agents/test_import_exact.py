"""Nothing is lost between the file, the Intent that is signed, and the file that is written from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from executor.store.home import Home
from executor.store.lifecycle.view import View
from ir import Intent, canonical_bytes, content_hash
from mcl.plugins.agents.file.document import IntentEntry, TypedCriterion, read_file, write_file
from mcl.plugins.agents.file.rules import instant
from mcl.plugins.agents.work.item import WorkStanding, entry_of, item_of
from mcl.plugins.agents.work.signature import differences, intent_of
from tests.agents.conftest import Project

ULIDS = {"INT-001": "01M81BVK9183F6FSXEQJXRB2W8", "INT-002": "01M81BVK9183F6FSXEQJXRB2W9"}
USER = "did:key:z6MkpTHR8VNsBxYAAWHut2Geadd9jSwuBV8xRoAnwWsdvktH"

texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30).filter(str.strip)
moments = st.sampled_from(
    ["2024-01-15T10:30:00Z", "2024-01-15T10:30:00.123Z", "2024-01-15T12:30:00+02:00", "2024-02-29T23:59:59Z"]
)
typed = st.one_of(
    st.builds(lambda text: TypedCriterion("delivered", (("artifact", text),)), texts),
    st.builds(lambda text: TypedCriterion("signed_off", (("by", text),)), texts),
    st.builds(lambda a, b: TypedCriterion("external", (("url", a), ("check", b))), texts, texts),
    st.builds(lambda a, b: TypedCriterion("attestation", (("source", a), ("topic", b))), texts, texts),
    st.builds(lambda a, b: TypedCriterion("x:mood", (("schema", a), ("data", b))), texts, texts),
)
entries = st.builds(
    IntentEntry,
    label=st.just("INT-001"),
    name=texts,
    status=st.sampled_from(["DRAFT", "IN_PROGRESS", "BLOCKED"]),
    created_at=moments,
    updated_at=moments,
    owned_scope=st.lists(texts, min_size=1, max_size=3).map(tuple),
    description=st.just("") | texts,
    owner=st.just("") | texts,
    constraints=st.lists(texts, max_size=3).map(tuple),
    acceptance_criteria=st.lists(texts | typed, max_size=3).map(tuple),
    dependencies=st.sampled_from([(), ("INT-002",)]),
    references=st.lists(texts, max_size=2).map(tuple),
)


def signed(entry: IntentEntry, home: Home, root: Path) -> tuple[Intent, View]:
    intent = intent_of(entry, str(root), ULIDS, home)
    return intent, View(state="accepted", intent=intent, accepted_hash=intent.hash, accepted_by=USER)


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entry=entries)
def test_what_is_signed_says_all_of_an_entry_and_an_export_says_it_again(
    project: Project, entry: IntentEntry
) -> None:
    intent, view = signed(entry, project.home, project.root)
    assert Intent.from_json(canonical_bytes(intent)) == intent
    assert intent.hash == content_hash(intent)
    standing = WorkStanding(entry.status, instant(entry.updated_at), "no keys")
    item = item_of(view, standing, "2026-11-21T10:00:00Z")  # type: ignore[arg-type]
    assert item is not None
    assert differences(entry, item) == ()
    again = entry_of(item)
    assert again == replace(
        entry,
        created_at=instant(entry.created_at),
        updated_at=instant(entry.updated_at),
        blocked_reason="no keys" if entry.status == "BLOCKED" else "",
    )
    assert read_file(write_file([again])).entries == (again,)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(entry=entries, other=entries)
def test_two_entries_are_signed_as_the_same_only_where_they_say_the_same(
    project: Project, entry: IntentEntry, other: IntentEntry
) -> None:
    (one, view), (two, _) = (signed(each, project.home, project.root) for each in (entry, other))
    item = item_of(view, WorkStanding("DRAFT", ""), "")
    assert item is not None
    assert (differences(other, item) == ()) == (one == two)
