"""`mcl key`: whose signatures count."""

from typing import Annotated, Literal

from mcl.cli.arguments import AsJson, argument, noun, option, verb
from mcl.cli.home import ask_passphrase, use_home
from mcl.cli.output import Output, note
from mcl.cli.views.layout import BAD, DIM, listing, moment, plain

Role = Literal["user", "agent"]  # what a key may sign


Did = Annotated[str, argument("DID", "A did:key:z6Mk… .")]
_LONGEST = 1 << 16  # bytes of an exported key


keys = noun("key", "Keys: whose signatures count.", "mcl key list")


@verb(keys, "list")
def list_keys(as_json: AsJson = False) -> None:
    """List the keys of this home: own, retired, trusted, revoked."""
    out = Output(as_json)
    entries = use_home().keyring.entries()
    out.show(
        {"keys": entries},
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
        ],
    )


@verb(keys, "new")
def new_key(
    role: Annotated[Role, option("--role", "Whose key to replace.")],
    as_json: AsJson = False,
) -> None:
    """Replace an own key; the old one is retired, and what it signed stays good."""
    pair = use_home(lent=False).keyring.new(role)
    Output(as_json).show({"did": pair.did, "role": pair.role}, [plain(pair.did)])


@verb(keys, "seal")
def seal_key(
    role: Annotated[Role, option("--role", "Whose key to seal.")] = "user",
    as_json: AsJson = False,
) -> None:
    """Seal an own key with a passphrase, which is asked for whenever something is signed with it.

    It stays the same key. If a program may have read it before, replace it: mcl key new.
    """
    home = use_home(signs=True, lent=False)
    pair = home.keyring.seal(role, ask_passphrase("new passphrase: ", again="once more: "))
    Output(as_json).document({"did": pair.did, "role": pair.role, "sealed": True})
    note(f"sealed: {pair.did}")


@verb(keys, "unlock")
def unlock_key(
    length: Annotated[str, option("--for TIME", "How long: 30min, 1h; at most 12h.")] = "15min",
    as_json: AsJson = False,
) -> None:
    """Ask for the passphrase once, and then not again at this terminal for a while.

    Only what its shell itself starts may sign so, in the foreground: no tool, program or agent below it does.
    It ends with the time, the shell, or mcl key lock.
    """
    from mcl.plugins.rights.keys import unlock

    found = unlock(length, home=use_home(signs=True, lent=False))
    Output(as_json).document(found)
    note(f"unlocked at this terminal until {moment(found.until)}; mcl key lock ends it")


@verb(keys, "lock")
def lock_key(as_json: AsJson = False) -> None:
    """End what was unlocked, at whatever terminal."""
    from mcl.plugins.rights.keys import lock

    count = lock(home=use_home())
    Output(as_json).document({"locked": count})
    note("locked" if count else "nothing was unlocked")


@verb(keys, "export")
def export_key(
    did: Annotated[str, argument("DID", "Which key; without it the own key of --role.")] = "",
    role: Annotated[Role, option("--role", "Which own key.")] = "user",
) -> None:
    """Write the public half of a key as JSON, for others to trust."""
    home = use_home()
    own = home.keyring.user if role == "user" else home.keyring.agent
    Output(as_json=True).document({**home.keyring.export(did or own.did), **home.marks})


@verb(keys, "trust")
def trust_key(
    did: Annotated[str, argument("DID|FILE", "A did:key:z6Mk…, or what mcl key export wrote.")],
    role: Annotated[Role, option("--role", "What this key may sign.")],
    label: Annotated[str, option("--label TEXT", "A name for people.")] = "",
    as_json: AsJson = False,
) -> None:
    """Believe what another key signs, in one role.

    A key of a home that no person attends, which its exported file says, is no user's here.
    """
    home = use_home()
    if not did.startswith("did:"):
        did = _exported(did, role, unattended=home.unattended)
    entry = home.keyring.trust(did, role, label=label)
    Output(as_json).document(entry)
    note(f"trusted as {entry.role}: {entry.did}")


@verb(keys, "revoke")
def revoke_key(did: Did, as_json: AsJson = False) -> None:
    """Refuse whatever a key signs from now on; what it signed before stays good."""
    entry = use_home().keyring.revoke(did)
    Output(as_json).document(entry)
    note(f"revoked: {entry.did}")


def _exported(file: str, role: Role, *, unattended: bool) -> str:
    """The DID of an exported key. Raises KeyringError BAD_KEY_FILE, KEY_UNATTENDED; OSError."""
    from pathlib import Path

    from executor.core.errors import KeyringError
    from ir import DocumentError, parse_json

    with Path(file).open("rb") as source:
        data = source.read(_LONGEST)
    try:
        said = parse_json(data)
    except DocumentError:
        said = None
    if not isinstance(said, dict) or not isinstance(did := said.get("did"), str):
        raise KeyringError(
            "BAD_KEY_FILE", "this is no exported key", place=file, fix="write one: mcl key export > FILE"
        )
    if role == "user" and said.get("unattended") and not unattended:
        raise KeyringError(
            "KEY_UNATTENDED",
            "this key is of a home that no person attends; its signatures are nobody's word here",
            place=file,
            fix="ask for the key of a person's own home",
        )
    return did
