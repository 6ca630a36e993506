"""Keys: made once, kept from others, sealed where asked, in one role each."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from nacl.signing import SigningKey

import ir
from executor import FixedClock, Keyring, KeyringError

CLOCK = FixedClock("2026-11-21T10:00:00.000Z")
STRANGER = ir.did_of(bytes(SigningKey(b"s" * 32).verify_key))


@pytest.fixture
def keyring(tmp_path: Path) -> Keyring:
    return Keyring.create(tmp_path, clock=CLOCK)


def code(caught: pytest.ExceptionInfo[KeyringError]) -> str:
    assert caught.value.fix
    assert caught.value.place
    return caught.value.code


def test_user_and_agent_have_different_keys_that_sign_for_their_did(keyring: Keyring) -> None:
    assert keyring.user.did != keyring.agent.did
    for pair in (keyring.user, keyring.agent):
        assert bytes(pair.signing_key.verify_key) == pair.verify_key == ir.key_of(pair.did)
        assert keyring.resolver(pair.did) == ir.PublicKey(pair.did, pair.role, pair.verify_key)
    assert keyring.resolver(STRANGER) is None


def test_key_files_are_for_their_owner_only_and_the_secret_is_not_printed(
    keyring: Keyring, tmp_path: Path
) -> None:
    for role in ("user", "agent"):
        path = tmp_path / f"{role}.json"
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        seed = json.loads(path.read_text())["secret"]["seed"]
        assert seed not in repr(keyring.user) + repr(keyring.agent)


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_key_file_that_others_may_read_or_write_is_refused(
    keyring: Keyring, tmp_path: Path, mode: int
) -> None:
    (tmp_path / "user.json").chmod(mode)
    with pytest.raises(KeyringError) as caught:
        Keyring.open(tmp_path, clock=CLOCK)
    assert code(caught) == "KEY_FILE_EXPOSED"
    assert "chmod 600" in caught.value.fix


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"retired": [], "did": 1}', b"\xff\xfe"])
def test_a_damaged_key_file_is_named(keyring: Keyring, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "agent.json").write_bytes(content)
    with pytest.raises(KeyringError) as caught:
        Keyring.open(tmp_path, clock=CLOCK)
    assert code(caught) == "KEY_FILE_CORRUPT"
    assert caught.value.place.endswith("agent.json")


def test_a_secret_that_belongs_to_another_did_is_found_before_it_signs(
    keyring: Keyring, tmp_path: Path
) -> None:
    path = tmp_path / "user.json"
    document = json.loads(path.read_text())
    document["secret"]["seed"] = "00" * 32
    path.write_text(json.dumps(document))
    with pytest.raises(KeyringError) as caught:
        _ = Keyring.open(tmp_path, clock=CLOCK).user.signing_key
    assert code(caught) == "KEY_FILE_CORRUPT"


def test_the_agents_key_does_not_pass_for_the_users(keyring: Keyring, tmp_path: Path) -> None:
    (tmp_path / "user.json").write_bytes((tmp_path / "agent.json").read_bytes())
    with pytest.raises(KeyringError) as caught:
        Keyring.open(tmp_path, clock=CLOCK)
    assert code(caught) == "KEY_FILE_CORRUPT"


def test_a_missing_key_file_is_not_replaced_by_opening(keyring: Keyring, tmp_path: Path) -> None:
    (tmp_path / "user.json").unlink()
    with pytest.raises(KeyringError) as caught:
        Keyring.open(tmp_path, clock=CLOCK)
    assert code(caught) == "KEY_MISSING"
    assert not (tmp_path / "user.json").exists()


def test_a_sealed_key_reads_without_and_signs_only_with_its_passphrase(tmp_path: Path) -> None:
    made = Keyring.create(tmp_path, clock=CLOCK, passphrase=b"correct horse")
    assert "seed" not in (tmp_path / "user.json").read_text()
    closed = Keyring.open(tmp_path, clock=CLOCK)
    assert closed.user.did == made.user.did
    assert closed.resolver(made.user.did)
    assert all(entry.sealed for entry in closed.entries())
    with pytest.raises(KeyringError) as caught:
        _ = closed.user.signing_key
    assert code(caught) == "KEY_SEALED"
    with pytest.raises(KeyringError) as caught:
        closed.new("user")
    assert code(caught) == "KEY_SEALED"
    with pytest.raises(KeyringError) as caught:
        _ = Keyring.open(tmp_path, clock=CLOCK, passphrase=b"wrong").user.signing_key
    assert code(caught) == "KEY_PASSPHRASE_WRONG"
    opened = Keyring.open(tmp_path, clock=CLOCK, passphrase=b"correct horse")
    assert bytes(opened.user.signing_key.verify_key) == made.user.verify_key


def test_a_new_key_retires_the_old_one_which_still_checks_what_it_signed(keyring: Keyring) -> None:
    old = keyring.user.did
    new = keyring.new("user")
    assert new.did == keyring.user.did != old
    assert {entry.did: entry.origin for entry in keyring.entries()}[old] == "retired"
    assert keyring.resolver(old) == ir.PublicKey(old, "user", ir.key_of(old))


def test_trust_and_revocation_are_seen_by_another_open_keyring(keyring: Keyring, tmp_path: Path) -> None:
    other = Keyring.open(tmp_path, clock=CLOCK)
    keyring.trust(STRANGER, "agent", label="the other machine")
    known = other.resolver(STRANGER)
    assert known
    assert (known.role, known.revoked) == ("agent", False)
    assert other.export(STRANGER) == {"did": STRANGER, "role": "agent", "label": "the other machine"}
    keyring.new("user")
    assert other.resolver(keyring.user.did)
    keyring.revoke(STRANGER)
    known = other.resolver(STRANGER)
    assert known
    assert known.revoked


def test_a_key_has_one_role_and_a_revoked_one_does_not_come_back(keyring: Keyring) -> None:
    keyring.trust(STRANGER, "agent")
    with pytest.raises(KeyringError) as caught:
        keyring.trust(STRANGER, "user")
    assert code(caught) == "KEY_ROLE_TAKEN"
    with pytest.raises(KeyringError) as caught:
        keyring.trust(keyring.agent.did, "user")
    assert code(caught) == "KEY_ROLE_TAKEN"
    with pytest.raises(KeyringError) as caught:
        keyring.trust(keyring.agent.did, "agent")
    assert code(caught) == "KEY_OWN"
    keyring.revoke(STRANGER)
    with pytest.raises(KeyringError) as caught:
        keyring.trust(STRANGER, "agent")
    assert code(caught) == "KEY_REVOKED"


def test_the_key_in_use_is_revoked_only_after_it_was_replaced(keyring: Keyring) -> None:
    old = keyring.agent.did
    with pytest.raises(KeyringError) as caught:
        keyring.revoke(old)
    assert code(caught) == "KEY_IN_USE"
    keyring.new("agent")
    assert keyring.revoke(old).revoked_at
    known = keyring.resolver(old)
    assert known
    assert known.revoked


def test_unknown_keys_and_texts_that_are_no_key_are_refused(keyring: Keyring) -> None:
    with pytest.raises(KeyringError) as caught:
        keyring.revoke(STRANGER)
    assert code(caught) == "KEY_UNKNOWN"
    with pytest.raises(ir.KeyTextError):
        keyring.trust("did:key:zNothing", "agent")


def test_a_list_of_trusted_keys_that_the_user_did_not_sign_is_refused(
    keyring: Keyring, tmp_path: Path
) -> None:
    keyring.trust(STRANGER, "agent")
    path = tmp_path / "trusted.json"
    signed = path.read_text()
    document = json.loads(signed)
    data = (
        b"mcl/0.1 trusted keys\0"
        + json.dumps(document["keys"], sort_keys=True, separators=(",", ":")).encode()
    )
    assert keyring.user.signing_key.sign(data).signature.hex() == document["signature"]
    signature = keyring.agent.signing_key.sign(data).signature.hex()
    agent_signed = document | {"signed_by": keyring.agent.did, "signature": signature}
    for forged in (signed.replace('"agent"', '"user"'), json.dumps(agent_signed), "{}", '{"keys": 1}'):
        path.write_text(forged)
        with pytest.raises(KeyringError) as caught:
            Keyring.open(tmp_path, clock=CLOCK)
        assert code(caught) == "TRUST_FORGED"
