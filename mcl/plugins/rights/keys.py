"""`mcl key unlock` and `lock`: a sealed key signs at one terminal for a while without its passphrase."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from executor.core.clock import instant
from executor.core.errors import KeyringError
from executor.store.home import Home
from ir.errors import REFUSED
from mcl.core.errors import InputError
from mcl.core.home import open_home
from mcl.usecases.authority import unlocked

UNLOCKED: Final = "record.person.unlocked"
_LENGTH: Final = re.compile(r"\s*(\d{1,5})\s*(s|sec|m|min|minutes?|h|hours?|timmar?|timme)\s*", re.IGNORECASE)
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "t": 3600}
_LONGEST_S: Final = 12 * 3600


@dataclass(frozen=True)
class Unlocked:
    """What may sign at this terminal: the keys by their DIDs, until when."""

    keys: tuple[str, ...]
    until: str


def unlock(length: str, *, home: Home | None = None) -> Unlocked:
    """Let the commands that this terminal's shell starts sign with the sealed keys of a home, whose
    passphrase was given. length: such as 30min or 1h, at most 12h.

    Raises InputError UNLOCK_TIME; KeyringError KEY_NOT_SEALED, NO_TERMINAL, UNLOCK_FAILED, KEY_SEALED,
    KEY_PASSPHRASE_WRONG.
    """
    home = home or open_home()
    seconds = _seconds(length)
    sealed = {one.did for one in home.keyring.entries() if one.origin == "own" and one.sealed}
    if not sealed:
        message, fix = "no key of this home is sealed, so nothing asks for a passphrase", "mcl key seal"
        raise KeyringError("KEY_NOT_SEALED", message, place="key", fix=fix)
    shell = unlocked.TerminalShell.here() if sys.platform == "linux" else None
    if shell is None:
        raise KeyringError(
            "NO_TERMINAL",
            "a key is unlocked for a shell at a terminal, and there is none here",
            place="key",
            fix="give the command in a shell, at a terminal (Linux)",
            exit=REFUSED,
        )
    pairs = [one for one in (home.keyring.user, home.keyring.agent) if one.did in sealed]
    seeds = [bytes(one.signing_key) for one in pairs]
    until = instant(datetime.fromisoformat(home.clock.now()) + timedelta(seconds=seconds))
    told = {"keys": [one.did for one in pairs], "until": until, "session": shell.session}
    home.journal.record(UNLOCKED, told)
    unlocked.unlock(home, shell, seeds, seconds)
    return Unlocked(tuple(one.did for one in pairs), until)


def lock(*, home: Home | None = None) -> int:
    """End all that was unlocked of a home; how many terminals it was."""
    return unlocked.lock((home or open_home()).path)


def _seconds(length: str) -> int:
    found = _LENGTH.fullmatch(length)
    seconds = int(found[1]) * _UNITS[found[2][0].lower()] if found is not None else 0
    if not 0 < seconds <= _LONGEST_S:
        fix = "such as 30min or 1h, at most 12h"
        raise InputError("UNLOCK_TIME", f"{length!r} is no time for this", place="--for", fix=fix)
    return seconds
