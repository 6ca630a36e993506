"""Keys by their place in the journal: what a stolen key signs behind its revocation, whatever it dates it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from nacl.signing import SigningKey
from tampering import file_of, refit
from walks import Walks, tool

import ir
from executor import FixedClock, Home, KeyPair, WalkError
from executor.store.journal.rows import End, insert, placed, read_end, row_of

PLAN = tool("n1", "fs/write", "write", path="effect.txt", content="owned")


class Stolen:
    """A keyring of a thief, who has the user's key of before and nothing else."""

    def __init__(self, pair: KeyPair) -> None:
        self.user = self.agent = pair


def put(home: Path, envelope: ir.Envelope, pair: KeyPair) -> None:
    """Write it as the last row, signed at its place by whoever holds the key."""
    with file_of(home) as file:
        end: End = read_end(file)
        message = placed(envelope, end.leaf, Stolen(pair))  # type: ignore[arg-type]
        insert(file, row_of(message, end.tree.size + 1))
        refit(file, heads=True)


def theft(walks: Walks, *, revoke: bool) -> tuple[str, KeyPair, ir.Envelope]:
    """An intent that is proposed; the old key of the user; an accept signed with it, of long ago."""
    home = walks.home
    intent = walks.propose(PLAN)
    old = home.keyring.user
    _ = old.signing_key
    view = home.journal.view(intent)
    at = home.clock.now()
    body = ir.IntentAcceptBody(view.intent_hash, at, plan_hash=view.plan_hash)
    header = ir.Header(home.clock.new_id(), at, old.did, f"matrix://intent/{intent}")
    accept = ir.seal("intent.accept", body, header, old.signing_key)
    home.keyring.new("user")
    if revoke:
        home.keyring.revoke(old.did)
    return intent, old, accept


@pytest.mark.parametrize("states", ["kept", "lost"])
@pytest.mark.parametrize("trusted", ["kept", "deleted"])
def test_an_accept_of_a_revoked_key_dated_before_it_starts_nothing(
    walks: Walks, trusted: str, states: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = walks.home.path / "keys/trusted.json"
    intent, old, accept = theft(walks, revoke=True)
    path = walks.home.path
    walks.home.close()
    put(path, accept, old)
    if trusted == "deleted":
        before.unlink()
    if states == "lost":
        monkeypatch.setenv("MCL_STATE", str(path.parent / "other"))
    with Home.open(path) as home:
        found = {(one.code, one.seq) for one in home.journal.verify().findings}
        assert ("KEY_REVOKED", home.journal.size()) in found
        assert home.journal.trouble is not None
        assert home.journal.trouble.code == "KEY_REVOKED"
        with pytest.raises(WalkError) as caught:
            Walks(home, walks.workspace).run(intent)
        assert caught.value.exit == 6
        with pytest.raises(ir.MclError) as refused:
            home.journal.view(intent, fresh=True)
        assert refused.value.code == "KEY_REVOKED"
    assert not (walks.workspace / "effect.txt").exists()


def test_deleting_the_list_of_trusted_keys_revokes_nothing_back_and_is_told(walks: Walks) -> None:
    home = walks.home
    _, old, accept = theft(walks, revoke=True)
    key = SigningKey.generate()
    did = ir.did_of(bytes(key.verify_key))
    home.keyring.trust(did, "agent", label="Bo")
    assert home.journal.verify().ok
    (home.path / "keys/trusted.json").unlink()
    with Home.open(home.path) as again:
        entries = {entry.did: entry for entry in again.keyring.entries()}
        assert entries[old.did].revoked_at
        assert (entries[did].role, entries[did].label) == ("agent", "Bo")
        with pytest.raises(ir.EnvelopeError) as caught:
            again.journal.append(accept)
        assert caught.value.code == "KEY_REVOKED"
        assert {one.code for one in again.journal.verify().findings} == {"TRUST_CHANGED"}


def test_a_list_of_trusted_keys_that_says_more_than_the_rows_is_told(walks: Walks) -> None:
    """Signed with a stolen user key, or written by an older program."""
    home = walks.home
    key = SigningKey.generate()
    home.keyring._tell = lambda kind, body: None
    home.keyring.trust(ir.did_of(bytes(key.verify_key)), "user")
    home.journal.record("record.example", {})
    assert {one.code for one in home.journal.verify().findings} == {"TRUST_CHANGED"}


@pytest.mark.parametrize("hours", [-5, 0, 5])
def test_what_stood_before_a_revocation_stays_good_whatever_the_clock(tmp_path: Path, hours: int) -> None:
    (tmp_path / "work").mkdir()
    with Home.open(tmp_path / "home", clock=FixedClock("2026-11-22T12:00:00+00:00")) as home:
        walks = Walks(home, tmp_path / "work")
        intent = walks.accept(PLAN)
        old = home.keyring.user.did
    with Home.open(tmp_path / "home", clock=FixedClock(f"2026-11-22T{12 + hours:02}:30:00+00:00")) as home:
        home.keyring.new("user")
        home.keyring.revoke(old)
        home.journal.record("record.example", {})
        assert home.journal.verify().findings == []
        assert Walks(home, tmp_path / "work").run(intent).state == "completed"
    shutil.rmtree(tmp_path / "work")
