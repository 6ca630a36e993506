"""The home of a command; `mcl init`, which makes it, and `mcl config`."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Annotated, Final

import typer

from mcl.cli.arguments import AsJson, argument, complete_setting, noun, option, verb
from mcl.cli.output import Output, note
from mcl.cli.views.layout import DIM, STRONG, listing, plain

if TYPE_CHECKING:
    from pathlib import Path

    from executor.store.home import Home

verbs = typer.Typer()


ALLOWED = "MCL_ALLOWED_PATHS"
FILE = "config.toml"  # as of `mcl.core.settings`, which is not loaded where there is none
_PERSONS: ContextVar[bool] = ContextVar("a person's command", default=False)


@contextmanager
def a_persons() -> Iterator[None]:
    """While a person's command runs: what it signs, a sealed key signs for who types its passphrase."""
    before = _PERSONS.set(True)
    try:
        yield
    finally:
        _PERSONS.reset(before)


def use_home(*, signs: bool = False, lent: bool = True) -> "Home":
    """Open the home of this process; its first use is said on standard error.

    signs: the command will sign something, so a sealed key needs its passphrase, from $MCL_PASSPHRASE or
    asked for on the terminal. Of a person's command it is always asked for, but in an unattended home: what
    stands in the environment is known to all that was started there. lent: what the person unlocked at this
    terminal counts (`mcl key unlock`).
    """
    from mcl.core.home import locate, open_home

    passphrase = given_passphrase() or None
    apply_colours(locate())
    home = open_home(locate(), passphrase=passphrase, announce=note, allowed=allowed_paths())
    if not any(key.sealed for key in home.keyring.entries() if key.origin == "own"):
        return home
    persons = _PERSONS.get() and not home.unattended
    if not persons and (not signs or passphrase is not None or not sys.stdin.isatty()):
        return home
    if lent:
        from mcl.usecases.authority.unlocked import lend

        if lend(home):
            return home
    home.close()
    phrase = ask_passphrase("passphrase of the keys: ")
    home = open_home(locate(), passphrase=phrase, allowed=allowed_paths())
    if persons:  # what is signed with the agent's key alone is the person's too
        home.keyring.user.signing_key  # noqa: B018  # raises where the passphrase is another
    return home


def apply_colours(folder: "Path") -> None:
    """Let the setting `colours` count as the variables that stand for it elsewhere."""
    if not (folder / FILE).exists():
        return
    from mcl.core.settings import setting

    chosen = setting(folder, "colours")
    if chosen != "auto":
        os.environ["NO_COLOR" if chosen == "never" else "FORCE_COLOR"] = "1"
        os.environ.pop("FORCE_COLOR" if chosen == "never" else "NO_COLOR", None)


def tell_unattended(home: "Home") -> None:
    """Say before something is accepted in an unattended home that it is one."""
    if home.unattended:
        note("this home is unattended: what is signed here, nobody need have read")


def given_passphrase() -> bytes:
    """$MCL_PASSPHRASE as it stood in the environment that this command was given; b"" where it did not."""
    from executor.sandbox.redaction import taken_variable
    from mcl.core.environment import PASSPHRASE

    return taken_variable(PASSPHRASE).encode()


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


# ---- `mcl init`: make the home.


@verb(verbs, "init")
def init_command(
    passphrase: Annotated[bool, option("--passphrase", "Ask for a passphrase that seals the keys.")] = False,
    unattended: Annotated[
        bool,
        option("--unattended", "Make a home for scripts and tests: no person is asked for, and it says so."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make the home: folder, keys, default grants.

    One key is yours, one the agent's; they are never the same. What only a person does (accept, approve,
    grant and the like) wants a person at a terminal, but in a home made with --unattended: that stands in
    its first row for good, and in all that it signs off.

    Any command does this at first use; this one may also seal the keys.
    """
    from executor.gate.grants import Grants
    from mcl.core.home import locate, open_home
    from mcl.usecases.authority.door import require_own_place

    if unattended:
        require_own_place("mcl init --unattended")
    fresh = not (locate() / "mcl.db").exists()
    given = given_passphrase()
    if passphrase and fresh and not given:
        given = ask_passphrase("passphrase for the new keys: ", again="once more: ")
    home = open_home(passphrase=given or None, unattended=unattended, announce=note)
    agent = home.keyring.agent.did
    Output(as_json).document(
        {
            "home": str(home.path),
            "created": fresh,
            "user": home.keyring.user.did,
            "agent": agent,
            "grants": sorted(Grants(home).classes(agent)),
            "unattended": home.unattended,
            "sealed": any(one.sealed for one in home.keyring.entries() if one.did == home.keyring.user.did),
        }
    )
    if not fresh:
        note(f"the home is there already: {home.path}{' (unattended)' if home.unattended else ''}")
    propose_seal(home)


def propose_seal(home: "Home") -> None:
    """Say what a key without a passphrase means, where the user's has none and somebody signs with it."""
    entry = next(one for one in home.keyring.entries() if one.did == home.keyring.user.did)
    if not entry.sealed and not home.unattended:
        note("your key has no passphrase: any program that runs as you, an agent too, could sign with it.")
        note("  only a sealed key keeps them from that: mcl key seal")


# ---- `mcl config`: what holds for every goal of a home.


config = noun(
    "config", "Config: what holds for every goal.", "mcl config list", "mcl config set do.reads ask"
)


@verb(config, "list")
def list_settings(as_json: AsJson = False) -> None:
    """List what may be chosen: zone, language, do.reads, colours, model.

    All but the model stands in the file config.toml of the home, and may be written there.
    """
    from mcl.usecases.config import list_settings

    home, out = use_home(), Output(as_json)
    found = list_settings(home=home)
    lines = [
        ((one.name, ""), (one.value, STRONG), ("chosen" if one.chosen else "", DIM), (one.says, DIM))
        for one in found
    ]
    place = str(home.path / FILE)
    out.show(
        {"settings": found, "file": place}, [listing(("name", "value", "", "what for"), lines), "", place]
    )


@verb(config, "get")
def get_setting(
    name: Annotated[str, argument("NAME", "Such as do.reads.", autocompletion=complete_setting)],
    as_json: AsJson = False,
) -> None:
    """Tell one of them."""
    from mcl.usecases.config import get_setting

    found = get_setting(name, home=use_home())
    Output(as_json).show(found, [found.value])


@verb(config, "set")
def set_setting(
    name: Annotated[str, argument("NAME", "Such as do.reads.", autocompletion=complete_setting)],
    value: Annotated[str, argument("VALUE", "What counts from now on; '' takes the choice back.")],
    as_json: AsJson = False,
) -> None:
    """Choose one, in the file config.toml of the home."""
    from mcl.usecases.config import set_setting

    found = set_setting(name, value, home=use_home())
    Output(as_json).show(
        found, [f"{found.name} is {found.value}{'' if found.chosen else ', as for everybody'}"]
    )


@verb(config, "zone")
def zone(
    name: Annotated[
        str | None, argument("[ZONE]", "Such as Europe/Stockholm; system: the machine's.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Tell the time zone that days and times of day in goals are meant in, or choose one.

    Each goal keeps the zone that it was read in.
    """
    from mcl.usecases.config import zone as config_zone

    found, chosen = config_zone(name, home=use_home(signs=False))
    Output(as_json).document({"zone": found, "chosen": chosen})
    if not as_json:
        Output().tell([plain(f"{found}, {'chosen' if chosen else 'that of this machine'}")])


GROUPS: Final = (verbs, config)
