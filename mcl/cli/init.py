"""`mcl init`: make the home."""

import os
from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    app.command("init", epilog=example("mcl init", "MCL_HOME=./here mcl init --passphrase"))(init_command)


def init_command(
    passphrase: Annotated[
        bool, typer.Option("--passphrase", help="Ask for a passphrase that seals the keys.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Make the home: folder, keys, default grants.

    One key is yours, one the agent's; they are never the same.

    Any command does this at first use; this one may also seal the keys.
    """
    from executor.gate.grants import Grants
    from mcl.cli.home import PASSPHRASE, ask_passphrase
    from mcl.home import locate, open_home

    fresh = not (locate() / "mcl.db").exists()
    given = os.environ.get(PASSPHRASE, "").encode()
    if passphrase and fresh and not given:
        given = ask_passphrase("passphrase for the new keys: ", again="once more: ")
    home = open_home(passphrase=given or None, announce=note)
    agent = home.keyring.agent.did
    Output(as_json).document(
        {
            "home": str(home.path),
            "created": fresh,
            "user": home.keyring.user.did,
            "agent": agent,
            "grants": sorted(Grants(home.db, home.clock).classes(agent)),
        }
    )
    if not fresh:
        note(f"the home is there already: {home.path}")
