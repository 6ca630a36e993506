"""Which keys only a person can sign with."""

from __future__ import annotations

from executor.store.keys.keyring import Keyring


def is_personal(keyring: Keyring, did: str) -> bool:
    """Is this a user's key that no program on this machine can use unasked?

    The own key where it is sealed with a passphrase; another user's key, whose secret is not here at all.
    """
    entry = next((one for one in keyring.entries() if one.did == did), None)
    if entry is None or entry.role != "user" or entry.revoked_at:
        return False
    return entry.origin == "trusted" or (entry.origin == "own" and entry.sealed)
