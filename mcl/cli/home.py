"""The home as a command opens it: what first use made is said, and a sealed key asks for its passphrase."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from mcl.cli.output import note

if TYPE_CHECKING:
    from executor.store.home import Home

ALLOWED = "MCL_ALLOWED_PATHS"
_PERSONS: ContextVar[bool] = ContextVar("a person's command", default=False)


@contextmanager
def a_persons() -> Iterator[None]:
    """While a person's command runs: what it signs, a sealed key signs for who types its passphrase."""
    before = _PERSONS.set(True)
    try:
        yield
    finally:
        _PERSONS.reset(before)


def use_home(*, signs: bool = False) -> "Home":
    """Open the home of this process; its first use is said on standard error.

    signs: the command will sign something, so a sealed key needs its passphrase, from $MCL_PASSPHRASE or
    asked for on the terminal. Of a person's command it is always asked for, but in an unattended home: what
    stands in the environment is known to all that was started there.
    """
    from mcl.core.home import locate, open_home

    passphrase = given_passphrase() or None
    home = open_home(locate(), passphrase=passphrase, announce=note, allowed=allowed_paths())
    if not any(key.sealed for key in home.keyring.entries() if key.origin == "own"):
        return home
    persons = _PERSONS.get() and not home.unattended
    if not persons and (not signs or passphrase is not None or not sys.stdin.isatty()):
        return home
    home.close()
    phrase = ask_passphrase("passphrase of the keys: ")
    home = open_home(locate(), passphrase=phrase, allowed=allowed_paths())
    if persons:  # what is signed with the agent's key alone is the person's too
        home.keyring.user.signing_key  # noqa: B018  # raises where the passphrase is another
    return home


def tell_unattended(home: "Home") -> None:
    """Say before something is accepted in an unattended home that it is one."""
    if home.unattended:
        note("this home is unattended: what is signed here, nobody need have read")


def given_passphrase() -> bytes:
    """$MCL_PASSPHRASE as it stood in the environment that this command was given; b"" where it did not."""
    from executor.sandbox.taken import taken
    from mcl.core.environment import PASSPHRASE

    return taken(PASSPHRASE).encode()


def allowed_paths() -> tuple[str, ...]:
    """The folders of $MCL_ALLOWED_PATHS as they stand there, apart by the colons of PATH."""
    named = os.environ.get(ALLOWED, "")
    return tuple(named.split(os.pathsep)) if named else ()


def ask_passphrase(prompt: str, *, again: str = "") -> bytes:
    """Ask on the terminal without showing what is typed; with `again`, twice. Raises InputError."""
    from getpass import getpass

    from mcl.core.errors import InputError

    phrase = getpass(prompt)
    if not phrase:
        raise InputError("PASSPHRASE_EMPTY", "the passphrase is empty", fix="leave --passphrase out for none")
    if again and getpass(again) != phrase:
        raise InputError("PASSPHRASE_DIFFERS", "the two passphrases differ", fix="try again")
    return phrase.encode()
