"""`mcl init`: make the home."""

from typing import TYPE_CHECKING, Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note

if TYPE_CHECKING:
    from executor.store.home import Home


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    app.command(
        "init",
        epilog=example(
            "mcl init", "MCL_HOME=./here mcl init --passphrase", "MCL_HOME=./ci mcl init --unattended"
        ),
    )(init_command)


def init_command(
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Ask for a passphrase that seals the keys.")
    ] = False,
    unattended: Annotated[
        bool,
        typer.Option(
            "--unattended", help="Make a home for scripts and tests: no person is asked for, and it says so."
        ),
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
    from mcl.cli.home import ask_passphrase, given_passphrase
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
