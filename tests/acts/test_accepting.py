"""Accepting signs what was shown, and nothing else."""

from __future__ import annotations

import pytest

from executor import LifecycleError
from ir import Unknown
from mcl import accept, cancel, list_intents, open_home, show


def test_accepting_signs_the_hashes_of_intent_and_plan_with_the_users_key(home, write):
    intent = write()
    signed = accept(intent.id, home=home)
    found = show(intent.id, home=home)
    assert found.state == "accepted"
    assert signed.intent_hash == intent.hash == found.view.accepted_hash
    assert signed.plan_hash == found.plan.hash == found.view.accepted_plan_hash
    assert signed.signed_by == home.keyring.user.did == found.accepted_by


@pytest.mark.parametrize("what", ["intent_hash", "plan_hash"])
def test_another_hash_than_what_is_there_is_refused_and_nothing_is_stored(home, write, what):
    intent, before = write(), home.journal.size()
    with pytest.raises(LifecycleError) as caught:
        accept(intent.id, home=home, **{what: "0" * 64})
    assert caught.value.code == what.upper() + "_MISMATCH"
    assert home.journal.size() == before
    assert show(intent.id, home=home).state == "proposed"


def test_a_blocking_unknown_cannot_be_accepted(home, write):
    intent = write(unknowns=(Unknown(id="u1", severity="blocking"),))
    with pytest.raises(LifecycleError) as caught:
        accept(intent.id, home=home)
    assert caught.value.code == "BLOCKING_UNKNOWN"
    assert caught.value.exit == 4


def test_accepting_twice_or_after_a_cancel_is_refused_with_the_legal_events(home, write):
    first, second = write(), write()
    accept(first.id, home=home)
    cancel(second.id, home=home, reason="no")
    for id in (first.id, second.id):
        with pytest.raises(LifecycleError) as caught:
            accept(id, home=home)
        assert caught.value.code == "ILLEGAL_EVENT"
    assert show(second.id, home=home).reason == "no"
    with pytest.raises(LifecycleError) as caught:
        cancel(second.id, home=home)
    assert (caught.value.code, caught.value.message) == (
        "ILLEGAL_EVENT",
        "this intent is cancelled: there is nothing to cancel",
    )


def test_a_list_shows_the_newest_first_and_a_broken_story_does_not_hide_the_others(home, write):
    first, second = write("first"), write("second")
    with home.db.write() as connection:
        connection.execute("DROP TRIGGER journal_keeps")
        seq, wire = connection.execute(
            "SELECT seq, wire FROM journal WHERE intent = ? AND kind = 'intent.compiled'", (first.id,)
        ).fetchone()
        connection.execute(
            "UPDATE journal SET wire = ? WHERE seq = ?", (wire[:-1] + bytes([wire[-1] ^ 1]), seq)
        )
    with open_home(home.path) as reopened:
        found = list_intents(home=reopened)
    assert [(one.id, one.prose, one.flaw) for one in found] == [
        (second.id, "second", ""),
        (first.id, "", "BAD_SIGNATURE"),
    ]
