"""`verify` checks documents without a model; whatever is in a file, it is a report and never an exception."""

from __future__ import annotations

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ir import canonical_bytes
from mcl import open_home, show, verify


def codes(report) -> set[str]:
    return {flaw.code for flaw in report.flaws}


@pytest.fixture
def files(home, write, tmp_path):
    """An Intent, its plan and its envelopes, each in a file."""
    intent = write()
    found = show(intent.id, home=home)
    (tmp_path / "intent.json").write_bytes(canonical_bytes(found.intent))
    (tmp_path / "plan.json").write_bytes(canonical_bytes(found.plan))
    for row in home.journal.rows(intent.id):
        (tmp_path / f"{row.kind}.cbor").write_bytes(row.wire)
    return tmp_path


def test_what_is_right_is_said_to_be(home, files):
    names = ["intent.json", "plan.json", "intent.draft.cbor", "intent.compiled.cbor", "plan.proposed.cbor"]
    reports = list(verify([files / name for name in names], home=home))
    assert [report.ok for report in reports] == [True] * 5
    assert [report.kind for report in reports] == [
        *("intent", "plan", "intent.draft", "intent.compiled", "plan.proposed"),
    ]
    assert reports[0].hash == json.loads((files / "intent.json").read_text())["hash"]


def test_a_record_of_the_journal_is_checked_like_an_envelope(home, tmp_path):
    wire = home.journal.record("record.gate.refused", {"code": "TOOL_DENIED"}).wire
    (tmp_path / "record.cbor").write_bytes(wire)
    (tmp_path / "changed.cbor").write_bytes(wire.replace(b"TOOL_DENIED", b"TOOL_ALLOW!"))
    right, changed = verify([tmp_path / "record.cbor", tmp_path / "changed.cbor"], home=home)
    assert (right.ok, right.kind) == (True, "record.gate.refused")
    assert codes(changed) == {"BAD_SIGNATURE"}


def test_layout_does_not_matter_but_any_changed_field_does(home, files):
    document = json.loads((files / "intent.json").read_text())
    (files / "pretty.json").write_text(json.dumps(document, indent=3))
    (files / "changed.json").write_text(json.dumps({**document, "prose": "something else"}))
    made = {**document["compile_metadata"], "model_digest": "3" * 64}
    (files / "seed.json").write_text(json.dumps({**document, "compile_metadata": made}))
    (files / "unknown.json").write_text(json.dumps({**document, "extra": 1}))
    (files / "twice.json").write_text('{"id": 1, "id": 2}')
    pretty, changed, seed, unknown, twice = verify(
        [files / f"{name}.json" for name in ("pretty", "changed", "seed", "unknown", "twice")], home=home
    )
    assert pretty.ok
    assert codes(changed) == {"INTENT_HASH_MISMATCH"}
    assert codes(seed) == {"INTENT_HASH_MISMATCH", "SEED_MISMATCH"}
    assert codes(unknown) == {"DOCUMENT_SHAPE"}
    assert codes(twice) == {"DUPLICATE_KEY"}


def test_an_envelope_of_a_stranger_is_right_and_still_not_believed(files, tmp_path):
    with open_home(tmp_path / "elsewhere") as elsewhere:
        [report] = verify([files / "intent.draft.cbor"], home=elsewhere)
    assert codes(report) == {"UNKNOWN_KEY"}


def test_a_plan_that_breaks_the_rules_names_each_flaw(home, files):
    document = json.loads((files / "plan.json").read_text())
    document["root"]["tool_call"]["tool_ref"] = "matrix://tool/fs/list@latest"
    (files / "plan.json").write_text(json.dumps(document))
    [report] = verify([files / "plan.json"], home=home)
    assert codes(report) == {"PLAN_HASH_MISMATCH", "REF_UNPINNED"}


def test_what_cannot_be_read_is_a_flaw_too(home, tmp_path):
    (tmp_path / "empty").touch()
    reports = verify([tmp_path / "absent", tmp_path, tmp_path / "empty"], home=home)
    assert all(not report.ok for report in reports)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.binary(max_size=200) | st.text(max_size=100).map(str.encode), place=st.integers(0, 10_000))
def test_no_bytes_make_it_raise(home, files, data, place):
    (files / "any").write_bytes(data)
    wire = bytearray((files / "intent.compiled.cbor").read_bytes())
    wire[place % len(wire)] ^= 1
    (files / "flipped").write_bytes(wire)
    anything, flipped = verify([files / "any", files / "flipped"], home=home)
    assert not anything.ok
    assert not flipped.ok
