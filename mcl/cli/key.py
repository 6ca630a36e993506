"""`mcl key`: whose signatures count."""

from enum import StrEnum
from typing import Annotated

import typer

from mcl.cli.arguments import AsJson, example
from mcl.cli.output import Output, note


class Role(StrEnum):
    """What a key may sign."""

    user = "user"
    agent = "agent"


Did = Annotated[str, typer.Argument(metavar="DID", help="A did:key:z6Mk… .")]


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    keys = typer.Typer(name="key", help="Keys: whose signatures count.", rich_markup_mode=None)
    keys.command("list", epilog=example("mcl key list"))(list_keys)
    keys.command("new", epilog=example("mcl key new --role agent"))(new_key)
    keys.command("export", epilog=example("mcl key export --role user > ada.key.json"))(export_key)
    keys.command("trust", epilog=example("mcl key trust did:key:z6Mk… --role agent --label laptop"))(
        trust_key
    )
    keys.command("revoke", epilog=example("mcl key revoke did:key:z6Mk…"))(revoke_key)
    app.add_typer(keys, rich_help_panel=None)


def list_keys(as_json: AsJson = False) -> None:
    """List the keys of this home: own, retired, trusted, revoked."""
    from mcl.cli.home import use_home
    from mcl.cli.views.layout import BAD, DIM, listing, moment

    out = Output(as_json)
    entries = use_home().keyring.entries()
    out.document({"keys": [vars(entry) for entry in entries]})
    out.view(
        [
            listing(
                ("role", "key", "added", "label", "did"),
                [
                    (
                        (entry.role, ""),
                        ("revoked", BAD)
                        if entry.revoked_at
                        else (entry.origin + (", sealed" if entry.sealed else ""), ""),
                        (moment(entry.added_at) if entry.added_at else "", DIM),
                        (entry.label, ""),
                        (entry.did, ""),
                    )
                    for entry in entries
                ],
            )
        ]
    )


def new_key(
    role: Annotated[Role, typer.Option("--role", help="Whose key to replace.")],
    as_json: AsJson = False,
) -> None:
    """Replace an own key; the old one is retired, and what it signed stays good."""
    from mcl.cli.home import use_home

    pair = use_home().keyring.new(role.value)
    Output(as_json).document({"did": pair.did, "role": pair.role})
    if not as_json:
        print(pair.did)


def export_key(
    did: Annotated[
        str, typer.Argument(metavar="DID", help="Which key; without it the own key of --role.")
    ] = "",
    role: Annotated[Role, typer.Option("--role", help="Which own key.")] = Role.user,
) -> None:
    """Write the public half of a key as JSON, for others to trust."""
    from mcl.cli.home import use_home

    keyring = use_home().keyring
    own = keyring.user if role is Role.user else keyring.agent
    Output(as_json=True).document(keyring.export(did or own.did))


def trust_key(
    did: Did,
    role: Annotated[Role, typer.Option("--role", help="What this key may sign.")],
    label: Annotated[str, typer.Option("--label", metavar="TEXT", help="A name for people.")] = "",
    as_json: AsJson = False,
) -> None:
    """Believe what another key signs, in one role."""
    from mcl.cli.home import use_home

    entry = use_home().keyring.trust(did, role.value, label=label)
    Output(as_json).document(vars(entry))
    note(f"trusted as {entry.role}: {entry.did}")


def revoke_key(did: Did, as_json: AsJson = False) -> None:
    """Refuse whatever a key signs from now on; what it signed before stays good."""
    from mcl.cli.home import use_home

    entry = use_home().keyring.revoke(did)
    Output(as_json).document(vars(entry))
    note(f"revoked: {entry.did}")
