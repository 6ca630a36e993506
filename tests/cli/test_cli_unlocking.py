"""Unlocking a key: what is told where there is nothing to unlock, or no time for it. What may use one is in
tests/security."""

from __future__ import annotations

import pytest

from executor.core.errors import KeyringError
from executor.store.home import Home
from mcl.core.errors import InputError
from mcl.plugins.rights.keys import lock, unlock


def test_a_time_that_is_none_is_told(tmp_path):
    with Home.open(tmp_path / "open") as opened:
        for length in ("soon", "0h", "13h", "1d", "-1h", "99999h", ""):
            with pytest.raises(InputError) as refused:
                unlock(length, home=opened)
            assert refused.value.code == "UNLOCK_TIME"


def test_without_a_sealed_key_there_is_nothing_to_unlock(tmp_path):
    with Home.open(tmp_path / "open") as opened:
        with pytest.raises(KeyringError) as refused:
            unlock("1h", home=opened)
        assert refused.value.code == "KEY_NOT_SEALED"
        assert lock(home=opened) == 0
        with pytest.raises(KeyringError, match="is no own key"):
            opened.keyring.lend(b"x" * 32)
